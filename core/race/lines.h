#pragma once

#include "core/race/race.h"

// The curves that a chart draws of a report.

namespace palimpsest {

/// Logarithms of lengths that differ by at most this differ by rounding alone.
inline constexpr double same_length = 1e-9;

/// Whether the tensor core kernels (bf16 and tf32) support this rule at this size in chunks, whatever the
/// precision of `entry`.
bool has_tensor_cores(const RaceEntry& entry);

/// B, H, K and V: what times must have in common to be compared.
struct RaceShape {
  Index batches = 1;
  Index heads = 4;
  Index dk = 64;
  Index dv = 64;

  auto operator<=>(const RaceShape&) const = default;
};

RaceShape shape_of(const RaceEntry& entry);  // without the other fields of an entry

/// "B 1 · H 16 · K 128 · V 128", with one D where K and V are the same.
std::string in_words(const RaceShape& shape);

/// The shapes of what a report measured, in the order of its points.
std::vector<RaceShape> race_shapes(const RaceReport& report);

/// Which curves are selected; an empty list selects all.
struct RaceSelection {
  std::vector<std::string> variants = {};  // ids, the peer among them where it is wanted
  std::vector<Form> forms = {};
  std::vector<std::string> devices = {};
  std::vector<Precision> precisions = {};
  RaceShape shape = {};

  auto operator<=>(const RaceSelection&) const = default;
  /// Whether an entry is selected, whatever its length and its chunks.
  bool takes(const RaceEntry& entry) const;
};

/// The report with the selected points only, and all of its machine and roofs.
RaceReport selected(const RaceReport& report, const RaceSelection& selection);

/// One curve as it is drawn. Softmax beside other rules is one curve: that of its fastest form at each
/// length.
struct RaceLine {
  RaceEntry of = {};                    // tokens 0; of the first point where forms are taken together
  bool any_form = false;                // forms are taken together
  std::vector<RacePoint> points = {};   // with a time, short lengths first
  std::vector<RacePoint> missing = {};  // without one, each with the reason, short lengths first
  // Of a line of RaceFigures:
  std::string name = {};                  // name_of() among the lines of its report
  std::optional<KernelKind> kernel = {};  // the kernel of its longest measured point
};

/// The curves of all points of a report, in the order of their first points. `whole`: use the time with
/// transfers and allocations, else the compute time. Without `joins_forms` the forms of softmax are separate
/// curves beside other rules too.
std::vector<RaceLine> race_lines(const RaceReport& report, bool whole = false, bool joins_forms = true);

/// The times of a point that are used: see race_lines().
const Quartiles& seconds_of(const RacePoint& point, bool whole);

/// The times of a curve at any length, interpolated linearly between points in log length and log time.
/// Nothing outside the curve.
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

/// Where two curves cross, from short to long, by the lengths that both have; between them times are
/// interpolated linearly in log length and log time. A curve is ahead where the middle halves of the times
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

// Which curve is fastest where, for curves as drawn: sentences, rings and the bar under the chart all come
// from here.

/// Where two curves cross: a point on both of them.
struct LineCrossing {
  double tokens = 0;
  double seconds = 0;
  std::size_t faster = 0;  // the line that is lower from here on
  std::size_t slower = 0;  // the line that was lower before
  bool is_clear = false;   // before and after it the middle halves of the runs do not overlap
  bool parts = false;      // after it they do not, until the two cross again
  bool leads = false;      // `slower` was the fastest of all, and `faster` is from here on
  std::optional<RaceQuestion> question = {};  // that the two answer; none: they differ in too much
};

/// Between two lengths one curve lies below all others.
struct FastestSpan {
  double from = 0;
  double to = 0;
  std::size_t line = 0;
};

/// Which line is fastest at which lengths.
struct Lead {
  std::vector<FastestSpan> spans = {};       // short lengths first; where there is no curve there is none
  std::vector<LineCrossing> crossings = {};  // short lengths first: those that change the lead, and the clear
                                             // ones that answer a question
};

/// Which line is fastest where, by the medians. A curve of a single point is left out.
Lead lead(std::span<const RaceLine> lines, bool whole = false);

/// A crossing as a chart shows it.
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
