#pragma once

#include <algorithm>
#include <vector>

#include "core/base/matrix.h"

namespace palimpsest {

/// How many numbers a state holds.
template <class Scalar>
Index number_count(const Matrix<Scalar>& state) {
  return state.size();
}

/// A state of several matrices.
template <class Scalar>
Index number_count(const std::vector<Matrix<Scalar>>& state) {
  Index count = 0;
  for (const Matrix<Scalar>& matrix : state) count += matrix.size();
  return count;
}

/// States before some of the blocks of a sequence, evenly spaced so that all of them fit a budget. A state is
/// one matrix, or several.
template <class Scalar, class State = Matrix<Scalar>>
class Checkpoints {
 public:
  /// `initial` is the state before block 0. Keeps at most about `budget` bytes, and at least the initial
  /// state.
  Checkpoints(State initial, Index blocks, std::size_t budget) {
    const auto bytes = static_cast<std::size_t>(std::max<Index>(number_count(initial), 1)) * sizeof(Scalar);
    const auto affordable = static_cast<Index>(std::max<std::size_t>(budget / bytes, 1));
    spacing_ = std::max<Index>(1, (blocks + affordable - 1) / affordable);
    states_.push_back(std::move(initial));
  }

  /// The state before block 0.
  const State& initial() const { return states_.front(); }

  /// Blocks from one kept state to the next.
  Index spacing() const { return spacing_; }

  /// The state before `block`. `advance(index, state)` must carry a state over block `index`.
  template <class Advance>
  State before(Index block, Advance advance) {
    const Index kept = std::min(block / spacing_, static_cast<Index>(states_.size()) - 1);
    State state = states_[static_cast<std::size_t>(kept)];
    for (Index index = kept * spacing_; index < block; ++index) {
      advance(index, state);
      const bool is_next = index + 1 == static_cast<Index>(states_.size()) * spacing_;
      if (is_next) states_.push_back(state);
    }
    return state;
  }

 private:
  Index spacing_ = 1;
  std::vector<State> states_;  // states_[i] is the state before block i * spacing_
};

}  // namespace palimpsest
