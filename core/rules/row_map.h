#pragma once

#include "core/rules/row_rule.h"

namespace palimpsest {

/// The rows of a channel (core/operator/channel.h) as maps of its state column x [p K], eq. U with the erase
/// taken apart:
///   x_r = D_r x_{r-1} - b_r (e_r . x_{r-1}) + b_r w_r + k+_r v+_r
/// D decays and mixes; e . x is what the erase reads. Forwards, a map follows what was written; backwards
/// (its transpose), it gives what a later read sees of it.
class RowMap {
 public:
  /// `channel`: a program with one value channel. Throws Unsupported where an erase reads an earlier row.
  explicit RowMap(const Program<double>& channel);

  Index rows() const { return write_.rows(); }
  bool erases() const { return erase_.size() > 0; }
  bool writes_plainly() const { return plain_.size() > 0; }

  using Row = Eigen::Ref<const RowVector<double>>;
  Row write(Index r) const { return write_.row(r); }  // b_r: [1, p K]
  Row erase(Index r) const { return erase_.row(r); }  // e_r: [1, p K], if it erases
  Row plain(Index r) const { return plain_.row(r); }  // k+_r: [1, K], if it writes plainly

  /// D_r x: [1, p K].
  RowVector<double> faded(Index r, const RowVector<double>& x) const { return moved(r, x, false); }
  /// D_r^T f: [1, p K].
  RowVector<double> faded_back(Index r, const RowVector<double>& f) const { return moved(r, f, true); }
  /// Takes every state column x of X [n, p K] from before row r to after it, without the row's own write.
  void push_forward(Index r, Eigen::Ref<Matrix<double>> X) const;

  /// Takes every functional f of F [n, p K] from after row r to before it: f becomes D^T f - (f . b) e.
  /// `hits` are the f . b_r: [n].
  void pull_back(Index r, const Vector<double>& hits, Eigen::Ref<Matrix<double>> F) const;

 private:
  RowVector<double> moved(Index r, const RowVector<double>& x, bool back) const;

  Matrix<double> write_;       // [N, p K]
  Matrix<double> erase_;       // [N, p K]
  Matrix<double> plain_;       // [N, K]
  Matrix<double> fade_;        // [N, K], where there is one part
  Matrix<double> transition_;  // [N, p p], where there are several
  Index parts_;
};

// What one row of a program does to a state S [p K, V], operation by operation, in f64, for showing a step.
// The engines compute the step itself (core/engines); equations and costs describe it separately.

/// The decay of each key channel, alpha of every row: [N, K].
Matrix<double> key_decays(const Program<double>& rows);

/// The decay of every entry of a state without parts, alpha mu^T: [K, V].
Matrix<double> cell_decays(const Program<double>& row);

/// S after its decay, or after its parts have mixed: [p K, V].
Matrix<double> kept_state(const Program<double>& row, const Matrix<double>& S);

/// S as the row's query sees it: the weighted sum of its parts. [K, V].
Matrix<double> seen_by_query(const Program<double>& row, const Matrix<double>& S);

/// What the row's erase reads from S with its key; 0 where it erases nothing. [1, V].
Matrix<double> found_by_erase(const Program<double>& row, const Matrix<double>& S);

/// Calls `visit(token, is_last, row, S)` for every row of one head's program in f64, S as the row before it
/// left it and `is_last` for the last row of a token, until it returns false. The visitor advances S itself:
/// recurrent(row, S). Throws Cancelled.
template <class Visit>
void walk_rows(const RowRule& rule, const Sequence& sequence, const Visit& visit,
               const std::stop_token& stop = {}) {
  constexpr Index tokens_at_a_time = 64;
  Matrix<double> S = rule.initial_state<double>(sequence);
  for (Index first = 0; first < sequence.tokens; first += tokens_at_a_time) {
    stop_if_asked(stop);
    const Index count = std::min(tokens_at_a_time, sequence.tokens - first);
    const Program<double> block = rule.encode<double>(sequence, first, count);
    const Index steps = block.structure.rows_per_read;
    for (Index r = 0; r < block.rows(); ++r) {
      if (!visit(first + r / steps, (r + 1) % steps == 0, block.row(r), S)) return;
    }
  }
}

}  // namespace palimpsest
