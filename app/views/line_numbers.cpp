#include "app/views/line_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "app/views/timeline_scale.h"
#include "core/insight/learning.h"

namespace palimpsest {

namespace {

std::string kept_words(const Matrix<double>& alpha) {
  const std::string least = half_life_words(alpha.minCoeff());
  const std::string most = half_life_words(alpha.maxCoeff());
  return least == most ? least : least + " … " + most.substr(most.starts_with("half-life ") ? 10 : 0);
}

}  // namespace

std::string line_number(const Operation& operation, const Record& record, const Recall* recall) {
  const std::string& result = operation.equation.result;
  if (!record.contains(result)) return {};
  if (operation.purpose == Purpose::decay && record.contains("alpha")) return kept_words(record.at("alpha"));
  if (operation.purpose == Purpose::write && recall)
    return fmt::format("error left {:.2g}", std::sqrt(2 * recall->after));
  const std::string length = fmt::format("length {:.2g}", norm(Weights<double>{record.at(result)}));
  const bool has_strength =
      operation.purpose == Purpose::update && record.contains("beta") && record.at("beta").size() == 1;
  return has_strength ? fmt::format("β = {:.3g}, {}", record.at("beta")(0, 0), length) : length;
}

}  // namespace palimpsest
