#include "core/engines/mesanet.h"

#include <limits>

#include "core/numbers/matrix_functions.h"

namespace palimpsest {

namespace {

/// X with row i multiplied by factor_i: [L, D], [L, 1].
template <class Scalar>
Matrix<Scalar> scaled_tokens(const Matrix<Scalar>& X, const Matrix<Scalar>& factor) {
  return (X.array().colwise() * factor.col(0).array()).matrix();
}

/// M^{-1} q for a symmetric positive definite M.
template <class Scalar>
RowVector<Scalar> solve(const Matrix<Scalar>& M, const RowVector<Scalar>& q) {
  return solved_symmetric(M, q.transpose()).transpose();
}

/// What every token of the chunk sees of the others.
template <class Scalar>
struct Inside {
  Matrix<Scalar> G;           // [L, L]: gamma_{j+1:i} for j <= i, 0 above
  Matrix<Scalar> W;           // [L, L]: G diag(beta), the weight of write j for query i
  Matrix<Scalar> from_start;  // [L, 1]: gamma_{1:i}

  explicit Inside(const MesaRows<Scalar>& rows) {
    const Index L = rows.gamma.rows();
    G = Matrix<Scalar>::Zero(L, L);
    from_start = rows.gamma;
    for (Index i = 0; i < L; ++i) {
      if (i > 0) {
        G.row(i).head(i) = rows.gamma(i, 0) * G.row(i - 1).head(i);
        from_start(i, 0) *= from_start(i - 1, 0);
      }
      G(i, i) = 1;
    }
    W = (G.array().rowwise() * rows.beta.col(0).transpose().array()).matrix();
  }
};

/// The systems (from_start_i Hkk + sum_j W_ij k_j k_j^T + ridge) x_i = q_i of a chunk.
template <class Scalar>
struct Systems {
  const MesaRows<Scalar>& rows;
  const Inside<Scalar>& inside;
  Matrix<Scalar> Hkk;

  /// Row i of X multiplied by the matrix of token i: [L, K].
  Matrix<Scalar> times(const Matrix<Scalar>& X) const {
    return scaled_tokens<Scalar>(X * Hkk, inside.from_start) +
           (X * rows.k.transpose()).cwiseProduct(inside.W) * rows.k + X * rows.ridge;
  }

  /// Row i is the diagonal of the matrix of token i: [L, K].
  Matrix<Scalar> diagonals() const {
    const RowVector<Scalar> ridge = rows.ridge.diagonal();
    const RowVector<Scalar> carried = Hkk.diagonal().cwiseMax(Scalar(0));
    Matrix<Scalar> all = inside.from_start * carried + inside.W * rows.k.cwiseAbs2();
    all.rowwise() += ridge;
    return all;
  }

