#include "app/scene/floor.h"

#include <fmt/format.h>

#include "app/gl/context_local.h"
#include "app/widgets/chart.h"

namespace palimpsest {

namespace {

using style::px;
using Kind = FloorPiece::Kind;

// In design pixels.
constexpr float lane_height = 4;
constexpr float thin_bar = 6;  // narrower ones have no outline
constexpr float slim_bar = 18;
constexpr float whisker_room = 4;
constexpr float notch_height = 2;
constexpr float notch_from = 4;  // below the upper side; the next one is two heights lower
constexpr float label_gap = 10;  // between names and the tokens
constexpr float line_gap = 6;    // between the numbers of lines and the tokens
constexpr float label_line = 13;
constexpr float symbol_size = 15;
constexpr float beside_symbol = 18;
constexpr float number_column = 26;  // beside labels at the left
constexpr float key_box = 8;

constexpr float paler = 0.45F;    // opacity of an outline that is filled instead,
constexpr float to_come = 0.38F;  // and of tokens that are not reached yet

/// A colour, paler for a token that is not reached yet.
ImU32 floor_ink(const Floor& floor, ImU32 colour, Index token) {
  return token < floor.reached ? colour : style::mix(style::colours().panel, colour, to_come);
}
struct MarkedColumn {
  Index first = 0;
  float left = 0;
  float right = 0;
  FloorMark mark = {};
};

/// The marks of a row as drawn last. Rows that are made in every frame share one cache entry.
struct KeptMarks {
  using Key = std::tuple<std::uint64_t, Index, Index, float, float, float, double, bool, style::Theme>;

  std::optional<Key> key;
  std::vector<MarkedColumn> columns;
};

const std::vector<MarkedColumn>& marked_columns(const Floor& floor, const FloorRow& row,
                                                const FloorColumns& columns) {
  const std::string name = row.version == 0 ? "" : floor.id + '/' + row.name;
  KeptMarks& kept = context_local<FrameCache<std::string, KeptMarks>>()[name];
  const KeptMarks::Key key{row.version,        columns.begin(),     columns.end(),
                           columns.position.x, columns.size.x,      columns.column,
                           columns.first,      columns.has_words(), style::theme()};
  if (row.version != 0 && kept.key == key) return kept.columns;
  kept.key = key;
  kept.columns.clear();
  columns.each([&](Index first, Index end, float left, float right) {
    kept.columns.push_back({first, left, right, row.mark(first, end)});
  });
  return kept.columns;
}

/// Where a bar begins and ends in its column.
std::pair<float, float> sides_of(const MarkedColumn& column, FloorWidth width, const FloorColumns& columns) {
  const float wide = column.right - column.left;
  const auto inside = [&](float gap) {
    const float left = std::round(column.left + gap);
    return std::pair(left, std::max(std::round(column.right - gap), left + 1));
  };
  switch (width) {
    case FloorWidth::whole:
      return {std::max(column.left, columns.position.x),
              std::min(column.right, columns.position.x + columns.size.x)};
    case FloorWidth::usual:
      return inside(columns.has_words() ? px(2) : wide > 3 ? 0.5F : 0);
    case FloorWidth::narrow:
      return inside(wide > px(10) ? std::min(wide / 6, px(8)) : 0);
    case FloorWidth::slim:
      break;
  }
  return inside(wide > px(slim_bar) ? (wide - px(slim_bar)) / 2 : 0);
}

struct MarkPainter {
  Rectangle place;
  float least_height;
  Rectangle hatched = {};
  ImU32 hatch_colour = 0;  // 0: nothing is left to hatch

  /// The rectangle of a piece between two sides, high enough to be visible.
  Rectangle rectangle(const FloorPiece& piece, float left, float right) const {
    float low = y(std::min(piece.from, piece.to));
    float high = y(std::max(piece.from, piece.to));
    const float least = piece.kind == Kind::inset ? px(2) : least_height;  // what an edge does not hide
    const float missing = piece.from == piece.to ? 0 : std::max(least - (low - high), 0.0F);
    (hangs(piece) ? low : high) += hangs(piece) ? missing : -missing;
    return {{left, high}, {right, low}};
  }

