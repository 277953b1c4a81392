#pragma once

#include <algorithm>

#include "core/base/matrix.h"

namespace palimpsest {

/// Consecutive tokens of one inner batch.
struct Piece {
  Index first = 0;   // the first token
  Index count = 0;   // tokens
  Index batch = 0;   // which inner batch
  Index offset = 0;  // tokens of the batch before `first`
  bool ends_batch = false;
};

/// A sequence in inner batches, each cut into pieces of at most `size` tokens. No piece crosses the end of a
/// batch, so the size of the pieces changes nothing. The last batch and the last piece of a batch may be
/// shorter.
class InnerBatches {
 public:
  InnerBatches(Index tokens, Index batch, Index size)
      : tokens_(tokens), batch_(batch), size_(std::min(size, batch)), per_batch_(divided(batch_, size_)) {}

  /// Tokens of the largest piece.
  Index largest_piece() const { return std::min(size_, tokens_); }

  Index batch_count() const { return divided(tokens_, batch_); }
  Index piece_count() const { return tokens_ / batch_ * per_batch_ + divided(tokens_ % batch_, size_); }
  Index pieces_of(Index batch) const { return divided(batch_size(batch), size_); }

  /// Tokens of `batch`.
  Index batch_size(Index batch) const { return std::min(batch_, tokens_ - batch * batch_); }

  /// Piece `index` of the whole sequence.
  Piece piece(Index index) const { return piece(index / per_batch_, index % per_batch_); }

  /// Piece `index` of `batch`.
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

}  // namespace palimpsest
