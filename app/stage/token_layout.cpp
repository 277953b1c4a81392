// One token: its steps as a strip of tiles (the picture of what a step makes, its equation, its words), and
// below them the step at the cursor, large.

#include <fmt/format.h>

#include "app/scene/plot.h"
#include "app/stage/draw.h"
#include "app/stage/layout.h"
#include "app/widgets/chart.h"

namespace palimpsest {

namespace {

constexpr float hero_gap = 12;        // below the tiles,
constexpr float low_gap = 6;          // and below low ones
constexpr float without_tiles = 150;  // the height below which the step needs all of it
constexpr float low_room = 330;       // and below which the tiles are low

constexpr float usual_height = 62;
constexpr float low_height = 46;  // where there is little room below
constexpr float tile_gap = 8;
constexpr float widest_tile = 236;
constexpr float with_equation = 170;  // from this width on
constexpr float least_width = 84;
constexpr float link_width = 76;  // of "5 before" beside the tiles
constexpr float thumbnail = 48;
constexpr float low_thumbnail = 34;
constexpr float thin_thumbnail = 12;  // of a vector
constexpr float equation_size = 15;
constexpr float words_line = 18;  // below the rest of a tile

// The step at the cursor
constexpr float title_height = 26;  // of what stands above a picture
constexpr float narrow_gap = 10;    // around a sign, where there is little width
constexpr float narrow_room = 900;
constexpr float sign_size = 24;
constexpr float margin_gap = 4;            // between a picture and a vector along its edge
constexpr float margin_side = 10;          // the thin side of such a vector,
constexpr float margin_width_of_few = 46;  // and where its numbers fit
constexpr float margin_height_of_few = 26;
constexpr float least_side = 24;
constexpr float largest_enlarged = 1600;
constexpr float largest_cell = 96;
constexpr float growth = 0.6F;  // of sides with the number of cells: long sides leave room to short ones
constexpr SideLook plate_sides = {.growth = growth,
                                  .thin = 24,
                                  .thick = 24,
                                  .thick_of_few = 52,
                                  .smallest = least_side,
                                  .usual_cell = 0,
                                  .gap = 16};
constexpr float title_letters = 17;
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

// Drawings
constexpr float scrubber_height = 10;
constexpr float faintest_link = 0.08F;
constexpr double least_shown = 1e-12;  // on a logarithmic axis

// What is drawn at a frame.

/// The axis upwards, which all numbers and the band have room on.
PlotAxis values_axis(const HeroChart& chart, const Matrix<double>& values) {
  double least = chart.is_logarithmic ? 1 : 0;
  double most = chart.is_logarithmic ? 1 : chart.high;
  for (Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (!std::isfinite(value)) continue;
    least = std::min(least, chart.is_logarithmic ? std::max(value, least_shown) : value);
    most = std::max(most, value);
  }
  if (!chart.is_logarithmic) return {.low = least, .high = most > least ? most : least + 1};
  const double low = std::pow(10, std::floor(std::log10(least)));
  return {.scale = PlotAxis::Scale::log10, .low = low, .high = most > low ? most : 10 * low};
}

/// Its symbols at the steps that they are spread over, or the steps by number.
PlotAxis columns_axis(const HeroChart& chart, Index columns) {
  PlotAxis axis{.high = std::max(static_cast<double>(columns - 1), 1.0),
                .has_round = chart.columns.empty(),
                .has_grid = false};
  if (chart.columns.empty()) axis.title = {"steps"};
  const double distance = axis.high / std::max(static_cast<double>(chart.columns.size()) - 1, 1.0);
  for (std::size_t i = 0; i < chart.columns.size(); ++i)
    axis.named.push_back({.at = static_cast<double>(i) * distance, .latex = chart.columns[i]});
  return axis;
}

Plot hero_plot(const HeroChart& chart, const Matrix<double>& values) {
  const style::Palette& c = style::colours();
  Plot plot{.name = "stage/" + chart.tensor,
            .x = columns_axis(chart, values.cols()),
            .y = values_axis(chart, values),
            .explores = true};
  if (chart.high > chart.low)
    plot.marks.push_back({.kind = PlotMark::Kind::area,
                          .name = "alike",
                          .y = chart.low,
                          .to_y = chart.high,
                          .look = {.colour = c.good},
                          .fill = 0.18F});
  for (Index row = 0; row < values.rows(); ++row) {
    const float part =
        values.rows() > 1 ? static_cast<float>(row) / static_cast<float>(values.rows() - 1) : 0;
    PlotSeries line{.look = {.colour = style::mix(c.error, c.gate, part), .width = 1.5F}};
    for (Index column = 0; column < values.cols(); ++column) {
      line.x.push_back(static_cast<double>(column));
      line.y.push_back(chart.is_logarithmic ? std::max(values(row, column), plot.y.low)
                                            : values(row, column));
    }
    plot.series.push_back(std::move(line));
  }
  return plot;
}

/// At the foot of a tile the progress of its animation, which can be dragged.
void draw_scrubber(const Rectangle& tile, StageScene& scene) {
  const float height = style::px(scrubber_height);
  const float inset = style::px(8);
  const ImVec2 from = {tile.minimum.x + inset, tile.maximum.y - height};
  const float width = tile.maximum.x - inset - from.x;
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("growth", {width, height});
  const bool is_held = ImGui::IsItemActive();
  if (is_held)
    scene.scrubbed = std::clamp((ImGui::GetMousePos().x - from.x) / std::max(width, 1.0F), 0.0F, 1.0F);
  tooltip("Drag to animate the result.");
  if (!is_held && !ImGui::IsItemHovered() && scene.fade >= 1) return;
  const float y = tile.maximum.y - style::px(4);
  const auto grown = static_cast<float>(scene.fade);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({from.x, y}, {from.x + width, y}, style::colours().edge, style::px(style::lit_line));
  list->AddLine({from.x, y}, {from.x + width * grown, y}, style::colours().text, style::px(style::lit_line));
}

/// "memory after" as "after", "what the memory returns" as "the memory returns".
std::string brief(std::string words) {
  words = words.substr(0, words.find(','));
  for (const std::string_view start : {"what is ", "what ", "the ", "memory "}) {
    if (words.starts_with(start) && words.size() > start.size()) return words.substr(start.size());
  }
  return words;
}

/// "decay of each key" as "decay", "error e = v − v̂" as "error": up to what only says more of it.
std::string briefest(const std::string& words) {
  const std::size_t start = words.starts_with("the ") ? 4 : 0;
  std::size_t end = words.size();
  for (const std::string_view more : {" of ", " that ", " along ", " before ", " at ", " so far", " the step",
                                      " are ", " is ", " e =", " v", " after ", " minus "})
    end = std::min(end, words.find(more));
  return words.substr(start, end - start);
}

struct TilesLayout {
  Placing& placing;
  const StageView& view = placing.view();
  ImVec2 size = {};  // of a tile
  enum class Arrangement {
    wide,    // the equation, and the words below it
    beside,  // the symbol, and the words below it, few
    below    // the words below all else
  } arrangement = Arrangement::below;

