#include "app/stage/head.h"

#include <algorithm>

#include "app/widgets/formula.h"
#include "app/widgets/style.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float least_height = 36;  // of the formula
constexpr float margin = 4;         // below the formula, and below the words

void draw_formula_in(float width, const std::string& latex) {
  float size = px(style::formula);
  const FormulaSize natural = measure_formula(latex, size);
  if (natural.width > width) size *= width / natural.width;
  const FormulaSize extent = measure_formula(latex, size);
  const ImVec2 position = ImGui::GetCursorScreenPos();
  const float height = std::max(extent.height, px(least_height));
  draw_formula(
      ImGui::GetWindowDrawList(),
      {position.x + (width - extent.width) / 2, position.y + (height - extent.height) / 2 + extent.baseline},
      latex, size, style::colours().text);
  ImGui::Dummy({width, height + px(margin)});
}

void wrapped(const std::string& words) {
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
}

}  // namespace

std::string head_latex(const StageView& view, const Symbols& symbols) {
  return latex(view.written, symbols,
               {.colour =
                    [](Role role, bool lit) {
                      return style::hex(lit ? style::colours().role(role) : style::colours().role_dim(role));
                    },
                .lit = view.written_part});
}

void draw_head(const std::string& latex, const std::string& sentence, const std::string& warning) {
  const float width = ImGui::GetContentRegionAvail().x;
  draw_formula_in(width, latex);
  const style::TextStyle body(style::Text::body, style::colours().dim);
  const ImVec2 extent = ImGui::CalcTextSize(sentence.c_str(), nullptr, false, width);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max((width - extent.x) / 2, 0.0F));
  wrapped(sentence);
  if (!warning.empty()) {
    const style::TextStyle alarm(style::Text::caption, style::colours().alarm);
    wrapped(warning);
  }
  ImGui::Dummy({0, px(margin)});
}

}  // namespace palimpsest
