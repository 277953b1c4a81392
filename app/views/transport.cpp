#include "app/views/transport.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "app/gl/context_local.h"
#include "app/session/words.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/views/form_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using Grain = Session::Grain;

// In design pixels.
constexpr float height = 28;
constexpr float gap = 16;
constexpr float narrowest_position = 216;
constexpr float comfortable_position = 360;  // the figures and the speed leave it so much
constexpr float widest_position = 520;
constexpr float speed_width = 136;
constexpr float narrowest_label = 48;  // of a word, with the dot before it: less says nothing of it

struct NamedGrain {
  const char* name;  // in the commands
  const char* word;  // on the button
  Grain grain;
};

constexpr std::array<NamedGrain, 3> grains = {{{"operation", "operation", Grain::operation},
                                               {"token", "word", Grain::token},
                                               {"chunk", "chunk", Grain::chunk}}};

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
  ImGui::SameLine();
  button(application, "to the event before", Icon::mark_back, "mark.back");
  ImGui::SameLine();
  button(application, "to the next event", Icon::mark_forward, "mark.forward");
  ImGui::PopStyleVar();
}

/// A word of the row, on its middle line.
void word(std::string_view text, style::Text font, ImU32 colour) {
  const style::TextStyle style(font, colour);
  const float letters = text_extent(text).y;
  const float row = style::px(height);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  draw_text({from.x, from.y + (row - letters) / 2}, colour, text);
  ImGui::Dummy({text_extent(text).x, row});
  ImGui::SameLine(0, 0);
}

/// "chunk 5 of 11 · ", where the form takes words together.
std::string group_words(const Trace& trace, Index token) {
  const Groups& groups = trace.groups;
  const bool is_batch = groups.kind == Groups::Kind::batches;
  if (groups.kind == Groups::Kind::whole || !(is_batch || has_chunks(trace.form))) return {};
  return fmt::format("{} {} of {} · ", is_batch ? "batch" : "chunk", token / groups.size,
                     (trace.tokens - 1) / groups.size);
}

/// " · step 4 of 6: what is written", with the row where the step makes one row at a time.
std::string step_words(const Trace& trace, const Cursor& cursor) {
  const Block block = trace.block(cursor.block);
  const Operation& operation = trace.operation(cursor);
  std::string title = operation.title;
  if (title.size() > 1 && std::islower(static_cast<unsigned char>(title[1])))
    title.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(title.front())));
  std::string words =
      fmt::format(" · step {} of {}: {}", cursor.operation + 1, trace.phase(block).operations.size(), title);
  if (operation.by_row) words += fmt::format(", row {} of 0–{}", cursor.row, block.count - 1);
  return words;
}

/// What is said of the step, as much as has so much room: with its title, without, or nothing.
std::string step_words_within(const Trace& trace, const Cursor& cursor, float room) {
  const std::string words = step_words(trace, cursor);
  if (text_extent(words).x <= room) return words;
  const std::string place = words.substr(0, words.find(':'));
  return text_extent(place).x <= room ? place : std::string();
}

/// "word 42 of 93 · drum · step 4 of 6: what is written".
void position(Application& application, float width) {
  const Session& session = application.session;
  const Trace* trace = application.session.trace();
  if (!trace || trace->block_count() == 0) return;
  const style::Palette& c = style::colours();
  const float start = ImGui::GetCursorPosX();
  const auto rest = [&] { return start + width - ImGui::GetCursorPosX(); };
  const auto part = [&](const std::string& text, style::Text font, ImU32 colour) {
    const style::TextStyle style(font);
    const std::string shown = shortened(text, std::max(rest(), 0.0F));
    transport_map().position += shown;
    word(shown, font, colour);
  };
  const std::string label = visible_label(session.data().labels[static_cast<std::size_t>(session.token())]);
  const std::string number = std::to_string(session.token());
  transport_map().position.clear();
  part(group_words(*trace, session.token()) + "word ", style::Text::body, c.dim);
  part(number, style::Text::strong, c.text);
  part(fmt::format(" of {}", trace->tokens - 1), style::Text::body, c.dim);
  const float named = [&] {
    const style::TextStyle style(style::Text::strong);
    return std::min(text_extent(" · " + label).x, style::px(narrowest_label));
  }();
  if (label != number && rest() >= named) {
    part(" · ", style::Text::body, c.dim);
    part(label, style::Text::strong, c.text);
  }
  const auto step = [&] {
    const style::TextStyle style(style::Text::body);
    return step_words_within(*trace, session.cursor(), rest());
  };
  part(step(), style::Text::body, c.dim);
  const ImVec2 end = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({end.x - (ImGui::GetCursorPosX() - start), end.y});
  ImGui::Dummy({width, style::px(height)});
  tooltip(group_words(*trace, session.token()) + "word " + number +
          fmt::format(" of 0–{} · {}", trace->tokens - 1, label) + step_words(*trace, session.cursor()));
  ImGui::SameLine(0, 0);
}

