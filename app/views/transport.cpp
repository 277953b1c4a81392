#include "app/views/transport.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <string>

#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/widgets/controls.h"
#include "app/widgets/icon_button.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using Grain = Session::Grain;

// In design pixels.
constexpr float grain_and_speed = 390;  // what the choice of grain and the speed take, with the gaps
constexpr float narrowest_position = 260;
constexpr float widest_position = 420;

struct NamedGrain {
  const char* name;
  Grain grain;
};

constexpr std::array<NamedGrain, 3> grains = {
    {{"operation", Grain::operation}, {"token", Grain::token}, {"chunk", Grain::chunk}}};

const char* grain_name(Grain grain) { return std::ranges::find(grains, grain, &NamedGrain::grain)->name; }

void button(Application& application, const char* label, Icon icon, const std::string& command) {
  command_button(application, command, [&] { return icon_button(label, icon); });
}

void buttons(Application& application) {
  const std::string grain = grain_name(application.grain);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(4), style::px(8)));
  button(application, "to the start", Icon::to_start, "time.start");
  ImGui::SameLine();
  button(application, "back", Icon::back, grain + ".back");
  ImGui::SameLine();
  button(application, "play", application.playing ? Icon::pause : Icon::play, "time.play");
  ImGui::SameLine();
  button(application, "forwards", Icon::forwards, grain + ".forward");
  ImGui::SameLine();
  button(application, "to the end", Icon::to_end, "time.end");
  ImGui::PopStyleVar();
}

/// A word of the row, on its middle line.
void word(std::string_view text, style::Text font, ImU32 colour) {
  const style::TextStyle style(font, colour);
  const float height = text_extent(text).y;
  const float row = style::px(28);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  draw_text({from.x, from.y + (row - height) / 2}, colour, text);
  ImGui::Dummy({text_extent(text).x, row});
  ImGui::SameLine(0, 0);
}

/// "step 3 of 6: What is there now", with the row where the step makes one row at a time.
std::string step_words(const Trace& trace, const Cursor& cursor) {
  const Block block = trace.block(cursor.block);
  const Operation& operation = trace.operation(cursor);
  std::string words = fmt::format("step {} of {}: {}", cursor.operation + 1,
                                  trace.phase(block).operations.size(), operation.title);
  if (operation.by_row) words += fmt::format(", row {} of 0–{}", cursor.row, block.count - 1);
  return words;
}

void position(Application& application, float width) {
  const Session& session = application.session;
  const Trace* trace = application.session.trace();
  if (!trace || trace->block_count() == 0) return;
  const style::Palette& c = style::colours();
  const float start = ImGui::GetCursorPosX();
  word("token ", style::Text::body, c.dim);
  word(fmt::format("{}", session.token()), style::Text::strong, c.text);
  word(fmt::format(" of 0–{}", trace->tokens - 1), style::Text::body, c.dim);
  const float rest = start + width - ImGui::GetCursorPosX();
  const style::TextStyle style(style::Text::body);
  word(shortened(" · " + step_words(*trace, session.cursor()), rest), style::Text::body, c.dim);
}

/// The first line that a newcomer reads: what to press. The only filled shape in the row.
void welcome() {
  const style::Palette& c = style::colours();
  const char* words = "Press → for the next step, Space to play, ? for all keys.";
  const style::TextStyle style(style::Text::strong);
  const ImVec2 extent = text_extent(words);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 size = {extent.x + style::px(32), style::px(28)};
  ImGui::GetWindowDrawList()->AddRectFilled(from, {from.x + size.x, from.y + size.y}, c.text, size.y / 2);
  draw_text({from.x + style::px(16), from.y + (size.y - extent.y) / 2}, c.panel, words);
  ImGui::Dummy(size);
  ImGui::SameLine(0, 0);
}

void grain_choice(Application& application) {
  word("by", style::Text::caption, style::colours().dim);
  for (const NamedGrain& row : grains) {
    ImGui::SameLine(0, style::px(12));
    if (style::tab_button(row.name, application.grain == row.grain)) application.grain = row.grain;
    tooltip(fmt::format("Buttons and playing move by one {}.", row.name));
  }
}

void speed(Application& application) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, style::px(8)));
  button(application, "slower", Icon::minus, "time.slower");
  ImGui::SameLine();
  const style::Palette& c = style::colours();
  const std::string words = fmt::format("{:g} steps/s", static_cast<double>(application.steps_per_second));
  const style::TextStyle style(style::Text::caption);
  const float width = std::max(text_extent(words).x, text_extent("0.25 steps/s").x);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  draw_text(
      {from.x + (width - text_extent(words).x) / 2, from.y + (style::px(28) - text_extent(words).y) / 2},
      c.dim, words);
  ImGui::Dummy({width, style::px(28)});
  ImGui::SameLine();
  button(application, "faster", Icon::plus, "time.faster");
  ImGui::PopStyleVar();
}

struct LegendEntry {
  ImU32 colour;
  const char* word;
};

/// What the bars mean, for the bars that there are.
std::vector<LegendEntry> legend_entries(const Computation& computed) {
  const style::Palette& c = style::colours();
  const TokenFacts facts = computed.tokens.empty() ? TokenFacts() : computed.tokens.front();
  std::vector<LegendEntry> entries;
  if (facts.alpha) entries.push_back({c.gate, "kept α"});
  if (facts.beta) entries.push_back({c.strength, "written β"});
  if (facts.recall) {
    entries.push_back({c.error, "error before"});
    entries.push_back({c.good, "after"});
  }
  return entries;
}

float legend_width(const std::vector<LegendEntry>& entries) {
  const style::TextStyle style(style::Text::caption);
  float width = 0;
  for (const LegendEntry& entry : entries) width += style::px(32) + std::ceil(text_extent(entry.word).x);
  return width - style::px(16);
}

void legend(const std::vector<LegendEntry>& entries, float width) {
  align_right(width);
  ImVec2 position = ImGui::GetCursorScreenPos();
  position.y += style::px(7);
  for (const LegendEntry& entry : entries) {
    ImGui::SetCursorScreenPos(position);
    style::legend(entry.colour, entry.word);
    position.x = ImGui::GetItemRectMax().x + style::px(16);
  }
}

}  // namespace

void draw_transport(Application& application) {
  const Computation* computed = application.session.computed();
  if (!computed) return;
  const std::vector<LegendEntry> entries = legend_entries(*computed);
  const float legend_space = legend_width(entries);

  buttons(application);
  ImGui::SameLine(0, style::px(20));
  const Trace* trace = application.session.trace();
  const bool has_steps = trace && trace->block_count() > 0;
  if (application.show_welcome && has_steps) {
    welcome();
  } else {
    // Where we are goes before the legend where there is not room for both.
    const float start = ImGui::GetCursorPosX();
    const float rest = ImGui::GetContentRegionAvail().x - style::px(grain_and_speed);
    const bool both = rest - legend_space > style::px(narrowest_position);
    const float width =
        std::clamp(both ? rest - legend_space : rest, style::px(120), style::px(widest_position));
    position(application, width);
    ImGui::SetCursorPosX(start + width);  // whatever the words: what follows stays where it is
  }
  ImGui::SameLine(0, style::px(20));
  grain_choice(application);
  ImGui::SameLine(0, style::px(20));
  speed(application);
  ImGui::SameLine(0, 0);
  const bool fits = ImGui::GetContentRegionAvail().x > legend_space + style::px(16);
  if (fits && !entries.empty()) legend(entries, legend_space);
}

}  // namespace palimpsest
