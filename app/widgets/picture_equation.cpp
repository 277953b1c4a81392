#include "app/widgets/picture_equation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "app/style.h"
#include "app/widgets/formula.h"
#include "app/widgets/heat_map.h"
#include "core/formula/notation.h"

namespace palimpsest {

using style::px;

/// A box of the layout. Boxes of a row are centred on one axis; captions hang below the pictures.
struct PictureEquation::Node {
  enum class Kind { picture, number, glyph, bracket, row, stack, group };

  Kind kind = Kind::row;
  std::string tensor = {};  // picture, number; the result's name for a group
  std::string key = {};     // of the texture
  std::string latex = {};   // glyph; what stands under a picture or a number
  bool transposed = false;  // picture
  bool right = false;       // bracket: the closing one
  Index rows = 0;           // as drawn
  Index columns = 0;
  std::vector<Node> parts = {};

  float side = 0;  // picture, number: its own width; the caption may be wider
  float width = 0;
  float above = 0;  // from the axis upwards
  float below = 0;  // from the axis downwards, captions included
};

namespace {

constexpr float gap = 10;                // between the parts of a row
constexpr float least_gap = 8;           // between captions and around frames, however little room there is
constexpr float thin = 12;               // the side of a vector
constexpr float thick = 22;              // with more room
constexpr float thick_of_few = 48;       // of a short one: its numbers fit
constexpr Index few = 8;                 // cells
constexpr float smallest_side = 30;      // of a matrix
constexpr float usual_cell = 26;         // cells grow to this size,
constexpr float largest_cell = 96;       // or, where they are few, to this one
constexpr float least_number_cell = 20;  // no number fits into less
constexpr float small_number = 0.84F;    // of the usual size: the smallest letters of one
constexpr float largest_side = 416;      // as long as the side is no longer
constexpr float growth = 0.6F;      // of sides with the number of cells: long sides leave room to short ones
constexpr float term_distance = 8;  // between the rows of a stack
constexpr float caption_distance = 8;
constexpr float caption_height = 20;
constexpr float label_ascent = 0.81F;  // from the top of a caption to its baseline, in heights of its letters
constexpr float bracket_width = 7;
constexpr float glyph_size = 22;
constexpr float number_growth = 1.7F;  // of the letters of a number with the pictures around it
constexpr float smallest_number = 18;
constexpr float smallest_label = 12;       // of the symbol under a picture
constexpr float legible_squeeze = 0.6F;    // with more, glyphs and numbers cannot be read
constexpr float smallest_squeeze = 0.25F;  // only where the window itself is too small

/// How large things are: `unit` is the length that grows with the room, `squeeze` shrinks all the rest where
/// even the smallest pictures need more than there is.
struct Sizes {
  float unit = 0;
  float squeeze = 1;
  bool are_few = false;  // no side has more than a few cells

  float px(float design_pixels) const { return style::px(design_pixels * squeeze); }
  float distance() const { return std::max(px(gap), style::px(least_gap)); }
  float label() const { return std::max(px(style::formula_label), style::px(smallest_label)); }
  float captions() const {
    return style::px(caption_distance) + label() * caption_height / style::formula_label;
  }

  /// The length of a side with `count` cells.
  float side(Index count) const {
    if (count == 1) return std::max(px(thin), std::min(unit, px(are_few ? thick_of_few : thick)));
    const auto cells = static_cast<float>(count);
    const float most = std::max(cells * usual_cell, std::min(cells * largest_cell, largest_side));
    return std::max(px(smallest_side), std::min(unit * std::pow(cells, growth), px(most)));
  }
};

std::string placeholder(std::size_t index) { return fmt::format("@{}@", index); }

/// "\left(" and "\right)" tear a formula that is cut in pieces: plain brackets instead.
std::string plain_brackets(std::string latex) {
  for (const char* sized : {"\\left", "\\right"}) {
    for (auto at = latex.find(sized); at != std::string::npos; at = latex.find(sized)) {
      const bool is_arrow = latex.compare(at, 6, "\\lefta") == 0 || latex.compare(at, 7, "\\righta") == 0;
      if (is_arrow) break;
      latex.erase(at, std::string_view(sized).size());
    }
  }
  return latex;
}

bool blank(const std::string& text) { return text.find_first_not_of(" \\,;!{}") == std::string::npos; }

}  // namespace

/// Turns an expression into boxes.
struct PictureEquation::Builder {
  const PictureScene& scene;
  std::string id;
  int pictures = 0;

