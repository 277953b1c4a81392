#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "app/gl/context_local.h"
#include "app/session/race_file.h"
#include "app/views/measure.h"
#include "app/widgets/controls.h"
#include "app/widgets/segments.h"
#include "app/widgets/text.h"
#include "core/base/error.h"
#include "core/variants/variants.h"

// What is raced, and how it is shown.

namespace palimpsest {

namespace {

using style::px;

constexpr float list_height = 320;

template <class Value>
bool holds(const std::vector<Value>& list, const Value& value) {
  return std::ranges::find(list, value) != list.end();
}

template <class Value>
void toggle(std::vector<Value>& list, const Value& value) {
  if (holds(list, value))
    std::erase(list, value);
  else
    list.push_back(value);
}

bool line(const std::string& words, bool is_chosen) {
  const style::TextStyle text(is_chosen ? style::Text::strong : style::Text::body);
  return ImGui::Selectable(words.c_str(), is_chosen, ImGuiSelectableFlags_NoAutoClosePopups);
}

/// A pill that opens a list below it; true while that is open.
bool begin_choice(const char* id, const std::string& words, const char* explained) {
  if (style::pill_button(fmt::format("{} ▾###{}", words, id).c_str())) ImGui::OpenPopup(id);
  tooltip(explained);
  ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + px(4)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(12)));
  const bool is_open = ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove);
  ImGui::PopStyleVar();
  if (is_open && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
  return is_open;
}

bool same_curves(const RaceWish& one, const RaceWish& other) {
  return one.variants == other.variants && one.peer == other.peer && one.forms == other.forms &&
         one.devices == other.devices;
}

std::string curves_words(const RaceWish& wish) {
  for (const RacePreset& preset : race_presets()) {
    if (same_curves(preset.wish(wish), wish)) return preset.words;
  }
  std::string words = wish.variants.empty()       ? std::string("this rule")
                      : wish.variants.size() == 1 ? find_variant(wish.variants.front()).label
                                                  : fmt::format("{} rules", wish.variants.size());
  if (wish.peer) words += " and softmax";
  if (wish.forms.size() == 1) words += fmt::format(", {}", name(wish.forms.front()));
  if (wish.forms.size() > 1) words += fmt::format(", {} forms", wish.forms.size());
  return words;
}

void choose_curves(RaceWish& wish, const Session& session) {
  ImGui::BeginChild("presets", {px(232), px(list_height)});
  style::caption("At once");
  for (const RacePreset& preset : race_presets()) {
    if (line(preset.words, same_curves(preset.wish(wish), wish))) wish = preset.wish(wish);
    tooltip(preset.explained);
  }
  ImGui::Dummy({0, px(8)});
  style::caption("Forms");
  if (line("all###all forms", wish.forms.empty())) wish.forms.clear();
  for (const Form form : all_forms) {
    if (line(name(form), holds(wish.forms, form))) toggle(wish.forms, form);
  }
  ImGui::Dummy({0, px(8)});
  style::caption("Beside them");
  if (line("softmax", wish.peer)) wish.peer = !wish.peer;
  ImGui::EndChild();
  ImGui::SameLine(0, px(16));
  ImGui::BeginChild("raced rules", {px(232), px(list_height)});
  style::caption("Rules");
  const std::string present = find_variant(session.choice().variant).label;
  if (line(fmt::format("the open one: {}###open rule", present), wish.variants.empty()))
    wish.variants.clear();
  for (const Variant& variant : variants()) {
    if (variant.id == "softmax") continue;
    if (line(fmt::format("{}###{}", variant.label, variant.id), holds(wish.variants, variant.id)))
      toggle(wish.variants, variant.id);
    tooltip(variant.words);
  }
  ImGui::EndChild();
}

