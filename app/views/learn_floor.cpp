#include "app/views/answers.h"
#include "app/views/floor.h"
#include "app/views/learn.h"
#include "app/words/learn.h"

namespace palimpsest {

namespace {

using PieceKind = FloorPiece::Kind;

constexpr double reach_top = 2.4;      // the axis of beta |k|^2: a little beyond the limit 2
constexpr double longest_life = 3000;  // tokens
constexpr double shortest_life = 0.5;
constexpr double seen_change = 0.02;  // of a share: smaller damage is not visible

// In design pixels.
constexpr float channel_line = 20;  // the line with the choice of the channel
constexpr float low_lane = 15;
constexpr float row_above = 2;
constexpr float row_below = 4;

/// The largest of a row's numbers over tokens that share a column; infinite if one is not finite.
double largest(const Vector<double>& numbers, Index first, Index end) {
  double most = 0;
  for (Index t = first; t < end; ++t)
    most = std::max(most, std::isfinite(numbers[t]) ? numbers[t] : HUGE_VAL);
  return most;
}

/// A row of bars with its symbol and text at the panel's edge.
FloorRow symbol_row(std::string name, float share, std::string symbol, ImU32 colour, std::string words) {
  return {.name = std::move(name),
          .share = share,
          .above = row_above,
          .below = row_below,
          .label = {.lines = {{.words = std::move(words), .colour = style::colours().dim}},
                    .symbol = std::move(symbol),
                    .symbol_colour = colour,
                    .left = true},
          .width = FloorWidth::narrow};
}

FloorScale half_life_scale() { return {.bottom = shortest_life, .top = longest_life, .logarithmic = true}; }

/// Recall of the stored token `word`, `height` design pixels high.
FloorRow lane_row(const Computation& computed, const Remembered& remembered, Index word, Index batch,
                  bool is_present, float height) {
  const Index token = entry(remembered.tokens, word);
  const std::string label = word_at(computed, token);
  const style::Text text = is_present          ? style::Text::strong
                           : height < low_lane ? style::Text::caption
                                               : style::Text::body;
  return {.name = fmt::format("lane/{}", token),
          .height = height,
          .above = std::min(2.0F, height / 4),
          .below = 1,
          .label = {.lines = {{.words = label, .colour = style::colours().text, .text = text}},
                    .brief = {asked_part(label)},
                    .number = std::to_string(token + 1)},
          .mark = [&remembered, word, batch](
                      Index first,
                      Index end) { return lane_mark(lane_state(remembered, word, first, end, batch)); },
          .width = FloorWidth::whole,
          .tip =
              [&computed, &remembered, word, batch, token](Index present) {
                return recalled_words(
                    {.word = quoted_and_numbered(computed, token),
                     .present = quoted_and_numbered(computed, present),
                     .state = lane_state(remembered, word, present, present + 1, batch),
                     .is_alignment = remembered.is_alignment,
                     .beside = remembered.is_alignment ? 0 : std::ssize(remembered.tokens) - 1});
              }};
}

/// beta |k|^2 with lines at 1 and 2, on a scale for the visible tokens.
FloorScale strength_scale(const StepReach& strengths, const FloorColumns& columns) {
  if (strengths.has_edge) return {.top = reach_top};
  double top = 0;
  for (Index t = columns.begin(); t < columns.end(); ++t)
    if (std::isfinite(strengths.reach[t])) top = std::max(top, strengths.reach[t]);
  return {.top = top > 0 ? 1.1 * top : 1};
}

FloorRow strength_row(const Computation& computed, const StepReach& strengths, const FloorScale& scale) {
  const style::Palette& c = style::colours();
  std::string symbol = strengths.array.empty() ? std::string()
                                               : fmt::format("\\fgcolor{{{}}}{{{}\\,}}",
                                                             style::hex(c.strength), strengths.symbol);
  if (!strengths.is_network) symbol += fmt::format("\\lVert\\fgcolor{{{}}}{{k}}\\rVert^2", style::hex(c.key));
  FloorRow row =
      symbol_row("strength", 56, symbol, c.text, strengths.is_network ? "× curvature" : "step size");
  row.mark = [&strengths, scale, &c](Index first, Index end) {
    const double reach = largest(strengths.reach, first, end);
    const float part = std::min(scale.part(reach), 1.0F);
    const float edge = strengths.has_edge ? scale.part(2) : 1;
    FloorMark mark;
    mark.bar(std::min(part, edge), c.strength);
    if (part > edge) {
      mark.add({.kind = PieceKind::hatch, .from = edge, .to = part, .colour = c.alarm});
      mark.add({.kind = PieceKind::outline, .from = edge, .to = part, .colour = c.alarm});
    }
    if (reach > scale.top) mark.add({.kind = PieceKind::cut, .colour = c.panel});
    return mark;
  };
  if (strengths.has_edge) {
    // With momentum it is not the rule's limit.
    const ImU32 edge = strengths.has_momentum ? c.dim : c.alarm;
    row.levels = {{.part = scale.part(2), .words = "2", .ink = edge, .colour = edge, .width = 1.5F},
                  {.part = scale.part(1),
                   .words = "1",
                   .ink = c.dim,
                   .colour = c.faint,
                   .dashed = true,
                   .least_row = 40}};
  } else {
    const double most = scale.top / 1.1;
    row.levels = {{.part = scale.part(most), .words = plain_number(most, 2), .ink = c.dim}};
  }
  row.tip = [&](Index token) {
    return quoted_and_numbered(computed, token) + "\n" + step_size_words(strengths, token);
  };
  return row;
}

/// The first tokens beyond the limits 1 and 2 of the step size, as links; nothing where there are none.
std::vector<FloorRow::Link> edge_links(const Computation& computed, const TokenCourses& courses) {
  const ReachEdges& edges = courses.edges;
  std::vector<FloorRow::Link> links;
  if (!courses.strengths) return links;
  const auto add = [&](int limit, ImU32 colour, Index token) {
    links.push_back({fmt::format("{} > {} first at {}", reach_symbol(*courses.strengths), limit,
                                 counted_token(computed, token)),
                     colour, token});
  };
  if (edges.overshoots && edges.overshoots != edges.diverges)
    add(1, style::colours().text, *edges.overshoots);
  if (edges.diverges) add(2, style::colours().alarm, *edges.diverges);
  return links;
}

constexpr Index most_words = WordChoice{}.most;  // more are pinned: they share the room
constexpr Index window_step = 64;  // tokens that a window moves by, so that scrolling seldom asks
constexpr Index most_moments = 1500;
constexpr double least_kept = 1e-6;  // for gates that must not be 0

// In design pixels.
constexpr float headline_height = 26;
constexpr float edges_height = 18;
constexpr float low_floor = 400;   // below this height rows have their least height
constexpr float below_words = 8;   // of the cursor's frame
constexpr float lower_rows = 148;  // least height of all rows below the tokens
constexpr float low_lower_rows = 106;
constexpr float growth_height = 46;
constexpr float lowest_lane = 6;
constexpr float legible_lane = 13;  // as high as its label
constexpr float highest_lane = 24;

/// What the lanes measure, for which tokens, and, if it fits, what their colours mean.
Node lanes_headline(const Session& session, bool is_alignment) {
  const style::Palette& c = style::colours();
  const RecalledLegend& legend = recalled_legend(is_alignment);
  const AskedBy by = asked_choice(session).by;
  const std::string which = by == AskedBy::person  ? chosen_lanes_words
                            : by == AskedBy::guide ? queried_lanes_words
                                                   : strongest_lanes_words(session.token() + 1);
  const auto entry = [](Mark::Kind kind, ImU32 colour, std::string_view words) {
    return scene::row({scene::mark(kind, colour), scene::tag(std::string(words))}, Gap::tight);
  };
  const Nodes words = {
      scene::text(std::string(legend.title), style::Text::strong, 0, Fit::whole).named("title"),
      scene::note(which).filling()};
  Nodes all = words;
  all += scene::row(
      {entry(Mark::Kind::box, c.good, legend.right), entry(Mark::Kind::hatched, c.alarm, legend.excess),
       entry(Mark::Kind::box, c.alarm, "damaged by this token"), entry(Mark::Kind::box, c.gate, "repaired"),
       entry(Mark::Kind::hatched, c.faint, "not yet stored")},
      Gap::wide);
  return scene::first_that_fits({scene::row(std::move(all), Gap::wide), scene::row(words, Gap::wide)})
      .named("headline")
      .told(recalled_measure(is_alignment, *session.computed()->variant));
}

/// The numbers of tokens after which the memory is queried: all or some of the visible ones.
std::vector<Index> moments_of(const FloorColumns& columns) {
  const Index begin = columns.begin() / window_step * window_step;
  const Index end = std::min((columns.end() / window_step + 1) * window_step, columns.tokens);
  const Index step = std::max<Index>((end - begin) / most_moments + 1, 1);
  std::vector<Index> moments;
  for (Index t = begin; t < end; t += step) moments.push_back(t);
  moments.push_back(end);
  return moments;
}

/// What the memory returns for each of the tokens queried, those of Step's table; or why that is not known.
Known<Remembered> ask_remembered(Application& application, const TokenCourses& courses,
                                 const FloorColumns& columns) {
  Session& session = application.session;
  Known<Remembered> answer;
  answer.reason = courses.no_strengths;
  if (!courses.strengths) return answer;
  const auto words = ask(
      session,
      WordsAsked{.of = session.computed(), .token = session.token(), .words = asked_choice(session).words});
  answer.reason = words.reason;
  if (!words.value) return answer;
  RememberedWords key{.of = session.computed(), .moments = moments_of(columns)};
  std::ranges::transform(*words.value, std::back_inserter(key.tokens), &AskedWord::token);
  name_words(key.tokens);
  answer = ask(session, key);
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
  const double most = bounds(input->range).contain(2 * std::max(value, 1.0)) ? value : 1;
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
  const std::string words = channel < 0            ? fmt::format("all {}", keeping.channels)
                            : keeping.is_of_values ? fmt::format("col {}", channel + 1)
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

/// The height of a stored token's lane if other rows take `taken` of the panel's `room`, in design pixels.
float lane_height(float room, float taken) {
  const float rest = room - floor_words_height - floor_captions_height - taken;
  return std::clamp(rest / static_cast<float>(most_words), lowest_lane, highest_lane);
}

/// The lanes of stored tokens, `height` design pixels in all, or the reason why there are none.
void add_lanes(Floor& floor, Application& application, const Known<Remembered>& answer, float height) {
  const Session& session = application.session;
  const Trace* trace = session.trace();
  const Index batch = trace && trace->groups.kind == Groups::Kind::batches ? trace->groups.size : 1;
  float left = height;
  if (answer.value) {
    const Remembered& remembered = *answer.value;
    const auto count = static_cast<float>(std::max<Index>(std::ssize(remembered.tokens), most_words));
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
    if (reason.empty()) return;
    // Over a background that hides the chunk edges.
    Node words = scene::framed(scene::paragraph(reason), Gap::small, Gap::small, 0, style::colours().panel);
    Node line = scene::row({scene::rest(), std::move(words).filling(2), scene::rest()});
    scene::show_at(scene::column({scene::rest(), std::move(line), scene::rest()}), place);
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

void add_gates(Floor& floor, Application& application, const TokenCourses& courses, Index channel) {
  const std::optional<Keeping>& keeping = courses.keeping;
  if (!keeping) {
    floor.rows.push_back({.name = "gate", .share = 46});
    const ImU32 dim = style::colours().dim;
    FloorRow& row = floor.rows.back();
    row.label = {.lines = {{.words = courses.never_decays ? "no decay" : "no single", .colour = dim}},
                 .left = true};
    if (!courses.never_decays) row.label.lines.push_back({.words = "decay", .colour = dim});
    return;
  }
  FloorRow row = half_life_row(*application.session.computed(), *keeping, channel);
  const std::string refusal = keeping->array.empty() ? no_gate_words : "";
  let_paint(row, application, keeping->array, channel >= 0 ? std::optional(channel) : std::nullopt, refusal,
            [forgets = keeping->forgets](Index, float part) {
              const double tokens = half_life_scale().value(part);
              const double kept = tokens >= 0.95 * longest_life    ? 1
                                  : tokens <= 1.05 * shortest_life ? 0
                                                                   : kept_for(tokens);
              return forgets ? 1 - kept : kept;
            });
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
      ask(session, CoursesOfTokens{{session.computed()}, session.state().learn.channel});
  if (!answer.reason.empty() && session.state().learn.channel >= 0)
    session.change([](SessionState& state) { state.learn.channel = -1; });
  return answer;
}

}  // namespace

LaneState lane_state(const Remembered& remembered, Index word, Index first, Index end, Index batch) {
  const Index token = entry(remembered.tokens, word);
  const auto share_after = [&](Index count) {
    const auto at = std::ranges::upper_bound(remembered.moments, count);
    const auto index = std::max<std::ptrdiff_t>(at - remembered.moments.begin() - 1, 0);
    return remembered.shares(word, static_cast<Index>(index));
  };
  LaneState state{.before = share_after(first), .now = share_after(end)};
  const bool waits = batch > 1 && first >= token && end <= (token / batch + 1) * batch &&
                     state.now == state.before && share_after(token) == state.now;
  state.is_there = end > token && !waits;
  state.is_own = state.is_there && first <= token;
  return state;
}

FloorMark lane_mark(const LaneState& state) {
  const style::Palette& c = style::colours();
  FloorMark mark;
  if (!state.is_there) {
    mark.add({.kind = PieceKind::hatch, .to = 1, .colour = style::mix(c.panel, c.edge, 0.8F)});
    return mark;
  }
  const auto [right, excess] = recalled_part(state.now);
  const auto share = static_cast<float>(right);
  const auto before = static_cast<float>(recalled_part(state.before).right);
  if (excess > 0) {
    const auto beyond = static_cast<float>(std::min(right + excess, 1.0));
    mark.add({.from = share, .to = beyond, .colour = style::mix(c.panel, c.alarm, 0.15F)});
    mark.add({.kind = PieceKind::hatch, .from = share, .to = beyond, .colour = c.alarm});
  }
  mark.bar(share, style::mix(c.panel, c.good, 0.5F));
  const bool has_changed = !state.is_own && std::abs(static_cast<double>(before - share)) > seen_change;
  if (has_changed)
    mark.add({.kind = PieceKind::inset,
              .from = std::min(share, before),
              .to = std::max(share, before),
              .colour = before > share ? c.alarm : c.gate});
  mark.add({.kind = PieceKind::edge, .to = share, .colour = c.good});
  if (state.is_own) mark.add({.kind = PieceKind::side, .to = 1, .colour = c.good});
  return mark;
}

FloorRow half_life_row(const Computation& computed, const Keeping& keeping, Index channel) {
  const style::Palette& c = style::colours();
  const bool are_many = keeping.channels > 1;
  FloorRow row = symbol_row("gate", 46, keeping.symbol, c.gate, "half-life");
  if (are_many) row.label.room_below = channel_line;
  row.mark = [&keeping, &c, is_mean = are_many && channel < 0](Index first, Index end) {
    const FloorScale scale = half_life_scale();
    const auto part = [&](double kept) { return std::clamp(scale.part(half_life(kept)), 1e-3F, 1.0F); };
    const auto of = [&](const Vector<double>& numbers) { return numbers.segment(first, end - first); };
    FloorMark mark;
    mark.bar(part(of(keeping.mean).minCoeff()), is_mean ? style::mix(c.panel, c.gate, 0.75F) : c.gate);
    if (is_mean)
      mark.add({.kind = PieceKind::whisker,
                .from = part(of(keeping.least).minCoeff()),
                .to = part(of(keeping.most).maxCoeff()),
                .colour = c.text});
    return mark;
  };
  for (const auto& [words, value] : {std::pair("1k", 1000.0), std::pair("10", 10.0)})
    row.levels.push_back({.part = half_life_scale().part(value),
                          .words = words,
                          .ink = c.dim,
                          .colour = style::with_alpha(c.panel, 0.6F),
                          .least_row = value < 100 ? 38.0F : 0});
  row.tip = [&computed, &keeping, channel](Index token) {
    return quoted_and_numbered(computed, token) + "\n" +
           keeping_words(keeping, channel, token, half_life_words(keeping.mean[token]));
  };
  return row;
}

FloorRow growth_row(const Computation& computed, const FloorColumns& columns) {
  const style::Palette& c = style::colours();
  FloorRow row = symbol_row("growth", 46, "|S|", c.text, "on a log axis");
  row.width = FloorWidth::usual;
  row.tip = [&](Index token) {
    const Recall* recall = computed.recall(token);
    return recall ? quoted_and_numbered(computed, token) + "\n" + growth_words(recall->root_mean_square)
                  : std::string();
  };
  const auto size_of = [&computed](Index token) {
    const Recall* recall = computed.recall(token);
    return recall ? recall->root_mean_square : 0;
  };
  FloorScale scale{.bottom = 1e300, .top = 0, .logarithmic = true};
  columns.each([&](Index, Index end, float, float) {
    const double size = size_of(end - 1);
    if (!(size > 0) || !std::isfinite(size)) return;
    scale.bottom = std::min(scale.bottom, size);
    scale.top = std::max(scale.top, size);
  });
  if (!(scale.top > scale.bottom)) return row;
  scale.bottom /= 2;
  row.mark = [&computed, &c, scale, size_of](Index, Index end) {
    const double size = size_of(end - 1);
    const bool ran_away = computed.divergence && end - 1 >= computed.divergence->token;
    FloorMark mark;
    mark.bar(std::isfinite(size) ? std::clamp(scale.part(size), 0.0F, 1.0F) : 1, ran_away ? c.alarm : c.dim);
    return mark;
  };
  row.levels = {{.part = 1, .words = fmt::format("{:.0e}", scale.top), .ink = c.dim}};
  return row;
}

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
    const auto has_tokens = [&](const Vector<double>& course) { return course.size() == columns.tokens; };
    const bool fits = answer.value &&
                      (!answer.value->strengths || has_tokens(answer.value->strengths->reach)) &&
                      (!answer.value->keeping || has_tokens(answer.value->keeping->mean));
    const TokenCourses none;
    const TokenCourses& courses = fits ? *answer.value : none;
    const bool has_edges = courses.edges.overshoots.has_value();
    const bool grows = computed.divergence.has_value();
    const Known<Remembered> remembered = ask_remembered(application, courses, columns);

    if (grows) floor.flagged = computed.divergence->token;
    floor.rows.push_back(captions_row());
    const bool is_story = application.tells_story();
    const float height = columns.size.y / style::scale();
    const float lower = (height < low_floor ? low_lower_rows : lower_rows) + (grows ? growth_height : 0) +
                        (has_edges ? edges_height : 0);
    const float lane = is_story ? lane_height(height, below_words) : std::floor(lane_height(height, lower));
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
      add_gates(floor, application, courses, session.state().learn.channel);
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
