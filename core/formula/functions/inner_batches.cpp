// All inner batches at once: matrices [K, V] of N batches stacked to [N K, V], and the first tokens of the
// batches as a column [N, 1]. A token belongs to the last batch that has begun.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/formula/functions.h"
#include "core/numbers/matrix_functions.h"

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

// A scan over matrices: row i of a table [L, K V] is the matrix [K, V] of token i, row after row.

namespace {

/// Row i holds the numbers of(i, d, c) of one matrix [K, V] per token.
template <class Of>
Matrix<double> table(Index L, Index K, Index V, Of of) {
  Matrix<double> result(L, K * V);
  for (Index i = 0; i < L; ++i) {
    for (Index d = 0; d < K; ++d) {
      for (Index c = 0; c < V; ++c) result(i, d * V + c) = of(i, d, c);
    }
  }
  return result;
}

Matrix<double> step_decays(Arguments a) {
  return table(a[1].rows(), a[0].rows(), a[0].cols(),
               [&](Index i, Index d, Index c) { return std::exp(a[0](d, c) * a[1](i, c)); });
}

Matrix<double> row_outer(Arguments a) {
  return table(a[0].rows(), a[0].cols(), a[1].cols(),
               [&](Index i, Index d, Index c) { return a[0](i, d) * a[1](i, c); });
}

/// B'_i = E_i o B'_{i-1} + B_i, one row after the other.
Matrix<double> scan(Arguments a) {
  Matrix<double> result = a[1];
  for (Index i = 1; i < result.rows(); ++i) result.row(i) += a[0].row(i).cwiseProduct(result.row(i - 1));
  return result;
}

Matrix<double> scanned_states(Arguments a) {
  const Index V = a[0].cols();
  return table(a[1].rows(), a[0].rows(), V, [&](Index i, Index d, Index c) {
    return a[1](i, d * V + c) * a[0](d, c) + a[2](i, d * V + c);
  });
}

Matrix<double> scanned_end(Arguments a) {
  Matrix<double> S = a[0];
  const Index last = a[1].rows() - 1;
  for (Index d = 0; last >= 0 && d < S.rows(); ++d) {
    for (Index c = 0; c < S.cols(); ++c) {
      const Index column = d * S.cols() + c;
      S(d, c) = a[1](last, column) * S(d, c) + a[2](last, column);
    }
  }
  return S;
}

Matrix<double> read_rows(Arguments a) {
  const Index K = a[0].cols();
  const Index V = K == 0 ? 0 : a[1].cols() / K;
  Matrix<double> result = Matrix<double>::Zero(a[0].rows(), V);
  for (Index i = 0; i < result.rows(); ++i) {
    for (Index d = 0; d < K; ++d) result.row(i) += a[0](i, d) * a[1].row(i).segment(d * V, V);
  }
  return result;
}

Term explain_step_decays(CallCell& cell) {
  const Index V = cell.shape(0).columns;
  const Index c = cell.column() % V;
  return exp(cell.at(0, cell.column() / V, c) * cell.at(1, cell.row(), c));
}

Term explain_row_outer(CallCell& cell) {
  const Index V = cell.shape(1).columns;
  return cell.at(0, cell.row(), cell.column() / V) * cell.at(1, cell.row(), cell.column() % V);
}

Term explain_scan(CallCell& cell) {
  const Index i = cell.row();
  const Term written = cell.at(1, i, cell.column());
  if (i == 0) return written;
  cell.reads_own(i - 1, cell.column(), 1, 1);
  return cell.at(0, i, cell.column()) * cell.own(i - 1, cell.column()) + written;
}

Term explain_scanned_states(CallCell& cell) {
  const Index V = cell.shape(0).columns;
  return cell.at(1, cell.row(), cell.column()) * cell.at(0, cell.column() / V, cell.column() % V) +
         cell.at(2, cell.row(), cell.column());
}

Term explain_scanned_end(CallCell& cell) {
  const Index last = cell.shape(1).rows - 1;
  const Index column = cell.row() * cell.shape(0).columns + cell.column();
  const Term carried = cell.at(0, cell.row(), cell.column());
  if (last < 0) return carried;
  return cell.at(1, last, column) * carried + cell.at(2, last, column);
}

Term explain_read_rows(CallCell& cell) {
  const Index i = cell.row();
  const Index c = cell.column();
  const Index K = cell.shape(0).columns;
  const Index V = cell.shape(1).columns / K;
  cell.reads(0, i, 0, 1, K);
  for (Index d = 0; d < K; ++d) cell.reads(1, i, d * V + c, 1, 1);
  const auto state = [&](const Subscript& d) {
    if (!d.letter) return cell.at(1, i, d.index * V + c);
    return symbol(fmt::format("{}[{},{}·{}+{}]", cell.name(1), i, d.letter, V, c),
                  cell.value(1, i, d.index * V + c));
  };
  return sum({.count = K,
              .letter = 'd',
              .value = [&](Index d) { return cell.value(0, i, d) * cell.value(1, i, d * V + c); },
              .term = [&](const Subscript& d) { return cell.at(0, i, d) * state(d); }});
}

}  // namespace

std::vector<Function> scan_functions() {
  return {
      function("step_decays", "[K, V], [L, V] -> [L, K*V]",
               {R"(\left[\exp\left(#1 \odot \mathbf 1 #2_{i}\right)\right]_{i})", Precedence::atom,
                Precedence::atom},
               step_decays, explain_step_decays,
               "the exponential of rate times step: how much of this cell is kept"),
      function("row_outer", "[L, K], [L, V] -> [L, K*V]",
               {R"(\left[#1_{i}^{\top} #2_{i}\right]_{i})", Precedence::atom, Precedence::atom}, row_outer,
               explain_row_outer, "each row of the one along each row of the other: one matrix per token"),
      function("scan", "[L, D], [L, D] -> [L, D]", applied("scan", 2), scan, explain_scan,
               "what the row before holds, faded, and what this token writes"),
      function("scanned_states", "[K, V], [L, K*V], [L, K*V] -> [L, K*V]",
               {R"(\left[#2_{i} \odot #1 + #3_{i}\right]_{i})", Precedence::atom, Precedence::atom},
               scanned_states, explain_scanned_states,
               "the memory carried in, faded up to this token, and all that was written since"),
      function("scanned_end", "[K, V], [L, K*V], [L, K*V] -> [K, V]",
               {R"(#2_{L} \odot #1 + #3_{L})", Precedence::sum, Precedence::atom}, scanned_end,
               explain_scanned_end, "the memory carried in, faded to the end, and all that was written"),
      function("read_rows", "[L, K], [L, K*V] -> [L, V]",
               {R"(\left[#1_{i} #2_{i}\right]_{i})", Precedence::atom, Precedence::atom}, read_rows,
               explain_read_rows, "each query asks the memory of its own token"),
  };
}

}  // namespace palimpsest
