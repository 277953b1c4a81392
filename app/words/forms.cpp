#include "app/words/forms.h"

#include "app/session/verify_questions.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

/// The result of a form with an injected fault; empty while that is not known.
std::string fault_in_words(const Computation& computed) {
  const Form form = computed.choice.fault.form;
  const FormResult& result = computed.form(form);
  if (!result.missing.empty()) return fmt::format("{} cannot run with this fault", name(form));
  const Index bad = result.first_bad_token;
  if (!result.is_compared || bad < 0) return {};
  constexpr std::size_t short_word = 8;  // bytes that fit into the top bar
  const std::string word = visible_label(entry(computed.data->labels, bad));
  return fmt::format("{} differs from token {} on · {}", name(form),
                     word.size() > short_word ? std::to_string(bad + 1) : numbered_label(word, bad),
                     plain_number(result.residual(), 2));
}

/// `value` in the first unit in which it is below `base`, with three digits, or four before the point.
std::string in_units(double value, double base, std::initializer_list<const char*> units) {
  const auto* unit = units.begin();
  for (; unit + 1 != units.end() && std::round(value) >= base; ++unit) value /= base;
  return unit == units.begin() ? fmt::format("{:.0f}{}", value, *unit)
                               : fmt::format("{:.{}g}{}", value, value < 999.5 ? 3 : 4, *unit);
}

}  // namespace

const char* form_label(Form form) {
  static constexpr const char* labels[] = {"Recurrent", "Chunkwise", "Two-pass", "Parallel"};
  return entry(labels, form);
}

std::string form_title(Form form, const Choice& choice) {
  const bool is_computed_there = choice.fault.id.empty() || choice.fault.form != form;
  const std::string device = on_device(choice).empty() || !is_computed_there ? "" : ", " + choice.device;
  if (!has_chunks(form)) return form_label(form) + device;
  return fmt::format("{}, C = {}{}", form_label(form), choice.chunk_size, device);
}

std::string on_device(const Choice& choice) {
  return choice.device == cpu_backend().name() ? "" : " on " + choice.device;
}

std::string residual_in_words(const FormResult& result) {
  return result.judgement.overflows ? "overflow" : plain_number(result.residual(), 2);
}

std::string allowance_words(const FormResult& result) {
  const Judgement& judgement = result.judgement;
  if (judgement.overflows) return "the rule's own text overflows, so nothing can be compared";
  std::string words = fmt::format("tolerance {}", plain_number(judgement.allowed(), 2));
  if (!judgement.tolerance.reason.empty()) words += fmt::format(" ({})", judgement.tolerance.reason);
  if (!result.amplified.empty()) words += ". " + result.amplified;
  return words;
}

Index first_bad_token(const Computation& computed) {
  Index first = computed.sequence.tokens;
  for (const auto& form : computed.forms) {
    if (form->first_bad_token >= 0) first = std::min(first, form->first_bad_token);
  }
  return first < computed.sequence.tokens ? first : -1;
}

std::string fault_explained(const InjectedFault& fault) {
  const Fault& wrong = find_fault(fault.id);
  return fmt::format("{}: {}\nThis fault was injected into the {} form in Verify. A click removes it.",
                     wrong.label, wrong.sentence, name(fault.form));
}

std::string agreement_words(const Computation& computed) {
  const std::string fault = has_fault_in(computed) ? fault_in_words(computed) : std::string();
  if (!fault.empty()) return fault;
  if (overflows(computed)) return "the text overflows";
  if (computed.agree) {
    const auto count = [&](bool says_nothing) {
      return std::ranges::count_if(computed.forms, [&](const auto& form) {
        return form->missing.empty() && form->judgement.says_nothing() == says_nothing;
      });
    };
    const auto agreeing = count(false);
    const auto lost = count(true);
    return fmt::format("{} {}{}{} · {}", counted(agreeing, "form", "forms"),
                       agreeing == 1 ? "agrees" : "agree", on_device(computed.choice),
                       lost == 0 ? "" : fmt::format(", {} lost in rounding", lost),
                       plain_number(computed.worst, 2));
  }
  const Index bad = first_bad_token(computed);
  const std::string device = on_device(computed.choice);
  const std::string worst = plain_number(computed.worst, 2);
  if (bad < 0) return fmt::format("final states differ{} · {}", device, worst);
  return fmt::format("forms differ{} from token {} on · {}", device, bad + 1, worst);
}

std::string agreement_explained(const Computation& computed) {
  std::string words = fmt::format(
      "Outputs and final states of every form{} compared with {}; differences relative to the largest "
      "number.",
      on_device(computed.choice), reference_words(computed.choice.precision));
  if (!on_device(computed.choice).empty()) words += " The reference runs on the CPU.";
  for (const Form form : all_forms) {
    const FormResult& result = computed.form(form);
    words += fmt::format("\n{}: {}", form_label(form),
                         result.missing.empty()
                             ? fmt::format("{}, {}", residual_in_words(result), allowance_words(result))
                             : "missing");
  }
  for (const Form form : all_forms) {
    if (const std::string fused = fused_words(computed, form); !fused.empty())
      words += fmt::format("\n{}: {}", form_label(form), fused);
  }
  return words;
}

std::string in_thousands(double value) { return in_units(value, 1000, {"", "k", "M", "G"}); }

std::string in_bytes(double value) { return in_units(value, 1024, {" B", " KiB", " MiB", " GiB"}); }

std::string two_pass_words(bool takes_more) {
  return takes_more ? "Two-pass costs more than Chunkwise: its second pass recomputes the decays and reads "
                      "the state of every chunk. In return it computes all outputs at once."
                    : "Two-pass costs the same FLOPs and bytes as Chunkwise here: its second pass reads "
                      "nothing again.";
}

std::string one_word_words(double chunkwise, double recurrent, bool has_scores) {
  if (chunkwise == recurrent)
    return fmt::format("A chunk of one token costs the same as the recurrent form: {} FLOPs.",
                       in_thousands(recurrent));
  return fmt::format("C = 1 costs {} FLOPs, the recurrent form {}: a chunk of one token {}.",
                     in_thousands(chunkwise), in_thousands(recurrent),
                     has_scores ? "still computes its 1 × 1 scores" : "is still computed as a chunk");
}

std::string what_costs_mean(const std::vector<CostRow>& rows) {
  bool differ = false;
  bool buys = false;   // fewer steps for more FLOPs
  bool saves = false;  // fewer steps without more FLOPs
  for (const CostRow& one : rows) {
    for (const CostRow& other : rows) {
      if (!one.missing.empty() || !other.missing.empty()) continue;
      differ = differ || one.flops != other.flops || one.bytes != other.bytes || one.steps != other.steps;
      buys = buys || (one.flops > other.flops && one.steps < other.steps);
      saves = saves || (one.flops <= other.flops && one.steps < other.steps);
    }
  }
  constexpr const char* on_a_gpu = "; within a step a GPU works in parallel.";
  if (buys) return std::string("Per token. Forms with more FLOPs need fewer sequential steps") + on_a_gpu;
  if (saves)
    return std::string("Per token. Some forms need fewer sequential steps without more FLOPs") + on_a_gpu;
  if (!differ && std::ranges::count(rows, "", &CostRow::missing) > 1)
    return "Per token. Every form costs the same here.";
  return "Per token.";
}

}  // namespace palimpsest
