// The step at the cursor by itself, as large as fits.

#include <algorithm>
#include <cmath>

#include "app/stage/equation_layout.h"
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

// Charts
constexpr float chart_foot = 24;  // the words below
constexpr float widest_chart = 760;
constexpr float lowest_chart = 44;
constexpr float highest_chart = 390;

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

constexpr ImVec2 upper_middle = {0.5F, 0};
constexpr ImVec2 in_the_middle = {0.5F, 0.5F};
constexpr ImVec2 from_the_left = {0, 0.5F};
constexpr ImVec2 to_the_right = {1, 0.5F};

/// What a plate takes around its picture.
struct PlateSize {
  ImVec2 picture;
  float left = 0;
  float right = 0;
  float above = 0;
  float below = 0;

  float width() const { return left + picture.x + right; }
};

/// Plates in a row, the middles of their pictures on one axis.
struct RowOfPlates {
  std::vector<PlateSize> plates;
  float highest = 0;  // of the pictures
  float above = 0;    // the highest of them
  float below = 0;
  float width = 0;

  float height() const { return above + highest + below; }
};

class HeroLayout : public Placing {
 public:
  HeroLayout(StageLayout& layout, const Hero& hero, const Ruler& ruler)
      : Placing(layout, ruler), hero_(hero) {}

  void place(ImVec2 origin, ImVec2 room) {
    switch (hero_.kind) {
      case Hero::Kind::plates:
        return place_plates_and_charts(origin, room);
      case Hero::Kind::network:
        return place_network(origin, room);
      case Hero::Kind::strips:
        return place_strips(origin, room);
      case Hero::Kind::equation:
        return place_equation(origin, room);
    }
  }

 private:
  void place_equation(ImVec2 origin, ImVec2 room) {
    BreakingEquation equation(hero_.equation, hero_.broken, ruler_);
    const ImVec2 size = equation.fit(room);
    layout_.equations.push_back(
        {equation.chosen(),
         {origin.x + (room.x - size.x) / 2, origin.y + std::max((room.y - size.y) / 2, 0.0F)}});
  }

  // Plates.

  void place_plates_and_charts(ImVec2 origin, ImVec2 room) {
    const float share = hero_.is_enlarged         ? share_of_enlarged
                        : hero_.plates.size() > 2 ? share_of_many_plates
                                                  : share_beside_chart;
    const float plates = hero_.plates.empty() ? 0 : hero_.charts.empty() ? room.x : room.x * share;
    if (plates > 0) place_plates(origin, {plates, room.y});
    const float left = plates > 0 ? plates + px(chart_gap) : 0;
    const float height = room.y / std::max(static_cast<float>(hero_.charts.size()), 1.0F);
    for (const HeroChart& chart : hero_.charts) {
      place_chart(chart, {origin.x + left, origin.y}, {room.x - left, height});
      origin.y += height;
    }
  }

  void place_chart(const HeroChart& chart, ImVec2 origin, ImVec2 room) {
    const float top = px(title_height);
    const float foot = px(chart_foot);
    const ImVec2 size = {std::min(room.x, px(widest_chart)),
                         std::clamp(room.y - top - foot, px(lowest_chart), px(highest_chart))};
    const float x = origin.x + (room.x - size.x) / 2;
    const float y = origin.y + std::max((room.y - size.y - top - foot) / 2, 0.0F);
    words(chart.title, {x, y}, {.text = style::Text::title, .ink = Ink::text, .room = size.x});
    layout_.charts.push_back({&chart, {x, y + top}, size});
    words(chart.words, {x, y + top + size.y + foot}, {.own = {0, 1}, .room = size.x});
  }

