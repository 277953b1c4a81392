// The rows that are painted with the mouse: how far every word steps, and how long it keeps.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/edits.h"
#include "app/views/bar_words.h"
#include "app/views/learn_rows.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/base/text.h"
#include "core/insight/keeping.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float channel_line = 14;     // on which one chooses the channel
constexpr double reach_top = 2.4;      // the axis of beta |k|^2: a little beyond its edge
constexpr double longest_life = 3000;  // words
constexpr double shortest_life = 0.5;
constexpr double least_kept = 1e-6;  // where nothing at all is no number of the gate

/// A stroke: the tokens that the pointer passed since the last frame.
struct Stroke {
  bool active = false;
  Index token = 0;
  Index first = 0;  // where it began, and
  float y = 0;
  bool is_ramp = false;
  Edits before = {};  // of the choice
};

/// What an array may hold, cut to what is painted.
double within(const Computation& computed, const std::string& array, double value) {
  const auto inputs = all_inputs(*computed.variant);
  const auto input = std::ranges::find(inputs, array, &Input::name);
  if (input == inputs.end()) return value;
  if (input->range == Range::positive_unit) return std::clamp(value, least_kept, 1.0);
  const double most = contains(input->range, 2 * std::max(value, 1.0)) ? value : 1;
  return std::clamp(value, 0.0, std::max(most, 0.0));
}

/// Lets a row be painted; `value_at(token, y)` is what the array gets there.
void paint_row(const LearnRows& rows, const char* id, const LearnRow& row, const std::string& array,
               std::optional<Index> channel, const std::string& refusal,
               const std::function<std::string(Index)>& words,
               const std::function<double(Index token, float y)>& value_at) {
  ImGui::SetCursorScreenPos({rows.columns.position.x, row.top});
  ImGui::InvisibleButton(id, {rows.columns.size.x, std::max(row.bottom - row.top, 1.0F)});
  if (ImGui::IsItemHovered() && refusal.empty()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (!ImGui::IsItemActive())
    tell_bar(rows, words, refusal.empty() ? "Drag the bars to paint; with Shift an even ramp." : refusal);
  auto& stroke = context_local<Stroke>();
  if (!ImGui::IsItemActive()) {
    if (ImGui::IsItemDeactivated()) stroke.active = false;
    return;
  }
  if (!refusal.empty()) {
    rows.application.refusal = refusal;
    return;
  }
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float right = rows.columns.position.x + rows.columns.size.x - 1;
  const Index token = rows.columns.token_at(std::clamp(mouse.x, rows.columns.position.x, right));
  const float y = std::clamp(mouse.y, row.top, row.bottom);
  Session& session = rows.application.session;
  Choice choice = session.choice();
  if (!stroke.active)
    stroke = {.active = true,
              .token = token,
              .first = token,
              .y = y,
              .is_ramp = ImGui::GetIO().KeyShift,
              .before = choice.edits};
  const auto value = [&](Index of, float at) { return within(rows.computed, array, value_at(of, at)); };
  if (stroke.is_ramp && !channel) {
    choice.edits = stroke.before;
    if (token >= stroke.first)
      ramp(choice.edits, array, stroke.first, token, value(stroke.first, stroke.y), value(token, y));
    else
      ramp(choice.edits, array, token, stroke.first, value(token, y), value(stroke.first, stroke.y));
    if (choice.edits != session.choice().edits) session.choose(std::move(choice), id);
    return;
  }
  const Index from = std::min(stroke.token, token);
  const Index to = std::max(stroke.token, token);
  stroke.token = token;
  for (Index t = from; t <= to; ++t) paint(choice.edits, array, t, t, value(t, y), channel);
  if (choice.edits != session.choice().edits) session.choose(std::move(choice), id);
}

/// The largest of a row's numbers over tokens that share a column.
double largest(const Vector<double>& numbers, Index first, Index end) {
  double most = 0;
  for (Index t = first; t < end; ++t)
    most = std::max(most, std::isfinite(numbers[t]) ? numbers[t] : HUGE_VAL);
  return most;
}

double smallest(const Vector<double>& numbers, Index first, Index end) {
  return numbers.segment(first, end - first).minCoeff();
}

/// The letter in LaTeX.
const char* gate_symbol(std::string_view letter) {
  static constexpr std::pair<std::string_view, const char*> symbols[] = {
      {"α", "\\alpha"}, {"γ", "\\gamma"}, {"μ", "\\mu"}};
  for (const auto& [known, latex] : symbols) {
    if (known == letter) return latex;
  }
  return "f";
}

std::string strength_symbol(const StepReach& strengths) {
  if (!strengths.symbol.empty()) return strengths.symbol;
  if (strengths.array == "theta") return "\\theta";
  if (strengths.array == "eta") return "\\eta";
  return strengths.array == "delta" ? "\\Delta" : "\\beta";
}

}  // namespace

