#pragma once

#include <memory>

#include "core/rules/rule.h"

namespace palimpsest {

/// LaCT, spec 3.11. Recurrent: the gradient is gathered token by token, the weights change at batch ends.
/// Chunkwise: gathered in pieces of at most one chunk that never cross the end of an inner batch, so that the
/// chunk changes no result. Parallel: the scan over all batches, where no gradient needs the weights.
std::shared_ptr<const Rule> lact_rule();

/// The norms that weight_norm restores: those given, or those of the columns of initial_S. [V].
template <class Scalar>
RowVector<Scalar> lact_column_norm(const Sequence& sequence) {
  if (sequence.has("column_norm")) return sequence.at("column_norm").all<Scalar>().transpose();
  return sequence.at("initial_S").all<Scalar>().colwise().stableNorm();
}

}  // namespace palimpsest