constexpr const char* welcome_words = "Press → for the next step, Space to play, ? for all keys.";

float welcome_width() {
  const style::TextStyle style(style::Text::strong);
  return text_extent(welcome_words).x + style::px(32);
}

/// The first line that a newcomer reads: what to press. It does what it says, and is the only filled shape in
/// the row.
void welcome(Application& application) {
  const style::Palette& c = style::colours();
  command_button(application, "operation.forward", [&] {
    const style::TextStyle style(style::Text::strong);
    const ImVec2 extent = text_extent(welcome_words);
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const ImVec2 size = {welcome_width(), style::px(height)};
    const bool pressed = ImGui::InvisibleButton("welcome", size);
    const ImU32 surface = ImGui::IsItemHovered() ? style::mix(c.panel, c.text, 0.88F) : c.text;
    ImGui::GetWindowDrawList()->AddRectFilled(from, {from.x + size.x, from.y + size.y}, surface, size.y / 2);
    draw_text({from.x + style::px(16), from.y + (size.y - extent.y) / 2}, c.panel, welcome_words);
    return pressed;
  });
  ImGui::SameLine(0, 0);
}

std::string grain_label(const NamedGrain& row) { return fmt::format("{}##{}", row.word, row.name); }

void grain_choice(Application& application) {
  const float top = ImGui::GetCursorScreenPos().y + style::px(1);
  for (const NamedGrain& row : grains) {
    if (&row != &grains.front()) ImGui::SameLine(0, 0);
    ImGui::SetCursorScreenPos({ImGui::GetCursorScreenPos().x, top});
    const style::SegmentPlace place = {.first = &row == &grains.front(), .last = &row == &grains.back()};
    if (style::segment_button(grain_label(row).c_str(), application.grain == row.grain, place))
      application.grain = row.grain;
    tooltip(fmt::format("Buttons and playing move by one {}.", row.word));
  }
}

