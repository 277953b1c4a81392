#include "app/views/symbol_tip.h"

#include <imgui.h>
#include <imgui_internal.h>  // for a tooltip in the place of another

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/glossary.h"

namespace palimpsest {

namespace {

constexpr double rest = 0.35;  // seconds until a pointer rests
constexpr float widest = 340;  // design pixels

/// The symbol that the pointer is on, and since when.
struct Resting {
  std::optional<PointedSymbol> symbol;
  double since = 0;
  SymbolMeaning meaning;
};

/// In the place of what the item that the symbol stands on says of itself: one tip at a time.
void say(const SymbolMeaning& known) {
  if (!ImGui::BeginTooltipEx(ImGuiTooltipFlags_OverridePrevious, ImGuiWindowFlags_None)) return;
  ImGui::PushTextWrapPos(style::px(widest));
  formula(known.latex, style::px(style::formula_label + 4), style::colours().text);
  ImGui::TextUnformatted(known.words.c_str());
  if (!known.papers.empty()) {
    const style::TextStyle text(style::Text::caption, style::colours().dim);
    ImGui::TextUnformatted(known.papers.c_str());
  }
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace

const std::optional<PointedSymbol>& symbol_under_pointer() { return context_local<Resting>().symbol; }

void draw_symbol_tip(const Application& application) {
  auto& resting = context_local<Resting>();
  const PointedSymbol* pointed = pointed_symbol();
  if (!pointed) {
    resting.symbol.reset();
    return;
  }
  if (resting.symbol != *pointed) {
    const Sight& sight = application.session.sight();
    resting = {*pointed, ImGui::GetTime(), meaning(*pointed, sight.trace ? sight.trace->symbols : Symbols())};
  }
  if (ImGui::GetTime() - resting.since >= rest && !resting.meaning.latex.empty()) say(resting.meaning);
}

}  // namespace palimpsest
