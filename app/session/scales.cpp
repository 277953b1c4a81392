#include "app/session/scales.h"

#include <algorithm>
#include <cmath>

namespace palimpsest {

namespace {

constexpr double states_beyond_typical = 3;  // 99.7 % of normal numbers lie within three times their rms
constexpr Index enough_rows = 2048;          // tokens that are looked at; more are sampled evenly

/// The magnitude that nearly all numbers stay below; the largest if that is zero.
double strong(const Matrix<double>& rows) {
  std::vector<double> magnitudes;
  const Index stride = std::max<Index>(rows.rows() / enough_rows, 1);
  for (Index row = 0; row < rows.rows(); row += stride) {
    for (Index column = 0; column < rows.cols(); ++column) magnitudes.push_back(std::abs(rows(row, column)));
  }
  const double most = quantile(magnitudes, nearly_all);
  return most > 0 ? most : quantile(std::move(magnitudes), 1);
}

/// The length that all but a few of the rows that are not 0 stay below; 1/2 if there is none.
double usual_length(const Matrix<double>& rows) {
  std::vector<double> lengths;
  for (Index t = 0; t < rows.rows(); ++t) {
    const double length = rows.row(t).norm();
    if (length > 0 && std::isfinite(length)) lengths.push_back(length);
  }
  if (lengths.empty()) return 0.5;
  const auto most = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) * 19 / 20);
  std::ranges::nth_element(lengths, most);
  return *most;
}

std::vector<double> of_memories(std::span<const Recall> recalls, double Recall::*member) {
  std::vector<double> numbers;
  numbers.reserve(recalls.size());
  for (const Recall& recall : recalls) numbers.push_back(recall.*member);
  return numbers;
}

}  // namespace

double quantile(std::vector<double> numbers, double share) {
  std::erase_if(numbers, [](double number) { return !std::isfinite(number); });
  if (numbers.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(numbers.size())));
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(numbers, at);
  return *at;
}

KindScales kind_scales(const Sequence& sequence) {
  const Matrix<double> values = sequence.at("v").all<double>();
  return {.key = sequence.has("k") ? strong(sequence.at("k").all<double>()) : 1,
          .query = strong(sequence.at("q").all<double>()),
          .value = strong(values),
          .value_length = usual_length(values)};
}

double output_scale(const Matrix<double>& outputs) { return strong(outputs); }

double strong_state(std::span<const Recall> recalls) {
  const double typical = quantile(of_memories(recalls, &Recall::root_mean_square), nearly_all);
  return std::min(states_beyond_typical * typical, quantile(of_memories(recalls, &Recall::largest), 1));
}

}  // namespace palimpsest
