#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/scene/draw.h"
#include "app/studio/application.h"
#include "app/views/adjusting.h"
#include "app/views/head_tables.h"
#include "app/views/knob.h"
#include "app/views/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr Index most_segments = 64;  // more heads than this are typed
constexpr float segments_height = 30;
constexpr float title_gap = 10;     // between the panel's title and the heads beside it
constexpr float tight_padding = 6;  // of a segment where there is little room

std::string segment_label(Index i) { return std::to_string(i); }

/// How wide `words` and the segments 0 .. count-1 are on one line.
float picker_width(std::string_view words, Index count, float padding = style::segment_padding) {
  float width = 0;
  if (!words.empty()) {
    const style::TextStyle style(style::Text::caption);
    width = text_extent(words).x + style::px(8);
  }
  for (Index i = 0; i < count; ++i) width += style::segment_size(segment_label(i).c_str(), padding).x;
  return width;
}

/// One of some as segments that wrap, after `words`, and end at `end` on the screen; or of very many as a
/// number. Returns the chosen one.
Index pick(const char* id, std::string_view words, Index present, Index count, float end,
           float padding = style::segment_padding) {
  Index chosen = present;
  ImGui::PushID(id);
  if (count > most_segments) {
    int value = static_cast<int>(present);
    style::caption(words);
    ImGui::SameLine(0, style::px(8));
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (ImGui::InputInt("##number", &value)) chosen = std::clamp<Index>(value, 0, count - 1);
    ImGui::PopID();
    return chosen;
  }
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float left = std::max(end - picker_width(words, count, padding), from.x);
  const style::TextStyle caption(style::Text::caption);
  draw_text({left, from.y + style::px(6)}, style::colours().dim, words);
  const float begin = left + picker_width(words, 0);
  ImVec2 at = {begin, from.y};
  for (Index i = 0; i < count; ++i) {
    const std::string label = segment_label(i);
    const float width = style::segment_size(label.c_str(), padding).x;
    const bool is_last_of_row =
        i + 1 == count ||
        at.x + width + style::segment_size(segment_label(i + 1).c_str(), padding).x > end + 1;
    ImGui::SetCursorScreenPos(at);
    if (style::segment_button(label.c_str(), i == present,
                              {.first = at.x == begin, .last = is_last_of_row, .padding = padding}))
      chosen = i;
    tooltip(fmt::format("{} {} of 0–{}", id, i, count - 1));
    at = is_last_of_row ? ImVec2{begin, at.y + style::px(segments_height)} : ImVec2{at.x + width, at.y};
  }
  ImGui::PopID();
  return chosen;
}

void choose_head(Session& session, Index head) {
  Choice choice = session.choice();
  choice.head = head;
  session.choose(std::move(choice));
}

constexpr const char* usual_title = "What goes in";

float title_width() {
  const style::TextStyle text(style::Text::caption);
  return text_extent(usual_title).x;
}

void head_choice(Application& application) {
  if (has_head_tables(application.session)) {
    if (const auto head = head_tables(application)) choose_head(application.session, *head);
    return;
  }
  const DataSet& data = application.session.data();
  const Index present = application.session.choice().head;
  Index batch = present / data.heads;
  Index head = present % data.heads;
  const ImVec2 below = ImGui::GetCursorScreenPos();
  const float title = ImGui::GetWindowPos().y - ImGui::GetScrollY() + style::px(style::panel_padding);
  // As if there were no scroll bar: with this line saved, there is none, and if there is, it leaves room.
  const float end = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - style::px(style::panel_padding);
  const float inner = below.x + ImGui::GetContentRegionAvail().x;
  const float room = end - below.x - title_width() - style::px(title_gap);
  const bool can_be_beside = data.heads > 1 && data.batches == 1 && data.heads <= most_segments;
  const float padding = picker_width("", data.heads) <= room ? style::segment_padding : tight_padding;
  const bool is_beside_title = can_be_beside && picker_width("", data.heads, padding) <= room;
  if (data.batches > 1) batch = pick("batch", "batch", batch, data.batches, inner);
  if (is_beside_title) {
    ImGui::SetCursorScreenPos({below.x, title - style::px(6)});
    head = pick("head", "", head, data.heads, end, padding);
  } else if (data.heads > 1) {
    head = pick("head", "head", head, data.heads, inner);
  }
  if (is_beside_title) ImGui::SetCursorScreenPos(below);
  if (batch * data.heads + head == present) return;
  choose_head(application.session, batch * data.heads + head);
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
scene::Node notes(const Session& session) {
  scene::Nodes all;
  for (const std::string& note : session.computed()->inputs.notes) all.push_back(scene::caption(note));
  if (const std::string words = unused(*session.computed()); !words.empty())
    all.push_back(scene::caption(words));
  return scene::column(std::move(all)).named("notes");
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
  const std::string title = fmt::format("{}###goes in", knob ? "The knob: words in a chunk" : usual_title);
  if (style::begin_panel(title.c_str()) && session.computed()) {
    if (knob) {
      draw_knob(application);
    } else {
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(3)));
      head_choice(application);
      scene::show(
          scene::column({adjusting_numbers(application), adjusting_options(application), notes(session)})
              .named("data"));
      ImGui::PopStyleVar();
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
