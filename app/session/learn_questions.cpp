#include "app/session/learn_questions.h"

#include <algorithm>
#include <tuple>

#include "app/session/found.h"
#include "core/base/error.h"
#include "core/insight/learning.h"
#include "core/rules/stored_pairs.h"
#include "core/variants/variants.h"

namespace palimpsest {

static auto parts_of(const LearningStep& step) {
  return std::tie(step.problem.at, step.problem.from, step.gradient, step.after.weights, step.after.moving,
                  step.iterates);
}
static auto parts_of(const LearningMoment& moment) {
  return std::tie(moment.step, moment.losses, moment.rates);
}
static auto parts_of(const HarmAlong& harm) { return std::tie(harm.rates, harm.losses); }
static auto parts_of(const SolveCourse& course) { return std::tie(course.rests); }
static auto parts_of(const ConvergingSolve& solve) { return std::tie(solve.course, solve.exact); }
static auto parts_of(const StepReach& strengths) { return std::tie(strengths.reach, strengths.squares); }
static auto parts_of(const Keeping& kept) { return std::tie(kept.mean, kept.least, kept.most); }
static auto parts_of(const TokenCourses& courses) { return std::tie(courses.strengths, courses.keeping); }
static auto parts_of(const Remembered& remembered) { return std::tie(remembered.shares); }
static auto parts_of(const Spectrum& spectrum) { return std::tie(spectrum.singular_values); }
static auto parts_of(const KeyPicture& picture) {
  return std::tie(picture.cosines, picture.directions.points);
}

Found<LearningNow::Value> LearningNow::compute(const Foundation& foundation, const Effort& effort) const {
  constexpr Index points = 161;
  return learning_moment(*foundation.variant, foundation.sequence, token, points, effort.stop);
}

Found<HarmNow::Value> HarmNow::compute(const Foundation& foundation, const Effort& effort) const {
  const Variant& variant = *foundation.variant;
  const Sequence& sequence = foundation.sequence;
  const std::optional<HarmedPair> pair = most_harmed(variant, sequence, token, effort.stop);
  if (!pair) return Value();
  constexpr Index points = 81;
  const auto moment = learning_moment(variant, sequence, token, points, effort.stop);
  if (!moment) return Value();
  return HarmAlong{*pair, moment->rates, losses_along(variant, sequence, moment->step, *pair, moment->rates)};
}

Found<SolveNow::Value> SolveNow::compute(const Foundation& foundation, const Effort& effort) const {
  return converging_solve(*foundation.variant, foundation.sequence, token, chunk_size, effort.stop);
}

Found<CoursesOfTokens::Value> CoursesOfTokens::compute(const Foundation& foundation,
                                                       const Effort& effort) const {
  const Sequence& sequence = foundation.sequence;
  TokenCourses courses;
  try {
    courses.strengths = step_reach(*foundation.variant, sequence, effort.stop);
    if (courses.strengths->has_edge) courses.edges = reach_edges(courses.strengths->reach);
  } catch (const Unsupported& reason) {
    courses.no_strengths = reason.what();
  }
  courses.keeping = channel < 0 ? keeping(sequence) : keeping_of_channel(sequence, channel);
  return courses;
}

Found<RememberedWords::Value> RememberedWords::compute(const Foundation& foundation,
                                                       const Effort& effort) const {
  return remembered(*foundation.variant, foundation.sequence, tokens, moments, effort.stop, effort.progress);
}

Found<KeptSince::Value> KeptSince::compute(const Foundation& foundation, const Effort&) const {
  return kept_between(foundation.sequence, first, last);
}

Found<SpectraOfMemory::Value> SpectraOfMemory::compute(const Foundation& foundation,
                                                       const Effort& effort) const {
  return spectra_at(*foundation.variant, foundation.sequence, tokens, effort.stop);
}

Found<StoredKeys::Value> StoredKeys::compute(const Foundation& foundation, const Effort&) const {
  require_memory_to_ask(*foundation.variant);
  StoredPairs pairs = stored_pairs(*foundation.variant, foundation.sequence, first, count);
  const Index per_token = count > 0 ? pairs.keys.rows() / count : 1;
  Matrix<double> keys(count, pairs.keys.cols());  // of several per token the last
  for (Index t = 0; t < count; ++t) keys.row(t) = pairs.keys.row((t + 1) * per_token - 1);
  pairs.keys = keys;
  KeyPicture picture;
  picture.first = first;
  picture.cosines = interference(pairs, pairs, true);
  picture.directions = key_directions(keys);
  return picture;
}

Found<CapacitySweep::Value> CapacitySweep::compute(const Effort& effort) const {
  CapacityPlan plan{
      .counts = {}, .dk = channels, .dv = channels, .keys = keys, .draws = 4, .settings = settings};
  const Index most = keys == Keys::orthonormal ? channels : 4 * channels;
  for (Index count = 1; count < most; count = count + std::max<Index>(count / 2, 1))
    plan.counts.push_back(count);
  plan.counts.push_back(most);
  return capacity(find_variant(variant), plan, effort.stop, effort.progress);
}

bool erases_by_beta(const Trace& trace) {
  const auto any_step = [&](Purpose purpose, auto test) {
    return std::ranges::any_of(trace.phases, [&](const Phase& phase) {
      return std::ranges::any_of(phase.operations, [&](const Operation& operation) {
        return operation.purpose == purpose && test(operation);
      });
    });
  };
  const auto reads_beta = [](const Operation& operation) {
    const std::vector<std::string> read = operands(operation.equation.expression);
    return std::ranges::find(read, "beta") != read.end();
  };
  const bool reads = any_step(Purpose::read, [](const Operation&) { return true; });
  return (reads && any_step(Purpose::update, reads_beta)) || any_step(Purpose::overlap, reads_beta);
}

Found<WriteReach::Value> WriteReach::compute(const Foundation& foundation, const Effort&) const {
  const auto& trace = foundation.trace(form);
  const Sequence& sequence = foundation.sequence;
  if (!trace || !erases_by_beta(*trace) || !sequence.has("beta") || sequence.has("p")) return Value();
  if (sequence.at("beta").columns() != 1) return Value();
  const std::optional<Stability> known = stability_at(*foundation.variant, sequence, token);
  return known ? Value(known->reach) : Value();
}

}  // namespace palimpsest
