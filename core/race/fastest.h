#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/race/findings.h"
#include "core/race/lines.h"

// Who is ahead where, of curves as they are drawn: what is said of them, the rings and the bar under the
// chart all come from here.

namespace palimpsest {

/// Where two curves cross: a place on both of them.
struct LineCrossing {
  double tokens = 0;
  double seconds = 0;
  std::size_t faster = 0;  // the line that is below from here on,
  std::size_t slower = 0;  // and the one that was before
  bool is_clear = false;   // before it and after it the middle halves of the runs lie apart
  bool parts = false;      // after it they do, before the two cross again
  bool leads = false;      // `slower` was the fastest of all, and `faster` is from here on
  std::optional<RaceQuestion> question = {};  // that the two answer; none: they have too much apart

  bool operator==(const LineCrossing&) const = default;
};

/// Between two lengths one curve lies below all others.
struct FastestSpan {
  double from = 0;
  double to = 0;
  std::size_t line = 0;

  bool operator==(const FastestSpan&) const = default;
};

/// The lead over the lengths.
struct Lead {
  std::vector<FastestSpan> spans = {};       // short lengths first; where there is no curve there is none
  std::vector<LineCrossing> crossings = {};  // short lengths first: those that change the lead, and the clear
                                             // ones that answer a question
};

/// Who is ahead where, by the medians: between two points of a curve times are a straight line over the
/// lengths, both as logarithms. A curve of a single point takes no part.
Lead lead(std::span<const RaceLine> lines, bool whole = false);

}  // namespace palimpsest