  void place_plates(ImVec2 origin, ImVec2 room) {
    sign_room_ = px(room.x < px(narrow_room) ? narrow_sign : sign_room);
    const RowOfPlates row = largest_row(room);
    float x = origin.x + std::max((room.x - row.width) / 2, 0.0F);
    const float axis = origin.y + std::max((room.y - row.height()) / 2, 0.0F) + row.above + row.highest / 2;
    for (std::size_t i = 0; i < row.plates.size(); ++i) {
      const Plate& plate = hero_.plates[i];
      const PlateSize& size = row.plates[i];
      if (!plate.sign.empty()) {
        formula(plate.sign, {x + sign_room_ / 2, axis}, {.size = sign_size, .own = in_the_middle});
        x += sign_room_;
      }
      const bool is_highest = size.picture.y == row.highest;
      place_plate(plate, size, {x + size.left, axis - size.picture.y / 2},
                  is_highest ? row.above : size.above);
      x += size.width();
    }
  }

  RowOfPlates measured(float unit) const {
    RowOfPlates row;
    for (const Plate& plate : hero_.plates) {
      row.plates.push_back(size_of(plate, unit));
      row.highest = std::max(row.highest, row.plates.back().picture.y);
      row.width += row.plates.back().width() + (plate.sign.empty() ? 0 : sign_room_);
    }
    for (const PlateSize& size : row.plates) {
      const float lower = (row.highest - size.picture.y) / 2;
      row.above = std::max(row.above, size.above - lower);
      row.below = std::max(row.below, size.below - lower);
    }
    return row;
  }

  RowOfPlates largest_row(ImVec2 room) const {
    float small = 0;
    float large = std::max(room.x, room.y);
    for (int halving = 0; halving < 14; ++halving) {
      const float middle = (small + large) / 2;
      const RowOfPlates row = measured(middle);
      (row.width <= room.x && row.height() <= room.y ? small : large) = middle;
    }
    return measured(small);
  }

  static bool is_few(const Box& picture) { return std::max(picture.rows, picture.columns) <= few; }
  static bool stands(Margin::Side side) { return side == Margin::Side::left || side == Margin::Side::right; }

  /// How long a side with `count` cells is where the pictures have `unit`.
  float side_of(Index count, bool are_few, float unit) const {
    if (count == 1) return px(are_few ? thin_of_few : thin);
    const auto cells = static_cast<float>(count);
    const float largest = hero_.is_enlarged ? largest_enlarged : largest_side;
    const float most = px(std::min(cells * largest_cell, largest));
    return std::round(std::clamp(unit * std::pow(cells, growth), px(least_side), most));
  }

  float thickness(const Plate& plate, Margin::Side side) const {
    if (!is_few(plate.picture)) return px(margin_side);
    return px(stands(side) ? margin_width_of_few : margin_height_of_few);
  }

  /// What a vector along an edge takes; nothing where there is none.
  float room_of(const Plate& plate, Margin::Side side) const {
    const bool has = std::ranges::find(plate.margins, side, &Margin::side) != plate.margins.end();
    return has ? thickness(plate, side) + px(margin_gap) : 0;
  }

  float symbol_width(const Box& picture) const { return formula_width(picture.latex, margin_letters); }

  ImVec2 number_extent(const Box& picture) const {
    return ruler_.number(picture.digits, std::min(ruler_.largest_number, number_size));
  }

  PlateSize size_of(const Plate& plate, float unit) const {
    PlateSize size;
    const Box& picture = plate.picture;
    if (picture.kind == Box::Kind::number) {
      size.picture = number_extent(picture);
      const float widest = std::max({extent(plate.words).x, symbol_width(picture), size.picture.x});
      size.left = size.right = (widest - size.picture.x) / 2;
    } else {
      size.picture = {side_of(picture.columns, is_few(picture), unit),
                      side_of(picture.rows, is_few(picture), unit)};
    }
    for (const auto& [side, vector] : plate.margins) {
      const float symbol = symbol_width(vector) + 2 * px(margin_gap);
      float& beside = side == Margin::Side::right ? size.right : size.left;
      beside = std::max({beside, symbol, stands(side) ? room_of(plate, side) : 0});
      if (!stands(side)) (side == Margin::Side::top ? size.above : size.below) += room_of(plate, side);
    }
    size.left += words_width(picture, size.picture.y);
    size.above += px(title_height);
    size.below += px(caption_height);
    return size;
  }

