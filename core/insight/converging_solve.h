#pragma once

#include <optional>
#include <stop_token>

#include "core/contract/variant.h"
#include "core/engines/mesanet.h"

namespace palimpsest {

/// Whether every query is solved for with the Gram matrix of the keys, as in MesaNet.
bool solves_for_queries(const Variant& variant);

/// How the query of a token finds its solution among those of its chunk, as the chunkwise engine iterates.
struct ConvergingSolve {
  Index token = 0;
  Index first_token = 0;  // of the chunk, whose systems are solved side by side
  Index token_count = 1;
  SolveCourse course = {};
  Vector<double> exact = {};             // [K]: by Cholesky, as the other forms solve it
  std::vector<double> differences = {};  // |x - exact| / |exact| where the course has x: [1 + steps]

  Index steps() const { return static_cast<Index>(course.rests.size()) - 1; }
};

/// In chunks of `chunk_size`, in f64. Nothing for a variant that solves no systems with the Gram matrix of
/// its keys. Throws InputError for a token that does not exist, Cancelled.
std::optional<ConvergingSolve> converging_solve(const Variant& variant, const Sequence& sequence, Index token,
                                                Index chunk_size, std::stop_token stop = {});

}  // namespace palimpsest
