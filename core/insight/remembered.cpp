#include "core/insight/remembered.h"

#include <fmt/format.h>

#include <Eigen/SVD>
#include <algorithm>

#include "core/base/error.h"
#include "core/insight/written_together.h"
#include "core/rules/row_rule.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

void require(const Sequence& sequence, std::span<const Index> tokens, std::span<const Index> moments) {
  for (const Index token : tokens) {
    if (token < 0 || token >= sequence.tokens)
      throw InputError(
          fmt::format("token {}; expected one of the {} tokens, counted from 0", token, sequence.tokens));
  }
  if (!std::ranges::is_sorted(moments)) throw InputError("the moments must be in ascending order");
  if (!moments.empty() && (moments.front() < 0 || moments.back() > sequence.tokens))
    throw InputError(fmt::format("moments {} to {}; expected 0 to {} tokens", moments.front(), moments.back(),
                                 sequence.tokens));
}

/// The last pair of each token.
StoredPairs last_pairs(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens) {
  StoredPairs pairs;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const StoredPairs own = stored_pairs(variant, sequence, tokens[i], 1);
    if (i == 0) {
      pairs.keys.resize(static_cast<Index>(tokens.size()), own.keys.cols());
      pairs.values.resize(static_cast<Index>(tokens.size()), own.values.cols());
    }
    pairs.keys.row(static_cast<Index>(i)) = own.keys.bottomRows(1);
    pairs.values.row(static_cast<Index>(i)) = own.values.bottomRows(1);
  }
  return pairs;
}

/// V^+ [V, words] of values [words, V].
Matrix<double> parts_of(const Matrix<double>& values) {
  constexpr double cut = 0.05;  // of the largest singular value
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(values, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Vector<double> inverse = svd.singularValues();
  for (double& value : inverse) value = value > 0 && value >= cut * svd.singularValues()[0] ? 1 / value : 0;
  return svd.matrixV() * inverse.asDiagonal() * svd.matrixU().transpose();
}

/// Whether a memory's answers can be divided by |k|^2: they are S^T k.
bool answers_by_length(const Variant& variant) {
  const RowRule* const rows = variant.rule->row_program();
  return rows && !rows->normalised() && !variant.memory.answers;
}

}  // namespace

std::string compared_by_direction(const Variant& variant) {
  if (answers_by_length(variant)) return {};
  const auto has_state = [&](const char* name) {
    return std::ranges::find(variant.states, name, &State::name) != variant.states.end();
  };
  if (!answers_linearly(variant) && !variant.memory.answers)
    return "The memory is asked with the key as with a query, and divides its answer by the sum of its "
           "weights: "
           "the length says nothing of what is stored.";
  if (has_state("Hkk"))
    return "The best linear memory of all words so far is solved for and asked with the key; its ridge "
           "shortens "
           "the answers.";
  if (variant.memory.answers)
    return "The inner model is asked with the key as the rule asks it with a query, at the weights after the "
           "last "
           "whole batch. It is trained by gradients, so that answers come near their values little by "
           "little.";
  return "The memory is asked with the key itself, S⊤k, as it stands then. How far a step goes is the rule's "
         "own: "
         "the length of an answer is no share of the value.";
}

Remembered remembered(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens,
                      std::span<const Index> moments, std::stop_token stop,
                      const std::function<void(double)>& progress) {
  require_memory_to_ask(variant);
  require(sequence, tokens, moments);
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
  Vector<double> held = Vector<double>::Zero(pairs.keys.rows());  // the shares in what has been written
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

}  // namespace palimpsest
