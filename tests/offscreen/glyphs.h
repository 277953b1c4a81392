#pragma once

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <string>
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
               list->_OwnerName ? list->_OwnerName : ""});
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

/// What is wrong with the letters of the last frame: one is cut where nothing scrolls, or lies over another
/// of its window. Empty if nothing is. `rolls`: a part of the name of windows whose text is moved sideways
/// below an edge of their own.
inline std::string letter_fault(const std::vector<std::string>& rolls) {
  std::vector<Glyph> glyphs = drawn_glyphs();
  std::ranges::sort(glyphs, {}, [](const Glyph& glyph) { return glyph.place.minimum.y; });
  constexpr float slack = 2;
  const auto words = [](const Glyph& glyph) {
    return "at " + std::to_string(glyph.place.minimum.x) + ", " + std::to_string(glyph.place.minimum.y) +
           " in " + glyph.window;
  };
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    const Rectangle& place = glyphs[i].place;
    const Rectangle& clip = glyphs[i].clip;
    const bool is_seen = place.maximum.x > clip.minimum.x && place.minimum.x < clip.maximum.x &&
                         place.maximum.y > clip.minimum.y && place.minimum.y < clip.maximum.y;
    if (!is_seen) continue;
    const bool is_cut_aside =
        place.minimum.x < clip.minimum.x - slack || place.maximum.x > clip.maximum.x + slack;
    const bool is_cut_above =
        place.minimum.y < clip.minimum.y - slack || place.maximum.y > clip.maximum.y + slack;
    const bool does_roll = std::ranges::any_of(
        rolls, [&](const std::string& part) { return glyphs[i].window.find(part) != std::string::npos; });
    if (is_cut_aside && !does_roll && !scrolls(glyphs[i].window, 0)) return "cut aside " + words(glyphs[i]);
    if (is_cut_above && !scrolls(glyphs[i].window, 1)) return "cut above or below " + words(glyphs[i]);
    for (std::size_t j = i + 1; j < glyphs.size() && glyphs[j].place.minimum.y < place.maximum.y; ++j) {
      const Rectangle& other = glyphs[j].place;
      if (glyphs[j].window != glyphs[i].window) continue;
      const float width =
          std::min(place.maximum.x, other.maximum.x) - std::max(place.minimum.x, other.minimum.x);
      const float height =
          std::min(place.maximum.y, other.maximum.y) - std::max(place.minimum.y, other.minimum.y);
      if (width <= slack || height <= slack) continue;
      const auto area = [](const Rectangle& one) {
        return (one.maximum.x - one.minimum.x) * (one.maximum.y - one.minimum.y);
      };
      if (width * height > 0.35F * std::min(area(place), area(other)))
        return "one over another " + words(glyphs[i]);
    }
  }
  return {};
}

}  // namespace palimpsest::testing
