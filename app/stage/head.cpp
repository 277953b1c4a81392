#include "app/stage/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/stage/fading_cells.h"
#include "app/widgets/formula.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float least_height = 40;   // of the formula
constexpr float margin = 6;          // below it
constexpr float small_formula = 20;  // the same where there is little height
constexpr float small_height = 28;
constexpr float small_margin = 2;
constexpr float formula_distance = 44;  // between two formulas
const std::string nothing_lit = "\n";   // no tensor is called so

}  // namespace

LatexStyle stage_latex(std::string lit) {
  return {.colour =
              [](Role role, bool is_lit) {
                return style::hex(is_lit ? style::colours().role(role) : style::colours().role_dim(role));
              },
          .lit = std::move(lit)};
}

HeadFormulas head_formulas(const StageView& view, const Symbols& symbols) {
  HeadFormulas formulas;
  for (const StageFormula& formula : view.rule) {
    if (formula.is_lit) formulas.present = formulas.latex.size();
    formulas.latex.push_back(
        latex(formula.equation, symbols, stage_latex(formula.is_lit ? formula.part : nothing_lit)));
  }
  return formulas;
}

void draw_head(const HeadFormulas& formulas, bool is_low) {
  if (formulas.latex.empty()) return;
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 position = ImGui::GetCursorScreenPos();
  const float gap = px(formula_distance);
  float size = px(is_low ? small_formula : style::formula);
  const auto extent = [&](std::size_t i) { return measure_formula(formulas.latex[i], size); };
  float taken = extent(formulas.present).width;
  if (taken > width) {
    size *= width / taken;
    taken = extent(formulas.present).width;
  }
  std::size_t first = formulas.present;
  std::size_t last = formulas.present;
  for (bool grown = true; grown;) {
    grown = false;
    const auto take = [&](std::size_t i) {
      const float more = extent(i).width + gap;
      if (taken + more > width) return false;
      taken += more;
      return grown = true;
    };
    if (last + 1 < formulas.latex.size() && take(last + 1)) ++last;
    if (first > 0 && take(first - 1)) --first;
  }
  float height = px(is_low ? small_height : least_height);
  for (std::size_t i = first; i <= last; ++i) height = std::max(height, extent(i).height);
  float x = position.x + (width - taken) / 2;
  const float middle = extent(formulas.present).baseline - extent(formulas.present).height / 2;
  for (std::size_t i = first; i <= last; ++i) {
    draw_formula(ImGui::GetWindowDrawList(), {x, position.y + height / 2 + middle}, formulas.latex[i], size,
                 style::colours().text);
    x += extent(i).width + gap;
  }
  ImGui::Dummy({width, height + px(is_low ? small_margin : margin)});
}

float widest_formula(const HeadFormulas& formulas) {
  const float size = px(style::formula);
  float widest = 0;
  for (const std::string& latex : formulas.latex)
    widest = std::max(widest, measure_formula(latex, size).width / size);
  return widest;
}

float highest_formula(const HeadFormulas& formulas) {
  const float size = px(style::formula);
  float highest = 0;
  for (const std::string& latex : formulas.latex)
    highest = std::max(highest, measure_formula(latex, size).height / size);
  return highest;
}

void draw_present_formula(const HeadFormulas& formulas, float right, float middle, float size) {
  const std::string& latex = formulas.latex[formulas.present];
  const FormulaSize extent = measure_formula(latex, size);
  const float top = middle - extent.height / 2;
  draw_formula(ImGui::GetWindowDrawList(), {right - extent.width, top + extent.baseline}, latex, size,
               style::colours().text);
}

void draw_warning(const std::string& warning) {
  if (warning.empty()) return;
  const style::TextStyle alarm(style::Text::caption, style::colours().alarm);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(warning.c_str());
  ImGui::PopTextWrapPos();
}

namespace {

using style::px;

constexpr float small_bar = 18;
constexpr float legend_gap = 6;
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
    return words.empty() ? 0 : text_extent(words).x + px(legend_gap);
  };
  return legend.name_width + part(legend.scale) + part(legend.less) + part(legend.more) +
         part(legend.beyond) + 2 * px(legend.bar_width) + 2 * px(legend_gap);
}

}  // namespace

Legend legend_of(const StageScene& scene, bool shared) {
  const bool pointed = scene.focus && scene.record.contains(scene.focus->tensor);
  const std::string& tensor = pointed ? scene.focus->tensor : scene.view.lit;
  const auto symbol = scene.symbols.find(tensor);
  const ColourRange range = scene.ranges.of(tensor);
  Legend legend{.symbol =
                    symbol == scene.symbols.end() ? Symbol{.latex = {}, .words = tensor} : symbol->second};
  if (shows_fading(tensor, scene.record.at(tensor))) {
    legend.is_fading = true;
    legend.less = "0";
    legend.more = "1 is kept whole";
    legend.scale = "log of what is lost";
    legend.meaning =
        "1 is paper, nothing fades. They grow with the logarithm of what is lost, from 0.0001 to all of it.";
  } else {
    legend.less = "−" + plain_number(range.largest, 2);
    legend.more = "+" + plain_number(range.largest, 2);
    legend.scale = range.is_joint ? "one scale" : !shared ? "own scales" : range.is_own ? "own scale" : "";
    legend.beyond = beyond_words(scene.ranges.beyond(tensor));
    legend.meaning =
        fmt::format("{}. What lies beyond the ends has the colour of the end.",
                    range.is_joint ? "one scale for what is added up here"
                    : range.is_own ? "this picture has its own scale"
                                   : "one scale for all tensors of this kind in the whole sequence");
  }
  if (!legend.symbol.latex.empty())
    legend.name_width = measure_formula(legend.symbol.latex, px(name_size)).width;
  legend.width = width_of(legend);
  return legend;
}

Legend fitting(const Legend& legend, float room) {
  Legend without_beyond = legend;
  without_beyond.beyond.clear();
  Legend brief = without_beyond;  // without the words that are worth least: whose scale it is
  brief.scale = legend.is_fading ? "log" : "";
  if (legend.is_fading) brief.more = "1";
  const auto small = [](Legend shorter) {
    shorter.bar_width = small_bar;
    return shorter;
  };
  Legend shown = legend;
  for (const Legend& shorter : {without_beyond, small(without_beyond), brief, small(brief)}) {
    if (shown.width <= room) break;
    shown = shorter;
    shown.width = width_of(shown);
  }
  return shown;
}

void draw(const Legend& legend, float height) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float gap = px(legend_gap);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  float x = from.x;
  const float top = from.y + std::floor((height - text_extent("0").y) / 2);
  ImGui::Dummy({legend.width, height});
  tooltip(fmt::format("The colours of {}: {}", legend.symbol.words, legend.meaning), "C");

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
