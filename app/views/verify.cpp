#include "app/views/verify.h"

#include "app/stage/head.h"
#include "app/views/story_page.h"

// The faults of Verify, and the centre: what is wrong with the one that is injected.

namespace palimpsest {

namespace {

Node form_choice(Application& application) {
  Nodes all;
  for (const Form form : all_forms) {
    const std::string& missing = application.session.computed()->form(form).missing;
    const std::string moves = fmt::format("Show the {} form; an injected fault moves to it.", name(form));
    all += scene::pill(name(form), form == proof_form(application))
               .enabled_if(missing.empty())
               .told(missing.empty() ? moves : missing)
               .on([&application, form] {
                 application.session.choose([form](Choice& choice) {
                   choice.form = form;
                   if (!choice.fault.id.empty()) choice.fault.form = form;
                 });
               });
  }
  return scene::row(scene::segments_of(std::move(all)), Gap::none);
}

/// "chunkwise, chunk 1, what will be written: first at token 2 “The”"; `briefly`: without the form, which is
/// highlighted beside it, and with the token's number alone, as the flag names the token.
std::string place_words(const Application& application, const Departure& at, bool briefly = false) {
  const Computation& computed = *application.session.computed();
  const Form form = proof_form(application);
  const bool in_chunks = has_chunks(form);
  const std::string title = with_small_letter(at.title);
  const std::string chunk =
      in_chunks ? fmt::format("chunk {}, ", at.token / computed.choice.chunk_size + 1) : std::string();
  if (briefly) return fmt::format("{}{}, token {}", chunk, title, at.token + 1);
  return fmt::format("{}, {}{}: first at {}", name(form), chunk,
                     at.phase.empty() ? title : at.phase + ", " + title, counted_token(computed, at.token));
}

/// The headline with `brief` if `words` do not fit; the tooltip always has `words`.
Node headline(Application& application, const std::string& words, const std::string& brief = {}) {
  Node said = scene::that_fits(brief.empty() ? std::vector{words} : std::vector{words, brief, brief});
  return scene::row({scene::text("Where do the forms differ?", style::Text::strong, 0, Fit::whole),
                     std::move(said).filling().named("headline").told(words), form_choice(application)},
                    Gap::wide);
}

Node centred(Nodes nodes) { return scene::centred(scene::row(std::move(nodes), Gap::small)); }

Node should_be(const FormulaChange& change, const Symbols& symbols, const LatexStyle& boxed) {
  const auto said = [](const std::string& words) { return scene::note(words, style::colours().alarm); };
  if (!change.carried.empty()) return centred({said(change.carried)});
  if (!change.should_be) return scene::column({});
  if (change.is_sign)
    return centred({said(change.should_be->kind() == Expression::Kind::sum ? "expected: +" : "expected: −")});
  return centred({said("expected"), scene::formula(latex(*change.should_be, symbols, boxed), 15)});
}

/// Whether a tensor is one column: it is drawn wide, not high.
bool is_wide(const Matrix<double>& values) { return values.cols() == 1 && values.rows() > 1; }

/// One of three pictures: the first of `words` for which there is room, and its cells, with a frame around
/// the first wrong row.
Node tensor_picture(const WrongPlace& place, const char* name, const std::vector<std::string>& words,
                    const Matrix<double>& values, double range,
                    const std::vector<std::string>& row_words = {}) {
  const style::Palette& c = style::colours();
  const Departure& at = place.tensor.departure;
  const bool is_difference = &values == &place.apart;
  Nodes title;
  if (const auto symbol = place.symbols.find(at.tensor); symbol != place.symbols.end())
    title += scene::formula(symbol->second.latex, 15, is_difference ? c.alarm : c.role(symbol->second.role));
  title += scene::that_fits(words, is_difference ? c.alarm : c.dim);
  const bool is_column = is_wide(values);
  Node cells =
      values.size() == 0
          ? scene::framed(
                scene::column({scene::rest(), centred({scene::caption("cannot be made")}), scene::rest()}),
                Gap::none, Gap::none, scene::edge_ink)
          : Node{scene::Picture{.values = &values,
                                .version = place.version,
                                .look = {.range = static_cast<float>(range), .transposed = is_column},
                                .height = 0,
                                .ringed_row = is_column ? 0 : at.row - place.first_row,
                                .ring = c.alarm,
                                .row_words = row_words}};
  Nodes all = {scene::row(std::move(title)), std::move(cells).named(name).filling(is_column ? 0.6F : 1)};
  if (is_column) all += scene::rest().filling(0.4F);
  return scene::column(std::move(all), Gap::tight);
}

/// The labels of the rows, of a tensor with several columns; the first wrong row always has one.
std::vector<std::string> words_of_rows(const Computation& computed, const WrongPlace& place) {
  const Departure& at = place.tensor.departure;
  std::vector<std::string> words;
  if (at.rows_per_token <= 0 || is_wide(place.tensor.should_be)) return words;
  for (Index row = 0; row < place.tensor.should_be.rows(); ++row) {
    const Index token = place.tensor.first_token + (place.first_row + row) / at.rows_per_token;
    const bool is_first = (place.first_row + row) % at.rows_per_token == 0;
    words.push_back(is_first && token < computed.sequence.tokens ? word_at(computed, token) : std::string());
  }
  return words;
}

Node tensor_pictures(const Computation& computed, const WrongPlace& place) {
  const std::string& words = symbol_in(place.symbols, place.tensor.departure.tensor).words;
  const std::string called = words.empty() ? words : ": " + words;
  const bool has_own_scale = place.should_range != place.range;
  const std::string own =
      has_own_scale ? fmt::format(", own scale ±{}", plain_number(place.should_range, 1)) : std::string();
  const std::string range = plain_number(place.range, 2);
  const std::string cut =
      place.first_row > 0 || place.first_column > 0 ? " around the first that differs" : "";
  const std::vector<std::string> rows = words_of_rows(computed, place);
  const float room_for_rows = rows.empty() ? 1 : 1.12F;  // so that all three are equally wide
  Node pictures = scene::top_row(
      {tensor_picture(place, "expected", {"expected" + own + called, "expected" + own, "expected"},
                      place.tensor.should_be, place.should_range, rows)
           .filling(room_for_rows),
       tensor_picture(place, "computed", {"computed", "computed"}, place.tensor.is, place.range).filling(),
       tensor_picture(place, "apart", {"difference"}, place.apart, place.range).filling()},
      Gap::wide);
  Node meaning = scene::row(
      {scene::note(fmt::format("{} × {} numbers{}", place.tensor.should_be.rows(),
                               place.tensor.should_be.cols(), cut)),
       scene::rest(),
       scene::that_fits({fmt::format("{}±{}; {} of the difference clipped",
                                     has_own_scale ? "" : "one scale, ", range, in_percent(place.beyond)),
                         fmt::format("±{}; {} clipped", range, in_percent(place.beyond))})});
  return scene::column({std::move(pictures).filling(), std::move(meaning)}, Gap::tight);
}

/// The arithmetic of the cell with the largest difference, correct and wrong.
Node arithmetic(Application& application, const WrongPlace& place) {
  const style::Palette& c = style::colours();
  const Departure& at = place.tensor.departure;
  const auto sum = [](const std::optional<Explanation>& why, double value, scene::Ink ink) {
    return scene::row({scene::line(why ? why->numbers : std::string(), style::Text::number_small),
                       scene::number("= " + plain_number(value, 4), ink)})
        .filling()
        .told(why ? why->formula + "\n" + why->numbers : std::string());
  };
  const auto symbol = place.symbols.find(at.tensor);
  Node cell = scene::row({symbol == place.symbols.end() ? scene::caption(at.tensor)
                                                        : scene::formula(symbol->second.latex, 14, c.dim),
                          scene::note(cell_indices(place.tensor.should_be, {at.tensor, at.row, at.column}))},
                         Gap::tight);
  const bool has_fault = !application.session.state().verify.fault.id.empty();
  Node button =
      scene::pill("open in Step  →")
          .told(has_fault ? "Opens this step with the fault." : "Opens this step as the device computes it.")
          .on([&application, at] { go_to_departure(application, proof_form(application), at); });
  Nodes lines = {scene::caption("Why this number?"),
                 scene::caption("expected"),
                 sum(place.tensor.why_should_be, at.expected, c.good),
                 std::move(cell).fixed(112),
                 scene::caption("computed"),
                 sum(place.tensor.why_is, at.got, c.alarm)};
  return scene::row({scene::grid(3, std::move(lines)).filling(), std::move(button)}, Gap::wide);
}

/// The question for the effect of the injected fault, or for the first tensor that it changes.
template <class Key>
Key about_fault(const Application& application) {
  const InjectedFault& fault = application.session.state().verify.fault;
  return {.of = without_fault(application.session.computed()), .form = fault.form, .fault = fault.id};
}

WrongHere about_device(const Application& application, Form form) {
  const auto computed = application.session.computed();
  return {.of = without_fault(computed),
          .form = form,
          .tolerance = std::max(step_tolerance, computed->form(form).judgement.allowed())};
}

/// What is wrong: formula, tensors and, except in a story, arithmetic. `reason`: a sentence for when no step
/// differs; `message`: why equations cannot be evaluated, usually empty.
Node wrong(Application& application, const std::string& reason, const std::string& message) {
  const bool has_fault = !application.session.state().verify.fault.id.empty();
  const WrongHere asked =
      has_fault ? about_fault<WrongHere>(application) : about_device(application, proof_form(application));
  const auto answer = ask(application, asked, has_fault ? Urgency::now : Urgency::later);
  if (fresh(answer) && *answer.value) {
    const WrongPlace& place = **answer.value;
    const FormulaChange& change = place.tensor.change;
    const LatexStyle boxed = boxed_style(change, style::colours().alarm);
    Nodes all = {centred({scene::formula(latex(change.is, place.symbols, boxed), 24)}),
                 should_be(change, place.symbols, boxed),
                 tensor_pictures(*application.session.computed(), place).filling()};
    if (!application.tells_story()) all += arithmetic(application, place);
    return scene::column(std::move(all), Gap::near).named("wrong/" + place.tensor.departure.operation);
  }
  if (!message.empty()) return scene::paragraph("Its equations cannot be computed: " + message);
  if (!answer.reason.empty()) return scene::paragraph(answer.reason);
  if (fresh(answer)) return scene::paragraph(reason);
  return awaiting("looking for the first tensor that differs", answer, application, asked);
}

Node faulty(Application& application) {
  const Fault& fault = find_fault(application.session.state().verify.fault.id);
  const Known<FaultFigures> figures = ask_present_fault(application);
  const bool is_known = fresh(figures);
  if (!is_known || !figures.value->without.empty()) {
    const std::string& refused = application.session.computed()->no_fault;
    Node why =
        is_known
            ? scene::paragraph(fmt::format("“{}” is not injected. {}", fault.label,
                                           refused.empty() ? "It " + figures.value->without + "." : refused))
            : awaiting("computing the faulty equations", figures, application,
                       about_fault<FaultHere>(application));
    return scene::column({headline(application, fault.label), std::move(why)}, Gap::wide);
  }
  const std::optional<Departure>& at = figures.value->departure;
  const Index output = figures.value->first_wrong;
  const std::string later = at && output > at->token
                                ? fmt::format("; the output differs from token {} on", output + 1)
                                : std::string();
  const Judgement& judgement = figures.value->judgement;
  return scene::column(
      {at ? headline(application, place_words(application, *at) + later,
                     place_words(application, *at, true) + later)
          : headline(application, fault.label),
       wrong(application, no_difference_words(judgement.allowed(), judgement.disagreement.error),
             figures.value->message)
           .filling()},
      Gap::near);
}

Node parting_device(Application& application) {
  const std::string& device = application.session.computed()->choice.device;
  const auto found = ask_device_departure(application, proof_form(application));
  const bool is_found = fresh(found) && *found.value;
  return scene::column(
      {headline(application, is_found
                                 ? fmt::format("on {}: {}", device,
                                               place_words(application, (*found.value)->tensor.departure))
                                 : fmt::format("{} and the CPU differ", device)),
       wrong(application,
             "No single step differs by more than the tolerance. Differences add up, or the run uses another "
             "kernel than these steps.",
             {})
           .filling()},
      Gap::near);
}

/// The first fault that is detected in this form here; nothing while that is not known.
std::optional<std::string> telling_fault(Application& application) {
  std::vector<std::string> ids = {"solve-sign", "write-sign", "nothing-erased"};  // easy to explain
  for (const Fault& fault : faults()) ids.push_back(fault.id);
  for (const std::string& id : ids) {
    const Known<FaultFigures> figures = ask(
        application, FaultHere{without_fault(application.session.computed()), proof_form(application), id},
        Urgency::later);
    if (!fresh(figures)) return std::nullopt;
    if (figures.value->without.empty() && figures.value->noticed()) return id;
  }
  return std::nullopt;
}

Node fault_story(Application& application) {
  const std::string& fault = application.session.state().verify.fault.id;
  const Computation& computed = *application.session.computed();
  if (fault.empty()) {
    const std::optional<std::string> next = telling_fault(application);
    Node button = scene::pill("inject a fault", true)
                      .named("inject")
                      .enabled_if(next.has_value())
                      .told(next ? find_fault(*next).sentence : "No fault is known to change this form yet.")
                      .on([&application, next] { inject(application, next.value_or("")); });
    return story_page(
        application,
        {.headline = {{agreement_verdict(application)}},
         .question = "Do all forms give the same outputs?",
         .about = agreement_about,
         .content = scene::column({agreement_chart(application).filling(), std::move(button)}, Gap::near),
         .least = least_story_chart});
  }
  const Known<FaultFigures> figures = ask_present_fault(application);
  const bool is_known = fresh(figures);
  return story_page(
      application,
      {.headline = {{fault_headline(computed, find_fault(fault), proof_form(application),
                                    is_known ? figures.value->first_wrong : -1)}},
       .question = "Where is the first wrong number?",
       .about = find_fault(fault).sentence,
       .content = scene::column({wrong(application, "No number differs on this text.",
                                       is_known ? figures.value->message : std::string())
                                     .filling(),
                                 scene::pill("remove the fault", true).named("remove").on([&application] {
                                   inject(application, "");
                                 })},
                                Gap::near)});
}

Node centre(Application& application) {
  if (const std::string nothing = nothing_to_show(application, ", so nothing can differ"); !nothing.empty())
    return scene::paragraph(nothing);
  if (application.tells_story()) return fault_story(application);
  const auto computed = application.session.computed();
  const VerifyState& state = application.session.state().verify;
  if (!state.fault.id.empty()) return faulty(application);
  if (!state.fragile.empty())
    return scene::column(
        {headline(application, "right on paper, not always in numbers"), fragile_form(application).filling()},
        Gap::wide);
  if (parts_on_device(*computed, proof_form(application))) return parting_device(application);
  Node said = scene::text(agreement_verdict(application), style::Text::headline).named("said");
  Node both = scene::column({std::move(said), agreement_chart(application).filling()}, Gap::near);
  return scene::column({headline(application, "no fault is injected"), std::move(both).filling()}, Gap::wide);
}

struct ListRow {
  std::string label = {};
  std::string number = {};
  std::string sentence = {};  // below it while it is chosen
  bool is_chosen = false;
  bool is_dim = false;
  scene::Ink colour = 0;         // of a chosen row
  scene::Ink number_colour = 0;  // 0: that of the label
};

/// A row that can be pressed: a dot, its label, a number. A chosen row has a frame and its sentence.
Node list_row(const ListRow& row, std::function<void()> press) {
  const style::Palette& c = style::colours();
  const scene::Ink words = row.is_chosen ? c.text : row.is_dim ? c.faint : c.dim;
  const scene::Ink number = row.is_chosen ? row.colour : row.number_colour != 0 ? row.number_colour : words;
  const auto label = [&](style::Text letters, Fit fit) {
    return scene::text(row.label, letters, words, fit);
  };
  Node line = scene::top_row(
      {scene::mark(row.is_chosen ? Mark::Kind::dot : Mark::Kind::ring, row.is_chosen ? row.colour : words),
       (row.is_chosen ? scene::first_that_fits(
                            {label(style::Text::strong, Fit::whole), label(style::Text::caption, Fit::wrap)})
                      : label(style::Text::caption, Fit::wrap))
           .filling(),
       scene::number(row.number, number)},
      Gap::small);
  Nodes all = {std::move(line)};
  if (row.is_chosen) all += scene::caption(row.sentence);
  return scene::framed(scene::column(std::move(all), Gap::tight), Gap::tight, Gap::hair,
                       row.is_chosen ? row.colour : 0)
      .named(row.label)
      .told(row.is_chosen ? std::string() : row.sentence)
      .revealed_for(row.is_chosen ? row.label + row.sentence : std::string())
      .on(std::move(press));
}

struct Listed {
  const Fault* fault;
  Known<FaultFigures> figures;

