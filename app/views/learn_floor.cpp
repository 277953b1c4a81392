#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gl/context_local.h"
#include "app/session/edits.h"
#include "app/session/memory_questions.h"
#include "app/views/asked_choice.h"
#include "app/views/floor.h"
#include "app/views/floor_rows.h"
#include "app/views/learn.h"
#include "app/views/learn_rows.h"
#include "app/views/recalled_words.h"
#include "app/views/underlined_words.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/insight/answers.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index most_words = WordChoice{}.most;  // more are pinned: they share the room
constexpr Index window_step = 64;  // tokens: a window moves by so many, so that scrolling asks seldom
constexpr Index most_moments = 1500;
constexpr double least_kept = 1e-6;  // where nothing at all is no number of the gate

// In design pixels.
constexpr float headline = 26;
constexpr float edges_height = 18;
constexpr float low_panel = 400;   // below this height rows are as low as can be
constexpr float lower_rows = 148;  // how high the rows below the words are at least together, and
constexpr float low_lower_rows = 106;
constexpr float growth_height = 46;
constexpr float lowest_lane = 6;
constexpr float highest_lane = 24;
constexpr float channel_line = 14;
constexpr float widest_reason = 640;

/// Which channel of the gate is looked at; -1: all.
struct LookedAtChannel {
  Index channel = -1;
  std::string data;
};

/// What was there before a stroke: a ramp is drawn anew on it.
struct EditsBefore {
  Edits edits;
};

/// A mark of the legend, from the right; returns where the next one ends.
float legend_from_right(float right, float y, ImU32 colour, bool hatched, std::string_view words) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float width = text_extent(words).x;
  learn_text({right - width, y}, c.dim, words);
  const float size = px(10);
  const ImVec2 from = {right - width - px(6) - size, y + (text_extent("x").y - size) / 2};
  const ImVec2 to = {from.x + size, from.y + size};
  if (hatched)
    hatch(ImGui::GetWindowDrawList(), from, to, colour);
  else
    ImGui::GetWindowDrawList()->AddRectFilled(from, to, colour);
  return from.x - px(16);
}

/// Which of the words so far have a row.
std::string which_words(const Session& session) {
  switch (asked_choice(session).by) {
    case AskedBy::person:
      return "the words that you ask about";
    case AskedBy::guide:
      return "what is asked for at this word, and the word itself";
    case AskedBy::strength:
      break;
  }
  return fmt::format("the words written most strongly so far, of {}", session.token() + 1);
}

void draw_lanes_headline(const Session& session, bool is_alignment, ImVec2 from, float right) {
  const style::Palette& c = style::colours();
  const RecalledLegend& legend = recalled_legend(is_alignment);
  float x = from.x;
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("what is measured", {std::max(right - from.x, 1.0F), px(headline - 4)});
  tooltip(recalled_measure(is_alignment, *session.computed()->variant));
  {
    const style::TextStyle text(style::Text::strong);
    learn_text(from, c.text, legend.title);
    x += text_extent(legend.title).x + px(14);
  }
  const float y = from.y + px(2);
  float end = right;
  if (right - from.x > px(760)) {
    end = legend_from_right(end, y, c.faint, true, "not yet there");
    end = legend_from_right(end, y, c.gate, false, "repaired");
    end = legend_from_right(end, y, c.alarm, false, "damaged by this word");
    end = legend_from_right(end, y, c.alarm, true, legend.excess);
    end = legend_from_right(end, y, c.good, false, legend.right);
  }
  const style::TextStyle text(style::Text::caption);
  if (end - x > px(120)) learn_text({x, y}, c.dim, shortened(which_words(session), end - x));
}

