#pragma once

#include "core/contract/variant.h"

namespace palimpsest {

/// How many directions a matrix uses.
struct Spectrum {
  std::string name;                // of the state
  Vector<double> singular_values;  // largest first
  double effective_rank =
      0;  // exp of the entropy of singular values / their sum (Roy & Vetterli 2007); 0 of 0
};

/// The effective rank of some singular values >= 0.
double effective_rank(const Vector<double>& singular_values);

/// The spectra of every state after `tokens` tokens; inside a batch that is written at once, of those before
/// it. Throws as states_at does, and InputError naming a state that is not finite.
std::vector<Spectrum> spectra_at(const Variant& variant, const Sequence& sequence, Index tokens,
                                 std::stop_token stop = {});

/// What can be said of a matrix besides its entries.
struct MatrixFigures {
  double least = 0;  // of the finite entries
  double largest = 0;
  double root_mean_square = 0;
  Index not_finite = 0;        // how many entries are not
  Vector<double> counts = {};  // of the finite entries, in equal parts from -range to range
  double range = 0;            // their largest magnitude
  Vector<double> singular_values =
      {};                     // largest first; empty where an entry is not finite or there are too many
  double effective_rank = 0;  // 0 where there are none
};

/// The longer side beyond which singular values are left out: they would take seconds.
inline constexpr Index longest_side_of_spectrum = 512;

/// Those of X [R, C], counted in `parts` parts. Throws Cancelled.
MatrixFigures matrix_figures(const Matrix<double>& X, Index parts, std::stop_token stop = {});

/// Keys as points on a sphere: their directions in the three that tell most of them apart.
struct KeyDirections {
  Matrix<double> points;     // [keys, 3], each of length at most 1: what is left of a key of length 1
  Vector<double> explained;  // [3]: which part of the squares of all keys of length 1 lies along each
};

/// For keys [N, K]: the first three right singular vectors of the keys divided by their lengths; with fewer
/// channels the rest is 0.
KeyDirections key_directions(const Matrix<double>& keys);

}  // namespace palimpsest
