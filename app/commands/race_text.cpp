#include "app/commands/race_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "app/commands/columns.h"
#include "core/race/figures.h"

namespace palimpsest {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string form_text(const RaceEntry& entry) {
  if (entry.chunk_size == 0) return name(entry.form);
  return fmt::format("{} {}", name(entry.form), entry.chunk_size);
}

/// Curves of one shape share a table.
std::string shape_text(const RaceEntry& entry) {
  return fmt::format("B {}, H {}, K {}, V {}", entry.batches, entry.heads, entry.dk, entry.dv);
}

/// The measured points of a shape, a row for each curve.
std::string times_text(const RaceReport& report, const std::string& shape) {
  std::set<Index> lengths;
  std::vector<RaceEntry> curves;
  std::map<Index, std::vector<const RacePoint*>> of_curve;  // by its place in `curves`
  bool transfers = false;
  for (const RacePoint& point : report.points) {
    if (!point.measured() || shape_text(point.entry) != shape) continue;
    RaceEntry curve = point.entry;
    curve.tokens = 0;
    auto found = std::ranges::find(curves, curve);
    if (found == curves.end()) found = curves.insert(curves.end(), curve);
    of_curve[found - curves.begin()].push_back(&point);
    lengths.insert(point.entry.tokens);
    transfers = transfers || point.transfers.median > 0;
  }
  Rows rows = {{"variant", "form", "device", ""}};
  for (const Index tokens : lengths) rows.front().push_back(fmt::format("T {}", tokens));
  for (const char* title : {"middle half", "GFLOP/s", "roof"}) rows.front().emplace_back(title);
  if (transfers) rows.front().insert(rows.front().end() - 2, "with transfers");
  for (auto& [place, points] : of_curve) {
    const RaceEntry& curve = curves[static_cast<std::size_t>(place)];
    rows.push_back({curve.variant, form_text(curve), curve.device, name(curve.precision)});
    const RacePoint* longest = points.front();
    for (const Index tokens : lengths) {
      const auto at = [&](const RacePoint* point) { return point->entry.tokens == tokens; };
      const auto found = std::ranges::find_if(points, at);
      rows.back().push_back(found == points.end() ? "-" : duration((*found)->compute.median));
      if (found != points.end()) longest = *found;
    }
    rows.back().push_back(
        fmt::format("{} to {}", duration(longest->compute.low), duration(longest->compute.high)));
    if (transfers) rows.back().push_back(duration(longest->whole.median));
    const double seconds = longest->compute.median;
    rows.back().push_back(seconds > 0 ? fmt::format("{:.3g}", longest->work.flops / seconds / 1e9) : "-");
    rows.back().push_back(
        report.roof_of(curve) ? fmt::format("{:.2g}%", 100 * roof_fraction(*longest, report)) : "-");
  }
  return columns(rows);
}

/// One line for every reason, with all that it concerns.
Rows missing_rows(const RaceReport& report) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> concerned;
  for (const RacePoint& point : report.points) {
    if (point.measured()) continue;
    if (!concerned.contains(point.missing)) reasons.push_back(point.missing);
    std::vector<std::string>& all = concerned[point.missing];
    const std::string what = fmt::format("{} {} {} {}", point.entry.variant, form_text(point.entry),
                                         point.entry.device, name(point.entry.precision));
    if (std::ranges::find(all, what) == all.end()) all.push_back(what);
  }
  Rows rows;
  for (const std::string& reason : reasons)
    rows.push_back({fmt::format("{}: {}", fmt::join(concerned[reason], ", "), reason)});
  return rows;
}

}  // namespace

std::string in_words(const RaceEntry& entry) {
  return fmt::format("{} {} {} {}, T = {}", entry.variant, form_text(entry), entry.device,
                     name(entry.precision), entry.tokens);
}

std::string race_text(const RaceReport& report) {
  const RaceMachine& machine = report.machine;
  std::string text = fmt::format("{}\n{}, {} {}\n", machine.program, machine.processor, machine.threads,
                                 machine.threads == 1 ? "thread" : "threads");
  if (!machine.gpu.empty()) {
    text += fmt::format("{}, driver for CUDA {}, clocks {}\n", machine.gpu, machine.driver, machine.clocks);
  }
  std::vector<std::string> shapes;
  for (const RacePoint& point : report.points) {
    const std::string shape = shape_text(point.entry);
    if (point.measured() && std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  }
  for (const std::string& shape : shapes) {
    text +=
        fmt::format("\n{}: median of computing alone; from \"middle half\" on at the longest T\n", shape) +
        times_text(report, shape);
  }
  if (const Rows rows = missing_rows(report); !rows.empty())
    text += "\nWhat was not measured, and why\n" + columns(rows);
  Rows notes;
  for (const RaceTiming& timing : report.timing) notes.push_back({timing.device, timing.words});
  for (const RaceRoof& roof : report.roofs) {
    notes.push_back(
        {fmt::format("{} {}", roof.device, name(roof.precision)),
         fmt::format("roof: {:.3g} GB/s ({}), {:.4g} GFLOP/s ({})", roof.roof.bytes_per_second / 1e9,
                     roof.roof.copy, roof.roof.flops_per_second / 1e9, roof.roof.product)});
  }
  if (!notes.empty()) text += "\nWhat is timed, and what the machine does at most\n" + columns(notes);
  Rows crossovers;
  for (const RaceCrossover& crossover : race_crossovers(report))
    crossovers.push_back({crossover.where, crossover.sentence});
  if (!crossovers.empty()) text += "\nWhere curves cross\n" + columns(crossovers);
  return text;
}

}  // namespace palimpsest