  static bool hangs(const FloorPiece& piece) { return piece.to < piece.from; }

  void draw(const FloorPiece& piece, ImU32 colour, float left, float right) {
    const style::Palette& c = style::colours();
    const Rectangle at = rectangle(piece, left, right);
    const bool is_thin = right - left < px(thin_bar);
    switch (piece.kind) {
      case Kind::fill:
        return fill(at, colour);
      case Kind::inset: {
        const float inset = is_thin ? 0 : px(1);
        return fill(at.grown({-inset, 0}), colour);
      }
      case Kind::outline:
        if (is_thin) return fill(at, style::mix(c.panel, colour, paler));
        return outline(at, colour, 0, px(style::line));
      case Kind::hatch:
        if (right - left <= 2 && piece.to < 1) return fill(at, colour);
        return put_hatch(at, colour);
      case Kind::edge:
        return fill({{left, y(piece.to) - px(1)}, {right, y(piece.to) + px(1)}}, colour);
      case Kind::side:
        return fill({at.minimum, {left + px(2), at.maximum.y}}, colour);
      case Kind::whisker: {
        if (right - left < px(whisker_room)) return;
        const float middle = std::round((left + right) / 2);
        return ImGui::GetWindowDrawList()->AddLine({middle, at.minimum.y}, {middle, at.maximum.y}, colour,
                                                   px(style::line));
      }
      case Kind::cut:
        break;
    }
    const float top = place.minimum.y + px(notch_from + 2 * notch_height * piece.from);
    fill({{left - 1, top}, {right + 1, top + px(notch_height)}}, c.panel);
  }

  /// Draws what is left to hatch; needed at the end.
  void flush() {
    if (hatch_colour != 0) hatch(hatched, hatch_colour);
    hatch_colour = 0;
  }

  float y(float part) const {
    return std::round(place.maximum.y - std::clamp(part, 0.0F, 1.0F) * place.height());
  }

