#pragma once

#include <span>
#include <vector>

#include "core/contract/sequence.h"
#include "core/insight/recall.h"

namespace palimpsest {

/// The magnitudes that nearly all numbers of a kind stay below, over the whole sequence.
struct KindScales {
  double key = 1;
  double query = 1;
  double value = 1;
  double output = 0;        // 0: not known yet
  double value_length = 1;  // |v| that all but one token in twenty stay below
};

/// Those of `sequence`, but for its outputs. Long sequences are sampled.
KindScales kind_scales(const Sequence& sequence);

/// That of its outputs [T, V].
double output_scale(const Matrix<double>& outputs);

/// What the part `share` of the finite `numbers` do not exceed; 0 if there are none.
double quantile(std::vector<double> numbers, double share);

/// The magnitude that all but a few numbers of the memory stay below, over all tokens. From each memory's
/// size, because keeping all memories would take too much room.
double strong_state(std::span<const Recall> recalls);

inline constexpr double nearly_all = 0.995;  // of the numbers have colours of their own

}  // namespace palimpsest