  bool has_row_words(const Box& picture, float height) const {
    return !picture.row_words.empty() &&
           height >= static_cast<float>(picture.row_words.size()) * px(row_of_words);
  }

  float words_width(const Box& picture, float height) const {
    float width = 0;
    if (has_row_words(picture, height)) {
      for (const std::string& word : picture.row_words) width = std::max(width, extent(word).x);
    } else {
      width = extent(picture.present_word).x;
    }
    return width > 0 ? std::min(width, px(widest_word)) + px(word_gap) : 0;
  }

  /// Beside the picture, or beside what stands along its edge: of all rows, or of the present one.
  void place_row_words(const Plate& plate, const PlateSize& size, ImVec2 corner) {
    const Box& picture = plate.picture;
    const bool all = has_row_words(picture, size.picture.y);
    const float right = corner.x - px(word_gap) - room_of(plate, Margin::Side::left);
    const float row = size.picture.y / static_cast<float>(picture.rows);
    const auto place = [&](const std::string& word, Index i) {
      words(word, {right, corner.y + row * (static_cast<float>(i) + 0.5F)},
            {.ink = i == picture.present_row ? Ink::text : Ink::dim,
             .own = to_the_right,
             .room = px(widest_word),
             .lines = all ? row : unbounded});
    };
    if (!all) return place(picture.present_word, picture.present_row);
    for (std::size_t i = 0; i < picture.row_words.size(); ++i)
      place(picture.row_words[i], static_cast<Index>(i));
  }

  void place_margins(const Plate& plate, const PlateSize& size, ImVec2 corner) {
    const float gap = px(margin_gap);
    const ImVec2 end = {corner.x + size.picture.x, corner.y + size.picture.y};
    for (const auto& [side, vector] : plate.margins) {
      const float thick = thickness(plate, side);
      const bool is_before = side == Margin::Side::left || side == Margin::Side::top;
      const auto beside = [&](float low, float high) { return is_before ? low - gap - thick : high + gap; };
      const ImVec2 at = stands(side) ? ImVec2{beside(corner.x, end.x), corner.y}
                                     : ImVec2{corner.x, beside(corner.y, end.y)};
      layout_.pictures.push_back(
          {&vector, at, stands(side) ? ImVec2{thick, size.picture.y} : ImVec2{size.picture.x, thick}});
      // Its symbol: below what stands, left of what lies.
      ImVec2 symbol = {corner.x - gap, at.y + thick / 2};
      if (stands(side)) symbol.y = end.y + px(caption_height) * 0.55F;
      if (side == Margin::Side::left) symbol.y += room_of(plate, Margin::Side::below);
      if (side == Margin::Side::right) symbol.x = end.x + gap + std::max(thick, symbol_width(vector));
      formula(vector.latex, symbol, {.size = margin_letters, .own = to_the_right, .enlarges = vector.tensor});
    }
  }

  /// `above`: where the title begins, over the picture.
  void place_plate(const Plate& plate, const PlateSize& size, ImVec2 corner, float above) {
    layout_.pictures.push_back({&plate.picture, corner, size.picture});
    const float bottom = corner.y + size.picture.y;
    if (plate.picture.kind == Box::Kind::number) {
      const float middle = corner.x + size.picture.x / 2;
      formula(plate.picture.latex, {middle, corner.y - px(2)}, {.size = margin_letters, .own = {0.5F, 1}});
      return words(plate.words, {middle, bottom + px(2)}, {.own = upper_middle});
    }
    place_margins(plate, size, corner);
    place_row_words(plate, size, corner);
    place_title(plate, {corner.x, corner.y - above}, size.picture.x);
    const float y = bottom + room_of(plate, Margin::Side::below) + px(4);
    float rest = size.picture.x;
    const float number = extent(plate.number, style::Text::number_small).x;
    if (!plate.number.empty() && number <= size.picture.x) {
      words(plate.number, {corner.x + size.picture.x, y}, {.text = style::Text::number_small, .own = {1, 0}});
      rest -= number + px(10);
    }
    if (extent(plate.words).x <= rest) words(plate.words, {corner.x, y}, {.room = rest});
  }

