#pragma once

#include "core/contract/variant.h"

namespace palimpsest {

/// How many directions a matrix uses.
struct Spectrum {
  std::string name;                // of the state
  Vector<double> singular_values;  // largest first
  double effective_rank = 0;
};

/// The effective rank of some singular values >= 0: exp of the entropy of their shares (Roy & Vetterli 2007);
/// 0 of 0.
double effective_rank(const Vector<double>& singular_values);

/// The spectra of every state after `tokens` tokens; inside a batch that is written at once, of those before
/// it. Throws as states_at does, and InputError naming a state that is not finite.
std::vector<Spectrum> spectra_at(const Variant& variant, const Sequence& sequence, Index tokens,
                                 std::stop_token stop = {});

/// Summary figures of a matrix.
struct MatrixFigures {
  double least = 0;  // of the finite entries
  double largest = 0;
  double root_mean_square = 0;
  Index not_finite = 0;                 // how many entries are not
  Vector<double> counts = {};           // histogram of the finite entries, equal bins from -range to range
  double range = 0;                     // their largest magnitude
  Vector<double> singular_values = {};  // largest first; none where an entry is not finite, or of too many
  double effective_rank = 0;            // 0 where there are none
};

/// The longer side beyond which singular values are left out: they would take seconds.
inline constexpr Index longest_side_of_spectrum = 512;

/// The figures of X [R, C], with `parts` bins. Throws Cancelled.
MatrixFigures matrix_figures(const Matrix<double>& X, Index parts, std::stop_token stop = {});

/// Keys as points in a unit ball: their directions, projected on the three principal ones.
struct KeyDirections {
  Matrix<double> points;     // [keys, 3], each of norm at most 1: the projection of a key of norm 1
  Vector<double> explained;  // [3]: the share of the squares of all normalised keys along each
};

/// For keys [N, K]: by the first three right singular vectors of the keys divided by their norms; with fewer
/// channels the rest is 0.
KeyDirections key_directions(const Matrix<double>& keys);

}  // namespace palimpsest
