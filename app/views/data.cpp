#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/studio/application.h"
#include "app/views/adjusting.h"
#include "app/views/knob.h"
#include "app/views/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/segment.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr Index most_segments = 64;  // more heads than this are typed

/// One of some as segments that wrap, or of very many as a number.
Index pick(const char* words, Index present, Index count) {
  Index chosen = present;
  ImGui::PushID(words);
  if (count > most_segments) {
    int value = static_cast<int>(present);
    style::caption(words);
    ImGui::SameLine(0, style::px(8));
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (ImGui::InputInt("##number", &value)) chosen = std::clamp<Index>(value, 0, count - 1);
    ImGui::PopID();
    return chosen;
  }
  const float width = style::segment_width(std::to_string(count - 1).c_str());
  const float room = ImGui::GetContentRegionAvail().x;
  float label = 0;
  {
    const style::TextStyle style(style::Text::caption);
    label = text_extent(words).x + style::px(8);
  }
  const auto in_a_row = static_cast<int>(std::clamp((room - label) / width, 1.0F, static_cast<float>(count)));
  const ImVec2 from = ImGui::GetCursorScreenPos();
  {
    const style::TextStyle style(style::Text::caption);
    draw_text({from.x, from.y + style::px(5)}, style::colours().dim, words);
  }
  const float left = from.x + room - static_cast<float>(in_a_row) * width;
  for (Index i = 0; i < count; ++i) {
    const int place = static_cast<int>(i) % in_a_row;
    const int row = static_cast<int>(i) / in_a_row;
    const int last = std::min(in_a_row, static_cast<int>(count) - row * in_a_row);
    ImGui::SetCursorScreenPos(
        {left + static_cast<float>(place) * width, from.y + static_cast<float>(row) * style::px(28)});
    const std::string name = std::to_string(i);
    if (style::segment(name.c_str(), i == present, style::segment_end(place, last), 24, width)) chosen = i;
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

/// What was made of the data, so that the rule can take them.
void notes(const Session& session) {
  for (const std::string& note : session.computed()->inputs.notes) style::caption(note);
  if (const std::string words = unused(*session.computed()); !words.empty()) style::caption(words);
}

/// Whether the chunk size is what one wants to turn here.
bool has_knob(const Session& session) {
  const Form form = session.choice().form;
  return has_chunks(form) && session.computed()->form(form).missing.empty();
}

}  // namespace

void draw_data(Application& application) {
  const Session& session = application.session;
  const bool knob = session.computed() && has_knob(session);
  if (style::begin_panel(knob ? "The knob: words in a chunk###goes in" : "What goes in###goes in") &&
      session.computed()) {
    if (knob) {
      draw_knob(application);
    } else {
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(3)));
      head_choice(application);
      adjusting(application);
      notes(session);
      ImGui::PopStyleVar();
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
