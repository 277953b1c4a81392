// The step at the cursor by itself, as large as fits.

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/stage/breaking.h"
#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float title_height = 26;    // of what stands above a picture
constexpr float caption_height = 20;  // and below it
constexpr float sign_room = 48;       // between two pictures,
constexpr float narrow_sign = 36;     // and where there is little width
constexpr float narrow_room = 900;
constexpr float sign_size = 24;
constexpr float margin_gap = 4;            // between a picture and a vector along its edge
constexpr float margin_side = 10;          // the thin side of such a vector,
constexpr float margin_width_of_few = 46;  // and where its numbers fit
constexpr float margin_height_of_few = 26;
constexpr Index few = 8;
constexpr float thin = 24;  // a vector by itself
constexpr float thin_of_few = 52;
constexpr float least_side = 24;
constexpr float largest_side = 416;
constexpr float largest_enlarged = 1600;
constexpr float largest_cell = 96;
constexpr float growth = 0.6F;  // of sides with the number of cells: long sides leave room to short ones
constexpr float title_letters = 17;
constexpr float widest_word = 72;  // beside a row,
constexpr float word_gap = 8;      // with its distance
constexpr float margin_letters = 14;
constexpr float number_size = 28;

constexpr float share_beside_chart = 0.5F;     // of the width, for pictures beside lines,
constexpr float share_of_many_plates = 0.72F;  // and where there are more than two
constexpr float share_of_enlarged = 0.66F;
constexpr float chart_gap = 32;

// Networks
constexpr float layer_width = 40;
constexpr float widest_network = 900;
constexpr float highest_layer = 520;

// Strips
constexpr float strip_gap = 14;
constexpr float widest_name = 190;
constexpr float symbol_room = 96;
constexpr float sign_column = 30;
constexpr float highest_strip = 52;
constexpr float lowest_strip = 12;

bool is_few(const Box& picture) { return std::max(picture.rows, picture.columns) <= few; }

/// How long a side with `count` cells is where the pictures have `unit`.
float side_of(Index count, bool are_few, float unit, float largest, const Ruler& ruler) {
  if (count == 1) return ruler.px(are_few ? thin_of_few : thin);
  const auto cells = static_cast<float>(count);
  const float most = ruler.px(std::min(cells * largest_cell, largest));
  return std::clamp(unit * std::pow(cells, growth), ruler.px(least_side), most);
}

/// What a plate takes around its picture.
struct PlateSize {
  ImVec2 picture;
  float left = 0;
  float right = 0;
  float above = 0;
  float below = 0;

  float width() const { return left + picture.x + right; }
  float height() const { return above + picture.y + below; }
};

class PlatesLayout {
 public:
  PlatesLayout(StageLayout& layout, const Hero& hero, const Ruler& ruler)
      : layout_(layout), hero_(hero), ruler_(ruler) {}

  void place(ImVec2 origin, ImVec2 room) {
    sign_room_ = ruler_.px(room.x < ruler_.px(narrow_room) ? narrow_sign : sign_room);
    const float unit = largest_unit(room);
    const ImVec2 whole = measure(unit);
    float x = origin.x + std::max((room.x - whole.x) / 2, 0.0F);
    const float above = above_all(unit);
    const float axis = origin.y + std::max((room.y - whole.y) / 2, 0.0F) + above + highest(unit) / 2;
    for (const Plate& plate : hero_.plates) {
      const PlateSize size = size_of(plate, unit);
      if (!plate.sign.empty()) {
        place_sign(plate.sign, {x, axis}, sign_room_);
        x += sign_room_;
      }
      const float half = size.picture.y / 2;
      const bool is_highest = size.picture.y == highest(unit);
      place_plate(plate, size, {x + size.left, axis - half}, is_highest ? above : size.above);
      x += size.width();
    }
  }

 private:
  static bool has(const Plate& plate, Margin::Side side) {
    return std::ranges::any_of(plate.margins, [&](const Margin& margin) { return margin.side == side; });
  }

  float thickness(const Plate& plate, Margin::Side side) const {
    const bool stands = side == Margin::Side::left || side == Margin::Side::right;
    if (!is_few(plate.picture)) return ruler_.px(margin_side);
    return ruler_.px(stands ? margin_width_of_few : margin_height_of_few);
  }

