#include "core/rules/row_state.h"

#include "core/engines/parts.h"

namespace palimpsest {

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
