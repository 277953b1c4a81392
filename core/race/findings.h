#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/race/lines.h"
#include "core/race/report.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// How long something takes at some length.
struct TimedLength {
  double tokens = 0;
  Quartiles seconds = {};
};

/// Where one curve passes another.
struct Crossing {
  double tokens = 0;
  double seconds = 0;
  bool first_is_faster = false;  // from here on
};

/// Where two curves pass each other, from short to long, at the lengths that both have; in between times are
/// straight lines over the lengths, both as logarithms. A curve is ahead where the middle halves of the times
/// do not overlap. Curves that touch do not cross. Both are in ascending order of tokens, with times above 0.
std::vector<Crossing> crossings(const std::vector<TimedLength>& first,
                                const std::vector<TimedLength>& second);

/// What is compared.
enum class RaceQuestion {
  softmax,        // another rule with softmax in its fastest form at each length
  forms,          // the chunkwise form with the recurrent one
  devices,        // the GPU with the CPU, computing alone
  whole_devices,  // the same, transfers and allocations too
};

/// A length from which on one thing is faster than another.
struct RaceCrossover {
  RaceQuestion question = RaceQuestion::softmax;
  double tokens = 0;
  double seconds = 0;
  std::string sentence = {};  // "From about 1,900 tokens on, ... is faster than ..."
  std::string where = {};     // "cpu, f32, B 1, H 4, K 64, V 64": what both have in common
};

/// Where the curves of a report cross, in the order of the questions. None where they do not.
std::vector<RaceCrossover> race_crossovers(const RaceReport& report,
                                           std::span<const Variant> table = variants());

/// "1,900": a length to two digits.
std::string about(double tokens);

// Who is ahead where, of curves as they are drawn: what is said of them, the rings and the bar under the
// chart all come from here.

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

/// Who is ahead where, by the medians. A curve of a single point takes no part.
Lead lead(std::span<const RaceLine> lines, bool whole = false);

}  // namespace palimpsest