  /// x_i by Cholesky, its matrix formed.
  RowVector<Scalar> solved_directly(Index i, const RowVector<Scalar>& q) const {
    const Matrix<Scalar> weighted = scaled_tokens<Scalar>(rows.k, inside.W.row(i).transpose());
    return solve<Scalar>(inside.from_start(i, 0) * Hkk + rows.k.transpose() * weighted + rows.ridge, q);
  }
};

/// Conjugate gradients on every row of Q at once: [L, K]. Finished rows have a direction of 0.
template <class Scalar>
Matrix<Scalar> conjugate_gradients(const Systems<Scalar>& systems, Matrix<Scalar> Q,
                                   const std::stop_token& stop, SolveCourse* course) {
  const Index L = Q.rows();
  const Index most_steps = 4 * Q.cols() + 16;
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();

  // Scaled to maximum norm 1, so that no square overflows or underflows.
  Vector<Scalar> size = Q.rowwise().template lpNorm<Eigen::Infinity>();
  size = (size.array() > Scalar(0)).select(size, Scalar(1));
  Q.array().colwise() /= size.array();

  const Matrix<Scalar> preconditioner = systems.diagonals().cwiseInverse();
  Matrix<Scalar> X = Matrix<Scalar>::Zero(L, Q.cols());
  Matrix<Scalar> R = Q;
  Matrix<Scalar> P = R.cwiseProduct(preconditioner);
  Vector<Scalar> residual = R.cwiseProduct(P).rowwise().sum();  // squared, in the preconditioner's norm
  const Vector<Scalar> begun = residual;
  const Vector<Scalar> enough = residual * (rounding * rounding);
  const auto follow = [&](Index i) {
    if (!course || course->row != i) return;
    const double square = begun(i) > 0 ? static_cast<double>(residual(i)) / static_cast<double>(begun(i)) : 0;
    course->rests.push_back(std::sqrt(square));
    course->solutions.push_back((X.row(i) * size(i)).transpose().template cast<double>());
  };

  std::vector<Index> running;
  for (Index i = 0; i < L; ++i) {
    follow(i);
    if (residual(i) > enough(i)) running.push_back(i);
  }
  std::vector<Index> stuck;
  for (Index step = 0; step < most_steps && !running.empty(); ++step) {
    stop_if_asked(stop);
    const Matrix<Scalar> MP = systems.times(P);
    std::vector<Index> still_running;
    for (const Index i : running) {
      const Scalar length = residual(i) / P.row(i).dot(MP.row(i));
      if (!(length > 0 && length <= std::numeric_limits<Scalar>::max())) {
        P.row(i).setZero();
        stuck.push_back(i);
        continue;
      }
      X.row(i) += length * P.row(i);
      R.row(i) -= length * MP.row(i);
      const RowVector<Scalar> Z = R.row(i).cwiseProduct(preconditioner.row(i));
      const Scalar before = residual(i);
      residual(i) = R.row(i).dot(Z);
      follow(i);
      if (residual(i) <= enough(i)) {
        P.row(i).setZero();
      } else {
        P.row(i) = Z + residual(i) / before * P.row(i);
        still_running.push_back(i);
      }
    }
    running = std::move(still_running);
  }
  stuck.insert(stuck.end(), running.begin(), running.end());
  for (const Index i : stuck) {
    stop_if_asked(stop);
    X.row(i) = systems.solved_directly(i, Q.row(i));
    if (course && course->row == i) course->is_direct = true;
  }
  return scaled_tokens<Scalar>(X, size);
}

/// Outputs and next state once x is known for every query: reads of the carried-in state and of the chunk.
template <class Scalar>
Matrix<Scalar> read_and_carry(const MesaRows<Scalar>& rows, const Inside<Scalar>& inside,
                              const Matrix<Scalar>& X, MesaState<Scalar>& H, Recorder* recorder) {
  const Index L = rows.k.rows();
  const Index K = rows.k.cols();
  const Matrix<Scalar> A = (X * rows.k.transpose()).cwiseProduct(inside.W);
  const Matrix<Scalar> carried = scaled_tokens<Scalar>(X, inside.from_start) * H.rightCols(rows.v.cols());
  const Matrix<Scalar> own = A * rows.v;

  const Matrix<Scalar> to_end = inside.G.row(L - 1).transpose();
  const Scalar total = inside.from_start(L - 1, 0);
  const Matrix<Scalar> written = scaled_tokens<Scalar>(rows.k, inside.W.row(L - 1).transpose());
  if (recorder) {
    (*recorder)("gamma", rows.gamma);
    (*recorder)("beta", rows.beta);
    (*recorder)("ridge", rows.ridge);
    (*recorder)("G", inside.G);
    (*recorder)("W", inside.W);
    (*recorder)("g_in", inside.from_start);
    (*recorder)("g_out", to_end);
    (*recorder)("g_total", static_cast<double>(total));
    (*recorder)("Hkk_in", H.leftCols(K));
    (*recorder)("Hkv_in", H.rightCols(rows.v.cols()));
    (*recorder)("X", X);
    (*recorder)("Q_back", Systems<Scalar>{rows, inside, H.leftCols(K)}.times(X));
    (*recorder)("A", A);
    (*recorder)("O_inter", carried);
    (*recorder)("O_intra", own);
  }
  H *= total;
  H.leftCols(K).noalias() += written.transpose() * rows.k;
  H.rightCols(rows.v.cols()).noalias() += written.transpose() * rows.v;
  note(recorder, "Hkk_out", H.leftCols(K));
  note(recorder, "Hkv_out", H.rightCols(rows.v.cols()));
  return carried + own;
}

template <class Scalar>
Matrix<Scalar> mesa_recurrent(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder) {
  const Index K = rows.k.cols();
  const Index V = rows.v.cols();
  Matrix<Scalar> o(rows.q.rows(), V);
  for (Index t = 0; t < o.rows(); ++t) {
    note(recorder, "gamma", static_cast<double>(rows.gamma(t, 0)));
    note(recorder, "beta", static_cast<double>(rows.beta(t, 0)));
    note(recorder, "ridge", rows.ridge);
    note(recorder, "Hkk_before", H.leftCols(K));
    note(recorder, "Hkv_before", H.rightCols(V));
    note(recorder, "Hkk_decayed", rows.gamma(t, 0) * H.leftCols(K));
    note(recorder, "Hkv_decayed", rows.gamma(t, 0) * H.rightCols(V));
    const Matrix<Scalar> strong_key = (rows.beta(t, 0) * rows.k.row(t)).transpose();
    H *= rows.gamma(t, 0);
    H.leftCols(K).noalias() += strong_key * rows.k.row(t);
    H.rightCols(V).noalias() += strong_key * rows.v.row(t);
    const RowVector<Scalar> x = solve<Scalar>(H.leftCols(K) + rows.ridge, rows.q.row(t));
    o.row(t).noalias() = x * H.rightCols(V);
    note(recorder, "Hkk_after", H.leftCols(K));
    note(recorder, "Hkv_after", H.rightCols(V));
    note(recorder, "x", x.transpose());
  }
  return o;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                          const std::stop_token& stop, SolveCourse* course) {
  const Inside<Scalar> inside(rows);
  const Systems<Scalar> systems{rows, inside, H.leftCols(rows.k.cols())};
  const Matrix<Scalar> X = conjugate_gradients<Scalar>(systems, rows.q, stop, course);
  return read_and_carry(rows, inside, X, H, recorder);
}

template <class Scalar>
Matrix<Scalar> mesa_solutions(const MesaRows<Scalar>& rows, Matrix<Scalar> Hkk, Index first,
                              const std::stop_token& stop) {
  Matrix<Scalar> X(rows.q.rows() - first, rows.q.cols());
  for (Index t = 0; t < rows.q.rows(); ++t) {
    stop_if_asked(stop);
    Hkk *= rows.gamma(t, 0);
    Hkk.noalias() += (rows.beta(t, 0) * rows.k.row(t)).transpose() * rows.k.row(t);
    if (t >= first) X.row(t - first) = solve<Scalar>(Hkk + rows.ridge, rows.q.row(t));
  }
  return X;
}

template <class Scalar>
Matrix<Scalar> symmetric_inverse(const Matrix<Scalar>& R) {
  const Matrix<Scalar> P = solved_symmetric(R, Matrix<Scalar>::Identity(R.rows(), R.cols()));
  return (P + P.transpose()) / Scalar(2);
}

template <class Scalar>
Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                   Recorder* recorder) {
  Matrix<Scalar> all(keys.k.rows(), keys.k.cols());
  for (Index t = 0; t < keys.k.rows(); ++t) {
    const Vector<Scalar> k = keys.k.row(t).transpose();
    const Scalar gamma = keys.gamma(t, 0);
    const Scalar beta = keys.beta(t, 0);
    const Vector<Scalar> along = P * k;
    const Scalar share = beta / (gamma + beta * k.dot(along));
    all.row(t) = share * along.transpose();
    const Matrix<Scalar> seen = along * along.transpose();
    P = (P - share * seen) / gamma;
    note(recorder, "along", along);
  }
  return all;
}

template <class Scalar>
Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                          const std::stop_token& stop) {
  Matrix<Scalar> R = symmetric_inverse(P);
  Matrix<Scalar> all(keys.k.rows(), keys.k.cols());
  for (Index t = 0; t < keys.k.rows(); ++t) {
    stop_if_asked(stop);
    const Vector<Scalar> k = keys.k.row(t).transpose();
    const Matrix<Scalar> seen = k * k.transpose();
    R = keys.gamma(t, 0) * R + keys.beta(t, 0) * seen;
    all.row(t) = keys.beta(t, 0) * solved_symmetric(R, k).transpose();
  }
  P = symmetric_inverse(R);
  return all;
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const MesaRows<Scalar>& rows,
                             Carried<Scalar>& state) {
  if (request.form == Form::recurrent) return mesa_recurrent(rows, state.front(), request.tap);
  if (request.form == Form::chunkwise) return mesa_chunk(rows, state.front(), request.tap, request.stop);
  Matrix<Scalar>& H = state.front();
  const Matrix<Scalar> X = mesa_solutions<Scalar>(rows, H.leftCols(rows.k.cols()), 0, request.stop);
  return read_and_carry(rows, Inside<Scalar>(rows), X, H, request.tap);
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const LeastSquaresKeys<Scalar>& keys,
                             Carried<Scalar>& state) {
  if (request.form == Form::parallel) return solved_least_squares_gains(keys, state.front(), request.stop);
  return least_squares_gains(keys, state.front(), request.tap);
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                                    \
  template Matrix<Scalar> compute_block(const EngineRequest&, const MesaRows<Scalar>&, Carried<Scalar>&); \
  template Matrix<Scalar> compute_block(const EngineRequest&, const LeastSquaresKeys<Scalar>&,            \
                                        Carried<Scalar>&);                                                \
  template Matrix<Scalar> mesa_chunk(const MesaRows<Scalar>&, Matrix<Scalar>&, Recorder*,                 \
                                     const std::stop_token&, SolveCourse*);                               \
  template Matrix<Scalar> mesa_solutions(const MesaRows<Scalar>&, Matrix<Scalar>, Index,                  \
                                         const std::stop_token&);                                         \
  template Matrix<Scalar> symmetric_inverse(const Matrix<Scalar>&);                                       \
  template Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>&, Matrix<Scalar>&, Recorder*);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