  /// As many tiles around the present one as fit into `width`, and how many others there are.
  void place(float width, float height) {
    const float gap = px(tile_gap);
    const std::size_t count = view.tiles.size();
    const auto present = static_cast<std::size_t>(view.present_operation);
    const auto fitting = [&](float room) {
      return static_cast<std::size_t>(std::max((room + gap) / (px(least_width) + gap), 1.0F));
    };
    std::size_t first = 0;
    std::size_t shown = count;
    float left = 0;
    float room = width;
    if (fitting(width) < count) {
      room = std::max(width - 2 * px(link_width), px(least_width));
      shown = std::min(fitting(room), count);
      first = std::min(present - std::min(present, shown / 2), count - shown);
      left += px(link_width);
      const float y = (height - px(16)) / 2;
      if (first > 0) place_link(first, "before", first - 1, {0, y}, false);
      if (const std::size_t hidden = count - first - shown; hidden > 0)
        place_link(hidden, "to come", first + shown, {width, y}, true);
    }
    const auto number = static_cast<float>(shown);
    size = {std::floor(std::min((room - gap * (number - 1)) / number, px(widest_tile))), height};
    left += std::floor((room - size.x * number - gap * (number - 1)) / 2);
    arrange(first, shown);
    for (std::size_t i = first; i < first + shown; ++i)
      place_tile(view.tiles[i], left + static_cast<float>(i - first) * (size.x + gap));
  }

