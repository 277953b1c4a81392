#include "core/language/reading.h"

#include "core/base/refuse.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using WordList = std::vector<std::string>;

// Words of the texts that the models were trained on; at least three more than overwrites of a fact.
const WordList colours = {"red",   "blue", "green", "black",  "white",  "yellow",
                          "brown", "grey", "pink",  "silver", "golden", "purple"};
const WordList things = {"coin",  "map",    "ring",  "book",   "lamp",    "rope",   "knife",  "stone",
                         "shell", "candle", "clock", "letter", "feather", "button", "needle", "bell",
                         "brush", "mirror", "glove", "bottle", "ribbon",  "drum",   "doll",   "ticket",
                         "mask",  "torch",  "bone",  "pipe",   "card",    "watch",  "plate"};
const WordList boxes = {"box", "bag", "jar", "drawer", "chest", "cup", "basket", "tin"};
const WordList names = {"Anna", "Ben", "Clara", "David", "Emma", "Frank", "Grace", "Henry", "Iris", "Jack"};
const WordList places = {"Paris", "London", "Rome",  "Madrid", "Berlin", "Vienna",  "Oslo",   "Dublin",
                         "Cairo", "Delhi",  "Tokyo", "Lima",   "Boston", "Chicago", "Dallas", "Denver"};
const WordList numbers = {"one",   "two",   "three", "four", "five",   "six",
                          "seven", "eight", "nine",  "ten",  "eleven", "twelve"};

/// `count` different ones of some words.
WordList drawn(RandomNumbers& random, WordList words, Index count) {
  for (Index i = 0; i < count; ++i) {
    const auto left = static_cast<double>(std::ssize(words) - i);
    std::swap(entry(words, i), entry(words, i + static_cast<Index>(random.uniform() * left)));
  }
  words.resize(static_cast<std::size_t>(count));
  return words;
}

/// The sentences of a kind of facts: {0} is the key, {1} the value, the last word of the fact.
struct Telling {
  std::string fact;
  std::string question;
};

constexpr Index told_keys = 3;

/// Facts about some keys and values of these words; the fact of the first key is overwritten, then queried.
AskingText told(const Telling& telling, RandomNumbers& random, const WordList& key_words,
                const WordList& value_words, Index overwritten) {
  const WordList keys = drawn(random, key_words, told_keys);
  const WordList values = drawn(random, value_words, told_keys + overwritten);
  const auto say = [](const std::string& words, const std::string& key, const std::string& value) {
    return fmt::format(fmt::runtime(words), key, value);
  };
  const std::string later = with_small_letter(telling.fact);                   // after "Now"
  const std::string lead = telling.fact.substr(0, telling.fact.find(" {1}"));  // of the answer
  AskingText asking;
  std::string& text = asking.text;
  for (std::size_t i = 0; i < keys.size(); ++i)
    text += (i == 0 ? "" : " ") + say(telling.fact, keys[i], values[i]);
  std::string held = values.front();
  for (std::size_t i = keys.size(); i < values.size(); ++i) {
    asking.older.push_back(" " + held);
    held = values[i];
    text += " Now " + say(later, keys.front(), held);
  }
  text += " " + say(telling.question, keys.front(), "") + " " + say(lead, keys.front(), "");
  asking.answer = " " + held;
  return asking;
}

AskingText about_boxes(RandomNumbers& random, const std::string& box, Index overwritten) {
  return told({"The {0} " + box + " holds a {1}.", "What does the {0} " + box + " hold?"}, random, colours,
              things, overwritten);
}

AskingText about_places(RandomNumbers& random, Index overwritten) {
  return told({"{0} lives in {1}.", "Where does {0} live?"}, random, names, places, overwritten);
}

AskingText about_doors(RandomNumbers& random, Index overwritten) {
  return told({"The number of the {0} door is {1}.", "Which number is on the {0} door?"}, random, colours,
              numbers, overwritten);
}

constexpr TextKind all_text_kinds[] = {
    {"jars", "three jars and what they hold",
     [](RandomNumbers& random, Index overwritten) { return about_boxes(random, "jar", overwritten); }},
    {"boxes", "the same with boxes, bags, drawers and others",
     [](RandomNumbers& random, Index overwritten) {
       return about_boxes(random, drawn(random, boxes, 1).front(), overwritten);
     }},
    {"places", "where three people live", about_places},
    {"doors", "the numbers of three doors", about_doors},
};

}  // namespace

std::span<const TextKind> text_kinds() { return all_text_kinds; }

const TextKind& find_text_kind(std::string_view id) {
  return find_row(all_text_kinds, id, &TextKind::id,
                  fmt::format("there is no kind of text \"{}\"; expected one of", shown(id)));
}

template <class Scalar>
std::vector<ExperimentRow> try_texts(const Experiment& experiment, const LanguageModel<Scalar>& model,
                                     const Tokenizer& tokenizer, const RunHead& run,
                                     const std::function<void(double)>& tell, const std::stop_token& stop) {
  const TextKind& kind = find_text_kind(experiment.kind);
  const auto require = [](const char* what, Index value, Index least, Index most) {
    if (value < least || value > most) refuse("{} is {}; expected {} to {}", what, value, least, most);
  };
  require("the number of texts", experiment.texts, 1, most_experiment_texts);
  require("the number of overwrites", experiment.overwritten, 0, most_overwritten);
  KeptProducts<Scalar> kept;  // of a text as trained: the layers below a change need not be computed again
  const auto answer = [&](const std::vector<Index>& ids, const RunHead& by) {
    const Matrix<Scalar> logits = model.logits(ids, by, &kept);
    return tokenizer.piece(continuations(logits, logits.rows() - 1, 1).front().piece);
  };
  const auto count = [](Answered& answered, const AskingText& asking, const std::string& said) {
    if (said == asking.answer) ++answered.right;
    if (is_among(said, asking.older)) ++answered.older;
  };
  RandomNumbers random(experiment.seed, "texts");
  std::vector<ExperimentRow> rows;
  const auto all = static_cast<double>((experiment.overwritten + 1) * experiment.texts);
  double done = 0;
  for (Index overwritten = 0; overwritten <= experiment.overwritten; ++overwritten) {
    ExperimentRow row{.overwritten = overwritten, .texts = experiment.texts};
    for (Index i = 0; i < experiment.texts; ++i) {
      stop_if_asked(stop);
      const AskingText asking = kind.make(random, overwritten);
      const std::vector<Index> ids = text_pieces(tokenizer, asking.text);
      count(row.trained, asking, answer(ids, run));
      if (!experiment.interventions.empty())
        count(row.changed, asking, answer(ids, with(experiment.interventions, run)));
      tell(++done / all);
    }
    if (experiment.interventions.empty()) row.changed = row.trained;
    rows.push_back(row);
  }
  return rows;
}

template std::vector<ExperimentRow> try_texts(const Experiment&, const LanguageModel<double>&,
                                              const Tokenizer&, const RunHead&,
                                              const std::function<void(double)>&, const std::stop_token&);
template std::vector<ExperimentRow> try_texts(const Experiment&, const LanguageModel<float>&,
                                              const Tokenizer&, const RunHead&,
                                              const std::function<void(double)>&, const std::stop_token&);

}  // namespace palimpsest