  static Node glyph(std::string latex) { return {.kind = Node::Kind::glyph, .latex = std::move(latex)}; }

  Node picture(const std::string& name, bool transposed) {
    const Matrix<double>& value = scene.record.at(name);
    const auto symbol = scene.symbols.find(name);
    const bool is_known = symbol != scene.symbols.end();
    const std::string latex = is_known && !symbol->second.latex.empty() ? symbol->second.latex : name;
    if (value.rows() == 1 && value.cols() == 1)
      return {.kind = Node::Kind::number, .tensor = name, .latex = latex};
    const bool is_vector = value.cols() == 1 || value.rows() == 1;
    return {.kind = Node::Kind::picture,
            .tensor = name,
            .key = fmt::format("{}/{}{}/{}", id, name, transposed ? "^T" : "", pictures++),
            .latex = transposed && !is_vector ? transposed_latex(latex) : latex,
            .transposed = transposed,
            .rows = transposed ? value.cols() : value.rows(),
            .columns = transposed ? value.rows() : value.cols()};
  }

  static std::string transposed_latex(const std::string& latex) {
    return fmt::format("{}^{{\\top}}", latex.size() > 1 ? "{" + latex + "}" : latex);
  }

  bool is_number(const Expression& expression) const {
    const Shape size = shape(expression, scene.record);
    return size.rows == 1 && size.columns == 1;
  }

  static bool is_sum(const Expression& expression) {
    const bool wrapped =
        expression.kind() == Expression::Kind::named || expression.kind() == Expression::Kind::transpose;
    if (wrapped) return is_sum(expression.arguments()[0]);
    return expression.kind() == Expression::Kind::sum || expression.kind() == Expression::Kind::difference;
  }

  Node in_brackets(Node inner) {
    return {
        .kind = Node::Kind::row,
        .parts = {
            {.kind = Node::Kind::bracket}, std::move(inner), {.kind = Node::Kind::bracket, .right = true}}};
  }

  /// How tightly the pictures of an expression hold together, as in its formula.
  static Precedence binding(const Expression& expression) {
    switch (expression.kind()) {
      case Expression::Kind::sum:
      case Expression::Kind::difference:
        return Precedence::sum;
      case Expression::Kind::hadamard:
        return Precedence::hadamard;
      case Expression::Kind::product:
        return Precedence::product;
      case Expression::Kind::named:
      case Expression::Kind::transpose:  // goes to the pictures inside
        return binding(expression.arguments()[0]);
      case Expression::Kind::function:
        return find_function(expression.name()).binds;
      default:
        return Precedence::atom;
    }
  }

  /// A piece of something that binds its pieces as tightly as `needed`: in brackets if it is looser.
  Node part(const Expression& expression, bool transposed, Precedence needed) {
    Node node = build(expression, transposed);
    return binding(expression) < needed ? in_brackets(std::move(node)) : node;
  }

  /// A term of a sum or difference: flat vectors are stacked, one above the other.
  Node sum(const Expression& expression, bool transposed) {
    const bool minus = expression.kind() == Expression::Kind::difference;
    const Shape size = shape(expression, scene.record);
    const Index rows = transposed ? size.columns : size.rows;
    const Index columns = transposed ? size.rows : size.columns;
    const bool flat = rows == 1 && columns > 1;
    Node node{.kind = flat ? Node::Kind::stack : Node::Kind::row};
    Node first = build(expression.arguments()[0], transposed);
    if (flat && first.kind == Node::Kind::stack)
      node.parts = std::move(first.parts);
    else
      node.parts.push_back(std::move(first));
    node.parts.push_back(glyph(minus ? "-" : "+"));
    const Expression& second = expression.arguments()[1];
    node.parts.push_back(part(second, transposed, minus ? Precedence::hadamard : Precedence::sum));
    return node;
  }

  Node product(const Expression& expression, bool transposed) {
    Expression first = expression.arguments()[0];
    Expression second = expression.arguments()[1];
    const bool has_number = is_number(first) || is_number(second);
    if (transposed && !has_number) std::swap(first, second);
    Node node{.kind = Node::Kind::row};
    node.parts.push_back(part(first, transposed, Precedence::product));
    if (!has_number) node.parts.push_back(glyph("\\cdot"));
    node.parts.push_back(part(second, transposed, Precedence::product));
    return node;
  }

