#include "app/stage/draw.h"

#include <fmt/format.h>

#include "app/gl/context_local.h"
#include "app/scene/parts.h"
#include "app/widgets/chart.h"
#include "app/widgets/text.h"
#include "core/numbers/between.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index few_cells = 8;           // cells
constexpr float least_number_cell = 20;  // no number fits into less
constexpr float least_frame = 9;
constexpr float growing_from = 0.02F;  // the share of its strength that a picture has at first
constexpr float mark_side = 20;
constexpr float mark_inset = 4;
constexpr float least_picture = 56;  // in smaller ones the mark would hide too much

// A picture: the colours of its cells, missing values, numbers, and frames.
// The texts of numbers are cached while nothing that they depend on changes.
struct NumberWriting {
  int decimals = 2;
  float size = 0;  // of the letters, in design pixels

  /// "−0.00" is 0.
  std::string operator()(double value) const {
    const std::string text = fmt::format("{:.{}f}", value, decimals);
    const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
    return is_zero && text.front() == '-' ? text.substr(1) : text;
  }
};

struct CellNumber {
  ImVec2 position;
  ImU32 ink = 0;
  std::string words;
};

struct CellNumbers {
  // Of what: the version of the values, how many rows there are, where, at which scale, colour range and
  // theme.
  std::tuple<std::uint64_t, Index, Rectangle, float, float, Theme> key = {};
  float size = 0;
  std::vector<CellNumber> numbers;
};
bool is_masked(const Symbol& symbol, double value) {
  return symbol.role == Role::plain && value == -std::numeric_limits<double>::infinity();
}

/// The first diagonal that is empty: 0 for stril(..), 1 for tril(..), beyond all columns for others.
Index first_empty_diagonal(const Matrix<double>& values) {
  if (values.rows() != values.cols() || values.rows() < 2 || values.isZero(0)) return values.cols();
  if (Matrix<double>(values.triangularView<Eigen::Upper>()).isZero(0)) return 0;
  return Matrix<double>(values.triangularView<Eigen::StrictlyUpper>()).isZero(0) ? 1 : values.cols();
}

/// The most exact writing with which all numbers fit into cells of this size; nothing if there is none. One
/// decimal is accepted only for few cells, and never if it would write all of them as 0.
std::optional<NumberWriting> writing_for(const Box& picture, const Symbol& symbol,
                                         const Matrix<double>& values, ImVec2 cell) {
  const bool are_few = std::max(picture.rows, picture.columns) <= few_cells;
  const float usual = style::font_size(style::Text::number_small);
  const float small = usual * style::least_number;
  double largest = 0;
  for (const double value : values.reshaped()) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (const NumberWriting& writing :
       {NumberWriting{2, usual}, NumberWriting{2, small}, NumberWriting{1, small}}) {
    if (writing.decimals < 2 && !are_few) break;
    if (!values.isZero(0) && !(largest >= std::pow(0.1, writing.decimals))) continue;
    const style::TextStyle used(style::Text::number_small, writing.size);
    ImVec2 widest;
    for (const double value : values.reshaped()) {
      if (is_masked(symbol, value)) continue;
      widest = std::max(widest, ImGui::CalcTextSize(writing(value).c_str()),
                        [](ImVec2 a, ImVec2 b) { return a.x < b.x; });
    }
    if (widest.x + px(3) <= cell.x && widest.y + px(2) <= cell.y) return writing;
  }
  return std::nullopt;
}

/// ".994" in thousandths where others of its picture are, else ".99".
std::string share_words(double value, bool in_thousandths) {
  const std::string words = share_of_one(value);
  const bool is_in_hundredths = words.size() == std::string_view(".99").size();
  return in_thousandths && is_in_hundredths ? fmt::format("{:.3f}", value).substr(1) : words;
}

/// Two arrows, from the middle to opposite corners.
void draw_arrows(const Rectangle& mark, ImU32 colour) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float inset = px(5);
  const float head = px(5);
  const float width = px(1.5F);
  const auto [from, to] = mark.grown(-inset);
  const ImVec2 top = {to.x, from.y};
  const ImVec2 foot = {from.x, to.y};
  list->AddLine(top, foot, colour, width);
  for (const auto& [tip, back] : {std::pair(top, -head), std::pair(foot, head)}) {
    list->AddLine(tip, {tip.x + back, tip.y}, colour, width);
    list->AddLine(tip, {tip.x, tip.y - back}, colour, width);
  }
}
void point_at(const CellFocus& cell, StageScene& scene) {
  scene.hovered = cell;
  scene.clicked = scene.clicked || ImGui::IsMouseClicked(ImGuiMouseButton_Left);
}