  float symbol_width(const Box& picture) const {
    return ruler_.formula(picture.latex, ruler_.px(margin_letters)).width;
  }

  float largest() const { return hero_.is_enlarged ? largest_enlarged : largest_side; }

  /// The size of the letters of a number that stands for itself.
  float letters_of_number() const { return std::min(ruler_.largest_number, number_size); }

  PlateSize size_of(const Plate& plate, float unit) const {
    PlateSize size;
    const Box& picture = plate.picture;
    if (picture.kind == Box::Kind::number) {
      size.picture = ruler_.number(picture.digits, letters_of_number());
      const float words = ruler_.words(plate.words, style::Text::caption, -1).x;
      const float symbol = symbol_width(picture);
      const float wider = std::max({words, symbol, size.picture.x}) - size.picture.x;
      size.left = size.right = wider / 2;
    } else {
      size.picture = {std::round(side_of(picture.columns, is_few(picture), unit, largest(), ruler_)),
                      std::round(side_of(picture.rows, is_few(picture), unit, largest(), ruler_))};
    }
    const float gap = ruler_.px(margin_gap);
    for (const Margin& margin : plate.margins) {
      const float thick = thickness(plate, margin.side) + gap;
      const float symbol = symbol_width(margin.picture) + 2 * gap;
      switch (margin.side) {
        case Margin::Side::left:
          size.left = std::max({size.left, thick, symbol});
          break;
        case Margin::Side::right:
          size.right = std::max({size.right, thick, symbol});
          break;
        case Margin::Side::top:
          size.above += thick;
          size.left = std::max(size.left, symbol);
          break;
        case Margin::Side::below:
          size.below += thick;
          size.left = std::max(size.left, symbol);
          break;
      }
    }
    size.left += words_width(picture, size.picture.y);
    size.above += ruler_.px(title_height);
    size.below += ruler_.px(caption_height);
    return size;
  }

  bool has_row_words(const Box& picture, float height) const {
    return !picture.row_words.empty() &&
           height >= static_cast<float>(picture.row_words.size()) * ruler_.px(row_of_words);
  }

  float words_width(const Box& picture, float height) const {
    float width = 0;
    if (has_row_words(picture, height)) {
      for (const std::string& word : picture.row_words)
        width = std::max(width, ruler_.words(word, style::Text::caption, -1).x);
    } else {
      width = ruler_.words(picture.present_word, style::Text::caption, -1).x;
    }
    return width > 0 ? std::min(width, ruler_.px(widest_word)) + ruler_.px(word_gap) : 0;
  }

  /// Beside the picture, or beside what stands along its edge: of all rows, or of the present one.
  void place_row_words(const Plate& plate, const PlateSize& size, ImVec2 corner) {
    const Box& picture = plate.picture;
    const bool all = has_row_words(picture, size.picture.y);
    if (!all && picture.present_word.empty()) return;
    const float right =
        corner.x - ruler_.px(word_gap) -
        (has(plate, Margin::Side::left) ? thickness(plate, Margin::Side::left) + ruler_.px(margin_gap) : 0);
    const float row = size.picture.y / static_cast<float>(picture.rows);
    const auto place = [&](const std::string& whole, Index i) {
      const std::string word = ruler_.shortened(whole, style::Text::caption, ruler_.px(widest_word));
      const ImVec2 extent = ruler_.words(word, style::Text::caption, -1);
      const float middle = corner.y + row * (static_cast<float>(i) + 0.5F);
      layout_.words.push_back({.position = {right - extent.x, middle - extent.y / 2},
                               .words = word,
                               .ink = i == picture.present_row ? Ink::text : Ink::dim,
                               .extent = {extent.x, all ? std::min(extent.y, row) : extent.y}});
    };
    if (!all) return place(picture.present_word, picture.present_row);
    for (std::size_t i = 0; i < picture.row_words.size(); ++i)
      place(picture.row_words[i], static_cast<Index>(i));
  }

  float highest(float unit) const {
    float height = 0;
    for (const Plate& plate : hero_.plates) height = std::max(height, size_of(plate, unit).picture.y);
    return height;
  }