std::string where_words(const RaceWish& wish) {
  std::vector<std::string> parts = wish.devices;
  for (const Precision precision : wish.precisions) parts.emplace_back(name(precision));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void choose_where(RaceWish& wish, const Session& session) {
  style::caption("Devices");
  if (line("all that can be used", wish.devices.empty())) wish.devices.clear();
  for (const Backend* const device : session.devices()) {
    const std::string reason = session.why_not_on(*device, Form::recurrent, nullptr);
    if (line(device->name(), holds(wish.devices, device->name()))) toggle(wish.devices, device->name());
    if (!reason.empty()) tooltip("Shown from reports; here it cannot be used: " + reason);
  }
  ImGui::Dummy({px(160), px(8)});
  style::caption("Precisions");
  for (const Precision precision : all_precisions) {
    if (!line(name(precision), holds(wish.precisions, precision))) continue;
    toggle(wish.precisions, precision);
    if (wish.precisions.empty()) wish.precisions = {precision};
  }
}

template <class Lengths>
std::string lengths_words(const Lengths& lengths) {
  if (lengths.size() == 1) return "n = " + in_digits(*lengths.begin());
  return fmt::format("n {} – {}", in_digits(*lengths.begin()), in_digits(*lengths.rbegin()));
}

void choose_lengths(RaceWish& wish) {
  style::caption("Lengths that are raced here, in tokens");
  constexpr Index longest = 65536;
  std::set<Index> offered(wish.lengths.begin(), wish.lengths.end());
  for (Index tokens = 16; tokens <= longest; tokens *= 2) offered.insert(tokens);
  for (const Index tokens : offered) {
    if (!line(in_digits(tokens), holds(wish.lengths, tokens))) continue;
    toggle(wish.lengths, tokens);
    if (wish.lengths.empty()) wish.lengths = {tokens};
    std::ranges::sort(wish.lengths);
  }
  const style::TextStyle text(style::Text::caption, style::colours().dim);
  ImGui::TextUnformatted("What would take over 2 s a run is left out.");
}

void choose_number(const char* words, Index& value, std::initializer_list<Index> offered) {
  style::caption(words);
  ImGui::PushID(words);
  for (const Index number : offered) {
    if (number != *offered.begin()) ImGui::SameLine(0, px(14));
    if (style::tab_button(std::to_string(number).c_str(), value == number)) value = number;
  }
  ImGui::PopID();
}

void choose_shape(RaceWish& wish, const MeasuredNow& now) {
  choose_number("B, batches", wish.shape.batches, {1, 2, 4, 8});
  choose_number("H, heads of each", wish.shape.heads, {1, 2, 4, 8, 16, 32});
  const Index before = wish.shape.dk;
  Index channels = wish.shape.dk;
  choose_number("D, channels of a head", channels, {16, 32, 64, 128, 256});
  if (channels != before) wish.shape.dk = wish.shape.dv = channels;
  choose_number("C, tokens of a chunk", wish.chunk_size, {16, 32, 64, 128});
  std::vector<RaceShape> shapes;
  for (const SeenReport& report : now.reports) {
    for (const RaceShape& shape : race_shapes(*report.report)) {
      if (!holds(shapes, shape)) shapes.push_back(shape);
    }
  }
  if (shapes.empty()) return;
  ImGui::Dummy({px(240), px(6)});
  style::caption("In the reports");
  for (const RaceShape& shape : shapes) {
    if (line(in_words(shape), wish.shape == shape)) wish.shape = shape;
  }
}

/// Starts or ends the race; ends at `right`.
void draw_race_button(Application& application, const MeasuredNow& now, float right, float y, float left) {
  Races& races = application.races;
  Session& session = application.session;
  const style::Palette& c = style::colours();
  const bool runs = races.runs();
  const Index missing = runs ? 0 : races.left(session);
  const bool has_points = races.own() && !races.own()->points.empty();
  const bool again = !runs && missing == 0 && has_points;
  const bool nowhere = !runs && wished_plan(session.state(), usable_devices(session)).backends.empty();
  const bool is_elsewhere = now.has_leading() && now.lead().from != SeenReport::From::own_race;
  const std::string label = runs           ? "cancel"
                            : again        ? "measure again"
                            : is_elsewhere ? "measure here"
                            : has_points   ? "go on"
                                           : "measure";
  measure_map().race_button = label;
  const std::string button = label + "###race";
  const float width = style::pill_size(button.c_str()).x;
  ImGui::SetCursorScreenPos({right - width, y});
  ImGui::BeginDisabled(nowhere);
  const bool pressed = style::pill_button(button.c_str(), !runs && !again && !nowhere);
  ImGui::EndDisabled();
  tooltip(runs      ? "Ends the race; what is measured stays, and it goes on from there."
          : nowhere ? "None of the devices that are wished for can be used here."
          : again
              ? "Forgets what was measured here and measures it anew."
              : fmt::format(
                    "{}Races {} combinations on this machine, short lengths first. It goes on while "
                    "you look at something else.",
                    is_elsewhere ? "The report in front was made elsewhere and is not continued here. " : "",
                    missing));
  if (pressed && runs) {
    races.cancel(session);
  } else if (pressed) {
    try {
      if (again) races.forget(session);
      races.start(session);
    } catch (const Error& error) {
      application.refusal = error.what();
    }
  }
  if (!runs) return;
  const style::TextStyle text(style::Text::caption);
  const float room = right - width - px(12) - left;
  const std::string words =
      shortened(fmt::format("{:.0f} % · {}", 100 * races.progress(), races.under_way()), room);
  const ImVec2 extent = text_extent(words);
  const float height = style::pill_size("x").y;
  draw_text({right - width - px(12) - extent.x, y + (height - extent.y) / 2}, c.dim, words);
}

void save_menu(Application& application, const MeasuredNow& now) {
  if (!ImGui::BeginPopup("save report")) return;
  const RaceReport& report = *now.lead().report;
  if (line("report as JSON…", false)) {
    application.ask_where_to_save_text("report", race_json(report));
    ImGui::CloseCurrentPopup();
  }
  tooltip("All that was measured, as `palimpsest bench --json` writes it; it opens again.");
  if (line("points as CSV…", false)) {
    application.ask_where_to_save_text("table of the points", race_csv(report), ".csv");
    ImGui::CloseCurrentPopup();
  }
  tooltip("A line for every point, as `palimpsest bench --csv` writes it.");
  ImGui::EndPopup();
}

}  // namespace

