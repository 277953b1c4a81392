#pragma once

#include <span>

#include "app/session/state.h"

namespace palimpsest {

class Application;

/// Where a panel lies until somebody moves it.
enum class PanelPlace {
  left_top,
  left_bottom,
  center,
  center_bottom,
  right_top,
  right_bottom,
  right,
  bottom
};

/// One dockable view over the session.
struct Panel {
  const char* title;  // also its window's name; "##" and more keeps two of one title apart
  PanelPlace place;
  void (*draw)(Application&);  // inside its window
  const char* words;           // that lead to it in the palette, beside those of its title
  // Whether it has anything to show now; otherwise other panels get its room. Null: always.
  bool (*has_something)(const Application&) = nullptr;
  Level least = Level::work;  // the levels that it is shown at
  Level most = Level::all;
  float part = 0;  // of the height, of a floor; 0: what the timeline needs

  bool is_in(Level level) const { return least <= level && level <= most; }
  bool is_under_lesson() const { return place == PanelPlace::right_top || place == PanelPlace::right_bottom; }
};

/// Where the panel of a lesson lies beside the panels `shown`: in the right column, which ends above the
/// floor unless that is high.
const Panel& lesson_panel(std::span<const Panel* const> shown);

/// What the window shows at one time: panels in their places, for one question to the data.
struct Workspace {
  const char* id;     // "step"
  const char* name;   // in the top bar
  const char* words;  // what it is for, one sentence
  int key;            // ImGuiKeyChord that leads to it; 0: none
  std::span<const Panel> panels;
  float wider_left = 0;  // by how much the left column is wider than usual, in design pixels
  bool in_bar = true;    // whether the top bar names it; else only while it is shown
};

/// The one list of workspaces, in app/views; the program starts in the first.
std::span<const Workspace> workspaces();

// The parts of the window that are always there; they stand in app/views, too.
void draw_top_bar(Application& application, float height);
void draw_text_bar(Application& application, float top, float height);
bool has_doubts(const Application& application);  // about a file that is open
void draw_doubts(Application& application, float top, float height);
void draw_status(Application& application);
void draw_overlays(Application& application);

}  // namespace palimpsest
