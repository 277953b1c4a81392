#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <vector>

#include "app/studio/workspaces.h"

namespace palimpsest {

/// What is kept of where a person put the panels.
struct OwnLayout {
  std::string text;                     // Dear ImGui's, of all windows
  std::vector<std::string> workspaces;  // whose panels somebody moved

  bool operator==(const OwnLayout&) const = default;
};

/// A panel in a window that nobody can move.
struct FixedPanel {
  const Panel* panel;
  std::string title;
  ImVec2 position;
  ImVec2 size;
};

/// Where the panels of the workspaces lie: as designed, whatever the window's size, until a person moves one
/// or a separator; from then on where they were put. The titles of all panels of all workspaces differ.
class Layout {
 public:
  /// Fills the rest of the present Dear ImGui window with the panels of `shown`.
  void draw(const Workspace& shown);

  /// Where those of `shown` lie that are fixed and fill a part of the screen as designed; the places of all
  /// panels are kept meanwhile. Call it inside the window that draw() is called in.
  std::vector<FixedPanel> fix(const Workspace& workspace, std::span<const Panel* const> shown,
                              ImVec2 position, ImVec2 size) const;

  /// Whether somebody moved its panels.
  bool is_own(const Workspace& workspace) const;

  /// Puts its panels where they are designed to lie.
  void reset(const Workspace& workspace);

  /// Whether each panel has its tab, to be dragged by; otherwise only those have one that lie in the same
  /// place.
  bool shows_tabs() const { return shows_tabs_; }
  void show_tabs(bool shown) { shows_tabs_ = shown; }

  /// What to keep; empty while all lies as designed.
  OwnLayout own(std::span<const Workspace> all) const;

  /// Takes up what was kept. Call it before the first frame of the Dear ImGui context. Throws InputError if
  /// it is not what own() gives.
  void restore(const OwnLayout& kept);

 private:
  struct Laid {
    unsigned dockspace = 0;
    bool is_own = false;  // as restored
    bool is_drawn = false;
    std::string designed;                       // the arrangement when it was last laid out
    std::tuple<float, float, float> room = {};  // width, height and scale when it was last drawn
  };

  std::map<std::string, Laid, std::less<>> laid_;  // by workspace
  bool shows_tabs_ = false;
};

}  // namespace palimpsest