  /// The pieces of a function's LaTeX with pictures where its arguments stand. Arguments that the formula
  /// does not write, such as where a mask begins, have no place in it and no picture.
  Node function(const Expression& expression, bool transposed) {
    const Function& definition = find_function(expression.name());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < expression.arguments().size(); ++i) names.push_back(placeholder(i));
    std::string rest = plain_brackets(definition.latex(names));
    Node node{.kind = Node::Kind::row};
    while (!rest.empty()) {
      std::size_t first = std::string::npos;
      std::size_t which = 0;
      for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t at = rest.find(names[i]);
        if (at < first) {
          first = at;
          which = i;
        }
      }
      const std::string piece = rest.substr(0, first);
      if (!blank(piece)) node.parts.push_back(glyph(piece));
      if (first == std::string::npos) break;
      node.parts.push_back(part(expression.arguments()[which], false, definition.arguments_bind));
      rest = rest.substr(first + names[which].size());
    }
    if (!transposed) return node;
    Node whole{.kind = Node::Kind::row};
    whole.parts.push_back(in_brackets(std::move(node)));
    whole.parts.push_back(glyph("^{\\top}"));
    return whole;
  }

  Node build(const Expression& expression, bool transposed) {
    const auto arguments = expression.arguments();
    switch (expression.kind()) {
      case Expression::Kind::tensor:
        return picture(expression.name(), transposed);
      case Expression::Kind::transpose:
        return build(arguments[0], !transposed);
      case Expression::Kind::product:
        return product(expression, transposed);
      case Expression::Kind::sum:
      case Expression::Kind::difference:
        return sum(expression, transposed);
      case Expression::Kind::hadamard: {
        Node node{.kind = Node::Kind::row};
        node.parts.push_back(part(arguments[0], transposed, Precedence::hadamard));
        node.parts.push_back(glyph("\\odot"));
        node.parts.push_back(part(arguments[1], transposed, Precedence::hadamard));
        return node;
      }
      case Expression::Kind::diagonal: {
        Node node{.kind = Node::Kind::row};
        node.parts.push_back(glyph("\\mathrm{Diag}"));
        node.parts.push_back(in_brackets(build(arguments[0], false)));
        return node;
      }
      case Expression::Kind::function:
        return function(expression, transposed);
      case Expression::Kind::named: {
        Node node{.kind = Node::Kind::group, .tensor = expression.name()};
        node.parts.push_back(build(arguments[0], transposed));
        return node;
      }
    }
    return {};
  }
};

/// Sizes and drawing.
struct PictureEquation::Painter {
  using Kind = Node::Kind;

  static std::string number_of(const PictureScene& scene, const std::string& tensor) {
    const double value = scene.record.at(tensor)(0, 0);
    return std::abs(value) >= 1e-3 && std::abs(value) < 1e4 ? fmt::format("{:.3g}", value)
                                                            : number_text(value);
  }

  static const Symbol& symbol_of(const PictureScene& scene, const std::string& tensor) {
    static const Symbol unknown;
    const auto found = scene.symbols.find(tensor);
    return found == scene.symbols.end() ? unknown : found->second;
  }

  /// The font of a number that stands for a symbol, until the end of the scope.
  struct NumberFont {
    NumberFont(const PictureScene& scene, const Sizes& sizes) {
      const float most = scene.compact ? 20.0F : style::font_size(style::Text::number_large);
      const float size = std::clamp(number_growth * sizes.unit / style::scale(), smallest_number, most);
      ImGui::PushFont(style::font(style::Text::number_large), size * sizes.squeeze);
    }
    ~NumberFont() { ImGui::PopFont(); }
    NumberFont(const NumberFont&) = delete;
    NumberFont& operator=(const NumberFont&) = delete;
  };

  /// The column left of a stack in which the signs stand.
  static float sign_width(const Node& stack, const Sizes& sizes) {
    float width = 0;
    for (std::size_t i = 1; i < stack.parts.size(); i += 2)
      width = std::max(width, stack.parts[i].width + sizes.distance());
    return width;
  }

