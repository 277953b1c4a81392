#include "app/scene/node.h"

namespace palimpsest::scene {

namespace {

// In design pixels.
constexpr float slider_height = 40;
constexpr float input_height = 30;
constexpr float editor_height = 160;  // where its room has no end
constexpr float tight_segment = 8;    // around words that may be cut
constexpr float narrow_side = 340;    // narrower sides have less padding,
constexpr float low_sides = 560;      // and so have lower ones
constexpr float mark_width = 12;
constexpr float endless_height = 200;  // of a plot in a room of unbounded height

constexpr float least_letters = 13;    // a formula that wraps is broken rather than made smaller than this
constexpr float smallest_letters = 8;  // the least size if one of its lines still does not fit
constexpr float less_letters = 0.5F;   // screen pixels by which the size is reduced at once
constexpr float formula_indent = 16;   // of its lines after the first
constexpr float between_formulas = 4;

constexpr float least_square = 5;
constexpr float square_height = 15;
constexpr float between_squares = 5;      // that do not belong together
constexpr float least_named_square = 12;  // wide
constexpr float square_titles = 29;       // the two lines above the names

void shift(Placed& placed, ImVec2 by) {
  placed.where = {placed.where.minimum + by, placed.where.maximum + by};
  for (Placed& inside : placed.inside) shift(inside, by);
}

/// Lays nodes out in rooms with the upper left corner 0, 0; enclosing nodes move them.
struct Layout {
  const Ruler& ruler;

  Placed place(const Node& node, ImVec2 room) const {
    room = upper_of(room, {0, 0});
    Placed placed = std::visit([&](const auto& content) { return put(content, room); }, node.content);
    placed.node = &node;
    return placed;
  }

  float px(float design) const { return ruler.px(design); }
  float px(Gap gap) const { return ruler.px(static_cast<float>(gap)); }

  static Placed sized(ImVec2 size, std::vector<Placed> inside = {}) {
    return {.where = {{0, 0}, size}, .inside = std::move(inside)};
  }

  /// Whether a node shares the rest of its row or column.
  static bool has_share(const Node& node) { return node.sizing.share > 0; }

  /// Such a share, within the bounds of its node.
  float bounded_share(float share, const Sizing& sizing) const {
    return std::max(sizing.most > 0 ? std::min(share, px(sizing.most)) : share, px(sizing.least));
  }

  static bool is_cut(const Node& node) {
    if (const auto* text = std::get_if<Text>(&node.content)) return text->fit == Fit::shorten;
    if (const auto* button = std::get_if<Button>(&node.content)) return button->fit == Fit::shorten;
    return std::holds_alternative<FirstThatFits>(node.content);
  }

  /// The widths of the nodes of a row that share `left`; 0 for the others.
  std::vector<float> shares_of(const Nodes& nodes, float left) const {
    std::vector<float> widths(nodes.size());
    std::vector<std::size_t> open;
    float all = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!has_share(nodes[i])) continue;
      open.push_back(i);
      all += nodes[i].sizing.share;
    }
    const auto part = [&](std::size_t i) {
      return std::max(std::floor(left * nodes[i].sizing.share / all), 0.0F);
    };
    const auto bounded = [&](std::size_t i) { return bounded_share(part(i), nodes[i].sizing); };
    while (true) {  // a node at its bound changes what is left for the others
      const auto found = std::ranges::find_if(open, [&](std::size_t i) { return bounded(i) != part(i); });
      if (found == open.end()) break;
      widths[*found] = bounded(*found);
      left -= widths[*found];
      all -= nodes[*found].sizing.share;
      open.erase(found);
    }
    for (const std::size_t i : open) widths[i] = part(i);
    return widths;
  }

  Placed put(const Text& text, ImVec2 room) const {
    const ImVec2 whole = ruler.words(text.words, text.style);
    Placed placed;
    ImVec2 extent = whole;
    if (whole.x <= room.x || text.fit == Fit::whole) {
      placed.lines = {text.words};
    } else if (text.fit == Fit::shorten) {
      placed.lines = {ruler.shortened(text.words, text.style, room.x)};
      extent.x = ruler.words(placed.lines.front(), text.style).x;
    } else {
      placed.lines = ruler.lines(text.words, text.style, room.x);
      cut(placed.lines, text, room.x);
      extent.x = 0;
      for (const std::string& line : placed.lines)
        extent.x = std::max(extent.x, ruler.words(line, text.style).x);
    }
    const auto count = static_cast<float>(placed.lines.size());
    const float letters = ruler.words("x", text.style).y;
    if (text.centred) extent.x = std::max(extent.x, room.x);
    extent = {std::ceil(extent.x), text.height > 0
                                       ? px(text.height)
                                       : count * letters + std::max(count - 1, 0.0F) * px(text.between)};
    placed.where.maximum = text.rises ? ImVec2{extent.y, extent.x} : extent;
    return placed;
  }

