#include "app/views/keys_help.h"

#include <imgui.h>

#include <string_view>
#include <vector>

#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/views/card.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr std::size_t column_count = 3;
constexpr float key_width = 100;

struct Group {
  std::string_view name;
  std::vector<const Command*> rows;
};

/// The commands that have a key.
std::vector<Group> groups(const Application& application) {
  std::vector<Group> all;
  for (const Command& command : application.commands()) {
    if (command.key == 0) continue;
    if (all.empty() || all.back().name != command.group) all.push_back({command.group, {}});
    all.back().rows.push_back(&command);
  }
  return all;
}

/// The groups in order, in columns of about the same height.
std::vector<std::vector<Group>> columns(std::vector<Group> groups) {
  std::size_t rows = 0;
  for (const Group& group : groups) rows += group.rows.size();
  const std::size_t target = (rows + column_count - 1) / column_count;
  std::vector<std::vector<Group>> all(1);
  std::size_t height = 0;
  for (Group& group : groups) {
    if (height > 0 && height + group.rows.size() > target + 1 && all.size() < column_count) {
      all.emplace_back();
      height = 0;
    }
    height += group.rows.size();
    all.back().push_back(std::move(group));
  }
  return all;
}

void draw_row(const Command& command) {
  const float x = ImGui::GetCursorPosX();
  style::key_hint(key_name(command.key).c_str());
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(x + style::px(key_width));
  const style::TextStyle style(style::Text::body);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 extent = text_extent(command.words);
  draw_text({from.x, from.y + (style::px(20) - extent.y) / 2}, style::colours().text, command.words);
  ImGui::Dummy({extent.x, style::px(20)});
}

void draw_column(const std::vector<Group>& column) {
  ImGui::BeginGroup();
  for (const Group& group : column) {
    if (&group != &column.front()) ImGui::Dummy({0, style::px(4)});
    style::caption(group.name);
    for (const Command* row : group.rows) draw_row(*row);
  }
  ImGui::EndGroup();
}

}  // namespace

void draw_keys_help(Application& application) {
  if (!begin_card("Keys", application.show_keys)) return;
  if (!ImGui::IsWindowAppearing() && ImGui::IsKeyChordPressed(ImGuiMod_Shift | ImGuiKey_Slash))
    application.show_keys = false;
  {
    const style::TextStyle style(style::Text::title);
    ImGui::TextUnformatted("The keys");
  }
  ImGui::Dummy({0, style::px(4)});
  const std::vector<std::vector<Group>> all = columns(groups(application));
  for (const std::vector<Group>& column : all) {
    if (&column != &all.front()) ImGui::SameLine(0, style::px(40));
    draw_column(column);
  }
  end_card();
}

}  // namespace palimpsest
