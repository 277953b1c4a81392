#include "core/formula/gradient.h"

#include "core/base/table.h"
#include "core/formula/functions.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

/// The sum of `G` over the rows and columns along which an operand of this shape was repeated.
Matrix<double> summed(Matrix<double> G, Shape operand) {
  if (operand.rows < G.rows()) G = G.colwise().sum().eval();
  if (operand.columns < G.cols()) G = G.rowwise().sum().eval();
  return G;
}

/// `x` repeated over the shape of `whole`.
Matrix<double> repeated_over(const Matrix<double>& whole, const Matrix<double>& x) {
  return x.replicate(whole.rows() / x.rows(), whole.cols() / x.cols());
}

class Backward {
 public:
  Backward(const std::string& name, const Record& record)
      : name_(name),
        record_(record),
        sum_(Matrix<double>::Zero(record.at(name).rows(), record.at(name).cols())) {}

  /// Adds what `x` hands on to the tensor; G are the derivatives with respect to x.
  void pass(const Expression& x, const Matrix<double>& G) {
    if (!is_among(name_, operands(x))) return;
    const auto arguments = x.arguments();
    const auto value = [&](std::size_t i) { return evaluate(arguments[i], record_); };
    const auto size = [&](std::size_t i) { return shape(arguments[i], record_); };
    switch (x.kind()) {
      case Kind::tensor:
        sum_ += G;
        return;
      case Kind::number:
        return;
      case Kind::named:
        return pass(arguments[0], G);
      case Kind::transpose:
        return pass(arguments[0], G.transpose());
      case Kind::diagonal:
        return pass(arguments[0], G.diagonal());
      case Kind::sum:
      case Kind::difference:
        pass(arguments[0], summed(G, size(0)));
        pass(arguments[1], summed(x.kind() == Kind::sum ? G : Matrix<double>(-G), size(1)));
        return;
      case Kind::hadamard:
        pass(arguments[0], summed(G.cwiseProduct(repeated_over(G, value(1))), size(0)));
        pass(arguments[1], summed(G.cwiseProduct(repeated_over(G, value(0))), size(1)));
        return;
      case Kind::product:
        return product(x, value(0), value(1), G);
      case Kind::function:
        return function(x, G);
    }
  }

  const Matrix<double>& sum() const { return sum_; }

 private:
  void product(const Expression& x, const Matrix<double>& left, const Matrix<double>& right,
               const Matrix<double>& G) {
    const Matrix<double> one = Matrix<double>::Ones(1, 1);
    switch (product_kind(x, {left.rows(), left.cols()}, {right.rows(), right.cols()})) {
      case ProductKind::number_left:
        pass(x.arguments()[0], one * G.cwiseProduct(right).sum());
        return pass(x.arguments()[1], left(0, 0) * G);
      case ProductKind::number_right:
        pass(x.arguments()[0], right(0, 0) * G);
        return pass(x.arguments()[1], one * G.cwiseProduct(left).sum());
      default:
        pass(x.arguments()[0], G * right.transpose());
        return pass(x.arguments()[1], left.transpose() * G);
    }
  }

  void function(const Expression& x, const Matrix<double>& G) {
    const Function& called = find_function(x.name());
    std::vector<Matrix<double>> values;
    for (const Expression& argument : x.arguments()) values.push_back(evaluate(argument, record_));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_among(name_, operands(x.arguments()[i]))) continue;
      Matrix<double> derivatives(values[i].rows(), values[i].cols());
      for (Index j = 0; j < derivatives.size(); ++j) {
        double& element = values[i].data()[j];
        const double at = element;
        const double step = 6e-6 * std::max(std::abs(at), 1e-3);  // about the third root of the rounding
        element = at + step;
        const Matrix<double> above = called.evaluate(values);
        element = at - step;
        const Matrix<double> below = called.evaluate(values);
        element = at;
        derivatives.data()[j] = G.cwiseProduct(above - below).sum() / (2 * step);
      }
      pass(x.arguments()[i], derivatives);
    }
  }

  const std::string& name_;
  const Record& record_;
  Matrix<double> sum_;
};

}  // namespace

Matrix<double> gradient(const Expression& x, const std::string& name, const Record& record) {
  Backward backward(name, record);
  backward.pass(x, Matrix<double>::Ones(1, 1));
  return backward.sum();
}

}  // namespace palimpsest
