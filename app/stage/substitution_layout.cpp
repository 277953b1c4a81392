// A solve as the substitution that it is: three matrices side by side, the row that is being solved framed,
// and below them that row as a sum of strips.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "app/stage/layout.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr float title_height = 22;
constexpr float usual_row = 22;
constexpr float least_row = 3;
constexpr float least_row_of_words = 12;
constexpr float words_room = 64;
constexpr float coefficient_room = 64;
constexpr float sign_room = 30;
constexpr float column_gap = 12;
constexpr float share_of_overlap = 0.22F;  // of the width
constexpr float sum_gap = 14;              // between the matrices and the sum
constexpr float strip_height = 14;
constexpr float strip_distance = 21;
constexpr float share_of_sum = 0.52F;  // of the height, where rows are too low for words
constexpr float most_of_height = 0.6F;
constexpr float least_strips = 4;
constexpr float words_of_strip = 128;
constexpr float formula_of_strip = 88;
constexpr float factor_gap = 4;  // between a factor and its symbol
constexpr float number_of_strip = 66;
constexpr std::size_t no_place = std::numeric_limits<std::size_t>::max();
constexpr float letters = 15;
// Numbers are words: a formula for each would be read and painted at every step.
constexpr style::Text factor_text = style::Text::number_small;

class SubstitutionLayout {
 public:
  SubstitutionLayout(StageLayout& layout, const SubstitutionView& view, const Ruler& ruler)
      : layout_(layout), view_(view), ruler_(ruler) {}

  void place(ImVec2 origin, ImVec2 room) {
    const float with_words = ruler_.px(least_row_of_words) * static_cast<float>(view_.solved.rows);
    const float beside_words = room.y - ruler_.px(title_height + sum_gap) - with_words;
    const std::size_t fitting = strips_in(beside_words >= ruler_.px(least_strips * strip_distance)
                                              ? std::min(beside_words, room.y * most_of_height)
                                              : room.y * share_of_sum);
    const std::vector<std::size_t> shown = strongest(fitting);
    const std::size_t lines = shown.size() + (shown.size() < view_.strips.size() ? 1 : 0);
    const float sum = ruler_.px(sum_gap) + static_cast<float>(lines) * ruler_.px(strip_distance);
    const auto rows = static_cast<float>(view_.solved.rows);
    const float most = (room.y - sum - ruler_.px(title_height)) / rows;
    const float row =
        most < ruler_.px(least_row) ? std::max(most, 0.0F) : std::min(std::floor(most), ruler_.px(usual_row));
    const bool has_words = row >= ruler_.px(least_row_of_words) && !view_.words.empty();
    const bool has_coefficients = row >= ruler_.px(least_row_of_words);
    const float gap = ruler_.px(column_gap);
    const float first = ruler_.px(words_room);
    const float height = row * rows;
    const float overlap = std::floor(std::min(height, room.x * share_of_overlap));
    const float coefficients = ruler_.px(coefficient_room);
    const float wide =
        std::floor((room.x - first - overlap - coefficients - ruler_.px(sign_room) - 3 * gap) / 2);
    const float y = origin.y + ruler_.px(title_height);
    const float n = origin.x + first + gap;
    const float u = n + overlap + gap + coefficients;
    const float r = u + wide + ruler_.px(sign_room);
    place_titled(view_.overlap, "how alike the keys are", n, overlap + coefficients, origin.y,
                 {overlap, height}, "I + ");
    place_titled(view_.solved, fmt::format("solved to row {}", view_.row), u, wide, origin.y, {wide, height});
    place_titled(view_.missing, "what is missing", r, wide, origin.y, {wide, height});
    place_sign("=", u + wide, y + height / 2);
    if (has_words) place_row_words(origin.x, y, first, row);
    if (has_coefficients) place_coefficients(u - ruler_.px(8), y, row);
    if (row >= ruler_.px(least_row_of_words) && overlap == height) place_ones(n, y, row);
    const float top = y + row * static_cast<float>(view_.row);
    // Open where the sign stands.
    const float margin = ruler_.px(3);
    layout_.frames.push_back({{n - margin, top - 1}, {u + wide + margin, top + row + 1}});
    layout_.frames.push_back({{r - margin, top - 1}, {r + wide + margin, top + row + 1}});
    place_sum(origin, y + height + ruler_.px(sum_gap), u, r + wide, shown);
  }

 private:
  std::size_t strips_in(float height) const {
    return static_cast<std::size_t>(std::max(height / ruler_.px(strip_distance), 3.0F));
  }