  /// Keeps at most most_lines lines; the last one ends with "…".
  void cut(std::vector<std::string>& lines, const Text& text, float width) const {
    if (text.most_lines == 0 || lines.size() <= text.most_lines) return;
    std::string rest = lines[text.most_lines - 1];
    for (std::size_t i = text.most_lines; i < lines.size(); ++i) rest += " " + lines[i];
    lines.resize(text.most_lines);
    lines.back() = ruler.shortened(rest, text.style, width);
  }

  Placed put(const Formula& formula, ImVec2 room) const {
    Placed placed = {.lines = {formula.latex}, .letters = px(formula.size)};
    const float natural = ruler.formula(formula.latex, placed.letters).width;
    if (formula.fit != Fit::whole && natural > room.x && room.x > 0) {
      placed.letters *= room.x / natural;
      if (formula.fit == Fit::wrap && placed.letters < px(least_letters)) wrap(placed, room.x);
    }
    placed.where.maximum = formula_extent(placed);
    return placed;
  }

  void wrap(Placed& formula, float width) const {
    formula.letters = px(least_letters);
    formula.lines = ruler.formula_lines(formula.lines.front(), formula.letters, width, px(formula_indent));
    while (formula_extent(formula).x > width && formula.letters > px(smallest_letters))
      formula.letters -= less_letters;
  }

  ImVec2 formula_extent(const Placed& formula) const {
    ImVec2 extent = {0, 0};
    for (std::size_t i = 0; i < formula.lines.size(); ++i) {
      const FormulaSize line = ruler.formula(formula.lines[i], formula.letters);
      const ImVec2 corner = formula_corner(formula, i, ruler);
      extent = {std::max(extent.x, corner.x + line.width), corner.y + line.height};
    }
    return {std::ceil(extent.x), std::ceil(extent.y)};
  }

  Placed put(const Picture& picture, ImVec2 room) const {
    return sized({room.x, picture.height > 0 ? px(picture.height) : room.y});
  }

  /// What fills its room, as far as that has an end.
  Placed filled(ImVec2 room, float endless) const {
    return sized({room.x, std::isfinite(room.y) ? room.y : px(endless)});
  }

  Placed put(const Plotted&, ImVec2 room) const { return filled(room, endless_height); }
  Placed put(const Editor&, ImVec2 room) const { return filled(room, editor_height); }

  Placed put(const CellTables& tables, ImVec2 room) const {
    const CellPlan plan = plan_cells(tables, room, ruler);
    Placed placed = sized(plan.size(tables));
    placed.cells = plan;
    return placed;
  }

  Placed put(const Bar& bar, ImVec2 room) const {
    return bar.is_upright ? filled(room, bar.height) : sized({room.x, px(bar.height)});
  }

  Placed put(const Track&, ImVec2 room) const { return sized({room.x, px(mark_width)}); }

  Placed put(const Sparkline& line, ImVec2 room) const { return sized({room.x, px(line.height)}); }

  Placed put(const Mark&, ImVec2) const {
    return sized({px(mark_width), ruler.words("x", style::Text::caption).y});
  }

  Placed put(const Button& button, ImVec2 room) const {
    if (button.look == Button::Look::icon) return sized({px(button.icon_size), px(button.icon_size)});
    const style::ButtonSize size = style::button_size(button.look);
    const float words = std::ceil(ruler.words(button.words + button.tail, size.text).x);
    const bool is_tight = button.look == Button::Look::segment && button.fit == Fit::shorten;
    const float around = 2 * px(is_tight ? tight_segment : size.padding);
    if (button.look == Button::Look::line) return sized({std::max(room.x, words), px(size.height)});
    if (button.fit != Fit::shorten || words + around <= room.x)
      return sized({words + around, px(size.height)});
    Placed placed = sized({std::max(room.x, around), px(size.height)});
    const float room_of_words = placed.size().x - around - ruler.words(button.tail, size.text).x;
    placed.lines = {ruler.shortened(button.words, size.text, room_of_words) + button.tail};
    return placed;
  }

