// All inner batches at once: matrices [K, V] of N batches stacked to [N K, V], and the first tokens of the
// batches as a column [N, 1]. A token belongs to the last batch that has begun.

#include <algorithm>

#include "core/base/error.h"
#include "core/formula/functions/rows.h"
#include "core/numbers/newton_schulz.h"

namespace palimpsest {

namespace {

/// The tokens first .. first + count - 1.
struct Tokens {
  Index first = 0;
  Index count = 0;
};

/// The batch of a token, when `begun(c)` is the first token of batch c of N.
template <class Begun>
Index batch_of(Index token, Index N, Begun begun) {
  Index before = 0;
  for (Index c = 0; c < N; ++c) before += begun(c) <= static_cast<double>(token) ? 1 : 0;
  return std::max<Index>(before - 1, 0);
}

template <class Begun>
Tokens tokens_of(Index batch, Index tokens, Index N, Begun begun) {
  Tokens own;
  for (Index token = 0; token < tokens; ++token) {
    if (batch_of(token, N, begun) != batch) continue;
    if (own.count++ == 0) own.first = token;
  }
  return own;
}

/// Which block of the stacked weights a token reads.
Index block_read(Index batch, double later, Index blocks) {
  return std::clamp<Index>(batch + (later > 0.5 ? 1 : 0), 0, blocks - 1);
}

auto starts_in(const Matrix<double>& first) {
  return [&first](Index c) { return first(c, 0); };
}

auto starts_in(CallCell& cell, std::size_t argument) {
  return [&cell, argument](Index c) { return cell.value(argument, c, 0); };
}

Matrix<double> batch_products(Arguments a) {
  const Index K = a[0].cols();
  const Index N = a[2].rows();
  Matrix<double> stacked = Matrix<double>::Zero(N * K, a[1].cols());
  for (Index j = 0; j < a[0].rows() && N > 0; ++j) {
    stacked.middleRows(batch_of(j, N, starts_in(a[2])) * K, K) += a[0].row(j).transpose() * a[1].row(j);
  }
  return stacked;
}

Matrix<double> batch_momentum(Arguments a) {
  const Index K = a[2].rows();
  Matrix<double> M = a[0];
  for (Index c = 0; c < a[1].rows(); ++c) {
    const Matrix<double> before = c == 0 ? a[2] : Matrix<double>(M.middleRows((c - 1) * K, K));
    M.middleRows(c * K, K) += a[1](c, 0) * before;
  }
  return M;
}

NewtonSchulz steps_of(const Matrix<double>& coefficients) {
  NewtonSchulz steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto row = static_cast<Index>(i);
    steps[i] = {coefficients(row, 0), coefficients(row, 1), coefficients(row, 2)};
  }
  return steps;
}

Matrix<double> batch_newton_schulz(Arguments a) {
  const Index N = a[2].rows();
  const Index K = N == 0 ? 0 : a[0].rows() / N;
  Matrix<double> X = a[0];
  for (Index c = 0; c < N; ++c) {
    X.middleRows(c * K, K) = newton_schulz(Matrix<double>(a[0].middleRows(c * K, K)), steps_of(a[1]));
  }
  return X;
}

Matrix<double> batch_weights(Arguments a) {
  const Index K = a[0].rows();
  Matrix<double> S(K + a[1].rows(), a[0].cols());
  S << a[0], a[1];
  for (Index row = K; row < S.rows(); ++row) S.row(row) += S.row(row - K);
  return S;
}

Matrix<double> batch_reads(Arguments a) {
  const Index K = a[0].cols();
  Matrix<double> O = Matrix<double>::Zero(a[0].rows(), a[1].cols());
  for (Index i = 0; i < O.rows(); ++i) {
    const Index batch = batch_of(i, a[2].rows(), starts_in(a[2]));
    const Index block = block_read(batch, a[3](0, 0), a[1].rows() / K);
    O.row(i) = a[0].row(i) * a[1].middleRows(block * K, K);
  }
  return O;
}

Matrix<double> last_rows(Arguments a) { return a[0].bottomRows(a[1].rows()); }

Term explain_batch_products(CallCell& cell) {
  const Index K = cell.shape(0).columns;
  const Index channel = cell.row() % K;
  const auto [first, count] =
      tokens_of(cell.row() / K, cell.shape(0).rows, cell.shape(2).rows, starts_in(cell, 2));
  cell.reads(0, first, channel, count, 1);
  cell.reads(1, first, cell.column(), count, 1);
  return sum({.count = count,
              .letter = 'j',
              .value =
                  [&](Index j) {
                    return cell.value(0, first + j, channel) * cell.value(1, first + j, cell.column());
                  },
              .term =
                  [&](const Subscript& j) {
                    const Subscript token(first + j.index, j.letter);
                    return cell.at(0, token, channel) * cell.at(1, token, cell.column());
                  }});
}

Term explain_batch_momentum(CallCell& cell) {
  const Index K = cell.shape(2).rows;
  const Index batch = cell.row() / K;
  const Term added = cell.at(0, cell.row(), cell.column());
  const Term factor = cell.at(1, batch, 0);
  if (batch == 0) return factor * cell.at(2, cell.row(), cell.column()) + added;
  cell.reads_own(cell.row() - K, cell.column(), 1, 1);
  return factor * cell.own(cell.row() - K, cell.column()) + added;
}

Term explain_batch_newton_schulz(CallCell& cell) {
  const Index K = cell.shape(0).rows / cell.shape(2).rows;
  const Index batch = cell.row() / K;
  cell.reads(0, batch * K, 0, K, cell.shape(0).columns);
  Matrix<double> M(K, cell.shape(0).columns);
  for (Index i = 0; i < K; ++i) {
    for (Index j = 0; j < M.cols(); ++j) M(i, j) = cell.value(0, batch * K + i, j);
  }
  Matrix<double> coefficients(5, 3);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 3; ++j) coefficients(i, j) = cell.value(1, i, j);
  }
  return symbol("NS5(" + cell.name(0) + ")",
                newton_schulz(M, steps_of(coefficients))(cell.row() % K, cell.column()));
}

