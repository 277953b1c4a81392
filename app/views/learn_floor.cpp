#include "app/views/answers.h"
#include "app/views/floor.h"
#include "app/views/learn.h"
#include "app/words/learn.h"

namespace palimpsest {

namespace {

constexpr Index most_words = WordChoice{}.most;  // more are pinned: they share the room
constexpr Index window_step = 64;  // tokens that a window moves by, so that scrolling seldom asks
constexpr Index most_moments = 1500;
constexpr double least_kept = 1e-6;  // for gates that must not be 0

// In design pixels.
constexpr float headline_height = 26;
constexpr float edges_height = 18;
constexpr float low_panel = 400;   // below this height rows have their least height
constexpr float lower_rows = 148;  // least height of all rows below the tokens
constexpr float low_lower_rows = 106;
constexpr float growth_height = 46;
constexpr float lowest_lane = 6;
constexpr float legible_lane = 13;  // as high as its label
constexpr float highest_lane = 24;

/// Which of the tokens so far have a row.
std::string which_words(const Session& session) {
  const AskedBy by = asked_choice(session).by;
  if (by == AskedBy::person) return chosen_lanes_words;
  return by == AskedBy::guide ? queried_lanes_words : strongest_lanes_words(session.token() + 1);
}

/// What the lanes measure, for which tokens, and, if it fits, what their colours mean.
Node lanes_headline(const Session& session, bool is_alignment) {
  const style::Palette& c = style::colours();
  const RecalledLegend& legend = recalled_legend(is_alignment);
  const auto entry = [](Mark::Kind kind, ImU32 colour, std::string_view words) {
    return scene::row({scene::mark(kind, colour), scene::tag(std::string(words))}, Gap::tight);
  };
  Nodes words = {scene::text(std::string(legend.title), style::Text::strong, 0, Fit::whole).named("title"),
                 scene::note(which_words(session)).filling()};
  Nodes all = words;
  all.push_back(scene::row(
      {entry(Mark::Kind::box, c.good, legend.right), entry(Mark::Kind::hatched, c.alarm, legend.excess),
       entry(Mark::Kind::box, c.alarm, "damaged by this token"), entry(Mark::Kind::box, c.gate, "repaired"),
       entry(Mark::Kind::hatched, c.faint, "not yet stored")},
      Gap::wide));
  return scene::first_that_fits(
             {scene::row(std::move(all), Gap::wide), scene::row(std::move(words), Gap::wide)})
      .named("headline")
      .told(recalled_measure(is_alignment, *session.computed()->variant));
}

/// A reason in place of rows, over a background that hides the chunk edges.
Node lanes_reason(const std::string& reason) {
  Node words = scene::framed(scene::paragraph(reason), Gap::small, Gap::small, 0, style::colours().panel);
  return scene::column({scene::rest(),
                        scene::row({scene::rest(), std::move(words).filling(2), scene::rest()}),
                        scene::rest()});
}

/// The numbers of tokens after which the memory is queried: all or some of the visible ones.
std::vector<Index> moments_of(const FloorColumns& columns) {
  const Index begin = columns.begin() / window_step * window_step;
  const Index end = std::min((columns.end() / window_step + 1) * window_step, columns.tokens);
  const Index step = std::max<Index>((end - begin) / most_moments + 1, 1);
  std::vector<Index> moments;
  for (Index t = begin; t <= end; t += step) moments.push_back(t);
  if (moments.back() != end) moments.push_back(end);
  return moments;
}

/// What the memory returns for each of the tokens queried, those of Step's table; or why that is not known.
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

/// A painted value, clamped to the range of the array.
double within(const Computation& computed, const std::string& array, double value) {
  const auto inputs = all_inputs(*computed.variant);
  const auto input = std::ranges::find(inputs, array, &Input::name);
  if (input == inputs.end()) return value;
  if (input->range == Range::positive_unit) return std::clamp(value, least_kept, 1.0);
  const double most = contains(input->range, 2 * std::max(value, 1.0)) ? value : 1;
  return std::clamp(value, 0.0, std::max(most, 0.0));
}

/// Lets the user paint a row; `value_at(token, part)` is the value for the array. A non-empty `refusal` says
/// why it cannot be painted.
void let_paint(FloorRow& row, Application& application, const std::string& array,
               std::optional<Index> channel, const std::string& refusal,
               const std::function<double(Index token, float part)>& value_at) {
  row.refusal = refusal;
  if (!refusal.empty()) return;
  row.tip_more = paint_words;
  row.paint = [&application, array, channel, value_at, id = "paint " + row.name](const FloorStroke& stroke) {
    Session& session = application.session;
    Edits edits = session.choice().edits;
    Edits& before = context_local<Edits, struct BeforeStroke>();  // a ramp starts from it
    if (stroke.begins) before = edits;
    const auto value = [&](Index token, float part) {
      return within(*session.computed(), array, value_at(token, part));
    };
    if (stroke.is_ramp && !channel) {
      edits = before;
      const double first = value(stroke.first, stroke.first_part);
      const double last = value(stroke.token, stroke.part);
      if (stroke.token >= stroke.first)
        ramp(edits, array, stroke.first, stroke.token, first, last);
      else
        ramp(edits, array, stroke.token, stroke.first, last, first);
    } else {
      const auto [from, to] = std::minmax(stroke.last, stroke.token);
      for (Index t = from; t <= to; ++t) paint(edits, array, t, t, value(t, stroke.part), channel);
    }
    if (edits != session.choice().edits) session.choose([&](Choice& choice) { choice.edits = edits; }, id);
  };
}

/// The choice of the channel, below the name of the gate's row.
void choose_channel(Session& session, const Keeping& keeping, float gutter) {
  const Part* row = floor_part("gate");
  if (!row || keeping.channels < 2) return;
  const Index channel = session.state().learn.channel;
  const std::string words = channel < 0             ? fmt::format("all {}", keeping.channels)
                            : keeping.array == "mu" ? fmt::format("col {}", channel + 1)
                                                    : fmt::format("row {}", channel + 1);
  const auto button = [&session](const char* sign, Index next) {
    return scene::word_button(sign).on(
        [&session, next] { session.change([next](SessionState& state) { state.learn.channel = next; }); });
  };
  scene::show_at(scene::column({scene::rest(),
                                scene::row({button("<", channel < 0 ? keeping.channels - 1 : channel - 1),
                                            scene::tag(words),
                                            button(">", channel + 1 < keeping.channels ? channel + 1 : -1)},
                                           Gap::small)})
                     .named("channel"),
                 {{gutter, row->where.minimum.y}, {row->where.minimum.x, row->where.maximum.y}});
}

/// Whether these courses have `tokens` tokens.
bool is_of(const TokenCourses& courses, Index tokens) {
  return (!courses.strengths || courses.strengths->reach.size() == tokens) &&
         (!courses.keeping || courses.keeping->mean.size() == tokens);
}

/// The height of a lane with only the tokens below the lanes, in design pixels.
float story_lane(float height) {
  constexpr float below_words = 8;  // of the cursor's frame
  const float room = height - floor_captions_height - floor_words_height - below_words;
  return std::clamp(room / static_cast<float>(most_words), lowest_lane, highest_lane);
}

/// The height of a stored token's lane, in design pixels.
float lane_height(float room, bool grows, bool has_edges) {
  const float lower = (room < low_panel ? low_lower_rows : lower_rows) + (grows ? growth_height : 0);
  const float rest = room - floor_words_height - floor_captions_height - (has_edges ? edges_height : 0);
  return std::floor(std::clamp((rest - lower) / static_cast<float>(most_words), lowest_lane, highest_lane));
}

/// The lanes of stored tokens, `height` design pixels in all, or the reason why there are none.
void add_lanes(Floor& floor, Application& application, const Known<Remembered>& answer, float height) {
  const Session& session = application.session;
  const Trace* trace = session.trace();
  const Index batch = trace && trace->groups.kind == Groups::Kind::batches ? trace->groups.size : 1;
  float left = height;
  if (answer.value) {
    const Remembered& remembered = *answer.value;
    const auto count = static_cast<float>(std::max(std::ssize(remembered.tokens), most_words));
    for (Index word = 0; word < std::ssize(remembered.tokens); ++word) {
      const bool is_present = entry(remembered.tokens, word) == session.token();
      floor.rows.push_back(
          lane_row(*session.computed(), remembered, word, batch, is_present, height / count));
      left -= height / count;
    }
  }
  if (left <= 0.5F) return;
  floor.rows.push_back({.name = "free", .kind = FloorRow::Kind::own, .height = left});
  floor.rows.back().draw = [reason = answer.reason](const FloorColumns&, const Rectangle& place) {
    if (!reason.empty()) scene::show_at(lanes_reason(reason), place);
  };
}

void add_strengths(Floor& floor, Application& application, const StepReach& strengths,
                   const FloorColumns& columns) {
  const FloorScale scale = strength_scale(strengths, columns);
  FloorRow row = strength_row(*application.session.computed(), strengths, scale);
  const std::string refusal = strengths.array.empty() ? no_strength_words : "";
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
    floor.rows.back().label = {.lines = {{.words = "no decay", .colour = style::colours().dim}},
                               .left = true};
    return;
  }
  FloorRow row = half_life_row(*application.session.computed(), *keeping, channel);
  const std::string refusal = keeping->array.empty() ? no_gate_words : "";
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

/// What the rows show of every token; for all channels if the chosen channel does not exist.
Known<TokenCourses> ask_courses(Session& session) {
  const Known<TokenCourses> answer =
      session.questions().ask(CoursesOfTokens{{session.computed()}, session.state().learn.channel});
  if (!answer.reason.empty() && session.state().learn.channel >= 0)
    session.change([](SessionState& state) { state.learn.channel = -1; });
  return answer;
}

}  // namespace

void draw_learn_floor(Application& application) {
  const FloorPanel panel = {.name = "stored tokens",
                            .top = 12,
                            .gap = 6,
                            .head = headline_height,
                            .least = {60, application.tells_story() ? 40.0F : 120.0F},
                            .legend = RowsAbove::own};
  draw_floor_panel(application, panel, [&](Floor& floor, const FloorPlaces& places) {
    Session& session = application.session;
    const Computation& computed = *session.computed();
    const FloorColumns& columns = places.columns;
    const Known<TokenCourses> answer = ask_courses(session);
    const bool fits = answer.value && is_of(*answer.value, columns.tokens);
    const TokenCourses none;
    const TokenCourses& courses = fits ? *answer.value : none;
    const bool has_edges = courses.edges.overshoots.has_value();
    const bool grows = computed.divergence.has_value();
    const Known<Remembered> remembered = ask_remembered(application, courses, columns);

    if (grows) floor.flagged = computed.divergence->token;
    floor.rows.push_back(captions_row());
    const bool is_story = application.tells_story();
    const float height = columns.size.y / style::scale();
    const float lane = is_story ? story_lane(height) : lane_height(height, grows, has_edges);
    const bool has_lanes = !is_story || lane >= legible_lane;
    if (has_lanes) add_lanes(floor, application, remembered, lane * static_cast<float>(most_words));
    floor.rows.push_back(words_row());
    if (has_edges && !is_story) {
      floor.rows.push_back(
          {.name = "edges", .kind = FloorRow::Kind::links, .height = edges_height, .above = 2});
      floor.rows.back().links = edge_links(computed, courses);
    }
    if (!is_story) {
      if (courses.strengths)
        add_strengths(floor, application, *courses.strengths, columns);
      else
        floor.rows.push_back({.name = "strength", .share = 56});
      add_gates(floor, application, courses.keeping, session.state().learn.channel);
      add_errors(floor, computed, columns);
      if (grows) floor.rows.push_back(growth_row(computed, columns));
    }
    if (has_lanes)
      scene::show_at(lanes_headline(session, remembered.value && remembered.value->is_alignment),
                     places.head);
    show_floor(application, floor, columns);
    if (courses.keeping && !is_story) choose_channel(session, *courses.keeping, places.left);
  });
}

}  // namespace palimpsest
