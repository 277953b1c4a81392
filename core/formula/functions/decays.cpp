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

/// The decays of the tokens first .. first + count - 1, multiplied.
Term decays(const CallCell& cell, std::size_t alpha, Index first, Index count, const Subscript& channel) {
  if (!channel.letter) cell.reads(alpha, first, channel.index, count, 1);
  return product(first, count, [&](Index token) { return cell.at(alpha, token, channel); });
}

double decays(const ValueCell& cell, std::size_t alpha, Index first, Index count, const Subscript& channel) {
  double total = 1;
  for (Index token = first; token < first + count; ++token) total *= cell.at(alpha, token, channel);
  return total;
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

  return sum(over(cell, K, 'i', [&](const auto& of, const Subscript& d) {
    const auto pair = of.at(0, reader, d) * of.at(1, writer, d);
    return between == 0 ? pair : pair * worked_out(decays(of, 2, writer + 1, between, d));
  }));
}

Term explain_solve(CallCell& cell) {
  const Index row = cell.row();
  const Index column = cell.column();
  Term right_side = cell.at(1, row, column);
  if (row == 0) return right_side;
  cell.reads(0, row, 0, 1, row);
  cell.reads_own(0, column, row, 1);
  const auto each = [&](const auto& of, const Subscript& j) { return of.at(0, row, j) * of.own(j, column); };
  return right_side - sum(over(cell, row, 'j', each), fmt::format("Σ_{{j<{}}}", row));
}

// Rows whose channels decay from token to token: the solve and the read of value-side decay (spec 2.5).

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

/// O_i = sum_{j<=l} P_ij (mu_{j+1:l} o U_j), l the last row that is written and decayed when row i reads: i,
/// or `rows_early` rows before it.
template <Index rows_early>
Matrix<double> read_fading(Arguments a) {
  Matrix<double> O = Matrix<double>::Zero(a[1].rows(), a[1].cols());
  for (Index i = 0; i < O.rows(); ++i) {
    const Index last = i - rows_early;
    for (Index j = 0; j <= last; ++j) O.row(i) += a[0](i, j) * left_of(a[1], a[2], j, last);
  }
  return O;
}

/// mu_{j+1:last} of one channel, as one symbol.
Term left_since(const CallCell& cell, const Subscript& j, Index last) {
  return symbol(fmt::format("{}[{}+1:{}]", cell.name(2), j.text(), last),
                decays(ValueCell{cell}, 2, j.index + 1, last - j.index, cell.column()));
}

double left_since(const ValueCell& cell, const Subscript& j, Index last) {
  return decays(cell, 2, j.index + 1, last - j.index, cell.of.column());
}

/// sum_j X_ij (mu_{j+1:last} o Y_j) over the first `count` rows j; y(of, j) is Y_j.
template <class Y>
Term faded_sum(CallCell& cell, Index count, Index last, const std::string& rows, Y y) {
  const Index row = cell.row();
  cell.reads(0, row, 0, 1, count);
  cell.reads(2, 0, cell.column(), last + 1, 1);
  const auto each = [&](const auto& of, const Subscript& j) {
    return of.at(0, row, j) * left_since(of, j, last) * y(of, j);
  };
  return sum(over(cell, count, 'j', each), fmt::format("Σ_{{j{}}}", rows));
}

Term explain_solve_fading(CallCell& cell) {
  Term right_side = cell.at(1, cell.row(), cell.column());
  if (cell.row() == 0) return right_side;
  cell.reads_own(0, cell.column(), cell.row(), 1);
  return right_side - faded_sum(cell, cell.row(), cell.row(), fmt::format("<{}", cell.row()),
                                [&](const auto& of, const Subscript& j) { return of.own(j, cell.column()); });
}

template <Index rows_early>
Term explain_read_fading(CallCell& cell) {
  const Index last = cell.row() - rows_early;
  if (last < 0) return number(0);
  cell.reads(1, 0, cell.column(), last + 1, 1);
  return faded_sum(cell, last + 1, last, fmt::format("≤{}", last),
                   [&](const auto& of, const Subscript& j) { return of.at(1, j, cell.column()); });
}

// A state in parts that mix at every row (momentum; the weights of a batch and its gathered gradients), spec
// 1.1 eq. U'.

/// A time from the table of times, clamped to [0, rows].
Index time(double value, Index rows) { return std::clamp<Index>(static_cast<Index>(value), 0, rows); }

/// Transitions times a part, for one reader after the other. Readers usually come in order of time, so the
/// product of the previous one is continued.
class CarriedPart {
 public:
  /// `start` before the row `first`.
  CarriedPart(const Matrix<double>& T, Matrix<double> start, Index first)
      : T_(T), start_(std::move(start)), first_(first), product_(start_), row_(first) {}

