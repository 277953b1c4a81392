#pragma once

namespace palimpsest {

class Application;

/// The row under the timeline: buttons, where we are, how far a step goes, how fast playing is, and the
/// legend.
void draw_transport(Application& application);

}  // namespace palimpsest
