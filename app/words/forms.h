#pragma once

#include "app/session/session.h"

namespace palimpsest {

/// "Recurrent": also the identity of whatever switches to it.
const char* form_label(Form form);

/// "Chunkwise, C = 8", and the device where it is not the CPU: "Chunkwise, C = 8, cuda".
std::string form_title(Form form, const Choice& choice);

/// From which token on the memory runs away, why, and what that does to the pictures.
std::string divergence_words(const Divergence& divergence);

/// Whether a form is wrong on purpose.
bool has_fault_in(const Computation& computed);

/// What is wrong on purpose: what was done, in which form, and how to take it out.
std::string fault_explained(const InjectedFault& fault);

/// Whether all forms agree, and one that is wrong on purpose can be carried out.
bool is_in_order(const Computation& computed);

/// " on cuda"; empty for the CPU, which needs no words.
std::string on_device(const Choice& choice);

/// "3 forms agree · 4.4e-16", "3 forms agree on cuda · 4.4e-16", or from which token on they differ.
std::string agreement_words(const Computation& computed);

/// Every form's residual and what it is allowed, and where the device has two kernels for it.
std::string agreement_explained(const Computation& computed);

/// "the f64 recurrence": what every form in this precision is compared with.
std::string reference_words(Precision precision);

/// "2e-5 is allowed", with the reason where that is not usual.
std::string allowance_words(const FormResult& result);

/// The first token at which any form differs from the recurrence; -1 if none does.
Index first_bad_token(const Computation& computed);

/// What the costs mean together, as far as it is so.
std::string what_costs_mean(const std::vector<CostRow>& rows);

/// "28.8k".
std::string in_thousands(double value);

/// "5.09 KiB".
std::string in_bytes(double value);

/// Whether two-pass takes more than chunkwise with one chunk size, in a sentence.
std::string two_pass_words(bool takes_more);

/// Why a chunk of one word counts other FLOPs than the recurrent form, in a sentence; `has_scores`: its
/// form compares the words of a chunk with each other.
std::string one_word_words(double chunkwise, double recurrent, bool has_scores);

}  // namespace palimpsest
