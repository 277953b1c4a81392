#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/views/adjusting.h"
#include "app/views/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/base/error.h"

namespace palimpsest {

namespace {

constexpr Index most_pills = 9;  // more heads than this go into a list

/// One of a few as pills, or of many as a list. Returns the chosen one.
Index pick(const char* words, Index present, Index count) {
  Index chosen = present;
  ImGui::PushID(words);
  ImGui::AlignTextToFramePadding();
  style::caption(words);
  ImGui::SameLine(0, style::px(12));
  if (count > most_pills) {
    int value = static_cast<int>(present);
    ImGui::SetNextItemWidth(style::px(120));
    if (ImGui::InputInt("##number", &value)) chosen = std::clamp<Index>(value, 0, count - 1);
  } else {
    for (Index i = 0; i < count; ++i) {
      if (i > 0) ImGui::SameLine(0, style::px(14));
      if (style::tab_button(fmt::format("{}", i).c_str(), i == present)) chosen = i;
    }
  }
  ImGui::PopID();
  return chosen;
}

void head_choice(Application& application) {
  const DataSet& data = application.session.data();
  const Index present = application.session.choice().head;
  Index batch = present / data.heads;
  Index head = present % data.heads;
  if (data.batches > 1) batch = pick("batch", batch, data.batches);
  if (data.heads > 1) head = pick("head", head, data.heads);
  if (batch * data.heads + head == present) return;
  Choice choice = application.session.choice();
  choice.head = batch * data.heads + head;
  application.session.choose(std::move(choice));
}

/// A size of a preset; the data are made anew when the mouse lets go, since that starts from the first token.
bool size_slider(const char* words, Index* size, Index smallest, Index largest) {
  ImGuiStorage* memory = ImGui::GetStateStorage();
  const ImGuiID key = ImGui::GetID(words) + 1;
  int value = memory->GetInt(key, 0) > 0 ? memory->GetInt(key) : static_cast<int>(*size);
  style::SliderLook<int> look;
  look.minimum = static_cast<int>(smallest);
  look.maximum = static_cast<int>(largest);
  look.reset = std::clamp(16, look.minimum, look.maximum);
  look.logarithmic = true;
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool changed = style::slider("", words, &value, look);
  const bool finished = ImGui::IsItemDeactivated() || (changed && !ImGui::IsItemActive());
  memory->SetInt(key, finished ? 0 : ImGui::IsItemActive() ? value : 0);
  if (!finished || value == *size) return false;
  *size = value;
  return true;
}

void preset_sizes(Application& application) {
  const std::string& id = application.session.data().id;
  const auto all = presets();
  const auto preset =
      std::ranges::find_if(all, [&](const Preset& row) { return id.starts_with("preset:" + row.id + "?"); });
  if (preset == all.end()) return;
  style::paragraph(preset->words);
  PresetSize size = preset_size(id);
  bool changed = size_slider("tokens", &size.tokens, std::max<Index>(preset->fewest_tokens, 1), 4096);
  changed |= size_slider("key channels K", &size.dk, 1, 128);
  changed |= size_slider("value channels V", &size.dv, 1, 128);
  ImGui::AlignTextToFramePadding();
  style::caption(fmt::format("seed {}", size.seed));
  ImGui::SameLine(0, style::px(12));
  if (style::pill_button("another seed")) {
    ++size.seed;
    changed = true;
  }
  if (!changed) return;
  try {
    application.session.open(make_preset(preset_id(*preset, size)));
  } catch (const Error& error) {
    application.session.set_message(error.what());
  }
}

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

/// A plain sentence first; what was measured follows when asked for.
void what_to_look_at(const DataSet& data) {
  style::caption("What to look at");
  const std::string_view sentence = first_look(data.id);
  if (sentence.empty()) {
    style::paragraph(data.notes);
    return;
  }
  style::paragraph(sentence);
  ImGuiStorage* memory = ImGui::GetStateStorage();
  const ImGuiID key = ImGui::GetID("all notes");
  const bool all = memory->GetBool(key);
  if (style::tab_button(all ? "less###notes" : "more###notes", false)) memory->SetBool(key, !all);
  if (all) style::paragraph(data.notes);
}

/// Gates that are in the data and that the rule has no use for.
std::string unused(const Computation& computed) {
  const bool has_fixed_decay = computed.sequence.settings.parameters.contains("gamma");  // made from theirs
  std::string names;
  for (const std::string name : {"alpha", "g", "beta"}) {
    if (name != "beta" && has_fixed_decay) continue;
    const bool is_there = computed.data->arrays.find(name) != computed.data->arrays.end();
    if (is_there && !computed.inputs.arrays->contains(name)) names += (names.empty() ? "" : " and ") + name;
  }
  return names.empty() ? names : fmt::format("This rule does not use the data's {}.", names);
}

void texts(const Session& session) {
  const DataSet& data = session.data();
  const bool is_preset = data.id.starts_with("preset:");
  for (const std::string& note : session.computed()->inputs.notes) style::caption(note);
  if (const std::string words = unused(*session.computed()); !words.empty()) style::caption(words);
  if (!data.text.empty()) {
    style::caption("The text");
    style::paragraph(data.text);
  }
  if (!data.notes.empty() && !is_preset) what_to_look_at(data);
  if (!data.notes.empty() && is_preset) {
    style::caption("How it is made");
    style::paragraph(data.notes);
  }
  if (!data.source.empty()) {
    style::caption("Where it is from");
    style::paragraph(data.source);
  }
}

}  // namespace

void draw_data(Application& application) {
  if (style::begin_panel("What goes in")) {
    if (application.session.computed()) {
      head_choice(application);
      adjusting(application);
      preset_sizes(application);
      texts(application.session);
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