  static void measure(Node& node, const Sizes& sizes, const PictureScene& scene) {
    for (Node& part : node.parts) measure(part, sizes, scene);
    switch (node.kind) {
      case Kind::picture:
        node.side = sizes.side(node.columns);
        node.width = std::max(node.side, measure_formula(node.latex, sizes.label()).width);
        node.above = sizes.side(node.rows) / 2;
        node.below = node.above + sizes.captions();
        break;
      case Kind::number: {
        const NumberFont font(scene, sizes);
        const ImVec2 size = ImGui::CalcTextSize(number_of(scene, node.tensor).c_str());
        node.side = size.x;
        node.width = std::max(node.side, measure_formula(node.latex, sizes.label()).width);
        node.above = size.y / 2;
        node.below = size.y / 2 + sizes.captions();
        break;
      }
      case Kind::glyph: {
        const FormulaSize size = measure_formula(node.latex, sizes.px(glyph_size));
        node.width = size.width;
        node.above = size.height / 2;
        node.below = size.height / 2;
        break;
      }
      case Kind::bracket:
        node.width = sizes.px(bracket_width);
        break;
      case Kind::group:
        node.width = node.parts[0].width;
        node.above = node.parts[0].above;
        node.below = node.parts[0].below;
        break;
      case Kind::row: {
        node.width = 0;
        node.above = node.below = 0;
        for (const Node& part : node.parts) {
          node.above = std::max(node.above, part.above);
          node.below = std::max(node.below, part.below);
          node.width += part.width;
        }
        if (!node.parts.empty()) node.width += sizes.distance() * static_cast<float>(node.parts.size() - 1);
        break;
      }
      case Kind::stack: {
        float height = -px(term_distance);
        node.width = 0;
        for (std::size_t i = 0; i < node.parts.size(); i += 2) {
          node.width = std::max(node.width, node.parts[i].width);
          height += node.parts[i].above + node.parts[i].below + px(term_distance);
        }
        node.width += sign_width(node, sizes);
        node.above = node.below = height / 2;
        break;
      }
    }
  }

  PictureScene& scene;
  const Sizes& sizes;
  ImDrawList* list = ImGui::GetWindowDrawList();

  void draw(const Node& node, float x, float axis) {
    switch (node.kind) {
      case Kind::picture:
        draw_picture(node, x, axis);
        return;
      case Kind::number:
        draw_number(node, x, axis);
        return;
      case Kind::glyph:
        draw_glyph(node, x, axis);
        return;
      case Kind::bracket:
        return;  // drawn by the row, which knows the height
      case Kind::group:
        draw(node.parts[0], x, axis);
        if (node.tensor == scene.lit) frame({x, axis - node.above}, {x + node.width, axis + node.below});
        return;
      case Kind::row:
        for (const Node& part : node.parts) {
          if (part.kind == Kind::bracket)
            draw_bracket(part, x, axis, bracket_height(node));
          else
            draw(part, x, axis);
          x += part.width + sizes.distance();
        }
        return;
      case Kind::stack: {
        // Every sign stands beside the term that it goes with, level with its picture.
        const float first = x + sign_width(node, sizes);
        float y = axis - node.above;
        for (std::size_t i = 0; i < node.parts.size(); i += 2) {
          const Node& term = node.parts[i];
          if (i > 0) draw(node.parts[i - 1], x, y + term.above);
          draw(term, first, y + term.above);
          y += term.above + term.below + px(term_distance);
        }
        return;
      }
    }
  }

  /// Brackets are as high as the pictures between them, without captions.
  static float bracket_height(const Node& row) {
    float height = px(28);
    for (const Node& part : row.parts) height = std::max(height, part.above * 2);
    return height;
  }

  void draw_bracket(const Node& node, float x, float axis, float height) const {
    const float top = axis - height / 2;
    const float bottom = axis + height / 2;
    const float outer = node.right ? x + node.width : x;
    const float inner = node.right ? x : x + node.width;
    const float bend = std::min(height * 0.3F, px(18));
    list->AddBezierCubic({inner, top}, {outer, top + bend}, {outer, bottom - bend}, {inner, bottom},
                         style::colours().dim, px(1.5F));
  }

  void draw_glyph(const Node& node, float x, float axis) const {
    const FormulaSize size = measure_formula(node.latex, sizes.px(glyph_size));
    draw_formula(list, {x, axis - size.height / 2 + size.baseline}, node.latex, sizes.px(glyph_size),
                 style::colours().dim);
    note({x, axis - size.height / 2}, size.width, size.height);
  }

