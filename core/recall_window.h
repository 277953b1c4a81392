#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/stored_pairs.h"

namespace palimpsest {

/// How far the memory's answers are from what was stored, for a window of pairs and some moments.
struct RecallWindow {
  Index first_token = 0;  // the pairs of tokens first_token ..
  Index token_count = 0;
  Index pairs_per_token = 1;
  std::vector<Index> moments = {};  // numbers of tokens, ascending: S after so many
  Matrix<double> errors = {};       // [pairs, moments]: |answer of S - v|; 0 where the pair is not stored yet
  Vector<double> lengths = {};      // [pairs]: |v|, the error of a memory that answers nothing

  /// Whether the memory of this moment (an index) has seen this pair.
  bool stored(Index pair, std::size_t moment) const {
    return first_token + pair / pairs_per_token < moments[moment];
  }
};

/// The recall of the pairs of tokens first .. first+count-1 at every moment, in one walk that keeps no
/// states. Throws InputError for tokens or moments that do not exist, Unsupported where there is no memory to
/// ask, Cancelled.
RecallWindow recall_window(const Variant& variant, const Sequence& sequence, Index first, Index count,
                           std::span<const Index> moments, std::stop_token stop = {});

/// What one token did to the pairs stored before it.
struct WriteEffect {
  Vector<double> before;  // [pairs of earlier tokens]: |answer - v| just before the token
  Vector<double> after;   // and after it
  Vector<double> own;     // the same of the token's own pairs, after it

  /// after - before: above 0 damaged, below 0 repaired.
  Vector<double> damage() const { return after - before; }
};

/// The effect of `token` on every pair before it, fading included. Throws as recall_window does.
WriteEffect write_effect(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop = {});

/// K K^T of two windows of stored keys: [first_count, second_count], how much one key answers for another.
/// With `cosines` divided by the lengths of both; 0 where a key is 0.
Matrix<double> interference(const StoredPairs& rows, const StoredPairs& columns, bool cosines);

/// How many directions a matrix uses.
struct Spectrum {
  std::string name;                // of the state
  Vector<double> singular_values;  // largest first
  double effective_rank =
      0;  // exp of the entropy of singular values / their sum (Roy & Vetterli 2007); 0 of 0
};

/// The effective rank of some singular values >= 0.
double effective_rank(const Vector<double>& singular_values);

/// The spectra of every state after `tokens` tokens. Throws as states_at does, and InputError naming a state
/// that is not finite.
std::vector<Spectrum> spectra_at(const Variant& variant, const Sequence& sequence, Index tokens,
                                 std::stop_token stop = {});

}  // namespace palimpsest
