#pragma once

#include "core/rules/rule.h"

namespace palimpsest {

/// A memory before and after a part of the recurrence.
struct MemoryChange {
  NamedStates before;
  NamedStates after;
};

/// What a token does to a memory, or a part of that.
enum class TokenPart {
  all,    // from the state after the token before to the state after this one
  decay,  // the decay, or the mixing of parts (momentum); nothing where no separate step does that
  write,  // the rest
};

/// The memory of a sequence as `recurrence`, the trace of its recurrent form, computes it; of softmax
/// attention the cache. Its constructor arguments must outlive it. Its functions throw InputError for a token
/// or a block that does not exist, Cancelled when asked to stop.
class RecurrentMemory {
 public:
  RecurrentMemory(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                  std::stop_token stop = {})
      : variant_(variant), sequence_(sequence), recurrence_(recurrence), stop_(std::move(stop)) {}

  /// The memory after `tokens` tokens. For a rule that gathers a batch and then writes it (LaCT), it contains
  /// the batch after its last token. Costs a few tokens from the nearest checkpoint on.
  NamedStates after(Index tokens) const;
  /// What `token` does to it.
  MemoryChange around(Index token, TokenPart part = TokenPart::all) const;

  /// What one block of the recurrence does to it: a step of a token that takes several, or the write of a
  /// gathered batch.
  MemoryChange around_block(Index block, TokenPart part = TokenPart::all) const;

  /// What the step at `cursor` in `trace`, any form of the sequence, does to it: in the recurrent form its
  /// block (for a decay step only the decay, else the rest of the change); where a chunk or a batch is
  /// carried on, all its tokens; elsewhere the token under the cursor.
  MemoryChange at(const Trace& trace, const Cursor& cursor) const;

 private:
  NamedStates after_blocks(Index count) const;
  NamedStates faded(NamedStates found, Index block) const;
  MemoryChange part_of(MemoryChange change, TokenPart part, Index block) const;

  const Variant& variant_;
  const Sequence& sequence_;
  const Trace& recurrence_;
  std::stop_token stop_;
};

/// What the change of RecurrentMemory::at() is of: "the decay", "the write", "this token", "this chunk",
/// "this batch".
std::string_view changed_by(const Variant& variant, const Sequence& sequence, const Trace& trace,
                            const Cursor& cursor);

/// Tokens that make one step together, which is taken after the last of them.
struct WrittenTogether {
  Index first = 0;
  Index last = 0;
};

/// The tokens that `token` is written with; nothing where it is written by itself, as in all rules but LaCT.
std::optional<WrittenTogether> written_together(const Variant& variant, const Sequence& sequence,
                                                Index token);

/// The tokens of a batch whose step waits for the last of them; 1 where none waits.
Index tokens_per_step(const Variant& variant, const Sequence& sequence);

/// How many of the first `tokens` tokens are in the memory: all but those of a batch that has not ended.
Index tokens_written(const Sequence& sequence, Index tokens_per_step, Index tokens);

/// What a token's query gets from the memory before the token's own write, S_{t-1}, and after it, S_t: papers
/// differ in which of them o_t is. LaCT writes a batch at once: before and after all of it.
struct ReadMoments {
  Index token = 0;
  Vector<double> before;  // [V]
  Vector<double> after;   // [V]

  /// |after - before| / |after|; 0 where both are 0.
  double difference() const;
};

/// In f64, as the rule reads. Throws Unsupported where no memory can be queried, InputError, Cancelled.
ReadMoments read_moments(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop = {});

/// Tells how far a walk over the tokens of a sequence is, about a hundred times from its begin to its end.
class TokensDone {
 public:
  /// `progress` may be empty, and must outlive this.
  TokensDone(Index tokens, const std::function<void(double)>& progress)
      : tokens_(tokens), step_(std::max<Index>(tokens / 100, 1)), progress_(progress) {}

  /// Reports that `tokens` tokens are done.
  void tell(Index tokens) const {
    if (progress_ && (tokens % step_ == 0 || tokens == tokens_))
      progress_(static_cast<double>(tokens) / static_cast<double>(tokens_));
  }

 private:
  Index tokens_;
  Index step_;
  const std::function<void(double)>& progress_;
};

/// How much of the memory every token keeps, over the channels of its gate.
struct Keeping {
  std::string array = {};     // the input that holds it; empty: the rule computes it, or has one decay
  std::string symbol = {};    // LaTeX of the decay, or of the share that is forgotten, without its token
  bool forgets = false;       // the array holds 1 - decay, not the decay
  bool is_of_values = false;  // its channels are the values', not the keys'
  Index channels = 1;         // of the gate
  Vector<double> mean = {};   // [T]: geometric
  Vector<double> least = {};  // [T]: of the channel that decays most
  Vector<double> most = {};   // [T]: of the channel that decays least
};

/// Over all channels, or of one alone. Nothing where no gate makes the state decay. Throws InputError for a
/// channel that does not exist.
std::optional<Keeping> keeping(const Variant& variant, const Sequence& sequence,
                               std::optional<Index> channel = {});

/// Whether a rule without keeping() has no decay at all; else each entry or part of its state decays by
/// itself, or only a text's lines say how.
bool never_decays(const Variant& variant, const Sequence& sequence);

/// What is left of a write, as far as the gates go, after some later tokens.
struct KeptBetween {
  Index channels = 1;
  double least = 1;  // of the channel that decays most
  double mean = 1;   // geometric, over the channels
  double most = 1;   // of the channel that decays least
};

/// The product of the gates of tokens first + 1 to last; nothing where no gate makes the state decay. Throws
/// InputError for tokens that do not exist.
std::optional<KeptBetween> kept_between(const Variant& variant, const Sequence& sequence, Index first,
                                        Index last);

/// The half-life in tokens of a decay `kept` per token: infinite for 1, 0 for 0.
inline double half_life(double kept) {
  if (kept <= 0) return 0;
  if (kept >= 1) return std::numeric_limits<double>::infinity();
  return std::log(0.5) / std::log(kept);
}

/// The decay per token with a half-life of `tokens` >= 0.
inline double kept_for(double tokens) { return tokens > 0 ? std::exp2(-1 / tokens) : 0; }

}  // namespace palimpsest