  float px(float design_pixels) const { return placing.px(design_pixels); }

  void place_link(std::size_t hidden, const std::string& where, std::size_t target, ImVec2 at, bool ends) {
    const StageTile& tile = view.tiles[target];
    placing.link(fmt::format("{} {}", hidden, where), at, ends, where, tile.operation, tile.words);
  }

  /// All tiles in sight are laid out alike.
  void arrange(std::size_t first, std::size_t count) {
    arrangement = Arrangement::below;
    if (size.y >= px(usual_height)) {
      if (size.x >= px(with_equation)) arrangement = Arrangement::wide;
      return;
    }
    const float room = size.x - px(low_thumbnail + 6 + 7 + 4);
    const auto tiles = view.tiles.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::all_of(tiles, tiles + static_cast<std::ptrdiff_t>(count),
                    [&](const StageTile& tile) { return placing.extent(brief(tile.words)).x <= room; }))
      arrangement = Arrangement::beside;
  }

  void place_tile(const StageTile& tile, float left) {
    place_outline(tile, left);
    const bool is_wide = arrangement == Arrangement::wide;
    const bool is_below = arrangement == Arrangement::below;
    const float padding = px(is_wide ? 8 : 6);
    const float line = px(words_line);
    const float side = is_below ? size.y - line - px(6) : px(is_wide ? thumbnail : low_thumbnail);
    const float middle = is_below ? px(4) + side / 2 : size.y / 2;
    const float taken = place_thumbnail(tile.picture, {left + padding, middle - side / 2}, side);
    const float x = left + padding + taken + px(is_wide ? 10 : 7);
    const float room = left + size.x - px(4) - x;
    // All words, or fewer where they would be cut.
    const scene::Node said =
        scene::that_fits({tile.words, brief(tile.words), briefest(brief(tile.words))}).named("piece");
    if (is_below) {
      place_equation(tile, {x, px(4) + side / 2}, room);
      return placing.put(said, {left + padding, size.y - line}, {0, 0}, {size.x - 2 * padding, unbounded});
    }
    place_equation(tile, {x, px(is_wide ? 21 : 13.5F)}, room);
    placing.put(said, {x, px(is_wide ? 38 : 26)}, {0, 0}, {room, unbounded});
  }

  /// A click goes to the step. At the foot of the present one: how far its result has grown.
  void place_outline(const StageTile& tile, float left) {
    const bool is_present = tile.operation == view.present_operation;
    scene::Node frame = placing.drawn(size, [is_present](const Rectangle& where, const StageScene&) {
      const style::Palette& c = style::colours();
      if (ImGui::IsItemHovered() || ImGui::IsItemFocused())
        fill(where, style::mix(c.panel, c.edge, 0.5F), style::px(6));
      outline(where, is_present ? c.text : c.edge, style::px(6),
              style::px(is_present ? style::lit_line : style::line));
    });
    placing.put(std::move(frame)
                    .named(fmt::format("tile/{}", tile.operation))
                    .told(fmt::format("{}: {}", tile.words, tile.sentence))
                    .on(placing.going_to(tile.operation)),
                {left, 0});
    if (is_present) placing.put(placing.drawn(size, draw_scrubber), {left, 0});
  }

  /// Returns the width that it takes: `side`, or more for a number.
  float place_thumbnail(const Box& picture, ImVec2 corner, float side) {
    if (picture.kind == Box::Kind::number) {
      const Ruler& ruler = placing.ruler();
      const ImVec2 extent = ruler.number(picture.digits, std::min(ruler.largest_number, 12.0F));
      const float width = std::max(side, extent.x);
      placing.picture(picture, corner + (ImVec2(width, side) - extent) / 2, extent, true);
      return width;
    }
    const auto longest = static_cast<float>(std::max(picture.rows, picture.columns));
    const auto length = [&](Index count) {
      return std::max(std::round(side * static_cast<float>(count) / longest), px(thin_thumbnail));
    };
    const ImVec2 extent = {length(picture.columns), length(picture.rows)};
    placing.picture(picture, rounded(corner + (ImVec2(side, side) - extent) / 2), extent, true);
    return side;
  }