float grain_width() {
  float width = 0;
  for (const NamedGrain& row : grains) width += style::segment_size(grain_label(row).c_str()).x;
  return width;
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

/// How an entry of the legend is drawn.
enum class Mark { outline, filled, hatched, lane, underline };

struct LegendEntry {
  Mark mark;
  ImU32 colour;
  std::string words;  // LaTeX where it begins with a backslash
};

/// What the rows mean, for the rows that there are; the last ones are left out first.
std::vector<LegendEntry> legend_entries(const Computation& computed, RowsAbove rows) {
  const style::Palette& c = style::colours();
  const TokenFacts facts = computed.tokens.empty() ? TokenFacts() : computed.tokens.front();
  std::vector<LegendEntry> entries;
  if (computed.recall(0)) {
    entries.push_back(
        {Mark::outline, c.error, computed.edited ? "correct run: error before" : "error before"});
    entries.push_back({Mark::filled, c.error, "after"});
    entries.push_back({Mark::hatched, c.error, "overshoot"});
  }
  if (facts.alpha) entries.push_back({Mark::lane, c.gate, "half-life, log"});
  if (facts.written && rows == RowsAbove::facts) {
    const std::string& rate = computed.written_by;
    const std::string words =
        rate.empty() ? "\\lVert k\\rVert\\lVert v\\rVert" : fmt::format("\\{}\\lVert k\\rVert^2", rate);
    entries.push_back({Mark::lane, c.strength, words});
  }
  if (facts.written) entries.push_back({Mark::underline, c.text, "asked"});
  return entries;
}

constexpr float formula_letters = 14;

float width_of(const LegendEntry& entry) {
  const style::TextStyle style(style::Text::caption);
  const float words = entry.words.starts_with('\\')
                          ? measure_formula(entry.words, style::px(formula_letters)).width
                          : text_extent(entry.words).x;
  const float mark = entry.mark == Mark::underline ? text_extent("word").x : style::px(10);
  return mark + style::px(5) + std::ceil(words);
}

void draw_legend_entry(const LegendEntry& entry, ImVec2 from) {
  const style::Palette& c = style::colours();
  const style::TextStyle style(style::Text::caption);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float middle = std::round(from.y + style::px(height) / 2);
  const float half = style::px(5);
  const ImVec2 upper = {from.x, middle - half};
  const ImVec2 lower = {from.x + 2 * half, middle + half};
  float x = lower.x + style::px(5);
  const float top = middle - text_extent("x").y / 2;
  switch (entry.mark) {
    case Mark::outline:
      list->AddRect(upper, lower, entry.colour, 0, style::px(1));
      break;
    case Mark::filled:
      list->AddRectFilled(upper, lower, entry.colour);
      break;
    case Mark::hatched:
      list->PushClipRect(upper, lower, true);
      for (int i = -1; i < 3; ++i) {
        const float left = upper.x + static_cast<float>(i) * style::px(4);
        list->AddLine({left, lower.y}, {left + 2 * half, upper.y}, entry.colour, style::px(1.5F));
      }
      list->PopClipRect();
      break;
    case Mark::lane:
      list->AddRectFilled({upper.x, middle - style::px(2)}, {lower.x, middle + style::px(2)}, entry.colour);
      break;
    case Mark::underline:
      draw_text({from.x, top}, entry.colour, "word");
      list->AddRectFilled({from.x, middle + style::px(8)},
                          {from.x + text_extent("word").x, middle + style::px(10)}, entry.colour);
      x = from.x + text_extent("word").x + style::px(5);
      break;
  }
  if (entry.words.starts_with('\\'))
    draw_formula(list, {x, middle + style::px(4)}, entry.words, style::px(formula_letters), c.dim);
  else
    draw_text({x, top}, c.dim, entry.words);
}

/// Draws as many entries as fit before `right`, ending there. Returns where they begin.
float legend(const std::vector<LegendEntry>& entries, float left, float right) {
  std::size_t count = 0;
  float width = 0;
  for (; count < entries.size(); ++count) {
    const float more = width_of(entries[count]) + (count > 0 ? style::px(gap - 2) : 0);
    if (left + width + more > right) break;
    width += more;
  }
  ImVec2 from = {right - width, ImGui::GetCursorScreenPos().y};
  for (std::size_t i = 0; i < count; ++i) {
    draw_legend_entry(entries[i], from);
    from.x += width_of(entries[i]) + style::px(gap - 2);
  }
  return right - width;
}

/// "94 words · 64 × 64 · worst 1.0e-15", or how far the comparison is.
std::string figures(const Session& session, const Computation& computed) {
  const Sequence& sequence = computed.sequence;
  const std::string size =
      fmt::format("{} · {} × {}", counted(sequence.tokens, "word", "words"), sequence.dk, sequence.dv);
  const auto is_known = [](const auto& form) { return form->is_compared || !form->missing.empty(); };
  if (session.computing() && !computed.is_complete())
    return fmt::format("{} · {} of {} forms compared", size, std::ranges::count_if(computed.forms, is_known),
                       computed.forms.size());
  return fmt::format("{} · worst {}", size, scientific(computed.worst));
}

std::string figures_explained(const Session& session, const Computation& computed) {
  const DataSet& data = session.data();
  std::string words =
      fmt::format("Worst distance from {}: {} ({}, {}{}); {} is allowed.\nKeys have {} channels, values {}.",
                  reference_words(computed.choice.precision), scientific(computed.worst),
                  name(computed.worst_form), name(computed.choice.precision), on_device(computed.choice),
                  scientific(computed.tolerance), computed.sequence.dk, computed.sequence.dv);
  if (data.heads > 1)
    words += fmt::format("\nHead {} of 0–{}.", computed.choice.head % data.heads, data.heads - 1);
  if (data.batches > 1)
    words += fmt::format("\nBatch {} of 0–{}.", computed.choice.head / data.heads, data.batches - 1);
  return words;
}

/// Ends at `right`. Returns where it begins.
float draw_figures(const Session& session, const Computation& computed, float right) {
  const style::TextStyle style(style::Text::number_small);
  const std::string words = figures(session, computed);
  const ImVec2 extent = text_extent(words);
  const float y = ImGui::GetCursorScreenPos().y;
  const ImVec2 from = {right - std::ceil(extent.x), y};
  draw_text({from.x, y + (style::px(height) - extent.y) / 2},
            computed.agree ? style::colours().dim : style::colours().alarm, words);
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({extent.x, style::px(height)});
  const style::TextStyle usual(style::Text::body);
  tooltip(figures_explained(session, computed));
  ImGui::SetCursorScreenPos(from);
  return from.x;
}

/// Ends at `right`. Returns where it begins.
float keys_button(Application& application, float right) {
  const float width = [] {
    const style::TextStyle style(style::Text::caption);
    return text_extent("? keys").x;
  }();
  const ImVec2 from = {right - std::ceil(width), ImGui::GetCursorScreenPos().y};
  ImGui::SetCursorScreenPos(from);
  command_button(application, "help.keys", [] { return style::word_button("? keys", height); });
  ImGui::SetCursorScreenPos(from);
  return from.x;
}

}  // namespace

