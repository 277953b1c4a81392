#include "core/contract/output.h"

#include <cmath>
#include <limits>

#include "core/contract/variant.h"

namespace palimpsest {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The error of one element; `scale` is the largest element expected.
double error_of(std::string_view array, double got, double expected, double scale) {
  if (got == expected && (std::isfinite(got) || array != "o")) return 0;
  const bool comparable = std::isfinite(got) && std::isfinite(expected) && scale > 0;
  return comparable ? std::abs(got - expected) / scale : infinity;
}

}  // namespace

Disagreement compare(std::string_view array, const Matrix<double>& got, const Matrix<double>& expected) {
  Disagreement worst{.array = std::string(array)};
  if (got.rows() != expected.rows() || got.cols() != expected.cols())
    return {
        infinity, worst.array, 0, 0, static_cast<double>(got.size()), static_cast<double>(expected.size())};
  const double scale = largest_finite(expected);
  for (Index row = 0; row < got.rows(); ++row) {
    for (Index column = 0; column < got.cols(); ++column) {
      const double x = got(row, column);
      const double y = expected(row, column);
      const double error = error_of(array, x, y, scale);
      if (error > worst.error) worst = {error, std::string(array), row, column, x, y};
    }
  }
  return worst;
}

std::vector<double> errors_by_row(std::string_view array, const Matrix<double>& got,
                                  const Matrix<double>& expected) {
  std::vector<double> errors(static_cast<std::size_t>(expected.rows()), infinity);
  if (got.rows() != expected.rows() || got.cols() != expected.cols()) return errors;
  const double scale = largest_finite(expected);
  for (Index row = 0; row < got.rows(); ++row) {
    double& worst = entry(errors, row);
    worst = 0;
    for (Index column = 0; column < got.cols(); ++column) {
      worst = std::max(worst, error_of(array, got(row, column), expected(row, column), scale));
    }
  }
  return errors;
}

std::vector<Disagreement> compare_each(const Output& got, const Output& expected) {
  std::vector<Disagreement> all = {compare("o", got.o, expected.o)};
  const std::size_t count = expected.states.size();
  if (got.states.size() != count) {
    all.push_back({.error = infinity, .array = "final_state"});
    return all;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [state, value] = expected.states[i];
    all.push_back(compare(final_name(count, state), got.states[i].second, value));
  }
  return all;
}

Disagreement compare(const Output& got, const Output& expected) {
  const std::vector<Disagreement> all = compare_each(got, expected);
  return *std::ranges::max_element(all, {}, &Disagreement::error);
}

}  // namespace palimpsest
