// All inner batches at once: matrices [K, V] of N batches stacked to [N K, V], and the first tokens of the
// batches as a column [N, 1]. A token belongs to the last batch that has begun.

#include <fmt/format.h>

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

Term explain_batch_products(CallCell& cell) {
  const Index K = cell.shape(0).columns;
  const Index channel = cell.row() % K;
  const auto [first, count] =
      tokens_of(cell.row() / K, cell.shape(0).rows, cell.shape(2).rows, starts_in(cell, 2));
  cell.reads(0, first, channel, count, 1);
  cell.reads(1, first, cell.column(), count, 1);
  const auto each = [&, start = first](const auto& of, const Subscript& j) {
    const Subscript token(start + j.index, j.letter);
    return of.at(0, token, channel) * of.at(1, token, cell.column());
  };
  return sum(over(cell, count, 'j', each));
}

Term explain_batch_newton_schulz(CallCell& cell) {
  const Index K = cell.shape(0).rows / cell.shape(2).rows;
  const Index batch = cell.row() / K;
  const Matrix<double> M = cell.read(0, batch * K, 0, K, cell.shape(0).columns);
  const Matrix<double> coefficients =
      Matrix<double>::NullaryExpr(5, 3, [&](Index i, Index j) { return cell.value(1, i, j); });
  return symbol("NS5(" + cell.name(0) + ")",
                newton_schulz(M, steps_of(coefficients))(cell.row() % K, cell.column()));
}

Term explain_batch_reads(CallCell& cell) {
  const Index K = cell.shape(0).columns;
  const Index batch = batch_of(cell.row(), cell.shape(2).rows, starts_in(cell, 2));
  const Index first = block_read(batch, cell.value(3, 0, 0), cell.shape(1).rows / K) * K;
  cell.reads(0, cell.row(), 0, 1, K);
  cell.reads(1, first, cell.column(), K, 1);
  const auto each = [&](const auto& of, const Subscript& i) {
    return of.at(0, cell.row(), i) * of.at(1, Subscript(first + i.index, i.letter), cell.column());
  };
  return sum(over(cell, K, 'i', each));
}

// A scan over matrices: row i of a table [L, K V] is the matrix [K, V] of token i, row after row.

