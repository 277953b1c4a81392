#pragma once

#include <imgui.h>

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/scene/node.h"
#include "app/session/races.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"
#include "app/widgets/heat_map.h"

// What the panels of Measure share.

namespace palimpsest {

/// The panels of Measure.
std::span<const Panel> measure_panels();

void draw_measure(Application& application);
void draw_measure_roof(Application& application);
void draw_measure_side(Application& application);
void draw_measure_floor(Application& application);

/// Reports with their figures, which belong together.
struct MeasuredNow {
  std::vector<SeenReport> reports;
  std::size_t leading = 0;  // their number where none has a selected point
  RaceSelection selection;
  bool whole = false;
  std::shared_ptr<const RaceFigures> figures;  // null until the first are there

  bool has_leading() const { return figures && leading < reports.size(); }
  const SeenReport& lead() const { return reports[leading]; }
  const std::vector<RaceLine>& lines() const { return figures->lines[leading]; }
};

/// Whether reports are on their way while there are none yet.
bool is_reading(const MeasuredNow& now, const Races& races);

/// What is to be seen in this frame.
const MeasuredNow& measured(Application& application);

/// How a curve is drawn.
struct CurveLook {
  ImU32 colour = 0;
  float width = 1;  // design pixels
  bool dashed = false;
  Precision precision = Precision::f32;  // the shape of its points
};

/// The look of a curve of a report: the leading one's are strong, those of all others thin.
CurveLook look_of(const RaceLine& line, const MeasuredNow& now, bool leads);

/// Colours by rule, in the order of the selection, or by form where there is one rule; softmax has its own.
ImU32 curve_colour(const RaceEntry& entry, const std::vector<std::string>& variants);

/// All figures of a point: median, quartiles, transfers, allocations, share of the roof; or why it is
/// missing.
std::string point_words(const RacePoint& point, const SeenReport& of);

/// All lengths that a chart shows, and where one may still come what is wished for.
std::set<Index> seen_lengths(const Application& application, const MeasuredNow& now);

/// The unit of all rates of a panel, by the highest of them.
struct RateUnit {
  double flops_per_second = 1e9;
  const char* name = "GFLOP/s";
};

RateUnit rate_unit(double highest);

/// The controls above the chart: what is raced, where, how long.
scene::Node race_controls(Application& application);

/// The switches in the corner of the chart's panel.
scene::Node chart_switches(Application& application, const MeasuredNow& now);

/// The chart, between two corners.
void draw_race_chart(Application& application, const MeasuredNow& now, ImVec2 from, ImVec2 to);

/// "chunkwise, C = 64, cuda" without its chunk size where it is longer than `width` (pixels).
std::string short_enough(const std::string& curve, float width);

/// What Measure drew last: what the tests look at.
struct MeasureMap {
  struct CurveEnd {
    std::string words;
    Rectangle label = {};
    std::string shown = {};   // of the words
    std::string kernel = {};  // with what a curve was measured, below them
    std::string length = {};  // its longest, where others are longer
  };
  std::string question;
  std::string headline;
  std::string shown_headline;  // as much of it as there is room for
  std::string detail;
  std::string shown_detail;  // below the headline, with what of that has no room
  Rectangle plot = {};
  std::vector<CurveEnd> ends;       // labels of curves
  std::vector<CurveEnd> crossings;  // names of crossings
  std::vector<ImVec2> rings;        // crossings themselves
  std::vector<std::string> breaks;  // where the lead changes and nothing crosses
  std::vector<std::string> legend;
  std::vector<ImVec2> points;    // of the leading report
  int thin_points = 0;           // of all others
  float hatched_from = -1;       // where "not measured yet" begins; -1: nowhere
  std::vector<Rectangle> spans;  // who is fastest
  std::vector<Rectangle> roof_labels;
  std::vector<std::string> roof_words;  // on them
  std::string roof_unit;                // of all rates there
  std::string roof_sentence;
  std::string hovered;  // what the pointer was told about a point
};

/// That of the current Dear ImGui context.
MeasureMap& measure_map();

}  // namespace palimpsest
