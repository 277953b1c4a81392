#include "core/steps/substitution.h"

namespace palimpsest {

std::optional<SubstitutionNames> substitution_of(const Operation& operation) {
  const Expression& solve = operation.equation.expression;
  if (solve.kind() != Expression::Kind::function || solve.name() != "solve_unit_lower") return std::nullopt;
  const Expression& overlap = solve.arguments()[0];
  const Expression& missing = solve.arguments()[1];
  const bool are_recorded =
      overlap.kind() == Expression::Kind::tensor && missing.kind() == Expression::Kind::tensor;
  if (!are_recorded) return std::nullopt;
  return SubstitutionNames{overlap.name(), missing.name(), operation.equation.result};
}

SubstitutionRow substitution_row(const SubstitutionNames& names, const Record& record, Index row) {
  const Matrix<double>& overlap = record.at(names.overlap);
  const Matrix<double>& solved = record.at(names.solved);
  SubstitutionRow sum{.missing = record.at(names.missing).row(row), .taken = {}, .solved = solved.row(row)};
  for (Index j = 0; j < row; ++j) sum.taken.push_back({j, overlap(row, j), -overlap(row, j) * solved.row(j)});
  return sum;
}

}  // namespace palimpsest
