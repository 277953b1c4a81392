#include "app/session/own_rule.h"

#include <fmt/format.h>

#include "core/proof/twin.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr const char* emptied = "\n";  // a text that was emptied: nothing else is shown in its place

/// Collects what a rule does, in its own letters.
struct Facts {
  const RuleText& rule;
  const RowForm& form;
  Symbols symbols;
  bool are_compared = false;  // a decay that is the same for all tokens is then "fixed", whatever it is
  std::vector<RuleFact> all = {};

  void add(const char* name, Role role, std::string words) { all.push_back({name, std::move(words), role}); }
  std::string letters(const Expression& x) const { return unicode(latex(x, symbols)); }

  /// "α S + M": numbers times memories.
  std::string sum(std::span<const Expression> numbers) const {
    std::string words;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == number_expression(0)) continue;
      if (!words.empty()) words += " + ";
      const std::string number = letters(numbers[i]);
      if (number.find(' ') != std::string::npos)
        words += fmt::format("({}) ", number);
      else if (number != "1")
        words += number + " ";
      words += form.mixing.names[i];
    }
    return words.empty() ? "nothing" : words;
  }

  /// Of memories side by side.
  void add_mixing() {
    const Mixing& mixing = form.mixing;
    const std::size_t count = mixing.names.size();
    const RowArrays& row = form.rows.front();
    for (std::size_t i = 0; i < count; ++i)
      add("decay", Role::gate,
          fmt::format("{} keeps {}", mixing.names[i],
                      sum(std::span(mixing.transition).subspan(i * count, count))));
    add("erase", Role::error,
        !row.erases ? "none"
                    : fmt::format("what {} of the token before returns for {}", sum(mixing.erase_sight),
                                  letters(row.a ? *row.a : row.k)));
    for (std::size_t i = 0; i < count; ++i) {
      if (mixing.inject[i] == number_expression(0)) continue;
      add("write", Role::value,
          fmt::format("{} under {} into {}, with the strength {}", letters(*row.v), letters(row.k),
                      mixing.names[i], letters(mixing.inject[i])));
    }
  }

  /// Whether it comes from numbers and settings alone.
  bool is_same_for_all(const Expression& x) const {
    std::vector<std::string> results = made_of(form.definitions, &Equation::result);
    return is_fixed(rule, expand(x, form.definitions, results));
  }

  /// Of one of a token's steps.
  void add(const RowArrays& row) {
    const Structure& structure = form.structure;
    if (row.gate)
      add("decay", Role::gate,
          is_same_for_all(*row.gate)
              ? fmt::format("{}, the same for every token", are_compared ? "fixed" : letters(*row.gate))
              : fmt::format("{}, a number for each {}", letters(*row.gate),
                            structure.decay == Decay::scalar ? "token" : "key channel"));
    if (row.mu) add("decay", Role::gate, letters(*row.mu) + ", a number for each value channel");
    if (!row.gate && !row.mu) add("decay", Role::gate, "none");
    add("erase", Role::error,
        !row.erases ? "none"
                    : fmt::format("what the memory {} the decay returns for {}",
                                  structure.erase == Erase::decayed ? "after" : "before",
                                  letters(row.a ? *row.a : row.k)));
    add_write(row.k, row.v, row.beta);
    if (row.beside)
      add("write", Role::value,
          fmt::format("{} under the same key into {}", letters(*row.beside), form.beside));
    if (row.k_plain) add_write(*row.k_plain, row.v_plain, {});
  }

  void add_write(const Expression& key, const std::optional<Expression>& value,
                 const std::optional<Expression>& strength) {
    std::string words = fmt::format("{} under {}", value ? letters(*value) : "what was erased", letters(key));
    if (strength) words += fmt::format(", with the strength {}", letters(*strength));
    add("write", Role::value, std::move(words));
  }
};

}  // namespace

std::string own_rule(const SessionState& state) {
  if (state.rule == emptied) return "";
  if (!state.rule.empty()) return state.rule;
  const std::string text = written_text(find_variant(without_strength(state.sides.front().variant)));
  return text.empty() ? find_variant("gated_deltanet").text : text;
}

