#include "app/views/data_details.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/session/inputs.h"
#include "app/studio/application.h"
#include "app/views/cell_table.h"
#include "app/views/head_tables.h"
#include "app/views/preset_sliders.h"
#include "app/views/story_line.h"
#include "app/views/what_to_look_at.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float column_gap = 32;
constexpr float two_columns = 860;  // design pixels; a narrower page has all of it one below the other

void heading(const char* words) {
  ImGui::Dummy({0, style::px(6)});
  const style::TextStyle style(style::Text::strong);
  ImGui::TextUnformatted(words);
}

/// "94 tokens · 4 heads · keys 64 · values 64 · q k v g beta o".
std::string sizes_in_words(const PreviewedData& preview) {
  const DataSet& data = *preview.data;
  const auto channels = [&](const char* name) { return data.arrays.find(name)->second.shape.back(); };
  std::vector<std::string> arrays;
  for (const auto& [name, array] : data.arrays) {
    if (array.rank() > 0) arrays.push_back(name);
  }
  const Index heads = data.heads * data.batches;
  return fmt::format("{} tokens · {} · keys of {}, values of {} numbers · {}", data.tokens,
                     heads == 1 ? "one head" : fmt::format("{} heads", heads), channels("k"), channels("v"),
                     fmt::join(arrays, " "));
}

/// Opens the data at a head and a word of one's choice; of those that are open, the word stays.
void open_head(Application& application, const std::string& id, const PreviewedData& preview, Index head,
               std::optional<Index> token = std::nullopt) {
  Session& session = application.session;
  SessionState next = session.state();
  next.head = head;
  if (session.data().id != id) {
    next.data = id;
    next.edits = {};
    next.place = {};
    if (!preview.data->rule.empty()) next.sides.front().variant = preview.variant->id;
    next.sides.front().settings = {};
  }
  if (token) next.place = {.token = *token};
  session.change(std::move(next));
}

/// The name and what opens it; true when that was asked for.
bool title_line(const std::string& title, const std::string& problem, bool is_open) {
  const float width = style::pill_size("Open ⏎").x;
  {
    const style::TextStyle text(style::Text::title);
    ImGui::AlignTextToFramePadding();
    const std::string shown = shortened(title, ImGui::GetContentRegionAvail().x - width - style::px(24));
    ImGui::TextUnformatted(shown.c_str());
    offer_whole(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), shown);
  }
  ImGui::SameLine();
  align_right(width);
  ImGui::BeginDisabled(!problem.empty());
  const bool pressed = style::pill_button("Open ⏎###open data", true);
  ImGui::EndDisabled();
  tooltip(!problem.empty() ? problem
          : is_open        ? "These are open; Enter goes back to them"
                           : "Opens these data and closes the page",
          problem.empty() ? "Enter" : "");
  return pressed;
}

void sliders(const std::string& id, DataWish& wish) {
  const Preset* preset = preset_of(id);
  if (!preset) return;
  heading("How large, and which random numbers");
  PresetSize size = preset_size(id);
  ImGui::PushID(preset->id.c_str());
  if (preset_sliders(*preset, size)) wish.choose = preset_id(*preset, size);
  ImGui::PopID();
}

/// The words at which something happens: a press opens the data there.
void words_to_see(Application& application, const std::string& id, const PreviewedData& preview,
                  DataWish& wish) {
  const FirstLook* look = first_look(id);
  if (!look || look->words.empty()) return;
  style::caption("Where to look");
  const ImVec2 from = ImGui::GetCursorScreenPos();
  if (const auto word = word_links(*look)) {
    const Session& session = application.session;
    open_head(application, id, preview, session.data().id == id ? session.choice().head : 0, word->token);
    bring_story_back(application);
    wish.opened = true;
  }
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({1, style::px(20)});
}

void texts(const DataSet& data, std::span<const DataEntry> entries, DataWish& wish) {
  const std::vector<std::string> captures = capture_names(entries);
  if (const auto linked = what_to_look_at(data, captures, true)) wish.choose = "capture:" + *linked;
  if (!data.text.empty()) {
    style::caption("The text");
    style::paragraph(data.text);
  }
  if (!data.source.empty()) {
    style::caption("Where it is from");
    style::paragraph(data.source);
  }
}

/// Pictures of the heads, then the numbers where the data are open.
void pictures(Application& application, const std::string& id, const PreviewedData& preview, DataWish& wish) {
  const Session& session = application.session;
  const bool is_open = session.data().id == id;
  if (is_open && has_head_tables(session)) {
    heading("What its heads remember: a click opens one");
    if (const auto head = head_tables(application)) {
      open_head(application, id, preview, *head);
      wish.opened = true;
    }
  }
  heading(preview.heads.size() == 1 ? "What its keys are like"
                                    : "What their keys are like: a click opens one");
  if (const auto head = head_pictures(preview, is_open ? session.choice().head : -1)) {
    open_head(application, id, preview, *head);
    wish.opened = true;
  }
  if (!is_open) return;
  heading("The word at the cursor");
  cell_table(application);
}

void waiting(const Known<PreviewedData>& answer) {
  if (!answer.reason.empty()) {
    const style::TextStyle text(style::Text::body, style::colours().alarm);
    style::paragraph(answer.reason);
  } else {
    style::caption("being looked at…");
  }
}

/// A saved place is opened, and says itself which data it belongs to.
DataWish saved_place(Application& application, const std::string& id, bool asked) {
  DataWish wish;
  const std::string name = std::filesystem::path(id).filename().string();
  const bool pressed = title_line(name, "", false);
  style::caption("A saved place: it goes back to its data, its rule and its word.");
  if (pressed || asked) wish.opened = application.open(id);
  if (!wish.opened && !application.session.message().empty()) {
    const style::TextStyle text(style::Text::body, style::colours().alarm);
    style::paragraph(application.session.message());
  }
  return wish;
}

}  // namespace

DataWish data_details(Application& application, const std::string& id, std::span<const DataEntry> entries,
                      bool asked) {
  if (id.ends_with(".json")) return saved_place(application, id, asked);
  DataWish wish;
  Session& session = application.session;
  const auto answer = session.questions().ask(DataPreview{id});
  const bool is_open = session.data().id == id;
  const bool is_shown = answer.value && (answer.value->data->id == id || answer.stale);
  std::string title = id;
  for (const DataEntry& entry : entries) {
    if (entry.key() == std::string_view(id).substr(0, id.find('?'))) title = entry.name;
  }
  if (title_line(is_shown ? answer.value->data->title : title, answer.reason, is_open) || asked) {
    if (answer.reason.empty()) {
      if (!is_open) session.open_named(id);
      wish.opened = true;
    }
  }
  if (is_shown) style::caption(sizes_in_words(*answer.value));
  const bool wide = ImGui::GetContentRegionAvail().x > style::px(two_columns);
  const float left = wide ? std::floor(ImGui::GetContentRegionAvail().x * 0.42F) : 0;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(8)));
  ImGui::BeginChild("words", {left, 0}, ImGuiChildFlags_AutoResizeY);
  sliders(id, wish);
  if (is_shown) words_to_see(application, id, *answer.value, wish);
  if (is_shown) texts(*answer.value->data, entries, wish);
  ImGui::EndChild();
  if (wide) ImGui::SameLine(0, style::px(column_gap));
  ImGui::BeginChild("pictures", {0, 0}, ImGuiChildFlags_AutoResizeY);
  if (is_shown)
    pictures(application, id, *answer.value, wish);
  else
    waiting(answer);
  ImGui::EndChild();
  ImGui::PopStyleVar();
  return wish;
}

}  // namespace palimpsest
