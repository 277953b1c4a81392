#include "app/views/floor.h"

#include "app/session/typed_text.h"
#include "app/views/story_page.h"
#include "app/words/forms.h"

// The timeline of Step, and the row of buttons under every floor; which tokens of a text are underlined, and
// the text of a story with them.

namespace palimpsest {

namespace {

// In design pixels.
constexpr float narrowest_position = 216;
constexpr float comfortable_position = 360;  // if everything else fits
constexpr float widest_position = 520;

/// The grains by which buttons move: on the buttons, and in the ids of their commands.
const std::vector<std::string>& grains() {
  static const std::vector<std::string> words = {"operation", "token", "chunk"};
  return words;
}

Node button(Application& application, const char* name, Icon icon, const std::string& command) {
  return with_command(application, command, scene::icon_button(name, icon));
}

Node buttons(Application& application) {
  const std::string& grain = entry(grains(), static_cast<Index>(application.grain));
  const Icon play = application.playing ? Icon::pause : Icon::play;
  return scene::row({button(application, "to the start", Icon::to_start, "time.start"),
                     button(application, "back", Icon::back, grain + ".back"),
                     button(application, "play", play, "time.play"),
                     button(application, "forwards", Icon::forwards, grain + ".forward"),
                     button(application, "to the end", Icon::to_end, "time.end"),
                     button(application, "to the previous event", Icon::mark_back, "mark.back"),
                     button(application, "to the next event", Icon::mark_forward, "mark.forward")},
                    Gap::small);
}

/// "chunk 6 of 12 · ", if the form groups tokens.
std::string group_words(const Trace& trace, Index token) {
  const Groups& groups = trace.groups;
  const bool is_batch = groups.kind == Groups::Kind::batches;
  if (groups.kind == Groups::Kind::whole || !(is_batch || has_chunks(trace.form))) return {};
  return fmt::format("{} {} of {} · ", is_batch ? "batch" : "chunk", token / groups.size + 1,
                     (trace.tokens - 1) / groups.size + 1);
}

/// " · step 4 of 6: rank-one update", with the row if the step computes one row at a time.
std::string step_words(const Trace& trace, const Cursor& cursor) {
  const Block block = trace.block(cursor.block);
  const Operation& operation = trace.operation(cursor);
  std::string words = fmt::format(" · step {} of {}: {}", cursor.operation + 1,
                                  trace.phase(block).operations.size(), with_small_letter(operation.title));
  if (operation.by_row) words += fmt::format(", row {} of {}", cursor.row + 1, block.count);
  return words;
}

Node piece(const std::string& words, style::Text letters = style::Text::body, Fit fit = Fit::whole) {
  return scene::text(words, letters, letters == style::Text::body ? scene::dim_ink : 0, fit);
}

/// "token 43 of 94 · drum · step 4 of 6: rank-one update", or as much of it as fits.
Node position(const Session& session, const Trace& trace) {
  const std::string label = visible_label(entry(session.data().labels, session.token()));
  const std::string number = std::to_string(session.token() + 1);
  const std::string group = group_words(trace, session.token());
  const std::string step = step_words(trace, session.cursor());
  const std::string all = fmt::format("of {}", trace.tokens);
  const bool has_label = !only_counts(label, session.token());
  const auto wish = [&](bool is_named, const std::string& below) {
    Nodes pieces = {piece(group + "token"), piece(number, style::Text::strong),
                    piece(all + (is_named ? " ·" : ""))};
    if (is_named) pieces += piece(label, style::Text::strong);
    if (!below.empty()) pieces += piece(below, style::Text::body, Fit::whole);
    return scene::row(std::move(pieces), Gap::small);
  };
  // A label that would be cut to a dot is left out.
  return scene::first_that_fits({wish(has_label, step.substr(1)),
                                 wish(has_label, step.substr(1, step.find(':') - 1)), wish(has_label, ""),
                                 wish(false, ""),
                                 scene::line(group + "token " + number, style::Text::body, scene::dim_ink)})
      .named("position")
      .told(fmt::format("{}token {} of {}{}{}", group, number, trace.tokens, has_label ? " · " + label : "",
                        step));
}

Node grain_choice(Application& application) {
  Node all = scene::segments(
      grains(), static_cast<std::size_t>(application.grain),
      [&application](std::size_t chosen) { application.grain = static_cast<Session::Grain>(chosen); });
  for (Node& segment : std::get<scene::Row>(all.content).nodes)
    segment.tip =
        fmt::format("Buttons and playing move by one {}.", std::get<scene::Button>(segment.content).words);
  return all;
}

Node speed(Application& application) {
  const std::string words = fmt::format("{:g} steps/s", static_cast<double>(application.steps_per_second));
  return scene::row({button(application, "slower", Icon::minus, "time.slower"),
                     scene::steady({scene::caption(words), scene::caption("0.25 steps/s")}),
                     button(application, "faster", Icon::plus, "time.faster")},
                    Gap::none);
}

Nodes legend_entries(const Computation& computed, RowsAbove rows) {
  const style::Palette& c = style::colours();
  const TokenFacts facts = computed.tokens.empty() ? TokenFacts() : computed.tokens.front();
  Nodes all;
  const auto add = [&](Node sample, Node words) {
    all += scene::row({std::move(sample), std::move(words)}, Gap::small);
  };
  const auto add_mark = [&](Mark::Kind kind, scene::Ink ink, const char* words) {
    add(scene::mark(kind, ink), scene::caption(words));
  };
  if (rows == RowsAbove::none) return all;
  if (computed.recall(0)) {
    add_mark(Mark::Kind::outline, c.error, computed.edited ? "without fault: ‖e‖ before" : "‖e‖ before");
    add_mark(Mark::Kind::box, c.error, "after");
    add_mark(Mark::Kind::hatched, c.error, "overshoot");
  }
  if (facts.kept) add_mark(Mark::Kind::square, c.gate, "half-life, log");
  if (facts.written && rows == RowsAbove::facts) {
    const std::string& rate = computed.written_symbol;
    const std::string words = rate.empty() ? "\\lVert k\\rVert\\lVert v\\rVert" : rate + "\\lVert k\\rVert^2";
    add(scene::mark(Mark::Kind::square, c.strength), scene::formula(words, 14, c.dim).named("written"));
  }
  if (facts.written)
    add(scene::column({scene::line("token", style::Text::caption),
                       {scene::Bar{.value = 1, .ink = c.text, .height = 2, .shows_zero = false}}},
                      Gap::hair)
            .fixed(38),
        scene::caption("queried"));
  return all;
}

Node legend(const Nodes& entries) {
  return scene::first_that_fits(entries.size() + 1,
                                [entries](std::size_t left_out) {
                                  const auto end = entries.end() - static_cast<std::ptrdiff_t>(left_out);
                                  return scene::row({entries.begin(), end}, Gap::wide);
                                })
      .named("legend");
}

/// "94 tokens · 64 × 64 · max 1.0e-15", or the progress of the comparison.
std::string figures(const Session& session, const Computation& computed) {
  const Sequence& sequence = computed.sequence;
  const std::string size =
      fmt::format("{} · {} × {}", counted(sequence.tokens, "token", "tokens"), sequence.dk, sequence.dv);
  const auto is_known = [](const auto& form) { return form->is_compared || !form->missing.empty(); };
  if (session.computing() && !computed.is_complete())
    return fmt::format("{} · {} of {} forms compared", size, std::ranges::count_if(computed.forms, is_known),
                       computed.forms.size());
  return fmt::format("{} · max {}", size, plain_number(computed.worst, 2));
}

std::string figures_explained(const Session& session, const Computation& computed) {
  const DataSet& data = session.data();
  std::string words = fmt::format(
      "Largest difference from {}: {} ({}, {}{}); tolerance {}.\nKeys have {} channels, values {}.",
      reference_words(computed.choice.precision), plain_number(computed.worst, 2), name(computed.worst_form),
      name(computed.choice.precision), on_device(computed.choice), plain_number(computed.tolerance, 2),
      computed.sequence.dk, computed.sequence.dv);
  if (data.heads > 1)
    words += fmt::format("\nHead {} of 0–{}.", computed.choice.head % data.heads, data.heads - 1);
  if (data.batches > 1)
    words += fmt::format("\nBatch {} of 0–{}.", computed.choice.head / data.heads, data.batches - 1);
  return words;
}

std::string token_words(Session& session, Index token, Index bad) {
  const Computation& computed = *session.computed();
  const Index last = session.token();
  std::string words = fmt::format("token {}: {}", token + 1, quoted_word(computed, token));
  words += facts_words(computed, token, computed.recall(token));
  if (token < last) {
    const auto kept = ask(session, KeptSince{{session.computed()}, token, last});
    if (kept.value && *kept.value) words += kept_words(**kept.value, quoted_word(computed, last));
  }
  if (const std::string read = reading_words(session, token); !read.empty()) words += "\n" + read;
  if (token == bad) words += "\nFrom here on the forms differ.";
  return words;
}

constexpr Index look_back = 16384;
constexpr std::size_t usually_asked = 6;

struct Named {
  int frame = -2;
  std::vector<Index> words;
};

constexpr Index spans[] = {240, 160, 110, 80, 60, 44, 32, 24, 16, 10};  // numbers of tokens to try
constexpr double behind = 0.65;    // share of tokens before the cursor if the text is longer
constexpr float line_height = 28;  // design pixels

Node word(Application& application, Index token, bool is_stored) {
  const Session& session = application.session;
  const Index present = session.token();
  const ImU32 bright = style::colours().text;
  Node node{scene::Text{.words = word_at(*session.computed(), token),
                        .style = style::Text::title,
                        .ink = token == present  ? bright
                               : token > present ? scene::faint_ink
                               : is_stored       ? 0
                                                 : scene::dim_ink,
                        .fit = Fit::whole,
                        .height = line_height,
                        .underlined = is_stored}};
  if (token == present) node = scene::framed(std::move(node), Gap::small, Gap::none, bright);
  return std::move(node)
      .named(std::to_string(token))
      .told(fmt::format("token {} of {}", token + 1, session.data().tokens))
      .on([&application, token] { application.go_to(token); });
}

Node answer(const Session& session, bool is_hidden) {
  const bool is_apart = is_changed_here(session);
  const ImU32 ink = is_apart ? style::colours().dim : style::colours().value;
  if (is_hidden) return scene::framed(scene::tag("?"), Gap::small, Gap::none, ink);
  const ReadText& text = *session.data().read;
  const Index piece = text.said->answer().piece;
  Node said{scene::Text{.words = text.piece(piece),
                        .style = style::Text::title,
                        .ink = ink,
                        .fit = Fit::whole,
                        .height = line_height}};
  Node probability = scene::tag(fixed_number(std::exp(text.said->last(piece)), 2));
  Nodes words;
  if (is_apart) words += scene::tag("the unchanged model:");
  words += std::move(said);
  words += std::move(probability);
  return scene::framed(scene::row(std::move(words), Gap::small), Gap::small, Gap::none, ink)
      .named("answer")
      .told(answer_meaning(session) + "\nThe level “work” shows why.");
}

Node words(Application& application, Index span) {
  const Session& session = application.session;
  const Index tokens = session.data().tokens;
  const Index first =
      std::clamp<Index>(session.token() - static_cast<Index>(behind * static_cast<double>(span)), 0,
                        std::max<Index>(tokens - span, 0));
  const Index end = std::min(first + span, tokens);
  const std::vector<Index>& stored = underlined_words(session);
  const Node cut{scene::Text{.words = "…", .ink = scene::faint_ink, .height = line_height}};
  Nodes all;
  if (first > 0) all += cut;
  for (Index token = first; token < end; ++token)
    all += word(application, token, std::ranges::binary_search(stored, token));
  if (end < tokens) all += cut;
  if (session.data().read && end == tokens) all += answer(session, application.hides_answer());
  return scene::flow(std::move(all), Gap::small).named("words");
}

}  // namespace

void draw_transport(Application& application, RowsAbove rows) {
  const auto computed = application.session.computed();
  if (!computed) return;
  const Trace* trace = application.session.trace();
  const bool has_steps = trace && trace->block_count() > 0;
  const bool welcomes = application.show_welcome && has_steps;
  const Node keys = with_command(application, "help.keys", scene::word_button("? keys"));
  const Node sizes = scene::text(figures(application.session, *computed), style::Text::number_small,
                                 computed->agree ? scene::dim_ink : style::colours().alarm, Fit::whole)
                         .named("figures")
                         .told(figures_explained(application.session, *computed));
  const Nodes entries = legend_entries(*computed, rows);
  const Node gap = scene::rest().filling(0.01F);  // the position has priority
  // What follows the text keeps its place, whatever the text is.
  const auto row = [&](float least, Nodes after) {
    Nodes all = {buttons(application), scene::space(Gap::small)};
    if (welcomes)  // the first line that a new user reads
      all += with_command(
          application, "operation.forward",
          scene::pill("Press → for the next step, Space to play, ? for all keys.", true).named("welcome"));
    else
      all += (has_steps ? position(application.session, *trace) : scene::column({}))
                 .filling_between(least, widest_position);
    all += grain_choice(application);
    all += std::move(after);
    return scene::row(std::move(all));
  };
  scene::show_in(
      scene::first_that_fits(
          {row(comfortable_position,
               {speed(application), gap, scene::row(entries, Gap::wide).named("legend"), sizes, keys}),
           row(narrowest_position,
               {gap, legend(entries), scene::first_that_fits({sizes, scene::column({})}), keys}),
           row(0, {keys}), row(0, {})})
          .named("transport"),
      {ImGui::GetContentRegionAvail().x, style::px(32)});
}

void draw_timeline(Application& application) {
  const FloorPanel panel = {.name = "timeline",
                            .top = 8,
                            .gap = 0,
                            .least = {40, 60},
                            .has_overview = true,
                            .legend = RowsAbove::facts};
  draw_floor_panel(application, panel, [&](Floor& floor, const FloorPlaces& places) {
    Session& session = application.session;
    const Computation& computed = *session.computed();
    floor.flagged = computed.agree ? -1 : first_bad_token(computed);
    floor.tip = [&](Index token) { return token_words(session, token, floor.flagged); };
    floor.rows = {captions_row(14), words_row(23, 0)};
    add_fact_rows(floor, computed, places.columns);
    add_error_row(floor, computed, places.columns);
    add_loss_row(floor, session);
    show_floor(application, floor, places.columns);
  });
}

void name_words(std::vector<Index> tokens) { context_local<Named>() = {scene::frame(), std::move(tokens)}; }

std::vector<double> write_strengths(std::span<const TokenFacts> tokens) {
  std::vector<double> strengths;
  strengths.reserve(tokens.size());
  for (const TokenFacts& facts : tokens) {
    const double written = facts.written.value_or(0);
    strengths.push_back(std::isfinite(written) ? written : 0);
  }
  return strengths;
}

std::vector<Index> strongest_writes(std::span<const double> strengths, std::span<const std::string> labels,
                                    Index reached, std::size_t most) {
  const Index end = std::min<Index>(reached, static_cast<Index>(strengths.size()));
  const Index begin = std::max<Index>(end - look_back, 0);
  const auto strength = [&](Index t) { return entry(strengths, t); };
  double strongest = 0;
  for (Index t = begin; t < end; ++t) strongest = std::max(strongest, strength(t));
  std::vector<Index> found;
  for (Index t = begin; t < end; ++t) {
    if (strength(t) > 0 && strength(t) >= strongest / 2) found.push_back(t);
  }
  // A heap finds the few strongest of many without sorting all; of equal ones the first.
  const auto is_behind = [&](Index x, Index y) {
    return strength(x) != strength(y) ? strength(x) < strength(y) : x > y;
  };
  std::ranges::make_heap(found, is_behind);
  std::vector<Index> words;
  while (!found.empty() && words.size() < most) {
    std::ranges::pop_heap(found, is_behind);
    const Index t = found.back();
    found.pop_back();
    const auto label_of = [&](Index token) { return visible_label(entry(labels, token)); };
    if (!is_among(label_of(t), words, label_of)) words.push_back(t);
  }
  std::ranges::sort(words);
  return words;
}

const std::vector<Index>& underlined_words(const Session& session) {
  const Named& named = context_local<Named>();
  if (named.frame + 1 >= scene::frame()) return named.words;
  const Computation& computed = *session.computed();
  const std::vector<double>& strengths =
      kept_for(computed.version, [&] { return write_strengths(computed.tokens); });
  return kept_for(std::pair(computed.version, session.token()), [&] {
    return strongest_writes(strengths, computed.data->labels, session.token() + 1, usually_asked);
  });
}

Node story_floor_panel(Application& application) {
  const Session& session = application.session;
  if (!session.computed() || session.data().tokens == 0) return scene::column({});
  ask_story(application, session.computed());  // names the tokens to underline, in every workspace
  const Index tokens = session.data().tokens;
  std::vector<Index> tried = {std::min(tokens, spans[0])};
  std::ranges::copy_if(spans, std::back_inserter(tried), [&](Index span) { return span < tried[0]; });
  Node text = scene::first_that_fits(
      tried.size(), [&application, tried](std::size_t i) { return words(application, tried[i]); });
  return scene::column({std::move(text).filling(), story_buttons(application)}, Gap::near).named("text");
}

}  // namespace palimpsest