  /// The name on the left, the formula on the right, where both fit; else the formula alone.
  void place_title(const Plate& plate, ImVec2 corner, float width) {
    const float middle = corner.y + (px(title_height) - px(6)) / 2;
    const bool has_formula = !plate.latex.empty();
    const float taken = has_formula ? std::min(formula_width(plate.latex, title_letters), width) : 0;
    const float name = extent(plate.name, style::Text::title).x;
    const bool has_name = !plate.name.empty() && name <= width;
    const bool both = has_name && name + px(10) + taken <= width;
    const bool is_written = has_formula && (both || !has_name || plate.role == Role::plain);
    if (is_written) {
      formula(plate.latex, {corner.x + width, middle},
              {.size = title_letters,
               .ink = Ink::text,
               .own = to_the_right,
               .room = width,
               .enlarges = plate.picture.tensor});
    }
    if (!has_name || (is_written && !both)) return;
    words(plate.name, {corner.x, middle},
          {.text = style::Text::title,
           .ink = Ink::text,
           .own = from_the_left,
           .role = plate.role,
           .enlarges = plate.picture.tensor});
  }

  // Strips.

  /// A word that rises to a strip, cut at a length.
  std::string column_word(const Box& picture, Index column) const {
    return ruler_.shortened(picture.column_words[static_cast<std::size_t>(column)], style::Text::caption,
                            px(widest_word));
  }

  /// What the words below the columns take.
  float column_words_height() const {
    float height = 0;
    for (const Plate& plate : hero_.plates) {
      for (const Index column : plate.picture.column_order)
        height = std::max(height, extent(column_word(plate.picture, column)).x + px(word_gap));
    }
    return height;
  }

  /// Words that rise to their columns, whose foot is at `corner`: as many as have room, in the order in which
  /// they matter.
  void place_column_words(const Box& picture, ImVec2 corner, float width) {
    const float cell = width / static_cast<float>(picture.columns);
    std::vector<float> taken;
    for (const Index column : picture.column_order) {
      const std::string word = column_word(picture, column);
      const ImVec2 size = extent(word);
      const float middle = corner.x + cell * (static_cast<float>(column) + 0.5F);
      const bool has_room = std::ranges::none_of(
          taken, [&](float other) { return std::abs(middle - other) < px(row_of_words) - 1; });
      if (!has_room || word.empty()) continue;
      taken.push_back(middle);
      const float high = std::min(size.y, px(row_of_words) - 1);
      layout_.words.push_back({.position = {middle - high / 2, corner.y + px(word_gap / 2)},
                               .words = word,
                               .ink = column == picture.column_order.front() ? Ink::text : Ink::dim,
                               .extent = {high, size.x},
                               .rises = true});
    }
  }

