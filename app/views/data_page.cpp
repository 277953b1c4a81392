#include "app/views/overlays.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gl/context_local.h"
#include "app/session/inputs.h"
#include "app/studio/application.h"
#include "app/views/data_details.h"
#include "app/widgets/controls.h"
#include "app/widgets/filter_box.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float widest = 1560;
constexpr float highest = 1000;
constexpr float margin = 56;  // between the page and the window's edges, all together
constexpr float list_width = 320;
constexpr float narrow_list_width = 264;
constexpr float narrow = 1280;

struct DataPage {
  std::vector<DataEntry> entries;
  FilterBox filter;
  std::string chosen;     // id, for a preset with its sizes
  bool scrolls = false;   // the chosen row is to be brought into sight
  bool is_empty = false;  // nothing has the words of the filter
  std::string previewed = {};
};

std::string_view key_of(std::string_view id) { return id.substr(0, id.find('?')); }

void begin_page(DataPage& page, Application& application) {
  for (const std::string& file : application.recent_files)  // somebody may have written it anew
    application.session.questions().forget(DataPreview{file});
  page.entries = data_entries(application.recent_files);
  page.filter = {};
  page.chosen = application.session.data().id;
  page.scrolls = true;
  const bool is_listed = std::ranges::any_of(
      page.entries, [&](const DataEntry& entry) { return entry.key() == key_of(page.chosen); });
  if (!is_listed && !page.entries.empty()) page.chosen = page.entries.front().id;
}

void choose(DataPage& page, const std::string& id) {
  page.chosen = id;
  page.scrolls = true;
}

/// The arrow keys go through the rows that are left; what is typed chooses the first unless the chosen one is
/// among them.
void move(DataPage& page, const std::vector<const DataEntry*>& left) {
  if (left.empty()) return;
  const auto present = std::ranges::find(left, key_of(page.chosen), &DataEntry::key);
  const bool is_left = present != left.end();
  if (page.filter.changed && !is_left) choose(page, left.front()->id);
  if (page.filter.moved == 0) return;
  const auto last = static_cast<std::ptrdiff_t>(left.size()) - 1;
  const std::ptrdiff_t at = is_left ? present - left.begin() + page.filter.moved : 0;
  choose(page, left[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, last))]->id);
}

/// The rows; true when one was clicked twice.
bool rows(DataPage& page, const std::vector<const DataEntry*>& left) {
  bool opens = false;
  const float width = ImGui::GetContentRegionAvail().x - style::px(4);
  std::string_view group;
  for (const DataEntry* entry : left) {
    if (entry->group != group) {
      ImGui::Dummy({0, style::px(group.empty() ? 0 : 6)});
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + style::px(12));
      style::caption(entry->group);
      group = entry->group;
    }
    const bool selected = entry->key() == key_of(page.chosen);
    const std::string words = [&] {
      const style::TextStyle text(style::Text::caption);
      return shortened(entry->problem.empty() ? entry->words : entry->problem, width - style::px(24));
    }();
    const std::string label = entry->name + "###" + std::string(entry->key());
    if (choice_row(label.c_str(), words, selected, width)) {
      if (!selected) page.chosen = entry->id;
      opens = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    }
    if (selected && page.scrolls) ImGui::SetScrollHereY();
  }
  page.scrolls = false;
  return opens;
}

void open_a_file(Application& application) {
  command_button(application, "data.open", [&] {
    const bool pressed = style::pill_button("Open a file…");
    if (pressed) application.show_data = false;
    return pressed;
  });
  ImGui::SameLine();
  style::key_hint(key_name(find_command(application, "data.open").key).c_str());
}

/// The list on the left; true when the chosen data are to be opened.
bool list(DataPage& page, Application& application, ImVec2 size) {
  ImGui::BeginGroup();
  const bool entered = page.filter.draw("Find data", size.x);
  const std::vector<const DataEntry*> left = filtered(page.entries, page.filter.typed);
  move(page, left);
  page.is_empty = left.empty();
  const float below = style::px(40);
  ImGui::BeginChild("entries", {size.x, size.y - ImGui::GetItemRectSize().y - below - style::px(8)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(4)));
  const bool opens = rows(page, left);
  ImGui::PopStyleVar();
  ImGui::EndChild();
  open_a_file(application);
  ImGui::EndGroup();
  return opens || (entered && !left.empty());
}

/// In the place of a preview, where nothing is left to preview.
void nothing_matches(DataPage& page) {
  style::paragraph(fmt::format("Nothing matches “{}”.", page.filter.typed));
  style::caption("The filter looks for every word that is typed in the names, groups and texts of the data.");
  ImGui::Dummy({0, style::px(4)});
  if (style::pill_button("Show all data")) {
    page.filter.typed.clear();
    page.scrolls = true;
  }
}

}  // namespace

const std::string& previewed_data() { return context_local<DataPage>().previewed; }

void draw_data_page(Application& application) {
  if (!begin_card("All data", application.show_data)) return;
  auto& page = context_local<DataPage>();
  if (ImGui::IsWindowAppearing()) begin_page(page, application);
  const ImVec2 window = ImGui::GetMainViewport()->WorkSize;
  const ImVec2 padding = ImGui::GetStyle().WindowPadding;
  const ImVec2 size = {std::min(window.x - style::px(margin), style::px(widest)) - 2 * padding.x,
                       std::min(window.y - style::px(margin), style::px(highest)) - 2 * padding.y};
  const float column = style::px(window.x > style::px(narrow) ? list_width : narrow_list_width);
  const bool asked = list(page, application, {column, size.y});
  ImGui::SameLine(0, style::px(24));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddLine({at.x - style::px(12), at.y}, {at.x - style::px(12), at.y + size.y},
                                      style::colours().edge, style::px(style::line));
  ImGui::BeginChild("details", {size.x - column - style::px(24), size.y});
  page.previewed = page.is_empty ? "" : page.chosen;
  if (page.is_empty) {
    nothing_matches(page);
  } else if (!page.chosen.empty()) {
    const DataWish wish = data_details(application, page.chosen, page.entries, asked);
    if (wish.choose) {
      page.filter.typed.clear();
      choose(page, *wish.choose);
    }
    if (wish.opened) application.show_data = false;
  }
  ImGui::EndChild();
  end_card();
}

}  // namespace palimpsest
