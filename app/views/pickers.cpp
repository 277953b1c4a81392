#include "app/views/pickers.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/studio/command_search.h"
#include "app/widgets/controls.h"
#include "app/widgets/filter_box.h"
#include "app/widgets/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr float variant_width = 380;

/// A popup `width` screen pixels wide below the last item, moved to the left where the window ends. Esc
/// closes it.
bool begin_list(const char* name, float width) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float end = viewport->WorkPos.x + viewport->WorkSize.x - style::px(style::panel_gap);
  ImGui::SetNextWindowPos(
      {std::min(ImGui::GetItemRectMin().x, end - width), ImGui::GetItemRectMax().y + style::px(4)});
  if (!ImGui::BeginPopup(name, ImGuiWindowFlags_NoMove)) return false;
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
  return true;
}

float list_height() { return std::min(ImGui::GetMainViewport()->WorkSize.y * 0.66F, style::px(560)); }

std::string data_title(const Session& session) {
  return session.data().title.empty() ? "Open…" : session.data().title;
}

/// What the title leaves open: which head, and whether something was changed.
std::string data_state(const Session& session) {
  std::string words;
  if (session.data().heads * session.data().batches > 1)
    words += fmt::format(" · head {}", session.choice().head);
  if (!session.choice().edits.empty()) words += " · changed";
  return words;
}

const std::string opens_list = " ▾";

/// As many parts of "overwriting a fact · Gated DeltaNet · layer 1" as have room; a piece of the first where
/// that has none.
std::string leading_parts(const std::string& title, float room) {
  const std::string_view between = " · ";
  for (std::size_t end = title.size(); end != std::string::npos && end > 0;
       end = title.rfind(between, end - 1)) {
    const std::string_view part = std::string_view(title).substr(0, end);
    if (text_extent(part).x <= room) return std::string(part);
  }
  return shortened(title, room);
}

/// How wide the pill of the longest name is, and at which scale that was measured.
struct WidestRule {
  float scale = 0;
  float width = 0;
};

/// The rules that have what is typed in their names or sentences.
std::vector<const Variant*> rules_with(std::string_view typed) {
  std::vector<const Variant*> left;
  for (const Variant& variant : variants()) {
    if (has_words(variant.label + ' ' + variant.words + ' ' + variant.id, typed)) left.push_back(&variant);
  }
  return left;
}

void choose_variant(Application& application, const Variant& variant) {
  Choice choice = application.session.choice();
  choice.variant = variant.id;
  application.session.choose(std::move(choice));
  ImGui::CloseCurrentPopup();
}

/// A line to type in above the rules; the arrow keys go through those that are left, Enter takes the one they
/// stand on. It opens at the present one.
void list_of_rules(Application& application) {
  struct Rules {
    FilterBox filter;
    std::string at;  // the id of the rule that Enter takes
    bool scrolls = false;
  };
  auto& rules = context_local<Rules>();
  const std::string present = application.session.choice().variant;
  if (ImGui::IsWindowAppearing()) rules = {.filter = {}, .at = present, .scrolls = true};
  const bool entered = rules.filter.draw("Find a rule", style::px(variant_width));
  const std::vector<const Variant*> left = rules_with(rules.filter.typed);
  const auto at = std::ranges::find(left, rules.at, &Variant::id);
  const std::ptrdiff_t last = std::ssize(left) - 1;
  if (last >= 0 && (at == left.end() || rules.filter.moved != 0)) {
    const std::ptrdiff_t next = at == left.end() ? 0 : at - left.begin() + rules.filter.moved;
    rules.at = left[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(next, 0, last))]->id;
    rules.scrolls = true;
  }
  ImGui::BeginChild("rules", {style::px(variant_width), list_height()});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(2)));
  const float width = ImGui::GetContentRegionAvail().x - style::px(4);
  for (const Variant* variant : left) {
    const std::string label =
        variant->label + (variant->id == present ? " · the present one" : "") + "###" + variant->id;
    if (choice_row(label.c_str(), variant->words, variant->id == rules.at, width))
      choose_variant(application, *variant);
    if (variant->id == rules.at && rules.scrolls) ImGui::SetScrollHereY();
  }
  rules.scrolls = false;
  if (left.empty()) style::caption("No rule has these words.");
  ImGui::PopStyleVar();
  ImGui::EndChild();
  if (entered && !left.empty()) choose_variant(application, find_variant(rules.at));
}

}  // namespace

std::string data_label(const Session& session, float most) {
  const std::string title = data_title(session);
  const std::string whole = title + data_state(session) + opens_list;
  if (style::pill_size(whole.c_str()).x <= most) return whole;
  // The title before all else; what it leaves open only beside its first part.
  const float room = most - style::pill_size(opens_list.c_str()).x;
  const std::string state = data_state(session);
  const float beside = room - text_extent(state).x;
  const bool has_state = text_extent(std::string_view(title).substr(0, title.find(" · "))).x <= beside;
  return has_state ? leading_parts(title, beside) + state + opens_list
                   : leading_parts(title, room) + opens_list;
}

float data_picker_width(const Application& application, float most) {
  return style::pill_size(data_label(application.session, most).c_str()).x;
}

void data_picker(Application& application, float most) {
  const std::string label = data_label(application.session, most) + "###data";
  command_button(application, "data.list", [&] { return style::pill_button(label.c_str()); });
}

float variant_picker_width(const Variant& present) {
  if (ImGui::GetWindowWidth() < style::px(narrow_bar))
    return std::min(style::pill_size((present.label + opens_list).c_str()).x, style::px(208));
  auto& [scale, widest] = context_local<WidestRule>();
  if (scale != style::scale()) {
    scale = style::scale();
    widest = 0;
    for (const Variant& variant : variants())
      widest = std::max(widest, style::pill_size((variant.label + opens_list).c_str()).x);
  }
  return std::min(widest, style::px(240));
}

void variant_picker(Application& application) {
  const Variant& present = find_variant(application.session.choice().variant);
  const float width = variant_picker_width(present);
  const float room = width - style::pill_size("").x - text_extent(opens_list).x;
  const std::string name = shortened(present.label, room);
  const std::string label = name + opens_list + "###variant";
  if (style::pill_button(label.c_str(), false, 0, width)) ImGui::OpenPopup("variant list");
  tooltip("The rule by which the memory is rewritten",
          key_name(find_command(application, "variant.next").key));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(style::px(8), style::px(8)));
  if (begin_list("variant list", style::px(variant_width + 16))) {
    list_of_rules(application);
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace palimpsest