  const Matrix<double>& after(Index decays) {
    if (decays < row_) {
      product_ = start_;
      row_ = first_;
    }
    const Index p = product_.rows();
    for (; row_ < decays; ++row_) {
      const Matrix<double> transition = Eigen::Map<const Matrix<double>>(T_.row(row_).data(), p, p);
      product_ = transition * product_;
    }
    return product_;
  }

 private:
  const Matrix<double>& T_;
  Matrix<double> start_;
  Index first_;
  Matrix<double> product_;
  Index row_;  // the next to pass
};

/// T_{decays} .. T_{j+2} c_j, with rows counted from 1: where write j is after `decays` rows. [p, 1].
Matrix<double> since_write(const Matrix<double>& T, const Matrix<double>& c, Index j, Index decays) {
  return CarriedPart(T, c.row(j).transpose(), j + 1).after(decays);
}

/// T_{decays} .. T_1: [p, p].
Matrix<double> since_start(const Matrix<double>& T, Index p, Index decays) {
  return CarriedPart(T, Matrix<double>::Identity(p, p), 0).after(decays);
}

Matrix<double> parts_mask(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> G = Matrix<double>::Zero(a[2].rows(), L);
  for (Index j = 0; j < L; ++j) {
    CarriedPart part(a[0], a[1].row(j).transpose(), j + 1);
    for (Index s = 0; s < G.rows(); ++s) {
      if (j < time(a[3](s, 1), L)) G(s, j) = a[2].row(s).dot(part.after(time(a[3](s, 0), L)).col(0));
    }
  }
  return G;
}

Matrix<double> parts_from_start(Arguments a) {
  Matrix<double> g(a[1].rows(), a[1].cols());
  CarriedPart product(a[0], Matrix<double>::Identity(g.cols(), g.cols()), 0);
  for (Index s = 0; s < g.rows(); ++s) g.row(s) = a[1].row(s) * product.after(time(a[2](s, 0), a[0].rows()));
  return g;
}

Matrix<double> parts_to_end(Arguments a) {
  Matrix<double> g(a[1].rows(), a[1].cols());
  for (Index j = 0; j < g.rows(); ++j) g.row(j) = since_write(a[0], a[1], j, g.rows()).transpose();
  return g;
}

Matrix<double> parts_total(Arguments a) { return since_start(a[0], a[1].cols(), a[0].rows()); }

Matrix<double> mix_parts(Arguments a) {
  const Index p = a[0].rows();
  const Index K = p == 0 ? 0 : a[1].rows() / p;
  Matrix<double> mixed = Matrix<double>::Zero(a[1].rows(), a[1].cols());
  for (Index to = 0; to < p; ++to) {
    for (Index from = 0; from < p; ++from)
      mixed.middleRows(to * K, K) += a[0](to, from) * a[1].middleRows(from * K, K);
  }
  return mixed;
}

/// sum_i h_si x_i over the parts, x written as one symbol.
Term seen_parts(CallCell& cell, std::size_t sight, const Matrix<double>& parts, const std::string& words) {
  const auto term = [&](const Subscript& i) {
    return cell.at(sight, cell.row(), i) *
           symbol(fmt::format("({})[{}]", words, i.text()), parts(i.index, 0));
  };
  return sum({.count = parts.rows(),
              .value = [&](Index i) { return cell.value(sight, cell.row(), i) * parts(i, 0); },
              .term = term});
}

Term explain_parts_mask(CallCell& cell) {
  const Index L = cell.shape(0).rows;
  if (cell.column() >= time(cell.value(3, cell.row(), 1), L)) return number(0);
  const Matrix<double> part =
      since_write(whole(cell, 0), whole(cell, 1), cell.column(), time(cell.value(3, cell.row(), 0), L));
  return seen_parts(cell, 2, part, cell.name(0) + "⋯" + cell.name(1));
}

Term explain_parts_from_start(CallCell& cell) {
  const Index p = cell.shape(1).columns;
  const Matrix<double> product =
      since_start(whole(cell, 0), p, time(cell.value(2, cell.row(), 0), cell.shape(0).rows));
  return seen_parts(cell, 1, product.col(cell.column()), cell.name(0) + "⋯" + cell.name(0));
}

Term explain_parts_total(CallCell& cell) {
  const Matrix<double> product = since_start(whole(cell, 0), cell.shape(1).columns, cell.shape(0).rows);
  return symbol(fmt::format("({}⋯{})[{},{}]", cell.name(0), cell.name(0), cell.row(), cell.column()),
                product(cell.row(), cell.column()));
}

Term explain_mix_parts(CallCell& cell) {
  const Index p = cell.shape(0).rows;
  const Index K = cell.shape(1).rows / p;
  const Index row = cell.row() % K;
  const Index to = cell.row() / K;
  return sum(
      {.count = p,
       .value = [&](Index i) { return cell.value(0, to, i) * cell.value(1, i * K + row, cell.column()); },
       .term =
           [&](const Subscript& i) {
             cell.reads(1, i.index * K + row, cell.column(), 1, 1);
             const double value = cell.value(1, i.index * K + row, cell.column());
             return cell.at(0, to, i) *
                    symbol(fmt::format("{}[{}·{}+{},{}]", cell.name(1), i.text(), K, row, cell.column()),
                           value);
           }});
}

}  // namespace

