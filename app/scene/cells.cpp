#include "app/scene/cells.h"

#include <fmt/format.h>

#include "app/scene/parts.h"
#include "app/widgets/chart.h"

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float around_names = 10;
constexpr float after_number = 5;
constexpr float below_head = 4;
constexpr float most_rising = 40;
constexpr float least_title = 60;
constexpr float around_picture = 6;
constexpr float link = 26;           // the gap between a picture and its table
constexpr float names_part = 0.22F;  // of the room, at most

float width_of_number(const std::string& number) {
  return number.empty() ? 0 : text_extent(style::Text::number_small, number).x + px(after_number);
}

struct CellPainter {
  const CellTables& tables;
  const CellPlan& plan;
  const ImVec2 corner;

  void draw() {
    draw_row_names();
    for (std::size_t i = 0; i < tables.tables.size(); ++i) {
      const float step = width() + plan.between;
      const float left = corner.x + plan.names + static_cast<float>(i) * step;
      draw_table(tables.tables[i], left);
      draw_column_names(left, i == 0);
      if (i == 0) continue;
      draw_sign(tables.tables[i].sign, {left - plan.between / 2, top() + height() / 2});
      if (plan.pictures > 0)
        draw_sign(tables.tables[i].sign, {left - plan.between / 2, picture_at(left).middle().y});
    }
  }

  float width() const { return plan.cell.x * static_cast<float>(tables.columns.size()); }
  float height() const { return plan.cell.y * static_cast<float>(tables.rows.size()); }
  float top() const { return corner.y + plan.head; }

  void draw_row_names() {
    const style::TextStyle text(tables.words);
    for (std::size_t i = 0; i < tables.rows.size(); ++i) {
      const CellName& name = tables.rows[i];
      const float row = top() + static_cast<float>(i) * plan.cell.y;
      const float number = width_of_number(name.number);
      const std::string shown = shortened(name.words, plan.names - number - px(around_names));
      const ImVec2 extent = text_extent(shown);
      const ImVec2 at =
          rounded({corner.x + plan.names - extent.x - px(8), row + (plan.cell.y - extent.y) / 2});
      if (tables.ground) fill(box_at(at, extent).grown({px(3), 0}), tables.ground);
      draw_text(at, name.ink, shown);
      const Rectangle where = {{corner.x, row}, {corner.x + plan.names, row + plan.cell.y}};
      note_part(fmt::format("row/{}", i), where, name.number.empty() ? shown : name.number + " " + shown);
      if (number > 0) draw_number(name.number, {at.x - number, row}, plan.cell.y, name.number_ink);
      if (!name.tip.empty() && is_pointed(where)) tooltip_beside(where, name.tip);
    }
  }

  static void draw_number(const std::string& number, ImVec2 at, float height, ImU32 ink) {
    const style::TextStyle small(style::Text::number_small);
    draw_text({at.x, std::round(at.y + (height - text_extent("0").y) / 2)}, ink, number);
  }

  void draw_column_names(float left, bool is_noted) {
    const style::TextStyle text(tables.words);
    const float line = text_extent("x").y;
    for (std::size_t i = 0; i < tables.columns.size(); ++i) {
      const CellName& name = tables.columns[i];
      const ImVec2 from = {left + static_cast<float>(i) * plan.cell.x,
                           corner.y + plan.titles + plan.pictures};
      std::string shown;
      if (tables.rising) {
        shown = shortened(name.words, px(most_rising));
        draw_rising_text({std::round(from.x + (plan.cell.x - line) / 2), top() - px(below_head)}, name.ink,
                         shown);
      } else {
        shown = draw_column_name(name, from, plan.cell.x - px(2));
      }
      if (is_noted) note_part(fmt::format("column/{}", i), {from, {from.x + plan.cell.x, top()}}, shown);
    }
  }

