#pragma once

#include "core/base/random_numbers.h"
#include "core/language/interventions.h"
#include "core/language/tokenizer.h"

namespace palimpsest {

/// A model's reading of a text.
struct TextReading {
  static constexpr Index told = 5;  // continuations of a token

  std::vector<Index> ids;
  std::vector<std::vector<Continuation>> next = {};  // after every token, the likeliest first
  std::vector<double> losses = {};                   // [T - 1], of every token but the first, in nats
  Vector<double> last = {};                          // [pieces] log p of what follows the last token, in nats
  std::vector<HeadInputs> heads = {};                // layers x heads: the inputs of each rule, with changes
  Index heads_of_layer = 1;

  const HeadInputs& head(Index layer, Index index) const {
    return entry(heads, layer * heads_of_layer + index);
  }

  /// The likeliest piece after the last token.
  const Continuation& answer() const { return next.back().front(); }
  /// The mean loss; 0 of one token.
  double loss() const;
};

/// The longest text that is read, in tokens: the models were trained on texts of 256.
inline constexpr Index most_text_tokens = 2048;

/// The pieces of a text, after the piece that starts every text. Throws InputError for a text without words,
/// one that is too long or no UTF-8.
std::vector<Index> text_pieces(const Tokenizer& tokenizer, std::string_view text);

/// Reads a text; `interventions` change the inputs of the heads, which `run` runs. Throws what
/// LanguageModel::logits() does. `last` is the reading of the text whose products are kept.
template <class Scalar>
TextReading read(const LanguageModel<Scalar>& model, const std::vector<Index>& ids,
                 const std::vector<Intervention>& interventions, const RunHead& run,
                 KeptProducts<Scalar>* kept = nullptr, const TextReading* last = nullptr);

/// How the answer changes when one head of a layer is changed, in nats.
struct HeadEffect {
  Index layer = 0;
  Index head = 0;
  std::optional<double> only_adds = {};  // change of the answer's log probability; none: it erases nothing
  double silent = 0;                     // the same when its output is 0
};

/// The effects of all heads on the likeliest piece after the last token, layer by layer; `tell` gets the
/// progress from 0 to 1. Throws Cancelled when asked to stop, and what `run` throws.
template <class Scalar>
std::vector<HeadEffect> head_effects(const LanguageModel<Scalar>& model, const std::vector<Index>& ids,
                                     const std::vector<Intervention>& interventions, const RunHead& run,
                                     const std::function<void(double)>& tell, const std::stop_token& stop);

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
