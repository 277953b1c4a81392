// A chunk or the whole sequence: numbered lines, the one at the cursor showing the present step.

#include <fmt/format.h>

#include <numeric>

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

using scene::Fit;
using scene::Gap;
using scene::Node;
using scene::Nodes;

constexpr float link_height = 20;         // of the words that tell how many lines are not in sight
constexpr float text_width = 168;         // words beside a line of pictures
constexpr float text_margin = 28;         // between them and the pictures
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
  Index start;  // its first operation
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

class LinesLayout {
 public:
  LinesLayout(Placing& placing, ImVec2 room)
      : placing_(placing), ruler_(placing.ruler()), view_(placing.view()), room_(room) {
    for (std::size_t i = 0; i < view_.steps.size(); ++i)
      steps_.emplace_back(view_.steps[i], view_.broken_steps[i], ruler_);
    for (std::size_t i = 0; i < view_.lines.size(); ++i) {
      const StageLine& line = view_.lines[i];
      rows_.push_back({.line = &line, .start = view_.starts[i], .equation = {line.equation, ruler_}});
      if (i != view_.present) rows_[i].wide = needs_width(rows_[i].equation);
    }
    rows_[view_.present].wide = is_larger_wide();
  }

  void place() {
    const LinesInSight window = share_height();
    const std::size_t below = rows_.size() - 1 - window.last;
    if (window.first > 0) place_lines_link(0, window.first, "above", window.first - 1);
    if (below > 0) place_lines_link(room_.y - px(link_height - 4), below, "below", window.last + 1);
    float y = window.first + below > 0 ? px(link_height) : 0;
    for (std::size_t i = window.first; i <= window.last; ++i) {
      place_row(rows_[i], y, i == view_.present);
      y += rows_[i].height;
    }
  }

 private:
  float px(float design_pixels) const { return ruler_.px(design_pixels); }

  void place_lines_link(float y, std::size_t count, const std::string& where, std::size_t line) {
    placing_.link(fmt::format("{} {}", counted(static_cast<Index>(count), "line", "lines"), where), {0, y},
                  false, where, view_.starts[line], view_.lines[line].title);
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
    const Node title = title_of(row, false);
    const float words =
        row.wide ? 0 : scene::lay_out(title, {{0, 0}, {px(text_width), unbounded}}, ruler_).size().y;
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

  /// What is said of a line; a click goes there.
  void place_words(const LineRow& row, Node words, ImVec2 at, ImVec2 room, bool lit) {
    if (lit || row.start < 0) return placing_.put(std::move(words).named("piece"), at, {0, 0}, room);
    placing_.put(std::move(words)
                     .named(fmt::format("line/{}", row.start))
                     .told("A click goes to this line; the wheel to the next one.")
                     .on(placing_.going_to(row.start)),
                 at, {0, 0}, room);
  }

  static Node closely(const std::string& words, style::Text text, scene::Ink ink, Fit fit = Fit::wrap) {
    return {scene::Text{.words = words, .style = text, .ink = ink, .fit = fit, .between = 0}};
  }

  static Node title_of(const LineRow& row, bool lit, Fit fit = Fit::wrap) {
    return closely(row.line->title, style::Text::body, lit ? 0 : scene::dim_ink, fit);
  }

  /// Left of the pictures: the sentence only where there is room for it.
  static Node words_beside(const LineRow& row, const std::string& said, bool lit) {
    Node title = title_of(row, lit);
    if (said.empty()) return title;
    Node sentence = closely(said, style::Text::caption, lit ? scene::dim_ink : scene::faint_ink);
    return scene::first_that_fits({scene::column({title, std::move(sentence)}, Gap::tight), title});
  }

  /// Title and, right of it, as much of what is said as has room on one line: the pictures of the line at the
  /// cursor take the whole width below.
  static Node words_above(const LineRow& row, const std::string& hint) {
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
    if (!hint.empty()) said.push_back(hint);
    const Node title = title_of(row, true, Fit::whole);
    Nodes wishes;
    for (const std::string& words : said) wishes += scene::row({title, scene::tag(words)}, Gap::wide);
    wishes += title;
    return scene::first_that_fits(std::move(wishes));
  }

  /// How pictures of the line at the cursor become larger, where their rows are low.
  std::string enlarging_hint(const LineRow& row) const {
    const bool are_low = row.equation.rows_with_words() > 0 && row.equation.row_height() < px(low_row);
    return are_low ? "A click on a name enlarges its picture." : "";
  }

  void place_solve(const LineRow& row, float y, float height) {
    if (row.wide)
      place_words(row, words_above(row, {}), {0, y}, {room_.x, unbounded}, true);
    else
      place_words(row, words_beside(row, row.line->sentence, true), {0, y}, {px(text_width), row.height},
                  true);
    const float top = y + (row.wide ? px(wide_title_height) : 0);
    lay_out_substitution(placing_, *view_.substitution, {room_.x - width(row.wide), top},
                         {width(row.wide), height});
  }

  void place_row(LineRow& row, float y, bool lit) {
    const float height = row.height - margin(row.wide);
    if (lit && view_.substitution) return place_solve(row, y, height);
    ImVec2 size;
    if (lit) {
      BreakingEquation equation(row.line->equation, view_.broken, ruler_);
      size = equation.fit({width(row.wide), height}, row.largest_unit);
      row.equation = equation.chosen();
    } else {
      size = row.equation.fit({width(row.wide), height}, row.largest_unit);
    }
    const std::string hint = lit ? enlarging_hint(row) : "";
    if (row.wide) {
      place_words(row, lit ? words_above(row, hint) : title_of(row, lit), {0, y}, {room_.x, unbounded}, lit);
      return placing_.equation(row.equation, {(room_.x - size.x) / 2, y + px(wide_title_height)});
    }
    const float top = std::max((height - size.y) / 2, 0.0F);
    const std::string& sentence = row.line->sentence;
    const std::string said = sentence + (sentence.empty() || hint.empty() ? "" : "\n") + hint;
    place_words(row, words_beside(row, said, lit), {0, y + top},
                {px(text_width), row.height - top - px(line_margin / 2)}, lit);
    placing_.equation(row.equation, {room_.x - width(false), y + top});
  }

  Placing& placing_;
  const Ruler& ruler_;
  const StageView& view_;
  ImVec2 room_;
  std::vector<BreakingEquation> steps_;  // of the line at the cursor
  std::vector<LineRow> rows_;
};

}  // namespace

void lay_out_lines(Placing& placing, ImVec2 room) { LinesLayout(placing, room).place(); }

}  // namespace palimpsest