  float above_all(float unit) const {
    const float half = highest(unit) / 2;
    float above = 0;
    for (const Plate& plate : hero_.plates) {
      const PlateSize size = size_of(plate, unit);
      above = std::max(above, size.above + size.picture.y / 2 - half);
    }
    return above;
  }

  ImVec2 measure(float unit) const {
    ImVec2 whole = {0, 0};
    float below = 0;
    const float half = highest(unit) / 2;
    for (const Plate& plate : hero_.plates) {
      const PlateSize size = size_of(plate, unit);
      whole.x += size.width() + (plate.sign.empty() ? 0 : sign_room_);
      below = std::max(below, size.below + size.picture.y / 2 - half);
    }
    whole.y = above_all(unit) + 2 * half + below;
    return whole;
  }

  float largest_unit(ImVec2 room) const {
    float small = 0;
    float large = std::max(room.x, room.y);
    for (int halving = 0; halving < 14; ++halving) {
      const float middle = (small + large) / 2;
      const ImVec2 size = measure(middle);
      (size.x <= room.x && size.y <= room.y ? small : large) = middle;
    }
    return small;
  }

  void place_sign(const std::string& sign, ImVec2 from, float width) {
    const float letters = ruler_.px(sign_size);
    const FormulaSize extent = ruler_.formula(sign, letters);
    layout_.formulas.push_back(
        {{from.x + (width - extent.width) / 2, from.y - extent.height / 2}, sign, letters, extent, Ink::dim});
  }

  /// A symbol that ends at `right`, centred on `middle`.
  void place_symbol(const Box& picture, float right, float middle) {
    const float letters = ruler_.px(margin_letters);
    const FormulaSize extent = ruler_.formula(picture.latex, letters);
    layout_.formulas.push_back({{right - extent.width, middle - extent.height / 2},
                                picture.latex,
                                letters,
                                extent,
                                Ink::dim,
                                picture.tensor});
  }

  void place_margins(const Plate& plate, const PlateSize& size, ImVec2 corner) {
    const float gap = ruler_.px(margin_gap);
    const ImVec2 end = {corner.x + size.picture.x, corner.y + size.picture.y};
    for (const Margin& margin : plate.margins) {
      const float thick = thickness(plate, margin.side);
      const auto place = [&](ImVec2 position, ImVec2 extent) {
        layout_.pictures.push_back({&margin.picture, position, extent});
      };
      switch (margin.side) {
        case Margin::Side::left:
          place({corner.x - gap - thick, corner.y}, {thick, size.picture.y});
          place_symbol(margin.picture, corner.x - gap,
                       end.y + ruler_.px(caption_height) * 0.55F + below_of(plate));
          break;
        case Margin::Side::right:
          place({end.x + gap, corner.y}, {thick, size.picture.y});
          place_symbol(margin.picture, end.x + gap + std::max(thick, symbol_width(margin.picture)),
                       end.y + ruler_.px(caption_height) * 0.55F);
          break;
        case Margin::Side::top:
          place({corner.x, corner.y - gap - thick}, {size.picture.x, thick});
          place_symbol(margin.picture, corner.x - gap, corner.y - gap - thick / 2);
          break;
        case Margin::Side::below:
          place({corner.x, end.y + gap}, {size.picture.x, thick});
          place_symbol(margin.picture, corner.x - gap, end.y + gap + thick / 2);
          break;
      }
    }
  }

  /// What a vector below the picture takes.
  float below_of(const Plate& plate) const {
    return has(plate, Margin::Side::below) ? thickness(plate, Margin::Side::below) + ruler_.px(margin_gap)
                                           : 0;
  }

  /// `above`: where the title begins, over the picture.
  void place_plate(const Plate& plate, const PlateSize& size, ImVec2 corner, float above) {
    layout_.pictures.push_back({&plate.picture, corner, size.picture});
    if (plate.picture.kind == Box::Kind::number) {
      place_below_number(plate, size, corner);
      return;
    }
    place_margins(plate, size, corner);
    place_row_words(plate, size, corner);
    place_title(plate, size, {corner.x, corner.y - above});
    const float y = corner.y + size.picture.y + below_of(plate) + ruler_.px(4);
    const ImVec2 number = ruler_.words(plate.number, style::Text::number_small, -1);
    const bool has_number = !plate.number.empty() && number.x <= size.picture.x;
    if (has_number) {
      layout_.words.push_back({.position = {corner.x + size.picture.x - number.x, y},
                               .words = plate.number,
                               .text = style::Text::number_small,
                               .ink = Ink::dim,
                               .extent = number});
    }
    const float words = ruler_.words(plate.words, style::Text::caption, -1).x;
    const float rest = size.picture.x - (has_number ? number.x + ruler_.px(10) : 0);
    if (words <= rest)
      place_words(layout_, ruler_, {corner.x, y}, plate.words, rest, style::Text::caption, Ink::dim);
  }

