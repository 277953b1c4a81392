// A chunk or the whole sequence: numbered lines, the one at the cursor showing the present step.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "app/session/words.h"
#include "app/stage/equation_layout.h"
#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float text_width = 168;         // words beside a line of pictures
constexpr float text_margin = 28;         // between them and the pictures
constexpr float text_gap = 2;             // between title and sentence
constexpr float line_margin = 16;         // between lines of pictures; a frame takes a third
constexpr float least_lit_share = 0.36F;  // of the height: the line at the cursor is the largest
constexpr float most_of_sum = 0.66F;      // of the height, for a solve row by row
constexpr float most_with_words = 0.74F;  // for rows with words beside them
constexpr float wide_from = 840;          // its words stand beside it from this width on
constexpr float least_unit = 10;          // other lines may have pictures of this size in any case
constexpr float wide_title_height = 24;   // of a line whose pictures take the whole width
constexpr float low_row = 12;             // lower rows leave words beside them no room
constexpr float gain_of_wide = 1.1F;      // when it takes it: so many times as wide at least

/// A line of pictures: words on the left, or above where the pictures need the whole width.
struct LineRow {
  const StageLine* line;
  EquationLayout equation;
  bool wide = false;
  float height = 0;
  float largest_unit = unbounded;
};

/// How large the steps of the line at the cursor are when they have some height.
struct LitSize {
  float height = 0;        // of the highest
  float unit = unbounded;  // of the smallest
};

class LinesLayout : public Placing {
 public:
  LinesLayout(StageLayout& layout, const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler)
      : Placing(layout, ruler), view_(view), origin_(origin), room_(room) {
    for (std::size_t i = 0; i < view.steps.size(); ++i)
      steps_.emplace_back(view.steps[i], view.broken_steps[i], ruler);
    for (const StageLine& line : view.lines) {
      rows_.push_back({.line = &line, .equation = EquationLayout(line.equation, ruler)});
      LineRow& row = rows_.back();
      if (rows_.size() - 1 != view.present) row.wide = needs_width(row.equation);
    }
    rows_[view.present].wide = is_larger_wide();
  }

  void place() {
    const LinesInSight window = share_height();
    const std::size_t below = rows_.size() - 1 - window.last;
    if (window.first > 0) place_lines_link(origin_, window.first, "above", window.first - 1);
    const float foot = origin_.y + room_.y - px(link_height - 4);
    if (below > 0) place_lines_link({origin_.x, foot}, below, "below", window.last + 1);
    float y = origin_.y + (window.first + below > 0 ? px(link_height) : 0);
    for (std::size_t i = window.first; i <= window.last; ++i) {
      const std::size_t before = layout_.words.size();
      place_row(rows_[i], {origin_.x, y}, i == view_.present);
      if (i != view_.present) lead_to(view_.starts[i], before);
      y += rows_[i].height;
    }
  }

 private:
  /// A click on what is said from `first` on goes to an operation.
  void lead_to(Index operation, std::size_t first) {
    for (std::size_t i = first; i < layout_.words.size(); ++i) layout_.words[i].goes_to = operation;
  }

  void place_lines_link(ImVec2 position, std::size_t count, const std::string& where, std::size_t line) {
    link(fmt::format("{} {}", counted(static_cast<Index>(count), "line", "lines"), where), position, false,
         where, view_.starts[line], view_.lines[line].title);
  }

  /// What a line has for its pictures.
  float width(bool wide) const { return wide ? room_.x : room_.x - px(text_width) - px(text_margin); }

  /// What a line takes apart from its pictures.
  float margin(bool wide) const { return px(line_margin) + (wide ? px(wide_title_height) : 0); }

  /// Whether an equation cannot be read where it stands beside its words.
  template <class Laid>
  bool needs_width(Laid& equation) const {
    return equation.least(width(false)).x > width(false);
  }

