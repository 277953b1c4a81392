#include "app/session/learn_answers.h"

#include <tuple>

#include "core/base/error.h"

namespace palimpsest {

namespace {

std::size_t numbers(Index count) { return static_cast<std::size_t>(count) * sizeof(double); }

std::size_t bytes_of(const Weights<double>& weights) {
  Index count = 0;
  for (const Matrix<double>& matrix : weights) count += matrix.size();
  return numbers(count);
}

}  // namespace

std::shared_ptr<const Foundation> OfFoundation::present() const {
  std::shared_ptr<const Foundation> foundation = of.lock();
  if (!foundation) throw Cancelled();
  return foundation;
}

std::string OfFoundation::question() const {
  const std::shared_ptr<const Foundation> foundation = of.lock();
  return foundation ? text_of(*foundation->data) : std::string();
}

std::optional<bool> OfFoundation::is_before(const OfFoundation& other) const {
  if (of.owner_before(other.of)) return true;
  if (other.of.owner_before(of)) return false;
  return std::nullopt;
}

bool LearningNow::operator<(const LearningNow& other) const {
  return is_before(other).value_or(token < other.token);
}

std::shared_ptr<const LearningNow::Value> LearningNow::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = present();
  constexpr Index points = 161;
  return std::make_shared<const Value>(
      learning_moment(*foundation->variant, foundation->sequence, token, points, effort.stop));
}

std::size_t LearningNow::bytes(const Value& moment) {
  if (!moment) return 0;
  const LearningStep& step = moment->step;
  std::size_t bytes = bytes_of(step.problem.at) + bytes_of(step.problem.from) + bytes_of(step.gradient) +
                      bytes_of(step.after.weights) + bytes_of(step.after.moving) + bytes_of(step.iterates);
  for (const WeighedTerm& term : step.problem.terms) bytes += numbers(term.preconditioner.size());
  return bytes;
}

bool HarmNow::operator<(const HarmNow& other) const { return is_before(other).value_or(token < other.token); }

std::shared_ptr<const HarmNow::Value> HarmNow::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = present();
  const Variant& variant = *foundation->variant;
  const Sequence& sequence = foundation->sequence;
  const std::optional<HarmedPair> pair = most_harmed(variant, sequence, token, effort.stop);
  if (!pair) return std::make_shared<const Value>();
  constexpr Index points = 81;
  const auto moment = learning_moment(variant, sequence, token, points, effort.stop);
  if (!moment) return std::make_shared<const Value>();
  return std::make_shared<const Value>(
      HarmAlong{*pair, moment->rates, losses_along(variant, sequence, moment->step, *pair, moment->rates)});
}

std::size_t HarmNow::bytes(const Value& harm) { return harm ? 2 * harm->rates.size() * sizeof(double) : 0; }

bool SolveNow::operator<(const SolveNow& other) const {
  return is_before(other).value_or(std::tie(token, chunk_size) < std::tie(other.token, other.chunk_size));
}

std::shared_ptr<const SolveNow::Value> SolveNow::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = present();
  return std::make_shared<const Value>(
      converging_solve(*foundation->variant, foundation->sequence, token, chunk_size, effort.stop));
}

std::size_t SolveNow::bytes(const Value& solve) {
  return solve ? numbers((solve->steps() + 2) * (solve->exact.size() + 2)) : 0;
}

bool CoursesOfTokens::operator<(const CoursesOfTokens& other) const {
  return is_before(other).value_or(channel < other.channel);
}

std::shared_ptr<const TokenCourses> CoursesOfTokens::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = present();
  const Sequence& sequence = foundation->sequence;
  TokenCourses courses;
  try {
    courses.strengths = step_reach(*foundation->variant, sequence, effort.stop);
    if (courses.strengths->has_edge) courses.edges = reach_edges(courses.strengths->reach);
  } catch (const Unsupported& reason) {
    courses.no_strengths = reason.what();
  }
  courses.keeping = channel < 0 ? keeping(sequence) : keeping_of_channel(sequence, channel);
  return std::make_shared<const TokenCourses>(std::move(courses));
}

std::size_t CoursesOfTokens::bytes(const Value& courses) {
  std::size_t bytes = 0;
  if (courses.strengths) bytes += numbers(2 * courses.strengths->reach.size());
  if (courses.keeping) bytes += numbers(3 * courses.keeping->mean.size());
  return bytes;
}

bool RememberedWords::operator<(const RememberedWords& other) const {
  return is_before(other).value_or(std::tie(tokens, moments) < std::tie(other.tokens, other.moments));
}

std::shared_ptr<const Remembered> RememberedWords::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = present();
  return std::make_shared<const Remembered>(
      remembered(*foundation->variant, foundation->sequence, tokens, moments, effort.stop, effort.progress));
}

std::size_t RememberedWords::bytes(const Value& remembered) { return numbers(remembered.shares.size()); }

bool KeptSince::operator<(const KeptSince& other) const {
  return is_before(other).value_or(std::tie(first, last) < std::tie(other.first, other.last));
}

std::shared_ptr<const KeptSince::Value> KeptSince::compute(const Effort&) const {
  return std::make_shared<const Value>(kept_between(present()->sequence, first, last));
}

bool SpectraOfMemory::operator<(const SpectraOfMemory& other) const {
  return is_before(other).value_or(tokens < other.tokens);
}

std::shared_ptr<const SpectraOfMemory::Value> SpectraOfMemory::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = present();
  return std::make_shared<const Value>(
      spectra_at(*foundation->variant, foundation->sequence, tokens, effort.stop));
}

std::size_t SpectraOfMemory::bytes(const Value& spectra) {
  Index count = 0;
  for (const Spectrum& spectrum : spectra) count += spectrum.singular_values.size();
  return numbers(count);
}

}  // namespace palimpsest
