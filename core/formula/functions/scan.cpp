// A scan over matrices: row i of a table [L, K V] is the matrix [K, V] of token i, row after row.

#include <fmt/format.h>

#include <cmath>

#include "core/formula/functions/rows.h"

namespace palimpsest {

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
