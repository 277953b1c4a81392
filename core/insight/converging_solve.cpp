#include "core/insight/converging_solve.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/rules/inner_problem.h"
#include "core/rules/mesa_system.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

bool solves_for_queries(const Variant& variant) {
  const auto has = [&](const char* name) {
    return std::ranges::any_of(variant.states, [&](const State& state) { return state.name == name; });
  };
  return has("Hkk") && has("Hkv");
}

std::optional<ConvergingSolve> converging_solve(const Variant& variant, const Sequence& sequence, Index token,
                                                Index chunk_size, std::stop_token stop) {
  if (!solves_for_queries(variant)) return std::nullopt;
  if (token < 0 || token >= sequence.tokens)
    throw InputError(fmt::format("token is {}; expected 0 to {}", token, sequence.tokens - 1));
  ConvergingSolve solve{.token = token, .first_token = token - token % chunk_size};
  solve.token_count = std::min(chunk_size, sequence.tokens - solve.first_token);
  solve.course.row = token - solve.first_token;

  const NamedStates states = states_at(variant, sequence, solve.first_token, stop);
  const Matrix<double>& Hkk = state_of(states, "Hkk");
  const MesaRows<double> rows = mesa_rows<double>(sequence, solve.first_token, solve.token_count);
  MesaState<double> H(Hkk.rows(), Hkk.cols() + sequence.dv);
  H << Hkk, state_of(states, "Hkv");
  mesa_chunk<double>(rows, H, nullptr, stop, &solve.course);
  solve.exact = mesa_solutions<double>(rows, Hkk, 0, stop).row(solve.course.row).transpose();
  const double length = solve.exact.norm();
  for (const Vector<double>& x : solve.course.solutions)
    solve.differences.push_back(length > 0 ? (x - solve.exact).norm() / length : 0);
  return solve;
}

}  // namespace palimpsest
