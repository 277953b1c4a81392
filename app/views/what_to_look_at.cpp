#include "app/views/what_to_look_at.h"

#include <imgui.h>

#include <algorithm>

#include "app/widgets/controls.h"
#include "app/widgets/linked_text.h"

namespace palimpsest {

namespace {

/// What to look for in a capture, in a sentence for somebody who has never seen one.
std::string_view first_look(const std::string& id) {
  static constexpr std::pair<std::string_view, std::string_view> sentences[] = {
      {"_overwrite_",
       "The text says what a jar holds, and later that it holds something else. Watch how much of the old "
       "answer is taken out when the new one is written."},
      {"_recall_",
       "The text says what each box holds, then asks. Watch which words are written strongly, and what comes "
       "out just before an answer."},
      {"_prose_", "Ordinary prose. Watch at which words and marks the memory fades."},
      {"_names_", "Names that come again. Watch which earlier piece of text each piece reads."},
      {"_code_", "A short program. Watch which earlier piece of text each piece reads."},
  };
  if (!id.starts_with("capture:")) return {};
  const auto found = std::ranges::find_if(
      sentences, [&](const auto& row) { return id.find(row.first) != std::string::npos; });
  return found == std::end(sentences) ? std::string_view() : found->second;
}

}  // namespace

std::optional<std::string> what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                                           bool all) {
  if (data.notes.empty()) return std::nullopt;
  const bool is_preset = data.id.starts_with("preset:");
  style::caption(is_preset ? "How it is made" : "What to look at");
  const std::string_view sentence = first_look(data.id);
  if (!sentence.empty()) {
    style::paragraph(sentence);
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
