#pragma once

#include "app/views/view.h"

// What the panels of Measure share.

namespace palimpsest {

/// The reports and the figures computed from them.
struct MeasuredNow {
  std::vector<SeenReport> reports;
  std::size_t leading = 0;  // index of the primary one; reports.size() if none has a selected point
  RaceSelection selection;
  bool whole = false;
  std::shared_ptr<const RaceFigures> figures;  // null until the first are there

  bool has_leading() const { return figures && leading < reports.size(); }
  const SeenReport& lead() const { return reports[leading]; }
  /// Whether that was measured here; and whether a race here may still add points to what is shown.
  bool is_own() const { return lead().from == SeenReport::From::own_race; }
  bool may_grow(const Races& races) const { return has_leading() ? is_own() : races.runs(); }
  const std::vector<RaceLine>& lines() const { return figures->lines[leading]; }
};

/// What this frame shows.
const MeasuredNow& measured(Application& application);

/// All figures of a point: median, quartiles, transfers, allocations, share of the roof; or why it is
/// missing.
std::string point_words(const RacePoint& point, const SeenReport& of);

inline auto points_of(const std::vector<RaceLine>& lines) {
  return lines | std::views::transform(&RaceLine::points) | std::views::join;
}

/// All lengths that a chart shows, and those of the chosen race if it may still add some.
std::set<Index> seen_lengths(const Application& application, const MeasuredNow& now);

/// The unit of all rates of a panel, chosen for the highest.
struct RateUnit {
  double flops_per_second = 1e9;
  const char* name = "GFLOP/s";

  std::string words(double rate) const { return plain_number(rate / flops_per_second); }  // "62.9"
};

inline RateUnit rate_unit(double highest) {
  return highest < 1e12 ? RateUnit() : RateUnit{.flops_per_second = 1e12, .name = "TFLOP/s"};
}

/// Times over lengths.
Plot race_plot(Application& application, const MeasuredNow& now);

}  // namespace palimpsest