std::vector<Function> decay_functions() {
  using enum Precedence;
  const auto spread = [](const auto& cell) {
    const Index K = cell.shape(1).columns;
    return cell.at(0, cell.row(), cell.column() / K) * cell.at(1, cell.row(), cell.column() % K);
  };
  const auto part_to_end = [](const CallCell& cell) {
    return fmt::format("({}⋯{})[{}]", cell.name(0), cell.name(1), cell.column());
  };
  return {
      by_cell("lower", "[L, M] -> [L, M]", applied("tril"),
              [](const auto& cell) { return cell.column() <= cell.row() ? cell.here(0) : cell.number(0); }),
      by_cell("strictly_lower", "[L, M] -> [L, M]", applied("stril"),
              [](const auto& cell) { return cell.column() < cell.row() ? cell.here(0) : cell.number(0); }),
      function("decay_mask", "[L, 1] -> [L, L]", subscripted(R"(\left[#1_{j+1:i}\right]_{j \le i})"),
               decay_mask<on_time>, explain_decay_mask<on_time>),
      function("cumulative_decay", "[L, K] -> [L, K]", subscripted(R"(\left[#1_{1:i}\right]_{i})"),
               cumulative_decay<on_time>, explain_cumulative_decay<on_time>),
      function("remaining_decay", "[L, K] -> [L, K]", subscripted(R"(\left[#1_{j+1:L}\right]_{j})"),
               remaining_decay, explain_remaining_decay),
      function("total_decay", "[L, K] -> [K, 1]", subscripted("#1_{1:L}"), total_decay, explain_total_decay),
      function("decay_scores", "[L, K], [L, K], [L, K] -> [L, L]",
               subscripted(R"(\left[\sum_{d} #1_{i,d} #2_{j,d} #3_{j+1:i,d}\right]_{j \le i})"),
               decay_scores<on_time>, explain_decay_scores<on_time>),
      function("decay_mask_before", "[L, 1] -> [L, L]", subscripted(R"(\left[#1_{j+1:i-1}\right]_{j < i})"),
               decay_mask<early>, explain_decay_mask<early>),
      function("cumulative_decay_before", "[L, K] -> [L, K]", subscripted(R"(\left[#1_{1:i-1}\right]_{i})"),
               cumulative_decay<early>, explain_cumulative_decay<early>),
      function("decay_scores_before", "[L, K], [L, K], [L, K] -> [L, L]",
               subscripted(R"(\left[\sum_{d} #1_{i,d} #2_{j,d} #3_{j+1:i-1,d}\right]_{j < i})"),
               decay_scores<early>, explain_decay_scores<early>),
      function("solve_unit_lower", "[L, L], [L, D] -> [L, D]",
               {R"(\left(I + #1\right)^{-1} #2)", product, product}, solve_unit_lower, explain_solve),
      function("solve_fading", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(I + #1 \odot #3_{j+1:i}\right)^{-1} #2)", product, product}, solve_fading,
               explain_solve_fading),
      function("read_fading", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(#1 \odot #3_{j+1:i}\right) #2)", product, product}, read_fading<on_time>,
               explain_read_fading<on_time>),
      function("read_fading_before", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(#1 \odot #3_{j+1:i-1}\right) #2)", product, product}, read_fading<early>,
               explain_read_fading<early>),
      function("parts_mask", "[L, P*P], [L, P], [R, P], [R, 2] -> [R, L]",
               subscripted(R"(\left[#3_i\, #1_{j+1:i}\, #2_j\right]_{i,j})"), parts_mask, explain_parts_mask),
      function("parts_from_start", "[L, P*P], [R, P], [R, 2] -> [R, P]",
               subscripted(R"(\left[#2_i\, #1_{1:i}\right]_{i})"), parts_from_start,
               explain_parts_from_start),
      by_number("parts_to_end", "[L, P*P], [L, P] -> [L, P]",
                subscripted(R"(\left[#1_{j+1:L}\, #2_j\right]_{j})"), parts_to_end, 2, part_to_end),
      function("parts_total", "[L, P*P], [L, P] -> [P, P]", subscripted("#1_{1:L}"), parts_total,
               explain_parts_total),
      by_cell("spread", "[L, P], [L, K] -> [L, P*K]", {R"(#1 \otimes #2)", hadamard, product}, spread),
      function("mix_parts", "[P, P], [P*K, V] -> [P*K, V]",
               {R"(\left(#1 \otimes I\right) #2)", product, product}, mix_parts, explain_mix_parts),
  };
}

}  // namespace palimpsest
