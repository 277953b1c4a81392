#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/own_rule.h"
#include "core/proof/twin.h"
#include "core/proof/verify.h"

namespace palimpsest {

namespace {

int check(const CommandOptions& options, const Console& console) {
  const WrittenRule& rule = rule_in_file(options["FILE"]);
  const Variant& variant = rule.variant;
  const auto say = [&](const std::string& name, const std::string& words) {
    console.out << fmt::format("{:<10}{}\n", name, words);
  };
  say("rule", variant.label);
  for (const RuleFact& fact : rule_facts(rule)) say(fact.name, fact.words);
  say("loss", variant.loss.words);
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
  for (const VerifyResult& result : report.results) {
    std::string words =
        fmt::format("{} {}: {} of {} cases agree with the text, largest difference {:.1e}", name(result.form),
                    name(result.precision), result.runs - result.failed, result.runs, result.worst.error);
    if (result.overflown > 0)
      words += fmt::format("; in {} more the text itself overflows", result.overflown);
    say(&result == report.results.data() ? "proof" : "", words);
  }
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
