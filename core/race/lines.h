#pragma once

#include "core/race/race.h"

// The curves that a chart draws of a report.

namespace palimpsest {

/// Logarithms of lengths that are no farther apart differ by rounding alone.
inline constexpr double same_length = 1e-9;

/// Whether the kernels for tensor cores know this rule at this size in chunks, in bf16 and tf32 that is,
/// whatever the precision of `entry`.
bool has_tensor_cores(const RaceEntry& entry);

/// B, H, K and V: what times must have in common to be compared.
struct RaceShape {
  Index batches = 1;
  Index heads = 4;
  Index dk = 64;
  Index dv = 64;

  auto operator<=>(const RaceShape&) const = default;
};

RaceShape shape_of(const RaceEntry& entry);  // leaving out what else an entry says

/// "B 1 · H 16 · K 128 · V 128", with one D where K and V are the same.
std::string in_words(const RaceShape& shape);

/// The shapes of what a report measured, in the order of its points.
std::vector<RaceShape> race_shapes(const RaceReport& report);

/// Which curves are looked at; an empty list lets all pass.
struct RaceSelection {
  std::vector<std::string> variants = {};  // ids, the peer among them where it is wanted
  std::vector<Form> forms = {};
  std::vector<std::string> devices = {};
  std::vector<Precision> precisions = {};
  RaceShape shape = {};

  auto operator<=>(const RaceSelection&) const = default;

  /// Whether an entry is among them, whatever its length and its chunks.
  bool takes(const RaceEntry& entry) const;
};

/// What is looked at of a report: its machine, roofs and selected points.
RaceReport selected(const RaceReport& report, const RaceSelection& selection);

/// One curve as it is drawn. Softmax beside other rules is one curve: that of its fastest form at each
/// length.
struct RaceLine {
  RaceEntry of = {};                    // tokens 0; of the first point where forms are taken together
  bool any_form = false;                // forms are taken together
  std::vector<RacePoint> points = {};   // that have a time, short lengths first
  std::vector<RacePoint> missing = {};  // that say why they have none, short lengths first
  // Of a line of RaceFigures:
  std::string name = {};                  // what it is called among those of its report
  std::optional<KernelKind> kernel = {};  // with what its longest point was measured

  bool operator==(const RaceLine&) const = default;
};

/// The curves of a report whose points are all wanted, in the order of their first points. `whole`: what
/// counts is the time with transfers and allocations, else that of computing. Without `joins_forms` the forms
/// of softmax are curves of their own beside other rules too.
std::vector<RaceLine> race_lines(const RaceReport& report, bool whole = false, bool joins_forms = true);

/// The times of a point that count.
const Quartiles& seconds_of(const RacePoint& point, bool whole);

/// The times of a curve at any length: between two points a straight line over the lengths, both as
/// logarithms. Nothing outside of the curve.
std::optional<Quartiles> seconds_at(const RaceLine& line, double tokens, bool whole);

/// What a curve is called among others: "softmax" where its forms are taken together, "chunkwise, C = 64"
/// where only forms differ, "Gated DeltaNet chunkwise, C = 64" where rules do, "…, cuda, bf16" where these
/// do.
std::string name_of(const RaceLine& line, std::span<const RaceLine> among);

/// What it is called in a sentence: "the chunkwise form", "Gated DeltaNet (chunkwise) on cuda", "softmax".
std::string called(const RaceLine& line, std::span<const RaceLine> among);

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
std::vector<RaceCrossover> race_crossovers(const RaceReport& report);

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

/// A crossing as it stands in a picture.
struct NamedCrossing {
  LineCrossing crossing = {};
  std::string words = {};     // "recurrent overtakes softmax"
  std::string sentence = {};  // "From n ≈ 820 tokens on, the recurrent form is faster than softmax."
  std::string where = {};     // "cpu, f32, B 1 · H 4 · D 64": what both have in common
  bool is_told = false;       // the headline speaks of it
};

/// What a chart of some reports shows. One of them leads: its curves are compared with each other.
struct RaceFigures {
  std::vector<std::vector<RaceLine>> lines = {};  // of every report
  std::vector<NamedCrossing> crossings = {};      // of the leading one, short lengths first
  std::vector<FastestSpan> fastest = {};          // of the leading one
  std::string headline = {};                      // the answer in a sentence; empty: nothing to compare
  std::string detail = {};                        // how much faster, at the ends
};

/// Makes the figures of `reports`, of which `leading` leads.
RaceFigures race_figures(std::span<const RaceReport* const> reports, std::size_t leading,
                         const RaceSelection& selection, bool whole = false);

/// "8,192": a length in digits.
std::string in_digits(Index tokens);

/// "0.52 s", "79.9 ms", "404 µs": a time to three digits; "1,234 s" to whole seconds.
std::string duration(double seconds);

}  // namespace palimpsest
