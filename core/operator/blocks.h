#pragma once

#include <algorithm>

#include "core/base/matrix.h"

namespace palimpsest {

/// One pass through a phase's operations.
struct Block {
  Index phase = 0;
  Index first_token = 0;
  Index count = 1;      // tokens
  Index first_key = 0;  // softmax tiles: the keys of this block
  Index key_count = 0;
  bool starts_anew = false;  // the first block of an inner batch, or of a row of tiles
};

/// Consecutive tokens of one inner batch.
struct Piece {
  Index first = 0;   // the first token
  Index count = 0;   // tokens
  Index batch = 0;   // which inner batch
  Index offset = 0;  // tokens of the batch before `first`
  bool ends_batch = false;
};

/// A sequence in inner batches, each cut into pieces of at most `size` tokens. No piece crosses the end of a
/// batch, so the piece size does not change the results. The last batch and the last piece of a batch may be
/// shorter.
class InnerBatches {
 public:
  InnerBatches(Index tokens, Index batch, Index size)
      : tokens_(tokens), batch_(batch), size_(std::min(size, batch)), per_batch_(divided(batch_, size_)) {}

  Index largest_piece() const { return std::min(size_, tokens_); }
  Index batch_count() const { return divided(tokens_, batch_); }
  Index piece_count() const { return tokens_ / batch_ * per_batch_ + divided(tokens_ % batch_, size_); }
  Index pieces_of(Index batch) const { return divided(batch_size(batch), size_); }
  Index batch_size(Index batch) const { return std::min(batch_, tokens_ - batch * batch_); }
  /// Piece `index` of the whole sequence.
  Piece piece(Index index) const { return piece(index / per_batch_, index % per_batch_); }

  Piece piece(Index batch, Index index) const {
    const Index offset = index * size_;
    const Index count = std::min(size_, batch_size(batch) - offset);
    return {batch * batch_ + offset, count, batch, offset, offset + count == batch_size(batch)};
  }

  /// The piece of the whole sequence that holds `token`.
  Index piece_of(Index token) const { return batch_of(token) * per_batch_ + piece_in_batch(token); }
  Index batch_of(Index token) const { return token / batch_; }
  /// The piece of its batch that holds `token`.
  Index piece_in_batch(Index token) const { return token % batch_ / size_; }
  /// Pieces of a batch that is not shorter than the others.
  Index pieces_per_batch() const { return per_batch_; }

 private:
  /// count / size, rounded up.
  static Index divided(Index count, Index size) { return count / size + (count % size > 0 ? 1 : 0); }

  Index tokens_;
  Index batch_;
  Index size_;
  Index per_batch_;
};

/// How many numbers a state of several matrices holds.
template <class Scalar>
Index number_count(const std::vector<Matrix<Scalar>>& state) {
  Index count = 0;
  for (const Matrix<Scalar>& matrix : state) count += matrix.size();
  return count;
}

/// States before some of the blocks of a sequence, evenly spaced so that all of them fit a budget.
template <class Scalar>
class Checkpoints {
 public:
  using State = std::vector<Matrix<Scalar>>;

  /// `initial` is the state before block 0. Keeps at most about `budget` bytes, and at least the initial
  /// state.
  Checkpoints(State initial, Index blocks, std::size_t budget) {
    const auto bytes = static_cast<std::size_t>(std::max<Index>(number_count(initial), 1)) * sizeof(Scalar);
    const auto affordable = static_cast<Index>(std::max<std::size_t>(budget / bytes, 1));
    spacing_ = std::max<Index>(1, (blocks + affordable - 1) / affordable);
    states_.push_back(std::move(initial));
  }

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