  void place_strips(ImVec2 origin, ImVec2 room) {
    const auto count = static_cast<float>(hero_.plates.size());
    const float gap = px(strip_gap);
    Index cells = 1;
    float name_width = 0;
    float symbol = 0;
    float number_room = 0;
    for (const Plate& plate : hero_.plates) {
      number_room = std::max(number_room, extent(plate.number, style::Text::number_small).x);
      cells = std::max(cells, plate.picture.columns);
      name_width = std::max(name_width, extent(plate.name, style::Text::body).x);
      symbol = std::max(symbol, formula_width(plate.latex, title_letters));
    }
    number_room = std::ceil(number_room) + gap;
    name_width = std::min(name_width, px(widest_name));
    symbol = std::min(symbol, px(symbol_room));
    const float below = column_words_height();
    const float height =
        std::clamp((room.y - below - gap * (count - 1)) / count, px(lowest_strip), px(highest_strip));
    const float labels = name_width + symbol + px(sign_column) + 2 * gap;
    const float widest = std::max(room.x - labels - number_room, px(least_side));
    const float cell = std::min(widest / static_cast<float>(cells), px(largest_cell));
    const float whole = labels + cell * static_cast<float>(cells) + number_room;
    const float left = origin.x + std::max((room.x - whole) / 2, 0.0F);
    const float sign = left + name_width + gap;
    const float symbol_end = sign + px(sign_column) + symbol;
    const float x = std::floor(symbol_end + gap);
    float y = origin.y + std::max((room.y - below - count * height - gap * (count - 1)) / 2, 0.0F);
    for (const Plate& plate : hero_.plates) {
      const Box& picture = plate.picture;
      const float middle = y + height / 2;
      words(plate.name, {left, middle},
            {.text = style::Text::body, .own = from_the_left, .room = name_width});
      formula(plate.sign, {sign + px(4), middle},
              {.size = title_letters, .own = from_the_left, .room = px(sign_column - 8)});
      formula(plate.latex, {symbol_end, middle},
              {.size = title_letters,
               .ink = Ink::text,
               .own = to_the_right,
               .room = symbol,
               .enlarges = picture.tensor});
      if (picture.kind == Box::Kind::number) {
        const ImVec2 size = number_extent(picture);
        layout_.pictures.push_back({&picture, {x, std::floor(middle - size.y / 2)}, size});
      } else {
        const ImVec2 size = {std::floor(cell * static_cast<float>(picture.columns)), std::floor(height)};
        layout_.pictures.push_back({&picture, {x, std::floor(y)}, size});
        place_column_words(picture, {x, std::floor(y) + size.y}, size.x);
        words(plate.number, {x + size.x + gap, middle},
              {.text = style::Text::number_small, .own = from_the_left});
        if (!picture.column_order.empty()) y += below;
      }
      y += height + gap;
    }
  }

  // Networks.

  /// Layers as columns, in equal distances; what stands above and below them is centred on them.
  void place_network(ImVec2 origin, ImVec2 room) {
    const float side = px(layer_width);
    const float network = std::min(room.x, px(widest_network));
    const float column = network / static_cast<float>(hero_.plates.size());
    const float above = px(2 * title_height);
    const float below = px(caption_height);
    const float most = std::clamp(room.y - above - below, px(least_side), px(highest_layer));
    const float top = origin.y + std::max((room.y - above - below - most) / 2, 0.0F);
    Index longest = 1;
    for (const Plate& plate : hero_.plates) longest = std::max(longest, plate.picture.rows);
    float middle = origin.x + (room.x - network) / 2 + column / 2;
    for (const Plate& plate : hero_.plates) {
      const float grown =
          std::pow(static_cast<float>(plate.picture.rows) / static_cast<float>(longest), growth);
      const float height = std::round(std::max(most * grown, px(least_side)));
      const float words_room = column - px(8);
      formula(
          plate.latex, {middle, top},
          {.size = title_letters, .ink = Ink::text, .own = upper_middle, .enlarges = plate.picture.tensor});
      words(plate.name, {middle, top + px(title_height)}, {.own = upper_middle, .room = words_room});
      words(plate.number, {middle, top + above + most + px(3)},
            {.text = style::Text::number_small, .own = upper_middle, .room = words_room});
      layout_.pictures.push_back(
          {&plate.picture,
           {std::round(middle - side / 2), std::round(top + above + (most - height) / 2)},
           {side, height}});
      middle += column;
    }
    const auto first = layout_.pictures.end() - static_cast<std::ptrdiff_t>(hero_.plates.size());
    for (const HeroLinks& links : hero_.links) {
      const auto from = first + static_cast<std::ptrdiff_t>(links.from);
      layout_.links_between.push_back({&links, *from, *(from + 1)});
    }
  }

  const Hero& hero_;
  float sign_room_ = 0;  // between two pictures
};

}  // namespace

void lay_out_hero(StageLayout& layout, const Hero& hero, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  HeroLayout(layout, hero, ruler).place(origin, room);
}

}  // namespace palimpsest
