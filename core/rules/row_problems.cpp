#include "core/rules/row_problems.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/rules/row_map.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

double strength(const Program<double>& row) { return row.structure.beta ? row.beta(0, 0) : 1; }

/// d with a = d k; nothing if there is none. Rounding of the product e o k is allowed for.
std::optional<double> multiple(const Matrix<double>& a, const Matrix<double>& k) {
  const double squares = k.squaredNorm();
  const double d = squares > 0 ? a.cwiseProduct(k).sum() / squares : 0;
  const double tolerance = 8 * std::numeric_limits<double>::epsilon();
  if ((a - d * k).cwiseAbs().maxCoeff() > tolerance * a.cwiseAbs().maxCoeff()) return std::nullopt;
  return d;
}

/// Problems of all rows of the token, one after the other. `make(row, S)` says the terms, the point and the
/// rate.
template <class Make>
std::vector<InnerProblem> each_row(const InnerContext& context, Make make) {
  const RowRule& rule = *context.rule.row_program();
  const Program<double> rows = rule.encode<double>(context.sequence, context.token, 1);
  Matrix<double> S = program_state(context.before);
  std::string names;
  for (const auto& [name, state] : context.before) names += names.empty() ? name : " " + name;
  std::vector<InnerProblem> problems;
  for (Index r = 0; r < rows.rows(); ++r) {
    InnerProblem problem = make(rows.row(r), S);
    problem.first_token = context.token;
    problem.names = {names};
    problem.from = problem.at;
    S = problem.after().weights[0];
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace

std::vector<InnerProblem> dot_problems(const InnerContext& context) {
  return each_row(context, [](const Program<double>& row, const Matrix<double>& S) {
    const Matrix<double> forgotten = (1 - cell_decays(row).array()).matrix();
    InnerProblem problem{.terms = {{dot_loss(one_pair(row.k, row.v))}}, .at = {S}};
    if (!forgotten.isZero(0)) problem.terms.push_back({shrinking_loss(forgotten)});
    return problem;
  });
}

std::vector<InnerProblem> squared_problems(const InnerContext& context) {
  return each_row(context, [](const Program<double>& row, const Matrix<double>& S) {
    return InnerProblem{.terms = {{squared_loss(one_pair(row.k, row.v))}},
                        .at = {cell_decays(row).cwiseProduct(S)},
                        .rate = strength(row)};
  });
}

std::vector<InnerProblem> erase_key_problems(const InnerContext& context) {
  return each_row(context, [&](const Program<double>& row, const Matrix<double>& S) {
    const std::optional<double> d = multiple(row.a, row.k);
    if (!d) {
      throw Unsupported(fmt::format(
          "token {}: the key that asks is no multiple of the key that writes; the step has a curl, "
          "and no loss has such a gradient",
          context.token));
    }
    const bool decayed = row.structure.erase == Erase::decayed;
    const double beta = strength(row);
    const double weight = decayed ? 1 : beta;
    const Matrix<double> nothing = Matrix<double>::Zero(1, row.v.cols());
    InnerProblem problem{.terms = {{squared_loss(one_pair(row.k, nothing, weight * *d))},
                                   {dot_loss(one_pair(row.k, row.v, weight))}},
                         .at = {decayed ? Matrix<double>(cell_decays(row).cwiseProduct(S)) : S},
                         .rate = decayed ? beta : 1};
    if (!decayed) problem.terms.push_back({shrinking_loss((1 - cell_decays(row).array()).matrix())});
    return problem;
  });
}

std::vector<InnerProblem> preconditioned_problems(const InnerContext& context) {
  return each_row(context, [&](const Program<double>& row, const Matrix<double>& S) {
    const Index K = row.k.cols();
    Matrix<double> iota = Matrix<double>::Zero(K, K);
    for (Index i = 0; i < K; ++i) {
      if (row.k(0, i) == 0) continue;
      if (row.a(0, i) == 0) {
        throw Unsupported(fmt::format(
            "token {}: b takes out along channel {}, which a does not ask; no preconditioner makes "
            "that a step on a loss",
            context.token, i));
      }
      iota(i, i) = row.k(0, i) / row.a(0, i);
    }
    const Matrix<double> nothing = Matrix<double>::Zero(1, row.v.cols());
    return InnerProblem{.terms = {{dot_loss(one_pair(row.k_plain, row.v_plain))},
                                  {shrinking_loss((1 - cell_decays(row).array()).matrix())},
                                  {squared_loss(one_pair(row.a, nothing)), iota}},
                        .at = {S}};
  });
}

}  // namespace palimpsest