  Placed put(const Slider& slider, ImVec2 room) const {
    float needed = 0;
    if (slider.fit == Fit::whole) {
      const std::string number = slider.shown.empty() ? "8.8888" : slider.shown;
      needed = ruler.words(slider.words, style::Text::body).x + px(Gap::near) +
               ruler.words(number, style::Text::number_small).x;
      if (!slider.symbol.empty())
        needed += ruler.formula(slider.symbol, px(style::formula_label)).width + px(Gap::near);
    }
    return sized({std::max(room.x, needed), px(slider_height)});
  }

  Placed put(const Input&, ImVec2 room) const { return sized({room.x, px(input_height)}); }
  Placed put(const Filter&, ImVec2 room) const { return sized({room.x, px(input_height)}); }

  Placed put(const Menu& menu, ImVec2 room) const {
    Placed placed =
        put(Button{.words = menu.words, .fit = menu.fills ? Fit::shorten : Fit::whole, .tail = " ▾"}, room);
    if (placed.lines.empty()) placed.lines = {menu.words + " ▾"};
    if (menu.fills) placed.where.maximum.x = room.x;
    return placed;
  }

  Placed put(const Squares& squares, ImVec2 room) const {
    if (!squares.squares.empty()) return sized({room.x, px(square_height)});
    float names = ruler.words("x", style::Text::caption).y;
    if (has_names(squares, room.x, ruler)) {
      for (const Squares::Column& column : squares.columns)
        names = std::max(names, ruler.words(column.name, style::Text::caption).x);
    }
    return sized({room.x, px(square_titles) + std::ceil(names) + px(Gap::small)});
  }

  Placed put(const Drawn& drawn, ImVec2 room) const {
    return sized(drawn.size.x > 0 ? drawn.size : ImVec2{room.x, std::max(room.y, px(drawn.least_height))});
  }

  Placed put(const Spots& spots, ImVec2 room) const {
    Placed placed = sized(room);
    for (std::size_t i = 0; i < spots.nodes.size(); ++i) {
      const auto& [at, own, own_room] = spots.places[i];
      placed.inside.push_back(place(spots.nodes[i], own_room));
      shift(placed.inside.back(), at - own * placed.inside.back().size());
    }
    return placed;
  }

  Placed put(const Rule& rule, ImVec2 room) const {
    const float across = px(rule.room) + px(style::line);
    return rule.height > 0 ? sized({across, std::min(px(rule.height), room.y)}) : sized({room.x, across});
  }

  Placed put(const Space& space, ImVec2) const { return sized({px(space.gap), px(space.gap)}); }