  /// Whether pictures of the line at the cursor gain from the whole width, under their title.
  bool is_larger_wide() {
    if (view_.substitution) return room_.x < px(wide_from);
    const float height = room_.y * least_lit_share;
    return std::ranges::any_of(steps_, [&](BreakingEquation& step) {
      const auto taken = [&](bool wide) { return step.fit({width(wide), height - margin(wide)}).x; };
      return needs_width(step) || taken(true) > gain_of_wide * taken(false);
    });
  }

  /// What a line needs at least.
  float needed_height(LineRow& row) const {
    const float pictures = row.equation.least(width(row.wide)).y;
    const float words = row.wide ? 0 : ruler_.words(row.line->title, style::Text::body, px(text_width)).y;
    return std::max(pictures, words) + margin(row.wide);
  }

  /// The height with which every row of the steps has its word, as far as that leaves something to the
  /// others.
  float height_with_words(bool wide) {
    float height = 0;
    for (BreakingEquation& step : steps_)
      height = std::max(height, step.height_with_words(width(wide)) + margin(wide));
    return std::min(height, room_.y * most_with_words);
  }

  LitSize lit_size(bool wide, float height) {
    LitSize size;
    if (view_.substitution) {
      size.height = std::min(natural_height(*view_.substitution, ruler_) + margin(wide), height);
      return size;
    }
    for (BreakingEquation& step : steps_) {
      const float taken = step.fit({width(wide), height - margin(wide)}).y;
      size.height = std::max(size.height, taken + margin(wide));
      size.unit = std::min(size.unit, step.unit());
    }
    return size;
  }

  /// Gives every line its height and returns those that are in sight. The line at the cursor takes up to
  /// twice its share of what the others can spare; what it does not need is left to them. None has larger
  /// cells.
  LinesInSight share_height() {
    const std::size_t present = view_.present;
    const bool wide = rows_[present].wide;
    std::vector<float> needed;
    for (LineRow& row : rows_) needed.push_back(needed_height(row));
    const float least = view_.substitution
                            ? room_.y * most_of_sum
                            : std::max({room_.y * least_lit_share, needed[present], height_with_words(wide)});
    const float all = std::accumulate(needed.begin(), needed.end(), 0.0F) - needed[present];
    const float lit = lit_size(wide, least).height;
    const float room = room_.y - (lit + all > room_.y ? 2 * px(link_height) : 0);
    const LinesInSight window = window_around(present, needed, room - lit);

    float others = 0;
    double weights = 0;
    for (std::size_t i = window.first; i <= window.last; ++i) {
      if (i == present) continue;
      others += needed[i];
      weights += view_.lines[i].weight;
    }
    const double weight = view_.lines[present].weight;
    const double share = 2 * weight / (2 * weight + weights);
    const float most = std::max(room * static_cast<float>(share), least);
    const LitSize size = lit_size(wide, std::clamp(room - others, least, most));
    const float rest = room - size.height - others;
    for (std::size_t i = window.first; i <= window.last; ++i) {
      const double part = weights > 0 ? view_.lines[i].weight / weights : 0;
      rows_[i].height = i == present ? size.height : needed[i] + rest * static_cast<float>(part);
      if (i != present) rows_[i].largest_unit = std::max(size.unit, px(least_unit));
    }
    if (window.first == window.last) rows_[present].height += std::max(rest, 0.0F);
    return window;
  }

  /// Words left of the pictures or above them: the sentence only where there is room for it.
  void place_words(const std::string& title, const std::string& sentence, ImVec2 position, ImVec2 room,
                   bool lit) {
    const auto place = [&](const std::string& words, style::Text text, Ink ink) {
      const float height = ruler_.words(words, text, room.x).y;
      layout_.words.push_back({position, words, text, ink, room.x, {room.x, height}});
      position.y += height + px(text_gap);
      room.y -= height + px(text_gap);
    };
    place(title, style::Text::body, lit ? Ink::text : Ink::dim);
    if (!sentence.empty() && ruler_.words(sentence, style::Text::caption, room.x).y <= room.y)
      place(sentence, style::Text::caption, lit ? Ink::dim : Ink::faint);
  }

