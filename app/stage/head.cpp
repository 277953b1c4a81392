#include "app/stage/head.h"

#include <algorithm>

#include "app/widgets/formula.h"
#include "app/widgets/style.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float least_height = 40;   // of the formula
constexpr float margin = 6;          // below it
constexpr float small_formula = 20;  // the same where there is little height
constexpr float small_height = 28;
constexpr float small_margin = 2;
constexpr float distance = 44;         // between two formulas
const std::string nothing_lit = "\n";  // no tensor is called so

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
  const float gap = px(distance);
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

}  // namespace palimpsest
