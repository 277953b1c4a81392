#include "app/stage/legend.h"

#include <fmt/format.h>

#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float bar_width = 44;  // of the colours on either side of 0
constexpr float part_gap = 6;
constexpr float name_size = 15;

void draw_bar(ImVec2 position, float height, float from, float to) {
  const float width = px(bar_width);
  const float middle = position.y + height / 2;
  for (float at = 0; at < width; ++at) {
    const Rgb8 shade = colour(style::colours().map, from + (to - from) * at / width, 1);
    ImGui::GetWindowDrawList()->AddRectFilled({position.x + at, middle - px(4)},
                                              {position.x + at + 1, middle + px(4)}, style::colour(shade));
  }
}

}  // namespace

Legend legend_of(const StageScene& scene, bool shared) {
  const bool pointed = scene.focus && scene.record.contains(scene.focus->tensor);
  const std::string& tensor = pointed ? scene.focus->tensor : scene.view.lit;
  const auto symbol = scene.symbols.find(tensor);
  const ColourRange range = scene.ranges.of(tensor);
  Legend legend{
      .symbol = symbol == scene.symbols.end() ? Symbol{.latex = {}, .words = tensor} : symbol->second,
      .is_own = range.is_own,
      .less = fmt::format("−{:.2g}", range.largest),
      .more = fmt::format("+{:.2g}", range.largest),
      .scale = shared ? "" : "own scales"};
  if (!legend.symbol.latex.empty())
    legend.name_width = measure_formula(legend.symbol.latex, px(name_size)).width;
  const style::TextStyle text(style::Text::caption);
  const float gaps = px(part_gap) * (legend.scale.empty() ? 5 : 6);
  legend.width = legend.name_width + text_extent(legend.scale).x + text_extent(legend.less).x +
                 text_extent(legend.more).x + text_extent("0").x + 2 * px(bar_width) + gaps;
  return legend;
}

float room_beside(const Legend& legend) { return legend.width + px(3 * part_gap); }

void draw(const Legend& legend) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float gap = px(part_gap);
  const ImVec2 resume = ImGui::GetCursorScreenPos();
  const float top = ImGui::GetWindowPos().y - ImGui::GetScrollY() + px(style::panel_padding);
  const float height = text_extent("0").y;
  float x = resume.x + ImGui::GetContentRegionAvail().x - legend.width;
  ImGui::SetCursorScreenPos({x, top});
  ImGui::Dummy({legend.width, height});
  tooltip(fmt::format("The colours of {}: {}. What lies beyond the ends has the colour of the end.",
                      legend.symbol.words,
                      legend.is_own ? "this picture has its own scale"
                                    : "one scale for all tensors of this kind in the whole sequence"),
          "C");
  ImGui::SetCursorScreenPos(resume);

  const auto word = [&](std::string_view shown, ImU32 colour) {
    draw_text({x, top}, colour, shown);
    x += text_extent(shown).x + gap;
  };
  const auto half = [&](float from, float to) {
    draw_bar({x, top}, height, from, to);
    x += px(bar_width) + gap;
  };
  if (!legend.scale.empty()) word(legend.scale, c.text);
  if (!legend.symbol.latex.empty()) {
    draw_formula(ImGui::GetWindowDrawList(), {x, top + ImGui::GetFontBaked()->Ascent}, legend.symbol.latex,
                 px(name_size), c.role(legend.symbol.role));
  }
  x += legend.name_width + gap;
  word(legend.less, c.dim);
  half(-1, 0);
  word("0", c.dim);
  half(0, 1);
  word(legend.more, c.dim);
}

}  // namespace palimpsest
