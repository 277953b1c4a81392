// Functions of vectors, each defined once and offered for a token's column and for rows of tokens: feature
// maps (spec 3.3), the constant 1 beside the values and the division by its sum, layer norm and its gradient
// in pieces (spec 3.10).

#include "core/formula/functions.h"

namespace palimpsest {

namespace {

using Column = Vector<double>;

/// Vector `token` among the arguments: their column, or a row of many.
struct VectorNumbers {
  Arguments arguments;
  bool is_row;
  Index token;

  Column vector(std::size_t i) const {
    return is_row ? Column(arguments[i].row(token).transpose()) : Column(arguments[i].col(0));
  }
  /// The number of this vector in an argument that has one for every vector; or that of all of them.
  double number(std::size_t i) const { return arguments[i](arguments[i].rows() == 1 ? 0 : token, 0); }
};

/// The same vector where a cell of the value is explained.
struct VectorCell {
  CallCell& cell;
  bool is_row;

  Index size() const { return is_row ? cell.shape(0).columns : cell.shape(0).rows; }
  Index position() const { return is_row ? cell.column() : cell.row(); }
  Index token() const { return is_row ? cell.row() : 0; }

  template <class Of>
  auto at(const Of& of, std::size_t argument, Subscript i) const {
    return is_row ? of.at(argument, token(), i) : of.at(argument, i, 0);
  }
  Term at(std::size_t argument, Subscript i) const { return at(cell, argument, i); }

  Column read(std::size_t argument) const {
    if (!is_row) return cell.read(argument, 0, 0, size(), 1).col(0);
    return cell.read(argument, token(), 0, 1, size()).row(0).transpose();
  }