  Placed put(const Row& row, ImVec2 room) const {
    if (row.wraps) return put_flow(row, room);
    const float gaps = px(row.gap) * static_cast<float>(std::max<std::size_t>(row.nodes.size(), 1) - 1);
    std::vector<Placed> all(row.nodes.size());
    float left = room.x - gaps;
    float reserved = 0;
    for (const Node& node : row.nodes) reserved += px(node.sizing.least);
    for (const bool can_be_cut : {false, true}) {  // nodes that can be cut get what the others leave
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Node& node = row.nodes[i];
        if (has_share(node) || is_cut(node) != can_be_cut) continue;
        reserved -= px(node.sizing.least);
        const float most = node.sizing.most > 0 ? std::min(px(node.sizing.most), left) : left;
        const float width = node.sizing.fixed > 0 ? px(node.sizing.fixed) : most;
        all[i] = place(node, {can_be_cut ? std::min(width, left - reserved) : width, room.y});
        left -= node.sizing.fixed > 0 ? width : all[i].size().x;
      }
    }
    std::vector<float> widths = shares_of(row.nodes, left);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float fixed = px(row.nodes[i].sizing.fixed);
      if (has_share(row.nodes[i]))
        all[i] = place(row.nodes[i], {widths[i], room.y});
      else
        widths[i] = fixed > 0 ? fixed : all[i].size().x;
    }
    const ImVec2 size = line_up(all, row.nodes, widths, px(row.gap), 0, row.on_top);
    return sized(size, std::move(all));
  }

  /// Moves nodes into one line at height `y`, with these widths, aligned at the top or the middle. Returns
  /// the size of the line.
  static ImVec2 line_up(std::span<Placed> line, std::span<const Node> nodes, std::span<const float> widths,
                        float gap, float y, bool on_top) {
    float height = 0;
    for (const Placed& placed : line) height = std::max(height, placed.size().y);
    float x = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const ImVec2 size = line[i].size();
      const float in_it = nodes[i].to_right ? std::max(widths[i] - size.x, 0.0F) : 0;
      shift(line[i], {x + in_it, y + (on_top ? 0 : std::floor((height - size.y) / 2))});
      x += std::max(widths[i], size.x) + (i + 1 < line.size() ? gap : 0);
    }
    return {x, height};
  }

  /// The width of the nodes of a row that share it and wrap.
  float width_of_tiles(const Row& row, float width) const {
    const Sizing& sizing = row.nodes.front().sizing;
    const float gap = px(row.gap);
    const float most = std::max(std::floor((width + gap) / (px(sizing.least) + gap)), 1.0F);
    const float count = std::min(static_cast<float>(row.nodes.size()), most);
    const float share = std::floor((width - (count - 1) * gap) / count);
    return sizing.most > 0 ? std::min(share, px(sizing.most)) : share;
  }

  Placed put_flow(const Row& row, ImVec2 room) const {
    Placed flow;
    ImVec2 at = {0, 0};
    float height = 0;
    float widest = 0;
    for (const Node& node : row.nodes) {
      Placed next = place(node, {has_share(node) ? width_of_tiles(row, room.x) : room.x, unbounded});
      if (at.x > 0 && at.x + next.size().x > room.x) at = {0, at.y + height + px(Gap::tight)};
      if (at.x == 0) height = 0;
      shift(next, at);
      at.x += next.size().x;
      widest = std::max(widest, at.x);
      at.x += px(row.gap);
      height = std::max(height, next.size().y);
      flow.inside.push_back(std::move(next));
    }
    flow.where.maximum = {widest, at.y + height};
    return flow;
  }

  /// Columns side by side; nodes at the same position are equally high.
  struct Stack {
    std::vector<std::vector<Placed>> columns;
    std::vector<float> heights;
  };

  /// Lays out row `i` of a stack in `room`; returns its height.
  float place_row(Stack& stack, const std::vector<const Column*>& columns, std::size_t i, ImVec2 room) const {
    float height = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      stack.columns[c][i] = place(columns[c]->nodes[i], room);
      height = std::max(height, stack.columns[c][i].size().y);
    }
    return height;
  }

  Stack stacked(const std::vector<const Column*>& columns, ImVec2 room) const {
    const Nodes& nodes = columns.front()->nodes;  // all columns have the same order
    Stack stack{.columns = {columns.size(), std::vector<Placed>(nodes.size())},
                .heights = std::vector<float>(nodes.size())};
    float left =
        room.y - px(columns.front()->gap) * static_cast<float>(std::max<std::size_t>(nodes.size(), 1) - 1);
    float shares = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      shares += nodes[i].sizing.share;
      if (has_share(nodes[i])) continue;
      const float fixed = px(nodes[i].sizing.fixed);
      const float taken = place_row(stack, columns, i, {room.x, fixed > 0 ? fixed : left});
      stack.heights[i] = std::max(fixed, taken);
      left -= stack.heights[i];
    }
    const auto part = [&](std::size_t i) {
      const Sizing& sizing = nodes[i].sizing;
      const float share = std::isfinite(left) ? std::max(std::floor(left * sizing.share / shares), 0.0F) : 0;
      return bounded_share(share, sizing);
    };
    // Nodes that shrink come first, from the bottom; what they all leave goes back to them in that order.
    std::vector<std::size_t> shrinking;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (!nodes[i].sizing.shrinks) continue;
      stack.heights[i] = place_row(stack, columns, i, {room.x, part(i)});
      left -= stack.heights[i];
      shares -= nodes[i].sizing.share;
      shrinking.push_back(i);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!has_share(nodes[i]) || nodes[i].sizing.shrinks) continue;
      stack.heights[i] = std::max(part(i), place_row(stack, columns, i, {room.x, part(i)}));
    }
    if (shares > 0 || !std::isfinite(left)) return stack;
    for (const std::size_t i : shrinking) {
      const float before = stack.heights[i];
      if (left < 1) break;
      stack.heights[i] = place_row(stack, columns, i, {room.x, before + left});
      left -= stack.heights[i] - before;
    }
    return stack;
  }

  /// A column of a stack, one node below the other.
  Placed column_of(const Column& column, std::vector<Placed> all, const std::vector<float>& heights,
                   float width) const {
    ImVec2 size = {0, 0};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) size.y += px(column.gap);
      const float in_it = column.nodes[i].to_right ? std::max(width - all[i].size().x, 0.0F) : 0;
      shift(all[i], {in_it, size.y});
      size.x = std::max(size.x, all[i].where.maximum.x);
      size.y += std::max(heights[i], all[i].size().y);
    }
    return sized(size, std::move(all));
  }

  Placed put(const Column& column, ImVec2 room) const {
    if (column.nodes.empty()) return {};
    Stack stack = stacked({&column}, room);
    return column_of(column, std::move(stack.columns.front()), stack.heights, room.x);
  }

  Placed put(const Sides& sides, ImVec2 room) const {
    const auto columns =
        made_of(sides.columns, [](const Node& node) { return &std::get<Column>(node.content); });
    const auto count = static_cast<float>(columns.size());
    const float gap = px(style::panel_gap);
    const float width = std::floor((room.x - gap * (count - 1)) / count);
    const float around =
        px(width < px(narrow_side) || room.y < px(low_sides) ? style::low_padding : style::panel_padding);
    const ImVec2 inner = {width - 2 * around, room.y - 2 * around};
    Stack stack = stacked(columns, upper_of(inner, {0, 0}));
    Placed placed;
    float height = room.y;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      Placed column = column_of(*columns[i], std::move(stack.columns[i]), stack.heights, inner.x);
      height = std::max(height, column.size().y + 2 * around);
      const float left = static_cast<float>(i) * (width + gap);
      for (Placed& inside : column.inside) shift(inside, {left + around, around});
      column.where = {{left, 0}, {left + width, 0}};
      column.node = &sides.columns[i];
      placed.inside.push_back(std::move(column));
    }
    for (Placed& column : placed.inside) column.where.maximum.y = height;
    placed.where.maximum = {room.x, height};
    return placed;
  }

  Placed put(const Over& over, ImVec2 room) const {
    if (over.ratio > 0) {
      room.x = std::max(std::floor(std::min(room.x, room.y / over.ratio)), px(over.least));
      room.y = std::floor(room.x * over.ratio);
    }
    Placed placed = sized(room);
    for (const Node& node : over.nodes) placed.inside.push_back(place(node, room));
    return placed;
  }

  /// The width of each column of a grid: its widest cell, or its share of what the others leave.
  std::vector<float> widths_of(const Grid& grid, ImVec2 room) const {
    std::vector<float> widths(grid.columns);
    std::vector<float> parts(grid.columns);
    for (std::size_t i = 0; i < grid.cells.size(); ++i)
      parts[i % grid.columns] = std::max(parts[i % grid.columns], grid.cells[i].sizing.share);
    float left = room.x - px(grid.across) * static_cast<float>(grid.columns - 1);
    float all = 0;
    for (std::size_t column = 0; column < grid.columns; ++column) {
      all += parts[column];
      if (parts[column] > 0) continue;
      for (std::size_t i = column; i < grid.cells.size(); i += grid.columns) {
        const float fixed = px(grid.cells[i].sizing.fixed);
        const float width = fixed > 0 ? fixed : place(grid.cells[i], {left, unbounded}).size().x;
        widths[column] = std::max(widths[column], width);
      }
      left -= widths[column];
    }
    for (std::size_t column = 0; column < grid.columns; ++column) {
      if (parts[column] > 0) widths[column] = std::max(std::floor(left * parts[column] / all), 0.0F);
    }
    return widths;
  }

  Placed put(const Grid& grid, ImVec2 room) const {
    const std::vector<float> widths = widths_of(grid, room);
    Placed placed;
    ImVec2 size = {0, 0};
    for (std::size_t first = 0; first < grid.cells.size(); first += grid.columns) {
      const std::size_t end = std::min(first + grid.columns, grid.cells.size());
      if (first > 0) size.y += px(grid.down);
      for (std::size_t i = first; i < end; ++i)
        placed.inside.push_back(place(grid.cells[i], {widths[i - first], unbounded}));
      const ImVec2 line =
          line_up(std::span(placed.inside).subspan(first), std::span(grid.cells).subspan(first), widths,
                  px(grid.across), size.y, false);
      size = {std::max(size.x, line.x), size.y + line.y};
    }
    placed.where.maximum = size;
    return placed;
  }

  Placed put(const FirstThatFits& wishes, ImVec2 room) const {
    Placed placed;
    for (std::size_t i = 0; i < wishes.count; ++i) {
      placed.wish = wishes.wish(i);
      placed.inside.assign(1, place(*placed.wish, room));
      const ImVec2 size = placed.inside.front().size();
      placed.where.maximum = size;
      if (size.x <= room.x && size.y <= room.y) break;
    }
    return placed;
  }

  Placed put(const Steady& steady, ImVec2 room) const {
    Placed placed;
    for (const Node& node : steady.nodes) {
      Placed one = place(node, room);
      placed.where.maximum = upper_of(placed.where.maximum, one.size());
      if (placed.inside.empty()) placed.inside.push_back(std::move(one));
    }
    return placed;
  }

  Placed put(const Frame& frame, ImVec2 room) const {
    const ImVec2 around = {px(frame.across), px(frame.down)};
    Placed inside = place(frame.node.front(), room - around * 2);
    shift(inside, around);
    return sized(inside.size() + around * 2, {std::move(inside)});
  }

  Placed put(const Scroll& scroll, ImVec2 room) const {
    const float natural = place(scroll.node.front(), {room.x, unbounded}).size().y;
    return sized({room.x, std::min(room.y, natural)});
  }
};

}  // namespace

