#pragma once

namespace palimpsest {

class Application;

// The parts of the window that are always there; they stand in app/views.
void draw_top_bar(Application& application, float height);
void draw_status(Application& application);
void draw_overlays(Application& application);

}  // namespace palimpsest
