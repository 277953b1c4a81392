#pragma once

#include <span>

#include "core/numbers/products.h"
#include "core/operator/program.h"

// The three engines of row programs, and what they share.

namespace palimpsest {

/// Engine 1, spec 2.2: one row at a time. Advances `state` [K, V] over all rows and returns the outputs [R,
/// V] (no rows where the output reads the final state: q S then gives them). `recorder`, if any, receives
/// every tensor of the last row.
template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr);

/// One chunk of engine 2, spec 2.3: all rows of `program` at once. Advances `state` [K, V] to the chunk's end
/// and returns the outputs [R, V] (no rows where the output reads the final state). With erase the rows of
/// the chunk are coupled by a unit lower triangular system, solved by forward substitution.
template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr);

/// The same chunk in the two passes of the other schedule. The first: advances `state` to the chunk's end and
/// returns what the rows write, U [L, V] (V itself where nothing is erased).
template <class Scalar>
Matrix<Scalar> chunk_state(const Program<Scalar>& program, Matrix<Scalar>& state,
                           Recorder* recorder = nullptr);

/// The second pass, independent for every chunk: the outputs [R, V] from the state before the chunk and what
/// its rows write.
template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Matrix<Scalar>& state_before,
                             const Matrix<Scalar>& U, Recorder* recorder = nullptr);

/// How many [L, L] matrices chunk() holds at the same time.
double chunk_matrices(const Structure& structure);

/// Engine 3, spec 1.2 eq. P: the whole sequence as one dense lower triangular problem with two [n, n]
/// matrices. Shares no code with the chunkwise engine: scores by one running product per pair, solve by
/// Eigen. Advances `state` and returns the outputs [n, V], also where the output reads the final state.
/// `recorder`, if any, receives every tensor. Throws Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr,
                        const std::stop_token& stop = {});

/// How many [n, n] matrices parallel() holds at the same time.
double parallel_matrices(const Structure& structure);

/// Rows of a sub-chunk: inside it, scores with a decay per channel are computed pair by pair; between
/// sub-chunks they are matrix products.
inline constexpr Index sub_chunk_size = 16;

/// A table of decays shifted down by one row: row i is row i - 1 of `table`, row 0 is `first` everywhere.
template <class Scalar>
Matrix<Scalar> one_row_earlier(const Matrix<Scalar>& table, Scalar first) {
  Matrix<Scalar> earlier = Matrix<Scalar>::Constant(table.rows(), table.cols(), first);
  if (table.rows() > 1) earlier.bottomRows(table.rows() - 1) = table.topRows(table.rows() - 1);
  return earlier;
}

/// Hands decays of rows to a trace: from the start and to the end, g_in and g_out for `name` g; g_before too
/// where something reads before its row.
template <class Scalar>
void record_fades(const std::string& name, bool reads_before, const Matrix<Scalar>& from_start,
                  const Matrix<Scalar>& to_end, Recorder& record) {
  record(name + "_in", from_start);
  if (reads_before) record(name + "_before", one_row_earlier<Scalar>(from_start, 1));
  record(name + "_out", to_end);
  record(name + "_total", from_start.bottomRows(1).transpose());
}

/// to <- sum_i weights_i part(i)
template <class Weights, class Part, class To>
void add_up(const Weights& weights, Part part, To&& to) {
  to = weights(0) * part(Index{0});
  for (Index i = 1; i < weights.size(); ++i) to += weights(i) * part(i);
}

/// The sum of sight_i times part i of a state [p K, V]: [K, V].
template <class Scalar>
Matrix<Scalar> seen(const Matrix<Scalar>& S, const Matrix<Scalar>& sight) {
  const Index K = S.rows() / sight.size();
  Matrix<Scalar> sum;
  add_up(
      sight, [&](Index i) { return S.middleRows(i * K, K); }, sum);
  return sum;
}

/// (T x I) S: part i becomes sum_j T_ij part j. S: [p K, V], T: [p, p].
template <class Scalar>
Matrix<Scalar> mixed(const Matrix<Scalar>& T, const Matrix<Scalar>& S) {
  const Index p = T.rows();
  const Index K = S.rows() / p;
  Matrix<Scalar> result(S.rows(), S.cols());
  for (Index i = 0; i < p; ++i)
    add_up(
        T.row(i), [&](Index j) { return S.middleRows(j * K, K); }, result.middleRows(i * K, K));
  return result;
}

/// [L, p K]: row i of X repeated for every part, times the weight of that part. X: [L, K], weights: [L, p].
template <class Scalar>
Matrix<Scalar> spread(const Matrix<Scalar>& weights, const Matrix<Scalar>& X) {
  const Index K = X.cols();
  Matrix<Scalar> wide(X.rows(), weights.cols() * K);
  for (Index row = 0; row < X.rows(); ++row) {
    for (Index i = 0; i < weights.cols(); ++i) wide.row(row).segment(i * K, K) = weights(row, i) * X.row(row);
  }
  return wide;
}

/// P U where each reader sees the rows of U written before it, so that P is 0 in the others: [R, V]. A row
/// beyond them that is no longer finite stays out, as it does in the recurrence: 0 times NaN is NaN.
template <class Scalar, class Products = EigenProducts>
Matrix<Scalar> seen_sum(const Matrix<Scalar>& P, const Matrix<Scalar>& U, std::span<const Reader> readers) {
  if (U.allFinite()) return Products::product(P, U);
  Matrix<Scalar> sum(P.rows(), U.cols());
  for (Index s = 0; s < P.rows(); ++s) {
    const Index rows = entry(readers, s).writes;
    sum.row(s).noalias() = P.row(s).head(rows) * U.topRows(rows);
  }
  return sum;
}

/// Readers of n rows by the number of decays before they read: [n + 1] lists.
inline std::vector<std::vector<Index>> by_time(std::span<const Reader> readers, Index n) {
  std::vector<std::vector<Index>> lists(static_cast<std::size_t>(n) + 1);
  for (std::size_t s = 0; s < readers.size(); ++s)
    entry(lists, readers[s].decays).push_back(static_cast<Index>(s));
  return lists;
}

/// How much a reader sees of every part: [1, p], while it lives.
template <class Scalar>
auto sight_of(const Reader& reader) {
  return Eigen::Map<const RowVector<double>>(reader.sight.data(), std::ssize(reader.sight))
      .template cast<Scalar>();
}

}  // namespace palimpsest