Matrix<double> read_rows(Arguments a) {
  const Index K = a[0].cols();
  const Index V = K == 0 ? 0 : a[1].cols() / K;
  Matrix<double> result = Matrix<double>::Zero(a[0].rows(), V);
  for (Index i = 0; i < result.rows(); ++i) {
    for (Index d = 0; d < K; ++d) result.row(i) += a[0](i, d) * a[1].row(i).segment(d * V, V);
  }
  return result;
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

std::vector<Function> inner_batch_functions() {
  using enum Precedence;
  const auto batch_momentum = [](const auto& cell) {
    const Index K = cell.shape(2).rows;
    const Index batch = cell.row() / K;
    const auto added = cell.here(0);
    const auto factor = cell.at(1, batch, 0);
    if (batch == 0) return factor * cell.here(2) + added;
    cell.reads_own(cell.row() - K, cell.column(), 1, 1);
    return factor * cell.own(cell.row() - K, cell.column()) + added;
  };
  const auto batch_weights = [](const auto& cell) {
    const Index before = cell.row() - cell.shape(0).rows;
    if (before < 0) return cell.here(0);
    cell.reads_own(before, cell.column(), 1, 1);
    return cell.own(before, cell.column()) + cell.at(1, before, cell.column());
  };
  const auto last_rows = [](const auto& cell) {
    return cell.at(0, cell.shape(0).rows - cell.shape(1).rows + cell.row(), cell.column());
  };
  const auto step_decay = [](const auto& cell) {
    const Index V = cell.shape(0).columns;
    const Index c = cell.column() % V;
    return exp(cell.at(0, cell.column() / V, c) * cell.at(1, cell.row(), c));
  };
  const auto row_outer = [](const auto& cell) {
    const Index V = cell.shape(1).columns;
    return cell.at(0, cell.row(), cell.column() / V) * cell.at(1, cell.row(), cell.column() % V);
  };
  // B'_i = E_i o B'_{i-1} + B_i, one row after the other.
  const auto scan = [](const auto& cell) {
    const Index before = cell.row() - 1;
    const auto written = cell.here(1);
    if (before < 0) return written;
    cell.reads_own(before, cell.column(), 1, 1);
    return cell.here(0) * cell.own(before, cell.column()) + written;
  };
  const auto scanned_states = [](const auto& cell) {
    const Index V = cell.shape(0).columns;
    return cell.here(1) * cell.at(0, cell.column() / V, cell.column() % V) + cell.here(2);
  };
  const auto scanned_end = [](const auto& cell) {
    const Index last = cell.shape(1).rows - 1;
    const Index column = cell.row() * cell.shape(0).columns + cell.column();
    const auto carried = cell.here(0);
    if (last < 0) return carried;
    return cell.at(1, last, column) * carried + cell.at(2, last, column);
  };
  const auto first_has_rows = [](std::span<const Shape> a) { return a[0].rows > 0; };
  const auto have_numbers = [](std::span<const Shape> a) { return a[0].columns > 0 && a[1].rows > 0; };
  const auto first_has_more = [](std::span<const Shape> a) { return a[0].rows >= a[1].rows; };
  constexpr const char* not_whole = "the rows are not those of whole batches";
  return {
      function("batch_products", "[L, K], [L, V], [N, 1] -> [N*K, V]",
               subscripted(R"(\left[#1_{c}^{\top} #2_{c}\right]_{c})"), batch_products,
               explain_batch_products),
      by_cell("batch_momentum", "[N*K, V], [N, 1], [K, V] -> [N*K, V]",
              {R"(\mathrm{scan}\left(#2, #1, #3\right))"}, batch_momentum),
      function("batch_newton_schulz", "[N*K, V], [5, 3], [N, 1] -> [N*K, V]",
               subscripted(R"(\left[\mathrm{NS}_5\left(#1_{c}\right)\right]_{c})"), batch_newton_schulz,
               explain_batch_newton_schulz),
      only_where(
          by_cell("batch_weights", "[K, V], [L, V] -> [K+L, V]",
                  {R"(#1 + \left[\textstyle\sum_{i \le c} #2_{i}\right]_{c})", sum, atom}, batch_weights),
          first_has_rows, not_whole),
      only_where(function("batch_reads", "[L, K], [M*K, V], [N, 1], [1, 1] -> [L, V]",
                          subscripted(R"(\left[#1_{c} #2_{c}\right]_{c})"), batch_reads, explain_batch_reads),
                 have_numbers, not_whole),
      only_where(by_cell("last_rows", "[L, V], [K, V] -> [K, V]", subscripted("#1_{N}"), last_rows),
                 first_has_more, not_whole),
      by_cell("step_decays", "[K, V], [L, V] -> [L, K*V]",
              subscripted(R"(\left[\exp\left(#1 \odot \mathbf 1 #2_{i}\right)\right]_{i})"), step_decay),
      by_cell("row_outer", "[L, K], [L, V] -> [L, K*V]",
              subscripted(R"(\left[#1_{i}^{\top} #2_{i}\right]_{i})"), row_outer),
      by_cell("scan", "[L, D], [L, D] -> [L, D]", applied("scan", 2), scan),
      by_cell("scanned_states", "[K, V], [L, K*V], [L, K*V] -> [L, K*V]",
              subscripted(R"(\left[#2_{i} \odot #1 + #3_{i}\right]_{i})"), scanned_states),
      by_cell("scanned_end", "[K, V], [L, K*V], [L, K*V] -> [K, V]",
              {R"(#2_{L} \odot #1 + #3_{L})", sum, atom}, scanned_end),
      function("read_rows", "[L, K], [L, K*V] -> [L, V]", subscripted(R"(\left[#1_{i} #2_{i}\right]_{i})"),
               read_rows, explain_read_rows),
  };
}

}  // namespace palimpsest
