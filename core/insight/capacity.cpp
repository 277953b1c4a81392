#include "core/insight/capacity.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/random_numbers.h"
#include "core/contract/sequence.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

Matrix<double> unit_rows(Matrix<double> rows) {
  rows.rowwise().normalize();
  return rows;
}

Array array_of(const Matrix<double>& matrix, std::vector<Index> shape) {
  return {std::move(shape), std::vector<double>(matrix.data(), matrix.data() + matrix.size())};
}

/// The sizes of an array of one head; a rule with several steps per token takes one.
std::vector<Index> shape_of(const Input& input, const CapacityPlan& plan, const Settings& settings,
                            Index tokens) {
  const Index batch = inner_batch(settings);
  std::vector<Index> shape;
  for (const std::string& axis : input.shape) {
    if (axis == "n") {
      shape.push_back(tokens);
    } else if (axis == "dk" || axis == "d") {
      shape.push_back(plan.dk);
    } else if (axis == "dv") {
      shape.push_back(plan.dv);
    } else if (axis == "batch") {
      shape.push_back(batch);
    } else if (axis == "n_batches") {
      shape.push_back((tokens + batch - 1) / batch);
    } else {
      shape.push_back(has_tokens(input) ? 1 : 2 * plan.dk);
    }
  }
  return shape;
}

/// A number for every element of the array.
double number_for(const Input& input, const CapacityPlan& plan) {
  if (const auto wanted = plan.values.find(input.name); wanted != plan.values.end()) return wanted->second;
  return input.range == Range::decay || input.name == "beta" ? 1 : input.stand_in.value;
}

Arrays arrays_of(const Variant& variant, const CapacityPlan& plan, const Settings& settings, Index tokens,
                 std::uint64_t seed) {
  Arrays arrays;
  for (const Input& input : inputs_of(variant, settings)) {
    const std::vector<Index> shape = shape_of(input, plan, settings, tokens);
    const bool wanted = plan.values.contains(input.name);
    if (input.absent && !wanted) continue;
    RandomNumbers numbers(seed, input.name);
    if (input.name == "k") {
      arrays["k"] = array_of(capacity_keys(plan, tokens, seed), shape);
    } else if (input.name == "v") {
      const Matrix<double> v = numbers.normal(tokens, plan.dv) / std::sqrt(static_cast<double>(plan.dv));
      arrays["v"] = array_of(v, shape);
    } else {
      Array array;
      array.shape = shape;
      std::vector<double> values(static_cast<std::size_t>(array.size()), number_for(input, plan));
      for (double& value : values) {
        if (input.stand_in.random && !wanted) value *= numbers.normal();
      }
      if (input.range == Range::positive_definite && shape.size() == 2) {
        for (Index i = 0; i < array.size(); ++i)
          if (i / shape[1] != i % shape[1]) values[static_cast<std::size_t>(i)] = 0;
      }
      array.values = std::move(values);
      arrays[input.name] = std::move(array);
    }
  }
  for (const Input& input : inputs_of(variant, settings)) {
    const auto like = arrays.find(input.stand_in.like);
    if (like == arrays.end() || plan.values.contains(input.name)) continue;
    Array multiple = like->second;
    for (double& value : std::get<0>(multiple.values)) value *= input.stand_in.value;
    arrays[input.name] = std::move(multiple);
  }
  return arrays;
}

Settings settings_of(const Variant& variant, const CapacityPlan& plan) {
  Settings settings = resolve(variant, plan.settings);
  for (const Parameter& parameter : variant.parameters)
    settings.parameters.emplace(parameter.name, parameter.stand_in);
  return settings;
}

void require_sensible(const Variant& variant, const CapacityPlan& plan) {
  if (std::ranges::find(variant.makes, "k") != variant.makes.end())
    throw InputError(fmt::format("{} makes its keys itself; no others can be stored in it", variant.id));
  if (plan.counts.empty() || !std::ranges::is_sorted(plan.counts) || plan.counts.front() < 1)
    throw InputError("the counts of a capacity sweep must be at least 1 and in ascending order");
  if (plan.dk < 1 || plan.dv < 1)
    throw InputError(fmt::format("dk = {} and dv = {}; expected at least 1", plan.dk, plan.dv));
  if (plan.draws < 1) throw InputError(fmt::format("{} draws; expected at least 1", plan.draws));
  if (plan.keys == Keys::orthonormal && plan.counts.back() > plan.dk) {
    throw InputError(fmt::format("{} orthonormal keys of {} channels; there are at most {}",
                                 plan.counts.back(), plan.dk, plan.dk));
  }
  if (plan.keys == Keys::correlated && !(plan.correlation >= 0 && plan.correlation < 1))
    throw InputError(fmt::format("the correlation is {}; expected [0, 1)", plan.correlation));
  for (const auto& [name, value] : plan.values) {
    if (std::ranges::find(variant.inputs, name, &Input::name) == variant.inputs.end())
      throw InputError(fmt::format("{} takes no array \"{}\"", variant.id, name));
  }
}

}  // namespace

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
  return unit_rows(std::sqrt(plan.correlation) * common.replicate(count, 1) +
                   std::sqrt(1 - plan.correlation) * own);
}

std::vector<CapacityPoint> capacity(const Variant& variant, const CapacityPlan& plan, std::stop_token stop,
                                    const std::function<void(double)>& progress) {
  require_memory_to_ask(variant);
  require_sensible(variant, plan);
  const Settings settings = settings_of(variant, plan);
  std::vector<CapacityPoint> points;
  for (const Index count : plan.counts) points.push_back({.pairs = count});
  for (int draw = 0; draw < plan.draws; ++draw) {
    const auto arrays = std::make_shared<const Arrays>(
        arrays_of(variant, plan, settings, plan.counts.back(), plan.seed + static_cast<std::uint64_t>(draw)));
    const Sequence sequence = bind(variant, arrays, settings).heads.front();
    const StoredPairs pairs = stored_pairs(variant, sequence, 0, sequence.tokens);
    std::size_t next = 0;
    variant.rule->walk_states(
        sequence,
        [&](Index stored, const NamedStates& states) {
          if (progress) {
            const double part = static_cast<double>(stored) / static_cast<double>(plan.counts.back());
            progress((draw + part) / plan.draws);
          }
          for (; next < points.size() && points[next].pairs == stored; ++next) {
            const StoredPairs known = {pairs.keys.topRows(stored), pairs.values.topRows(stored)};
            const Vector<double> errors = recall_errors(variant, sequence, states, known).array() /
                                          known.values.rowwise().norm().array();
            points[next].mean += errors.mean() / plan.draws;
            points[next].worst = std::max(points[next].worst, errors.maxCoeff());
            points[next].last += errors(stored - 1) / plan.draws;
          }
          return next < points.size();
        },
        stop);
  }
  return points;
}

}  // namespace palimpsest