Term explain_batch_weights(CallCell& cell) {
  const Index K = cell.shape(0).rows;
  if (cell.row() < K) return cell.at(0, cell.row(), cell.column());
  cell.reads_own(cell.row() - K, cell.column(), 1, 1);
  return cell.own(cell.row() - K, cell.column()) + cell.at(1, cell.row() - K, cell.column());
}

Term explain_batch_reads(CallCell& cell) {
  const Index K = cell.shape(0).columns;
  const Index batch = batch_of(cell.row(), cell.shape(2).rows, starts_in(cell, 2));
  const Index first = block_read(batch, cell.value(3, 0, 0), cell.shape(1).rows / K) * K;
  cell.reads(0, cell.row(), 0, 1, K);
  cell.reads(1, first, cell.column(), K, 1);
  return sum(
      {.count = K,
       .value =
           [&](Index i) { return cell.value(0, cell.row(), i) * cell.value(1, first + i, cell.column()); },
       .term =
           [&](const Subscript& i) {
             return cell.at(0, cell.row(), i) *
                    cell.at(1, Subscript(first + i.index, i.letter), cell.column());
           }});
}

Term explain_last_rows(CallCell& cell) {
  return cell.at(0, cell.shape(0).rows - cell.shape(1).rows + cell.row(), cell.column());
}

using Shapes = std::span<const Shape>;

/// `row`, which gives as many rows as `rows(arguments)` says, a negative number where they do not fit:
/// products of sizes are more than a signature can say. The rest fits by the signature.
Function stacked(Function row, std::function<Index(Shapes)> rows) {
  row.shape = [name = row.name, fits = row.shape, rows = std::move(rows)](Shapes arguments) {
    const Shape by_signature = fits(arguments);
    const Index count = rows(arguments);
    if (count < 0) throw Error(name + ": shapes do not fit: the rows are not those of whole batches");
    return Shape{count, by_signature.columns};
  };
  return row;
}

}  // namespace

std::vector<Function> inner_batch_functions() {
  constexpr Index misfit = -1;
  return {
      stacked(function("batch_products", "[L, K], [L, V], [N, 1] -> [N, V]",
                       {R"(\left[#1_{c}^{\top} #2_{c}\right]_{c})", Precedence::atom, Precedence::atom},
                       batch_products, explain_batch_products,
                       "what the tokens of one batch add up to, batch below batch"),
              [](Shapes a) { return a[0].columns * a[2].rows; }),
      stacked(function("batch_momentum", "[L, V], [N, 1], [K, V] -> [L, V]",
                       {R"(\mathrm{scan}\left(#2, #1, #3\right))"}, batch_momentum, explain_batch_momentum,
                       "what the batch before left, times the momentum, plus the batch's own"),
              [](Shapes a) { return a[0].rows == a[1].rows * a[2].rows ? a[0].rows : misfit; }),
      stacked(function("batch_newton_schulz", "[L, V], [5, 3], [N, 1] -> [L, V]",
                       {R"(\left[\mathrm{NS}_5\left(#1_{c}\right)\right]_{c})", Precedence::atom,
                        Precedence::atom},
                       batch_newton_schulz, explain_batch_newton_schulz,
                       "the same directions, every stretch brought near 1"),
              [](Shapes a) {
                const bool fits = a[2].rows == 0 ? a[0].rows == 0 : a[0].rows % a[2].rows == 0;
                return fits ? a[0].rows : misfit;
              }),
      stacked(function("batch_weights", "[K, V], [L, V] -> [L, V]",
                       {R"(#1 + \left[\textstyle\sum_{i \le c} #2_{i}\right]_{c})", Precedence::sum,
                        Precedence::atom},
                       batch_weights, explain_batch_weights,
                       "the weights to start from, plus all steps up to this batch"),
              [](Shapes a) { return a[0].rows > 0 ? a[0].rows + a[1].rows : misfit; }),
      stacked(function("batch_reads", "[L, K], [M, V], [N, 1], [1, 1] -> [L, V]",
                       {R"(\left[#1_{c} #2_{c}\right]_{c})", Precedence::atom, Precedence::atom}, batch_reads,
                       explain_batch_reads, "the query meets the weights of its own batch"),
              [](Shapes a) {
                const bool fits = a[0].columns > 0 && a[1].rows > 0 && a[1].rows % a[0].columns == 0;
                return fits ? a[0].rows : misfit;
              }),
      stacked(
          function("last_rows", "[L, V], [K, V] -> [K, V]", {"#1_{N}", Precedence::atom, Precedence::atom},
                   last_rows, explain_last_rows, "the last block"),
          [](Shapes a) { return a[0].rows >= a[1].rows ? a[1].rows : misfit; }),
  };
}

}  // namespace palimpsest
