// The cells of a picture: its colours, what is not there yet, its numbers, and what is framed in it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/gl/context_local.h"
#include "app/scene/parts.h"
#include "app/stage/draw.h"
#include "app/widgets/text.h"
#include "core/base/text.h"
#include "core/numbers/between.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index few_cells = 8;           // cells
constexpr float least_number_cell = 20;  // no number fits into less
constexpr float growing_from = 0.02F;    // the share of its strength that a picture has at first

// The numbers themselves are written once and kept while nothing that they depend on changes.

/// A way to write the numbers of a picture.
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

/// What the numbers of a picture depend on.
struct NumbersKey {
  std::uint64_t version = 0;
  Index finished = 0;
  Rectangle where = {};
  float scale = 0;
  float range = 0;
  const style::Palette* colours = nullptr;

  bool operator==(const NumbersKey&) const = default;
};

struct CellNumber {
  ImVec2 position;
  ImU32 ink = 0;
  std::string words;
};

struct CellNumbers {
  NumbersKey key;
  float size = 0;
  std::vector<CellNumber> numbers;
};

/// Whether `value` is no number but what a mask takes out.
bool is_masked(const Symbol& symbol, double value) {
  return symbol.role == Role::plain && value == -std::numeric_limits<double>::infinity();
}

/// Whether only what lies below the diagonal counts: stril(..).
bool is_strictly_lower(const Matrix<double>& values) {
  if (values.rows() != values.cols() || values.rows() < 2) return false;
  for (Index j = 0; j < values.cols(); ++j) {
    if (!values.col(j).head(j + 1).isZero(0)) return false;
  }
  return true;
}

