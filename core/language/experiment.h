#pragma once

#include "core/base/random_numbers.h"
#include "core/language/reading.h"

namespace palimpsest {

/// A text that ends with a question about one of its facts.
struct AskingText {
  std::string text;                // ends where the answer should follow
  std::string answer;              // " lamp"
  std::vector<std::string> older;  // what the same key held before
};

/// A generator of such texts.
struct TextKind {
  const char* id;
  const char* words;  // what they are about
  AskingText (*make)(RandomNumbers& random, Index overwritten);
};

std::span<const TextKind> text_kinds();

/// The kind with this id; throws InputError listing all.
const TextKind& find_text_kind(std::string_view id);

/// The plan: `texts` texts for each number of times that the queried fact is overwritten.
struct Experiment {
  std::string kind = "jars";
  Index texts = 20;
  Index overwritten = 3;  // at most
  std::uint64_t seed = 1;
  std::vector<Intervention> interventions = {};
};

inline constexpr Index most_experiment_texts = 10'000;
inline constexpr Index most_overwritten = 8;

/// How often a model was right.
struct Answered {
  Index right = 0;
  Index older = 0;  // it named what the key held before
};

/// The results for the texts in which the fact was overwritten `overwritten` times.
struct ExperimentRow {
  Index overwritten = 0;
  Index texts = 0;
  Answered trained = {};
  Answered changed = {};  // with the interventions; as trained where there are none
};

/// Runs it, a row for 0, 1, ... `overwritten` times; `tell` gets the progress from 0 to 1. Throws
/// InputError for a size out of range, Cancelled when asked to stop, and what `run` throws.
template <class Scalar>
std::vector<ExperimentRow> try_texts(const Experiment& experiment, const LanguageModel<Scalar>& model,
                                     const Tokenizer& tokenizer, const RunHead& run,
                                     const std::function<void(double)>& tell, const std::stop_token& stop);

}  // namespace palimpsest
