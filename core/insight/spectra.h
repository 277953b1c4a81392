#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/contract/variant.h"

namespace palimpsest {

/// How many directions a matrix uses.
struct Spectrum {
  std::string name;                // of the state
  Vector<double> singular_values;  // largest first
  double effective_rank =
      0;  // exp of the entropy of singular values / their sum (Roy & Vetterli 2007); 0 of 0
};

/// The effective rank of some singular values >= 0.
double effective_rank(const Vector<double>& singular_values);

/// The spectra of every state after `tokens` tokens; inside a batch that is written at once, of those before
/// it. Throws as states_at does, and InputError naming a state
/// that is not finite.
std::vector<Spectrum> spectra_at(const Variant& variant, const Sequence& sequence, Index tokens,
                                 std::stop_token stop = {});

}  // namespace palimpsest
