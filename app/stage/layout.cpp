#include "app/stage/layout.h"

#include <fmt/format.h>

#include "app/session/counted.h"

namespace palimpsest {

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

void place_link(StageLayout& layout, const Ruler& ruler, ImVec2 position, std::size_t count,
                const std::string& where, std::size_t line, bool ends_there) {
  if (count == 0) return;
  const std::string words = fmt::format("{} {}", counted(static_cast<Index>(count), "line", "lines"), where);
  const ImVec2 extent = ruler.words(words, style::Text::caption, -1);
  if (ends_there) position.x -= extent.x;
  layout.links.push_back({position, extent, words, where, line});
}

}  // namespace palimpsest
