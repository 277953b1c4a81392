#include "app/stage/layout.h"

#include <utility>

namespace palimpsest {

namespace {

constexpr float least_words = 24;  // the width below which no word can be read

}  // namespace

StageLayout lay_out(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  return view.one_token ? lay_out_token(view, origin, room, ruler) : lay_out_lines(view, origin, room, ruler);
}

LinesInSight window_around(std::size_t present, const std::vector<float>& needed, float room) {
  LinesInSight window{present, present};
  for (bool grown = true; grown;) {
    grown = false;
    if (window.last + 1 < needed.size() && needed[window.last + 1] <= room) {
      room -= needed[++window.last];
      grown = true;
    }
    if (window.first > 0 && needed[window.first - 1] <= room) {
      room -= needed[--window.first];
      grown = true;
    }
  }
  return window;
}

void place_link(StageLayout& layout, const Ruler& ruler, ImVec2 position, std::string words,
                const std::string& where, Index operation, std::string title, bool ends_there) {
  const ImVec2 extent = ruler.words(words, style::Text::caption, -1);
  if (ends_there) position.x -= extent.x;
  layout.links.push_back({position, extent, std::move(words), where, operation, std::move(title)});
}

void place_words(StageLayout& layout, const Ruler& ruler, ImVec2 position, const std::string& words,
                 float width, style::Text text, Ink ink, Role role) {
  if (words.empty() || width < ruler.px(least_words)) return;
  const std::string shown = ruler.shortened(words, text, width);
  layout.words.push_back({.position = position,
                          .words = shown,
                          .text = text,
                          .ink = ink,
                          .extent = ruler.words(shown, text, -1),
                          .role = role});
}

}  // namespace palimpsest
