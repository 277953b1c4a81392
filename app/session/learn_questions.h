#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "app/session/questions.h"
#include "core/insight/learning.h"
#include "core/insight/memory_change.h"
#include "core/insight/recall.h"
#include "core/insight/spectra.h"
#include "core/insight/stability.h"

// What Learn asks for.

namespace palimpsest {

/// The step that a token makes; nothing where it makes none.
struct LearningNow {
  using Value = std::optional<LearningMoment>;

  Weak<Foundation> of = {};
  Index token = 0;

  auto operator<=>(const LearningNow&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The stored pair that the step of a token harms most, with its loss along that step.
struct HarmAlong {
  HarmedPair pair;
  std::vector<double> rates = {};
  std::vector<double> losses = {};
};

/// Nothing where the token harms none.
struct HarmNow {
  using Value = std::optional<HarmAlong>;

  Weak<Foundation> of = {};
  Index token = 0;

  auto operator<=>(const HarmNow&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// How the query of a token finds its solution; nothing where the rule solves none.
struct SolveNow {
  using Value = std::optional<ConvergingSolve>;

  Weak<Foundation> of = {};
  Index token = 0;
  Index chunk_size = 1;

  auto operator<=>(const SolveNow&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What the rows under the words show of every token.
struct TokenCourses {
  std::optional<StepReach> strengths = {};
  std::string no_strengths = {};  // why there are none
  ReachEdges edges = {};          // of the strengths, where their losses have edges
  std::optional<Keeping> keeping = {};
};

/// What the gates leave of a token's write by a later one.
struct KeptSince {
  using Value = std::optional<KeptBetween>;

  Weak<Foundation> of = {};
  Index first = 0;
  Index last = 0;

  auto operator<=>(const KeptSince&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

struct CoursesOfTokens {
  using Value = TokenCourses;

  Weak<Foundation> of = {};
  Index channel = -1;  // of the gate; -1: all of them

  auto operator<=>(const CoursesOfTokens&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What is left of stored words after tokens first .. last.
struct RememberedWords {
  using Value = Remembered;

  Weak<Foundation> of = {};
  std::vector<Index> tokens = {};
  std::vector<Index> moments = {};

  auto operator<=>(const RememberedWords&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The singular values of the memory after so many tokens.
struct SpectraOfMemory {
  using Value = std::vector<Spectrum>;

  Weak<Foundation> of = {};
  Index tokens = 0;

  auto operator<=>(const SpectraOfMemory&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The keys of some tokens beside each other.
struct KeyPicture {
  Index first = 0;         // token
  Matrix<double> cosines;  // [keys, keys]
  KeyDirections directions;
};

struct StoredKeys {
  using Value = KeyPicture;

  Weak<Foundation> of = {};
  Index first = 0;
  Index count = 0;

  auto operator<=>(const StoredKeys&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// How much fits into a rule's memory.
struct CapacitySweep {
  using Value = std::vector<CapacityPoint>;

  std::string variant = {};
  Index channels = 16;  // of keys and of values
  Keys keys = Keys::random;
  Settings settings = {};

  auto operator<=>(const CapacitySweep&) const = default;
  Found<Value> compute(const Effort& effort) const;
};

/// Whether the trace subtracts what is there now, by beta: then beta |k|^2 decides how far a write goes.
bool erases_by_beta(const Trace& trace);

/// beta |k|^2 of a token's write: it overshoots above 1, and above 2 by more than it had missed. Nothing
/// where another number decides that: without an erase by beta, with a key p of its own to ask with, with
/// several steps per token.
struct WriteReach {
  using Value = std::optional<double>;

  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  Index token = 0;

  auto operator<=>(const WriteReach&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

}  // namespace palimpsest
