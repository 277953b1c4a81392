#pragma once

#include <span>

namespace palimpsest {

class Application;

/// Where a panel lies until somebody moves it.
enum class PanelPlace { left_top, left_bottom, center, right_top, right_bottom, bottom };

/// One dockable view over the session.
struct Panel {
  const char* title;  // also its window's name; "##" and more keeps two of one title apart
  PanelPlace place;
  void (*draw)(Application&);  // inside its window
};

/// The panels of Step.
std::span<const Panel> panels();

// One function per file of app/panels.
void draw_stage(Application& application);
void draw_timeline(Application& application);
void draw_equation(Application& application);
void draw_forms(Application& application);
void draw_data(Application& application);
void draw_why(Application& application);

// The parts of the window that are always there.
void draw_top_bar(Application& application, float height);
void draw_status_bar(Application& application, float height);
void draw_overlays(Application& application);

}  // namespace palimpsest
