#include "app/views/pickers.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <utility>

#include "app/gl/context_local.h"
#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/widgets/choice_row.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/base/error.h"
#include "core/io/capture.h"

namespace palimpsest {

namespace {

constexpr float column_width = 340;
constexpr float variant_width = 380;

/// What lies in the folder of captures; looked up anew whenever the picker opens.
struct Captures {
  std::vector<CaptureSummary> list;
  std::string problem;

  void look_up() {
    problem.clear();
    try {
      list = list_captures(asset("captures"));
    } catch (const Error& error) {
      list.clear();
      problem = error.what();
    }
  }
};

/// A popup `width` screen pixels wide below the last item, moved to the left where the window ends. Esc and
/// the key that opens it close it.
bool begin_list(const char* name, float width, ImGuiKey key) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float end = viewport->WorkPos.x + viewport->WorkSize.x - style::px(style::panel_gap);
  ImGui::SetNextWindowPos(
      {std::min(ImGui::GetItemRectMin().x, end - width), ImGui::GetItemRectMax().y + style::px(4)});
  if (!ImGui::BeginPopup(name, ImGuiWindowFlags_NoMove)) return false;
  const bool leaves = ImGui::IsKeyPressed(ImGuiKey_Escape, false) || ImGui::IsKeyPressed(key, false);
  if (leaves && !ImGui::IsWindowAppearing()) ImGui::CloseCurrentPopup();
  return true;
}

float list_height() { return std::min(ImGui::GetMainViewport()->WorkSize.y * 0.66F, style::px(560)); }

void open_data(Application& application, const std::string& id) {
  application.session.open_named(id);
  ImGui::CloseCurrentPopup();
}

/// How the text begins, as far as it fits on one line.
std::string first_words(const std::string& text, float width) {
  constexpr std::size_t longest = 160;  // bytes; more never fits
  std::string begin = text.substr(0, text.size() > longest ? text.rfind(' ', longest) : text.size());
  std::ranges::replace(begin, '\n', ' ');
  const style::TextStyle style(style::Text::caption);
  return shortened(begin, width);
}

std::string rule_label(const std::string& rule) {
  const auto table = variants();
  const auto found = std::ranges::find(table, rule, &Variant::id);
  return found == table.end() ? "Other" : found->label;
}

/// The name of a group, in line with the names of its rows.
void heading(const std::string& words) {
  ImGui::Dummy({0, style::px(4)});
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + style::px(12));
  style::caption(words);
}

void capture_row(Application& application, const CaptureSummary& capture, float width) {
  const std::string stem = capture.file.stem().string();
  const std::string id = "capture:" + stem;
  const std::string words =
      capture.error.empty() ? first_words(capture.text, width - style::px(24)) : capture.error;
  ImGui::BeginDisabled(!capture.error.empty());
  const bool selected = application.session.data().id == id;
  if (choice_row((capture.name + "###" + stem).c_str(), words, selected, width)) {
    open_data(application, id);
  }
  if (selected && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
  ImGui::EndDisabled();
}

/// Captures under the name of their rule, in the order of the variants.
void list_of_captures(Application& application, float width) {
  const auto& captures = context_local<Captures>();
  if (!captures.problem.empty()) style::caption(captures.problem);
  std::vector<std::string> rules;
  for (const Variant& variant : variants()) rules.push_back(variant.id);
  for (const CaptureSummary& capture : captures.list) {
    if (std::ranges::find(rules, capture.rule) == rules.end()) rules.push_back(capture.rule);
  }
  for (const std::string& rule : rules) {
    bool headed = false;
    for (const CaptureSummary& capture : captures.list) {
      if (capture.rule != rule) continue;
      if (!headed) heading(rule_label(rule));
      headed = true;
      capture_row(application, capture, width);
    }
  }
}

void list_of_presets(Application& application, float width) {
  for (const Preset& preset : presets()) {
    const std::string prefix = "preset:" + preset.id + "?";
    const bool selected = application.session.data().id.starts_with(prefix);
    const std::string label = preset.label + "###" + preset.id;
    if (!choice_row(label.c_str(), preset.words, selected, width)) continue;
    open_data(application, usual_preset_id(preset));
  }
}

void column(const char* name, const char* title, Application& application,
            void (*list)(Application&, float)) {
  ImGui::BeginGroup();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + style::px(12));
  {
    const style::TextStyle style(style::Text::strong);
    ImGui::TextUnformatted(title);
  }
  ImGui::BeginChild(name, {style::px(column_width), list_height()});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(4)));
  list(application, ImGui::GetContentRegionAvail().x - style::px(4));
  ImGui::PopStyleVar();
  ImGui::EndChild();
  ImGui::EndGroup();
}

std::string data_title(const Session& session) {
  return session.data().title.empty() ? "Open…" : session.data().title;
}

std::string variant_label(const Application& application) {
  return find_variant(application.session.choice().variant).label + " ▾###variant";
}

void open_a_file(Application& application) {
  command_button(application, "data.open", [] {
    const bool pressed = style::pill_button("Open a file…");
    if (pressed) ImGui::CloseCurrentPopup();
    return pressed;
  });
  ImGui::SameLine();
  style::key_hint(key_name(find_command(application, "data.open").key).c_str());
}

}  // namespace

float data_picker_width(const Application& application) {
  return style::pill_size((data_title(application.session) + " ▾").c_str()).x;
}

void data_picker(Application& application, float width) {
  const std::string title = data_title(application.session);
  const float padding = style::pill_size("").x;
  const std::string label = shortened(title, width - padding - text_extent(" ▾").x) + " ▾###data";
  const bool asked = std::exchange(application.show_data, false);
  if (style::pill_button(label.c_str()) || asked) {
    context_local<Captures>().look_up();
    ImGui::OpenPopup("data list");
  }
  tooltip(title);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(style::px(12), style::px(12)));
  if (begin_list("data list", style::px(2 * column_width + 40), ImGuiKey_D)) {
    column("captures", "From trained models", application, list_of_captures);
    ImGui::SameLine(0, style::px(16));
    column("presets", "Made up to show one thing", application, list_of_presets);
    open_a_file(application);
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

float variant_picker_width(const Application& application) {
  return style::pill_size(variant_label(application).c_str()).x;
}

void variant_picker(Application& application) {
  if (style::pill_button(variant_label(application).c_str())) ImGui::OpenPopup("variant list");
  tooltip("The rule by which the memory is rewritten",
          key_name(find_command(application, "variant.next").key));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(style::px(8), style::px(8)));
  if (begin_list("variant list", style::px(variant_width + 16), ImGuiKey_V)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(2)));
    for (const Variant& variant : variants()) {
      const std::string label = variant.label + "###" + variant.id;
      const bool present = variant.id == application.session.choice().variant;
      if (!choice_row(label.c_str(), variant.words, present, style::px(variant_width))) continue;
      Choice choice = application.session.choice();
      choice.variant = variant.id;
      application.session.choose(std::move(choice));
      ImGui::CloseCurrentPopup();
    }
    ImGui::PopStyleVar();
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace palimpsest