void draw_strengths(const LearnRows& rows, const TokenCourses& courses, const LearnRow& row) {
  const BesideColumns gutter;
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  learn_map().strengths = {};
  if (!courses.strengths) return;
  const StepReach& strengths = *courses.strengths;
  const std::string symbol = strengths.array.empty() ? std::string() : strength_symbol(strengths) + "\\,";
  const std::string length = fmt::format("\\lVert\\fgcolor{{{}}}{{k}}\\rVert^2", style::hex(c.key));
  const std::string own =
      symbol.empty() ? "" : fmt::format("\\fgcolor{{{}}}{{{}}}", style::hex(c.strength), symbol);
  draw_row_name(rows, row, strengths.is_network ? own : own + length, c.text,
                strengths.is_network ? "× curvature" : "how far");
  double top = reach_top;
  if (!strengths.has_edge) {
    top = 0;
    each_column(rows.columns, [&](Index first, Index end, float, float) {
      const double most = largest(strengths.reach, first, end);
      if (std::isfinite(most)) top = std::max(top, most);
    });
    top = top > 0 ? 1.1 * top : 1;
  }
  const Chart chart{.from = {rows.columns.position.x, row.top},
                    .to = {rows.columns.position.x + rows.columns.size.x, row.bottom},
                    .bottom = 0,
                    .top = top};
  each_column(rows.columns, [&](Index first, Index end, float left, float right) {
    const double reach = largest(strengths.reach, first, end);
    const float inset = right - left > px(10) ? std::min((right - left) / 6, px(8)) : 0;
    const float y = std::max(chart.y(reach), row.top);
    const ImVec2 to = {std::max(right - inset, left + 1), row.bottom};
    list->AddRectFilled({left + inset, y}, to, rows.ink(c.strength, first));
    if (strengths.has_edge && reach > 2) {
      list->AddRectFilled({left + inset, y}, {to.x, chart.y(2)}, c.panel);
      hatch(list, {left + inset, y}, {to.x, chart.y(2)}, c.alarm);
      list->AddRect({left + inset, y}, {to.x, chart.y(2)}, c.alarm);
    }
    if (reach > top) list->AddRectFilled({left + inset, row.top + px(3)}, {to.x, row.top + px(5)}, c.panel);
  });
  const style::TextStyle number(style::Text::number_small);
  const float half = text_extent("0").y / 2;
  const auto mark = [&](double value, ImU32 colour, const std::string& words) {
    learn_text_right({chart.from.x - px(6), std::max(chart.y(value) - half, row.top)}, colour, words);
  };
  if (strengths.has_edge) {
    // With momentum it is no edge of the rule's.
    const ImU32 edge = strengths.has_momentum ? c.dim : c.alarm;
    list->AddLine({chart.from.x, chart.y(2)}, {chart.to.x, chart.y(2)}, edge, px(1.5F));
    dashed_line(list, {chart.from.x, chart.y(1)}, {chart.to.x, chart.y(1)}, c.faint, px(style::line));
    mark(2, edge, "2");
    if (row.bottom - row.top > px(40)) mark(1, c.dim, "1");
  } else {
    mark(top / 1.1, c.dim, plain_number(top / 1.1, 2));
  }
  learn_map().strengths = {chart.from, chart.to};
  const std::string refusal =
      strengths.array.empty() ? "every word of this rule steps equally far: it has no strength to paint" : "";
  const auto said = [&](Index token) { return strength_bar_words(rows.computed, strengths, token); };
  paint_row(rows, "paint strengths", row, strengths.array, std::nullopt, refusal, said,
            [&](Index token, float y) {
              const double squares = strengths.squares[token];
              return squares > 0 ? std::max(chart.value_at_y(y), 0.0) / squares : 0;
            });
}

void draw_reach_edges(const LearnRows& rows, const TokenCourses& courses, float top) {
  const ReachEdges& edges = courses.edges;
  const BesideColumns gutter;
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float right = rows.columns.position.x + rows.columns.size.x;
  ImVec2 at = {rows.columns.position.x, top};
  const auto link = [&](const char* what, ImU32 colour, Index token) {
    const std::string words =
        shortened(fmt::format("{} from {} {}", what, token, quoted_word(rows.computed, token)), right - at.x);
    // Over the frame of the present word, which runs through all rows.
    const ImVec2 extent = text_extent(words);
    ImGui::GetWindowDrawList()->AddRectFilled({at.x - px(3), at.y},
                                              {at.x + extent.x + px(3), at.y + extent.y}, c.panel);
    at.x += learn_link(rows.application, at, colour, words, token) + px(14);
  };
  if (edges.overshoots && edges.overshoots != edges.diverges) link("overshoots", c.text, *edges.overshoots);
  if (edges.diverges && right - at.x > px(60)) {
    const bool goes_on = courses.strengths && courses.strengths->has_momentum;
    link(goes_on ? "by itself lands farther off," : "diverges", c.alarm, *edges.diverges);
  }
}