Placed lay_out(const Node& scene, const Rectangle& room, const Ruler& ruler) {
  Placed placed = Layout{ruler}.place(scene, room.size());
  shift(placed, room.minimum);
  return placed;
}

ImVec2 formula_corner(const Placed& formula, std::size_t index, const Ruler& ruler) {
  float y = 0;
  for (std::size_t i = 0; i < index; ++i)
    y += ruler.formula(formula.lines[i], formula.letters).height + ruler.px(between_formulas);
  return {index == 0 ? 0 : ruler.px(formula_indent), y};
}

std::vector<std::pair<float, float>> columns_of(const Squares& squares, float width, const Ruler& ruler) {
  float fixed = 0;
  float count = 0;
  for (const Squares::Column& column : squares.columns) {
    fixed += ruler.px(column.width) + (column.begins ? ruler.px(between_squares) : 0);
    count += column.width > 0 ? 0 : 1;
  }
  const float usual = std::floor(
      std::clamp((width - fixed) / std::max(count, 1.0F), ruler.px(least_square), ruler.px(square_height)));
  std::vector<std::pair<float, float>> places;
  float x = 0;
  for (const Squares::Column& column : squares.columns) {
    if (column.begins) x += ruler.px(between_squares);
    const float wide = column.width > 0 ? ruler.px(column.width) : usual;
    places.emplace_back(x, x + wide);
    x += wide;
  }
  return places;
}

