#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/race/findings.h"
#include "core/race/report.h"

namespace palimpsest {

/// B, H, K and V: what times must have in common to be compared.
struct RaceShape {
  Index batches = 1;
  Index heads = 4;
  Index dk = 64;
  Index dv = 64;

  bool operator==(const RaceShape&) const = default;
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

  bool operator==(const RaceSelection&) const = default;

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
  std::string name = {};  // of a line of RaceFigures: what it is called among those of its report

  bool operator==(const RaceLine&) const = default;
};

/// The curves of a report whose points are all wanted, in the order of their first points. `whole`: what
/// counts is the time with transfers and allocations, else that of computing.
std::vector<RaceLine> race_lines(const RaceReport& report, bool whole = false);

/// The times of a point that count.
const Quartiles& seconds_of(const RacePoint& point, bool whole);

/// What a curve is called among others: "softmax" where its forms are taken together, "chunkwise, C = 64"
/// where only forms differ, "Gated DeltaNet chunkwise, C = 64" where rules do, "…, cuda" where devices do,
/// "…, bf16" where precisions do.
std::string name_of(const RaceLine& line, std::span<const RaceLine> among,
                    std::span<const Variant> table = variants());

/// Between two lengths one curve lies below all others.
struct FastestSpan {
  double from = 0;
  double to = 0;
  std::size_t line = 0;

  bool operator==(const FastestSpan&) const = default;
};

/// Who is fastest where, by the medians: between two lengths of a curve times are a straight line over the
/// lengths, both as logarithms. Short lengths first; where there is no curve there is no span.
std::vector<FastestSpan> fastest_spans(std::span<const RaceLine> lines, bool whole = false);

/// A crossing as it stands in a picture.
struct NamedCrossing {
  RaceCrossover crossover = {};
  std::size_t faster = 0;  // the line that is below from here on,
  std::size_t slower = 0;  // and the one that was before
  std::string words = {};  // "chunkwise overtakes softmax"
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
                         const RaceSelection& selection, bool whole = false,
                         std::span<const Variant> table = variants());

/// "8,192": a length in digits.
std::string in_digits(Index tokens);

/// "0.52 s", "79.9 ms", "404 µs": a time to three digits; "1,234 s" to whole seconds.
std::string duration(double seconds);

}  // namespace palimpsest