void draw_half_lives(const LearnRows& rows, const TokenCourses& courses, const LearnRow& row,
                     Index& channel) {
  const BesideColumns gutter;
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  learn_map().gates = {};
  if (!courses.keeping) {
    const style::TextStyle text(style::Text::caption);
    learn_text({rows.gutter, row.top}, c.dim, "takes no gate");
    return;
  }
  const Keeping& keeping = *courses.keeping;
  const char* symbol = gate_symbol(gate_letter(rows.computed, keeping));
  draw_row_name(rows, row, symbol, c.gate, "half-life", keeping.channels > 1 ? px(channel_line) : 0);
  const Chart chart{.from = {rows.columns.position.x, row.top},
                    .to = {rows.columns.position.x + rows.columns.size.x, row.bottom},
                    .bottom = shortest_life,
                    .top = longest_life,
                    .logarithmic = true};
  const auto y_of = [&](double kept) {
    return std::clamp(chart.y(half_life(kept)), row.top, row.bottom - 1);
  };
  each_column(rows.columns, [&](Index first, Index end, float left, float right) {
    const float inset = right - left > px(10) ? std::min((right - left) / 6, px(8)) : 0;
    const float to = std::max(right - inset, left + 1);
    const ImU32 ink = rows.ink(c.gate, first);
    list->AddRectFilled({left + inset, y_of(smallest(keeping.mean, first, end))}, {to, row.bottom},
                        keeping.channels > 1 && channel < 0 ? style::mix(c.panel, ink, 0.75F) : ink);
    if (keeping.channels == 1 || channel >= 0 || to - left < px(4)) return;
    const float middle = std::round((left + inset + to) / 2);
    list->AddLine({middle, y_of(keeping.most.segment(first, end - first).maxCoeff())},
                  {middle, y_of(smallest(keeping.least, first, end))}, c.text, px(style::line));
  });
  const style::TextStyle number(style::Text::number_small);
  const float height = text_extent("0").y;
  for (const auto& [words, value] : {std::pair("1k", 1000.0), std::pair("10", 10.0)}) {
    const float y = chart.y(value);
    list->AddLine({chart.from.x, y}, {chart.to.x, y}, style::with_alpha(c.panel, 0.6F), px(style::line));
    if (value < 100 && row.bottom - row.top < 2.5F * height) continue;
    learn_text_right({chart.from.x - px(6), std::clamp(y - height / 2, row.top, row.bottom - height)}, c.dim,
                     words);
  }
  learn_map().gates = {chart.from, chart.to};
  const Index shown = channel;
  const std::string refusal =
      keeping.array.empty() ? "this rule has one fixed decay: its slider stands on the right" : "";
  const auto said = [&](Index token) { return keeping_bar_words(rows.computed, keeping, shown, token); };
  paint_row(rows, "paint gates", row, keeping.array, shown >= 0 ? std::optional(shown) : std::nullopt,
            refusal, said, [&](Index, float y) {
              const double tokens = chart.value_at_y(y);
              const double kept = tokens >= 0.95 * longest_life    ? 1
                                  : tokens <= 1.05 * shortest_life ? 0
                                                                   : kept_for(tokens);
              return keeping.forgets ? 1 - kept : kept;
            });
  if (keeping.channels < 2) return;
  // Which channel is looked at, below the row's name.
  ImGui::SetCursorScreenPos({rows.gutter, row.bottom - px(channel_line)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(6), 0));
  if (style::word_button("<##channel", channel_line))
    channel = channel < 0 ? keeping.channels - 1 : channel - 1;
  ImGui::SameLine();
  const std::string words = shown < 0               ? fmt::format("all {}", keeping.channels)
                            : keeping.array == "mu" ? fmt::format("col {}", shown)
                                                    : fmt::format("row {}", shown);
  style::word_button((words + "##which channel").c_str(), channel_line);
  ImGui::SameLine();
  if (style::word_button(">##channel", channel_line))
    channel = channel + 1 < keeping.channels ? channel + 1 : -1;
  ImGui::PopStyleVar();
}

}  // namespace palimpsest
