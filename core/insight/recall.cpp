#include "core/insight/recall.h"

#include <Eigen/QR>
#include <Eigen/SVD>

#include "core/base/random_numbers.h"
#include "core/base/refuse.h"
#include "core/engines/row_engines.h"
#include "core/insight/answers.h"
#include "core/insight/learning.h"
#include "core/rules/row_map.h"

namespace palimpsest {

namespace {

/// |prediction of S - v|^2 / 2 for the pair that a row writes.
double half_squared_error(const Matrix<double>& S, const StoredPairs& pair) {
  return 0.5 * (pair.keys * S - pair.values).squaredNorm();
}

/// The same before the row's write: at the decayed state, unless the rule erases before the decay. Where
/// there is one part the key decays instead, which copies no state.
double error_before(const Matrix<double>& S, const Program<double>& row, StoredPairs pair) {
  const Structure& structure = row.structure;
  const bool is_early = structure.erase == Erase::undecayed;
  if (!structure.parts.empty())
    return half_squared_error(seen_by_query(row, is_early ? S : kept_state(row, S)), pair);
  if (is_early) return half_squared_error(S, pair);
  if (structure.decay != Decay::none) pair.keys.array() *= key_decays(row).array();
  if (!structure.value_decay) return half_squared_error(S, pair);
  return 0.5 * ((pair.keys * S).cwiseProduct(row.mu) - pair.values).squaredNorm();
}

std::vector<Recall> recall_of_rows(const RowRule& rule, const Sequence& sequence, const std::stop_token& stop,
                                   const TokensDone& done) {
  std::vector<Recall> recalls;
  const auto visit = [&](Index token, bool is_last, const Program<double>& row, Matrix<double>& S) {
    const StoredPairs pair = is_last ? written_pairs(row) : StoredPairs();
    const double before = is_last ? error_before(S, row, pair) : 0;
    recurrent(row, S);
    if (!is_last) return true;
    done.tell(token + 1);
    const bool has_parts = !row.structure.parts.empty();
    const Matrix<double> seen = has_parts ? seen_by_query(row, S) : Matrix<double>();
    const Matrix<double>& after = has_parts ? seen : S;
    recalls.push_back({before, half_squared_error(after, pair), after.cwiseAbs().maxCoeff(),
                       after.norm() / std::sqrt(static_cast<double>(after.size()))});
    return true;
  };
  walk_rows(rule, sequence, visit, stop);
  return recalls;
}

/// The recall of any other memory, queried between tokens, or between groups that are written together.
std::vector<Recall> recall_of_walk(const Variant& variant, const Sequence& sequence, std::stop_token stop,
                                   const TokensDone& done) {
  const StoredPairs pairs = stored_pairs(variant, sequence, 0, sequence.tokens);
  const Index size = tokens_per_step(variant, sequence);
  std::vector<Recall> recalls(static_cast<std::size_t>(sequence.tokens));
  const auto visit = [&](Index tokens, const NamedStates& states) {
    if (tokens > 0) done.tell(tokens);
    if (tokens_written(sequence, size, tokens) != tokens) return true;
    const auto half_squared = [&](Index token) {
      const StoredPairs pair = {pairs.keys.middleRows(token, 1), pairs.values.middleRows(token, 1)};
      return 0.5 * recall_errors(variant, sequence, states, pair).squaredNorm();
    };
    const Matrix<double>& S = states.front().second;
    for (Index token = tokens == 0 ? 0 : (tokens - 1) / size * size; token < tokens; ++token) {
      Recall& recall = entry(recalls, token);
      recall.after = half_squared(token);
      recall.largest = S.cwiseAbs().maxCoeff();
      recall.root_mean_square = S.norm() / std::sqrt(static_cast<double>(S.size()));
    }
    for (Index token = tokens; token < std::min(tokens + size, sequence.tokens); ++token)
      entry(recalls, token).before = half_squared(token);
    return true;
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  return recalls;
}

/// What the weights of a problem return: they are the memory, or for MesaNet the solution of its systems.
Matrix<double> answers(const Variant& variant, const Sequence& sequence, const InnerProblem& problem,
                       const Weights<double>& weights, const Matrix<double>& key) {
  NamedStates states;
  for (std::size_t i = 0; i < weights.size(); ++i) states.emplace_back(problem.names[i], weights[i]);
  const auto is_given = [&](const std::string& state) { return is_among(state, problem.names); };
  const bool are_states = std::ranges::any_of(states_of(variant, sequence.settings), is_given);
  const bool is_program = variant.rule->row_program() != nullptr;
  if (!are_states && !is_program) return key * weights.front();
  return memory_answers(variant, sequence, states, key);
}

/// V^+ [V, words] of values [words, V].
Matrix<double> parts_of(const Matrix<double>& values) {
  constexpr double smallest = 0.05;  // of the largest singular value
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(values, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Vector<double> inverse = svd.singularValues();
  for (double& value : inverse)
    value = value > 0 && value >= smallest * svd.singularValues()[0] ? 1 / value : 0;
  return svd.matrixV() * inverse.asDiagonal() * svd.matrixU().transpose();
}

/// Whether what a memory returns can be divided by |k|^2: it is S^T k.
bool answers_by_length(const Variant& variant) {
  return variant.rule->row_program() && answers_linearly(variant);
}

Matrix<double> unit_rows(Matrix<double> rows) {
  rows.rowwise().normalize();
  return rows;
}

/// The sizes of an array of one head; a rule with several steps per token takes one.
std::vector<Index> shape_of(const Input& input, const CapacityPlan& plan, const Settings& settings,
                            Index tokens) {
  const Index batch = inner_batch(settings);
  const std::map<std::string, Index> sizes = {{"n", tokens},    {"dk", plan.dk},
                                              {"d", plan.dk},   {"dv", plan.dv},
                                              {"batch", batch}, {"n_batches", (tokens + batch - 1) / batch}};
  std::vector<Index> shape;
  for (const std::string& axis : input.shape) {
    const auto known = sizes.find(axis);
    shape.push_back(known != sizes.end() ? known->second : has_tokens(input) ? 1 : 2 * plan.dk);
  }
  return shape;
}

Arrays arrays_of(const Variant& variant, const CapacityPlan& plan, const Settings& settings, Index tokens,
                 std::uint64_t seed) {
  Arrays arrays;
  for (const Input& input : inputs_of(variant, settings)) {
    const std::vector<Index> shape = shape_of(input, plan, settings, tokens);
    if (input.absent) continue;
    RandomNumbers numbers(seed, input.name);
    if (input.name == "k") {
      arrays["k"] = array_of(capacity_keys(plan, tokens, seed), shape);
    } else if (input.name == "v") {
      const Matrix<double> v = numbers.normal(tokens, plan.dv) / std::sqrt(static_cast<double>(plan.dv));
      arrays["v"] = array_of(v, shape);
    } else {
      Array array;
      array.shape = shape;
      const bool is_one = input.range == Range::decay || input.name == "beta";
      std::vector<double> values(static_cast<std::size_t>(array.size()), is_one ? 1 : input.stand_in.value);
      for (double& value : values) {
        if (input.stand_in.random) value *= numbers.normal();
      }
      if (input.range == Range::positive_definite && shape.size() == 2) {
        for (Index i = 0; i < array.size(); ++i)
          if (i / shape[1] != i % shape[1]) entry(values, i) = 0;
      }
      array.own_values() = std::move(values);
      arrays[input.name] = std::move(array);
    }
  }
  for (const Input& input : inputs_of(variant, settings)) {
    const auto like = arrays.find(input.stand_in.like);
    if (like == arrays.end()) continue;
    Array multiple = like->second;
    for (double& value : std::get<0>(multiple.own_values())) value *= input.stand_in.value;
    arrays[input.name] = std::move(multiple);
  }
  return arrays;
}

void require_sensible(const Variant& variant, const CapacityPlan& plan) {
  if (is_among("k", variant.makes))
    refuse("{} makes its keys itself; no others can be stored in it", variant.id);
  if (plan.counts.empty() || !std::ranges::is_sorted(plan.counts) || plan.counts.front() < 1)
    refuse("the counts of a capacity sweep must be at least 1 and in ascending order");
  if (plan.dk < 1 || plan.dv < 1) refuse("dk = {} and dv = {}; expected at least 1", plan.dk, plan.dv);
  if (plan.draws < 1) refuse("{} draws; expected at least 1", plan.draws);
  if (plan.keys == Keys::orthonormal && plan.counts.back() > plan.dk)
    refuse("{} orthonormal keys of {} channels; there are at most {}", plan.counts.back(), plan.dk, plan.dk);
}

}  // namespace

std::optional<std::vector<Recall>> recall(const Variant& variant, const Sequence& sequence,
                                          std::stop_token stop, const std::function<void(double)>& progress) {
  if (!variant.memory.none.empty()) return std::nullopt;
  const TokensDone done(sequence.tokens, progress);
  const RowRule* const rows = variant.rule->row_program();
  const bool asks_as_written = !variant.memory.pairs && !variant.memory.answers;
  if (rows && asks_as_written) return recall_of_rows(*rows, sequence, stop, done);
  return recall_of_walk(variant, sequence, std::move(stop), done);
}

std::optional<HarmedPair> most_harmed(const Variant& variant, const Sequence& sequence, Index token,
                                      std::stop_token stop) {
  require_memory_to_ask(variant);
  const auto [first, last] =
      written_together(variant, sequence, token).value_or(WrittenTogether{token, token});
  const StoredPairs all = stored_pairs(variant, sequence, 0, last + 1);
  const Index steps = all.keys.rows() / (last + 1);
  const StoredPairs earlier = {all.keys.topRows(first * steps), all.values.topRows(first * steps)};
  Vector<double> errors_before;
  Vector<double> errors_after;
  const auto visit = [&, begin = first, end = last + 1](Index tokens, const NamedStates& states) {
    if (tokens == begin && begin > 0) errors_before = recall_errors(variant, sequence, states, earlier);
    if (tokens == end && begin > 0) errors_after = recall_errors(variant, sequence, states, earlier);
    return tokens < end;
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  std::optional<HarmedPair> worst;
  double most = 0;
  for (Index pair = 0; pair < errors_before.size(); ++pair) {
    const double before = 0.5 * errors_before(pair) * errors_before(pair);
    const double after = 0.5 * errors_after(pair) * errors_after(pair);
    if (!(after - before > most)) continue;
    most = after - before;
    worst = {.token = pair / steps, .step = pair % steps, .before = before, .after = after};
  }
  const auto key = [&](Index of, Index step) { return all.keys.row(of * steps + step).normalized(); };
  if (worst) worst->cosine = key(worst->token, worst->step).dot(key(token, steps - 1));
  return worst;
}

std::vector<double> losses_along(const Variant& variant, const Sequence& sequence, const LearningStep& step,
                                 const HarmedPair& pair, std::span<const double> rates) {
  require_memory_to_ask(variant);
  require_token(pair.token, sequence.tokens);
  const StoredPairs of_token = stored_pairs(variant, sequence, pair.token, 1);
  if (pair.step < 0 || pair.step >= of_token.keys.rows())
    refuse("step {} of token {}; it takes {}", pair.step, pair.token, of_token.keys.rows());
  const StoredPairs asked = {of_token.keys.row(pair.step), of_token.values.row(pair.step)};
  std::vector<double> losses;
  for (const double rate : rates) {
    Weights<double> weights = step.problem.at;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * step.gradient[i];
    const Matrix<double> answer = answers(variant, sequence, step.problem, weights, asked.keys);
    losses.push_back(0.5 * (answer - asked.values).eval().squaredNorm());
  }
  return losses;
}

std::string compared_by_direction(const Variant& variant) {
  if (answers_by_length(variant)) return {};
  if (!answers_linearly(variant) && !variant.memory.answers)
    return "This memory divides its output by the sum of its weights, so the norm does not measure what is "
           "stored.";
  if (hands_on(variant, "Hkk"))
    return "The key queries the best linear memory of all tokens so far, which is solved for. Its ridge "
           "makes "
           "the returned norm smaller.";
  if (variant.memory.answers)
    return "The key queries the inner model with the weights after the last whole batch. Gradients train it, "
           "so its outputs approach the values step by step.";
  return "The key itself queries the memory, S⊤k. The step size is the rule's own, so the returned norm is "
         "no "
         "share of the value.";
}

Remembered remembered(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens,
                      std::span<const Index> moments, std::stop_token stop,
                      const std::function<void(double)>& progress) {
  require_memory_to_ask(variant);
  for (const Index token : tokens) require_token(token, sequence.tokens);
  if (!std::ranges::is_sorted(moments)) refuse("the moments must be in ascending order");
  if (!moments.empty() && (moments.front() < 0 || moments.back() > sequence.tokens))
    refuse("moments {} to {}; expected 0 to {} tokens", moments.front(), moments.back(), sequence.tokens);
  Remembered all{.tokens = {tokens.begin(), tokens.end()},
                 .moments = {moments.begin(), moments.end()},
                 .is_alignment = !answers_by_length(variant)};
  all.shares = Matrix<double>::Zero(static_cast<Index>(tokens.size()), static_cast<Index>(moments.size()));
  if (tokens.empty() || moments.empty()) return all;
  const StoredPairs pairs = last_pairs(variant, sequence, tokens);
  const Matrix<double> parts = all.is_alignment ? Matrix<double>() : parts_of(pairs.values);
  const auto share = [&](const Matrix<double>& answers, Index i) {
    if (!all.is_alignment) {
      const double squares = pairs.keys.row(i).squaredNorm();
      return squares > 0 ? answers.row(i).dot(parts.col(i)) / squares : 0;
    }
    const double lengths = answers.row(i).norm() * pairs.values.row(i).norm();
    return lengths > 0 ? answers.row(i).dot(pairs.values.row(i)) / lengths : 0;
  };
  std::size_t next = 0;
  const Index size = tokens_per_step(variant, sequence);
  Vector<double> held = Vector<double>::Zero(pairs.keys.rows());  // the shares after the last write
  const auto visit = [&](Index count, const NamedStates& states) {
    if (progress) progress(static_cast<double>(count) / static_cast<double>(moments.back() + 1));
    const std::size_t same = next;
    while (next < moments.size() && moments[next] == count) ++next;
    if ((same < next || size > 1) && tokens_written(sequence, size, count) == count) {
      const Matrix<double> answers = memory_answers(variant, sequence, states, pairs.keys);
      for (Index i = 0; i < held.size(); ++i) held[i] = share(answers, i);
    }
    for (std::size_t moment = same; moment < next; ++moment)
      all.shares.col(static_cast<Index>(moment)) = held;
    return next < moments.size();
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  return all;
}

Matrix<double> capacity_keys(const CapacityPlan& plan, Index count, std::uint64_t seed) {
  RandomNumbers numbers(seed, "capacity keys");
  if (plan.keys == Keys::orthonormal) {
    const Matrix<double> G = numbers.normal(plan.dk, count);
    const Eigen::HouseholderQR<Matrix<double>> qr(G);
    return Matrix<double>(qr.householderQ() * Matrix<double>::Identity(plan.dk, count)).transpose();
  }
  if (plan.keys == Keys::random) return unit_rows(numbers.normal(count, plan.dk));
  const Matrix<double> common = unit_rows(numbers.normal(1, plan.dk));
  const Matrix<double> own = unit_rows(numbers.normal(count, plan.dk));
  constexpr double correlation = 0.5;
  return unit_rows(std::sqrt(correlation) * common.replicate(count, 1) + std::sqrt(1 - correlation) * own);
}

std::vector<CapacityPoint> capacity(const Variant& variant, const CapacityPlan& plan, std::stop_token stop,
                                    const std::function<void(double)>& progress) {
  require_memory_to_ask(variant);
  require_sensible(variant, plan);
  Settings settings = resolve(variant, plan.settings);
  for (const Parameter& parameter : variant.parameters)
    settings.parameters.emplace(parameter.name, parameter.stand_in);
  std::vector<CapacityPoint> points;
  for (const Index count : plan.counts) points.push_back({.pairs = count});
  for (int draw = 0; draw < plan.draws; ++draw) {
    const auto arrays = std::make_shared<const Arrays>(
        arrays_of(variant, plan, settings, plan.counts.back(), plan.seed + static_cast<std::uint64_t>(draw)));
    const Sequence sequence = palimpsest::bind(variant, arrays, settings).heads.front();
    const StoredPairs pairs = stored_pairs(variant, sequence, 0, sequence.tokens);
    std::size_t next = 0;
    const auto visit = [&](Index stored, const NamedStates& states) {
      const double part = static_cast<double>(stored) / static_cast<double>(plan.counts.back());
      if (progress) progress((draw + part) / plan.draws);
      for (; next < points.size() && points[next].pairs == stored; ++next) {
        const StoredPairs known = {pairs.keys.topRows(stored), pairs.values.topRows(stored)};
        const Vector<double> errors =
            recall_errors(variant, sequence, states, known).array() / known.values.rowwise().norm().array();
        points[next].mean += errors.mean() / plan.draws;
        points[next].worst = std::max(points[next].worst, errors.maxCoeff());
        points[next].last += errors(stored - 1) / plan.draws;
      }
      return next < points.size();
    };
    variant.rule->walk_states(sequence, visit, stop);
  }
  return points;
}

}  // namespace palimpsest
