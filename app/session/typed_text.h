#pragma once

#include "app/session/memory_questions.h"
#include "core/language/reading.h"

namespace palimpsest {

/// A text that a person types, which a small language model reads: one head of one of its layers are data
/// like any others.
struct TypedText {
  std::string model = "delta_net";  // one that ships, or a file of weights beside its tokenizer.json
  std::string text = {};
  Index layer = 0;
  Index head = 0;
  std::vector<Intervention> interventions = {};  // made one after the other

  TypedText as_trained() const {
    return {.model = model, .text = text, .layer = layer, .head = head, .interventions = {}};
  }
};

/// A change of the current head, its layer, or all layers.
Intervention targeted(const TypedText& typed, TextTarget target, std::string kind);

/// The change of the same kind at the same place; null where there is none.
const Intervention* find_intervention(const TypedText& typed, const Intervention& wanted);

/// Puts a change in the place of the one of its kind there, or takes that out.
void put(TypedText& typed, const Intervention& change, bool is_made);

/// "layer 2: only adds", "head 2.2: strength × 0.5": a change that was made.
std::string in_words(const Intervention& intervention);

/// "text:delta_net?layer=2&head=2&do=only-add:2&say=The red jar…": how such data are called.
std::string text_id(const TypedText& typed);

/// Whether `id` is of this kind, and what it says. Throws InputError where it cannot be read.
bool is_text_id(std::string_view id);
TypedText typed_text(std::string_view id);

/// A small language model with its tokenizer.
class SmallModel {
 public:
  /// One that ships by its name ("delta_net"), or a file of weights; what was read stays. Throws InputError
  /// naming the file, and where tokenizer and weights do not belong together.
  static std::shared_ptr<const SmallModel> load(const std::string& name);

  explicit SmallModel(const std::string& name);

  const LanguageModel<float> weights;
  const Tokenizer tokenizer;

  /// What it makes of a text. The last ones are kept, and what the next have in common with them. Throws as
  /// text_pieces() and interventions do.
  std::shared_ptr<const TextReading> read(const std::string& text,
                                          const std::vector<Intervention>& interventions) const;

  /// The mean loss of a text like those that these models were trained on, in nats.
  double usual_loss() const;

 private:
  struct LastReading {
    std::string text;
    std::vector<Intervention> interventions;
    std::shared_ptr<const TextReading> reading;
  };

  struct Kept {
    KeptProducts<float> products;
    std::shared_ptr<const TextReading> reading;  // of the same text
  };

  mutable std::mutex mutex_;  // of what follows
  mutable std::deque<LastReading> last_;
  mutable Kept kept_trained_;
  mutable Kept kept_changed_;
  mutable std::once_flag is_asked_;
  mutable double usual_loss_ = 0;
};

/// The models that ship, by name and in words.
struct ShippedModel {
  const char* name;
  const char* words;
};
std::span<const ShippedModel> shipped_models();

/// The file of weights of a model by its name.
std::filesystem::path model_file(const std::string& name);

struct ReadText {
  TypedText typed;
  std::shared_ptr<const SmallModel> model;
  std::shared_ptr<const TextReading> said;     // with the interventions
  std::shared_ptr<const TextReading> trained;  // as trained; the same where there are none

  double usual_loss = 0;  // SmallModel::usual_loss()

  bool is_changed() const { return said != trained; }
  std::string piece(Index id) const;
  std::string quoted(Index id) const;  // “lamp”
};

/// Reads the text that `id` names, or finds it among those read last. Throws InputError as
/// SmallModel::load(), text_pieces() and interventions do, and for a layer or head that there is not.
std::shared_ptr<const ReadText> read_text(const std::string& id);

/// The data of its layer and head: what enters the rule, changes made, and the text as DataSet::read.
DataSet make_text_data(const std::string& id);

struct StartingText {
  const char* name;
  std::string text;
  std::vector<Index> facts;  // the tokens of the facts in it, if any
};
std::span<const StartingText> starting_texts();

/// The first one, and the layer and head of DeltaNet that hold its facts.
TypedText usual_text();

/// The tokens of what is stored in a text to start from, which the memory is asked about first; none of
/// others.
std::vector<Index> facts_of(const TypedText& typed);

/// "answers “lamp” 1.00", "guesses “lamp” → “bell” 0.41": as trained and now.
std::string answer_in_words(const ReadText& text);

/// Whether the loss is twice that of a text of the kind that the model was trained on.
bool is_surprised(const ReadText& text);

/// What becomes of the answer when single heads are changed: a question.
struct HeadEffects {
  Weak<ReadText> of = {};
  auto operator<=>(const HeadEffects&) const = default;
  Found<std::vector<HeadEffect>> compute(const ReadText& text, const Effort& effort) const;
};

/// What the memory of a typed text returns after a word, as trained or as changed: a question.
struct TextAnswers {
  Weak<ReadText> of = {};
  bool is_changed = false;
  Index token = 0;
  WordChoice words = {};
  auto operator<=>(const TextAnswers&) const = default;
  Found<AnswersAtPlace> compute(const ReadText& text, const Effort& effort) const;
};

/// The rules that could stand in the place of the one that is looked at: a question.
struct FittingRules {
  Weak<ReadText> of = {};
  auto operator<=>(const FittingRules&) const = default;
  Found<std::vector<std::string>> compute(const ReadText& text, const Effort&) const {
    return fitting_rules(text.trained->head(text.typed.layer, text.typed.head), text.typed.head);
  }
};

/// How often a model is right about the texts of the usual experiment, as trained and changed: a question.
struct TriedTexts {
  std::string model = "delta_net";
  std::vector<std::string> interventions = {};  // as to_string() writes them
  auto operator<=>(const TriedTexts&) const = default;
  Found<std::vector<ExperimentRow>> compute(const Effort& effort) const;
};

}  // namespace palimpsest