  std::string name(std::size_t argument) const {
    return cell.name(argument) + (is_row ? "[" + std::to_string(token()) + "]" : "");
  }
};

/// One row of the table for columns, one for rows.
struct VectorFunction {
  std::string name;  // of rows: behind "row_"
  std::string column_signature;
  std::string rows_signature;
  Pattern pattern;
  std::function<Column(const VectorNumbers&)> evaluate;
  std::function<Term(const VectorCell&)> explain;
  std::function<Index(Index size)> count = {};  // the size of the value, where no signature says it
};

Function offered(const VectorFunction& one, bool rows) {
  Function row =
      function(rows ? "row_" + one.name : one.name, rows ? one.rows_signature : one.column_signature,
               one.pattern, {}, [explain = one.explain, rows](CallCell& cell) {
                 return explain({cell, rows});
               });
  if (one.count) {
    row.shape = [fits = row.shape, count = one.count, rows](std::span<const Shape> arguments) {
      Shape shape = fits(arguments);
      Index& size = rows ? shape.columns : shape.rows;
      size = count(size);
      return shape;
    };
  }
  row.evaluate = [shape = row.shape, evaluate = one.evaluate, rows](Arguments arguments) {
    const auto [tokens, columns] = shape(shapes_of(arguments));
    if (!rows) return Matrix<double>(evaluate({arguments, false, 0}));
    Matrix<double> result(tokens, columns);
    for (Index i = 0; i < tokens; ++i) result.row(i) = evaluate({arguments, true, i}).transpose();
    return result;
  };
  return row;
}

/// The channels that feature `f` of the squared map multiplies: the rows of an upper triangle, one after the
/// other.
struct Pair {
  Index first = 0;
  Index second = 0;
};

Pair pair_of(Index feature, Index channels) {
  Index first = 0;
  while (feature >= channels - first) feature -= channels - first++;
  return {first, first + feature};
}

Index pairs(Index channels) { return channels * (channels + 1) / 2; }

Column elu1(const Column& x) {
  return x.unaryExpr([](double each) { return each > 0 ? each + 1 : std::exp(each); });
}

Column relu(const Column& x) {
  return x.unaryExpr([](double each) { return maximum(each, 0); });
}

Column squared(const Column& x) {
  Column features(pairs(x.size()));
  for (Index f = 0; f < features.size(); ++f) {
    const auto [a, b] = pair_of(f, x.size());
    features[f] = x[a] * x[b] * (a == b ? 1 : std::sqrt(2.0));
  }
  return features;
}

Column taylor1(const Column& x) {
  Column features(1 + x.size());
  features[0] = 1;
  const double length = x.stableNorm();
  features.tail(x.size()) = x / (length > 0 ? length : 1);
  return features;
}

Column taylor2(const Column& x) {
  Column features(1 + x.size() + pairs(x.size()));
  features << 1, x, squared(x) / std::sqrt(2.0);
  return features;
}

Term explain_elu1(const VectorCell& cell) {
  const Term x = cell.at(0, cell.position());
  return x.value > 0 ? x + number(1) : exp(x);
}

Term root_of_two() {
  Term root = symbol("√2", std::sqrt(2.0));
  root.numbers = root.formula;
  return root;
}

Term explain_squared(const VectorCell& cell) {
  const auto [a, b] = pair_of(cell.position(), cell.size());
  return a == b ? cell.at(0, a) * cell.at(0, a) : root_of_two() * cell.at(0, a) * cell.at(0, b);
}

Term explain_taylor1(const VectorCell& cell) {
  if (cell.position() == 0) return number(1);
  double squares = 0;
  for (const double x : cell.read(0)) squares += std::pow(x, 2);
  const Term length = symbol("‖" + cell.name(0) + "‖", std::sqrt(squares));
  return length.value > 0 ? cell.at(0, cell.position() - 1) / length : number(0);
}

Term explain_taylor2(const VectorCell& cell) {
  if (cell.position() == 0) return number(1);
  if (cell.position() <= cell.size()) return cell.at(0, cell.position() - 1);
  const auto [a, b] = pair_of(cell.position() - 1 - cell.size(), cell.size());
  return a == b ? cell.at(0, a) * cell.at(0, a) / root_of_two() : cell.at(0, a) * cell.at(0, b);
}

VectorFunction feature_map(const std::string& name, Column (*evaluate)(const Column&),
                           std::function<Term(const VectorCell&)> explain,
                           std::function<Index(Index)> count = {}) {
  const auto of_vector = [evaluate](const VectorNumbers& x) { return evaluate(x.vector(0)); };
  return {"features/" + name, "[K, 1] -> [K, 1]", "[L, K] -> [L, K]", {R"(\phi\left(#1\right))"},
          of_vector,          std::move(explain), std::move(count)};
}

/// The random features of FAVOR+: [m] of one vector [K, 1].
Column favor(const Matrix<double>& x, const Matrix<double>& directions) {
  const double half_length = x.squaredNorm() / 2;
  Column features(directions.rows());
  for (Index r = 0; r < features.rows(); ++r)
    features(r) = std::exp(directions.row(r).dot(x.col(0)) - half_length) / std::sqrt(directions.rows());
  return features;
}

/// exp(sum_d omega_d x_d - sum_d x_d^2 / 2) / sqrt(m).
Term explain_favor(const VectorCell& x) {
  const CallCell& cell = x.cell;
  const Index feature = x.position();
  x.read(0);
  cell.reads(1, feature, 0, 1, x.size());
  const Term along = sum(over(cell, x.size(), 'd', [&](const auto& of, const Subscript& d) {
    return of.at(1, feature, d) * x.at(of, 0, d);
  }));
  const Term length = sum(over(cell, x.size(), 'd', [&](const auto& of, const Subscript& d) {
    return x.at(of, 0, d) * x.at(of, 0, d);
  }));
  const auto m = static_cast<double>(cell.shape(1).rows);
  return exp(worked_out(along) - worked_out(length) / number(2)) / number(std::sqrt(m));
}

/// 0 of nothing.
double mean(const Column& x) { return x.size() == 0 ? 0 : x.mean(); }

double variance(const Column& x) { return mean((x.array() - mean(x)).square()); }

double deviation(const Column& x, double eps) { return std::sqrt(variance(x) + eps); }

Column standardise(const Column& x, double eps) { return (x.array() - mean(x)) / deviation(x, eps); }

/// The gradient with respect to x, whose standardised form is h with deviation r; delta is the gradient with
/// respect to h.
Column layer_norm_gradient(const Column& delta, const Column& h, double r) {
  return (delta.array() - mean(delta) - h.array() * mean(delta.cwiseProduct(h))) / r;
}

Term mean_of(const VectorCell& x) { return symbol("mean(" + x.name(0) + ")", mean(x.read(0))); }

/// "√(variance + ε)".
Term explain_deviation(const VectorCell& x) {
  const Column values = x.read(0);
  return sqrt(symbol("var(" + x.name(0) + ")", variance(values)) + x.cell.at(1, 0, 0));
}

Term explain_standardise(const VectorCell& x) {
  return (x.at(0, x.position()) - mean_of(x)) / explain_deviation(x);
}

Term explain_gradient(const VectorCell& x) {
  const Column delta = x.read(0);
  const Column h = x.read(1);
  const Term along = symbol("mean(" + x.name(0) + " ⊙ " + x.name(1) + ")", mean(delta.cwiseProduct(h)));
  const Index i = x.position();
  return (x.at(0, i) - mean_of(x) - x.at(1, i) * along) / x.cell.at(2, x.token(), 0);
}

std::vector<VectorFunction> table() {
  using enum Precedence;
  const Pattern favor_pattern = {R"(\tfrac{1}{\sqrt m}\exp\left(#2\,#1 - \tfrac12\|#1\|^2\right))", product,
                                 atom};
  const Pattern gradient_pattern = {
      R"(\left(#1 - \mathrm{mean}\left(#1\right) - #2 \odot \mathrm{mean}\left(#1 \odot #2\right)\right) / #3)",
      hadamard, atom};
  const auto taylor1_count = [](Index channels) { return 1 + channels; };
  const auto taylor2_count = [](Index channels) { return 1 + channels + pairs(channels); };
  const auto explain_relu = [](const VectorCell& cell) {
    return maximum(cell.at(0, cell.position()), number(0));
  };
  return {
      feature_map("elu1", elu1, explain_elu1),
      feature_map("relu", relu, explain_relu),
      feature_map("squared", squared, explain_squared, pairs),
      feature_map("taylor1", taylor1, explain_taylor1, taylor1_count),
      feature_map("taylor2", taylor2, explain_taylor2, taylor2_count),
      {"features/favor", "[K, 1], [M, K] -> [M, 1]", "[L, K], [M, K] -> [L, M]", favor_pattern,
       [](const VectorNumbers& x) { return favor(x.vector(0), x.arguments[1]); }, explain_favor},
      {"deviation",
       "[D, 1], [1, 1] -> [1, 1]",
       "[L, D], [1, 1] -> [L, 1]",
       {R"(\mathrm{std}_{\epsilon}\left(#1\right))"},
       [](const VectorNumbers& x) -> Column {
         return Column::Constant(1, deviation(x.vector(0), x.number(1)));
       },
       explain_deviation},
      {"standardise", "[D, 1], [1, 1] -> [D, 1]", "[L, D], [1, 1] -> [L, D]", applied("norm"),
       [](const VectorNumbers& x) { return standardise(x.vector(0), x.number(1)); }, explain_standardise},
      {"layer_norm_gradient", "[D, 1], [D, 1], [1, 1] -> [D, 1]", "[L, D], [L, D], [L, 1] -> [L, D]",
       gradient_pattern,
       [](const VectorNumbers& x) { return layer_norm_gradient(x.vector(0), x.vector(1), x.number(2)); },
       explain_gradient},
  };
}

}  // namespace

std::vector<Function> vector_functions() {
  using enum Precedence;
  const auto append_one = [](const auto& cell) {
    return cell.row() < cell.shape(0).rows ? cell.here(0) : cell.number(1);
  };
  const auto append_ones = [](const auto& cell) {
    return cell.column() < cell.shape(0).columns ? cell.here(0) : cell.number(1);
  };
  const auto append = [](const auto& cell) {
    return cell.row() < cell.shape(0).rows ? cell.here(0) : cell.at(1, 0, 0);
  };
  const auto row_append = [](const auto& cell) {
    return cell.column() < cell.shape(0).columns ? cell.here(0) : cell.at(1, cell.row(), 0);
  };
  const auto here = [](const auto& cell) { return cell.here(0); };
  const auto last = [](const auto& cell) { return cell.at(0, cell.shape(0).rows - 1, 0); };
  const auto row_last = [](const auto& cell) { return cell.at(0, cell.row(), cell.shape(0).columns - 1); };
  const auto normalise = [](const auto& cell) {
    return cell.here(0) / (cell.at(0, cell.shape(0).rows - 1, 0) + cell.at(1, 0, 0));
  };
  const auto row_normalise = [](const auto& cell) {
    return cell.here(0) / (cell.at(0, cell.row(), cell.shape(0).columns - 1) + cell.at(1, 0, 0));
  };
  std::vector<Function> all = {
      by_cell("append_one", "[V, 1] -> [V+1, 1]", {R"(\left[#1, 1\right])"}, append_one),
      by_cell("append_ones", "[L, V] -> [L, V+1]", {R"(\left[#1, \mathbf{1}\right])"}, append_ones),
      by_cell("append", "[V, 1], [1, 1] -> [V+1, 1]", {R"(\left[#1, #2\right])"}, append),
      by_cell("row_append", "[L, V], [L, 1] -> [L, V+1]", {R"(\left[#1, #2\right])"}, row_append),
      by_cell("without_last", "[V+1, 1] -> [V, 1]", {"#1_{1:V}", atom, atom}, here),
      by_cell("row_without_last", "[L, V+1] -> [L, V]", {"#1_{:,1:V}", atom, atom}, here),
      by_cell("last", "[V+1, 1] -> [1, 1]", {"#1_{V+1}", atom, atom}, last),
      by_cell("row_last", "[L, V+1] -> [L, 1]", {"#1_{:,V+1}", atom, atom}, row_last),
      by_cell("normalise", "[V+1, 1], [1, 1] -> [V, 1]",
              {R"(#1_{1:V} / \left(#1_{V+1} + #2\right))", hadamard, atom}, normalise),
      by_cell("row_normalise", "[L, V+1], [1, 1] -> [L, V]",
              {R"(#1_{:,1:V} / \left(#1_{:,V+1} + #2\right))", hadamard, atom}, row_normalise),
  };
  for (const VectorFunction& one : table()) {
    for (const bool rows : {false, true}) all.push_back(offered(one, rows));
  }
  return all;
}

}  // namespace palimpsest