  const FaultFigures* known() const { return fresh(figures); }
  bool lacks() const { return known() && !known()->without.empty(); }
  bool is_noticed() const { return known() && !lacks() && known()->noticed(); }
};

/// How much each array differs; the badge shows the largest.
std::string by_array(const FaultFigures& figures) {
  if (figures.errors.empty()) return {};
  const double outputs = std::ranges::max(figures.errors);
  const Disagreement& worst = figures.judgement.disagreement;
  if (!figures.noticed()) return " It is not detected on this text.";
  std::string words = fmt::format(" Outputs differ by {}", plain_number(outputs));
  if (worst.array != "o")
    words += fmt::format(", {} at the end by {}", array_words(worst.array), plain_number(worst.error));
  return words + " of the largest number.";
}

/// In longer texts a fault takes seconds: each is tried when it is chosen, unless the user asks for all.
constexpr Index most_tokens_tried = 1024;

/// Whether all faults are tried; if not, adds a link to do so.
bool tries_all(Nodes& all, Session& session) {
  const Index tokens = session.computed()->sequence.tokens;
  if (tokens <= most_tokens_tried || session.state().verify.tries_all) return true;
  all += scene::caption(
             fmt::format(
                 "None is tried yet: with {} tokens each takes a while. A click on a fault tries it alone.",
                 tokens))
             .named("untried");
  all += scene::link("try all")
             .told("Injects every fault in turn and measures how much the outputs differ.")
             .on([&session] { session.change([](SessionState& state) { state.verify.tries_all = true; }); });
  return false;
}

void add_faults(Nodes& all, Application& application) {
  const style::Palette& c = style::colours();
  const Form form = proof_form(application);
  const std::string chosen = application.session.state().verify.fault.id;
  const bool tries = tries_all(all, application.session);
  std::vector<Listed> listed;
  // The newest request is answered first.
  for (const Fault& fault : faults() | std::views::reverse) {
    const FaultHere key{.of = without_fault(application.session.computed()), .form = form, .fault = fault.id};
    listed.push_back({&fault, {}});
    if (tries || fault.id == chosen) listed.back().figures = ask(application, key, Urgency::later);
  }
  std::ranges::reverse(listed);
  const auto known = std::ranges::count_if(listed, &Listed::known);
  const auto noticed = std::ranges::count_if(listed, &Listed::is_noticed);
  const auto impossible = std::ranges::stable_partition(listed, std::not_fn(&Listed::lacks));
  const std::span possible(listed.begin(), impossible.begin());
  for (const Listed& each : possible) {
    const bool is_chosen = each.fault->id == chosen;
    const bool is_unnoticed = each.known() && !each.known()->noticed();
    const ListRow row{.label = each.fault->label,
                      .number = each.known()                   ? size_words(*each.known())
                                : !each.figures.reason.empty() ? "?"
                                : each.figures.under_way       ? "…"
                                                               : "",
                      .sentence = each.fault->sentence + (each.known() ? by_array(*each.known()) : ""),
                      .is_chosen = is_chosen,
                      .colour = c.alarm,
                      .number_colour = is_unnoticed ? c.dim : 0};
    all += list_row(row, [&application, next = is_chosen ? std::string() : each.fault->id] {
      inject(application, next);
    });
  }
  if (tries && (known < std::ssize(faults()) || !possible.empty())) {
    all += scene::space(Gap::small);
    all +=
        scene::caption(known < std::ssize(faults())
                           ? fmt::format("{} of {} tried", known, faults().size())
                           : fmt::format("{} to this form; {} detected on this text.",
                                         counted(std::ssize(possible), "fault applies", "faults apply"),
                                         noticed == std::ssize(possible) ? fmt::format("all {} are", noticed)
                                                                         : counted(noticed, "is", "are")));
  }
  if (impossible.empty()) return;
  all += scene::space(Gap::small);
  all += scene::caption(
      fmt::format("{} not apply to this form.", counted(std::ssize(impossible), "fault does", "faults do")));
  for (const Listed& each : impossible) {
    const bool is_chosen = each.fault->id == chosen;
    const ListRow row{.label = each.fault->label,
                      .sentence = each.figures.value->without + ". " + each.fault->sentence,
                      .is_chosen = is_chosen,
                      .is_dim = true,
                      .colour = c.alarm};
    const std::string refusal = fmt::format("“{}” cannot be injected into the {} form here: {}",
                                            each.fault->label, name(form), each.figures.value->without);
    all += list_row(row, [&application, is_chosen, refusal] {
      if (is_chosen)
        inject(application, "");
      else
        application.refusal = refusal;
    });
  }
}

Node fragile_list(Application& application) {
  Session& session = application.session;
  Nodes all = {scene::caption("Right on paper, not in numbers")};
  for (const FragileForm& fragile : fragile_forms()) {
    const bool is_chosen = session.state().verify.fragile == fragile.way.id;
    all += list_row({.label = fragile.way.label,
                     .sentence = fragile.way.sentence,
                     .is_chosen = is_chosen,
                     .colour = style::colours().strength},
                    [&session, next = is_chosen ? std::string() : fragile.way.id] {
                      session.change([&](SessionState& state) {
                        state.verify.fragile = next;
                        state.verify.fault.id.clear();
                      });
                    });
  }
  return scene::column(std::move(all), Gap::none).named("fragile");
}

}  // namespace

LatexStyle boxed_style(const FormulaChange& change, scene::Ink box) {
  LatexStyle look = stage_latex();
  look.boxed = changed_piece;
  look.box_colour = style::hex(box);
  look.boxes_sign = change.is_sign;
  return look;
}

void inject(Application& application, const std::string& fault) {
  application.session.change([&, form = proof_form(application)](SessionState& state) {
    state.verify.fault = {fault, form};
    state.verify.fragile.clear();
  });
}

Known<FaultFigures> ask_present_fault(Application& application) {
  if (application.session.state().verify.fault.id.empty()) return {};
  return ask(application, about_fault<FaultHere>(application));
}

FragileHere about_fragile(const Application& application) {
  const VerifyState& verify = application.session.state().verify;
  return {.of = without_fault(application.session.computed()),
          .fragile = verify.fragile,
          .breaks = verify.breaks};
}

Known<FragileFigures> ask_present_fragile(Application& application) {
  const VerifyState& verify = application.session.state().verify;
  if (verify.fragile.empty() || !verify.fault.id.empty()) return {};
  return ask(application, about_fragile(application));
}

Known<std::optional<WrongPlace>> ask_device_departure(Application& application, Form form) {
  const auto computed = application.session.computed();
  if (!computed || !parts_on_device(*computed, form)) return {};
  return ask(application, about_device(application, form), Urgency::later);
}

void go_to_departure(Application& application, Form form, const Departure& at) {
  application.playing = false;
  application.show_welcome = false;
  application.session.choose([form](Choice& choice) { choice.form = form; });
  if (const Trace* trace = application.session.trace()) {
    const Block block = trace->block(at.block);
    const std::vector<Operation>& operations = trace->phase(block).operations;
    const auto operation = std::ranges::find(operations, at.operation, &Operation::id);
    application.session.set_cursor({at.block, operation - operations.begin(), at.token - block.first_token});
  }
  application.enter("step");
}

Node verify_panel(Application& application) { return centre(application).named("where"); }

Node verify_faults_panel(Application& application) {
  if (!application.session.computed()) return scene::column({});
  Node title = scene::row({scene::heading("Inject a fault"), scene::rest(), scene::caption("difference")});
  Nodes faults = {beside_segments(std::move(title))};
  add_faults(faults, application);
  return scene::column(
             {scene::column(std::move(faults), Gap::none).named("faults"), fragile_list(application)},
             Gap::near)
      .named("side");
}

}  // namespace palimpsest
