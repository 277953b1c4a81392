#pragma once

#include <set>

#include "core/steps/trace.h"

namespace palimpsest {

/// A write that erases something and writes something else instead: erased + written = update. All three are
/// expressions over the tensors of the block.
struct Overwrite {
  Expression erased;
  Expression written;
  Expression update;
  bool is_one_step = true;  // one operation makes the update; else one erases and another writes
};

/// The overwrite of the update that `operation` makes or is part of, by the steps of `phase` alone: a product
/// with the error (target minus prediction), or an erase and a write that are added up. None where the rule
/// does not erase. The phase may be turned.
std::optional<Overwrite> overwrite_of(const Phase& phase, const Operation& operation);

/// One row of (I + N) U = R as the sum that it is: u_i = r_i - sum over j < i of N_ij u_j.
struct SubstitutionRow {
  /// What an earlier row subtracts.
  struct Taken {
    Index row = 0;           // j
    double coefficient = 0;  // N_ij
    Matrix<double> part;     // -N_ij u_j [1, V]
  };

  Matrix<double> missing;  // r_i [1, V]
  std::vector<Taken> taken;
  Matrix<double> solved;  // u_i [1, V], as recorded
};

/// The names of N, R and U where `operation` solves such a system; none for any other step, also where values
/// decay in between.
struct SubstitutionNames {
  std::string overlap;
  std::string missing;
  std::string solved;
};
std::optional<SubstitutionNames> substitution_of(const Operation& operation);

/// Row `row` of the system that `names` stand for in `record`; 0 <= row < the rows of U.
SubstitutionRow substitution_row(const SubstitutionNames& names, const Record& record, Index row);

/// The tensors of role error that are added to states or become states, at once or gathered over blocks: the
/// changes of states. Drawn beside states, they need the states' scale. They may be vectors too: a bias has
/// the same steps as a matrix.
std::set<std::string> state_steps(const Trace& trace);

/// The line of a form in which the new state is computed; null where it has none.
const Line* rewriting_line(const Trace& trace);

/// Which tensors of `line` the other line lacks, or has in another way: with another symbol, or as a factor
/// of another kind (alpha, Diag(alpha)). Each once, in order of appearance.
std::vector<std::string> lacking(const Line& line, const Symbols& symbols, const Line& other,
                                 const Symbols& other_symbols);

/// The other layout of a state: values x keys. S is then replaced by its transpose, and a product reverses
/// its factors, (X Y)^T = Y^T X^T: S_t = S_{t-1} + k v^T becomes S_t = S_{t-1} + v k^T, and o = S^T q becomes
/// o = S q.

/// Whether `name` is a state that turns: a matrix of keys x values. A vector has nothing to turn.
bool turns(std::string_view name, const Symbols& symbols, const Record& record);

/// `record` with every state that turns transposed.
Record turned(const Record& record, const Symbols& symbols);

/// `equation` between the tensors of the turned record. `record` is the one that the engine recorded.
Equation turned(const Equation& equation, const Symbols& symbols, const Record& record);

/// A phase with the equations of all its operations and lines turned.
Phase turned(Phase phase, const Symbols& symbols, const Record& record);

}  // namespace palimpsest
