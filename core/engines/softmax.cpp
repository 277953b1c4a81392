#include "core/engines/softmax.h"

#include "core/numbers/exponential.h"

namespace palimpsest {

namespace {

template <class Scalar>
constexpr Scalar minus_infinity = -std::numeric_limits<Scalar>::infinity();

/// q k^T + bias with -inf on the keys that a query must not see. The mask is additive: exp makes it 0.
template <class Scalar>
Matrix<Scalar> masked_scores(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, Index first_query,
                             Index first_key, const Matrix<Scalar>& bias) {
  Matrix<Scalar> X = Q * K.transpose();
  if (bias.size() > 0) X += bias;
  for (Index i = 0; i < X.rows(); ++i) {
    const Index seen = std::clamp<Index>(first_query + i + 1 - first_key, 0, X.cols());
    X.row(i).tail(X.cols() - seen).setConstant(minus_infinity<Scalar>);
  }
  return X;
}

/// exp(x - m), where a masked key (-inf) has weight 0 whatever m is.
template <class Scalar>
Scalar weight(Scalar x, Scalar m) {
  using std::exp;
  return x == minus_infinity<Scalar> ? Scalar(0) : exp(x - m);
}

template <class Scalar>
RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                                 Recorder* record, const Matrix<Scalar>& bias) {
  Scalar m = minus_infinity<Scalar>;
  Scalar l = 0;
  RowVector<Scalar> y = RowVector<Scalar>::Zero(V.cols());
  RowVector<Scalar> scores(K.rows());
  for (Index j = 0; j < K.rows(); ++j) {
    Scalar x = q.dot(K.row(j));
    if (bias.size() > 0) x += bias(0, j);
    const Scalar m_new = std::max(m, x);
    const Scalar fade = weight(m, m_new);
    const Scalar w = weight(x, m_new);
    l = l * fade + w;
    y = y * fade + w * V.row(j);
    m = m_new;
    scores(j) = x;
  }
  const RowVector<Scalar> o = y / l;
  note(record, "x", scores);
  note(record, "m", static_cast<double>(m));
  note(record, "w", scores.unaryExpr([m](Scalar x) { return weight(x, m); }));
  note(record, "l", static_cast<double>(l));
  note(record, "y", y.transpose());
  note(record, "o", o.transpose());
  return o;
}

template <class Scalar>
void softmax_tile(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                  Index first_query, Index first_key, SoftmaxState<Scalar>& state, Recorder* record,
                  const Matrix<Scalar>& bias) {
  note(record, "m_in", state.m);
  note(record, "l_in", state.l);
  note(record, "Y_in", state.Y);
  Matrix<Scalar> X = masked_scores(Q, K, first_query, first_key, bias);
  const Vector<Scalar> m = state.m.cwiseMax(X.rowwise().maxCoeff());
  const Vector<Scalar> fade = state.m.binaryExpr(m, [](Scalar old, Scalar now) { return weight(old, now); });
  note(record, "X", X);
  Matrix<Scalar>& E = X;  // in place, because a tile may be large
  for (Index i = 0; i < E.rows(); ++i) {
    for (Index j = 0; j < E.cols(); ++j) E(i, j) = weight(X(i, j), m(i));
  }
  state.l = state.l.cwiseProduct(fade) + E.rowwise().sum();
  state.Y = (state.Y.array().colwise() * fade.array()).matrix() + E * V;
  state.m = m;
  note(record, "m", state.m);
  note(record, "E", E);
  note(record, "l", state.l);
  note(record, "Y", state.Y);
}

/// Queries of some chunks, one tile of keys after the other; a tap receives those of the last one.
template <class Scalar>
Matrix<Scalar> softmax_chunks(const EngineRequest& request, const CachedQueries<Scalar>& given) {
  const Index T = given.Q.rows();
  const Index V = given.V.cols();
  Matrix<Scalar> o(T, V);
  for (Index first = 0; first < T; first += request.chunk_size) {
    stop_if_asked(request.stop);
    const Index count = std::min(request.chunk_size, T - first);
    const Index keys = std::min(given.first_query + first + count, given.K.rows());
    const Matrix<Scalar> bias = given.bias(first, count);
    SoftmaxState<Scalar> state(count, V);
    for (Index first_key = 0; first_key < keys; first_key += request.chunk_size) {
      const Index key_count = std::min(request.chunk_size, keys - first_key);
      const bool is_last = first_key + key_count == keys;
      softmax_tile(Matrix<Scalar>(given.Q.middleRows(first, count)),
                   Matrix<Scalar>(given.K.middleRows(first_key, key_count)),
                   Matrix<Scalar>(given.V.middleRows(first_key, key_count)), given.first_query + first,
                   first_key, state, is_last ? request.tap : nullptr,
                   bias.size() == 0 ? bias : Matrix<Scalar>(bias.middleCols(first_key, key_count)));
    }
    o.middleRows(first, count) = state.output();
  }
  return o;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> log_decays(const Vector<Scalar>& log_gates, Index first_query, Index queries) {
  Matrix<Scalar> D = Matrix<Scalar>::Zero(queries, first_query + queries);
  for (Index i = 0; i < queries; ++i) {
    for (Index j = first_query + i; j-- > 0;) D(i, j) = D(i, j + 1) + log_gates(j + 1);
  }
  return D;
}

template <class Scalar>
Matrix<Scalar> softmax_dense(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                             Index first_query, Recorder* record, const Matrix<Scalar>& bias) {
  if (Q.rows() == 0) return Matrix<Scalar>(0, V.cols());
  Matrix<Scalar> A = masked_scores(Q, K, first_query, Index{0}, bias);
  note(record, "X", A);
  const Vector<Scalar> m = A.rowwise().maxCoeff();
  for (Index i = 0; i < A.rows(); ++i) A.row(i) = exponential(A.row(i).array() - m(i)).matrix();
  const Vector<Scalar> l = A.rowwise().sum();
  note(record, "m", m);
  note(record, "E", A);
  note(record, "l", l);
  A.array().colwise() /= l.array();
  const Matrix<Scalar> O = A * V;
  note(record, "A", A);
  note(record, "O", O);
  return O;
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const CachedQueries<Scalar>& given,
                             Carried<Scalar>&) {
  const Index T = given.Q.rows();
  if (request.form == Form::parallel)
    return softmax_dense(given.Q, given.K, given.V, given.first_query, request.tap, given.bias(0, T));
  if (request.form == Form::chunkwise) return softmax_chunks(request, given);
  Matrix<Scalar> o(T, given.V.cols());
  for (Index t = 0; t < T; ++t) {
    stop_if_asked(request.stop);
    const Index seen = given.first_query + t + 1;
    o.row(t) = softmax_stream(RowVector<Scalar>(given.Q.row(t)), Matrix<Scalar>(given.K.topRows(seen)),
                              Matrix<Scalar>(given.V.topRows(seen)), request.tap, given.bias(t, 1));
  }
  return o;
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                                       \
  template Matrix<Scalar> log_decays(const Vector<Scalar>&, Index, Index);                                   \
  template Matrix<Scalar> softmax_dense(const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, \
                                        Index, Recorder*, const Matrix<Scalar>&);                            \
  template Matrix<Scalar> compute_block(const EngineRequest&, const CachedQueries<Scalar>&, Carried<Scalar>&);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
