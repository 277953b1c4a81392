#pragma once

#include "app/session/session.h"

namespace palimpsest {

/// "Recurrent": also the identity of buttons that switch to the form.
const char* form_label(Form form);

/// "Chunkwise, C = 8", with the device unless it is the CPU: "Chunkwise, C = 8, cuda".
std::string form_title(Form form, const Choice& choice);

/// From which token on the memory diverges, why, and what that means for the pictures.
inline std::string divergence_words(const Divergence& divergence) {
  return fmt::format("The memory diverges at token {}: {}. Each picture has its own scale.",
                     divergence.token + 1, divergence.words);
}

inline bool has_fault_in(const Computation& computed) { return computed.right && computed.no_fault.empty(); }

/// The injected fault: what it does, in which form, and how to remove it.
std::string fault_explained(const InjectedFault& fault);

/// Whether all forms agree, and the form with a fault, if any, can be computed.
inline bool is_in_order(const Computation& computed) {
  return computed.agree &&
         !(has_fault_in(computed) && !computed.form(computed.choice.fault.form).missing.empty());
}

/// Whether the rule's own text leaves what the precision holds, so that no form can be compared with it.
inline bool overflows(const Computation& computed) {
  return std::ranges::any_of(computed.forms, [](const auto& form) { return form->judgement.overflows; });
}

/// " on cuda"; empty for the CPU.
std::string on_device(const Choice& choice);

/// "3 forms agree · 4.4e-16", "3 forms agree on cuda · 4.4e-16", or from which token on they differ.
std::string agreement_words(const Computation& computed);

/// Every form's largest difference and its tolerance, and whether the device has two kernels for it.
std::string agreement_explained(const Computation& computed);

/// A form's largest difference, "4.4e-16", or "overflow".
std::string residual_in_words(const FormResult& result);

/// "the f64 recurrence": what every form in this precision is compared with.
inline std::string reference_words(Precision precision) {
  if (precision == Precision::f64) return "the f64 recurrence";
  return fmt::format("the f64 recurrence on {} inputs", name(given_in(precision)));
}

/// "2e-5 is allowed", with the reason if that is not the usual tolerance.
std::string allowance_words(const FormResult& result);

/// The first token at which any form differs from the recurrence; -1 if none does.
Index first_bad_token(const Computation& computed);

/// What the costs mean, as far as it is true here.
std::string what_costs_mean(const std::vector<CostRow>& rows);

/// "28.8k".
std::string in_thousands(double value);

/// "5.09 KiB".
std::string in_bytes(double value);

/// A sentence on whether two-pass costs more than chunkwise at the same chunk size.
std::string two_pass_words(bool takes_more);

/// A sentence on why a chunk of one token has other FLOPs than the recurrent form; `has_scores`: the form
/// compares the tokens of a chunk with each other.
std::string one_word_words(double chunkwise, double recurrent, bool has_scores);

}  // namespace palimpsest
