#include "app/views/knob.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/scene/draw.h"
#include "app/scene/parts.h"
#include "app/session/step_questions.h"
#include "app/studio/application.h"
#include "app/views/awaited.h"
#include "app/views/form_costs.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float title_height = 15;
constexpr float value_height = 16;
constexpr float axis_height = 14;
constexpr float least_bars = 12;
constexpr float most_bars = 44;
constexpr float between = 6;

void choose_size(Application& application, Index size, std::string_view merge_key = {}) {
  Choice choice = application.session.choice();
  choice.chunk_size = size;
  application.session.choose(std::move(choice), merge_key);
}

void size_slider(Application& application) {
  const Session& session = application.session;
  const Index most = largest_chunk(session.data().tokens);
  int size = static_cast<int>(session.choice().chunk_size);
  style::SliderLook<int> look;
  look.minimum = 1;
  look.maximum = std::max(static_cast<int>(most), 2);
  look.reset = std::min(8, look.maximum);
  look.logarithmic = true;
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (style::slider("", "words in a chunk###chunk size", &size, look))
    choose_size(application, size, "chunk_size");
  const style::TextStyle text(style::Text::caption);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string right = fmt::format("all {} at once", most);
  draw_text(from, style::colours().dim, "1 by one");
  draw_text({from.x + width - text_extent(right).x, from.y}, style::colours().dim, right);
  ImGui::Dummy({width, px(18)});
}

/// One row of bars, one for every chunk size.
struct Chart {
  std::string title;
  std::string explained;
  std::vector<double> values;  // of the sizes; NaN: not known
  std::function<std::string(double)> words;
  bool logarithmic = false;
};

/// How high a bar is, as a part of the highest.
float part_of(const Chart& chart, double value) {
  const double most = std::ranges::max(chart.values);
  if (!std::isfinite(value) || value <= 0 || most <= 0) return 0;
  if (!chart.logarithmic) return static_cast<float>(value / most);
  double least = most;
  for (const double each : chart.values) {
    if (each > 0) least = std::min(least, each);
  }
  // The smallest keeps a stump: on a log axis nothing is zero.
  constexpr double stump = 0.12;
  const double span = std::log(most / least);
  return static_cast<float>(span > 0 ? stump + (1 - stump) * std::log(value / least) / span : 1);
}

void draw_chart(Application& application, const Chart& chart, const std::vector<Index>& sizes,
                float bars_height, bool has_axis) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  {
    const style::TextStyle text(style::Text::caption);
    draw_text(from, c.dim, shortened(chart.title, width));
  }
  ImGui::PushID(chart.title.c_str());
  const Index present = application.session.choice().chunk_size;
  const float column = width / static_cast<float>(sizes.size());
  const float top = from.y + px(title_height + value_height);
  const float bottom = top + px(bars_height);
  float spoken_to = from.x - 1;  // no two numbers on each other
  std::vector<std::pair<std::size_t, int>> spoken;
  const auto nearest = std::ranges::min_element(sizes, {}, [&](Index size) {
    return std::abs(std::log(static_cast<double>(size)) - std::log(static_cast<double>(present)));
  });
  const auto chosen = static_cast<std::size_t>(nearest - sizes.begin());
  const bool is_exact = sizes[chosen] == present;
  const style::TextStyle number(style::Text::number_small);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const float left = from.x + static_cast<float>(i) * column;
    ImGui::SetCursorScreenPos({left, top});
    ImGui::PushID(static_cast<int>(sizes[i]));
    if (ImGui::InvisibleButton("size", {column, bottom - top})) choose_size(application, sizes[i]);
    ImGui::PopID();
    const bool lit = ImGui::IsItemHovered();
    const double value = chart.values[i];
    if (wants_tooltip()) {
      const style::TextStyle usual(style::Text::body);
      tooltip(fmt::format("{} with {} {} in a chunk. {} A click chooses it.",
                          std::isfinite(value) ? chart.words(value) : "not known yet", sizes[i],
                          sizes[i] == 1 ? "word" : "words", chart.explained));
    }
    const bool is_chosen = i == chosen && is_exact;
    const ImU32 ink = is_chosen ? c.text : style::mix(c.panel, c.dim, lit ? 0.7F : 0.45F);
    const float height = std::round(px(bars_height) * part_of(chart, value));
    const Rectangle bar = {{std::round(left + px(1)), bottom - height},
                           {std::round(left + column - px(1)), bottom}};
    list->AddRectFilled(bar.minimum, bar.maximum, ink);
    note_part("bar", bar);
    const std::string size = std::to_string(sizes[i]);
    if (has_axis && text_extent(size).x + px(2) <= column)
      draw_text({left + (column - text_extent(size).x) / 2, bottom + px(1)}, is_chosen ? c.text : c.dim,
                size);
  }
  // The chosen one first, then the ends where they do not touch it.
  const auto say = [&](std::size_t i, float at_least, float at_most) {
    if (!std::isfinite(chart.values[i])) return ImVec2{at_least, at_least};
    const std::string words = chart.words(chart.values[i]);
    const float extent = text_extent(words).x;
    const float middle = from.x + (static_cast<float>(i) + 0.5F) * column;
    const float x = std::clamp(middle - extent / 2, from.x, std::max(from.x, from.x + width - extent));
    if (x < at_least || x + extent > at_most) return ImVec2{at_least, at_least};
    // All on one line above the highest bar: a number is wider than its bar, and the next may be higher.
    const ImVec2 at = {x, top - px(value_height)};
    draw_text(at, i == chosen && is_exact ? c.text : c.dim, words);
    note_part("number", box_at(at, text_extent(words)), words);
    return ImVec2{x, x + extent};
  };
  const ImVec2 middle = is_exact ? say(chosen, from.x - 1, from.x + width + 1) : ImVec2{spoken_to, spoken_to};
  const float gap = px(4);
  if (chosen != 0 || !is_exact) say(0, from.x - 1, is_exact ? middle.x - gap : from.x + width + 1);
  if (chosen + 1 != sizes.size() || !is_exact) say(sizes.size() - 1, middle.y + gap, from.x + width + 1);
  ImGui::SetCursorScreenPos({from.x, bottom + (has_axis ? px(axis_height) : 0)});
  ImGui::Dummy({width, px(between)});
  ImGui::PopID();
}