/// Draws a mark in the corner of the picture under the pointer; a click on it enlarges the picture. Returns
/// whether the pointer is on the mark.
bool draw_enlarging_mark(const std::string& tensor, const Rectangle& picture, StageScene& scene) {
  if (std::min(picture.width(), picture.height()) < px(least_picture)) return false;
  const float right = picture.maximum.x - px(mark_inset);
  const float top = picture.minimum.y + px(mark_inset);
  const Rectangle mark = {{right - px(mark_side), top}, {right, top + px(mark_side)}};
  note_part("mark/" + tensor, mark);
  const bool has_pointer = is_pointed(mark);
  const style::Palette& c = style::colours();
  fill(mark, c.panel, px(4));
  outline(mark, has_pointer ? c.text : c.edge, px(4), px(style::line));
  draw_arrows(mark, has_pointer ? c.text : c.dim);
  if (!has_pointer) return false;
  tooltip_beside(mark, "Enlarges this picture, or goes back to the step (E)");
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) scene.enlarge = tensor;
  return true;
}

struct CellsPainter {
  const Box& picture;
  const Rectangle where;
  StageScene& scene;

  void draw(bool is_thumbnail) {
    const Matrix<double>& values = scene.record.at(picture.tensor);
    const Index finished = scene.view.finished_rows(recorded());
    outline(where.grown(1), style::colours().edge);
    if (finished == 0) {
      draw_waiting(where);
      if (!is_thumbnail) draw_focus();
      return;
    }
    const Symbol& symbol = symbol_in(scene.symbols, picture.tensor);
    const Matrix<double>* fading = fading_cells(picture.key, recorded(), values, scene.version);
    const bool grows = scene.fade < 1 && picture.tensor == scene.view.lit && !is_thumbnail;
    const Matrix<double>* before = grows ? before_it() : nullptr;
    const float strength = grows && !before ? std::max(static_cast<float>(scene.fade), growing_from) : 1;
    const auto range = static_cast<float>(fading ? 1 : scene.ranges.of(picture.tensor).largest);
    const HeatMapLook look{.range = range / strength,
                           .transposed = picture.transposed,
                           .finished_rows = finished,
                           .masked = symbol.role == Role::plain || fading,
                           .grid = !is_thumbnail};
    if (before && !fading) {
      const auto part = static_cast<std::uint64_t>(scene.fade * 1000);
      heat_map(picture.key, between(*before, values, scene.fade), scene.version + ((part + 1) << 40), where,
               look);
    } else {
      heat_map(picture.key, fading ? *fading : values, scene.version, where, look);
    }
    if (finished > 0 && finished < values.rows())
      draw_waiting({place_of(turned({finished, 0})).minimum, where.maximum});
    if (scene.pointed && first_symbol(symbol.latex) == *scene.pointed) {
      outline(where.grown(px(2)), style::colours().accent, px(2), px(style::lit_line));
      note_part("pointed", where);
    }
    if (is_thumbnail) return;
    frame_token();
    if (scene.numbers && !grows) draw_numbers(fading, range, finished);
    hover(finished);
    draw_focus();
  }

  /// The recorded tensor whose entries the picture shows: its own, or another for one made for display.
  const std::string& recorded() const { return scene.view.recorded(picture.tensor); }

  /// The result before the step; null if there was none: then it fades in.
  const Matrix<double>* before_it() const {
    const std::string& name = scene.view.hero.grows_from;
    if (name.empty() || !scene.record.contains(name)) return nullptr;
    const Matrix<double>& before = scene.record.at(name);
    const Matrix<double>& values = scene.record.at(picture.tensor);
    return before.rows() == values.rows() && before.cols() == values.cols() ? &before : nullptr;
  }

  /// The numbers in the cells, if they fit. `coloured`: what the cells are coloured as, where that is not
  /// their numbers. `finished`: as StageView::finished_rows().
  void draw_numbers(const Matrix<double>* coloured, float range, Index finished) const {
    if (where.width() < px(least_number_cell) * static_cast<float>(picture.columns)) return;
    CellNumbers& written = context_local<FrameCache<std::string, CellNumbers>>()[picture.key];
    const auto key = std::tuple(scene.version, finished, where, style::scale(), range, style::theme());
    if (std::exchange(written.key, key) != key) write_numbers(written, coloured, range, finished);
    if (written.numbers.empty()) return;
    const style::TextStyle used(style::Text::number_small, written.size);
    for (const CellNumber& number : written.numbers)
      ImGui::GetWindowDrawList()->AddText(number.position, number.ink, number.words.c_str());
  }

