#pragma once

#include <imgui_internal.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "app/widgets/heat_map.h"

namespace palimpsest::testing {

/// A letter where the last frame put it.
struct Glyph {
  Rectangle place;
  Rectangle clip;
  ImU32 colour = 0;
  std::string window;  // whose list it is in
};

/// All letters of Dear ImGui's fonts in the last frame, also those that something covers. Formulas are
/// pictures, and not among them.
inline std::vector<Glyph> drawn_glyphs() {
  std::vector<Glyph> glyphs;
  for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists) {
    // Not what the list says: a window's name may have been replaced since.
    const auto& windows = ImGui::GetCurrentContext()->Windows;
    const auto owner = std::ranges::find(windows, list, &ImGuiWindow::DrawList);
    const std::string name = owner == windows.end() ? "" : (*owner)->Name;
    for (const ImDrawCmd& command : list->CmdBuffer) {
      if (command.UserCallback || command.TexRef._TexData != ImGui::GetIO().Fonts->TexData) continue;
      const ImDrawIdx* index = list->IdxBuffer.Data + command.IdxOffset;
      const auto vertex = [&](unsigned i) -> const ImDrawVert& {
        return list->VtxBuffer[static_cast<int>(index[i] + command.VtxOffset)];
      };
      for (unsigned i = 0; i + 6 <= command.ElemCount;) {
        const ImDrawVert& from = vertex(i);
        const ImDrawVert& to = vertex(i + 2);
        // A letter is a rectangle of two triangles that shows a part of the fonts' picture.
        const bool is_rectangle = index[i] == index[i + 3] && index[i + 2] == index[i + 4] &&
                                  vertex(i + 1).pos.y == from.pos.y && vertex(i + 5).pos.y == to.pos.y &&
                                  vertex(i + 5).pos.x == from.pos.x;
        const bool is_letter =
            is_rectangle && to.uv.x - from.uv.x > 1e-5F && to.uv.y - from.uv.y > 1e-5F && from.col == to.col;
        if (is_letter) {
          glyphs.push_back(
              {{from.pos, to.pos},
               {{command.ClipRect.x, command.ClipRect.y}, {command.ClipRect.z, command.ClipRect.w}},
               from.col,
               name});
        }
        i += is_letter ? 6 : 3;
      }
    }
  }
  return glyphs;
}

/// Whether what lies in the window `name` can be scrolled sideways (axis 0) or up and down (axis 1).
inline bool scrolls(const std::string& name, int axis) {
  for (const ImGuiWindow* window = ImGui::FindWindowByName(name.c_str()); window;
       window = window->ParentWindow) {
    if (window->ScrollMax[axis] > 0) return true;
  }
  return false;
}

/// Whether the letter is cut at the side by an edge that was drawn for it: one inside its window. Words that
/// roll past, such as the floor's, end there; all others end at the edge of their window, or with "…".
inline bool is_cut_by_own_edge(const Glyph& glyph) {
  const ImGuiWindow* window = ImGui::FindWindowByName(glyph.window.c_str());
  if (!window) return false;
  const bool left = glyph.place.minimum.x < glyph.clip.minimum.x;
  const bool right = glyph.place.maximum.x > glyph.clip.maximum.x;
  return (left && glyph.clip.minimum.x > window->InnerClipRect.Min.x + 1) ||
         (right && glyph.clip.maximum.x < window->InnerClipRect.Max.x - 1);
}

/// What is wrong with the letters of the last frame, once for each line of text: one is cut where nothing
/// scrolls, or lies over another of its window.
inline std::vector<std::string> letter_faults() {
  std::vector<Glyph> glyphs = drawn_glyphs();
  std::ranges::sort(glyphs, {}, [](const Glyph& glyph) { return glyph.place.minimum.y; });
  constexpr float slack = 1;
  constexpr float line = 8;
  std::set<std::tuple<std::string, std::string, int>> lines;
  std::vector<std::string> faults;
  const auto add = [&](const char* what, const Glyph& glyph) {
    if (!lines.emplace(what, glyph.window, static_cast<int>(glyph.place.minimum.y / line)).second) return;
    faults.push_back(std::string(what) + " at " + std::to_string(static_cast<int>(glyph.place.minimum.x)) +
                     ", " + std::to_string(static_cast<int>(glyph.place.minimum.y)) + " in " + glyph.window);
  };
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    const Glyph& glyph = glyphs[i];
    const Rectangle& place = glyph.place;
    const Rectangle& clip = glyph.clip;
    if (!overlap(place, clip)) continue;
    const bool is_cut_aside =
        place.minimum.x < clip.minimum.x - slack || place.maximum.x > clip.maximum.x + slack;
    const bool is_cut_above =
        place.minimum.y < clip.minimum.y - slack || place.maximum.y > clip.maximum.y + slack;
    if (is_cut_aside && !scrolls(glyph.window, 0) && !is_cut_by_own_edge(glyph)) add("cut aside", glyph);
    if (is_cut_above && !scrolls(glyph.window, 1)) add("cut above or below", glyph);
    for (std::size_t j = i + 1; j < glyphs.size() && glyphs[j].place.minimum.y < place.maximum.y; ++j) {
      const Rectangle& other = glyphs[j].place;
      if (glyphs[j].window != glyph.window) continue;
      const float width =
          std::min(place.maximum.x, other.maximum.x) - std::max(place.minimum.x, other.minimum.x);
      const float height =
          std::min(place.maximum.y, other.maximum.y) - std::max(place.minimum.y, other.minimum.y);
      // A j reaches below the letter in front of it; how far grows with the letters.
      const float overhang =
          0.2F * std::max(place.maximum.y - place.minimum.y, other.maximum.y - other.minimum.y);
      if (width > std::max(slack, overhang) && height > slack) add("one over another", glyph);
    }
  }
  return faults;
}

}  // namespace palimpsest::testing
