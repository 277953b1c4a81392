#include "core/engines/mamba.h"

#include "core/numbers/exponential.h"

namespace palimpsest {

namespace {

/// Hillis and Steele: a pass over the distance d composes row i with row i - d, so that it then covers 2 d
/// tokens. Only products of numbers in [0, 1], and of these with what was written.
template <class Scalar>
void scan(Matrix<Scalar>& E, Matrix<Scalar>& B, const std::stop_token& stop) {
  for (Index distance = 1; distance < E.rows(); distance *= 2) {
    // From the last row up: the rows before are still those of the last pass.
    for (Index i = E.rows() - 1; i >= distance; --i) {
      stop_if_asked(stop);
      B.row(i) += E.row(i).cwiseProduct(B.row(i - distance));
      E.row(i) = E.row(i).cwiseProduct(E.row(i - distance)).eval();
    }
  }
}

template <class Scalar>
Matrix<Scalar> with_skip(const Matrix<Scalar>& read, const MambaRows<Scalar>& rows) {
  if (rows.D.size() == 0) return read;
  return read + (rows.v.array().rowwise() * rows.D.row(0).array()).matrix();
}

template <class Scalar>
Matrix<Scalar> mamba_recurrent(const MambaRows<Scalar>& rows, Matrix<Scalar>& S, Recorder* recorder) {
  const Matrix<Scalar> U = rows.delta.cwiseProduct(rows.v);
  Matrix<Scalar> read(rows.v.rows(), rows.v.cols());
  for (Index t = 0; t < read.rows(); ++t) {
    const Matrix<Scalar> E =
        exponential((rows.A.array().rowwise() * rows.delta.row(t).array()).eval()).matrix();
    note(recorder, "delta", rows.delta.row(t).transpose());
    note(recorder, "A", rows.A);
    note(recorder, "E", E);
    note(recorder, "S_before", S);
    note(recorder, "S_decayed", E.cwiseProduct(S));
    note(recorder, "u", U.row(t).transpose());
    note(recorder, "update", rows.k.row(t).transpose() * U.row(t));
    S = E.cwiseProduct(S);
    S.noalias() += rows.k.row(t).transpose() * U.row(t);
    read.row(t).noalias() = rows.q.row(t) * S;
    note(recorder, "S_after", S);
    note(recorder, "read", read.row(t).transpose());
    if (rows.D.size() > 0) note(recorder, "D", rows.D.transpose());
  }
  return with_skip(read, rows);
}

template <class Scalar>
Matrix<Scalar> mamba_scan(const MambaRows<Scalar>& rows, Matrix<Scalar>& S, Recorder* recorder,
                          const std::stop_token& stop) {
  const Index L = rows.v.rows();
  const Index K = rows.k.cols();
  const Index V = rows.v.cols();

  // Row i of a table is the [K, V] matrix of token i in row-major order.
  const Matrix<Scalar> U = rows.delta.cwiseProduct(rows.v);
  Matrix<Scalar> E(L, K * V);
  Matrix<Scalar> B(L, K * V);
  for (Index i = 0; i < L; ++i) {
    stop_if_asked(stop);
    for (Index d = 0; d < K; ++d) {
      E.row(i).segment(d * V, V) =
          exponential((rows.A.row(d).array() * rows.delta.row(i).array()).eval()).matrix();
      B.row(i).segment(d * V, V) = rows.k(i, d) * U.row(i);
    }
  }
  note(recorder, "Delta", rows.delta);
  note(recorder, "A", rows.A);
  note(recorder, "E", E);
  note(recorder, "U", U);
  note(recorder, "B", B);

  scan(E, B, stop);
  note(recorder, "E_bar", E);
  note(recorder, "B_bar", B);
  note(recorder, "S_in", S);

  Matrix<Scalar> read = Matrix<Scalar>::Zero(L, V);
  const Eigen::Map<const RowVector<Scalar>> carried(S.data(), K * V);
  for (Index i = 0; i < L; ++i) {
    stop_if_asked(stop);
    B.row(i) += E.row(i).cwiseProduct(carried);
    for (Index d = 0; d < K; ++d) read.row(i) += rows.q(i, d) * B.row(i).segment(d * V, V);
  }
  if (L > 0) S = Eigen::Map<const Matrix<Scalar>>(B.row(L - 1).data(), K, V);
  note(recorder, "S_all", B);
  note(recorder, "read", read);
  note(recorder, "S_out", S);
  if (rows.D.size() > 0) note(recorder, "D", rows.D);
  return with_skip(read, rows);
}

}  // namespace

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const MambaRows<Scalar>& rows,
                             Carried<Scalar>& state) {
  if (request.form == Form::recurrent) return mamba_recurrent(rows, state.front(), request.tap);
  return mamba_scan(rows, state.front(), request.tap, request.stop);
}

template Matrix<double> compute_block(const EngineRequest&, const MambaRows<double>&, Carried<double>&);
template Matrix<float> compute_block(const EngineRequest&, const MambaRows<float>&, Carried<float>&);

}  // namespace palimpsest
