#pragma once

#include <stop_token>

#include "core/contract/variant.h"

namespace palimpsest {

/// What a token's query gets from the memory as it was before the token's own write, S_{t-1}, and from the
/// one after it, S_t: papers differ in which of them o_t is. LaCT writes a batch at once: before and after
/// all of it.
struct ReadMoments {
  Index token = 0;
  Vector<double> before;  // [V]
  Vector<double> after;   // [V]

  /// |after - before| / |after|; 0 where both are 0.
  double difference() const;
};

/// In f64, as the rule answers. Throws Unsupported with the reason where no memory answers, InputError for a
/// token that does not exist, Cancelled.
ReadMoments read_moments(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop = {});

}  // namespace palimpsest
