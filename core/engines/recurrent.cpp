#include "core/engines/recurrent.h"

namespace palimpsest {

template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder) {
  const Structure& structure = program.structure;
  const bool reads = structure.read_at == ReadAt::after_row;
  const Index N = program.rows();
  const Matrix<Scalar> alpha = program.alpha();
  Matrix<Scalar> o(reads ? N : 0, program.v.cols());
  Vector<Scalar> u(program.v.cols());

  for (Index t = 0; t < N; ++t) {
    Recorder* record = t == N - 1 ? recorder : nullptr;
    const auto k = program.k.row(t).transpose();  // [K]
    const auto v = program.v.row(t).transpose();  // [V]
    if (record) (*record)("S_before", S);

    // S~ = Diag(alpha) S
    if (structure.decay == Decay::scalar) S *= alpha(t, 0);
    if (structure.decay == Decay::key) S.array().colwise() *= alpha.row(t).transpose().array();
    if (record && structure.decay != Decay::none) (*record)("S_decayed", S);

    // u = v - S~^T k
    if (structure.erase == Erase::decayed) {
      u.noalias() = S.transpose() * k;
      if (record) (*record)("old", u);
      u = v - u;
      if (record) (*record)("error", u);
    } else {
      u = v;
    }

    // S = S~ + beta k u^T
    const Scalar beta = structure.beta ? program.beta(t, 0) : Scalar(1);
    if (record) (*record)("update", beta * k * u.transpose());
    S.noalias() += (beta * k) * u.transpose();
    if (record) (*record)("S_after", S);

    // o = S^T q
    if (reads) o.row(t).noalias() = program.q.row(t) * S;
  }
  return o;
}

template Matrix<double> recurrent(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> recurrent(const Program<float>&, Matrix<float>&, Recorder*);

}  // namespace palimpsest
