#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>

#include "core/base/matrix.h"
#include "core/contract/variant.h"

namespace palimpsest {

/// Tokens that make one step together, which is taken after the last of them.
struct WrittenTogether {
  Index first = 0;
  Index last = 0;
};

/// Those that `token` is written with; nothing where it is written by itself, as by all rules but LaCT.
/// Throws InputError for a token that there is not.
std::optional<WrittenTogether> written_together(const Variant& variant, const Sequence& sequence,
                                                Index token);

/// The tokens of a batch whose step waits for the last of them; 1 where none waits.
Index tokens_per_step(const Variant& variant, const Sequence& sequence);

/// How many of the first `tokens` tokens are in the memory, if so many make one step: all but those of a
/// batch that has not ended. The last batch ends with the sequence.
Index tokens_written(const Sequence& sequence, Index tokens_per_step, Index tokens);

/// What a token's query gets from the memory as it was before the token's own write, S_{t-1}, and from the
/// one after it, S_t: papers differ in which of them o_t is. LaCT writes a batch at once: before and after
/// all of it.
struct ReadMoments {
  Index token = 0;
  Vector<double> before;  // [V]
  Vector<double> after;   // [V]

  /// |after - before| / |after|; 0 where both are 0.
  double difference() const;
};

/// In f64, as the rule answers. Throws Unsupported with the reason where no memory answers, InputError for a
/// token that does not exist, Cancelled.
ReadMoments read_moments(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop = {});

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
