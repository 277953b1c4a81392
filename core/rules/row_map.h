#pragma once

#include "core/operator/program.h"

namespace palimpsest {

/// The rows of a channel (core/operator/channel.h) as maps of its state column x [p K], eq. U with the erase
/// taken apart:
///   x_r = D_r x_{r-1} - b_r (e_r . x_{r-1}) + b_r w_r + k+_r v+_r
/// D decays and mixes; e . x is what the row reads to take it out. Forwards a map follows what was written,
/// backwards (its transpose) it tells what a later read sees of it.
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
  RowVector<double> faded(Index r, const RowVector<double>& x) const;

  /// D_r^T f: [1, p K].
  RowVector<double> faded_back(Index r, const RowVector<double>& f) const;

  /// Takes every state column x of X [n, p K] from before row r to after it, but for what the row writes.
  void push_forward(Index r, Eigen::Ref<Matrix<double>> X) const;

  /// Takes every functional f of F [n, p K] from after row r to before it: f becomes D^T f - (f . b) e.
  /// `hits` are the f . b_r: [n].
  void pull_back(Index r, const Vector<double>& hits, Eigen::Ref<Matrix<double>> F) const;

 private:
  Matrix<double> write_;       // [N, p K]
  Matrix<double> erase_;       // [N, p K]
  Matrix<double> plain_;       // [N, K]
  Matrix<double> fade_;        // [N, K], where there is one part
  Matrix<double> transition_;  // [N, p p], where there are several
  Index parts_;
};

}  // namespace palimpsest
