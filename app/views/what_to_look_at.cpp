#include "app/views/what_to_look_at.h"

#include <imgui.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/session/paths.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

std::vector<FirstLook> read_first_looks() {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  std::vector<FirstLook> looks;
  for (const auto& text : nlohmann::json::parse(read_text_file(asset("captures/stories.json"), most_bytes))) {
    FirstLook& look = looks.emplace_back(FirstLook{text.at("captures"), text.at("story"), text.at("watch")});
    for (const auto& word : text.value("words", nlohmann::json::array())) {
      look.words.push_back(
          {word.at("token"), word.at("label"), word.at("what"), word.value("stored", std::vector<Index>())});
    }
  }
  return looks;
}

}  // namespace

const FirstLook* first_look(std::string_view id) {
  static const std::vector<FirstLook> looks = read_first_looks();
  if (!id.starts_with("capture:")) return nullptr;
  const auto found = std::ranges::find_if(
      looks, [&](const FirstLook& look) { return id.find(look.captures) != std::string_view::npos; });
  return found == looks.end() ? nullptr : &*found;
}

std::optional<std::string> what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                                           bool all) {
  if (data.notes.empty()) return std::nullopt;
  const bool is_preset = data.id.starts_with("preset:");
  style::caption(is_preset ? "How it is made" : "What to look at");
  if (const FirstLook* look = first_look(data.id)) {
    style::paragraph(look->story + " " + look->watch);
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
