#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <vector>

#include "app/studio/workspaces.h"

namespace palimpsest {

/// The user's layout of the panels, as it is kept.
struct OwnLayout {
  std::string text;                     // Dear ImGui's, of all windows
  std::vector<std::string> workspaces;  // whose panels were moved

  bool operator==(const OwnLayout&) const = default;
};

/// A panel in a window that cannot be moved.
struct FixedPanel {
  const Panel* panel;
  std::string title;
  ImVec2 position;
  ImVec2 size;
};

/// The places of the panels of the workspaces: as designed for any window size, until the user moves a panel
/// or a separator; from then on as the user put them. The titles of all panels of all workspaces differ.
class Layout {
 public:
  /// Fills the rest of the present Dear ImGui window with the panels of `shown`.
  void draw(const Workspace& shown);

  /// The places of the panels `shown` if they are fixed, as designed for a part of the screen. The layout of
  /// all panels is kept meanwhile. To be called inside the window in which draw() is called.
  std::vector<FixedPanel> fix(const Workspace& workspace, std::span<const Panel* const> shown,
                              ImVec2 position, ImVec2 size) const;

  /// Whether its panels were moved.
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
