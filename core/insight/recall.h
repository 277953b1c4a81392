#pragma once

#include "core/rules/stored_pairs.h"

namespace palimpsest {

struct LearningStep;

// How well a memory still returns the pairs that were stored in it. Here the error of a pair is the
// prediction for its key minus its value.

/// How well the memory returns a token's value for its key, before and after its write.
struct Recall {
  double before = 0;   // |S^T k - v|^2 / 2; of a row program on the state on which its error is taken,
                       // and of the last step where a token takes several
  double after = 0;    // the same after the write
  double largest = 0;  // the largest |S_ij| after the write, of the first state where there are several
  double root_mean_square = 0;  // of all S_ij after the write
};

/// The norm of an error whose half square is `loss`.
inline double error_norm(double loss) { return std::sqrt(2 * loss); }

/// The recall of every token of one head in f64; nothing for rules without a memory to query (softmax). For
/// tokens that are written together, before and after the whole write. Throws Cancelled.
std::optional<std::vector<Recall>> recall(const Variant& variant, const Sequence& sequence,
                                          std::stop_token stop = {},
                                          const std::function<void(double)>& progress = {});

/// Rates a share of a stored value: 1 is right, and an excess is as wrong as a deficit.
struct RecalledPart {
  double right = 0;   // 1 - |1 - share|, at least 0
  double excess = 0;  // beyond 1, or below 0: at most 1
};

/// All is excess where the share is no number.
inline RecalledPart recalled_part(double share) {
  if (!std::isfinite(share)) return {0, 1};
  const double excess = share > 1 ? share - 1 : std::max(-share, 0.0);
  return {std::max(1 - std::abs(1 - share), 0.0), std::min(excess, 1.0)};
}

/// A pair that was stored earlier, and what a token does to its loss 1/2 |prediction - v|^2, decay included.
struct HarmedPair {
  Index token = 0;  // that stored it
  Index step = 0;   // of the several that a token may take
  double before = 0;
  double after = 0;
  double cosine = 0;  // of its key and the token's: nearly 1 if the token overwrites it
};

/// The earlier pair whose loss `token`, or all that are written together with it, raises most; nothing if it
/// raises none. Throws InputError, Unsupported where there is no memory to query, Cancelled.
std::optional<HarmedPair> most_harmed(const Variant& variant, const Sequence& sequence, Index token,
                                      std::stop_token stop = {});

/// The loss of that pair at the weights problem.at - e G of another token's step, for every e of `rates`: the
/// points that losses_along() asks for the step's own loss. Throws Unsupported where the rule has no memory
/// to ask, InputError for a pair that there is not.
std::vector<double> losses_along(const Variant& variant, const Sequence& sequence, const LearningStep& step,
                                 const HarmedPair& pair, std::span<const double> rates);

/// What is left of some stored tokens over time: how much of a token's value is in what its key returns,
/// besides the values of the others.
struct Remembered {
  std::vector<Index> tokens = {};   // whose last pair is queried
  std::vector<Index> moments = {};  // numbers of tokens, ascending: the memory after so many
  /// [tokens, moments], before a token is there too; while a batch is gathered, of what was written before
  /// it. The diagonal of (S^T k_i / |k_i|^2 as rows) V^+, V the values of all these words, singular values
  /// below 5 % of the largest cut off: a write of strength 1 into an empty memory gives 1. Aligned:
  /// <v_hat, v> / (|v_hat| |v|) with v_hat what is returned, 0 where one of them is 0.
  Matrix<double> shares = {};
  bool is_alignment = false;  // see compared_by_direction()
};

/// What is compared if only the direction of what is returned can be; empty where shares are computed.
std::string compared_by_direction(const Variant& variant);

/// In one walk that keeps no states. Throws InputError for tokens or moments that do not exist, Unsupported
/// where there is no memory to ask, Cancelled.
Remembered remembered(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens,
                      std::span<const Index> moments, std::stop_token stop = {},
                      const std::function<void(double)>& progress = {});

/// The distribution of the keys of a capacity sweep.
enum class Keys {
  random,       // independent directions, norm 1
  orthonormal,  // orthogonal, norm 1; at most dk of them
  correlated,   // norm 1, pairwise cosine 0.5 on average
};

/// Which pairs are stored in which memory. The memory does not decay and learns with a full step: decays 1,
/// beta 1, else Input::stand_in.
struct CapacityPlan {
  std::vector<Index> counts = {1, 2, 4, 8, 16, 32, 64};  // pairs stored, ascending
  Index dk = 16;
  Index dv = 16;
  Keys keys = Keys::random;
  int draws = 1;  // seeds seed, seed + 1, ...
  std::uint64_t seed = 1;
  Settings settings = {};
};

/// The relative error |prediction - v| / |v| over all stored pairs and draws.
struct CapacityPoint {
  Index pairs = 0;
  double mean = 0;
  double worst = 0;
  double last = 0;  // mean over draws, of the pair stored last
};

/// Stores pairs with normal values of about norm 1 one after the other and queries all of them at every
/// count. Throws InputError naming what does not fit, Unsupported where there is no memory, Cancelled.
std::vector<CapacityPoint> capacity(const Variant& variant, const CapacityPlan& plan,
                                    std::stop_token stop = {},
                                    const std::function<void(double)>& progress = {});

/// `count` keys [count, dk] of one draw.
Matrix<double> capacity_keys(const CapacityPlan& plan, Index count, std::uint64_t seed);

}  // namespace palimpsest