/// A reason in the place of rows.
void draw_lanes_reason(const std::string& reason, const Rectangle& place) {
  const style::TextStyle text(style::Text::body);
  const float width = std::min(place.maximum.x - place.minimum.x, px(widest_reason));
  const ImVec2 extent = ImGui::CalcTextSize(reason.c_str(), nullptr, false, width);
  const ImVec2 from = {(place.minimum.x + place.maximum.x - extent.x) / 2,
                       std::max((place.minimum.y + place.maximum.y - extent.y) / 2, place.minimum.y)};
  const float around = px(6);  // no edge of a chunk crosses the words
  ImGui::GetWindowDrawList()->AddRectFilled({from.x - around, from.y - around},
                                            {from.x + extent.x + around, from.y + extent.y + around},
                                            style::colours().panel);
  ImGui::SetCursorScreenPos(from);
  ImGui::PushStyleColor(ImGuiCol_Text, style::colours().dim);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + extent.x + 1);
  ImGui::TextUnformatted(reason.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

/// The memory after every visible token, or some of them.
std::vector<Index> moments_of(const FloorColumns& columns) {
  const Index begin = columns.begin() / window_step * window_step;
  const Index end = std::min((columns.end() / window_step + 1) * window_step, columns.tokens);
  const Index step = std::max<Index>((end - begin) / most_moments + 1, 1);
  std::vector<Index> moments;
  for (Index t = begin; t <= end; t += step) moments.push_back(t);
  if (moments.back() != end) moments.push_back(end);
  return moments;
}

/// What each of the words asked still answers, the same words as in Step's table; or why that is not known.
Known<Remembered> ask_remembered(Application& application, const TokenCourses& courses,
                                  const FloorColumns& columns) {
  Session& session = application.session;
  Known<Remembered> answer;
  answer.reason = courses.no_strengths;
  if (!courses.strengths) return answer;
  const auto words = session.questions().ask(
      WordsAsked{.of = session.computed(), .token = session.token(), .words = asked_choice(session).words});
  answer.reason = words.reason;
  if (!words.value) return answer;
  RememberedWords key;
  key.of = session.computed();
  for (const AskedWord& word : *words.value) key.tokens.push_back(word.token);
  name_words(key.tokens);
  key.moments = moments_of(columns);
  answer = session.questions().ask(key);
  const auto is_beyond = [&](Index token) { return token >= columns.tokens; };
  if (answer.value && std::ranges::any_of(answer.value->tokens, is_beyond))
    answer.value.reset();  // other data
  return answer;
}

/// What an array may hold, cut to what is painted.
double within(const Computation& computed, const std::string& array, double value) {
  const auto inputs = all_inputs(*computed.variant);
  const auto input = std::ranges::find(inputs, array, &Input::name);
  if (input == inputs.end()) return value;
  if (input->range == Range::positive_unit) return std::clamp(value, least_kept, 1.0);
  const double most = contains(input->range, 2 * std::max(value, 1.0)) ? value : 1;
  return std::clamp(value, 0.0, std::max(most, 0.0));
}

/// Lets a row be painted; `value_at(token, part)` is what the array gets there. With a reason why not
/// (`refusal`) that is said.
void let_paint(FloorRow& row, Application& application, const std::string& array,
               std::optional<Index> channel, const std::string& refusal,
               const std::function<double(Index token, float part)>& value_at) {
  row.refusal = refusal;
  if (!refusal.empty()) return;
  row.tip_more = "Drag the bars to paint; with Shift an even ramp.";
  row.paint = [&application, array, channel, value_at, id = "paint " + row.name](const FloorStroke& stroke) {
    Session& session = application.session;
    Choice choice = session.choice();
    Edits& before = context_local<EditsBefore>().edits;
    if (stroke.begins) before = choice.edits;
    const auto value = [&](Index token, float part) {
      return within(*session.computed(), array, value_at(token, part));
    };
    if (stroke.is_ramp && !channel) {
      choice.edits = before;
      const double first = value(stroke.first, stroke.first_part);
      const double last = value(stroke.token, stroke.part);
      if (stroke.token >= stroke.first)
        ramp(choice.edits, array, stroke.first, stroke.token, first, last);
      else
        ramp(choice.edits, array, stroke.token, stroke.first, last, first);
    } else {
      const auto [from, to] = std::minmax(stroke.last, stroke.token);
      for (Index t = from; t <= to; ++t) paint(choice.edits, array, t, t, value(t, stroke.part), channel);
    }
    if (choice.edits != session.choice().edits) session.choose(std::move(choice), id);
  };
}

/// Which channel is looked at, below the name of the gate's row.
void choose_channel(const Keeping& keeping, Index& channel, float gutter) {
  const Part* row = floor_part("gate");
  if (!row || keeping.channels < 2) return;
  ImGui::SetCursorScreenPos({gutter, row->where.maximum.y - px(channel_line)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(6), 0));
  const std::string words = channel < 0             ? fmt::format("all {}", keeping.channels)
                            : keeping.array == "mu" ? fmt::format("col {}", channel)
                                                    : fmt::format("row {}", channel);
  Index chosen = channel;
  if (style::word_button("<##channel", channel_line))
    chosen = channel < 0 ? keeping.channels - 1 : channel - 1;
  ImGui::SameLine();
  style::word_button((words + "##which channel").c_str(), channel_line);
  ImGui::SameLine();
  if (style::word_button(">##channel", channel_line))
    chosen = channel + 1 < keeping.channels ? channel + 1 : -1;
  ImGui::PopStyleVar();
  channel = chosen;
}

/// Whether these are of so many tokens.
bool is_of(const TokenCourses& courses, Index tokens) {
  return (!courses.strengths || courses.strengths->reach.size() == tokens) &&
         (!courses.keeping || courses.keeping->mean.size() == tokens);
}

/// How high a lane of a stored word is, in design pixels.
float lane_height(float room, bool grows, bool has_edges) {
  const float lower = (room < low_panel ? low_lower_rows : lower_rows) + (grows ? growth_height : 0);
  const float rest = room - floor_words_height - floor_captions_height - (has_edges ? edges_height : 0);
  return std::floor(std::clamp((rest - lower) / static_cast<float>(most_words), lowest_lane, highest_lane));
}

/// The lanes of stored words, `height` design pixels high together, or the reason why there are none.
void add_lanes(Floor& floor, Application& application, const Known<Remembered>& answer, float height) {
  const Session& session = application.session;
  const Trace* trace = session.trace();
  const Index batch = trace && trace->groups.kind == Groups::Kind::batches ? trace->groups.size : 1;
  float left = height;
  if (answer.value) {
    const Remembered& remembered = *answer.value;
    const auto count = static_cast<float>(std::max(std::ssize(remembered.tokens), most_words));
    for (Index word = 0; word < std::ssize(remembered.tokens); ++word) {
      const bool is_present = remembered.tokens[static_cast<std::size_t>(word)] == session.token();
      floor.rows.push_back(
          lane_row(*session.computed(), remembered, word, batch, is_present, height / count));
      left -= height / count;
    }
  }
  if (left <= 0.5F) return;
  floor.rows.push_back({.name = "free", .kind = FloorRow::Kind::own, .height = left});
  floor.rows.back().draw = [reason = answer.reason](const FloorColumns&, const Rectangle& place) {
    if (!reason.empty()) draw_lanes_reason(reason, place);
  };
}

void add_strengths(Floor& floor, Application& application, const StepReach& strengths,
                   const FloorColumns& columns) {
  const FloorScale scale = strength_scale(strengths, columns);
  FloorRow row = strength_row(*application.session.computed(), strengths, scale);
  const std::string refusal =
      strengths.array.empty() ? "every word of this rule steps equally far: it has no strength to paint" : "";
  let_paint(row, application, strengths.array, std::nullopt, refusal,
            [&strengths, scale](Index token, float part) {
              const double squares = strengths.squares[token];
              return squares > 0 ? std::max(scale.value(part), 0.0) / squares : 0;
            });
  floor.rows.push_back(std::move(row));
}

void add_gates(Floor& floor, Application& application, const std::optional<Keeping>& keeping, Index channel) {
  if (!keeping) {
    floor.rows.push_back({.name = "gate", .share = 46});
    floor.rows.back().label = {.lines = {{.words = "takes no gate", .colour = style::colours().dim}},
                               .left = true};
    return;
  }
  FloorRow row = half_life_row(*application.session.computed(), *keeping, channel);
  const std::string refusal =
      keeping->array.empty() ? "this rule has one fixed decay: its slider stands on the right" : "";
  let_paint(row, application, keeping->array, channel >= 0 ? std::optional(channel) : std::nullopt, refusal,
            [&keeping](Index, float part) { return painted_gate(*keeping, part); });
  floor.rows.push_back(std::move(row));
}

void add_errors(Floor& floor, const Computation& computed, const FloorColumns& columns) {
  add_error_row(floor, computed, columns);
  if (floor.rows.back().name != "error") return;
  FloorRow& row = floor.rows.back();
  const style::Palette& c = style::colours();
  row.share = 46;
  row.label = {.lines = {{.words = "error", .colour = c.dim},
                         {.words = "", .colour = c.error, .keys = {{"was", false}, {"is", true}}}},
               .left = true};
  row.levels.front().least_row = 0;
  row.tip = [&computed](Index token) { return error_bar_words(computed, token); };
}

void draw_learn_rows(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  const Computation& computed = *session.computed();
  const auto columns = columns_between(session, {from.x, from.y + px(headline)}, to, {60, 120});
  if (!columns) return;
  auto& looked = context_local<LookedAtChannel>();
  if (looked.data != session.data().id) looked = {.data = session.data().id};
  const Known<TokenCourses> answer = ask_courses(application, looked.channel);
  if (!answer.reason.empty() && looked.channel >= 0) looked.channel = -1;  // the rule has fewer
  const bool fits = answer.value && is_of(*answer.value, columns->tokens);
  const TokenCourses none;
  const TokenCourses& courses = fits ? *answer.value : none;
  const bool has_edges = courses.edges.overshoots.has_value();
  const bool grows = computed.divergence.has_value();
  const Known<Remembered> remembered = ask_remembered(application, courses, *columns);

  Floor floor = floor_of(session, "stored words");
  if (grows) floor.flagged = computed.divergence->token;
  floor.rows.push_back(captions_row());
  const float lane = lane_height(columns->size.y / style::scale(), grows, has_edges);
  add_lanes(floor, application, remembered, lane * static_cast<float>(most_words));
  floor.rows.push_back(words_row());
  if (has_edges) {
    floor.rows.push_back(
        {.name = "edges", .kind = FloorRow::Kind::links, .height = edges_height, .above = 2});
    floor.rows.back().links = edge_links(computed, courses);
  }
  if (courses.strengths)
    add_strengths(floor, application, *courses.strengths, *columns);
  else
    floor.rows.push_back({.name = "strength", .share = 56});
  add_gates(floor, application, courses.keeping, looked.channel);
  add_errors(floor, computed, *columns);
  if (grows) floor.rows.push_back(growth_row(computed, *columns));
  draw_lanes_headline(session, remembered.value && remembered.value->is_alignment, from, to.x);
  show_floor(application, floor, *columns);
  if (courses.keeping) choose_channel(*courses.keeping, looked.channel, from.x);
}

}  // namespace

void draw_learn_floor(Application& application) {
  draw_floor_panel(application, "##learn floor", 12, 6, RowsAbove::own, [&](ImVec2 from, ImVec2 to) {
    begin_learn_piece();
    draw_learn_rows(application, from, to);
  });
}

}  // namespace palimpsest
