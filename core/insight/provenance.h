#pragma once

#include "core/rules/rule.h"

namespace palimpsest {

/// An entry of a state [p K, columns] after `tokens` tokens.
struct StateEntry {
  Index tokens = 0;  // 0: the initial state
  Index part = 0;    // of a state in parts (Structure::parts)
  Index row = 0;     // in its part
  Index column = 0;  // a value channel, or an additional column of the rule (Rule::channel)
};

/// The contribution of one token to a state entry: written + mixed - decayed - erased = remaining.
struct Share {
  double written = 0;    // by the token itself; of the initial state: what the entry was
  double mixed = 0;      // what came into this part from the others since
  double decayed = 0;    // removed by decays since, or moved to other parts
  double erased = 0;     // removed by erases since, also by later steps of the token; < 0: they added
  double remaining = 0;  // the part of the entry that is due to the token
};

/// A state entry as the sum of what is left of every token and of the initial state.
struct Provenance {
  double value = 0;           // the sum of all `remaining`
  Share initial = {};         // of the initial state
  std::vector<Share> shares;  // [StateEntry::tokens], of every token
};

/// The contributions to a state entry, in f64: one pass backwards with four functionals of a state column
/// (what is left of a write in the entry, and what of it was mixed in, decayed and erased), O(tokens p K)
/// work.
/// Throws Unsupported where the memory is no linear function of the values, InputError, Cancelled.
Provenance provenance(const Rule& rule, const Sequence& sequence, const StateEntry& entry,
                      std::stop_token stop = {});

/// The initial state, where a token index is expected.
inline constexpr Index initial_token = -1;

/// The history of one token's share in a state entry: element t is what token t did to it, and `remaining`
/// what was left after that; `written` is set for the token itself. One pass forwards; costs and throws as
/// provenance().
std::vector<Share> history(const Rule& rule, const Sequence& sequence, const StateEntry& entry, Index token,
                           std::stop_token stop = {});

/// The contribution of every token to a linear read of a memory.
struct ReadShares {
  double value = 0;              // w . S[:, column], the sum of all that follows
  double initial = 0;            // due to the initial state
  std::vector<double> of_token;  // to every token before the reading
};

/// The shares of w . S[:, column] after `tokens` tokens, `weights` w [p K], or [K] for the first part: a
/// prediction (w the key), an output (w the scaled query) or an entry. Throws as provenance() does, and
/// InputError where the weights fit neither.
ReadShares read_shares(const Rule& rule, const Sequence& sequence, Index tokens,
                       const Vector<double>& weights, Index column, std::stop_token stop = {});

/// The weights w of a reading before a decay: of w . (alpha o S), `alpha` [1, 1] or one for each row.
Vector<double> before_decay(const Vector<double>& weights, const Matrix<double>& alpha);

/// What every j adds to (X Y)[row, column]: X[row, j] Y[j, column] for the first `count`.
std::vector<double> product_terms(const Matrix<double>& X, const Matrix<double>& Y, Index row, Index column,
                                  Index count);

}  // namespace palimpsest
