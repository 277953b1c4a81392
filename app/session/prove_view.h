#pragma once

#include <string>

#include "core/base/matrix.h"

namespace palimpsest {

/// A mistake that is in the equations of one form on purpose.
struct InjectedFault {
  std::string id = {};  // core/proof/faults.h; empty: none is in
  Form form = Form::chunkwise;

  bool operator==(const InjectedFault&) const = default;
};

/// Which lines Prove draws over the words.
enum class ProofLens { forms, precisions, both };

inline constexpr ProofLens all_proof_lenses[] = {ProofLens::forms, ProofLens::precisions, ProofLens::both};

/// "forms", "precisions", "both".
constexpr const char* name(ProofLens lens) {
  switch (lens) {
    case ProofLens::forms:
      return "forms";
    case ProofLens::precisions:
      return "precisions";
    case ProofLens::both:
      break;
  }
  return "both";
}

/// What Prove makes wrong, and how it shows what comes of it.
struct ProveState {
  InjectedFault fault = {};
  ProofLens lens = ProofLens::both;
  std::string fragile = {};  // the fragile form that is looked at (core/proof/fragile_forms.h); empty: none
  bool breaks = true;        // on data on which it breaks; else on some on which it need not

  bool operator==(const ProveState&) const = default;
};

}  // namespace palimpsest