  /// Neighbouring areas with the same hatching are hatched together, as each needs its own clip rectangle.
  void put_hatch(const Rectangle& at, ImU32 colour) {
    const bool goes_on = colour == hatch_colour && at.minimum.x == hatched.maximum.x &&
                         at.minimum.y == hatched.minimum.y && at.maximum.y == hatched.maximum.y;
    if (!goes_on) {
      flush();
      hatched = at;
      hatch_colour = colour;
    }
    hatched.maximum.x = at.maximum.x;
  }
};

/// A horizontal bar under its label, or an upright one if there are no labels.
void draw_lane(const FloorPiece& piece, ImU32 colour, const Rectangle& column, bool has_words) {
  const auto [from, to] = column;
  const float part = std::clamp(piece.to, 0.0F, 1.0F);
  if (!has_words) {
    if (part > 0) fill({{from.x, to.y - std::max(std::round((to.y - from.y) * part), 1.0F)}, to}, colour);
    return;
  }
  const float y = std::round((from.y + to.y - px(lane_height)) / 2);
  fill({{from.x, y}, {to.x, y + px(lane_height)}}, style::colours().edge);
  const float end = std::max(std::round(from.x + (to.x - from.x) * part), from.x + 1);
  if (part > 0) fill({{from.x, y}, {end, y + px(lane_height)}}, colour);
}
struct BarNumber {
  Index token = 0;
  Rectangle bar;
  bool hangs = false;
  std::string words;
};

/// Writes numbers beside their bars if they overlap no other number and not the cursor's frame; the number of
/// the cursor's bar is beside the frame. Notes the parts "ROW/number/TOKEN".
void draw_numbers(const Floor& floor, const FloorRow& row, const FloorColumns& columns,
                  const Rectangle& place, const std::vector<BarNumber>& numbers,
                  std::vector<Rectangle> taken) {
  const style::TextStyle text(style::Text::number_small);
  const float frame[] = {columns.left(floor.text.token), columns.left(floor.text.token + 1)};
  const auto meets_frame = [&](const Rectangle& box) {
    return box.minimum.x < frame[1] + px(2) && box.maximum.x > frame[0] - px(2);
  };
  for (const auto& [token, bar, hangs, words] : numbers) {
    const ImVec2 extent = text_extent(words);
    const bool stays = row.numbered_bar > 0;  // in its column, beside the bar's foot
    const bool is_framed = token == floor.text.token && !stays;
    const float right = is_framed ? frame[1] + px(4) : bar.maximum.x + px(stays ? 8 : 2);
    const float left = is_framed ? frame[0] - px(4) : bar.minimum.x - px(2);
    const float wanted = stays   ? place.maximum.y - extent.y - px(2)
                         : hangs ? bar.minimum.y + px(1)
                                 : bar.minimum.y - px(2);
    const float lowest = hangs ? wanted : std::max(place.maximum.y - extent.y, place.minimum.y);
    const float y = std::clamp(wanted, std::min(place.minimum.y, lowest), lowest);
    for (const float x : {right, left - extent.x}) {
      const Rectangle box = box_at({x, y}, extent);
      const bool is_inside =
          stays ? x >= columns.left(token) && box.maximum.x <= columns.left(token + 1)
                : x >= columns.position.x && box.maximum.x <= columns.position.x + columns.size.x;
      const auto lies_over = [&](const Rectangle& other) {
        return overlap(box, other) && other.height() > px(3);
      };
      if (!is_inside || (!stays && meets_frame(box)) || std::ranges::any_of(taken, lies_over)) continue;
      draw_text(box.minimum, stays ? floor_ink(floor, style::colours().text, token) : style::colours().dim,
                words);
      note_part(fmt::format("{}/number/{}", row.name, token), box, words);
      taken.push_back(box);
      break;
    }
  }
}

/// Boxes with words, one after the other.
void draw_keys(const FloorLabel::Line& line, float x, float top, float height) {
  for (const FloorLabel::Line::Key& key : line.keys) {
    const Rectangle box =
        box_at({x, std::round(top + (height - px(key_box)) / 2)}, {px(key_box), px(key_box)});
    key.filled ? fill(box, line.colour) : outline(box, line.colour);
    draw_text({box.maximum.x + px(4), top}, style::colours().dim, key.words);
    x = box.maximum.x + px(10) + text_extent(key.words).x;
  }
}

void put_words(const FloorRow& row, ImVec2 at, ImU32 colour, std::string_view words) {
  const ImVec2 extent = text_extent(words);
  draw_text(at, colour, words);
  note_part(row.name + "/name", box_at(at, extent), words);
}

/// A label at the panel's edge, from the row's upper side down.
void draw_left_label(const FloorRow& row, const FloorColumns& columns, const Rectangle& place, float gutter) {
  const FloorLabel& label = row.label;
  const float room = columns.position.x - gutter - px(number_column);
  const float line = text_extent(style::Text::caption, "x").y;
  const bool is_low = place.height() < 2 * line + px(label.room_below);
  float x = gutter;
  float y = place.minimum.y;
  if (!label.symbol.empty()) {
    const style::TextStyle text(style::Text::caption);
    const float baseline = y + ImGui::GetFontBaked()->Ascent;
    draw_formula(ImGui::GetWindowDrawList(), {gutter, baseline}, label.symbol, px(symbol_size),
                 label.symbol_colour);
    const bool is_beside = is_low && label.room_below > 0;
    if (is_low && !is_beside) return;
    if (is_beside)
      x += px(beside_symbol);
    else
      y += line + px(1);
  }
  for (const FloorLabel::Line& each : label.lines) {
    const style::TextStyle text(each.text);
    if (y > place.minimum.y && y + line > place.maximum.y + px(1)) break;
    if (!each.words.empty()) put_words(row, {x, y}, each.colour, shortened(each.words, room - (x - gutter)));
    draw_keys(each, x, y, line);
    y += line + px(1);
  }
}

/// A label left of the tokens, in the middle of the row.
void draw_right_label(const FloorRow& row, const FloorColumns& columns, const Rectangle& place,
                      float gutter) {
  const FloorLabel& label = row.label;
  const float height = place.height();
  const float middle = (place.minimum.y + place.maximum.y) / 2;
  float right = columns.position.x - px(label_gap);
  const auto write = [&](std::string_view words, ImU32 colour, float at) {
    const ImVec2 extent = text_extent(words);
    put_words(row, {right - extent.x, at - extent.y / 2}, colour, words);
  };
  if (!label.number.empty()) {
    const style::TextStyle text(style::Text::number_small);
    write(label.number, style::colours().dim, middle);
    right -= std::max(text_extent(label.number).x, px(22)) + px(8);
  }
  if (label.lines.empty()) return;
  const bool is_one = label.lines.size() == 1;
  if (is_one || height < 2 * px(label_line)) {
    if (!is_one && height < px(label_line)) return;
    const FloorLabel::Line& line = label.lines.front();
    const style::TextStyle text(line.text);
    const float room = right - gutter + px(line_gap);
    const bool takes_first = (is_one && text_extent(line.words).x <= room) || label.brief.empty();
    const std::string words = takes_first ? shortened(line.words, room) : first_fitting(label.brief, room);
    return write(words, line.colour, middle);
  }
  float at =
      label.top ? place.minimum.y : middle - px(label_line) * static_cast<float>(label.lines.size() - 1) / 2;
  for (const FloorLabel::Line& line : label.lines) {
    if (at + px(label_line) > place.maximum.y) break;
    const style::TextStyle text(line.text);
    write(shortened(line.words, right - gutter), line.colour, at);
    at += px(label_line);
  }
}

}  // namespace

void draw_floor_marks(const Floor& floor, const FloorRow& row, const FloorColumns& columns,
                      const Rectangle& place) {
  std::vector<BarNumber> numbers;
  std::vector<Rectangle> bars;
  MarkPainter painter{place, px(row.least)};
  for (const MarkedColumn& column : marked_columns(floor, row, columns)) {
    auto [left, right] = sides_of(column, row.width, columns);
    if (row.kind == FloorRow::Kind::lane) {
      for (const FloorPiece& piece : column.mark)
        draw_lane(piece, floor_ink(floor, piece.colour, column.first),
                  {{left, place.minimum.y}, {right, place.maximum.y}}, columns.has_words());
      continue;
    }
    const bool has_number = row.number && column.right - column.left >= px(row.least_numbered);
    const std::string number = has_number ? row.number(column.first) : std::string();
    if (!number.empty() && row.numbered_bar > 0) {
      const float middle = std::round((left + right) / 2);
      left = middle - px(row.numbered_bar);
      right = middle - px(8);
    }
    for (const FloorPiece& piece : column.mark)
      painter.draw(piece, floor_ink(floor, piece.colour, column.first), left, right);
    if (!row.number || column.mark.begin() == column.mark.end()) continue;
    bars.push_back(painter.rectangle(*column.mark.begin(), left, right));
    if (has_number && bars.back().height() > px(3)) note_part(row.name + "/bar", bars.back());
    if (!number.empty())
      numbers.push_back({column.first, bars.back(), MarkPainter::hangs(*column.mark.begin()), number});
  }
  painter.flush();
  if (row.number) draw_numbers(floor, row, columns, place, numbers, std::move(bars));
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const FloorLevel& line : row.levels) {
    if (line.colour == 0) continue;
    const float y = place.maximum.y - line.part * place.height();
    const ImVec2 from = {columns.position.x, y};
    const ImVec2 to = {columns.position.x + columns.size.x, y};
    if (line.dashed)
      dashed_line(list, from, to, line.colour, px(line.width));
    else
      list->AddLine(from, to, line.colour, px(line.width));
  }
}

void draw_floor_label(const FloorRow& row, const FloorColumns& columns, const Rectangle& place,
                      float gutter) {
  if (row.label.left)
    draw_left_label(row, columns, place, gutter);
  else
    draw_right_label(row, columns, place, gutter);
  const style::TextStyle number(style::Text::number_small);
  const float height = text_extent("0").y;
  const float gap = row.label.left ? px(line_gap) : px(label_gap);
  for (const FloorLevel& line : row.levels) {
    const float room = place.height();
    if (line.words.empty() || room < px(line.least_row)) continue;
    const float y = place.maximum.y - line.part * room - height / 2;
    put_words(row,
              {columns.position.x - gap - text_extent(line.words).x,
               std::clamp(y, place.minimum.y, std::max(place.maximum.y - height, place.minimum.y))},
              line.ink, line.words);
  }
}

}  // namespace palimpsest