  /// The strips that must stand and the longest of the others, in their order; where some are left out, a
  /// line says so.
  std::vector<std::size_t> strongest(std::size_t most) const {
    std::vector<std::size_t> order(view_.strips.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const SubstitutionStrip& first = view_.strips[a];
      const SubstitutionStrip& second = view_.strips[b];
      if (first.must_stand != second.must_stand) return first.must_stand;
      return first.length > second.length;
    });
    const auto must_stand =
        static_cast<std::size_t>(std::ranges::count(view_.strips, true, &SubstitutionStrip::must_stand));
    if (order.size() > most) order.resize(std::max(most - 1, must_stand));
    std::ranges::sort(order);
    return order;
  }

  void place_formula(const std::string& latex, ImVec2 position, bool ends, float middle) {
    const float size = ruler_.px(letters);
    const FormulaSize extent = ruler_.formula(latex, size);
    layout_.formulas.push_back({{ends ? position.x - extent.width : position.x, middle - extent.height / 2},
                                latex,
                                size,
                                extent,
                                Ink::text});
  }

  void place_titled(const Box& picture, const std::string& words, float x, float width, float top,
                    ImVec2 size, const std::string& before = {}) {
    const std::string latex = before + picture.latex;
    const float title = ruler_.px(title_height);
    place_formula(latex, {x, top}, false, top + title / 2 - ruler_.px(2));
    const float taken = ruler_.formula(latex, ruler_.px(letters)).width + ruler_.px(8);
    const float line = ruler_.words(words, style::Text::caption, -1).y;
    if (ruler_.words(words, style::Text::caption, -1).x <= width - taken) {
      place_words(layout_, ruler_, {x + taken, top + (title - line) / 2 - ruler_.px(2)}, words, width - taken,
                  style::Text::caption, Ink::dim);
    }
    layout_.pictures.push_back(
        {&picture, {std::round(x), std::round(top + title)}, {std::round(size.x), std::round(size.y)}});
  }

  void place_sign(const std::string& sign, float x, float middle) {
    const float size = ruler_.px(20);
    const FormulaSize extent = ruler_.formula(sign, size);
    layout_.formulas.push_back({{x + (ruler_.px(sign_room) - extent.width) / 2, middle - extent.height / 2},
                                sign,
                                size,
                                extent,
                                Ink::dim});
  }

  /// Words that end at `right`. `row`: the height that is theirs, if lines lie close.
  void place_ended(const std::string& words, float right, float middle, float room, style::Text text, Ink ink,
                   float row = std::numeric_limits<float>::infinity()) {
    const std::string shown = ruler_.shortened(words, text, room);
    const ImVec2 extent = ruler_.words(shown, text, -1);
    layout_.words.push_back({.position = {right - extent.x, middle - extent.y / 2},
                             .words = shown,
                             .text = text,
                             .ink = ink,
                             .extent = {extent.x, std::min(extent.y, row)}});
  }

  void place_row_words(float left, float y, float room, float row) {
    for (std::size_t i = 0; i < view_.words.size(); ++i) {
      const bool is_present = static_cast<Index>(i) == view_.row;
      place_ended(view_.words[i], left + room, y + row * (static_cast<float>(i) + 0.5F), room,
                  style::Text::caption, is_present ? Ink::text : Ink::dim, row);
    }
  }

  void place_coefficients(float right, float y, float row) {
    for (std::size_t i = 0; i < view_.coefficients.size(); ++i) {
      place_ended(view_.coefficients[i] + " ×", right, y + row * (static_cast<float>(i) + 0.5F),
                  ruler_.px(coefficient_room - 10), style::Text::number_small,
                  static_cast<Index>(i) == view_.row ? Ink::text : Ink::dim, row);
    }
  }

  /// The ones of I, which no tensor holds.
  void place_ones(float x, float y, float row) {
    const ImVec2 extent = ruler_.words("1", style::Text::number_small, -1);
    for (Index i = 0; i < view_.solved.rows; ++i) {
      const float at = row * static_cast<float>(i);
      layout_.words.push_back({.position = {x + at + (row - extent.x) / 2, y + at + (row - extent.y) / 2},
                               .words = "1",
                               .text = style::Text::number_small,
                               .ink = Ink::dim,
                               .extent = extent,
                               .is_on_picture = true});
    }
  }

  ImVec2 extent_of_factor(const SubstitutionStrip& strip) const {
    return ruler_.words(strip.factor, factor_text, -1);
  }

  void place_sum(ImVec2 origin, float y, float left, float right, const std::vector<std::size_t>& shown) {
    const float distance = ruler_.px(strip_distance);
    const float height = ruler_.px(strip_height);
    const float number = ruler_.px(number_of_strip);
    const float formula_end = left - ruler_.px(10);
    float formulas = 0;
    for (const std::size_t i : shown) {
      const SubstitutionStrip& strip = view_.strips[i];
      const float factor = strip.factor.empty() ? 0 : extent_of_factor(strip).x + ruler_.px(factor_gap);
      formulas = std::max(formulas, ruler_.formula(strip.latex, ruler_.px(letters)).width + factor);
    }
    const float words_end = formula_end - std::max(formulas + ruler_.px(8), ruler_.px(formula_of_strip));
    const float words_left = origin.x + ruler_.px(words_room) + ruler_.px(column_gap);
    const std::vector<std::size_t> left_out = others_than(shown);
    // Those that are left out stand after the terms that are shown, before what they all come to.
    const auto last_term =
        std::ranges::find_if(shown, [&](std::size_t i) { return view_.strips[i].must_stand && i > 0; });
    const std::size_t before = left_out.empty() || last_term == shown.end() ? no_place : *last_term;
    for (const std::size_t i : shown) {
      if (i == before) {
        place_left_out(left_out, origin.x + ruler_.px(words_room), formula_end, left, right, y + height / 2);
        y += distance;
      }
      const SubstitutionStrip& strip = view_.strips[i];
      const float middle = y + height / 2;
      const float words_width = std::min(words_end - words_left, ruler_.px(words_of_strip + 40));
      const bool has_words = ruler_.words(strip.words, style::Text::caption, -1).x <= words_width;
      place_ended(has_words || strip.brief.empty() ? strip.word : strip.brief,
                  origin.x + ruler_.px(words_room), middle, ruler_.px(words_room), style::Text::caption,
                  strip.must_stand ? Ink::text : Ink::dim);
      if (has_words) place_ended(strip.words, words_end, middle, words_width, style::Text::caption, Ink::dim);
      place_formula(strip.latex, {formula_end, middle}, true, middle);
      if (!strip.factor.empty()) {
        const float end =
            formula_end - ruler_.formula(strip.latex, ruler_.px(letters)).width - ruler_.px(factor_gap);
        place_ended(strip.factor, end, middle, std::numeric_limits<float>::infinity(), factor_text,
                    Ink::text);
      }
      layout_.pictures.push_back(
          {&strip.picture, {std::round(left), std::round(y)}, {std::round(right - left - number), height}});
      place_ended(strip.number, right, middle, number - ruler_.px(6), style::Text::number_small, Ink::dim);
      y += distance;
    }
  }

  std::vector<std::size_t> others_than(const std::vector<std::size_t>& shown) const {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < view_.strips.size(); ++i) {
      if (!std::ranges::binary_search(shown, i)) others.push_back(i);
    }
    return others;
  }

  /// "3 more  …  smaller ones, together of this length  0.02"
  void place_left_out(const std::vector<std::size_t>& strips, float words_end, float formula_end, float left,
                      float right, float middle) {
    Matrix<double> sum = view_.made.at(view_.strips[strips.front()].picture.tensor);
    for (const std::size_t i : strips | std::views::drop(1))
      sum += view_.made.at(view_.strips[i].picture.tensor);
    place_ended(fmt::format("{} more", strips.size()), words_end, middle, ruler_.px(words_room),
                style::Text::caption, Ink::dim);
    place_formula("\\cdots", {formula_end, middle}, true, middle);
    const float number = ruler_.px(number_of_strip);
    const std::string words = ruler_.shortened(
        strips.size() == 1 ? "a smaller term, of this length" : "smaller terms, together of this length",
        style::Text::caption, right - number - left);
    const ImVec2 extent = ruler_.words(words, style::Text::caption, -1);
    layout_.words.push_back({.position = {left, middle - extent.y / 2},
                             .words = words,
                             .text = style::Text::caption,
                             .ink = Ink::dim,
                             .extent = extent});
    place_ended(fixed_number(sum.norm(), 2), right, middle, number - ruler_.px(6), style::Text::number_small,
                Ink::dim);
  }

  StageLayout& layout_;
  const SubstitutionView& view_;
  const Ruler& ruler_;
};

}  // namespace

float natural_height(const SubstitutionView& view, const Ruler& ruler) {
  return ruler.px(title_height + sum_gap) + static_cast<float>(view.solved.rows) * ruler.px(usual_row) +
         static_cast<float>(view.strips.size()) * ruler.px(strip_distance);
}

void lay_out_substitution(StageLayout& layout, const SubstitutionView& view, ImVec2 origin, ImVec2 room,
                          const Ruler& ruler) {
  SubstitutionLayout(layout, view, ruler).place(origin, room);
}

}  // namespace palimpsest
