#include "app/session/memory_questions.h"
#include "app/session/own_rule.h"
#include "app/session/step_questions.h"
#include "app/session/verify_questions.h"
#include "app/views/view.h"
#include "app/words/forms.h"
#include "core/variants/variants.h"
#include "core/written/formula_reader.h"

// The workspace Write: the text of a rule, and what was made of it.

namespace palimpsest {

namespace {

constexpr Index cases_tried = 200;
constexpr float texts_width = 320;  // design pixels
constexpr float crib_width = 660;
constexpr float written_width = 230;  // of a line of it
constexpr float text_share = 0.55F;   // of the panel at least; the typeset lines have the rest at most

void write(Application& application, const std::string& text) {
  application.session.change([&](SessionState& state) { write_rule(state, text); }, "rule text");
}

Node list_of_texts(Application& application) {
  Nodes rows;
  for (const Variant& variant : variants()) {
    const std::string text = written_text(variant);
    if (text.empty()) continue;
    rows +=
        scene::choice(variant.label, false).named(variant.id).told(variant.words).on([&application, text] {
          application.session.end_merge();
          write(application, text);
          scene::close();
        });
  }
  return scene::scroll("texts", scene::column(std::move(rows), Gap::hair)).fixed(420);
}

/// The language in a few lines: what is written, and what it means.
Node crib() {
  const auto functions = formula_functions();
  const std::pair<std::string, std::string> lines[] = {
      {"S = S + k v^T",
       "the memory, [dk, dv]: S is that before the token on the right, that after it on the left"},
      {"o = S^T q", "what the token reads"},
      {"S' = 0.9 * S", "a step on the way; its name is free, in Greek letters too"},
      {"x^T  |x|  x * y  x / y  x^2",
       "products of neighbours are those of matrices; * and / go element by element"},
      {"Diag(x)", fmt::format("and {}", fmt::join(functions.subspan(1), ", "))},
      {"input a: gate per token",
       "what comes with every token: a gate, decay, strength, rate, key or number; per token, key channel or "
       "value channel. Step has a slider for it where the data lack it"},
      {"setting c = 0.9 in [0, 1]", "a number of the rule, with a slider"},
      {"memory M: key x value", "a further memory; with key alone a vector"},
      {"loss = 1/2 |S^T k - v|^2", "what an update should make smaller, for Learn"},
      {"title: Fading memory", "its name in lists"}};
  Nodes rows;
  for (const auto& [written, words] : lines)
    rows += scene::top_row({scene::text(written, style::Text::number).fixed(written_width),
                            scene::text(words, style::Text::caption, scene::dim_ink).filling()},
                           Gap::near);
  return scene::column(std::move(rows), Gap::small);
}

std::map<std::string, Role, std::less<>> roles_of(const std::optional<RuleText>& rule) {
  std::map<std::string, Role, std::less<>> roles = {{"q", Role::query}, {"k", Role::key}, {"v", Role::value}};
  if (!rule) return roles;
  for (const auto& [name, symbol] : written_steps(*rule).symbols) {
    roles.insert({name, symbol.role});
    roles.insert({unicode("\\" + name), symbol.role});  // a Greek letter in place of its name
  }
  return roles;
}

std::vector<std::string> names_in(const RuleText& rule) {
  std::vector<std::string> names = {"q", "k", "v"};
  for (const Input& input : rule.inputs) names.push_back(input.name);
  for (const Parameter& setting : rule.parameters) names.push_back(setting.name);
  for (const RuleMemory& memory : rule.memories) names.push_back(memory.name);
  std::ranges::copy(formula_functions(), std::back_inserter(names));
  return names;
}

/// Every line as it was read, typeset, under the number that it has in the text.
Node lines_of(const RuleText& rule) {
  Symbols symbols = written_steps(rule).symbols;
  symbols["loss"] = {"\\mathcal{L}_t", Role::plain, "loss"};
  std::vector<RuleLine> lines = rule.lines;
  if (rule.loss) lines.push_back(*rule.loss);
  std::ranges::sort(lines, {}, &RuleLine::line);
  Nodes cells;
  for (const RuleLine& line : lines) {
    cells += scene::tag(std::to_string(line.line));
    cells += Node{scene::Formula{.latex = latex(line.equation, symbols), .fit = Fit::wrap}}.filling();
  }
  return scene::grid(2, std::move(cells), Gap::near, Gap::small).named("lines");
}

/// What is shown of a text. Lines, names and their roles are those of the last text without a flaw.
struct ReadRule {
  std::optional<RuleTextError> flaw = {};
  Node lines = {};
  std::map<std::string, Role, std::less<>> roles = roles_of({});
  std::vector<std::string> names = {};