float draw_race_controls(Application& application, ImVec2 from, float right) {
  Session& session = application.session;
  const MeasuredNow& now = measured(application);
  RaceWish wish = session.state().measure.wish;
  ImGui::SetCursorScreenPos(from);
  if (begin_choice("curves", curves_words(wish), "Which rules and forms are raced and shown")) {
    choose_curves(wish, session);
    ImGui::EndPopup();
  }
  ImGui::SameLine(0, px(8));
  if (begin_choice("where", where_words(wish), "On which devices, in which precisions")) {
    choose_where(wish, session);
    ImGui::EndPopup();
  }
  ImGui::SameLine(0, px(8));
  // What the chart shows, which of a report that was made elsewhere is not what a race here would take.
  const std::string seen = lengths_words(seen_lengths(application, now));
  const std::string raced = lengths_words(wish.lengths);
  const std::string explained = seen == raced
                                    ? "How long the sequences are"
                                    : fmt::format("How long the sequences are; a race here takes {}", raced);
  measure_map().lengths_button = seen;
  if (begin_choice("lengths", seen, explained.c_str())) {
    choose_lengths(wish);
    ImGui::EndPopup();
  }
  ImGui::SameLine(0, px(8));
  const std::string shape = fmt::format("{} · C {}", in_words(wish.shape), wish.chunk_size);
  if (begin_choice("shape", shape, "Batches, heads, channels, tokens of a chunk")) {
    choose_shape(wish, now);
    ImGui::EndPopup();
  }
  const float left = ImGui::GetItemRectMax().x + px(12);
  draw_race_button(application, now, right, from.y, left);
  if (wish != session.state().measure.wish) {
    SessionState next = session.state();
    next.measure.wish = std::move(wish);
    session.change(std::move(next));
  }
  return from.y + style::pill_size("x").y;
}

float draw_chart_switches(Application& application, const MeasuredNow& now, float right, float y) {
  Session& session = application.session;
  MeasureState next = session.state().measure;
  float x = right;
  const auto pair = [&](bool& second, const char* one, const char* other, const char* explained) {
    const float width = style::segment_size(one).x + style::segment_size(other).x;
    x -= width;
    ImGui::SetCursorScreenPos({x, y});
    if (style::segment_button(one, !second, {.first = true})) second = false;
    tooltip(explained);
    ImGui::SameLine(0, 0);
    if (style::segment_button(other, second, {.last = true})) second = true;
    tooltip(explained);
    x -= px(12);
  };
  pair(next.per_token, "time", "per token", "The time of the whole sequence, or of one of its tokens.");
  const bool has_transfers = std::ranges::any_of(now.reports, [](const SeenReport& report) {
    return std::ranges::any_of(report.report->points,
                               [](const RacePoint& point) { return point.transfers.median > 0; });
  });
  if (has_transfers || next.whole) {
    pair(next.whole, "computing", "with transfers",
         "With the data where they are computed on, or with all transfers and allocations.");
  }
  if (now.has_leading()) {
    const float width = style::pill_size("save ▾###save report").x;
    x -= width;
    ImGui::SetCursorScreenPos({x, y - px(1)});
    if (style::pill_button("save ▾###save report")) ImGui::OpenPopup("save report");
    tooltip(
        "Saves the report that the sentence is about. `palimpsest render --workspace measure --race FILE` "
        "draws "
        "one as a picture.");
    save_menu(application, now);
    x -= px(12);
  }
  if (next != session.state().measure) {
    SessionState state = session.state();
    state.measure = std::move(next);
    session.change(std::move(state));
  }
  return x;
}

}  // namespace palimpsest