  /// The equation where it fits, else the symbol alone.
  void place_equation(const StageTile& tile, ImVec2 at, float room) {
    const bool has_all =
        arrangement == Arrangement::wide && placing.formula_width(tile.latex, equation_size) <= room;
    placing.formula(has_all ? tile.latex : tile.symbol, at,
                    {.size = equation_size, .own = from_the_left, .room = room});
  }
};

/// The step at the cursor by itself, as large as fits.
struct HeroLayout {
  Placing& placing;
  const Hero& hero;
  const Ruler& ruler = placing.ruler();

  void place(ImVec2 origin, ImVec2 room) {
    switch (hero.kind) {
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

  float px(float design_pixels) const { return ruler.px(design_pixels); }

  void place_equation(ImVec2 origin, ImVec2 room) {
    BreakingEquation equation(hero.equation, hero.broken, ruler);
    const ImVec2 size = equation.fit(room);
    placing.equation(equation.chosen(),
                     {origin.x + (room.x - size.x) / 2, origin.y + std::max((room.y - size.y) / 2, 0.0F)});
  }

  void place_plates_and_charts(ImVec2 origin, ImVec2 room) {
    const float share = hero.is_enlarged         ? share_of_enlarged
                        : hero.plates.size() > 2 ? share_of_many_plates
                                                 : share_beside_chart;
    const float plates = hero.plates.empty() ? 0 : hero.charts.empty() ? room.x : room.x * share;
    if (plates > 0) place_plates(origin, {plates, room.y});
    const float left = plates > 0 ? plates + px(chart_gap) : 0;
    const float height = room.y / std::max(static_cast<float>(hero.charts.size()), 1.0F);
    for (const HeroChart& chart : hero.charts) {
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
    placing.words(chart.title, {x, y}, {.text = style::Text::title, .ink = 0, .room = size.x});
    placing.piece(chart.title, {x, y + top}, size, [&chart](const Rectangle& where, const StageScene& scene) {
      if (scene.view.finished_rows(chart.tensor) == 0) return draw_waiting(where);
      draw_plot(hero_plot(chart, scene.record.at(chart.tensor)), where);
    });
    placing.words(chart.words, {x, y + top + size.y + foot}, {.own = {0, 1}, .room = size.x});
  }

  /// The middles of their pictures on one axis; the titles of the highest in one line.
  void place_plates(ImVec2 origin, ImVec2 room) {
    SideLook look = plate_sides;
    if (hero.is_enlarged) look.largest_side = largest_enlarged;
    if (room.x < px(narrow_room)) look.gap = narrow_gap;
    const Box row = row_of_plates();
    EquationLayout layout(row, ruler, look);
    const ImVec2 size = layout.fit(room);
    const ImVec2 corner = {origin.x + std::max((room.x - size.x) / 2, 0.0F),
                           origin.y + std::max((room.y - size.y) / 2, 0.0F)};
    float highest = 0;
    layout.visit(corner, [&](const Box&, const BoxExtent& extent, float, float) {
      highest = std::max(highest, extent.height);
    });
    std::size_t next = 0;
    layout.visit(corner, [&](const Box& box, const BoxExtent& extent, float x, float axis) {
      if (box.kind == Box::Kind::glyph)
        return placing.formula(box.latex, {x + extent.width / 2, axis},
                               {.size = sign_size, .own = in_the_middle});
      const ImVec2 picture = rounded({x + extent.words + box.around.left, axis - extent.height / 2});
      const float above = extent.height == highest ? picture.y - corner.y : box.around.top;
      place_plate(hero.plates[next++], rounded({extent.side, extent.height}), picture, above);
    });
  }

  Box row_of_plates() const {
    Box row{.kind = Box::Kind::row};
    for (const Plate& plate : hero.plates) {
      if (!plate.sign.empty()) row.parts.push_back({.kind = Box::Kind::glyph, .latex = plate.sign});
      Box& picture = row.parts.emplace_back(plate.picture);
      picture.is_bare = true;
      picture.around = around(plate);
    }
    return row;
  }

  static bool stands(Margin::Side side) { return side == Margin::Side::left || side == Margin::Side::right; }

  float thickness(const Plate& plate, Margin::Side side) const {
    if (std::max(plate.picture.rows, plate.picture.columns) > few) return px(margin_side);
    return px(stands(side) ? margin_width_of_few : margin_height_of_few);
  }

  /// What a vector along an edge takes; nothing where there is none.
  float room_of(const Plate& plate, Margin::Side side) const {
    const bool has = is_among(side, plate.margins, &Margin::side);
    return has ? thickness(plate, side) + px(margin_gap) : 0;
  }

  float symbol_width(const Box& picture) const {
    return placing.formula_width(picture.latex, margin_letters);
  }

  ImVec2 number_extent(const Box& picture) const {
    return ruler.number(picture.digits, std::min(ruler.largest_number, number_size));
  }

  /// What a plate takes around its picture.
  BoxAround around(const Plate& plate) const {
    BoxAround around{.top = px(title_height), .bottom = px(caption_height)};
    const Box& picture = plate.picture;
    if (picture.kind == Box::Kind::number) {
      const float widest = std::max(placing.extent(plate.words).x, symbol_width(picture));
      around.left = around.right = std::max((widest - number_extent(picture).x) / 2, 0.0F);
    }
    for (const auto& [side, vector] : plate.margins) {
      const float symbol = symbol_width(vector) + 2 * px(margin_gap);
      float& beside = side == Margin::Side::right ? around.right : around.left;
      beside = std::max({beside, symbol, stands(side) ? room_of(plate, side) : 0});
      if (!stands(side)) (side == Margin::Side::top ? around.top : around.bottom) += room_of(plate, side);
    }
    return around;
  }

  void place_margins(const Plate& plate, ImVec2 size, ImVec2 corner) {
    const float gap = px(margin_gap);
    const ImVec2 end = corner + size;
    for (const auto& [side, vector] : plate.margins) {
      const float thick = thickness(plate, side);
      const bool is_before = side == Margin::Side::left || side == Margin::Side::top;
      const auto beside = [&](float low, float high) { return is_before ? low - gap - thick : high + gap; };
      const ImVec2 at = stands(side) ? ImVec2{beside(corner.x, end.x), corner.y}
                                     : ImVec2{corner.x, beside(corner.y, end.y)};
      placing.picture(vector, at, stands(side) ? ImVec2{thick, size.y} : ImVec2{size.x, thick});
      // Its symbol: below a vertical one, left of a horizontal one.
      ImVec2 symbol = {corner.x - gap, at.y + thick / 2};
      if (stands(side)) symbol.y = end.y + px(caption_height) * 0.55F;
      if (side == Margin::Side::left) symbol.y += room_of(plate, Margin::Side::below);
      if (side == Margin::Side::right) symbol.x = end.x + gap + std::max(thick, symbol_width(vector));
      placing.formula(vector.latex, symbol,
                      {.size = margin_letters, .own = to_the_right, .enlarges = vector.tensor});
    }
  }

  /// `above`: where the title begins, over the picture.
  void place_plate(const Plate& plate, ImVec2 size, ImVec2 corner, float above) {
    placing.picture(plate.picture, corner, size);
    const float bottom = corner.y + size.y;
    if (plate.picture.kind == Box::Kind::number) {
      const float middle = corner.x + size.x / 2;
      placing.formula(plate.picture.latex, {middle, corner.y - px(2)},
                      {.size = margin_letters, .own = {0.5F, 1}});
      return placing.words(plate.words, {middle, bottom + px(2)}, {.own = upper_middle});
    }
    place_margins(plate, size, corner);
    placing.row_words(plate.picture, {corner.x - px(word_gap) - room_of(plate, Margin::Side::left), corner.y},
                      size.y, px(widest_row_word), has_row_words(plate.picture, size.y, ruler));
    place_title(plate, {corner.x, corner.y - above}, size.x);
    const float y = bottom + room_of(plate, Margin::Side::below) + px(4);
    float rest = size.x;
    const float number = placing.extent(plate.number, style::Text::number_small).x;
    if (!plate.number.empty() && number <= size.x) {
      placing.words(plate.number, {corner.x + size.x, y}, {.text = style::Text::number_small, .own = {1, 0}});
      rest -= number + px(10);
    }
    if (placing.extent(plate.words).x <= rest) placing.words(plate.words, {corner.x, y}, {.room = rest});
  }

  /// The name on the left, the formula on the right, where both fit; else the formula alone.
  void place_title(const Plate& plate, ImVec2 corner, float width) {
    const float middle = corner.y + (px(title_height) - px(6)) / 2;
    const bool has_formula = !plate.latex.empty();
    const float taken = has_formula ? std::min(placing.formula_width(plate.latex, title_letters), width) : 0;
    const float name = placing.extent(plate.name, style::Text::title).x;
    const bool has_name = !plate.name.empty() && name <= width;
    const bool both = has_name && name + px(10) + taken <= width;
    const bool is_written = has_formula && (both || !has_name || plate.role == Role::plain);
    if (is_written) {
      placing.formula(plate.latex, {corner.x + width, middle},
                      {.size = title_letters,
                       .ink = 0,
                       .own = to_the_right,
                       .room = width,
                       .enlarges = plate.picture.tensor});
    }
    if (!has_name || (is_written && !both)) return;
    placing.words(plate.name, {corner.x, middle},
                  {.text = style::Text::title,
                   .ink = scene::role_ink(plate.role),
                   .own = from_the_left,
                   .enlarges = plate.picture.tensor});
  }

  /// A word that rises to a strip, cut at a length.
  std::string column_word(const Box& picture, Index column) const {
    return ruler.shortened(entry(picture.column_words, column), style::Text::caption, px(widest_row_word));
  }

  /// What the words below the columns take.
  float column_words_height() const {
    float height = 0;
    for (const Plate& plate : hero.plates) {
      for (const Index column : plate.picture.column_order)
        height = std::max(height, placing.extent(column_word(plate.picture, column)).x + px(word_gap));
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
      const float middle = corner.x + cell * (static_cast<float>(column) + 0.5F);
      const bool has_room = std::ranges::none_of(
          taken, [&](float other) { return std::abs(middle - other) < px(row_of_words) - 1; });
      if (!has_room || word.empty()) continue;
      taken.push_back(middle);
      scene::Text text{.words = word,
                       .style = style::Text::caption,
                       .ink = column == picture.column_order.front() ? 0 : scene::dim_ink,
                       .rises = true,
                       .height = row_of_words - 1};
      placing.put(scene::Node{std::move(text)}.named("piece"), {middle, corner.y + px(word_gap / 2)},
                  {0.5F, 0});
    }
  }

  void place_strips(ImVec2 origin, ImVec2 room) {
    const auto count = static_cast<float>(hero.plates.size());
    const float gap = px(strip_gap);
    Index cells = 1;
    float name_width = 0;
    float symbol = 0;
    float number_room = 0;
    for (const Plate& plate : hero.plates) {
      number_room = std::max(number_room, placing.extent(plate.number, style::Text::number_small).x);
      cells = std::max(cells, plate.picture.columns);
      name_width = std::max(name_width, placing.extent(plate.name, style::Text::body).x);
      symbol = std::max(symbol, placing.formula_width(plate.latex, title_letters));
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
    for (const Plate& plate : hero.plates) {
      const Box& picture = plate.picture;
      const float middle = y + height / 2;
      placing.words(plate.name, {left, middle},
                    {.text = style::Text::body, .own = from_the_left, .room = name_width});
      placing.formula(plate.sign, {sign + px(4), middle},
                      {.size = title_letters, .own = from_the_left, .room = px(sign_column - 8)});
      placing.formula(
          plate.latex, {symbol_end, middle},
          {.size = title_letters, .ink = 0, .own = to_the_right, .room = symbol, .enlarges = picture.tensor});
      if (picture.kind == Box::Kind::number) {
        const ImVec2 size = number_extent(picture);
        placing.picture(picture, {x, std::floor(middle - size.y / 2)}, size);
      } else {
        const ImVec2 size = {std::floor(cell * static_cast<float>(picture.columns)), std::floor(height)};
        placing.picture(picture, {x, std::floor(y)}, size);
        place_column_words(picture, {x, std::floor(y) + size.y}, size.x);
        placing.words(plate.number, {x + size.x + gap, middle},
                      {.text = style::Text::number_small, .own = from_the_left});
        if (!picture.column_order.empty()) y += below;
      }
      y += height + gap;
    }
  }

  /// Layers as columns, in equal distances; what stands above and below them is centred on them.
  void place_network(ImVec2 origin, ImVec2 room) {
    const float side = px(layer_width);
    const float network = std::min(room.x, px(widest_network));
    const float column = network / static_cast<float>(hero.plates.size());
    const float above = px(2 * title_height);
    const float below = px(caption_height);
    const float most = std::clamp(room.y - above - below, px(least_side), px(highest_layer));
    const float top = origin.y + std::max((room.y - above - below - most) / 2, 0.0F);
    Index longest = 1;
    for (const Plate& plate : hero.plates) longest = std::max(longest, plate.picture.rows);
    const auto height_of = [&](const Box& layer) {
      const float grown = std::pow(static_cast<float>(layer.rows) / static_cast<float>(longest), growth);
      return std::round(std::max(most * grown, px(least_side)));
    };
    float middle = origin.x + (room.x - network) / 2 + column / 2;
    for (std::size_t i = 0; i < hero.plates.size(); ++i) {
      const Plate& plate = hero.plates[i];
      const float height = height_of(plate.picture);
      const float words_room = column - px(8);
      placing.formula(
          plate.latex, {middle, top},
          {.size = title_letters, .ink = 0, .own = upper_middle, .enlarges = plate.picture.tensor});
      placing.words(plate.name, {middle, top + px(title_height)}, {.own = upper_middle, .room = words_room});
      placing.words(plate.number, {middle, top + above + most + px(3)},
                    {.text = style::Text::number_small, .own = upper_middle, .room = words_room});
      placing.picture(plate.picture, rounded({middle - side / 2, top + above + (most - height) / 2}),
                      {side, height});
      if (i < hero.links.size())
        place_links(i, {std::round(middle + side / 2), top + above}, {column - side, most}, height,
                    height_of(hero.plates[i + 1].picture));
      middle += column;
    }
  }

  /// The links between two layers of units, in the room between them: their middles are level. While the
  /// second one is made, they grow with it.
  void place_links(std::size_t first, ImVec2 corner, ImVec2 size, float from_height, float to_height) {
    const auto draw = [&all = hero.links[first], &from = hero.plates[first].picture,
                       &to = hero.plates[first + 1].picture, from_height,
                       to_height](const Rectangle& where, const StageScene& scene) {
      if (all.empty() || scene.view.finished_rows(to.tensor) == 0) return;
      const auto strongest = static_cast<float>(std::abs(all.back().amount));
      const auto height_of = [&](const Box& layer, float height, Index unit) {
        const float part = (static_cast<float>(unit) + 0.5F) / static_cast<float>(layer.rows);
        return where.middle().y + height * (part - 0.5F);
      };
      const auto grown = to.tensor == scene.view.lit ? static_cast<float>(scene.fade) : 1.0F;
      for (const StrongLink& link : all) {
        const auto amount = static_cast<float>(link.amount);
        const ImU32 ink = style::colour(colour(style::colours().map, amount, strongest));
        const float strength = std::max(std::abs(amount) / strongest, faintest_link);
        const ImVec2 begin = {where.minimum.x + style::px(2), height_of(from, from_height, link.from)};
        const ImVec2 end = {where.maximum.x - style::px(2), height_of(to, to_height, link.to)};
        ImGui::GetWindowDrawList()->AddLine(begin, begin + (end - begin) * grown,
                                            style::with_alpha(ink, strength), style::px(style::line));
      }
    };
    placing.put(placing.drawn(size, draw), corner);
  }
};

}  // namespace

void lay_out_token(Placing& placing, ImVec2 room) {
  const auto px = [&](float design_pixels) { return placing.px(design_pixels); };
  float top = 0;
  if (room.y >= px(without_tiles) && placing.view().tiles.size() > 1) {
    const bool is_low = room.y < px(low_room);
    const float height = px(is_low ? low_height : usual_height);
    TilesLayout{placing}.place(room.x, height);
    top = height + px(is_low ? low_gap : hero_gap);
  }
  lay_out_hero(placing, placing.view().hero, {0, top}, {room.x, room.y - top});
}

void lay_out_hero(Placing& placing, const Hero& hero, ImVec2 origin, ImVec2 room) {
  HeroLayout{placing, hero}.place(origin, room);
}

}  // namespace palimpsest