/// The most exact way in which all numbers fit into cells of this size; none if there is none. One decimal is
/// better than nothing only where there are few cells.
std::optional<NumberWriting> writing_for(const Box& picture, const Symbol& symbol,
                                         const Matrix<double>& values, ImVec2 cell) {
  const bool are_few = std::max(picture.rows, picture.columns) <= few_cells;
  const float usual = style::font_size(style::Text::number_small);
  const float small = usual * style::least_number;
  for (const NumberWriting& writing :
       {NumberWriting{2, usual}, NumberWriting{2, small}, NumberWriting{1, small}}) {
    if (writing.decimals < 2 && !are_few) break;
    ImGui::PushFont(style::font(style::Text::number_small), writing.size);
    ImVec2 widest;
    for (const double value : values.reshaped()) {
      if (is_masked(symbol, value)) continue;
      widest = std::max(widest, ImGui::CalcTextSize(writing(value).c_str()),
                        [](ImVec2 a, ImVec2 b) { return a.x < b.x; });
    }
    ImGui::PopFont();
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

/// `coloured`: what the cells are coloured as, where that is not their numbers.
void write_numbers(CellNumbers& written, const Box& picture, const Symbol& symbol,
                   const Matrix<double>& values, const Matrix<double>* coloured) {
  const NumbersKey& key = written.key;
  written.numbers.clear();
  const ImVec2 cells = {static_cast<float>(picture.columns), static_cast<float>(picture.rows)};
  const auto writing = writing_for(picture, symbol, values, key.where.size() / cells);
  if (!writing) return;
  written.size = writing->size;
  const bool is_lower = is_strictly_lower(values);
  const bool in_thousandths = (values.array() >= 0.995 && values.array() < 1).any();
  ImGui::PushFont(style::font(style::Text::number_small), writing->size);
  for (Index i = 0; i < picture.rows; ++i) {
    for (Index j = 0; j < picture.columns; ++j) {
      const Index row = picture.transposed ? j : i;
      const Index column = picture.transposed ? i : j;
      const double value = values(row, column);
      if ((key.finished > 0 && row >= key.finished) || is_masked(symbol, value)) continue;
      if (is_lower && column >= row) continue;
      const double shown = coloured ? (*coloured)(row, column) : value;
      if (!std::isfinite(shown) && coloured) continue;
      std::string words =
          coloured && writing->decimals == 2 ? share_words(value, in_thousandths) : (*writing)(value);
      const ImVec2 extent = ImGui::CalcTextSize(words.c_str());
      const auto [from, to] = cell_rectangle(key.where, picture.rows, picture.columns, {i, j});
      const ImU32 ink = style::legible_on(colour(style::colours().map, static_cast<float>(shown), key.range));
      const ImVec2 at = (from + to - extent) / 2;
      written.numbers.push_back({{std::floor(at.x), std::floor(at.y)}, ink, std::move(words)});
    }
  }
  ImGui::PopFont();
}

/// The numbers in the cells, where they have room. `finished`: as StageView::finished_rows().
void draw_cell_numbers(const Box& picture, const Rectangle& where, Index finished, const StageScene& scene) {
  if (where.width() < px(least_number_cell) * static_cast<float>(picture.columns)) return;
  const Matrix<double>& values = scene.record.at(picture.tensor);
  const Matrix<double>* fading =
      fading_cells(picture.key, scene.view.recorded(picture.tensor), values, scene.version);
  const double range = fading ? 1 : scene.ranges.of(picture.tensor).largest;
  const NumbersKey key = {.version = scene.version,
                          .finished = finished,
                          .where = where,
                          .scale = style::scale(),
                          .range = static_cast<float>(range),
                          .colours = &style::colours()};
  CellNumbers& written = context_local<FrameCache<std::string, CellNumbers>>()[picture.key];
  if (!(written.key == key)) {
    written.key = key;
    write_numbers(written, picture, symbol_in(scene.symbols, picture.tensor), values, fading);
  }
  if (written.numbers.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::PushFont(style::font(style::Text::number_small), written.size);
  for (const CellNumber& number : written.numbers)
    list->AddText(number.position, number.ink, number.words.c_str());
  ImGui::PopFont();
}

class CellsPainter {
 public:
  CellsPainter(const Box& picture, const Rectangle& where, StageScene& scene)
      : picture_(picture), where_(where), scene_(scene) {}

  void draw(bool is_thumbnail) {
    const Matrix<double>& values = scene_.record.at(picture_.tensor);
    const Index finished = scene_.view.finished_rows(recorded());
    outline(where_.grown(1), style::colours().edge, 0, 1);
    if (finished == 0) {
      draw_waiting(where_);
      if (!is_thumbnail) draw_focus();
      return;
    }
    const Symbol& symbol = symbol_in(scene_.symbols, picture_.tensor);
    const Matrix<double>* fading = fading_cells(picture_.key, recorded(), values, scene_.version);
    const bool grows = is_growing() && !is_thumbnail;
    const Matrix<double>* before = grows ? before_it() : nullptr;
    const float strength = grows && !before ? std::max(static_cast<float>(scene_.fade), growing_from) : 1;
    const double range = fading ? 1 : scene_.ranges.of(picture_.tensor).largest;
    HeatMapLook look{.range = static_cast<float>(range) / strength,
                     .transposed = picture_.transposed,
                     .masked = symbol.role == Role::plain || fading,
                     .grid = !is_thumbnail};
    (picture_.transposed ? look.finished_columns : look.finished_rows) = finished;
    if (before && !fading) {
      const auto part = static_cast<std::uint64_t>(scene_.fade * 1000);
      heat_map(picture_.key, between(*before, values, scene_.fade), scene_.version + ((part + 1) << 40),
               where_, look);
    } else {
      heat_map(picture_.key, fading ? *fading : values, scene_.version, where_, look);
    }
    if (finished > 0 && finished < values.rows()) {
      const Cell next = picture_.transposed ? Cell{0, finished} : Cell{finished, 0};
      draw_waiting({place_of(next).minimum, where_.maximum});
    }
    if (scene_.pointed && first_symbol(symbol.latex) == *scene_.pointed) {
      outline(where_.grown(px(2)), style::colours().accent, px(2), px(style::lit_line));
      note_part("pointed", where_);
    }
    if (is_thumbnail) return;
    frame_token();
    if (scene_.numbers && !grows) draw_cell_numbers(picture_, where_, finished, scene_);
    hover(finished);
    draw_focus();
  }

 private:
  /// Whose cells these are: a picture that is made for the eye shows those of a tensor that is recorded.
  const std::string& recorded() const { return scene_.view.recorded(picture_.tensor); }

  bool is_growing() const { return scene_.fade < 1 && picture_.tensor == scene_.view.lit; }

  /// What the result was before the step; null if it was nothing: then it grows out of blank paper.
  const Matrix<double>* before_it() const {
    const std::string& name = scene_.view.hero.grows_from;
    if (name.empty() || !scene_.record.contains(name)) return nullptr;
    const Matrix<double>& before = scene_.record.at(name);
    const Matrix<double>& values = scene_.record.at(picture_.tensor);
    return before.rows() == values.rows() && before.cols() == values.cols() ? &before : nullptr;
  }

  void hover(Index finished) {
    if (!ImGui::IsWindowHovered()) return;
    const auto cell = hovered_cell(where_, picture_.rows, picture_.columns, ImGui::GetMousePos());
    if (!cell || draw_enlarging_mark(picture_.tensor, where_, scene_)) return;
    const Index row = picture_.transposed ? cell->column : cell->row;
    const Index column = picture_.transposed ? cell->row : cell->column;
    if (finished > 0 && row >= finished) return;
    point_at({recorded(), row, column}, scene_);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) scene_.enlarge = picture_.tensor;
  }

  void frame(const Cells& cells, ImU32 colour) const {
    if (cells.rows <= 0 || cells.columns <= 0) return;
    const auto drawn = [&](Index row, Index column) {
      return picture_.transposed ? Cell{column, row} : Cell{row, column};
    };
    frame_drawn(drawn(cells.first_row, cells.first_column),
                drawn(cells.first_row + cells.rows - 1, cells.first_column + cells.columns - 1), colour);
  }

  /// The row, or column, of the word at the cursor.
  void frame_token() const {
    const Index row = scene_.view.token - picture_.first_row_token;
    if (picture_.first_row_token >= 0 && row >= 0 && row < picture_.rows)
      frame_drawn({row, 0}, {row, picture_.columns - 1}, style::colours().text);
    const Index column = scene_.view.token - picture_.first_column_token;
    // Where rows are words too, the row says enough.
    if (picture_.first_row_token < 0 && picture_.first_column_token >= 0 && column >= 0 &&
        column < picture_.columns)
      frame_drawn({0, column}, {picture_.rows - 1, column}, style::colours().text);
  }

  void frame_drawn(const Cell& from, const Cell& to, ImU32 colour) const {
    const Rectangle cells = {place_of(from).minimum, place_of(to).maximum};
    outline(cells.grown(1), colour, 0, px(1.5F));
  }

  static void outline(const Rectangle& box, ImU32 colour, float rounding, float width) {
    ImGui::GetWindowDrawList()->AddRect(box.minimum, box.maximum, colour, rounding, width);
  }

  Rectangle place_of(const Cell& cell) const {
    return cell_rectangle(where_, picture_.rows, picture_.columns, cell);
  }

  void draw_focus() const {
    const std::string& tensor = recorded();
    for (const Cells& source : scene_.sources) {
      if (source.tensor == tensor) frame(source, style::colours().accent);
    }
    if (scene_.focus && scene_.focus->tensor == tensor)
      frame({tensor, scene_.focus->row, scene_.focus->column, 1, 1}, style::colours().text);
  }

  const Box& picture_;
  const Rectangle where_;
  StageScene& scene_;
};

}  // namespace

void draw_cells(const Box& picture, const Rectangle& where, bool is_thumbnail, StageScene& scene) {
  CellsPainter(picture, where, scene).draw(is_thumbnail);
}

void point_at(const CellFocus& cell, StageScene& scene) {
  scene.hovered = cell;
  scene.clicked = scene.clicked || ImGui::IsMouseClicked(ImGuiMouseButton_Left);
}

}  // namespace palimpsest
