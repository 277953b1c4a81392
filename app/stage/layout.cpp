#include "app/stage/layout.h"

#include <algorithm>
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

void Placing::words(const std::string& words, ImVec2 at, const WordsLook& look) {
  if (words.empty() || look.room < px(least_words)) return;
  const std::string shown = ruler_.shortened(words, look.text, look.room);
  const ImVec2 size = extent(shown, look.text);
  layout_.words.push_back({.position = {at.x - look.own.x * size.x, at.y - look.own.y * size.y},
                           .words = shown,
                           .text = look.text,
                           .ink = look.ink,
                           .extent = {size.x, std::min(size.y, look.lines)},
                           .role = look.role,
                           .enlarges = look.enlarges});
}

void Placing::formula(const std::string& latex, ImVec2 at, const FormulaLook& look) {
  if (latex.empty()) return;
  float letters = px(look.size);
  FormulaSize size = ruler_.formula(latex, letters);
  if (size.width > look.room) {
    letters *= look.room / size.width;
    size = ruler_.formula(latex, letters);
  }
  layout_.formulas.push_back({{at.x - look.own.x * size.width, at.y - look.own.y * size.height},
                              latex,
                              letters,
                              size,
                              look.ink,
                              look.enlarges});
}

void Placing::link(std::string words, ImVec2 at, bool ends_there, const std::string& where, Index operation,
                   std::string title) {
  const ImVec2 size = extent(words);
  if (ends_there) at.x -= size.x;
  layout_.links.push_back({at, size, std::move(words), where, operation, std::move(title)});
}

}  // namespace palimpsest