  /// Title and, right of it, as much of what is said as has room on one line: the pictures of the line at the
  /// cursor take the whole width below.
  void place_words_above(const LineRow& row, ImVec2 corner, const std::string& hint) {
    const std::string& title = row.line->title;
    const float end = extent(title, style::Text::body).x + 1;
    const float left = end + px(text_margin / 2);
    // What is said last tells what no picture shows: it stays longest.
    std::vector<std::string> said;
    for (std::string sentences = row.line->sentence; !sentences.empty();) {
      std::string on_one_line = sentences;
      std::ranges::replace(on_one_line, '\n', ' ');
      if (said.empty() && !hint.empty()) said.push_back(on_one_line + " " + hint);
      said.push_back(std::move(on_one_line));
      const std::size_t line_end = sentences.find('\n');
      sentences.erase(0, line_end == std::string::npos ? line_end : line_end + 1);
    }
    said.push_back(hint);
    for (const std::string& words : said) {
      const ImVec2 size = extent(words);
      if (words.empty() || left + size.x + 1 > room_.x) continue;
      place_words(title, {}, corner, {end, 0}, true);
      layout_.words.push_back({{corner.x + left, corner.y + px(text_gap)},
                               words,
                               style::Text::caption,
                               Ink::dim,
                               size.x + 1,
                               size});
      return;
    }
    place_words(title, {}, corner, {room_.x, 0}, true);
  }

  /// How pictures of the line at the cursor become larger, where their rows are low.
  std::string enlarging_hint(const LineRow& row) const {
    const bool are_low = row.equation.rows_with_words() > 0 && row.equation.row_height() < px(low_row);
    return are_low ? "A click on a name enlarges its picture." : "";
  }

  /// What stands below a line's title.
  std::string said_of(const LineRow& row, bool lit) const {
    const std::string hint = lit ? enlarging_hint(row) : "";
    return row.line->sentence + (row.line->sentence.empty() || hint.empty() ? "" : "\n") + hint;
  }

  void place_solve(const LineRow& row, ImVec2 corner, float height) {
    const float left = corner.x + room_.x - width(row.wide);
    if (row.wide)
      place_words_above(row, corner, {});
    else
      place_words(row.line->title, row.line->sentence, corner, {px(text_width), row.height}, true);
    const float top = corner.y + (row.wide ? px(wide_title_height) : 0);
    lay_out_substitution(layout_, *view_.substitution, {left, top}, {width(row.wide), height}, ruler_);
  }

  void place_row(LineRow& row, ImVec2 corner, bool lit) {
    const float height = row.height - margin(row.wide);
    if (lit && view_.substitution) return place_solve(row, corner, height);
    ImVec2 size;
    if (lit) {
      BreakingEquation equation(row.line->equation, view_.broken, ruler_);
      size = equation.fit({width(row.wide), height}, row.largest_unit);
      row.equation = equation.chosen();
    } else {
      size = row.equation.fit({width(row.wide), height}, row.largest_unit);
    }
    if (row.wide) {
      if (lit)
        place_words_above(row, corner, enlarging_hint(row));
      else
        place_words(row.line->title, {}, corner, {room_.x, 0}, lit);
      layout_.equations.push_back(
          {std::move(row.equation), {corner.x + (room_.x - size.x) / 2, corner.y + px(wide_title_height)}});
      return;
    }
    const float top = std::max((height - size.y) / 2, 0.0F);
    place_words(row.line->title, said_of(row, lit), {corner.x, corner.y + top},
                {px(text_width), row.height - top - px(line_margin / 2)}, lit);
    layout_.equations.push_back(
        {std::move(row.equation), {corner.x + room_.x - width(false), corner.y + top}});
  }

  const StageView& view_;
  ImVec2 origin_;
  ImVec2 room_;
  std::vector<BreakingEquation> steps_;  // of the line at the cursor
  std::vector<LineRow> rows_;
};

}  // namespace

StageLayout lay_out_lines(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  StageLayout layout;
  LinesLayout(layout, view, origin, room, ruler).place();
  return layout;
}

}  // namespace palimpsest
