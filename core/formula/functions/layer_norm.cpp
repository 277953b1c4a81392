// Layer norm and its gradient in pieces (spec 3.10), each defined once for a vector and offered for a token's
// column and for rows of tokens.

#include <cmath>

#include "core/formula/functions.h"

namespace palimpsest {

namespace {

using Column = Vector<double>;

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

/// One vector among the arguments of a call: a column, or a row of many.
struct VectorOf {
  CallCell& cell;
  bool is_row;

  Index size() const { return is_row ? cell.shape(0).columns : cell.shape(0).rows; }
  Index position() const { return is_row ? cell.column() : cell.row(); }
  Index token() const { return is_row ? cell.row() : 0; }

  Term at(std::size_t argument, Subscript i) const {
    return is_row ? cell.at(argument, token(), i) : cell.at(argument, i, 0);
  }
  /// The number of this vector in an argument that has one for every vector.
  Term number_of(std::size_t argument) const { return cell.at(argument, token(), 0); }

  Column read(std::size_t argument) const {
    if (is_row) {
      cell.reads(argument, token(), 0, 1, size());
    } else {
      cell.reads(argument, 0, 0, size(), 1);
    }
    Column x(size());
    for (Index i = 0; i < size(); ++i)
      x(i) = is_row ? cell.value(argument, token(), i) : cell.value(argument, i, 0);
    return x;
  }

  std::string name(std::size_t argument) const {
    return cell.name(argument) + (is_row ? "[" + std::to_string(token()) + "]" : "");
  }
};

Term mean_of(const VectorOf& x, std::size_t argument) {
  return symbol("mean(" + x.name(argument) + ")", mean(x.read(argument)));
}

/// "√(variance + ε)".
Term explain_deviation(const VectorOf& x) {
  const Column values = x.read(0);
  return sqrt(symbol("var(" + x.name(0) + ")", variance(values)) + x.cell.at(1, 0, 0));
}

Term explain_standardise(const VectorOf& x) {
  return (x.at(0, x.position()) - mean_of(x, 0)) / explain_deviation(x);
}

Term explain_gradient(const VectorOf& x) {
  const Column delta = x.read(0);
  const Column h = x.read(1);
  const Term along = symbol("mean(" + x.name(0) + " ⊙ " + x.name(1) + ")", mean(delta.cwiseProduct(h)));
  const Index i = x.position();
  return (x.at(0, i) - mean_of(x, 0) - x.at(1, i) * along) / x.number_of(2);
}

/// The name in front of the columns' version: "row_standardise".
std::string named(bool rows, const std::string& name) { return (rows ? "row_" : "") + name; }

std::vector<Function> of_vectors(bool rows) {
  const auto each = [rows](Index tokens, Index columns, auto one) {
    Matrix<double> result(rows ? tokens : columns, rows ? columns : 1);
    for (Index i = 0; i < (rows ? tokens : 1); ++i) {
      if (rows) {
        result.row(i) = one(i).transpose();
      } else {
        result.col(0) = one(i);
      }
    }
    return result;
  };
  const auto vector = [rows](const Matrix<double>& x, Index i) -> Column {
    return rows ? Column(x.row(i).transpose()) : Column(x.col(0));
  };
  const auto size = [rows](const Matrix<double>& x) { return rows ? x.cols() : x.rows(); };
  return {
      function(
          named(rows, "deviation"), rows ? "[L, D], [1, 1] -> [L, 1]" : "[D, 1], [1, 1] -> [1, 1]",
          {R"(\mathrm{std}_{\epsilon}\left(#1\right))"},
          [=](Arguments a) {
            return each(a[0].rows(), 1,
                        [&](Index i) { return Column::Constant(1, deviation(vector(a[0], i), a[1](0, 0))); });
          },
          [rows](CallCell& cell) {
            return explain_deviation({cell, rows});
          },
          "how far the numbers lie from their mean"),
      function(
          named(rows, "standardise"), rows ? "[L, D], [1, 1] -> [L, D]" : "[D, 1], [1, 1] -> [D, 1]",
          applied("norm"),
          [=](Arguments a) {
            return each(a[0].rows(), size(a[0]),
                        [&](Index i) -> Column { return standardise(vector(a[0], i), a[1](0, 0)); });
          },
          [rows](CallCell& cell) {
            return explain_standardise({cell, rows});
          },
          "the distance from the mean of its vector, in units of the deviation"),
      function(
          named(rows, "layer_norm_gradient"),
          rows ? "[L, D], [L, D], [L, 1] -> [L, D]" : "[D, 1], [D, 1], [1, 1] -> [D, 1]",
          {R"(\left(#1 - \mathrm{mean}\left(#1\right) - #2 \odot \mathrm{mean}\left(#1 \odot #2\right)\right) / #3)",
           Precedence::hadamard, Precedence::atom},
          [=](Arguments a) {
            return each(a[0].rows(), size(a[0]), [&](Index i) -> Column {
              return layer_norm_gradient(vector(a[0], i), vector(a[1], i), a[2](rows ? i : 0, 0));
            });
          },
          [rows](CallCell& cell) {
            return explain_gradient({cell, rows});
          },
          "less what would only shift or stretch the vector, since the norm undoes both"),
  };
}

}  // namespace

std::vector<Function> layer_norm_functions() {
  std::vector<Function> all = of_vectors(false);
  for (Function& function : of_vectors(true)) all.push_back(std::move(function));
  return all;
}

}  // namespace palimpsest