  void read(const std::string& text) {
    flaw = flaw_of(text);
    if (flaw) return;
    const RuleText& rule = written_rule(text).text;
    lines = scene::scroll("typeset", lines_of(rule));
    roles = roles_of(rule);
    names = names_in(rule);
  }
};

/// The largest difference of the runs of a form in a precision; null where there are none.
const VerifyResult* result_of(const VerifyReport& report, Form form, Precision precision) {
  const auto found = std::ranges::find_if(report.results, [&](const VerifyResult& result) {
    return result.form == form && result.precision == precision && result.device == "cpu";
  });
  return found == report.results.end() ? nullptr : &*found;
}

Node form_row(const Variant& variant, Form form, const Known<VerifyReport>& proof) {
  const style::Palette& c = style::colours();
  const std::optional<std::string> missing = variant.rule->missing(form, resolve(variant, {}));
  if (missing)
    return scene::column(
               {scene::line(form_label(form), style::Text::body, scene::faint_ink), scene::caption(*missing)},
               Gap::tight)
        .named(name(form));
  const VerifyResult* const in_f64 = proof.value ? result_of(*proof.value, form, Precision::f64) : nullptr;
  const VerifyResult* const in_f32 = proof.value ? result_of(*proof.value, form, Precision::f32) : nullptr;
  const bool is_wrong = (in_f64 && !in_f64->passed()) || (in_f32 && !in_f32->passed());
  const auto line = [&](bool has_f32) {
    Nodes all = {scene::text(form_label(form), style::Text::strong, 0, Fit::whole), scene::rest()};
    if (in_f32 && in_f32->runs > 0 && has_f32)
      all += scene::number("f32 " + plain_number(in_f32->worst.error), scene::dim_ink);
    if (in_f64 && in_f64->runs > 0)
      all += scene::number("f64 " + plain_number(in_f64->worst.error), is_wrong ? c.alarm : c.good);
    return scene::row(std::move(all));
  };
  const bool is_compared = (in_f64 && in_f64->runs > 0) || (in_f32 && in_f32->runs > 0);
  const double done = is_compared ? 1 : proof.value ? 0 : proof.progress;
  Nodes all = {
      scene::first_that_fits({line(true), line(false)}),
      Node{scene::Bar{.value = done, .ink = is_wrong ? c.alarm : c.good, .height = 4, .shows_zero = false}}};
  for (const VerifyResult* result : {in_f64, in_f32}) {
    if (result && !result->passed())
      all += scene::caption(
          fmt::format("{}: {} of {} cases differ", name(result->precision), result->failed, result->runs));
    if (result && result->overflown > 0)
      all += scene::caption(fmt::format("{}: in {} cases not compared, the text itself overflows",
                                        name(result->precision), result->overflown));
  }
  return scene::column(std::move(all), Gap::tight).named(name(form));
}

std::string in_words(const NearestRule& nearest) {
  const std::string& label = nearest.variant->label;
  if (nearest.is_same) return fmt::format("The same as {}: both gave the same numbers.", label);
  std::string words = fmt::format("Nearest: {}.", label);
  for (const RuleFact& fact : nearest.differs) words += fmt::format(" Its {}: {}.", fact.name, fact.words);
  return words;
}

/// Whether any token makes a part of the memory grow.
std::string in_words(const LargestGrowth& growth, const DataSet& data) {
  constexpr double rounding = 1e-9;
  if (growth.factor <= 1 + rounding)
    return fmt::format("yes: none of {} tokens multiplies a part of the memory by more than {:.3g}",
                       growth.tried, growth.factor);
  return fmt::format("no: token {} “{}” multiplies a part of the memory by {}", growth.token + 1,
                     entry(data.labels, growth.token), plain_number(growth.factor, 3));
}

/// "20k FLOPs a token, chunkwise 31k".
std::string in_words(const std::vector<CostRow>& costs) {
  std::string words;
  for (const CostRow& row : costs) {
    if (!row.missing.empty()) continue;
    words += words.empty() ? fmt::format("{} FLOPs a token", in_thousands(row.flops))
                           : fmt::format(", {} {}", name(row.form), in_thousands(row.flops));
  }
  return words.empty() ? "not counted" : words;
}

void compare_with(Application& application, const Variant& other) {
  application.session.change([&](SessionState& state) {
    state.sides = {state.sides.front(), {.variant = other.id}};
    state.compare = {};
    state.workspace = "compare";
  });
}

}  // namespace

Node rule_text_panel(Application& application) {
  const SessionState& state = application.session.state();
  const std::string text = own_rule(state);
  auto& read = context_local<ReadRule>();
  kept_for(text, [&] { return read.read(text), true; });
  scene::Editor editor = {.text = text, .roles = read.roles, .completions = read.names};
  editor.set = [&application](const std::string& changed) { write(application, changed); };
  if (read.flaw) editor.flaw = scene::TextFlaw{read.flaw->line, read.flaw->column, read.flaw->what()};

  Nodes all = {
      scene::row(
          {scene::heading("Your rule"), scene::rest(),
           Node{scene::Menu{.words = "syntax", .content = crib, .width = crib_width}}.named("syntax").told(
               "How a rule is written."),
           Node{scene::Menu{.words = "start from",
                            .content = [&application] { return list_of_texts(application); },
                            .width = texts_width}}
               .named("start from")
               .told("Replaces the text by that of a known rule. Ctrl+Z brings yours back.")}),
      Node{std::move(editor)}.named("text").filling(text_share)};
  if (read.flaw)
    all += scene::text(read.flaw->what(), style::Text::caption, style::colours().alarm).named("flaw");
  const bool is_used = text == written_text(find_variant(state.sides.front().variant));
  if (!read.flaw && !is_used)
    all +=
        scene::link("compute this rule").named("use").on([&application, text] { write(application, text); });
  all += scene::rule();
  if (read.flaw) all += scene::caption("The last text that was a rule is still computed.");
  all += Node(read.lines).shrinking(1 - text_share);
  all += scene::row(
      {with_command(application, "data.open", scene::link("open…")),
       scene::link("export…")
           .told("Saves the text in a file, NAME.rule, which also the command line reads.")
           .enabled_if(!read.flaw)
           .on([&application, text] { application.ask_where_to_save_text("rule", text, ".rule"); })});
  return scene::column(std::move(all), Gap::near).named("rule");
}

Node rule_found_panel(Application& application) {
  Session& session = application.session;
  const Variant& variant = find_variant(session.choice().variant);
  const std::string text = written_text(variant);
  if (text.empty())
    return scene::column({scene::heading(variant.label), scene::paragraph(variant.words),
                          scene::paragraph("It is not the rule of a text: it needs more than the language of "
                                           "texts has.")},
                         Gap::near)
        .named("found");
  const WrittenRule& rule = written_rule(text);
  Nodes all = {scene::heading(variant.label)};
  const auto& computed = session.computed();
  const bool is_computed = computed && computed->variant == &variant;
  Nodes rows;
  const auto add_fact = [&](const RuleFact& fact) {
    rows += scene::top_row({scene::line(fact.name, style::Text::body, scene::role_ink(fact.role)).fixed(52),
                            scene::text(fact.words).filling()},
                           Gap::near);
  };
  std::ranges::for_each(kept_for(text, [&] { return rule_facts(rule); }), add_fact);
  if (is_computed && application.level() == Level::all) {
    const auto costs = ask(session, FormCosts{computed, session.choice().chunk_size}, Urgency::later);
    if (costs.value) add_fact({.name = "cost", .words = in_words(*costs.value)});
    const auto growth = ask(session, GrowthOfRule{computed}, Urgency::later);
    if (growth.value && *growth.value)
      add_fact({.name = "stable", .words = in_words(**growth.value, *computed->data)});
  }
  all += scene::column(std::move(rows)).named("facts");
  const Known<NearestRule> nearest = ask(session, NearestTo{variant.id});
  if (nearest.value && nearest.value->variant && nearest.value->variant != &variant)
    all +=
        scene::column(
            {scene::text(in_words(*nearest.value)),
             scene::link("show both")
                 .told("Opens Compare with your rule and this one.")
                 .on([&application, other = nearest.value->variant] { compare_with(application, *other); })},
            Gap::tight)
            .named("nearest");
  all += scene::text(variant.loss.words).named("loss");
  if (!variant.loss.latex.empty()) all += scene::formula(variant.loss.latex);
  all += scene::rule();
  all += scene::row({scene::heading("Its forms"), scene::rest(), scene::tag("largest difference")});
  const Known<VerifyReport> proof =
      ask(session, VerifiedVariant{.variant = rule.variant.id, .random_cases = cases_tried}, Urgency::later);
  for (const Form form : all_forms) all += form_row(rule.variant, form, proof);
  if (!proof.reason.empty()) all += scene::text(proof.reason, style::Text::caption, style::colours().alarm);
  all +=
      scene::caption(
          fmt::format("Compared with the lines of the text, computed one by one in f64, in {} random cases. "
                      "Numbers were compared: this is no proof.",
                      cases_tried))
          .named("proof");
  return scene::column(std::move(all), Gap::near).named("found");
}

}  // namespace palimpsest
