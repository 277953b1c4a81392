#pragma once

#include <optional>
#include <vector>

#include "core/steps/trace.h"

namespace palimpsest {

/// One row of (I + N) U = R as the sum that it is: u_i = r_i - sum over j < i of N_ij u_j.
struct SubstitutionRow {
  /// What an earlier row takes away.
  struct Taken {
    Index row = 0;           // j
    double coefficient = 0;  // N_ij
    Matrix<double> part;     // -N_ij u_j [1, V]
  };

  Matrix<double> missing;  // r_i [1, V]
  std::vector<Taken> taken;
  Matrix<double> solved;  // u_i [1, V], as recorded
};

/// The names of N, R and U where `operation` solves such a system; none for any other step, also where the
/// values fade in between.
struct SubstitutionNames {
  std::string overlap;
  std::string missing;
  std::string solved;
};
std::optional<SubstitutionNames> substitution_of(const Operation& operation);

/// Row `row` of the system that `names` stand for in `record`; 0 <= row < the rows of U.
SubstitutionRow substitution_row(const SubstitutionNames& names, const Record& record, Index row);

}  // namespace palimpsest
