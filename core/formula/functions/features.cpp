// Feature maps (spec 3.3), each defined once for a vector and offered for a token's column and for rows of
// tokens; and the constant 1 beside the values with the division by what it collects.

#include <cmath>

#include "core/formula/functions.h"

namespace palimpsest {

namespace {

/// What a feature map sees when it explains one feature of one vector.
struct FeatureCell {
  Index feature;
  Index channels;
  std::function<Term(Index)> x;  // a channel
  std::function<Term()> length;  // the vector's length; reads all of it
};

struct FeatureMap {
  std::string name;
  std::function<Index(Index channels)> count;
  std::function<Vector<double>(const Vector<double>&)> evaluate;
  std::function<Term(const FeatureCell&)> explain;
  std::string words;
};

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

Vector<double> elu1(const Vector<double>& x) {
  return x.unaryExpr([](double each) { return each > 0 ? each + 1 : std::exp(each); });
}

Vector<double> relu(const Vector<double>& x) {
  return x.unaryExpr([](double each) { return larger(each, 0); });
}

Vector<double> squared(const Vector<double>& x) {
  Vector<double> features(pairs(x.size()));
  for (Index f = 0; f < features.size(); ++f) {
    const auto [a, b] = pair_of(f, x.size());
    features[f] = x[a] * x[b] * (a == b ? 1 : std::sqrt(2.0));
  }
  return features;
}

Vector<double> taylor1(const Vector<double>& x) {
  Vector<double> features(1 + x.size());
  features[0] = 1;
  const double length = x.stableNorm();
  features.tail(x.size()) = x / (length > 0 ? length : 1);
  return features;
}

Vector<double> taylor2(const Vector<double>& x) {
  Vector<double> features(1 + x.size() + pairs(x.size()));
  features << 1, x, squared(x) / std::sqrt(2.0);
  return features;
}

Term explain_elu1(const FeatureCell& cell) {
  const Term x = cell.x(cell.feature);
  return x.value > 0 ? x + number(1) : exp(x);
}

Term explain_relu(const FeatureCell& cell) { return maximum(cell.x(cell.feature), number(0)); }

Term root_of_two() {
  Term root = symbol("√2", std::sqrt(2.0));
  root.numbers = root.formula;
  return root;
}

Term explain_squared(const FeatureCell& cell) {
  const auto [a, b] = pair_of(cell.feature, cell.channels);
  return a == b ? cell.x(a) * cell.x(a) : root_of_two() * cell.x(a) * cell.x(b);
}

Term explain_taylor1(const FeatureCell& cell) {
  if (cell.feature == 0) return number(1);
  const Term length = cell.length();
  return length.value > 0 ? cell.x(cell.feature - 1) / length : number(0);
}

Term explain_taylor2(const FeatureCell& cell) {
  if (cell.feature == 0) return number(1);
  if (cell.feature <= cell.channels) return cell.x(cell.feature - 1);
  const auto [a, b] = pair_of(cell.feature - 1 - cell.channels, cell.channels);
  return a == b ? cell.x(a) * cell.x(a) / root_of_two() : cell.x(a) * cell.x(b);
}

std::vector<FeatureMap> feature_maps_of_the_table() {
  const auto same = [](Index channels) { return channels; };
  return {
      {"elu1", same, elu1, explain_elu1, "plus 1 if positive, its exponential otherwise: never negative"},
      {"relu", same, relu, explain_relu, "itself if positive, 0 otherwise"},
      {"squared", pairs, squared, explain_squared,
       "a product of two channels, so that two vectors meet with the square of their similarity"},
      {"taylor1", [](Index channels) { return 1 + channels; }, taylor1, explain_taylor1,
       "a 1, then the vector at length 1 (or 0 where it is 0): similarity plus 1"},
      {"taylor2", [](Index channels) { return 1 + channels + pairs(channels); }, taylor2, explain_taylor2,
       "a 1, the channels, then their products: the exponential's first three terms"},
  };
}

Function on_column(const FeatureMap& map) {
  Function row = function(
      "features/" + map.name, "[K, 1] -> [K, 1]", {R"(\phi\left(#1\right))"},
      [map](Arguments a) -> Matrix<double> { return map.evaluate(a[0].col(0)); },
      [map](CallCell& cell) {
        const Index K = cell.shape(0).rows;
        const auto length = [&] {
          cell.reads(0, 0, 0, K, 1);
          double squares = 0;
          for (Index i = 0; i < K; ++i) squares += std::pow(cell.value(0, i, 0), 2);
          return symbol("‖" + cell.name(0) + "‖", std::sqrt(squares));
        };
        return map.explain({cell.row(), K, [&](Index i) { return cell.at(0, i, 0); }, length});
      },
      map.words);
  row.shape = [fits = row.shape, map](std::span<const Shape> arguments) {
    return Shape{map.count(fits(arguments).rows), 1};
  };
  return row;
}

Function on_rows(const FeatureMap& map) {
  Function row = function(
      "row_features/" + map.name, "[L, K] -> [L, K]", {R"(\phi\left(#1\right))"},
      [map](Arguments a) {
        Matrix<double> features(a[0].rows(), map.count(a[0].cols()));
        for (Index i = 0; i < features.rows(); ++i) features.row(i) = map.evaluate(a[0].row(i)).transpose();
        return features;
      },
      [map](CallCell& cell) {
        const Index K = cell.shape(0).columns;
        const Index token = cell.row();
        const auto length = [&] {
          cell.reads(0, token, 0, 1, K);
          double squares = 0;
          for (Index i = 0; i < K; ++i) squares += std::pow(cell.value(0, token, i), 2);
          return symbol("‖" + cell.name(0) + "[" + std::to_string(token) + "]‖", std::sqrt(squares));
        };
        return map.explain({cell.column(), K, [&](Index i) { return cell.at(0, token, i); }, length});
      },
      map.words);
  row.shape = [fits = row.shape, map](std::span<const Shape> arguments) {
    const Shape shape = fits(arguments);
    return Shape{shape.rows, map.count(shape.columns)};
  };
  return row;
}

Matrix<double> append_one(Arguments a) {
  Matrix<double> result(a[0].rows() + 1, 1);
  result << a[0], 1;
  return result;
}

Matrix<double> append_ones(Arguments a) {
  Matrix<double> result(a[0].rows(), a[0].cols() + 1);
  result << a[0], Matrix<double>::Ones(a[0].rows(), 1);
  return result;
}

Matrix<double> normalise(Arguments a) {
  const Index V = a[0].rows() - 1;
  return a[0].topRows(V) / (a[0](V, 0) + a[1](0, 0));
}

Matrix<double> row_normalise(Arguments a) {
  const Index V = a[0].cols() - 1;
  Matrix<double> result = a[0].leftCols(V);
  for (Index i = 0; i < result.rows(); ++i) result.row(i) /= a[0](i, V) + a[1](0, 0);
  return result;
}

Term explain_append_one(CallCell& cell) {
  return cell.row() < cell.shape(0).rows ? cell.at(0, cell.row(), 0) : number(1);
}

Term explain_append_ones(CallCell& cell) {
  return cell.column() < cell.shape(0).columns ? cell.at(0, cell.row(), cell.column()) : number(1);
}

Term explain_normalise(CallCell& cell) {
  return cell.at(0, cell.row(), 0) / (cell.at(0, cell.shape(0).rows - 1, 0) + cell.at(1, 0, 0));
}

Term explain_row_normalise(CallCell& cell) {
  const Index row = cell.row();
  return cell.at(0, row, cell.column()) / (cell.at(0, row, cell.shape(0).columns - 1) + cell.at(1, 0, 0));
}

}  // namespace

std::vector<Function> feature_functions() {
  std::vector<Function> rows = {
      function("append_one", "[V, 1] -> [V+1, 1]", {R"(\left[#1, 1\right])"}, append_one, explain_append_one,
               "the value, then a 1 that will add up the weights"),
      function("append_ones", "[L, V] -> [L, V+1]", {R"(\left[#1, \mathbf{1}\right])"}, append_ones,
               explain_append_ones, "the values, then a 1 each that will add up the weights"),
      function("normalise", "[V+1, 1], [1, 1] -> [V, 1]",
               {R"(#1_{1:V} / \left(#1_{V+1} + #2\right))", Precedence::hadamard, Precedence::atom},
               normalise, explain_normalise, "the weighted sum, divided by the sum of the weights"),
      function("row_normalise", "[L, V+1], [1, 1] -> [L, V]",
               {R"(#1_{:,1:V} / \left(#1_{:,V+1} + #2\right))", Precedence::hadamard, Precedence::atom},
               row_normalise, explain_row_normalise, "the weighted sum, divided by the sum of the weights"),
  };
  for (const FeatureMap& map : feature_maps_of_the_table()) {
    rows.push_back(on_column(map));
    rows.push_back(on_rows(map));
  }
  return rows;
}

// The random features of FAVOR+ (spec 3.3), for a token's column and for rows of tokens.

namespace {

/// [m, 1] of one vector x [K, 1].
Matrix<double> of_vector(const Matrix<double>& x, const Matrix<double>& directions) {
  const double half_length = x.squaredNorm() / 2;
  Matrix<double> features(directions.rows(), 1);
  for (Index r = 0; r < features.rows(); ++r)
    features(r, 0) = std::exp(directions.row(r).dot(x.col(0)) - half_length) / std::sqrt(directions.rows());
  return features;
}

Matrix<double> favor(Arguments a) { return of_vector(a[0], a[1]); }

Matrix<double> row_favor(Arguments a) {
  Matrix<double> features(a[0].rows(), a[1].rows());
  for (Index i = 0; i < features.rows(); ++i)
    features.row(i) = of_vector(a[0].row(i).transpose(), a[1]).transpose();
  return features;
}

/// exp(sum_d omega_d x_d - sum_d x_d^2 / 2) / sqrt(m); x(d) is channel d.
Term explain(CallCell& cell, Index feature, Index channels, const std::function<Term(Subscript)>& x) {
  const double m = static_cast<double>(cell.shape(1).rows);
  cell.reads(1, feature, 0, 1, channels);
  const Term along = sum({.count = channels,
                          .letter = 'd',
                          .value = [&](Index d) { return cell.value(1, feature, d) * x(d).value; },
                          .term = [&](const Subscript& d) { return cell.at(1, feature, d) * x(d); }});
  const Term length = sum({.count = channels,
                           .letter = 'd',
                           .value = [&](Index d) { return x(d).value * x(d).value; },
                           .term = [&](const Subscript& d) { return x(d) * x(d); }});
  return exp(worked_out(along) - worked_out(length) / number(2)) / number(std::sqrt(m));
}

Term explain_favor(CallCell& cell) {
  const Index K = cell.shape(0).rows;
  cell.reads(0, 0, 0, K, 1);
  return explain(cell, cell.row(), K, [&](const Subscript& d) { return cell.at(0, d, 0); });
}

Term explain_row_favor(CallCell& cell) {
  const Index K = cell.shape(0).columns;
  cell.reads(0, cell.row(), 0, 1, K);
  return explain(cell, cell.column(), K, [&](const Subscript& d) { return cell.at(0, cell.row(), d); });
}

}  // namespace

std::vector<Function> favor_functions() {
  const Pattern pattern = {R"(\tfrac{1}{\sqrt m}\exp\left(#2\,#1 - \tfrac12\|#1\|^2\right))",
                           Precedence::product, Precedence::atom};
  const char* words =
      "how far the vector goes along each random direction, less half its squared length, as an exponential";
  return {function("features/favor", "[K, 1], [M, K] -> [M, 1]", pattern, favor, explain_favor, words),
          function("row_features/favor", "[L, K], [M, K] -> [L, M]", pattern, row_favor, explain_row_favor,
                   words)};
}

}  // namespace palimpsest
