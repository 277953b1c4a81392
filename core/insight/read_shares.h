#pragma once

#include <stop_token>
#include <vector>

#include "core/base/matrix.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// What a linear reading of a memory owes to every token.
struct ReadShares {
  double value = 0;              // w . S[:, column], the sum of all that follows
  double initial = 0;            // due to the initial state
  std::vector<double> of_token;  // to every token before the reading
};

/// The shares of w . S[:, column] after so many tokens, `weights` w [p K], or [K] for the first part: an
/// answer to a key, an output (w the scaled query), or, for a unit vector, an entry. One pass backwards, as
/// provenance(). Throws as that does, and InputError where the weights fit neither.
ReadShares read_shares(const Rule& rule, const Sequence& sequence, Index tokens,
                       const Vector<double>& weights, Index column, std::stop_token stop = {});

/// The weights w of a reading before a decay: of w . (alpha o S), `alpha` [1, 1] or one for each row.
Vector<double> before_decay(const Vector<double>& weights, const Matrix<double>& alpha);

/// What every j adds to (X Y)[row, column]: X[row, j] Y[j, column] for the first `count`.
std::vector<double> product_terms(const Matrix<double>& X, const Matrix<double>& Y, Index row, Index column,
                                  Index count);

}  // namespace palimpsest
