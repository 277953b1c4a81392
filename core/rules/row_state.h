#pragma once

#include "core/operator/program.h"

namespace palimpsest {

// What one row of a program does to a state S [p K, V], part by part, in f64: for whoever looks at a step.
// The engines compute the step itself (core/engines), equations and costs say it in their own words.

/// What the decays leave of each key channel, alpha of every row: [N, K].
Matrix<double> key_decays(const Program<double>& rows);

/// What the row's decays leave of every cell of a state without parts, alpha mu^T: [K, V].
Matrix<double> cell_decays(const Program<double>& row);

/// S once it has faded, or once its parts have moved into each other: [p K, V].
Matrix<double> kept_state(const Program<double>& row, const Matrix<double>& S);

/// S as the row's query sees it: its parts added up. [K, V].
Matrix<double> seen_by_query(const Program<double>& row, const Matrix<double>& S);

/// What the row's erase finds in S for its keys; 0 where it erases nothing. [1, V].
Matrix<double> found_by_erase(const Program<double>& row, const Matrix<double>& S);

}  // namespace palimpsest
