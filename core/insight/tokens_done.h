#pragma once

#include <algorithm>
#include <functional>

#include "core/base/matrix.h"

namespace palimpsest {

/// Tells how far a walk over the tokens of a sequence is, about a hundred times from its begin to its end.
class TokensDone {
 public:
  /// `progress` may be empty, and must outlive this.
  TokensDone(Index tokens, const std::function<void(double)>& progress)
      : tokens_(tokens), step_(std::max<Index>(tokens / 100, 1)), progress_(progress) {}

  /// So many tokens are done.
  void tell(Index tokens) const {
    if (progress_ && (tokens % step_ == 0 || tokens == tokens_))
      progress_(static_cast<double>(tokens) / static_cast<double>(tokens_));
  }

 private:
  Index tokens_;
  Index step_;
  const std::function<void(double)>& progress_;
};

}  // namespace palimpsest