bool has_names(const Squares& squares, float width, const Ruler& ruler) {
  const auto places = columns_of(squares, width, ruler);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!squares.columns[i].name.empty() && places[i].second - places[i].first < ruler.px(least_named_square))
      return false;
  }
  return true;
}

std::string words_of(const Placed& placed) {
  const Content& content = placed.node->content;
  if (const auto* text = std::get_if<Text>(&content))
    return text->fit == Fit::shorten ? placed.lines.front() : text->words;
  if (const auto* formula = std::get_if<Formula>(&content)) return formula->latex;
  if (const auto* button = std::get_if<Button>(&content))
    return placed.lines.empty() ? button->words + button->tail : placed.lines.front();
  if (const auto* slider = std::get_if<Slider>(&content)) return slider->words;
  if (const auto* input = std::get_if<Input>(&content)) return input->text;
  if (const auto* editor = std::get_if<Editor>(&content)) return editor->text;
  if (const auto* filter = std::get_if<Filter>(&content)) return filter->box->typed;
  if (const auto* menu = std::get_if<Menu>(&content)) return menu->words;
  std::string words;
  if (const auto* squares = std::get_if<Squares>(&content)) {
    for (const Squares::Square& square : squares->squares)
      words += (words.empty() ? "" : ", ") + std::string(square.words);
  }
  for (const Placed& inside : placed.inside) {
    const std::string own = piece_of(*inside.node).empty() ? words_of(inside) : std::string();
    const bool ends = !own.empty() && std::string_view(".,:;?!").find(own.front()) != std::string_view::npos;
    if (!own.empty()) words += (words.empty() || ends ? "" : " ") + own;
  }
  return words;
}

}  // namespace palimpsest::scene