  /// The text with the number before it, as far as both fit.
  static std::string draw_column_name(const CellName& name, ImVec2 from, float width) {
    const ImVec2 extent = text_extent(name.words);
    std::string number = name.number;
    if (width_of_number(number) + extent.x > width) number = name.brief_number;
    const float number_width = width_of_number(number);
    const float left = std::round(from.x + (width - number_width - extent.x) / 2);
    if (number.empty() || left < from.x) {
      const std::string shown = shortened(name.words, width);
      draw_text({from.x + (width - text_extent(shown).x) / 2, from.y}, name.ink, shown);
      return name.words;
    }
    draw_text({left + number_width, from.y}, name.ink, name.words);
    draw_number(number, {left, from.y}, extent.y, name.number_ink);
    return number + " " + name.words;
  }

  void draw_sign(const std::string& sign, ImVec2 middle) const {
    const style::TextStyle text(style::Text::title);
    draw_text(rounded(middle - text_extent(sign) / 2), style::colours().dim, sign);
  }

  Rectangle picture_at(float left) const {
    const float side = px(tables.picture);
    return box_at(rounded({left + (width() - side) / 2, corner.y + plan.titles + px(around_picture)}),
                  {side, side});
  }

  void draw_picture(const CellValues& table, float left) const {
    const CellPicture& picture = table.picture;
    if (plan.pictures <= 0 || !picture.values) return;
    const PartScope scope(table.name);
    const Rectangle where = picture_at(left);
    outline(where.grown(1), style::colours().edge);
    if (table.is_hidden)
      hatch(where, style::colours().faint);
    else
      heat_map(scope_path(), *picture.values, picture.version, where, picture.look);
    note_part("picture", where, {});
    const style::TextStyle text(style::Text::caption);
    const ImVec2 from = {where.middle().x, where.maximum.y + px(around_picture)};
    const ImVec2 to = {from.x, where.maximum.y + px(link)};
    ImGui::GetWindowDrawList()->AddLine(from, to, style::colours().faint, px(style::line));
    draw_text({from.x + px(around_picture), std::round((from.y + to.y - text_extent("x").y) / 2)},
              style::colours().dim, picture.words);
  }

  void draw_title(const CellValues& table, float left) const {
    if (table.titles.empty()) return;
    const style::TextStyle text(tables.title);
    const float room = std::max({width(), px(least_title), plan.pictures > 0 ? px(tables.picture) : 0});
    const std::string shown = first_fitting(table.titles, room);
    draw_text({std::round(left + (width() - text_extent(shown).x) / 2), corner.y}, style::colours().text,
              shown);
  }

  void draw_table(const CellValues& table, float left) {
    draw_title(table, left);
    draw_picture(table, left);
    std::string numbers;
    const Rectangle cells = box_at({left, top()}, {width(), height()});
    if (table.is_hidden || is_hidden(table.name)) {
      note_part(table.name, cells, is_hidden(table.name) ? "hidden" : "");
      return hatch(cells, style::colours().faint);
    }
    for (Index row = 0; row < table.values.rows(); ++row) {
      for (Index column = 0; column < table.values.cols(); ++column) {
        const ImVec2 from = {left + static_cast<float>(column) * plan.cell.x,
                             top() + static_cast<float>(row) * plan.cell.y};
        const std::string number = draw_cell(from, table.values(row, column), {row, column});
        if (!number.empty()) numbers += (numbers.empty() ? "" : " ") + number;
      }
    }
    for (const CellRing& ring : tables.rings) {
      const float y = top() + static_cast<float>(ring.row) * plan.cell.y;
      outline({{left - px(2), y - px(2)}, {left + width() + px(1), y + plan.cell.y + px(1)}}, ring.ink, px(3),
              px(ring.width));
    }
    note_part(table.name, cells, numbers);
    if (!table.told || !ImGui::IsWindowHovered()) return;
    const auto cell = hovered_cell(cells, table.values.rows(), table.values.cols(), ImGui::GetMousePos());
    if (cell) tooltip_beside(box_at(corner, plan.size(tables)), table.told(*cell));
  }