  void place_below_number(const Plate& plate, const PlateSize& size, ImVec2 corner) {
    const float middle = corner.x + size.picture.x / 2;
    const float bottom = corner.y + size.picture.y;
    const float letters = ruler_.px(margin_letters);
    const FormulaSize symbol = ruler_.formula(plate.picture.latex, letters);
    layout_.formulas.push_back({{middle - symbol.width / 2, corner.y - symbol.height - ruler_.px(2)},
                                plate.picture.latex,
                                letters,
                                symbol,
                                Ink::dim});
    const ImVec2 words = ruler_.words(plate.words, style::Text::caption, -1);
    if (!plate.words.empty()) {
      layout_.words.push_back({.position = {middle - words.x / 2, bottom + ruler_.px(2)},
                               .words = plate.words,
                               .ink = Ink::dim,
                               .extent = words});
    }
  }

  /// The name on the left, the formula on the right, where both fit; else the formula alone.
  void place_title(const Plate& plate, const PlateSize& size, ImVec2 corner) {
    const float width = size.picture.x;
    const float height = ruler_.px(title_height);
    float letters = ruler_.px(title_letters);
    FormulaSize formula = ruler_.formula(plate.latex, letters);
    const bool has_formula = !plate.latex.empty();
    if (has_formula && formula.width > width) {
      letters *= width / formula.width;
      formula = ruler_.formula(plate.latex, letters);
    }
    const ImVec2 name = ruler_.words(plate.name, style::Text::title, -1);
    const float gap = ruler_.px(10);
    const bool has_name = !plate.name.empty() && name.x <= width;
    const bool both = has_name && name.x + gap + formula.width <= width;
    if (has_formula && (both || !has_name || plate.role == Role::plain)) {
      layout_.formulas.push_back(
          {{corner.x + width - formula.width, corner.y + (height - ruler_.px(6) - formula.height) / 2},
           plate.latex,
           letters,
           formula,
           Ink::text,
           plate.picture.tensor});
      if (!both) return;
    }
    if (has_name) {
      layout_.words.push_back({.position = {corner.x, corner.y + (height - ruler_.px(6) - name.y) / 2},
                               .words = plate.name,
                               .text = style::Text::title,
                               .ink = Ink::text,
                               .extent = name,
                               .role = plate.role,
                               .enlarges = plate.picture.tensor});
    }
  }

  StageLayout& layout_;
  const Hero& hero_;
  const Ruler& ruler_;
  float sign_room_ = 0;  // between two pictures
};

/// A word that rises to a strip, cut at a length.
std::string column_word(const Box& picture, Index column, const Ruler& ruler) {
  return ruler.shortened(picture.column_words[static_cast<std::size_t>(column)], style::Text::caption,
                         ruler.px(widest_word));
}

/// What the words below the columns take.
float column_words_height(const Hero& hero, const Ruler& ruler) {
  float height = 0;
  for (const Plate& plate : hero.plates) {
    for (const Index column : plate.picture.column_order) {
      const std::string word = column_word(plate.picture, column, ruler);
      height = std::max(height, ruler.words(word, style::Text::caption, -1).x + ruler.px(word_gap));
    }
  }
  return height;
}

