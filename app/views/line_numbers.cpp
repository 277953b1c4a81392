#include "app/views/line_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "app/views/floor_rows.h"
#include "core/base/text.h"
#include "core/formula/notation.h"
#include "core/insight/learning.h"

namespace palimpsest {

namespace {

std::string kept_words(const Matrix<double>& alpha) {
  std::string least = half_life_words(alpha.minCoeff());
  const std::string most = half_life_words(alpha.maxCoeff());
  if (least == most) return least;
  const std::string unit = " words";  // said once
  if (least.ends_with(unit) && most.ends_with(unit)) least.resize(least.size() - unit.size());
  return least + " … " + most.substr(most.starts_with("half-life ") ? 10 : 0);
}

}  // namespace

std::string line_number(const Operation& operation, const Record& record, const Symbols& symbols,
                        const Recall* recall) {
  const std::string& result = operation.equation.result;
  if (!record.contains(result)) return {};
  if (operation.purpose == Purpose::decay && record.contains("alpha")) return kept_words(record.at("alpha"));
  if (operation.purpose == Purpose::write && recall)
    return "error left " + plain_number(std::sqrt(2 * recall->after), 2);
  const Matrix<double>& made = record.at(result);
  if (made.size() == 1) return fmt::format("{:.3g}", made(0, 0));
  const std::string length = "length " + plain_number(norm(Weights<double>{made}), 2);
  if (operation.purpose != Purpose::update) return length;
  for (const std::string& name : operands(operation.equation.expression)) {
    const auto symbol = symbols.find(name);
    if (symbol != symbols.end() && symbol->second.role == Role::strength && record.at(name).size() == 1)
      return fmt::format("{} = {:.3g}, {}", unicode(symbol->second.latex), record.at(name)(0, 0), length);
  }
  return length;
}

}  // namespace palimpsest