TransportMap& transport_map() { return context_local<TransportMap>(); }

void draw_transport(Application& application, RowsAbove rows) {
  const auto computed = application.session.computed();
  if (!computed) return;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float end = start.x + ImGui::GetContentRegionAvail().x;
  const float figures_width = [&] {
    const style::TextStyle style(style::Text::number_small);
    return std::ceil(text_extent(figures(application.session, *computed)).x);
  }();
  const std::vector<LegendEntry> entries =
      rows == RowsAbove::none ? std::vector<LegendEntry>() : legend_entries(*computed, rows);
  transport_map().legend.clear();
  for (const LegendEntry& entry : entries) transport_map().legend.push_back(entry.words);
  float legend_width = 0;
  for (const LegendEntry& entry : entries) legend_width += width_of(entry) + style::px(gap - 2);

  buttons(application);
  ImGui::SameLine(0, style::px(gap));
  // Where we are takes what is left beside the legend; the figures and the speed stand where there is room.
  const float room = end - ImGui::GetCursorScreenPos().x - grain_width() - style::px(2 * gap + 60);
  const Trace* trace = application.session.trace();
  const bool welcomes = application.show_welcome && trace && trace->block_count() > 0;
  const float wanted = welcomes ? welcome_width() : style::px(narrowest_position);
  const float comfortable = std::max(wanted, style::px(comfortable_position));
  const bool has_figures = room > comfortable + legend_width + figures_width + style::px(gap);
  const bool has_speed = has_figures && room > comfortable + legend_width + figures_width +
                                                   style::px(speed_width + 2 * gap + 60);
  const float beside = legend_width + (has_figures ? figures_width + style::px(gap) : 0) +
                       (has_speed ? style::px(speed_width + gap) : 0);
  const float width = std::clamp(room - beside, std::min(wanted, room), style::px(widest_position));
  if (welcomes) {
    welcome(application);
  } else if (width > 0) {
    const float before = ImGui::GetCursorPosX();
    position(application, width);
    ImGui::SetCursorPosX(before + width);  // whatever the words: what follows stays where it is
  }
  ImGui::SameLine(0, style::px(gap));
  grain_choice(application);
  float left = ImGui::GetItemRectMax().x + style::px(gap);
  if (has_speed) {
    ImGui::SetCursorScreenPos({left, start.y});
    speed(application);
    left = ImGui::GetItemRectMax().x + style::px(gap);
  }
  ImGui::SetCursorScreenPos({left, start.y});
  if (left > end - style::px(60)) {
    ImGui::Dummy({1, style::px(height)});
    return;
  }
  float right = keys_button(application, end) - style::px(gap);
  if (has_figures) right = draw_figures(application.session, *computed, right) - style::px(gap);
  ImGui::SetCursorScreenPos({left, start.y});
  legend(entries, left, right);
  ImGui::Dummy({1, style::px(height)});
}

}  // namespace palimpsest