/// Words that rise to their columns, whose foot is at `corner`: as many as have room, in the order in which
/// they matter.
void place_column_words(StageLayout& layout, const Box& picture, ImVec2 corner, float width,
                        const Ruler& ruler) {
  const float cell = width / static_cast<float>(picture.columns);
  std::vector<float> taken;
  for (const Index column : picture.column_order) {
    const std::string word = column_word(picture, column, ruler);
    const ImVec2 extent = ruler.words(word, style::Text::caption, -1);
    const float middle = corner.x + cell * (static_cast<float>(column) + 0.5F);
    const bool has_room = std::ranges::none_of(
        taken, [&](float other) { return std::abs(middle - other) < ruler.px(row_of_words) - 1; });
    if (!has_room || word.empty()) continue;
    taken.push_back(middle);
    const float high = std::min(extent.y, ruler.px(row_of_words) - 1);
    layout.words.push_back({.position = {middle - high / 2, corner.y + ruler.px(word_gap / 2)},
                            .words = word,
                            .ink = column == picture.column_order.front() ? Ink::text : Ink::dim,
                            .extent = {high, extent.x},
                            .rises = true});
  }
}

void lay_out_strips(StageLayout& layout, const Hero& hero, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  const auto count = static_cast<float>(hero.plates.size());
  const float gap = ruler.px(strip_gap);
  Index cells = 1;
  float name_width = 0;
  float symbol = 0;
  float number_room = 0;
  for (const Plate& plate : hero.plates) {
    number_room = std::max(number_room, ruler.words(plate.number, style::Text::number_small, -1).x);
    cells = std::max(cells, plate.picture.columns);
    name_width = std::max(name_width, ruler.words(plate.name, style::Text::body, -1).x);
    symbol = std::max(symbol, ruler.formula(plate.latex, ruler.px(title_letters)).width);
  }
  number_room = std::ceil(number_room) + gap;
  name_width = std::min(name_width, ruler.px(widest_name));
  symbol = std::min(symbol, ruler.px(symbol_room));
  const float below = column_words_height(hero, ruler);
  const float height = std::clamp((room.y - below - gap * (count - 1)) / count, ruler.px(lowest_strip),
                                  ruler.px(highest_strip));
  const float labels = name_width + symbol + ruler.px(sign_column) + 2 * gap;
  const float widest = std::max(room.x - labels - number_room, ruler.px(least_side));
  const float cell = std::min(widest / static_cast<float>(cells), ruler.px(largest_cell));
  const float whole = labels + cell * static_cast<float>(cells) + number_room;
  const float left = origin.x + std::max((room.x - whole) / 2, 0.0F);
  float y = origin.y + std::max((room.y - below - count * height - gap * (count - 1)) / 2, 0.0F);
  for (const Plate& plate : hero.plates) {
    const float middle = y + height / 2;
    const auto formula = [&](const std::string& latex, float x, float most, bool ends, Ink ink,
                             const std::string& enlarges = {}) {
      if (latex.empty()) return;
      float letters = ruler.px(title_letters);
      FormulaSize extent = ruler.formula(latex, letters);
      if (extent.width > most) {
        letters *= most / extent.width;
        extent = ruler.formula(latex, letters);
      }
      layout.formulas.push_back(
          {{ends ? x - extent.width : x, middle - extent.height / 2}, latex, letters, extent, ink, enlarges});
    };
    const float line = ruler.words("0", style::Text::body, -1).y;
    place_words(layout, ruler, {left, middle - line / 2}, plate.name, name_width, style::Text::body,
                Ink::dim);
    float x = left + name_width + gap;
    formula(plate.sign, x + ruler.px(4), ruler.px(sign_column - 8), false, Ink::dim);
    x += ruler.px(sign_column);
    formula(plate.latex, x + symbol, symbol, true, Ink::text, plate.picture.tensor);
    x += symbol + gap;
    if (plate.picture.kind == Box::Kind::number) {
      const float digits = std::min(ruler.largest_number, number_size);
      const ImVec2 size = ruler.number(plate.picture.digits, digits);
      layout.pictures.push_back({&plate.picture, {std::floor(x), std::floor(middle - size.y / 2)}, size});
      y += height + gap;
      continue;
    }
    const ImVec2 size = {std::floor(cell * static_cast<float>(plate.picture.columns)), std::floor(height)};
    layout.pictures.push_back({&plate.picture, {std::floor(x), std::floor(y)}, size});
    place_column_words(layout, plate.picture, {std::floor(x), std::floor(y) + size.y}, size.x, ruler);
    if (!plate.picture.column_order.empty()) y += below;
    const ImVec2 number = ruler.words(plate.number, style::Text::number_small, -1);
    layout.words.push_back({.position = {std::floor(x) + size.x + gap, middle - number.y / 2},
                            .words = plate.number,
                            .text = style::Text::number_small,
                            .ink = Ink::dim,
                            .extent = number});
    y += height + gap;
  }
}