  void draw_number(const Node& node, float x, float axis) {
    const Symbol& symbol = symbol_of(scene, node.tensor);
    const bool waits = scene.finished_rows(node.tensor) == 0;
    const ImVec2 position = {x + (node.width - node.side) / 2, axis - node.above};
    const ImVec2 end = {position.x + node.side, axis + node.above};
    note(position, node.side, 2 * node.above);
    draw_caption(node, symbol, position, {node.side, 2 * node.above}, waits);
    if (waits) {
      list->AddRect(position, end, style::colours().edge);
      draw_waiting(position, end);
      return;
    }
    const NumberFont font(scene, sizes);
    list->AddText(position, style::colours().role(symbol.role), number_of(scene, node.tensor).c_str());
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(position, end)) point_at({node.tensor, 0, 0});
    if (node.tensor == scene.lit) frame(position, end);
  }

  /// Tells where a piece lies.
  void note(ImVec2 position, float width, float height) const {
    scene.pieces.push_back({position, {position.x + width, position.y + height}});
  }

  void point_at(const CellFocus& cell) {
    scene.hovered = cell;
    scene.clicked = scene.clicked || ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  }

  /// What is not there yet: unlike the blank paper of zeros.
  void draw_waiting(ImVec2 minimum, ImVec2 maximum) const {
    const style::Palette& c = style::colours();
    list->AddRectFilled(minimum, maximum, c.background);
    list->PushClipRect(minimum, maximum, true);
    const float height = maximum.y - minimum.y;
    for (float x = minimum.x - height; x < maximum.x; x += px(style::hatch))
      list->AddLine({x, maximum.y}, {x + height, minimum.y}, c.edge, px(style::line));
    list->PopClipRect();
  }

  void draw_picture(const Node& node, float x, float axis) {
    const Matrix<double>& values = scene.record.at(node.tensor);
    const Symbol& symbol = symbol_of(scene, node.tensor);
    const ImVec2 position = {std::round(x + (node.width - node.side) / 2), std::round(axis - node.above)};
    const ImVec2 size = {std::round(node.side), std::round(node.above * 2)};
    note(position, size.x, size.y);
    const Index finished = scene.finished_rows(node.tensor);
    const ImU32 edge = style::colours().edge;
    list->AddRect({position.x - 1, position.y - 1}, {position.x + size.x + 1, position.y + size.y + 1}, edge);
    if (finished != 0) {
      HeatMapLook look{.range = static_cast<float>(scene.range(node.tensor)),
                       .transposed = node.transposed,
                       .masked = symbol.role == Role::plain};
      if (node.transposed)
        look.finished_columns = finished;
      else
        look.finished_rows = finished;
      heat_map(node.key, values, scene.version, position, size, look);
      if (finished > 0 && finished < values.rows()) {
        const Cell next = node.transposed ? Cell{0, finished} : Cell{finished, 0};
        draw_waiting(cell_rectangle(position, size, node.rows, node.columns, next).minimum,
                     {position.x + size.x, position.y + size.y});
      }
      if (node.tensor == scene.lit && scene.fade < 1) {
        list->AddRectFilled(position, {position.x + size.x, position.y + size.y},
                            style::with_alpha(style::colours().panel, static_cast<float>(1 - scene.fade)));
      }
      if (scene.numbers) draw_values(node, values, position, size, finished);
      hover(node, values, position, size, finished);
    } else {
      draw_waiting(position, {position.x + size.x, position.y + size.y});
    }
    draw_focus(node, position, size);
    draw_caption(node, symbol, position, size, finished == 0);
    if (node.tensor == scene.lit) frame(position, {position.x + size.x, position.y + size.y});
  }

  /// A way to write the numbers of a picture.
  struct Writing {
    int decimals;
    float size;  // of the letters, in design pixels

    /// "−0.00" is 0.
    std::string operator()(double value) const {
      const std::string text = fmt::format("{:.{}f}", value, decimals);
      const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
      return is_zero && text.front() == '-' ? text.substr(1) : text;
    }
  };

  /// The most exact way in which all numbers fit into cells of this size; none if there is none. One decimal
  /// is better than nothing only where there are few cells.
  std::optional<Writing> writing_for(const Node& node, const Matrix<double>& values, ImVec2 cell) const {
    if (cell.x < px(least_number_cell)) return std::nullopt;
    const bool are_few = std::max(node.rows, node.columns) <= few;
    const float usual = style::font_size(style::Text::number_small);
    const float small = usual * small_number;
    for (const Writing& writing : {Writing{2, usual}, Writing{2, small}, Writing{1, small}}) {
      if (writing.decimals < 2 && !are_few) break;
      ImGui::PushFont(style::font(style::Text::number_small), writing.size);
      ImVec2 widest;
      for (const double value : values.reshaped()) {
        if (is_masked(node, value)) continue;
        widest = std::max(widest, ImGui::CalcTextSize(writing(value).c_str()),
                          [](ImVec2 a, ImVec2 b) { return a.x < b.x; });
      }
      ImGui::PopFont();
      if (widest.x + px(3) <= cell.x && widest.y + px(2) <= cell.y) return writing;
    }
    return std::nullopt;
  }

  /// Whether `value` is no number but what a mask takes out.
  bool is_masked(const Node& node, double value) const {
    const bool is_weight = symbol_of(scene, node.tensor).role == Role::plain;
    return is_weight && value == -std::numeric_limits<double>::infinity();
  }

  /// The numbers themselves, where cells have room for them.
  void draw_values(const Node& node, const Matrix<double>& values, ImVec2 position, ImVec2 size,
                   Index finished) const {
    const ImVec2 cell_size = {size.x / static_cast<float>(node.columns),
                              size.y / static_cast<float>(node.rows)};
    const std::optional<Writing> writing = writing_for(node, values, cell_size);
    if (!writing) return;
    const auto range = static_cast<float>(scene.range(node.tensor));
    ImGui::PushFont(style::font(style::Text::number_small), writing->size);
    for (Index i = 0; i < node.rows; ++i) {
      for (Index j = 0; j < node.columns; ++j) {
        const Index row = node.transposed ? j : i;
        const Index column = node.transposed ? i : j;
        const double value = values(row, column);
        if ((finished > 0 && row >= finished) || is_masked(node, value)) continue;
        const std::string shown = (*writing)(value);
        const ImVec2 extent = ImGui::CalcTextSize(shown.c_str());
        const Rectangle cell = cell_rectangle(position, size, node.rows, node.columns, {i, j});
        const ImU32 ink = style::legible_on(colour(style::colours().map, static_cast<float>(value), range));
        list->AddText({std::floor((cell.minimum.x + cell.maximum.x - extent.x) / 2),
                       std::floor((cell.minimum.y + cell.maximum.y - extent.y) / 2)},
                      ink, shown.c_str());
      }
    }
    ImGui::PopFont();
  }

  void hover(const Node& node, const Matrix<double>&, ImVec2 position, ImVec2 size, Index finished) {
    if (!ImGui::IsWindowHovered()) return;
    const auto cell = hovered_cell(position, size, node.rows, node.columns, ImGui::GetMousePos());
    if (!cell) return;
    const Index row = node.transposed ? cell->column : cell->row;
    const Index column = node.transposed ? cell->row : cell->column;
    if (finished > 0 && row >= finished) return;
    point_at({node.tensor, row, column});
  }

  void frame_cells(const Node& node, ImVec2 position, ImVec2 size, const Cells& cells, ImU32 colour) const {
    if (cells.rows <= 0 || cells.columns <= 0) return;
    const Index last_row = cells.first_row + cells.rows - 1;
    const Index last_column = cells.first_column + cells.columns - 1;
    const auto drawn = [&](Index row, Index column) {
      return node.transposed ? Cell{column, row} : Cell{row, column};
    };
    const Rectangle first =
        cell_rectangle(position, size, node.rows, node.columns, drawn(cells.first_row, cells.first_column));
    const Rectangle last =
        cell_rectangle(position, size, node.rows, node.columns, drawn(last_row, last_column));
    list->AddRect({first.minimum.x - 1, first.minimum.y - 1}, {last.maximum.x + 1, last.maximum.y + 1},
                  colour, 0, px(1.5F));
  }

  void draw_focus(const Node& node, ImVec2 position, ImVec2 size) const {
    for (const Cells& source : scene.sources) {
      if (source.tensor == node.tensor) frame_cells(node, position, size, source, style::colours().accent);
    }
    if (scene.focus && scene.focus->tensor == node.tensor) {
      frame_cells(node, position, size, {node.tensor, scene.focus->row, scene.focus->column, 1, 1},
                  style::colours().text);
    }
  }

  /// The symbol, and its words where they fit under the picture.
  void draw_caption(const Node& node, const Symbol& symbol, ImVec2 position, ImVec2 size, bool waits) const {
    const ImU32 colour = waits ? style::colours().faint : style::colours().role(symbol.role);
    const FormulaSize extent = measure_formula(node.latex, sizes.label());
    const style::TextStyle text(style::Text::caption);
    const ImVec2 words = ImGui::CalcTextSize(symbol.words.c_str());
    const float room = size.x + sizes.distance() - px(4);  // not beyond a frame around the picture
    const bool has_words = !symbol.words.empty() && extent.width + px(6) + words.x <= room;
    const float width = extent.width + (has_words ? px(6) + words.x : 0);
    const float x = position.x + (size.x - width) / 2;
    const float top = position.y + size.y + px(caption_distance);
    const float baseline = top + sizes.label() * label_ascent;
    draw_formula(list, {x, baseline}, node.latex, sizes.label(), colour);
    if (has_words) {
      list->AddText({x + extent.width + px(6), baseline - words.y * 0.78F},
                    waits ? style::colours().faint : style::colours().dim, symbol.words.c_str());
    }
    note({x, top}, width, sizes.captions() - px(caption_distance));
  }

  void frame(ImVec2 minimum, ImVec2 maximum) const {
    const float margin = px(4);
    const Symbol& symbol = symbol_of(scene, scene.lit);
    const bool neutral = symbol.role == Role::plain || symbol.role == Role::state;
    const ImU32 colour = neutral ? style::colours().accent : style::colours().role(symbol.role);
    list->AddRect({minimum.x - margin, minimum.y - margin}, {maximum.x + margin, maximum.y + margin}, colour,
                  px(6), px(1.5F));
  }
};

