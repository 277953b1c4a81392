#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/session/prove_questions.h"
#include "app/studio/application.h"
#include "app/studio/bars.h"
#include "app/studio/command.h"
#include "app/views/form_words.h"
#include "app/views/pickers.h"
#include "app/views/story_line.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr float widest_data_pill = 420;
constexpr float least_data_pill = 132;  // beside what the text tells
constexpr float palette_width = 36;
constexpr float around_story = 16;
constexpr float tab_gap = 12;
constexpr float small_bar = 1000;  // narrower ones have no room for all

/// The bar's window across the top of the viewport, with its rounded surface drawn.
void begin_bar(float height) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->WorkPos);
  ImGui::SetNextWindowSize({viewport->WorkSize.x, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin("Top bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  const float gap = style::px(style::panel_gap);
  const ImVec2 from = {viewport->WorkPos.x + gap,
                       viewport->WorkPos.y + std::min(gap, std::round(height / 8))};
  const ImVec2 to = {viewport->WorkPos.x + viewport->WorkSize.x - gap, viewport->WorkPos.y + height - gap};
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, to, c.panel, style::px(style::corner));
  list->AddRect(from, to, c.edge, style::px(style::corner), style::px(style::line));
  ImGui::SetCursorScreenPos(
      {from.x + style::px(style::panel_padding), std::round((from.y + to.y - style::px(28)) / 2)});
}

void program_name() {
  const style::TextStyle style(style::Text::strong);
  const ImVec2 extent = text_extent("Palimpsest");
  const ImVec2 from = ImGui::GetCursorScreenPos();
  draw_text({from.x, from.y + (style::px(28) - extent.y) / 2}, style::colours().text, "Palimpsest");
  ImGui::Dummy({extent.x, style::px(28)});
  ImGui::SameLine(0, style::px(16));
  const ImVec2 line = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddLine({line.x, line.y + style::px(6)}, {line.x, line.y + style::px(22)},
                                      style::colours().faint, style::px(1));
  ImGui::Dummy({style::px(1), style::px(28)});
  ImGui::SameLine(0, style::px(tab_gap));
}

void workspace_tabs(Application& application) {
  if (application.workspaces().size() < 2) return;
  for (const Workspace& workspace : application.workspaces()) {
    if (&workspace != &application.workspaces().front()) ImGui::SameLine(0, style::px(tab_gap));
    const bool present = &workspace == &application.workspace();
    command_button(application, std::string("workspace.") + workspace.id,
                   [&] { return style::tab_button(workspace.name, present); });
  }
}

/// In place of the badge, as wide as it, so that nothing jumps.
void computing(ImVec2 size) {
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  ImGui::GetWindowDrawList()->AddRect(from, {from.x + size.x, from.y + size.y}, c.edge, size.y / 2,
                                      style::px(1));
  style::spinner({from.x + style::px(16), from.y + size.y / 2}, c.dim);
  const float height = text_extent("computing…").y;
  draw_text({from.x + style::px(28), from.y + (size.y - height) / 2}, c.dim, "computing…");
}

bool is_small_bar() { return ImGui::GetWindowWidth() < style::px(small_bar); }

/// In little room without the number, which the tooltip tells.
std::string badge_words(const Computation& computed) {
  const std::string words = agreement_words(computed);
  return is_small_bar() ? words.substr(0, words.find(" · ")) : words;
}

void agreement_badge(Application& application, const Computation& computed) {
  const std::string label = badge_words(computed) + "###agreement";
  if (application.session.computing()) {
    computing(style::pill_size(label.c_str()));
    return;
  }
  const style::Palette& c = style::colours();
  const Index bad = computed.agree ? -1 : first_bad_token(computed);
  if (style::pill_button(label.c_str(), false, is_in_order(computed) ? c.good : c.alarm) && bad >= 0) {
    application.playing = false;
    application.show_welcome = false;
    application.session.go_to_token(bad);
  }
  if (!wants_tooltip()) return;
  tooltip(agreement_explained(computed) +
          (bad >= 0 ? "\nA click goes to the first token at which they differ." : ""));
}

/// What is wrong on purpose, in every workspace, and the way out. Its bare name may take `most`, its whole
/// sentence `room`. Returns whether a fault is in.
bool fault_pill(Application& application, float room, float most) {
  const InjectedFault& fault = application.session.state().prove.fault;
  if (fault.id.empty()) return false;
  const style::Palette& c = style::colours();
  const std::string in_full = fmt::format("{}, {}", find_fault(fault.id).label, name(fault.form));
  const float beside = style::pill_size("").x + text_extent("wrong on purpose:   ×").x;
  std::string words =
      shortened("wrong on purpose: " + in_full, std::max(room, style::px(120)) - style::pill_size("  ×").x);
  if (room < beside + style::px(60))
    words = shortened(find_fault(fault.id).label,
                      std::max({room, most, style::px(120)}) - style::pill_size("  ×").x);
  const bool pressed = style::pill_button((words + "  ×###fault").c_str(), false, c.alarm);
  tooltip(fault_explained(fault));
  if (pressed) perform(find_command(application, "fault.out"), application);
  return true;
}

/// "Ctrl P": a newcomer's way to everything else.
void palette_button(Application& application) {
  const char* command = "help.commands";
  std::string key = key_name(find_command(application, command).key);
  std::ranges::replace(key, '+', ' ');
  command_button(application, command, [&] { return style::word_button(key.c_str(), 28); });
}

}  // namespace

void draw_top_bar(Application& application, float height) {
  begin_bar(height);
  if (ImGui::GetWindowWidth() >= style::px(narrow_bar)) program_name();
  workspace_tabs(application);
  const auto computed = application.session.computed();
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float badge =
      computed ? std::max(style::pill_size((badge_words(*computed) + "###agreement").c_str()).x,
                          style::pill_size(is_small_bar() ? "3 forms agree" : "3 forms agree · 8.8e-16").x)
               : 0;
  // From the right edge, so that nothing there moves when the names on the left change.
  const float palette =
      ImGui::GetWindowWidth() - style::px(style::panel_gap + style::panel_padding) - style::px(palette_width);
  const float agreement = palette - style::px(16) - badge;
  ImGui::SameLine(0, style::px(around_story));
  const float variant_width = variant_picker_width(find_variant(application.session.choice().variant));
  const float pickers = variant_width + style::px(least_data_pill) + 2 * gap + style::px(around_story);
  const float between = agreement - ImGui::GetCursorPosX() - pickers;
  const float beside_data =
      std::max(between - style::px(96), style::px(160));  // whose name is to be read too
  if (!fault_pill(application, beside_data, between)) draw_story_line(application, between, style::px(28));
  ImGui::SameLine(0, style::px(around_story));
  const float room = agreement - ImGui::GetCursorPosX() - variant_width - 2 * gap;
  const float most = std::min(std::max(room, style::px(80)), style::px(widest_data_pill));
  const float data_width = data_picker_width(application, most);
  ImGui::SetCursorPosX(std::max(agreement - 2 * gap - data_width - variant_width, ImGui::GetCursorPosX()));
  variant_picker(application);
  ImGui::SameLine();
  data_picker(application, most);
  ImGui::SameLine();
  ImGui::SetCursorPosX(std::max(agreement, ImGui::GetCursorPosX()));
  if (computed) agreement_badge(application, *computed);
  ImGui::SameLine();
  ImGui::SetCursorPosX(std::max(palette, ImGui::GetCursorPosX()));
  palette_button(application);
  ImGui::End();
}

}  // namespace palimpsest
