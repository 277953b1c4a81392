#include "app/views/overlays.h"

#include <imgui.h>
#include <imgui_internal.h>  // to scroll no further than needed

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/studio/command_search.h"
#include "app/views/commands_here.h"
#include "app/widgets/controls.h"
#include "app/widgets/filter_box.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float widest = 680;
constexpr float row_height = 30;
constexpr float most_rows = 12;
constexpr float row_padding = 12;
constexpr float group_width = 72;
constexpr float key_room = 96;
constexpr float explanation_height = 36;  // two lines
constexpr float above_and_below = 330;    // of the window's height: all but the rows

constexpr std::size_t most_remembered = 8;

struct PaletteState {
  FilterBox line;
  int chosen = 0;
  bool scrolls = false;            // the chosen row is to be brought into sight
  std::vector<Command> here = {};  // what is found in what is open
  std::string looked_for = {};     // and by which words
};

/// The line to type in; true on Enter. The arrow keys go through the rows meanwhile.
bool typed_words(PaletteState& palette, float width) {
  const bool entered = palette.line.draw("What is to be done, or found?", width, true);
  palette.chosen += palette.line.moved;
  if (palette.line.changed) palette.chosen = 0;
  if (palette.line.changed || palette.line.moved != 0) palette.scrolls = true;
  return entered;
}

void draw_line(ImVec2 from, ImU32 colour, std::string_view text) {
  draw_text({from.x, from.y + (style::px(row_height) - text_extent(text).y) / 2}, colour, text);
}

void draw_words(const Command& command, const std::string& reason, ImVec2 from, float width) {
  const style::Palette& c = style::colours();
  const float padding = style::px(row_padding);
  const float end = from.x + width - padding - style::px(key_room);
  {
    const style::TextStyle style(style::Text::caption);
    draw_line({from.x + padding, from.y}, c.dim, command.group);
  }
  const float x = from.x + padding + style::px(group_width);
  float reached = x;
  {
    const style::TextStyle style(style::Text::body);
    const std::string words = shortened(command.words, end - x);
    draw_line({x, from.y}, reason.empty() ? c.text : c.dim, words);
    reached += text_extent(words).x + padding;
  }
  if (!reason.empty()) {
    const style::TextStyle style(style::Text::caption);
    draw_line({reached, from.y}, c.dim, shortened(reason, end - reached));
  }
}

/// One command; true when it was clicked.
bool row(const Command& command, const Application& application, bool chosen, float width) {
  const bool clicked = ImGui::InvisibleButton(command.id.c_str(), {width, style::px(row_height)});
  if (!ImGui::IsItemVisible()) return clicked;
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetItemRectMin();
  if (chosen) {
    ImGui::GetWindowDrawList()->AddRectFilled(from, ImGui::GetItemRectMax(), c.lit_ground(), style::px(6));
  }
  draw_words(command, why_not(command, application), from, width);
  if (command.key != 0) {
    const std::string key = key_name(command.key);
    const style::TextStyle style(style::Text::caption);
    draw_line({from.x + width - style::px(row_padding) - text_extent(key).x, from.y}, c.dim, key);
  }
  return clicked;
}

/// Whether the pointer moves over the last item: at rest it leaves the choice to the keys.
bool is_pointed_at() {
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  return ImGui::IsItemHovered() && (moved.x != 0 || moved.y != 0);
}

/// The commands found; the one that was clicked, if any.
const Command* rows(const std::vector<const Command*>& found, const Application& application,
                    PaletteState& palette, ImVec2 size) {
  const Command* clicked = nullptr;
  ImGui::BeginChild("list", size);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const float width = ImGui::GetContentRegionAvail().x;
  for (int i = 0; i < std::ssize(found); ++i) {
    const Command* command = found[static_cast<std::size_t>(i)];
    if (row(*command, application, palette.chosen == i, width)) clicked = command;
    if (is_pointed_at()) palette.chosen = i;
    if (palette.chosen == i && std::exchange(palette.scrolls, false))
      ImGui::ScrollToItem(ImGuiScrollFlags_KeepVisibleEdgeY);
  }
  if (found.empty()) {
    ImGui::SetCursorPos({style::px(row_padding), style::px(6)});
    style::caption("Nothing has these words.");
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
  return clicked;
}

/// Why the chosen command cannot be done, or what it does; else how to choose another.
void explain(const Command* command, const Application& application, ImVec2 size) {
  ImGui::BeginChild("explanation", size, ImGuiChildFlags_None, ImGuiWindowFlags_NoScrollbar);
  ImGui::Indent(style::px(row_padding));
  const std::string reason = command ? why_not(*command, application) : "";
  if (!reason.empty())
    style::caption(reason);
  else if (command && !command->explained.empty())
    style::caption(command->explained);
  else
    style::caption("↑ and ↓ choose, Enter does it, Esc closes.");
  ImGui::EndChild();
}

void remember(std::vector<std::string>& recent, const std::string& id) {
  std::erase(recent, id);
  recent.insert(recent.begin(), id);
  recent.resize(std::min(recent.size(), most_remembered));
}

}  // namespace

const std::string& palette_words() { return context_local<PaletteState>().line.typed; }

void draw_palette(Application& application) {
  if (!begin_card("Commands", application.show_palette, CardPlace::top)) return;
  auto& palette = context_local<PaletteState>();
  if (ImGui::IsWindowAppearing())
    palette = {};
  else if (ImGui::IsKeyChordPressed(find_command(application, "help.commands").key))
    application.show_palette = false;
  const ImVec2 window = ImGui::GetMainViewport()->WorkSize;
  const float width = std::max(std::min(style::px(widest), window.x - style::px(96)), style::px(80));
  const float height = std::clamp(std::floor((window.y - style::px(above_and_below)) / style::px(row_height)),
                                  1.0F, most_rows) *
                       style::px(row_height);

  const bool entered = typed_words(palette, width);
  if (palette.looked_for != palette.line.typed) {
    palette.here = commands_here(application, palette.line.typed);
    palette.looked_for = palette.line.typed;
  }
  const auto found = search({application.commands(), palette.here}, palette.line.typed,
                            application.recent_commands, more_words);
  palette.chosen = std::clamp(palette.chosen, 0, std::max(static_cast<int>(found.size()) - 1, 0));
  const Command* wanted = rows(found, application, palette, {width, height});
  const Command* chosen = found.empty() ? nullptr : found[static_cast<std::size_t>(palette.chosen)];
  explain(chosen, application, {width, style::px(explanation_height)});
  if (entered) wanted = chosen;
  if (wanted && !why_not(*wanted, application).empty()) wanted = nullptr;  // its reason is in sight
  if (wanted) {
    application.show_palette = false;
    ImGui::CloseCurrentPopup();
  }
  end_card();
  if (!wanted) return;
  remember(application.recent_commands, wanted->id);
  perform(*wanted, application);
}

}  // namespace palimpsest