Index PictureEquation::longest_side(const Node& node) {
  Index longest = std::max(node.rows, node.columns);
  for (const Node& part : node.parts) longest = std::max(longest, longest_side(part));
  return longest;
}

PictureEquation::PictureEquation(std::string id, const Equation& equation, const PictureScene& scene) {
  Builder builder{scene, std::move(id)};
  auto root = std::make_shared<Node>(Node{.kind = Node::Kind::row});
  // Sums of a token's vectors lie flat, one above the other; products keep the order of the formula.
  const bool lies_flat = Builder::is_sum(equation.expression) && scene.record.at(equation.result).cols() == 1;
  root->parts.push_back(builder.picture(equation.result, lies_flat));
  root->parts.push_back(Builder::glyph("="));
  root->parts.push_back(builder.build(equation.expression, lies_flat));
  are_few_ = longest_side(*root) <= few;
  root_ = std::move(root);
}

ImVec2 PictureEquation::measure(float unit, float squeeze, const PictureScene& scene) {
  unit_ = unit;
  squeeze_ = squeeze;
  Painter::measure(*root_, {.unit = unit, .squeeze = squeeze, .are_few = are_few_}, scene);
  return {root_->width, root_->above + root_->below};
}

ImVec2 PictureEquation::smallest(ImVec2 available, float least_squeeze, const PictureScene& scene) {
  ImVec2 size = measure(0, 1, scene);
  while ((size.x > available.x || size.y > available.y) && squeeze_ > least_squeeze)
    size = measure(0, std::max(squeeze_ * 0.9F, least_squeeze), scene);
  return size;
}

ImVec2 PictureEquation::least(float width, const PictureScene& scene) {
  return smallest({width, std::numeric_limits<float>::infinity()}, legible_squeeze, scene);
}

ImVec2 PictureEquation::fit(ImVec2 available, const PictureScene& scene, float largest_unit) {
  smallest(available, smallest_squeeze, scene);
  const float squeeze = squeeze_;
  float small = 0;
  float large = std::min(std::max(available.x, available.y), largest_unit);
  for (int halving = 0; halving < 14; ++halving) {
    const float middle = (small + large) / 2;
    const ImVec2 size = measure(middle, squeeze, scene);
    (size.x <= available.x && size.y <= available.y ? small : large) = middle;
  }
  return measure(small, squeeze, scene);
}

void PictureEquation::draw(ImVec2 position, PictureScene& scene) {
  const Sizes sizes{.unit = unit_, .squeeze = squeeze_, .are_few = are_few_};
  Painter{scene, sizes}.draw(*root_, position.x, position.y + root_->above);
}

}  // namespace palimpsest
