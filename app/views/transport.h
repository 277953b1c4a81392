#pragma once

namespace palimpsest {

class Application;

/// Whether the marks of the timeline's rows are explained: a floor of its own has others.
enum class FloorLegend { timeline, none };

/// The row under the timeline: buttons, where we are, how far a step goes, how fast playing is, and the
/// legend.
void draw_transport(Application& application, FloorLegend shown = FloorLegend::timeline);

}  // namespace palimpsest
