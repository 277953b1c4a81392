#include "core/engines/recurrent.h"

namespace palimpsest {

template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder) {
  const Structure& structure = program.structure;
  const bool reads = structure.read_at == ReadAt::after_row;
  const Index N = program.rows();
  const Matrix<Scalar> alpha = program.alpha();
  Matrix<Scalar> o(reads ? program.reads() : 0, program.v.cols());
  Vector<Scalar> u(program.v.cols());

  for (Index r = 0; r < N; ++r) {
    Recorder* record = r == N - 1 ? recorder : nullptr;
    const auto a = program.erase_keys().row(r).transpose();  // [K]
    if (record) (*record)("S_before", S);

    // S_{r-1}^T a
    if (structure.erase == Erase::undecayed) {
      u.noalias() = S.transpose() * a;
      if (structure.value_decay) u = u.cwiseProduct(program.mu.row(r).transpose());
    }

    // S~ = Diag(alpha) S Diag(mu)
    if (structure.decay == Decay::scalar) S *= alpha(r, 0);
    if (structure.decay == Decay::key) S.array().colwise() *= alpha.row(r).transpose().array();
    if (structure.value_decay) S.array().rowwise() *= program.mu.row(r).array();
    if (record && (structure.decay != Decay::none || structure.value_decay)) (*record)("S_decayed", S);

    // u = v - S~^T a
    if (structure.erase == Erase::decayed) u.noalias() = S.transpose() * a;
    if (structure.erase == Erase::none) {
      u = program.v.row(r).transpose();
    } else {
      if (record) (*record)("old", u);
      u = structure.writes_value ? Vector<Scalar>(program.v.row(r).transpose() - u) : Vector<Scalar>(-u);
      if (record) (*record)("error", u);
    }

    // S = S~ + beta k u^T + k+ v+^T
    const Scalar beta = structure.beta ? program.beta(r, 0) : Scalar(1);
    const auto b = beta * program.k.row(r).transpose();
    if (record) (*record)("update", b * u.transpose());
    S.noalias() += b * u.transpose();
    if (structure.plain_write) {
      if (record) (*record)("plain_update", program.k_plain.row(r).transpose() * program.v_plain.row(r));
      S.noalias() += program.k_plain.row(r).transpose() * program.v_plain.row(r);
    }
    if (record) (*record)("S_after", S);

    // o = S^T q
    const bool is_last = (r + 1) % structure.rows_per_read == 0;
    if (const Index read = r / structure.rows_per_read; reads && is_last && read < program.reads())
      o.row(read).noalias() = program.q.row(read) * S;
  }
  return o;
}

template Matrix<double> recurrent(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> recurrent(const Program<float>&, Matrix<float>&, Recorder*);

}  // namespace palimpsest
