#pragma once

#include <optional>

#include "core/base/matrix.h"

namespace palimpsest {

/// The magnitudes that nearly all numbers of a kind stay below, over the whole sequence.
struct KindScales {
  double key = 1;
  double query = 1;
  double value = 1;
  double output = 0;  // 0: not known yet
};

/// What the part `share` of the finite `numbers` do not exceed; 0 if there are none.
double quantile(std::vector<double> numbers, double share);

/// The magnitudes of all numbers.
std::vector<double> sizes_of(const Matrix<double>& numbers);

inline constexpr double nearly_all = 0.995;  // of the numbers have colours of their own

struct Computation;

/// A token at which something happens, and what: "erases and writes strongly, fades more than most".
struct EventMark {
  Index token = 0;
  std::string words;
};

/// What counts as an event, in a sentence.
const char* events_in_words();

/// The nearest marked token after `token`, or before it where `direction` is -1; nothing if there is none.
/// Marked are writes among the strongest 5 % and at least half as strong as the strongest; writes that
/// overshoot; decays and errors before the write among the largest 5 %; divergence of the memory with its
/// cause; and the first token at which a form differs. Only the known part of `computed` counts.
std::optional<EventMark> next_mark(const Computation& computed, Index token, int direction);

}  // namespace palimpsest