void write_rule(SessionState& state, std::string text) {
  state.rule = text.empty() ? emptied : std::move(text);
  if (!flaw_of(state.rule)) state.sides.front().variant = written_id(state.rule);
}

std::optional<RuleTextError> flaw_of(std::string_view text) {
  try {
    written_rule(text);
    return std::nullopt;
  } catch (const RuleTextError& error) {
    return error;
  }
}

std::vector<std::string> own_rules(const SessionState& state) {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (id.starts_with(written_prefix) && !is_among(id, ids)) ids.push_back(id);
  };
  if (!state.rule.empty() && !flaw_of(state.rule)) add(written_id(state.rule));
  for (const Side& side : state.sides) add(side.variant);
  return ids;
}

namespace {

std::vector<RuleFact> facts_in(const WrittenRule& rule, const Symbols& symbols, bool are_compared = false) {
  if (const auto* const why_not = std::get_if<NoRowForm>(&rule.form))
    return {{"forms", fmt::format("token by token alone: {} (line {})", why_not->reason, why_not->line)}};
  const auto& form = std::get<RowForm>(rule.form);
  Facts facts = {rule.text, form, symbols, are_compared};
  if (form.mixing.names.empty())
    for (const RowArrays& row : form.rows) facts.add(row);
  else
    facts.add_mixing();
  facts.add(
      "read", Role::query,
      fmt::format("{}with {}, {} the write",
                  form.mixing.names.empty() ? "" : facts.sum(form.mixing.read_sight) + " ",
                  facts.letters(form.q), form.structure.read_at == ReadAt::before_row ? "before" : "after"));
  if (form.output) {
    for (const RuleMemory& memory : rule.text.memories)
      facts.symbols[read_of(memory.name)] = {fmt::format("({}^{{\\top}}q)", memory.name), Role::output, ""};
    facts.add("output", Role::output, facts.letters(*form.output));
  }
  return facts.all;
}

/// With gates and strengths called the same in all rules, so that facts can be compared.
std::vector<RuleFact> comparable_facts(const WrittenRule& rule) {
  Symbols symbols = written_steps(rule.text).symbols;
  for (const Input& input : rule.text.inputs) {
    if (is_among(input.range, {Range::decay, Range::unit})) symbols[input.name].latex = "\\alpha";
    if (is_among(input.range, {Range::strength, Range::non_negative})) symbols[input.name].latex = "\\beta";
  }
  return facts_in(rule, symbols, true);
}

}  // namespace

std::vector<RuleFact> rule_facts(const WrittenRule& rule) {
  return facts_in(rule, written_steps(rule.text).symbols);
}

Found<NearestRule> NearestTo::compute(const Effort&) const {
  const Variant& rule = find_variant(variant);
  if (const Variant* const twin = twin_of(rule)) return NearestRule{twin, true};
  const WrittenRule& own = written_rule(written_text(rule));
  const auto* const form = std::get_if<RowForm>(&own.form);
  if (!form) return NearestRule();
  const std::vector<RuleFact> facts = comparable_facts(own);
  NearestRule nearest;
  // By facts that differ; of two as near the one that decays alike, by another number.
  std::pair least = {std::numeric_limits<std::size_t>::max(), false};
  for (const Variant& known : variants()) {
    if (known.text.empty()) continue;
    const WrittenRule& other = written_rule(known.text);
    const std::vector<RuleFact> others = comparable_facts(other);
    const std::vector<RuleFact> in_its_letters = rule_facts(other);
    std::vector<RuleFact> differs;
    for (std::size_t i = 0; i < others.size(); ++i)
      if (!is_among(others[i], facts)) differs.push_back(in_its_letters[i]);
    const std::size_t missing =
        std::ranges::count_if(facts, [&](const RuleFact& fact) { return !is_among(fact, others); });
    const bool decays_alike = std::get<RowForm>(other.form).structure.decay == form->structure.decay;
    const std::pair distance = {differs.size() + missing, !decays_alike};
    if (distance >= least) continue;
    least = distance;
    nearest = {&known, false, std::move(differs)};
  }
  return nearest;
}

}  // namespace palimpsest
