#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/answers.h"
#include "app/session/computation.h"
#include "core/insight/keeping.h"
#include "core/insight/learning.h"
#include "core/insight/recall.h"
#include "core/insight/spectra.h"
#include "core/insight/stability.h"

// What Learn asks for.

namespace palimpsest {

/// What these answers have in common: they do not keep the computation alive, and those to the same data
/// stand for each other.
struct OfFoundation {
  std::weak_ptr<const Foundation> of;

  std::shared_ptr<const Foundation> present() const;
  std::string question() const;
  bool gone() const { return of.expired(); }

  /// Whether this one comes before, after (false) or neither (nothing).
  std::optional<bool> is_before(const OfFoundation& other) const;
};

/// The step that a token makes; nothing where it makes none.
struct LearningNow : OfFoundation {
  using Value = std::optional<LearningMoment>;

  Index token = 0;

  bool operator<(const LearningNow& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& moment);
};

/// The stored pair that the step of a token harms most, with its loss along that step.
struct HarmAlong {
  HarmedPair pair;
  std::vector<double> rates = {};
  std::vector<double> losses = {};
};

/// Nothing where the token harms none.
struct HarmNow : OfFoundation {
  using Value = std::optional<HarmAlong>;

  Index token = 0;

  bool operator<(const HarmNow& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& harm);
};

/// How the query of a token finds its solution; nothing where the rule solves none.
struct SolveNow : OfFoundation {
  using Value = std::optional<ConvergingSolve>;

  Index token = 0;
  Index chunk_size = 1;

  bool operator<(const SolveNow& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& solve);
};

/// What the rows under the words show of every token.
struct TokenCourses {
  std::optional<StepReach> strengths = {};
  std::string no_strengths = {};  // why there are none
  ReachEdges edges = {};          // of the strengths, where their losses have edges
  std::optional<Keeping> keeping = {};
};

/// What the gates leave of a token's write by a later one.
struct KeptSince : OfFoundation {
  using Value = std::optional<KeptBetween>;

  Index first = 0;
  Index last = 0;

  bool operator<(const KeptSince& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value&) { return sizeof(Value); }
};

struct CoursesOfTokens : OfFoundation {
  using Value = TokenCourses;

  Index channel = -1;  // of the gate; -1: all of them

  bool operator<(const CoursesOfTokens& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& courses);
};

/// What is left of stored words after tokens first .. last.
struct RememberedWords : OfFoundation {
  using Value = Remembered;

  std::vector<Index> tokens = {};
  std::vector<Index> moments = {};

  bool operator<(const RememberedWords& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& remembered);
};

/// The singular values of the memory after so many tokens.
struct SpectraOfMemory : OfFoundation {
  using Value = std::vector<Spectrum>;

  Index tokens = 0;

  bool operator<(const SpectraOfMemory& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& spectra);
};

}  // namespace palimpsest
