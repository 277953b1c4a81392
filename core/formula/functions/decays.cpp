// Masks, products of decays and the solve: what happens between the tokens of a chunk. Only products of
// decays, never a quotient or a logarithm, so that exact zeros and negative decays are right. An early read
// sees the state before the row's own decay: it is a read of the row before, so functions of decays are
// templates on the number of rows that a read is early.

#include <fmt/format.h>

#include "core/formula/functions.h"

namespace palimpsest {

namespace {

constexpr Index on_time = 0;
constexpr Index early = 1;

/// Row j of the result is alpha_{j+1:i}, element by element, for the rows j <= i of one token i; later rows
/// are 0. All are 0 for i = -1.
Matrix<double> decays_until(const Matrix<double>& alpha, Index i) {
  Matrix<double> decays = Matrix<double>::Zero(alpha.rows(), alpha.cols());
  if (i < 0) return decays;
  decays.row(i).setOnes();
  for (Index j = i - 1; j >= 0; --j) decays.row(j) = decays.row(j + 1).cwiseProduct(alpha.row(j + 1));
  return decays;
}

Matrix<double> lower(Arguments a) { return a[0].triangularView<Eigen::Lower>(); }

Matrix<double> strictly_lower(Arguments a) { return a[0].triangularView<Eigen::StrictlyLower>(); }

/// G_ij = alpha_{j+1} ... alpha_i for j <= i; early, up to i - 1.
template <Index rows_early>
Matrix<double> decay_mask(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> G(L, L);
  for (Index i = 0; i < L; ++i) G.row(i) = decays_until(a[0], i - rows_early).transpose();
  return G;
}

/// g_i = alpha_1 ... alpha_i; early, up to i - 1.
template <Index rows_early>
Matrix<double> cumulative_decay(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> g = Matrix<double>::Ones(L, a[0].cols());
  for (Index i = 0; i < L; ++i) {
    if (i > 0) g.row(i) = g.row(i - 1);
    if (i >= rows_early) g.row(i) = g.row(i).cwiseProduct(a[0].row(i - rows_early));
  }
  return g;
}

Matrix<double> remaining_decay(Arguments a) { return decays_until(a[0], a[0].rows() - 1); }

Matrix<double> total_decay(Arguments a) {
  Matrix<double> total = Matrix<double>::Ones(a[0].cols(), 1);
  for (Index i = 0; i < a[0].rows(); ++i) total = total.cwiseProduct(a[0].row(i).transpose());
  return total;
}

/// Z_ij = sum_d X_id Y_jd alpha_{j+1:i,d} for j <= i; early, up to i - 1.
template <Index rows_early>
Matrix<double> decay_scores(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> Z = Matrix<double>::Zero(L, L);
  for (Index i = 0; i < L; ++i) {
    const Index last = i - rows_early;
    const Matrix<double> decays = decays_until(a[2], last);
    for (Index j = 0; j <= last; ++j) Z(i, j) = a[0].row(i).cwiseProduct(a[1].row(j)).dot(decays.row(j));
  }
  return Z;
}

/// U_i = R_i - sum_{j<i} N_ij U_j, row after row.
Matrix<double> solve_unit_lower(Arguments a) {
  Matrix<double> U = a[1];
  for (Index i = 0; i < U.rows(); ++i) {
    for (Index j = 0; j < i; ++j) U.row(i) -= a[0](i, j) * U.row(j);
  }
  return U;
}

Term explain_lower(CallCell& cell) {
  return cell.column() <= cell.row() ? cell.at(0, cell.row(), cell.column()) : number(0);
}

Term explain_strictly_lower(CallCell& cell) {
  return cell.column() < cell.row() ? cell.at(0, cell.row(), cell.column()) : number(0);
}

/// The decays of the tokens first .. first + count - 1, multiplied.
Term decays(CallCell& cell, std::size_t alpha, Index first, Index count, const Subscript& channel) {
  if (!channel.letter) cell.reads(alpha, first, channel.index, count, 1);
  return product(first, count, [&](Index token) { return cell.at(alpha, token, channel); });
}

template <Index rows_early>
Term explain_decay_mask(CallCell& cell) {
  const Index last = cell.row() - rows_early;
  if (cell.column() > last) return number(0);
  return decays(cell, 0, cell.column() + 1, last - cell.column(), 0);
}

template <Index rows_early>
Term explain_cumulative_decay(CallCell& cell) {
  return decays(cell, 0, 0, cell.row() + 1 - rows_early, cell.column());
}

Term explain_remaining_decay(CallCell& cell) {
  return decays(cell, 0, cell.row() + 1, cell.shape(0).rows - cell.row() - 1, cell.column());
}

Term explain_total_decay(CallCell& cell) { return decays(cell, 0, 0, cell.shape(0).rows, cell.row()); }

template <Index rows_early>
Term explain_decay_scores(CallCell& cell) {
  const Index reader = cell.row();
  const Index writer = cell.column();
  const Index last = reader - rows_early;
  if (writer > last) return number(0);
  const Index K = cell.shape(0).columns;
  const Index between = last - writer;
  cell.reads(0, reader, 0, 1, K);
  cell.reads(1, writer, 0, 1, K);
  cell.reads(2, writer + 1, 0, between, K);

  const auto kept = [&](Index channel) {
    double total = 1;
    for (Index token = writer + 1; token <= last; ++token) total *= cell.value(2, token, channel);
    return total;
  };
  return sum({.count = K,
              .value = [&](Index d) { return cell.value(0, reader, d) * cell.value(1, writer, d) * kept(d); },
              .term =
                  [&](const Subscript& d) {
                    const Term pair = cell.at(0, reader, d) * cell.at(1, writer, d);
                    return between == 0 ? pair : pair * worked_out(decays(cell, 2, writer + 1, between, d));
                  }});
}

Term explain_solve(CallCell& cell) {
  const Index row = cell.row();
  const Index column = cell.column();
  Term right_side = cell.at(1, row, column);
  if (row == 0) return right_side;
  cell.reads(0, row, 0, 1, row);
  cell.reads_own(0, column, row, 1);
  return right_side -
         sum({.count = row,
              .letter = 'j',
              .value = [&](Index j) { return cell.value(0, row, j) * cell.own(j, column).value; },
              .term = [&](const Subscript& j) { return cell.at(0, row, j) * cell.own(j, column); }},
             fmt::format("Σ_{{j<{}}}", row));
}

}  // namespace

std::vector<Function> decay_functions() {
  return {
      function("lower", "[L, M] -> [L, M]", applied("tril"), lower, explain_lower,
               "everything above the diagonal is 0: no token sees a later one"),
      function("strictly_lower", "[L, M] -> [L, M]", applied("stril"), strictly_lower, explain_strictly_lower,
               "the diagonal and everything above it is 0: each token meets only earlier ones"),
      function("decay_mask", "[L, 1] -> [L, L]",
               {R"(\left[#1_{j+1:i}\right]_{j \le i})", Precedence::atom, Precedence::atom},
               decay_mask<on_time>, explain_decay_mask<on_time>,
               "1 on the diagonal, then the decays in between multiplied"),
      function("cumulative_decay", "[L, K] -> [L, K]",
               {R"(\left[#1_{1:i}\right]_{i})", Precedence::atom, Precedence::atom},
               cumulative_decay<on_time>, explain_cumulative_decay<on_time>,
               "all decays from the first token up to this one, multiplied"),
      function("remaining_decay", "[L, K] -> [L, K]",
               {R"(\left[#1_{j+1:L}\right]_{j})", Precedence::atom, Precedence::atom}, remaining_decay,
               explain_remaining_decay,
               "all decays after this token, multiplied: what is left of its write at the end"),
      function("total_decay", "[L, K] -> [K, 1]", {"#1_{1:L}", Precedence::atom, Precedence::atom},
               total_decay, explain_total_decay,
               "all decays multiplied: what is left of the memory carried in"),
      function("decay_scores", "[L, K], [L, K], [L, K] -> [L, L]",
               {R"(\left[\sum_{d} #1_{i,d} #2_{j,d} #3_{j+1:i,d}\right]_{j \le i})", Precedence::atom,
                Precedence::atom},
               decay_scores<on_time>, explain_decay_scores<on_time>,
               "a reading meets an earlier writing channel by channel, each channel faded by its own decays "
               "in between"),
      function("decay_mask_before", "[L, 1] -> [L, L]",
               {R"(\left[#1_{j+1:i-1}\right]_{j < i})", Precedence::atom, Precedence::atom},
               decay_mask<early>, explain_decay_mask<early>,
               "the decays after write j and before token i, multiplied; the token's own decay comes later"),
      function("cumulative_decay_before", "[L, K] -> [L, K]",
               {R"(\left[#1_{1:i-1}\right]_{i})", Precedence::atom, Precedence::atom},
               cumulative_decay<early>, explain_cumulative_decay<early>,
               "all decays before this token, multiplied"),
      function(
          "decay_scores_before", "[L, K], [L, K], [L, K] -> [L, L]",
          {R"(\left[\sum_{d} #1_{i,d} #2_{j,d} #3_{j+1:i-1,d}\right]_{j < i})", Precedence::atom,
           Precedence::atom},
          decay_scores<early>, explain_decay_scores<early>,
          "a reading meets an earlier writing channel by channel, faded by the decays before the token's "
          "own"),
      function("solve_unit_lower", "[L, L], [L, D] -> [L, D]",
               {R"(\left(I + #1\right)^{-1} #2)", Precedence::product, Precedence::product}, solve_unit_lower,
               explain_solve, "the right side, less what the earlier rows of the result already say"),
  };
}

// Rows whose channels fade from token to token: the solve and the read of value-side decay (spec 2.5).

namespace {

/// What is left of row j of `rows` when row i comes: mu_{j+1:i} o row j.
RowVector<double> left_of(const Matrix<double>& rows, const Matrix<double>& mu, Index j, Index i) {
  RowVector<double> left = rows.row(j);
  for (Index l = j + 1; l <= i; ++l) left = left.cwiseProduct(mu.row(l));
  return left;
}

/// U_i = R_i - sum_{j<i} N_ij (mu_{j+1:i} o U_j).
Matrix<double> solve_fading(Arguments a) {
  Matrix<double> U = a[1];
  for (Index i = 0; i < U.rows(); ++i) {
    for (Index j = 0; j < i; ++j) U.row(i) -= a[0](i, j) * left_of(U, a[2], j, i);
  }
  return U;
}

/// O_i = sum_{j<=l} P_ij (mu_{j+1:l} o U_j), l the last row that is written and faded when row i reads: i, or
/// `rows_early` rows before it.
template <Index rows_early>
Matrix<double> read_fading(Arguments a) {
  Matrix<double> O = Matrix<double>::Zero(a[1].rows(), a[1].cols());
  for (Index i = 0; i < O.rows(); ++i) {
    const Index last = i - rows_early;
    for (Index j = 0; j <= last; ++j) O.row(i) += a[0](i, j) * left_of(a[1], a[2], j, last);
  }
  return O;
}

/// mu_{j+1:i} of one channel, as a number.
double kept(CallCell& cell, Index j, Index i, Index channel) {
  double total = 1;
  for (Index l = j + 1; l <= i; ++l) total *= cell.value(2, l, channel);
  return total;
}

/// sum_j X_ij (mu_{j+1:last} o Y_j) over the first `count` rows j; y(j) is Y_j.
Term faded_sum(CallCell& cell, Index count, Index last, const std::string& rows,
               const std::function<Term(Subscript)>& y) {
  const Index row = cell.row();
  const Index column = cell.column();
  cell.reads(0, row, 0, 1, count);
  cell.reads(2, 0, column, last + 1, 1);
  return sum(
      {.count = count,
       .letter = 'j',
       .value = [&](Index j) { return cell.value(0, row, j) * kept(cell, j, last, column) * y(j).value; },
       .term =
           [&](const Subscript& j) {
             const std::string decays = fmt::format("{}[{}+1:{}]", cell.name(2), j.text(), last);
             return cell.at(0, row, j) * symbol(decays, kept(cell, j.index, last, column)) * y(j);
           }},
      fmt::format("Σ_{{j{}}}", rows));
}

Term explain_solve_fading(CallCell& cell) {
  Term right_side = cell.at(1, cell.row(), cell.column());
  if (cell.row() == 0) return right_side;
  cell.reads_own(0, cell.column(), cell.row(), 1);
  return right_side - faded_sum(cell, cell.row(), cell.row(), fmt::format("<{}", cell.row()),
                                [&](const Subscript& j) { return cell.own(j, cell.column()); });
}

template <Index rows_early>
Term explain_read_fading(CallCell& cell) {
  const Index last = cell.row() - rows_early;
  if (last < 0) return number(0);
  cell.reads(1, 0, cell.column(), last + 1, 1);
  return faded_sum(cell, last + 1, last, fmt::format("≤{}", last),
                   [&](const Subscript& j) { return cell.at(1, j, cell.column()); });
}

}  // namespace

std::vector<Function> value_decay_functions() {
  return {
      function(
          "solve_fading", "[L, L], [L, D], [L, D] -> [L, D]",
          {R"(\left(I + #1 \odot #3_{j+1:i}\right)^{-1} #2)", Precedence::product, Precedence::product},
          solve_fading, explain_solve_fading,
          "the right side, less what the earlier rows of the result still say, each channel faded by its own "
          "decays in between"),
      function("read_fading", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(#1 \odot #3_{j+1:i}\right) #2)", Precedence::product, Precedence::product},
               read_fading<0>, explain_read_fading<0>,
               "the rows written so far, each channel faded by its own decays in between"),
      function("read_fading_before", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(#1 \odot #3_{j+1:i-1}\right) #2)", Precedence::product, Precedence::product},
               read_fading<1>, explain_read_fading<1>,
               "the rows written before this one, each channel faded by its own decays before the token's "
               "own"),
  };
}

}  // namespace palimpsest
