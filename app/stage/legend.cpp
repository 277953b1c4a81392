#include "app/stage/legend.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "app/stage/fading_cells.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float small_bar = 18;
constexpr float part_gap = 6;
constexpr float name_size = 15;

void draw_bar(ImVec2 position, float width, float height, float from, float to) {
  const float middle = position.y + height / 2;
  for (float at = 0; at < width; ++at) {
    const Rgb8 shade = colour(style::colours().map, from + (to - from) * at / width, 1);
    ImGui::GetWindowDrawList()->AddRectFilled({position.x + at, middle - px(4)},
                                              {position.x + at + 1, middle + px(4)}, style::colour(shade));
  }
}

/// "1.6 % beyond"; nothing where nothing is.
std::string beyond_words(double share) {
  if (share <= 0) return {};
  return share < 0.001 ? "<0.1 % beyond" : fmt::format("{:.2g} % beyond", 100 * share);
}

float width_of(const Legend& legend) {
  const style::TextStyle text(style::Text::caption);
  const auto part = [](const std::string& words) {
    return words.empty() ? 0 : text_extent(words).x + px(part_gap);
  };
  return legend.name_width + part(legend.scale) + part(legend.less) + part(legend.more) +
         part(legend.beyond) + 2 * px(legend.bar_width) + 2 * px(part_gap);
}

}  // namespace

Legend legend_of(const StageScene& scene, bool shared) {
  const bool pointed = scene.focus && scene.record.contains(scene.focus->tensor);
  const std::string& tensor = pointed ? scene.focus->tensor : scene.view.lit;
  const auto symbol = scene.symbols.find(tensor);
  const ColourRange range = scene.ranges.of(tensor);
  const bool is_fading = shows_fading(tensor, scene.record.at(tensor));
  Legend legend{
      .symbol = symbol == scene.symbols.end() ? Symbol{.latex = {}, .words = tensor} : symbol->second,
      .is_own = range.is_own,
      .is_joint = range.is_joint,
      .less = "−" + plain_number(range.largest, 2),
      .more = "+" + plain_number(range.largest, 2),
      .scale = range.is_joint ? "one scale"
               : !shared      ? "own scales"
               : range.is_own ? "own scale"
                              : "",
      .beyond = beyond_words(scene.ranges.beyond(tensor))};
  if (is_fading) {
    legend.is_own = legend.is_joint = false;
    legend.is_fading = true;
    legend.less = "0";
    legend.more = "1 is kept whole";
    legend.scale = "log of what is lost";
    legend.beyond.clear();
  }
  if (!legend.symbol.latex.empty())
    legend.name_width = measure_formula(legend.symbol.latex, px(name_size)).width;
  legend.width = width_of(legend);
  return legend;
}

Legend without_beyond(Legend legend) {
  legend.beyond.clear();
  legend.width = width_of(legend);
  return legend;
}

Legend brief(Legend legend) {
  legend.scale = legend.is_fading ? "log" : "";
  if (legend.is_fading) legend.more = "1";
  return without_beyond(std::move(legend));
}

Legend small(Legend legend) {
  legend.bar_width = small_bar;
  legend.width = width_of(legend);
  return legend;
}

Legend fitting(const Legend& legend, float room) {
  for (const Legend& shorter :
       {legend, without_beyond(legend), small(without_beyond(legend)), brief(legend)}) {
    if (shorter.width <= room) return shorter;
  }
  return small(brief(legend));
}

void draw(const Legend& legend, float height) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float gap = px(part_gap);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  float x = from.x;
  const float top = from.y + std::floor((height - text_extent("0").y) / 2);
  ImGui::Dummy({legend.width, height});
  const std::string meaning =
      legend.is_fading
          ? "1 is paper, nothing fades. They grow with the logarithm of what is lost, from 0.0001 to all "
            "of it."
      : legend.is_joint ? "one scale for what is added up here. "
      : legend.is_own   ? "this picture has its own scale. "
                        : "one scale for all tensors of this kind in the whole sequence. ";
  tooltip(fmt::format("The colours of {}: {}{}", legend.symbol.words, meaning,
                      legend.is_fading ? "" : "What lies beyond the ends has the colour of the end."),
          "C");

  const auto word = [&](std::string_view shown, ImU32 colour) {
    draw_text({x, top}, colour, shown);
    x += text_extent(shown).x + gap;
  };
  const float bar_top = from.y;
  const auto half = [&](float less, float more) {
    draw_bar({x, bar_top}, px(legend.bar_width), height, less, more);
    x += px(legend.bar_width);
  };
  if (!legend.scale.empty()) word(legend.scale, c.text);
  if (!legend.symbol.latex.empty()) {
    draw_formula(ImGui::GetWindowDrawList(), {x, top + ImGui::GetFontBaked()->Ascent}, legend.symbol.latex,
                 px(name_size), c.role(legend.symbol.role));
  }
  x += legend.name_width + gap;
  word(legend.less, c.dim);
  half(-1, legend.is_fading ? -0.5F : 0);
  half(legend.is_fading ? -0.5F : 0, legend.is_fading ? 0 : 1);
  x += gap;
  word(legend.more, c.dim);
  if (!legend.beyond.empty()) word(legend.beyond, c.dim);
}

}  // namespace palimpsest