/// Why the smallest chunk is not the recurrent form, where that is chosen.
void explain_one_word(Application& application, const std::vector<ChunkCost>& counted) {
  const Session& session = application.session;
  if (session.choice().chunk_size != 1 || counted.empty() || counted.front().chunk_size != 1) return;
  const auto forms = application.session.questions().ask(FormCosts{session.computed(), 1}, Urgency::later);
  if (!forms.value || forms.stale) return;
  const auto recurrent = std::ranges::find(*forms.value, Form::recurrent, &CostRow::form);
  if (recurrent == forms.value->end() || !recurrent->missing.empty()) return;
  const Trace* trace = session.trace();
  const std::string words =
      one_word_words(counted.front().flops, recurrent->flops, trace && trace->symbols.contains("P"));
  style::caption(words);
  note_part("one word", {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}, words);
}

/// Whether one of `costs` is higher than among `others`.
bool takes_more(const std::vector<ChunkCost>& costs, const std::vector<ChunkCost>& others) {
  for (std::size_t i = 0; i < std::min(costs.size(), others.size()); ++i) {
    if (costs[i].flops > others[i].flops || costs[i].bytes > others[i].bytes) return true;
  }
  return false;
}

std::vector<double> of(const std::vector<ChunkCost>& costs,
                       const std::function<double(const ChunkCost&)>& get) {
  std::vector<double> values;
  for (const ChunkCost& cost : costs) values.push_back(get(cost));
  return values;
}

}  // namespace

void draw_knob(Application& application) {
  const auto computation = application.session.computed();
  if (!computation) return;
  const PartScope scope("knob");
  const Form form = application.session.choice().form;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), 0));
  size_slider(application);
  const std::vector<Index> sizes = swept_chunks(computation->sequence.tokens);
  const auto counted = application.session.questions().ask(ChunkCosts{computation, form}, Urgency::later);
  std::vector<Chart> charts;
  if (counted.value && counted.value->size() == sizes.size()) {
    const std::vector<ChunkCost>& costs = *counted.value;
    charts.push_back(
        {"FLOPs for a word", "Counted.", of(costs, [](const auto& x) { return x.flops; }), in_thousands});
    charts.push_back({"bytes for a word, float32, log",
                      "Counted: the state is written back after every chunk.",
                      of(costs, [](const auto& x) { return x.bytes; }), in_bytes, true});
    charts.push_back({"steps, one after the other, log",
                      form == Form::two_pass ? "Counted: one for every chunk, and one for all outputs."
                                             : "Counted: one for every chunk.",
                      of(costs, [](const auto& x) { return static_cast<double>(x.steps); }),
                      [](double steps) { return fmt::format("{:.0f}", steps); }, true});
  }
  const ChunkErrors key{computation};
  const auto errors = application.session.questions().ask(key, Urgency::later);
  const bool fits = errors.value && errors.value->size() == sizes.size();
  if (fits) {
    charts.push_back({errors.stale ? "float32 error, of before" : "float32 error, measured",
                      form == Form::two_pass
                          ? "Measured against the f64 recurrence; Chunkwise computes the same bits."
                          : "Measured against the f64 recurrence.",
                      *errors.value, scientific});
  }
  const std::size_t expected = charts.size() < 3 ? 1 : 4;
  std::string beside;  // of two-pass, in words below the bars
  if (form == Form::two_pass) {
    const auto other =
        application.session.questions().ask(ChunkCosts{computation, Form::chunkwise}, Urgency::later);
    if (counted.value && other.value && !counted.stale && !other.stale)
      beside = two_pass_words(takes_more(*counted.value, *other.value));
  }
  const float words = beside.empty() ? 0 : style::caption_height(beside) / style::scale();
  const float height =
      ImGui::GetContentRegionAvail().y / style::scale() - axis_height - 4 - words;  // 4 below the last
  const float room = height / static_cast<float>(expected);
  const float bars = std::clamp(room - title_height - value_height - between, least_bars, most_bars);
  for (const Chart& chart : charts) draw_chart(application, chart, sizes, bars, &chart == &charts.back());
  if (counted.value && !counted.stale) explain_one_word(application, *counted.value);
  if (!beside.empty()) style::caption(beside);
  if (!fits && !errors.reason.empty()) style::caption("The error in float32: " + errors.reason);
  scene::show(awaiting("measuring the error", errors,
                       [&application, key] { application.session.questions().give_up(key); }));
  ImGui::PopStyleVar();
}

}  // namespace palimpsest
