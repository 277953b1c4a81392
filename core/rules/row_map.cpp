#include "core/rules/row_map.h"

#include "core/engines/row_engines.h"

namespace palimpsest {

RowMap::RowMap(const Program<double>& channel) : parts_(channel.structure.part_count()) {
  const Structure& structure = channel.structure;
  if (!channel.erase_after.empty())
    throw Unsupported("an erase that reads the state of an earlier row cannot be followed row by row");
  const bool in_parts = !structure.parts.empty();
  write_ = in_parts ? spread<double>(channel.inject, channel.b()) : channel.b();
  if (structure.plain_write) plain_ = channel.k_plain;
  if (in_parts) {
    transition_ = channel.transition;
  } else {
    fade_ = key_decays(channel);
    if (structure.value_decay) fade_.array().colwise() *= channel.mu.col(0).array();
  }
  if (structure.erase == Erase::none) return;
  erase_ = in_parts ? spread<double>(channel.erase_sight, channel.erase_keys()) : channel.erase_keys();
  if (structure.erase == Erase::decayed) {
    for (Index r = 0; r < rows(); ++r) erase_.row(r) = faded_back(r, erase_.row(r));
  } else if (structure.value_decay) {
    erase_.array().colwise() *= channel.mu.col(0).array();
  }
}

RowVector<double> RowMap::moved(Index r, const RowVector<double>& x, bool back) const {
  if (parts_ == 1) return x.cwiseProduct(fade_.row(r));
  const Index K = x.size() / parts_;
  RowVector<double> moved = RowVector<double>::Zero(x.size());
  for (Index to = 0; to < parts_; ++to) {
    for (Index from = 0; from < parts_; ++from) {
      const double weight = transition_(r, back ? from * parts_ + to : to * parts_ + from);
      moved.segment(to * K, K) += weight * x.segment(from * K, K);
    }
  }
  return moved;
}

void RowMap::push_forward(Index r, Eigen::Ref<Matrix<double>> X) const {
  Vector<double> taken;
  if (erases()) taken = X * erase_.row(r).transpose();
  if (parts_ == 1) X.array().rowwise() *= fade_.row(r).array();
  for (Index i = 0; i < X.rows() && parts_ > 1; ++i) X.row(i) = faded(r, X.row(i));
  if (erases()) X.noalias() -= taken * write_.row(r);
}

void RowMap::pull_back(Index r, const Vector<double>& hits, Eigen::Ref<Matrix<double>> F) const {
  if (parts_ == 1) F.array().rowwise() *= fade_.row(r).array();
  for (Index i = 0; i < F.rows() && parts_ > 1; ++i) F.row(i) = faded_back(r, F.row(i));
  if (erases()) F.noalias() -= hits * erase_.row(r);
}

Matrix<double> key_decays(const Program<double>& rows) {
  Matrix<double> decays = Matrix<double>::Ones(rows.rows(), rows.k.cols());
  if (rows.structure.decay == Decay::scalar) decays.array().colwise() *= rows.alpha().col(0).array();
  if (rows.structure.decay == Decay::key) decays = rows.alpha();
  return decays;
}

Matrix<double> cell_decays(const Program<double>& row) {
  Matrix<double> decays = key_decays(row).transpose().replicate(1, row.v.cols());
  if (row.structure.value_decay) decays.array().rowwise() *= row.mu.row(0).array();
  return decays;
}

Matrix<double> kept_state(const Program<double>& row, const Matrix<double>& S) {
  if (!row.structure.parts.empty()) return mixed<double>(row.transition_of(0), S);
  Matrix<double> kept = S;
  kept.array().colwise() *= key_decays(row).row(0).transpose().array();
  if (row.structure.value_decay) kept.array().rowwise() *= row.mu.row(0).array();
  return kept;
}

Matrix<double> seen_by_query(const Program<double>& row, const Matrix<double>& S) {
  return row.structure.parts.empty() ? S : seen<double>(S, row.read_sight);
}

Matrix<double> found_by_erase(const Program<double>& row, const Matrix<double>& S) {
  const Structure& structure = row.structure;
  if (structure.erase == Erase::none) return Matrix<double>::Zero(1, S.cols());
  Matrix<double> asked = structure.erase == Erase::decayed ? kept_state(row, S) : S;
  if (!structure.parts.empty()) asked = seen<double>(asked, row.erase_sight);
  Matrix<double> found = row.erase_keys() * asked;
  if (structure.erase == Erase::undecayed && structure.value_decay) found = found.cwiseProduct(row.mu);
  return found;
}

}  // namespace palimpsest
