#pragma once

#include <string>

#include "core/base/matrix.h"

namespace palimpsest {

class Sequence;

/// Bytes that a run may hold at its peak, over all heads that are computed at the same time.
inline constexpr double byte_limit = 6e9;

/// Bytes that one block of a trace may hold with everything that is recorded of it.
inline constexpr double record_limit = 1e9;

/// What one head takes in bytes, rather too much than too little.
struct Footprint {
  double work = 0;        // at the peak, besides what is kept
  double kept = 0;        // outputs and final states
  std::string what = {};  // most of it, in words: "its n x n matrices"
};

/// Throws Unsupported, saying what to do instead, where one head would go over the limit in this form.
void require_footprint(const Footprint& needed, const Sequence& sequence, Form form, Index chunk_size);

/// The same for the record of a block of a trace, whose limit is lower.
void require_record_footprint(const Footprint& needed, const Sequence& sequence, Form form, Index chunk_size);

/// Throws InputError naming the arrays that it comes from where a state of this size is too large to be kept
/// and written.
void require_state(const Sequence& sequence, Index rows, Index columns);

}  // namespace palimpsest