  void write_numbers(CellNumbers& written, const Matrix<double>* coloured, float range,
                     Index finished) const {
    const Matrix<double>& values = scene.record.at(picture.tensor);
    const Symbol& symbol = symbol_in(scene.symbols, picture.tensor);
    const double dust = scene.ranges.dust(picture.tensor);  // up to which size they are told as 0
    written.numbers.clear();
    const ImVec2 cells = {static_cast<float>(picture.columns), static_cast<float>(picture.rows)};
    const auto writing = writing_for(picture, symbol, values, where.size() / cells);
    if (!writing) return;
    written.size = writing->size;
    const Index empty_from = first_empty_diagonal(values);
    const bool in_thousandths = (values.array() >= 0.995 && values.array() < 1).any();
    const style::TextStyle used(style::Text::number_small, writing->size);
    for (Index i = 0; i < picture.rows; ++i) {
      for (Index j = 0; j < picture.columns; ++j) {
        const auto [row, column] = turned({i, j});
        const double value = values(row, column);
        if ((finished > 0 && row >= finished) || is_masked(symbol, value)) continue;
        if (column - row >= empty_from) continue;
        const double shown = coloured ? (*coloured)(row, column) : value;
        if (!std::isfinite(shown) && coloured) continue;
        const bool is_zero = !coloured && std::abs(value) <= dust;
        std::string words = is_zero                              ? "0"
                            : coloured && writing->decimals == 2 ? share_words(value, in_thousandths)
                                                                 : (*writing)(value);
        const ImVec2 extent = ImGui::CalcTextSize(words.c_str());
        const auto [from, to] = place_of({i, j});
        const ImVec2 at = (from + to - extent) / 2;
        const ImU32 ink =
            is_zero ? style::colours().faint
                    : style::legible_on(colour(style::colours().map, static_cast<float>(shown), range));
        written.numbers.push_back({{std::floor(at.x), std::floor(at.y)}, ink, std::move(words)});
      }
    }
  }

  /// A cell as drawn, of one of the matrix, and back.
  Cell turned(const Cell& cell) const { return picture.transposed ? Cell{cell.column, cell.row} : cell; }

  void hover(Index finished) {
    if (!ImGui::IsWindowHovered()) return;
    const auto cell = hovered_cell(where, picture.rows, picture.columns, ImGui::GetMousePos());
    if (!cell || draw_enlarging_mark(picture.tensor, where, scene)) return;
    const auto [row, column] = turned(*cell);
    if (finished > 0 && row >= finished) return;
    point_at({recorded(), row, column}, scene);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) scene.enlarge = picture.tensor;
  }

  void frame(const Cells& cells, bool is_operand) const {
    if (cells.rows <= 0 || cells.columns <= 0) return;
    const Cell last = {cells.first_row + cells.rows - 1, cells.first_column + cells.columns - 1};
    frame_drawn(turned({cells.first_row, cells.first_column}), turned(last), is_operand);
  }

  /// The row, or column, of the token at the cursor.
  void frame_token() const {
    const Index row = scene.view.token - picture.first_row_token;
    if (picture.first_row_token >= 0 && row >= 0 && row < picture.rows)
      frame_drawn({row, 0}, {row, picture.columns - 1}, false);
    const Index column = scene.view.token - picture.first_column_token;
    // If rows are tokens, too, the row is enough.
    if (picture.first_row_token < 0 && picture.first_column_token >= 0 && column >= 0 &&
        column < picture.columns)
      frame_drawn({0, column}, {picture.rows - 1, column}, false);
  }

  /// A frame around cells, not on them, and large enough not to hide them; dashed around operands.
  void frame_drawn(const Cell& from, const Cell& to, bool is_operand) const {
    const Rectangle cells = {place_of(from).minimum, place_of(to).maximum};
    const ImVec2 lacking = upper_of(ImVec2(px(least_frame), px(least_frame)) - cells.size(), {px(4), px(4)});
    const Rectangle box = cells.grown(lacking / 2);
    const style::Palette& c = style::colours();
    outline(box, c.panel, 0, px(3.5F));
    if (!is_operand) return outline(box, c.text, 0, px(1.5F));
    dashed_outline(ImGui::GetWindowDrawList(), box, c.text, px(1.5F), px(4));
  }

  Rectangle place_of(const Cell& cell) const {
    return cell_rectangle(where, picture.rows, picture.columns, cell);
  }

  void draw_focus() const {
    const std::string& tensor = recorded();
    for (const Cells& source : scene.sources) {
      if (source.tensor == tensor) frame(source, true);
    }
    if (scene.focus && scene.focus->tensor == tensor)
      frame({tensor, scene.focus->row, scene.focus->column, 1, 1}, false);
  }
};

}  // namespace

void draw_waiting(const Rectangle& where) {
  fill(where, style::colours().background);
  hatch(where, style::colours().edge);
}

void draw_picture(const Box& picture, const Rectangle& where, bool is_thumbnail, StageScene& scene) {
  if (picture.kind == Box::Kind::picture) return CellsPainter{picture, where, scene}.draw(is_thumbnail);
  if (scene.view.finished_rows(picture.tensor) == 0) {
    outline(where, style::colours().edge);
    return draw_waiting(where);
  }
  const style::TextStyle used(style::Text::number_large, where.height() / style::scale());
  const ImVec2 extent = ImGui::CalcTextSize(picture.digits.c_str());
  ImGui::GetWindowDrawList()->AddText((where.minimum + where.maximum - extent) / 2,
                                      style::colours().role(picture.role), picture.digits.c_str());
  if (!is_thumbnail && is_pointed(where)) point_at({picture.tensor, 0, 0}, scene);
}

}  // namespace palimpsest
