#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/session/counted.h"
#include "app/studio/application.h"
#include "app/studio/bars.h"
#include "app/studio/command.h"
#include "app/views/form_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/icon_button.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float item_height = 20;

void line(std::string_view text, ImU32 colour, float width) {
  const std::string shown = shortened(text, width);
  const ImVec2 extent = text_extent(shown);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  draw_text({from.x, from.y + (style::px(item_height) - extent.y) / 2}, colour, shown);
  ImGui::Dummy({extent.x, style::px(item_height)});
  if (shown != text) tooltip(text);
}

std::string residual_words(const Computation& computed) {
  if (!computed.is_complete()) {
    const auto is_known = [](const auto& form) { return form->is_compared || !form->missing.empty(); };
    return fmt::format("comparing the forms: {} of {} are done",
                       std::ranges::count_if(computed.forms, is_known), computed.forms.size());
  }
  return fmt::format("worst distance from {}: {} ({}, {}) · allowed {}",
                     reference_words(computed.choice.precision), scientific(computed.worst),
                     name(computed.worst_form), name(computed.choice.precision),
                     scientific(computed.tolerance));
}

std::string size_words(const Session& session, const Computation& computed) {
  const Sequence& sequence = computed.sequence;
  std::string words =
      fmt::format("{} · K {} · V {}", counted(sequence.tokens, "token", "tokens"), sequence.dk, sequence.dv);
  const DataSet& data = session.data();
  if (data.heads > 1)
    words += fmt::format(" · head {} of 0–{}", computed.choice.head % data.heads, data.heads - 1);
  if (data.batches > 1)
    words += fmt::format(" · batch {} of 0–{}", computed.choice.head / data.heads, data.batches - 1);
  return words;
}

void message(Session& session, float width) {
  if (icon_button("close message", Icon::close, item_height)) {
    session.clear_message();
    return;
  }
  tooltip("Close this message");
  ImGui::SameLine(0, style::px(8));
  const style::TextStyle style(style::Text::caption);
  std::string text = session.message();
  std::ranges::replace(text, '\n', ' ');
  line(text, style::colours().alarm, width - style::px(item_height + 8));
}

/// What is waited for: a turning arc, words, and a way out.
void waiting(Session& session, const Session::Waiting& wait, float width) {
  const style::Palette& c = style::colours();
  const style::TextStyle style(style::Text::caption);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  style::spinner({from.x + style::px(6), from.y + style::px(item_height) / 2}, c.dim);
  ImGui::Dummy({style::px(12), style::px(item_height)});
  ImGui::SameLine(0, style::px(8));
  const std::string far = wait.progress > 0 ? fmt::format(" · {:.0f} %", 100 * wait.progress) : "";
  line(fmt::format("{} · {:.1f} s{}", wait.words, wait.seconds, far), c.text, width - style::px(80));
  ImGui::SameLine(0, style::px(16));
  if (style::word_button("stop", item_height)) session.stop();
  tooltip("Gives it up; what is seen stays.");
}

void figures(const Session& session, float width) {
  const Computation* computed = session.computed();
  if (!computed) return;
  const style::Palette& c = style::colours();
  const style::TextStyle style(style::Text::caption);
  line(residual_words(*computed) + "    " + size_words(session, *computed), computed->agree ? c.dim : c.alarm,
       width);
}

}  // namespace

void draw_status_bar(Application& application, float height) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x, viewport->WorkPos.y + viewport->WorkSize.y - height});
  ImGui::SetNextWindowSize({viewport->WorkSize.x, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(style::px(style::panel_gap + style::panel_padding),
                                                          (height - style::px(item_height)) / 2));
  ImGui::Begin("Status bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  const bool dark = application.view.theme == style::Theme::dark;
  const char* other = dark ? "light theme###theme" : "dark theme###theme";
  const float right = style::px(140);
  const float width = ImGui::GetContentRegionAvail().x - right;
  ImGui::BeginGroup();
  if (!application.session.message().empty()) {
    message(application.session, width);
  } else if (!application.notice.empty()) {
    const style::TextStyle style(style::Text::caption);
    line(application.notice, style::colours().good, width);
  } else if (!application.refusal.empty()) {
    const style::TextStyle style(style::Text::caption);
    line(application.refusal, style::colours().text, width);
  } else if (const auto wait = application.session.waiting()) {
    waiting(application.session, *wait, width);
  } else {
    figures(application.session, width);
  }
  ImGui::EndGroup();
  ImGui::SameLine();
  ImGui::SetCursorPosX(viewport->WorkSize.x - style::px(style::panel_gap + style::panel_padding) - right);
  command_button(application, "view.theme", [&] { return style::word_button(other, item_height); });
  ImGui::SameLine(0, style::px(20));
  command_button(application, "help.keys", [] { return style::word_button("? keys", item_height); });
  ImGui::End();
}

}  // namespace palimpsest
