#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "core/io/file.h"
#include "core/proof/twin.h"
#include "core/proof/verify.h"
#include "core/written/written_rule.h"

namespace palimpsest {

namespace {

std::string in_letters(const Expression& expression) { return unicode(latex(expression, {})); }

/// Rows of two columns: what it is called, and what it is.
using RuleFacts = std::vector<std::pair<std::string, std::string>>;

/// Of one of a token's rows.
void add_facts(const RowForm& form, const RowArrays& row, RuleFacts& facts) {
  const Structure& structure = form.structure;
  if (row.gate)
    facts.emplace_back("decay",
                       fmt::format("{}, {}", in_letters(*row.gate),
                                   structure.decay == Decay::scalar ? "a number for each token"
                                                                    : "a number for each key channel"));
  if (row.mu)
    facts.emplace_back("decay", fmt::format("{}, a number for each value channel", in_letters(*row.mu)));
  if (!row.gate && !row.mu) facts.emplace_back("decay", "none");
  if (!row.erases) {
    facts.emplace_back("erase", "none");
  } else {
    facts.emplace_back("erase", fmt::format("what the memory {} the decay returns for {}",
                                            structure.erase == Erase::decayed ? "after" : "before",
                                            in_letters(row.a ? *row.a : row.k)));
  }
  const auto write = [&](const Expression& key, const std::optional<Expression>& value, bool with_strength) {
    std::string words =
        fmt::format("{} under {}", value ? in_letters(*value) : "what was erased", in_letters(key));
    if (with_strength && row.beta) words += fmt::format(", with the strength {}", in_letters(*row.beta));
    facts.emplace_back("write", std::move(words));
  };
  write(row.k, row.v, true);
  if (row.k_plain) write(*row.k_plain, row.v_plain, false);
}

RuleFacts facts_of(const RowForm& form) {
  RuleFacts facts;
  for (const RowArrays& row : form.rows) add_facts(form, row, facts);
  facts.emplace_back("read", fmt::format("with {}, {} the write", in_letters(form.q),
                                         form.structure.read_at == ReadAt::before_row ? "before" : "after"));
  return facts;
}

int check(const CommandOptions& options, const Console& console) {
  const WrittenRule& rule = written_rule(read_text_file(options["FILE"], most_rule_bytes));
  const Variant& variant = rule.variant;
  const auto say = [&](const std::string& name, const std::string& words) {
    console.out << fmt::format("{:<10}{}\n", name, words);
  };
  say("rule", variant.label);
  if (const auto* const row = std::get_if<RowForm>(&rule.form)) {
    for (const auto& [name, words] : facts_of(*row)) say(name, words);
  } else {
    const auto& why_not = std::get<NoRowForm>(rule.form);
    say("shape", fmt::format("no row program: {} (line {})", why_not.reason, why_not.line));
  }
  const Settings settings = random_settings(variant, {}, 1);
  for (const Form form : all_forms) {
    const std::optional<std::string> missing = variant.rule->missing(form, settings);
    say(form == all_forms[0] ? "forms" : "", missing ? *missing : std::string(name(form)));
  }
  if (const Variant* const twin = twin_of(variant))
    say("same as", fmt::format("{} ({})", twin->label, twin->id));
  VerifyPlan plan;
  plan.variants = {variant.id};
  plan.random_cases = parse_count(options["--cases"], "--cases", 1, 1000000);
  const Interrupt interrupt;
  const VerifyReport report = verify(plan, variants(), {}, interrupt.token());
  for (const VerifyResult& result : report.results)
    say(&result == report.results.data() ? "proof" : "",
        fmt::format("{} {}: {} of {} cases agree with the text, largest difference {:.1e}", name(result.form),
                    name(result.precision), result.runs - result.failed, result.runs, result.worst.error));
  console.out << "Numbers were compared; the algebra above is what they test.\n";
  if (!report.complete()) throw Cancelled();
  return report.passed() ? exit_done : exit_failed_checks;
}

}  // namespace

Task add_rule(CommandOptions command, Console console) {
  CommandOptions one =
      command.subcommand("check", "What a rule's text was recognised as, and whether its forms agree");
  one.option("FILE", "The rule's text", "", {.required = true});
  one.option("--cases", "How many random cases are compared", "200");
  return [command, one, console] {
    if (!command.gave_subcommand()) refuse("give rule a command: rule check FILE");
    return check(one, console);
  };
}

}  // namespace palimpsest
