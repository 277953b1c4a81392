#pragma once

#include <fmt/format.h>
#include <imgui_internal.h>  // to find windows

#include <string>
#include <string_view>
#include <vector>

#include "app/scene/parts.h"

namespace palimpsest::testing {

/// Where the parts of the last frame lie whose paths are `path` or begin with it, in the order in which they
/// were drawn.
inline std::vector<Rectangle> places_below(std::string_view path) {
  std::vector<Rectangle> places;
  for (const Part* part : parts().below(path)) places.push_back(part->where);
  return places;
}

/// What they say.
inline std::vector<std::string> words_below(std::string_view path) {
  std::vector<std::string> words;
  for (const Part* part : parts().below(path)) words.push_back(part->words);
  return words;
}

/// What those of the parts below `path` say that are called `piece`: the names of all rows of a list.
inline std::vector<std::string> said_by(std::string_view path, std::string_view piece,
                                        const Parts& all = parts()) {
  std::vector<std::string> words;
  for (const Part* part : all.below(path)) {
    if (part->path.substr(part->path.rfind('/') + 1) == piece) words.push_back(part->words);
  }
  return words;
}

/// Whether a window of Dear ImGui is shown, and where it lies.
inline bool is_window_shown(const char* title) {
  const ImGuiWindow* window = ImGui::FindWindowByName(title);
  return window && window->Active;
}
inline Rectangle window_place(const char* title) {
  const ImGuiWindow* window = ImGui::FindWindowByName(title);
  return window ? box_at(window->Pos, window->Size) : Rectangle();
}

inline bool is_tip_shown() { return is_window_shown("##Tooltip_00"); }

/// The words below a path that leave their panel, each with its place. What scrolls may go on below it, and
/// the words of a floor beside it.
inline std::string words_beyond(std::string_view path) {
  constexpr float slack = 1.5F;  // formulas lie between pixels
  std::string beyond;
  for (const Part* part : parts().below(path)) {
    const auto& [from, to] = part->where;
    const auto& [least, most] = part->seen;
    const bool is_beside = part->path.find("/floor/") == std::string::npos &&
                           (from.x < least.x - slack || to.x > most.x + slack);
    const bool is_below = !part->scrolls && (from.y < least.y - slack || to.y > most.y + slack);
    if ((is_beside || is_below) && !part->words.empty()) beyond += part->path + ": " + part->words + "\n";
  }
  return beyond;
}

/// What keeps clear of all else, and how far it may leave its room, to the sides.
struct ClearSpot {
  Rectangle where;
  float reach = 0;
};

/// What is wrong with such spots in a room, but for so many pixels; empty if nothing is.
inline std::string fault_of(const std::vector<ClearSpot>& spots, const Rectangle& room, float slack) {
  const auto words = [](const Rectangle& spot) {
    return fmt::format("[{:.1f}, {:.1f}] to [{:.1f}, {:.1f}]", spot.minimum.x, spot.minimum.y, spot.maximum.x,
                       spot.maximum.y);
  };
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const auto& [spot, reach] = spots[i];
    if (!room.grown({slack + reach, slack}).holds(spot)) return words(spot) + " leaves " + words(room);
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(spot, spots[j].where, slack)) return words(spots[j].where) + " overlaps " + words(spot);
    }
  }
  return {};
}

/// Where a part lies; empty: it is not shown.
inline Rectangle place_of(std::string_view path) {
  const Part* part = parts().find(path);
  return part ? part->where : Rectangle();
}

/// What a part says; empty: it is not shown.
inline std::string words_at(std::string_view path) {
  const Part* part = parts().find(path);
  return part ? part->words : std::string();
}

/// The token at the flag of Verify; -1: there is none.
inline Index flagged_token() {
  const std::string words = words_at("verify/floor/difference/label/first wrong token");
  const std::size_t token = words.rfind("token ");
  return token == std::string::npos ? -1 : std::stol(words.substr(token + 6)) - 1;
}

/// The pictures of the first step that is off in Verify.
inline std::vector<Rectangle> wrong_pictures(const std::string& operation) {
  std::vector<Rectangle> pictures;
  for (const char* name : {"expected", "computed", "apart"}) {
    if (const Part* part = parts().find("verify/where/wrong/" + operation + "/" + name))
      pictures.push_back(part->where);
  }
  return pictures;
}

}  // namespace palimpsest::testing
