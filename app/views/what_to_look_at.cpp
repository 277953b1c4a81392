#include "app/views/what_to_look_at.h"

#include <imgui.h>

#include <algorithm>

#include "app/widgets/controls.h"
#include "app/widgets/linked_text.h"

namespace palimpsest {

const FirstLook* first_look(std::string_view id) {
  static const FirstLook looks[] = {
      {"_overwrite_",
       "A red jar holds a key; later it holds a drum.",
       "Watch how much of the old answer is taken out when the new one is written.",
       {{6, "key", "stored"}, {42, "drum", "over it"}, {63, "a", "asked", {6, 42}}}},
      {"softmax_recall_",
       "Boxes hold things; then one is asked for.",
       "Watch which words come out just before the answer.",
       {{8, "key", "said"}, {41, "a", "asked", {8}}}},
      {"_recall_",
       "Boxes hold things; then they are asked for.",
       "Watch which words are written strongly, and what comes out just before an answer.",
       {{6, "key", "stored"}, {20, "map", "stored"}, {74, "a", "asked", {6, 20}}}},
      {"_prose_", "Ordinary prose.", "Watch at which words and marks the memory fades.", {}},
      {"_names_", "Names that come again.", "Watch which earlier piece of text each piece reads.", {}},
      {"_code_", "A short program.", "Watch which earlier piece of text each piece reads.", {}},
  };
  if (!id.starts_with("capture:")) return nullptr;
  const auto found = std::ranges::find_if(
      looks, [&](const FirstLook& look) { return id.find(look.name) != std::string_view::npos; });
  return found == std::end(looks) ? nullptr : found;
}

std::optional<std::string> what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                                           bool all) {
  if (data.notes.empty()) return std::nullopt;
  const bool is_preset = data.id.starts_with("preset:");
  style::caption(is_preset ? "How it is made" : "What to look at");
  if (const FirstLook* look = first_look(data.id)) {
    style::paragraph(std::string(look->story) + " " + look->watch);
    if (!all) {
      ImGuiStorage* memory = ImGui::GetStateStorage();
      const ImGuiID key = ImGui::GetID("all notes");
      const bool opened = memory->GetBool(key);
      if (style::tab_button(opened ? "less###notes" : "more###notes", false)) memory->SetBool(key, !opened);
      if (!opened) return std::nullopt;
    }
  }
  const style::TextStyle text(style::Text::body, style::colours().dim);
  return linked_text(data.notes, captures);
}

}  // namespace palimpsest
