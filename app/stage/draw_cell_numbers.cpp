// The numbers themselves, where cells have room for them. They are written once and kept while nothing that
// they depend on changes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/gl/context_local.h"
#include "app/gl/frame_cache.h"
#include "app/stage/draw.h"
#include "app/stage/fading_cells.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index few = 8;                 // cells
constexpr float least_number_cell = 20;  // no number fits into less
constexpr float small_number = 0.84F;    // of the usual size: the smallest letters of one

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
  float x = 0, y = 0, width = 0, height = 0;
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
  const bool are_few = std::max(picture.rows, picture.columns) <= few;
  const float usual = style::font_size(style::Text::number_small);
  const float small = usual * small_number;
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
  const ImVec2 position = {key.x, key.y};
  const ImVec2 size = {key.width, key.height};
  written.numbers.clear();
  const auto writing =
      writing_for(picture, symbol, values,
                  {size.x / static_cast<float>(picture.columns), size.y / static_cast<float>(picture.rows)});
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
      const Rectangle cell = cell_rectangle(position, size, picture.rows, picture.columns, {i, j});
      const ImU32 ink = style::legible_on(colour(style::colours().map, static_cast<float>(shown), key.range));
      written.numbers.push_back({{std::floor((cell.minimum.x + cell.maximum.x - extent.x) / 2),
                                  std::floor((cell.minimum.y + cell.maximum.y - extent.y) / 2)},
                                 ink,
                                 std::move(words)});
    }
  }
  ImGui::PopFont();
}

}  // namespace

void draw_cell_numbers(const Box& picture, ImVec2 position, ImVec2 size, Index finished, StageScene& scene) {
  if (size.x < px(least_number_cell) * static_cast<float>(picture.columns)) return;
  const Matrix<double>& values = scene.record.at(picture.tensor);
  const Matrix<double>* fading =
      fading_cells(picture.key, scene.view.recorded(picture.tensor), values, scene.version);
  const double range = fading ? 1 : scene.ranges.of(picture.tensor).largest;
  const NumbersKey key = {.version = scene.version,
                          .finished = finished,
                          .x = position.x,
                          .y = position.y,
                          .width = size.x,
                          .height = size.y,
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

}  // namespace palimpsest
