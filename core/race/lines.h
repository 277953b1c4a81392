#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/race/report.h"
#include "core/variants/variants.h"

// The curves that a chart draws of a report.

namespace palimpsest {

/// Logarithms of lengths that are no farther apart differ by rounding alone.
inline constexpr double same_length = 1e-9;

/// Whether the kernels for tensor cores know this rule at this size in chunks, in bf16 and tf32 that is,
/// whatever the precision of `entry`.
bool has_tensor_cores(const RaceEntry& entry, std::span<const Variant> table = variants());

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
std::string name_of(const RaceLine& line, std::span<const RaceLine> among,
                    std::span<const Variant> table = variants());

/// What it is called in a sentence: "the chunkwise form", "Gated DeltaNet (chunkwise) on cuda", "softmax".
std::string called(const RaceLine& line, std::span<const RaceLine> among,
                   std::span<const Variant> table = variants());

}  // namespace palimpsest