  /// Draws a cell in its colour, with its number unless that is omitted. Returns the number if it fits.
  std::string draw_cell(ImVec2 from, double value, Cell cell) {
    const Rgb8 paper =
        colour(style::colours().map, static_cast<float>(value), static_cast<float>(tables.scale));
    const ImVec2 size = plan.cell;
    fill({from, from + size - ImVec2(px(1), px(1))}, style::colour(paper));
    const float usual = style::font_size(tables.numbers);
    for (const std::string& number : tables.written(value, cell)) {
      for (const float letters : {usual, usual * style::least_number}) {
        const style::TextStyle used(tables.numbers, letters);
        const ImVec2 extent = text_extent(number);
        const bool fits = extent.x <= size.x - px(2) && extent.y <= size.y;
        if (fits)
          draw_text(rounded(from + (size - ImVec2(px(1), 0) - extent) / 2), style::legible_on(paper), number);
        if (fits) return number;
      }
    }
    return {};
  }
};

}  // namespace

ImVec2 CellPlan::size(const CellTables& tables) const {
  const auto count = static_cast<float>(tables.tables.size());
  const float width = cell.x * static_cast<float>(tables.columns.size());
  return {names + count * width + (count - 1) * between + 2,
          head + cell.y * static_cast<float>(tables.rows.size()) + 2};
}

CellPlan plan_cells(const CellTables& tables, ImVec2 room, const Ruler& ruler) {
  CellPlan plan;
  const auto width_in = [&](style::Text style, const std::string& words) {
    return ruler.words(words, style).x;
  };
  for (const CellName& row : tables.rows) {
    const float number = width_in(style::Text::number_small, row.number);
    plan.names = std::max(plan.names, width_in(tables.words, row.words) + ruler.px(around_names) +
                                          (number > 0 ? number + ruler.px(after_number) : 0));
  }
  plan.names = std::floor(std::min({plan.names, ruler.px(tables.names), names_part * room.x}));
  const float line = ruler.words("x", tables.words).y;
  const float title = ruler.words("x", tables.title).y;
  const auto has_title = [](const CellValues& table) { return !table.titles.empty(); };
  if (std::ranges::any_of(tables.tables, has_title)) plan.titles = title + ruler.px(below_head);
  if (tables.picture > 0) plan.pictures = ruler.px(tables.picture + around_picture + link + around_picture);
  plan.head = line;
  for (const CellName& column : tables.columns) {
    const float wide = std::min(width_in(tables.words, column.words), ruler.px(most_rising));
    if (tables.rising) plan.head = std::max(plan.head, wide);
  }
  plan.head += plan.titles + plan.pictures + ruler.px(below_head);
  const auto count = static_cast<float>(tables.tables.size());
  plan.between = ruler.px(tables.between);
  const float width = room.x - plan.names - (count - 1) * plan.between - 2;
  const auto in_a_row = count * static_cast<float>(std::max<std::size_t>(tables.columns.size(), 1));
  const auto rows = static_cast<float>(std::max<std::size_t>(tables.rows.size(), 1));
  const float part = room.x / count;
  const auto within = [&](float wanted, float least, float most) {
    return std::floor(std::max(std::min(wanted, ruler.px(most)), ruler.px(least)));
  };
  const float in_a_table = in_a_row / count;
  plan.cell.x = within(tables.spread ? (part - 2 * plan.names) / in_a_table : width / in_a_row,
                       tables.least_cell.x, tables.most_cell.x);
  if (tables.spread) {
    const float beside = std::floor((part - plan.cell.x * in_a_table) / 2);
    plan.names = std::max(plan.names, beside);
    plan.between = 2 * beside;
  }
  if (tables.picture > 0)  // one that is wider than its table stays off the next
    plan.between +=
        std::max(ruler.px(tables.picture) - plan.cell.x * static_cast<float>(tables.columns.size()), 0.0F);
  plan.cell.y = within(std::min((room.y - plan.head - 2) / rows, tables.flat * plan.cell.x),
                       tables.least_cell.y, tables.most_cell.y);
  return plan;
}

void draw_cells(const CellTables& tables, const CellPlan& plan, ImVec2 corner) {
  CellPainter{tables, plan, corner}.draw();
}

}  // namespace palimpsest
