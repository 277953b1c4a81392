#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gl/context_local.h"
#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/views/adjusting.h"
#include "app/views/data_entries.h"
#include "app/views/panels.h"
#include "app/views/preset_sliders.h"
#include "app/views/what_to_look_at.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

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

void preset_sizes(Application& application) {
  const std::string& id = application.session.data().id;
  const Preset* preset = preset_of(id);
  if (!preset) return;
  style::paragraph(preset->words);
  PresetSize size = preset_size(id);
  if (preset_sliders(*preset, size)) application.session.open_named(preset_id(*preset, size));
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

/// The captures that notes may name; looked up once for each data set.
const std::vector<std::string>& captures(const std::string& id) {
  struct Known {
    std::string id;
    std::vector<std::string> names;
  };
  auto& known = context_local<Known>();
  if (known.id != id) known = {id, capture_names(data_entries({}))};
  return known.names;
}

void texts(Session& session) {
  const DataSet& data = session.data();
  for (const std::string& note : session.computed()->inputs.notes) style::caption(note);
  if (const std::string words = unused(*session.computed()); !words.empty()) style::caption(words);
  if (!data.text.empty()) {
    style::caption("The text");
    style::paragraph(data.text);
  }
  const auto linked = what_to_look_at(data, captures(data.id), false);
  if (!data.source.empty()) {
    style::caption("Where it is from");
    style::paragraph(data.source);
  }
  if (linked) session.open_named("capture:" + *linked);
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
