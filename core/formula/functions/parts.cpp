// A state in parts that mix at every row (momentum; weights of a batch beside what it has gathered), spec 1.1
// eq. U'.

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/formula/functions.h"

namespace palimpsest {

namespace {

/// T_row: [p, p] from row `row` of the table of transitions.
Matrix<double> transition(const Matrix<double>& table, Index row, Index p) {
  return Eigen::Map<const Matrix<double>>(table.row(row).data(), p, p);
}

/// T_{decays} .. T_{j+2} c_j, with rows counted from 1: where write j is after `decays` rows. [p, 1].
Matrix<double> since_write(const Matrix<double>& T, const Matrix<double>& c, Index j, Index decays) {
  Matrix<double> part = c.row(j).transpose();
  for (Index row = j + 1; row < decays; ++row) part = transition(T, row, c.cols()) * part;
  return part;
}

/// T_{decays} .. T_1: [p, p].
Matrix<double> since_start(const Matrix<double>& T, Index p, Index decays) {
  Matrix<double> product = Matrix<double>::Identity(p, p);
  for (Index row = 0; row < decays; ++row) product = transition(T, row, p) * product;
  return product;
}

/// A time as the table of times holds it; what lies outside the rows at hand is brought back.
Index time(double value, Index rows) { return std::clamp<Index>(static_cast<Index>(value), 0, rows); }

/// since_write() or since_start() of one reader after the other, which read later and later as a rule: what
/// the last one saw is carried on.
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
    for (; row_ < decays; ++row_) product_ = transition(T_, row_, product_.rows()) * product_;
    return product_;
  }

 private:
  const Matrix<double>& T_;
  Matrix<double> start_;
  Index first_;
  Matrix<double> product_;
  Index row_;  // the next to pass
};

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

Matrix<double> spread_parts(Arguments a) {
  const Index K = a[1].cols();
  Matrix<double> wide(a[1].rows(), a[0].cols() * K);
  for (Index i = 0; i < wide.rows(); ++i) {
    for (Index part = 0; part < a[0].cols(); ++part)
      wide.row(i).segment(part * K, K) = a[0](i, part) * a[1].row(i);
  }
  return wide;
}

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
  return sum({.count = parts.rows(),
              .value = [&](Index i) { return cell.value(sight, cell.row(), i) * parts(i, 0); },
              .term =
                  [&](const Subscript& i) {
                    return cell.at(sight, cell.row(), i) *
                           symbol(fmt::format("({})[{}]", words, i.text()), parts(i.index, 0));
                  }});
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

Term explain_parts_to_end(CallCell& cell) {
  const Matrix<double> part = since_write(whole(cell, 0), whole(cell, 1), cell.row(), cell.shape(0).rows);
  return symbol(fmt::format("({}⋯{})[{}]", cell.name(0), cell.name(1), cell.column()),
                part(cell.column(), 0));
}

Term explain_parts_total(CallCell& cell) {
  const Matrix<double> product = since_start(whole(cell, 0), cell.shape(1).columns, cell.shape(0).rows);
  return symbol(fmt::format("({}⋯{})[{},{}]", cell.name(0), cell.name(0), cell.row(), cell.column()),
                product(cell.row(), cell.column()));
}

Term explain_spread(CallCell& cell) {
  const Index K = cell.shape(1).columns;
  return cell.at(0, cell.row(), cell.column() / K) * cell.at(1, cell.row(), cell.column() % K);
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

[[noreturn]] void misfit(const char* name, std::span<const Shape> arguments) {
  std::string shapes;
  for (const Shape& shape : arguments) shapes += " " + to_string(shape);
  throw Error(fmt::format("{} cannot take the shapes{}", name, shapes));
}

/// A function whose shapes multiply.
Function with_shape(Function row, std::function<Shape(std::span<const Shape>)> shape) {
  row.shape = std::move(shape);
  return row;
}

}  // namespace

std::vector<Function> parts_functions() {
  return {
      function("parts_mask", "[L, A], [L, P], [R, P], [R, 2] -> [R, L]",
               {R"(\left[#3_i\, #1_{j+1:i}\, #2_j\right]_{i,j})", Precedence::atom, Precedence::atom},
               parts_mask, explain_parts_mask,
               "what is left of write j in what row i sees, through all mixings in between"),
      function("parts_from_start", "[L, A], [R, P], [R, 2] -> [R, P]",
               {R"(\left[#2_i\, #1_{1:i}\right]_{i})", Precedence::atom, Precedence::atom}, parts_from_start,
               explain_parts_from_start, "how much of each part carried in is left in what row i sees"),
      function("parts_to_end", "[L, A], [L, P] -> [L, P]",
               {R"(\left[#1_{j+1:L}\, #2_j\right]_{j})", Precedence::atom, Precedence::atom}, parts_to_end,
               explain_parts_to_end, "what each write has come to in every part at the end"),
      function("parts_total", "[L, A], [L, P] -> [P, P]", {"#1_{1:L}", Precedence::atom, Precedence::atom},
               parts_total, explain_parts_total, "all mixings, one after the other"),
      with_shape(function("spread", "[L, P], [L, K] -> [L, K]",
                          {R"(#1 \otimes #2)", Precedence::hadamard, Precedence::product}, spread_parts,
                          explain_spread, "the row once for every part, times the weight of that part"),
                 [](std::span<const Shape> a) {
                   if (a.size() != 2 || a[0].rows != a[1].rows) misfit("spread", a);
                   return Shape{a[1].rows, a[0].columns * a[1].columns};
                 }),
      with_shape(function("mix_parts", "[P, P], [M, V] -> [M, V]",
                          {R"(\left(#1 \otimes I\right) #2)", Precedence::product, Precedence::product},
                          mix_parts, explain_mix_parts, "every part becomes a mixture of all parts"),
                 [](std::span<const Shape> a) {
                   const bool fits = a.size() == 2 && a[0].rows == a[0].columns && a[0].rows > 0 &&
                                     a[1].rows % a[0].rows == 0;
                   if (!fits) misfit("mix_parts", a);
                   return a[1];
                 }),
  };
}

}  // namespace palimpsest
