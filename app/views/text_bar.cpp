#include "app/session/typed_text.h"
#include "app/views/answers.h"
#include "app/words/step.h"

namespace palimpsest {

namespace {

constexpr float answers_width = 460;  // design pixels
constexpr float answers_height = 760;
constexpr float around_answers = 130;  // of the window, above and below
constexpr float changes_width = 420;
constexpr float list_width = 300;
constexpr std::size_t most_pieces = 6;

void change_text(Session& session, const std::function<void(TypedText&)>& edit,
                 std::string_view merge_key = {}) {
  TypedText typed = session.data().read->typed;
  edit(typed);
  session.read(typed, merge_key);
}

/// The same for what is done after a press.
template <class Edit>
std::function<void()> changing_text(Application& application, Edit edit) {
  return [&application, edit] { change_text(application.session, edit); };
}

std::vector<Index> pieces_shown(const ReadText& text) {
  std::vector<Index> pieces;
  for (std::size_t i = 0; i < TextReading::told; ++i) {
    for (const auto* reading : {text.trained.get(), text.said.get()}) {
      if (i >= reading->next.back().size()) continue;
      const Index piece = reading->next.back()[i].piece;
      if (!is_among(piece, pieces)) pieces.push_back(piece);
    }
  }
  pieces.resize(std::min(pieces.size(), most_pieces));
  return pieces;
}

Node continuation_bars(const ReadText& text) {
  Nodes cells = {scene::tag(""), scene::tag("as trained"), scene::tag("")};
  const auto add = [&](const TextReading& reading, Index piece) {
    const double probability = std::exp(reading.last(piece));
    cells += Node{scene::Bar{.value = probability, .ink = style::colours().value}}.filling();
    cells += scene::number(fixed_number(probability, 2));
  };
  if (text.is_changed()) cells.insert(cells.end(), {scene::tag("changed"), scene::tag("")});
  for (const Index piece : pieces_shown(text)) {
    cells += scene::line(text.quoted(piece));
    add(*text.trained, piece);
    if (text.is_changed()) add(*text.said, piece);
  }
  return scene::grid(text.is_changed() ? 5 : 3, std::move(cells)).named("next");
}

std::string difference_words(const ReadText& text) {
  const Index trained = text.trained->answer().piece;
  const Index now = text.said->answer().piece;
  if (trained == now) return {};
  const auto gap = [&](const TextReading& reading) { return reading.last(trained) - reading.last(now); };
  return fmt::format("logit of {} minus logit of {}: {} as trained, {} now", text.quoted(trained),
                     text.quoted(now), fixed_number(gap(*text.trained), 2), fixed_number(gap(*text.said), 2));
}

std::string surprise_words(const ReadText& text) {
  const std::string words = fmt::format("Loss: {} nats per token; {} on texts like its training data.",
                                        fixed_number(text.said->loss(), 2), fixed_number(text.usual_loss, 2));
  return is_surprised(text) ? words + " The model was not trained on such texts: do not trust its answer."
                            : words;
}

bool can_erase(const std::vector<HeadEffect>& effects) {
  return std::ranges::any_of(effects, [](const HeadEffect& effect) { return effect.only_adds.has_value(); });
}

Node head_grid(Application& application, const ReadText& text, const std::vector<HeadEffect>& effects) {
  const auto heads = static_cast<std::size_t>(text.model->weights.heads());
  const auto part = [&](const char* title, auto HeadEffect::*number) {
    Nodes cells = {scene::tag("layer")};
    for (std::size_t head = 0; head < heads; ++head) cells += scene::tag(fmt::format("head {}", head));
    for (const HeadEffect& effect : effects) {
      if (effect.head == 0) cells += scene::tag(std::to_string(effect.layer));
      const std::optional<double> change = effect.*number;
      const bool is_shown = text.typed.layer == effect.layer && text.typed.head == effect.head;
      cells += Node{scene::Button{.words = change ? fixed_number(*change, 1) : "–",
                                  .look = scene::Button::Look::segment,
                                  .chosen = is_shown,
                                  .ink = change && *change < -1 ? style::colours().alarm : scene::dim_ink}}
                   .named(fmt::format("{}.{}", effect.layer, effect.head))
                   .told("Shows this head")
                   .on(changing_text(application, [effect](TypedText& typed) {
                     typed.layer = effect.layer;
                     typed.head = effect.head;
                   }));
    }
    return scene::column({scene::tag(title), scene::grid(heads + 1, std::move(cells), Gap::small)},
                         Gap::tight);
  };
  Nodes all;
  if (can_erase(effects))
    all += part("without the erase of this head", &HeadEffect::only_adds).named("only adds");
  all += part("without the output of this head", &HeadEffect::silent).named("silent");
  return scene::column(std::move(all), Gap::near);
}

Plot tried_plot(const std::vector<ExperimentRow>& rows, bool is_changed) {
  const style::Palette& c = style::colours();
  Plot plot{
      .name = "tried",
      .x = {.title = {"overwrites of the fact"},
            .low = -0.2,
            .high = static_cast<double>(rows.back().overwritten) + 0.2,
            .has_round = false},
      .y = {.title = {"right answers"}, .low = 0, .high = static_cast<double>(rows.front().texts) * 1.05},
      .labels = Plot::Labels::beside,
      .beside = 84};
  for (const ExperimentRow& row : rows)
    plot.x.named.push_back(
        {.at = static_cast<double>(row.overwritten), .words = std::to_string(row.overwritten)});
  const auto add = [&](const char* name, Answered ExperimentRow::*answered, ImU32 colour) {
    PlotSeries series{
        .name = name, .look = {.colour = colour, .marker = PlotMarker::circle}, .label = {.words = {name}}};
    for (const ExperimentRow& row : rows)
      series.add(static_cast<double>(row.overwritten), static_cast<double>((row.*answered).right));
    series.tip = [rows, answered](std::size_t i) {
      return fmt::format("{} of {} right; {} named an earlier value", (rows[i].*answered).right,
                         rows[i].texts, (rows[i].*answered).older);
    };
    plot.series.push_back(std::move(series));
  };
  add("as trained", &ExperimentRow::trained, c.text);
  if (is_changed) add("changed", &ExperimentRow::changed, c.accent);
  return plot;
}

Node tried_texts(Application& application, const ReadText& text) {
  Session& session = application.session;
  const bool tries = session.state().text.tries;
  const auto turn = [&session, tries] {
    session.change([tries](SessionState& state) { state.text.tries = !tries; });
  };
  TriedTexts question{.model = text.typed.model, .interventions = {}};
  for (const Intervention& each : text.typed.interventions) question.interventions.push_back(to_string(each));
  Known<std::vector<ExperimentRow>> tried;
  if (tries) tried = ask(session, question, Urgency::later);
  Nodes all = {scene::heading("Twenty random texts")};
  if (!tries) {
    all += scene::paragraph("Texts about three jars; the fact about one is overwritten 0 to 3 times.");
    all += scene::pill("run").on(turn);
  } else if (tried.value) {
    all += scene::plotted(tried_plot(*tried.value, text.is_changed())).fixed(170);
  } else {
    all += scene::caption(tried.reason.empty() ? fmt::format("{:.0f} % done", 100 * tried.progress)
                                               : tried.reason);
    if (tried.reason.empty()) all += scene::word_button("stop").on(turn);
  }
  return scene::column(std::move(all), Gap::tight).named("tried");
}

void add_memories(Nodes& all, Application& application, const std::shared_ptr<const ReadText>& text) {
  Session& session = application.session;
  const Index token = session.token();
  const auto now =
      ask(session,
          TextAnswers{.of = text, .is_changed = true, .token = token, .words = asked_choice(session).words});
  if (!now.value) return;
  const WordChoice same = {.pinned = asked_tokens(now.value->table)};
  const auto before = ask(session, TextAnswers{.of = text, .token = token, .words = same});
  if (!before.value || before.value->table.words.size() != now.value->table.words.size()) return;
  const AnswerTable& trained = before.value->table;
  const AnswerTable& changed = now.value->table;
  CellTables cells = answer_cells(changed, std::max(answer_scale(trained), answer_scale(changed)));
  cells.rings.clear();
  cells.tables = {{.name = "trained", .titles = {"as trained"}, .values = trained.after},
                  {.name = "changed", .titles = {"changed"}, .values = changed.after}};
  all += scene::heading(
      fmt::format("What the memory returns after {}", quoted_word(*session.computed(), token)));
  all += Node{std::move(cells)}.named("memories");
}

/// The head whose change has the largest effect, of all heads changed one at a time.
std::string strongest_words(const ReadText& text, const std::vector<HeadEffect>& effects) {
  const auto least = [&](const auto& change) {
    const auto found = std::ranges::min_element(effects, {}, change);
    return fmt::format("head {}.{} ({})", found->layer, found->head, fixed_number(change(*found), 1));
  };
  std::string words =
      fmt::format("Change of log p({}), in nats. Largest effect: the output of {}",
                  text.quoted(text.said->answer().piece), least(std::mem_fn(&HeadEffect::silent)));
  if (can_erase(effects))
    words += fmt::format(", the erase of {}",
                         least([](const HeadEffect& effect) { return effect.only_adds.value_or(0); }));
  return words + ". Red: below −1; filled: the head shown; –: no erase.";
}

Node answers(Application& application) {
  const auto text = application.session.data().read;
  if (!text) return scene::column({});
  Nodes all = {scene::heading("Next token"), continuation_bars(*text)};
  if (const std::string words = difference_words(*text); !words.empty()) all += scene::caption(words);
  all += scene::caption(surprise_words(*text));
  if (text->is_changed()) add_memories(all, application, text);
  all += scene::heading("Effect of each head on the answer");
  const auto effects = ask(application, HeadEffects{text});
  const bool is_known = fresh(effects);
  all +=
      scene::caption(is_known                 ? strongest_words(*text, *effects.value)
                     : effects.reason.empty() ? fmt::format("head by head: {:.0f} %", 100 * effects.progress)
                                              : effects.reason);
  if (is_known) all += head_grid(application, *text, *effects.value);
  all += tried_texts(application, *text);
  const float height = std::min(answers_height, scene::window_height() - around_answers);
  return scene::column(
      {scene::scroll("all", scene::column(std::move(all), Gap::near).named("answers")).fixed(height)});
}

/// "head 2.2", "layer 2", "all layers": what a change applies to.
Node target_choice(Application& application, const TypedText& typed) {
  return field_choice(application.session, &SessionState::text, &TextView::target,
                      {{fmt::format("head {}.{}", typed.layer, typed.head), TextTarget::head},
                       {fmt::format("layer {}", typed.layer), TextTarget::layer},
                       {"all layers", TextTarget::all}})
      .named("target");
}

/// A slider whose neutral value removes the change.
Node slider_of(Application& application, const char* kind, const char* words, double neutral, double most) {
  const ReadText& text = *application.session.data().read;
  const Intervention wanted = targeted(text.typed, application.session.state().text.target, kind);
  const Intervention* const made = find_intervention(text.typed, wanted);
  const double value = made ? std::strtod(made->value.c_str(), nullptr) : neutral;
  const auto set = [&session = application.session, wanted, neutral](double number) {
    Intervention change = wanted;
    change.value = plain_number(number, 3);
    change_text(
        session, [&](TypedText& typed) { put(typed, change, number != neutral); }, wanted.kind);
  };
  return Node{scene::Slider{.words = words,
                            .value = value,
                            .look = {.minimum = 0, .maximum = most, .reset = neutral, .format = "%.2f"},
                            .set = set}}
      .named(kind);
}

Node value_menu(Application& application, const char* kind, const std::string& words,
                const std::vector<std::pair<std::string, std::string>>& values) {
  const auto content = [&application, kind, values] {
    Nodes all;
    for (const auto& [id, label] : values)
      all += scene::link(label).named(id).on([&application, kind, id] {
        change_text(application.session, [&](TypedText& typed) {
          Intervention change = targeted(typed, application.session.state().text.target, kind);
          change.value = id;
          put(typed, change, true);
        });
        scene::close();
      });
    return scene::scroll("values", scene::column(std::move(all), Gap::tight)).fixed(360);
  };
  return Node{scene::Menu{.words = words, .content = content, .width = list_width}}.named(kind);
}

Node value_menus(Application& application, const std::shared_ptr<const ReadText>& text) {
  std::vector<std::pair<std::string, std::string>> rules, mistakes;
  if (const auto fitting = ask(application, FittingRules{text}); fitting.value) {
    for (const std::string& id : *fitting.value) rules.emplace_back(id, find_variant(id).label);
  }
  for (const Fault& fault : faults()) mistakes.emplace_back(fault.id, fault.label);
  return scene::row({value_menu(application, "rule", "another rule", rules),
                     value_menu(application, "fault", "a fault", mistakes)});
}

Node changes(Application& application) {
  const auto text = application.session.data().read;
  if (!text) return scene::column({});
  const TypedText& typed = text->typed;
  Nodes all = {scene::heading("Changes of the model"),
               scene::row({scene::caption("in"), target_choice(application, typed)})};
  for (const auto& [command, kind] : {std::pair("text.only_add", "only-add"),
                                      {"text.silent", "silent"},
                                      {"text.take_out", "take-out"},
                                      {"text.clear", "clear"}}) {
    const bool is_made =
        find_intervention(typed, targeted(typed, application.session.state().text.target, kind));
    all +=
        with_command(application, command, scene::choice(find_command(application, command).words, is_made));
  }
  if (text->is_changed())
    all += with_command(application, "text.as_trained",
                        scene::link(find_command(application, "text.as_trained").words));
  const Arrays& arrays = text->said->head(typed.layer, typed.head).arrays;
  if (arrays.contains("beta")) all += slider_of(application, "beta", "strength β, times", 1, 3);
  if (arrays.contains("g")) all += slider_of(application, "fade", "log decay g, times", 1, 4);
  all += slider_of(application, "decay", "decay α (1: no decay)", 1, 1);
  all += value_menus(application, text);
  return scene::column(std::move(all), Gap::near).named("changes");
}

void add_changes(Nodes& all, Application& application, const TypedText& typed) {
  for (const Intervention& each : typed.interventions) {
    all +=
        Node{scene::Button{
                 .words = in_words(each), .ink = style::colours().accent, .fit = Fit::shorten, .tail = " ×"}}
            .named("change " + to_string(each))
            .told("A change of the model. A click removes it.")
            .on(changing_text(application, [each](TypedText& next) { put(next, each, false); }))
            .cut_between(60, 240);
  }
}

Node examples(Application& application) {
  Nodes all = {scene::heading("Example texts")};
  for (const StartingText& start : starting_texts())
    all += scene::link(start.name).on([&application, words = start.text] {
      TypedText typed = application.session.data().read->typed;
      typed.text = words;
      application.session.open_named(text_id(typed));
      scene::close();
    });
  return scene::column(std::move(all), Gap::tight);
}

Node models(Application& application) {
  Nodes all = {scene::heading("Model")};
  for (const ShippedModel& model : shipped_models())
    all += scene::link(model.words).named(model.name).on([&application, name = std::string(model.name)] {
      change_text(application.session, [&](TypedText& typed) {
        typed.model = name;
        typed.interventions.clear();
      });
      scene::close();
    });
  all += examples(application);
  return scene::column(std::move(all), Gap::tight).named("models");
}

Node places(Application& application) {
  const auto text = application.session.data().read;
  if (!text) return scene::column({});
  const LanguageModel<float>& weights = text->model->weights;
  const auto row_of = [&](const char* what, Index count, Index TypedText::*field) {
    std::vector<std::string> words;
    for (Index i = 0; i < count; ++i) words.push_back(std::to_string(i));
    const auto present = static_cast<std::size_t>(text->typed.*field);
    return scene::row({scene::caption(what).fixed(48),
                       scene::segments(words, present, [&application, field](std::size_t chosen) {
                         change_text(application.session,
                                     [&](TypedText& typed) { typed.*field = static_cast<Index>(chosen); });
                       }).named(what)});
  };
  return scene::column({row_of("layer", weights.layers(), &TypedText::layer),
                        row_of("head", weights.heads(), &TypedText::head)},
                       Gap::near);
}

Node text_line(Application& application) {
  Session& session = application.session;
  const auto set = [&session](const std::string& typed) {
    change_text(
        session, [&](TypedText& next) { next.text = typed; }, "text");
  };
  return Node{scene::Input{.text = session.data().read->typed.text,
                           .set = set,
                           .takes_keyboard = std::exchange(application.wants_keyboard, false)}}
      .named("text");
}

/// The model's answer, or why there is none for the typed text.
Node answer(Application& application, const ReadText& text) {
  // A message about something else says nothing about the text.
  const std::string problem =
      is_text_id(application.session.refused()) ? application.session.message() : std::string();
  return Node{scene::Menu{.words = problem.empty() ? answer_in_words(text) : "no answer",
                          .content = [&application] { return answers(application); },
                          .width = answers_width}}
      .named("answer")
      .told(problem.empty() ? answer_meaning(application.session) +
                                  "\nA click shows all probabilities and the effect of each head."
                            : problem);
}

}  // namespace

void draw_text_bar(Application& application, float top, float height) {
  const auto text = application.session.data().read;
  const TypedText& typed = text->typed;
  const auto menu = [&application](const char* piece, const std::string& words, Node (*content)(Application&),
                                   float width, const char* tip) {
    return Node{scene::Menu{words, [&application, content] { return content(application); }, width}}
        .named(piece)
        .told(tip);
  };
  Nodes all;
  if (application.tells_story()) {
    all = {text_line(application).filling(),
           menu("examples", "examples", examples, list_width, "Texts that the model reads well"),
           with_command(application, "text.type", scene::word_button("done"))};
  } else {
    all = {menu("model", "model " + typed.model, models, list_width,
                "The language model that reads the text, and example texts"),
           text_line(application).filling()};
    add_changes(all, application, typed);
    all += menu("change", "change", changes, changes_width, "Changes the model; the answer shows the effect");
    all += menu("place", fmt::format("layer {} · head {}", typed.layer, typed.head), places, list_width,
                "The layer and head shown");
    all += answer(application, *text);
  }
  scene::show_bar("Text bar", height, scene::row(std::move(all), Gap::near).named("text bar"), top);
}

}  // namespace palimpsest