/// Layers as columns, in equal distances; what stands above and below them is centred on them.
void lay_out_network(StageLayout& layout, const Hero& hero, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  const auto count = static_cast<float>(hero.plates.size());
  const float side = ruler.px(layer_width);
  const float network = std::min(room.x, ruler.px(widest_network));
  const float column = network / count;
  const float above = ruler.px(2 * title_height);
  const float below = ruler.px(caption_height);
  const float most = std::clamp(room.y - above - below, ruler.px(least_side), ruler.px(highest_layer));
  const float left = origin.x + (room.x - network) / 2;
  const float top = origin.y + std::max((room.y - above - below - most) / 2, 0.0F);
  Index longest = 1;
  for (const Plate& plate : hero.plates) longest = std::max(longest, plate.picture.rows);
  const std::size_t first = layout.pictures.size();
  for (std::size_t i = 0; i < hero.plates.size(); ++i) {
    const Plate& plate = hero.plates[i];
    const float middle = left + column * (static_cast<float>(i) + 0.5F);
    const float grown =
        std::pow(static_cast<float>(plate.picture.rows) / static_cast<float>(longest), growth);
    const float height = std::round(std::max(most * grown, ruler.px(least_side)));
    const ImVec2 corner = {std::round(middle - side / 2), std::round(top + above + (most - height) / 2)};
    const float letters = ruler.px(title_letters);
    const FormulaSize symbol = ruler.formula(plate.latex, letters);
    layout.formulas.push_back(
        {{middle - symbol.width / 2, top}, plate.latex, letters, symbol, Ink::text, plate.picture.tensor});
    const auto centred = [&](const std::string& words, float y, style::Text text) {
      const std::string shown = ruler.shortened(words, text, column - ruler.px(8));
      const ImVec2 extent = ruler.words(shown, text, -1);
      layout.words.push_back({.position = {middle - extent.x / 2, y},
                              .words = shown,
                              .text = text,
                              .ink = Ink::dim,
                              .extent = extent});
    };
    centred(plate.name, top + ruler.px(title_height), style::Text::caption);
    centred(plate.number, top + above + most + ruler.px(3), style::Text::number_small);
    layout.pictures.push_back({&plate.picture, corner, {side, height}});
  }
  for (const HeroLinks& links : hero.links) {
    const PlacedPicture& from = layout.pictures[first + links.from];
    const PlacedPicture& to = layout.pictures[first + links.from + 1];
    layout.links_between.push_back({&links, from, to});
  }
}

}  // namespace

void lay_out_hero(StageLayout& layout, const Hero& hero, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  switch (hero.kind) {
    case Hero::Kind::plates: {
      const float share = hero.is_enlarged         ? share_of_enlarged
                          : hero.plates.size() > 2 ? share_of_many_plates
                                                   : share_beside_chart;
      const float plates = hero.plates.empty() ? 0 : hero.charts.empty() ? room.x : room.x * share;
      if (plates > 0) PlatesLayout(layout, hero, ruler).place(origin, {plates, room.y});
      const float left = plates > 0 ? plates + ruler.px(chart_gap) : 0;
      const float height = room.y / std::max(static_cast<float>(hero.charts.size()), 1.0F);
      for (std::size_t i = 0; i < hero.charts.size(); ++i) {
        lay_out_chart(layout, hero.charts[i], {origin.x + left, origin.y + height * static_cast<float>(i)},
                      {room.x - left, height}, ruler);
      }
      return;
    }
    case Hero::Kind::network:
      lay_out_network(layout, hero, origin, room, ruler);
      return;
    case Hero::Kind::strips:
      lay_out_strips(layout, hero, origin, room, ruler);
      return;
    case Hero::Kind::equation: {
      BreakingEquation equation(hero.equation, hero.broken, ruler);
      const ImVec2 size = equation.fit(room);
      const ImVec2 corner = {origin.x + (room.x - size.x) / 2,
                             origin.y + std::max((room.y - size.y) / 2, 0.0F)};
      layout.equations.push_back({equation.chosen(), corner});
      return;
    }
  }
}

}  // namespace palimpsest
