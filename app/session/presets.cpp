#include "app/session/presets.h"

#include <fmt/ranges.h>

#include <numeric>

#include "app/session/paths.h"
#include "app/session/typed_text.h"
#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

using Directions = std::vector<std::vector<double>>;

/// Not by Eigen: its order of summation depends on the processor.
double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

void normalise(std::vector<double>& vector) {
  const double length = std::sqrt(dot(vector, vector));
  for (double& number : vector) number /= length;
}

/// Adds `factor` times `other`.
void add(std::vector<double>& vector, double factor, const std::vector<double>& other) {
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] += factor * other[i];
}

constexpr std::size_t longest_text = 1200;

/// "The red box holds a key. …" from words, "red → key, blue → coin, …" from longer labels.
std::string text_of(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) {
    if (text.size() > longest_text) return text + " …";
    const bool is_word = label.find(' ') == std::string::npos;
    if (!text.empty() && label != "." && label != "?") text += is_word ? " " : ", ";
    text += label;
  }
  return text;
}

}  // namespace

/// Generates a sequence token by token. Tokens beyond the last one are ignored.
class Story {
 public:
  // A stream without a name: the numbers of a seed are the same everywhere.
  explicit Story(const PresetSize& told) : size(told), random_(told.seed, "") {}

  const PresetSize size;
  double least_kept = 0.98;  // alpha of a token is random between this and 1

  /// Tokens that are still to be generated.
  Index left() const { return size.tokens - static_cast<Index>(labels_.size()); }

  double uniform(double low, double high) { return low + (high - low) * random_.uniform(); }

  /// 0 .. count - 1.
  Index below(Index count) { return static_cast<Index>(random_.uniform() * static_cast<double>(count)); }

  /// A random direction of norm 1.
  std::vector<double> key() { return unit(size.dk); }
  std::vector<double> value() { return unit(size.dv); }

  /// `count` keys: orthogonal as long as the dimension allows, random after that.
  Directions keys_apart(Index count) {
    Directions keys;
    for (Index i = 0; i < count; ++i) keys.push_back(i < size.dk ? key_apart(keys) : key());
    return keys;
  }

  /// A key orthogonal to all of these.
  std::vector<double> key_apart(const Directions& others) {
    std::vector<double> own = key();
    for (int pass = 0; pass < 2; ++pass) {  // the second pass removes what rounding left
      for (const std::vector<double>& other : others) add(own, -dot(own, other), other);
      normalise(own);
    }
    return own;
  }

  /// Stores `value` under `key` with strength `beta`, and reads it back.
  void store(std::string label, const std::vector<double>& key, const std::vector<double>& value,
             double beta = 1) {
    tell(std::move(label), key, key, value, beta);
  }

  /// Reads what is stored under `key` and writes nothing.
  void ask(std::string label, const std::vector<double>& key) {
    const std::vector<double> nothing(static_cast<std::size_t>(size.dv), 0.0);
    tell(std::move(label), key, this->key(), nothing, 0);
  }

  /// A token without effect: it writes nothing and reads something random.
  void say(std::string word) { ask(std::move(word), key()); }

  /// The same, but the gate keeps only the factor `kept` of the memory.
  void forget(std::string label, double kept) {
    const bool has_room = left() > 0;
    say(std::move(label));
    if (has_room) alpha_.back() = kept;
  }

  /// Several such words, with spaces in between.
  void say_words(std::string_view words) {
    while (!words.empty()) say(std::string(take_until(words, ' ')));
  }

  /// Hands over the arrays, labels and text.
  DataSet finish() {
    DataSet data;
    const Index T = size.tokens;
    data.arrays.emplace("q", Array({T, size.dk}, std::move(q_)));
    data.arrays.emplace("k", Array({T, size.dk}, std::move(k_)));
    data.arrays.emplace("v", Array({T, size.dv}, std::move(v_)));
    data.arrays.emplace("alpha", Array({T}, std::move(alpha_)));
    data.arrays.emplace("beta", Array({T}, std::move(beta_)));
    data.advice = {{"softmax", "scale", 16,
                    "keys of norm 1 give softmax nearly equal weights; a larger scale separates them."}};
    data.text = text_of(labels_);
    data.labels = std::move(labels_);
    measure(data);
    return data;
  }

 private:
  std::vector<double> unit(Index length) {
    std::vector<double> vector(static_cast<std::size_t>(length));
    for (double& number : vector) number = random_.normal();
    normalise(vector);
    return vector;
  }

  void tell(std::string label, const std::vector<double>& q, const std::vector<double>& k,
            const std::vector<double>& v, double beta) {
    if (left() == 0) return;
    q_.insert(q_.end(), q.begin(), q.end());
    k_.insert(k_.end(), k.begin(), k.end());
    v_.insert(v_.end(), v.begin(), v.end());
    alpha_.push_back(uniform(least_kept, 1));
    beta_.push_back(beta);
    labels_.push_back(std::move(label));
  }

  RandomNumbers random_;
  std::vector<double> q_, k_, v_, alpha_, beta_;
  std::vector<std::string> labels_;
};

namespace {

std::string word(std::span<const char* const> words, Index index) {
  const Index round = index / std::ssize(words);
  const char* name = entry(words, index % std::ssize(words));
  return round == 0 ? name : fmt::format("{} {}", name, round + 1);
}

/// What keys are called.
std::string colour(Index index) {
  static constexpr std::array colours = {"red",    "blue",   "green",  "black", "white",  "pink",
                                         "brown",  "silver", "golden", "grey",  "purple", "orange",
                                         "yellow", "violet", "ivory",  "copper"};
  return word(colours, index);
}

/// What values are called.
std::string thing(Index index) {
  static constexpr std::array things = {"key",    "coin",   "map",     "lamp",    "rope",   "bell",
                                        "shell",  "pen",    "book",    "drum",    "ring",   "knife",
                                        "candle", "stone",  "feather", "whistle", "mirror", "apple",
                                        "ribbon", "button", "spoon",   "clock",   "flute",  "compass"};
  return word(things, index);
}

/// Stores a value under every key, with strengths from `least_beta` to 1, then asks for all of them in turn.
void store_and_ask(Story& story, const Directions& keys, double least_beta) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto index = static_cast<Index>(i);
    story.store(fmt::format("{} → {}", colour(index), thing(index)), keys[i], story.value(),
                story.uniform(least_beta, 1));
  }
  for (std::size_t i = 0; story.left() > 0; i = (i + 1) % keys.size())
    story.ask(fmt::format("{} ?", colour(static_cast<Index>(i))), keys[i]);
}

Index half(const Story& story) { return (story.size.tokens + 1) / 2; }

void tell_random(Story& story) {
  Directions keys;
  for (Index i = 0; i < half(story); ++i) keys.push_back(story.key());
  store_and_ask(story, keys, 0.7);
}

void tell_orthonormal(Story& story) {
  store_and_ask(story, story.keys_apart(std::min(half(story), story.size.dk)), 1);
}

/// Any two keys have the chosen cosine c: with N orthogonal directions w_i, key i is a w_i + b sum_j w_j with
/// a = sqrt(1 - c) and a + N b = sqrt(1 - c + N c).
void tell_correlated(Story& story) {
  const Index count = std::min(half(story), story.size.dk);
  Directions keys = story.keys_apart(count);
  std::vector<double> sum(static_cast<std::size_t>(story.size.dk), 0.0);
  for (const std::vector<double>& direction : keys) add(sum, 1, direction);
  const auto number = static_cast<double>(count);
  const double own = std::sqrt(1 - story.size.cosine);
  const double common = (std::sqrt(1 - story.size.cosine + number * story.size.cosine) - own) / number;
  for (std::vector<double>& key : keys) {
    for (std::size_t d = 0; d < key.size(); ++d) key[d] = own * key[d] + common * sum[d];
  }
  store_and_ask(story, keys, 0.7);
}

/// Every key gets a value; then, round after round, every other key gets a new one and all are asked for.
void tell_overwrite(Story& story) {
  const Index count = std::clamp<Index>(story.size.tokens / 4, 1, std::min<Index>(story.size.dk, 16));
  const Directions keys = story.keys_apart(count);
  Index things = 0;
  const auto store = [&](Index key) {
    story.store(fmt::format("{} → {}", colour(key), thing(things++)), entry(keys, key), story.value());
  };
  for (Index key = 0; key < count; ++key) store(key);
  for (Index round = 0; story.left() > 0; ++round) {
    for (Index key = count > 1 ? round % 2 : 0; key < count; key += 2) store(key);
    for (Index key = 0; key < count; ++key) story.ask(fmt::format("{} ?", colour(key)), entry(keys, key));
  }
}

/// One key gets a value and later another one, beside a key that keeps its own; without decay.
void tell_one_fact(Story& story) {
  const Directions keys = story.keys_apart(2);
  const bool has_room = story.size.dk > 1;
  story.least_kept = 1;
  const auto store = [&](const char* label, std::size_t key) {
    story.store(label, keys[key], story.value());
  };
  if (has_room) store("blue → shell", 1);
  store("red → key", 0);
  story.ask("red ?", keys[0]);
  store("red → drum", 0);
  for (bool red = true; story.left() > 0; red = !red || !has_room)
    story.ask(red ? "red ?" : "blue ?", keys[red ? 0 : 1]);
}

/// Several documents, with strong decay between them: facts about three colours must not be returned in the
/// next one, which overwrites the second colour and does not mention the first.
void tell_documents(Story& story) {
  constexpr double kept = 0.02;
  const Directions keys = story.keys_apart(3);
  story.least_kept = 1;
  Index things = 0;
  const auto store = [&](Index key) {
    story.store(fmt::format("{} → {}", colour(key), thing(things++)), entry(keys, key), story.value());
  };
  for (const Index key : {0, 1, 2}) store(key);
  while (story.left() > 0) {
    story.forget("new document", kept);
    for (const Index key : {1, 1, 2}) store(key);
    for (const Index key : {0, 1, 2}) story.ask(fmt::format("{} ?", colour(key)), entry(keys, key));
  }
}

/// "The red box holds a key." several times, then "What does the red box hold?" in another order.
void tell_recall(Story& story) {
  constexpr Index words = 7;  // of a sentence of either kind
  const Index sentences = story.size.tokens / words;
  const Index questions = std::max<Index>(sentences / 3, 1);
  const Index facts = std::min(sentences - questions, story.size.dk);
  const Directions keys = story.keys_apart(facts);
  for (Index fact = 0; fact < facts; ++fact) {
    story.say_words(fmt::format("The {} box holds a", colour(fact)));
    story.store(thing(fact), entry(keys, fact), story.value());
    story.say(".");
  }
  Index asked = 0;
  for (Index question = facts; question < sentences; ++question) {
    asked = story.below(facts);
    story.say_words(fmt::format("What does the {} box hold", colour(asked)));
    story.ask("?", entry(keys, asked));
  }
  story.say_words(
      fmt::format("The {} box holds a {}", colour(asked), thing(asked)));  // as far as there is room
}

constexpr std::array filler = {"It was a quiet day .",       "Rain fell on the roof .",
                               "The train left on time .",   "Two birds crossed the yard .",
                               "The bread was still warm .", "Somebody closed a window ."};

/// One word to remember, then a long text that has nothing to do with it, then the question.
void tell_needle(Story& story) {
  constexpr Index words_of_question = 6;
  const std::vector<double> key = story.key();
  story.least_kept = 0.99;
  story.say_words("The secret word is");
  story.store("river", key, story.value());
  story.say(".");
  std::string_view rest;
  while (story.left() > words_of_question) {
    if (rest.empty()) rest = entry(filler, story.below(std::ssize(filler)));
    const std::string word(take_until(rest, ' '));
    if (story.size.dk == 1) {  // there is no other direction to write to
      story.say(word);
      continue;
    }
    const std::vector<double> other = story.key_apart({key});
    story.store(word, other, story.value(), story.uniform(0.1, 0.5));
  }
  story.say_words("What is the secret word");
  story.ask("?", key);
}

/// A few keys with drifting values: each is stored again in turn, and now and then one is queried.
void tell_drift(Story& story) {
  static constexpr std::array places = {"kitchen", "garden", "cellar", "attic"};
  constexpr double stride = 0.3;
  const Index count = std::min<Index>(std::ssize(places), story.size.dk);
  const Directions keys = story.keys_apart(count);
  Directions values;
  for (Index i = 0; i < count; ++i) values.push_back(story.value());
  story.least_kept = 0.9;
  for (Index round = 0; story.left() > 0; ++round) {
    for (Index i = 0; i < count; ++i) {
      add(entry(values, i), stride, story.value());
      story.store(fmt::format("{} is {}", entry(places, i), round + 1), entry(keys, i), entry(values, i),
                  story.uniform(0.5, 1));
    }
    const auto asked = static_cast<std::size_t>(round % count);
    story.ask(fmt::format("{} ?", places[asked]), keys[asked]);
  }
}

/// Verses: words are stored under their places in a line, which is then recited; the next takes the same.
void tell_copy(Story& story) {
  const Index length =
      std::clamp<Index>(story.size.tokens / 4, 1, story.size.dk);  // so that there are two lines
  const Directions places = story.keys_apart(length);
  Index words = 0;
  while (story.left() > 0) {
    const Index first = words;
    for (const std::vector<double>& place : places) story.store(thing(words++), place, story.value());
    for (Index i = 0; i < length; ++i) story.ask(fmt::format("{} ?", thing(first + i)), entry(places, i));
  }
}

constexpr std::string_view preset_prefix = "preset:";
constexpr std::string_view capture_prefix = "capture:";

const Preset& find_preset(std::string_view id) {
  return find_row(presets(), id, &Preset::id, fmt::format("there is no preset \"{}\"; known", shown(id)));
}

struct Request {
  const Preset& preset;
  PresetSize size;
};

template <class Number>
void read_number(std::string_view name, std::string_view digits, Number& number) {
  const auto read = parse_all<Number>(digits);
  if (!read) refuse("{} is \"{}\"; expected a whole number", name, shown(digits));
  number = *read;
}

void require(std::string_view name, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  refuse("{} is {}; expected {} to {}", name, value, least, most);
}

double read_cosine(std::string_view digits) {
  const auto cosine = parse_all<double>(digits);
  if (!cosine || !(*cosine >= 0 && *cosine <= largest_cosine))
    refuse("cosine is \"{}\"; expected a number from 0 to {}", digits, largest_cosine);
  return *cosine;
}

/// Takes "preset:NAME?T=32&K=16&V=16&seed=1" apart; what is not said is standard.
Request parse(std::string_view id) {
  if (!id.starts_with(preset_prefix))
    refuse("\"{}\" is not a preset; expected {}NAME?T=32&K=16&V=16&seed=1", id, preset_prefix);
  std::string_view rest = id.substr(preset_prefix.size());
  Request request{find_preset(take_until(rest, '?')), {}};
  request.size = request.preset.usual;
  std::vector<std::string_view> given;
  while (!rest.empty()) {
    std::string_view digits = take_until(rest, '&');
    const std::string_view name = take_until(digits, '=');
    if (is_among(name, given)) refuse("{} is given twice in \"{}\"", name, id);
    given.push_back(name);
    if (name == "T")
      read_number(name, digits, request.size.tokens);
    else if (name == "K")
      read_number(name, digits, request.size.dk);
    else if (name == "V")
      read_number(name, digits, request.size.dv);
    else if (name == "seed")
      read_number(name, digits, request.size.seed);
    else if (name == "cosine" && request.preset.has_cosine)
      request.size.cosine = read_cosine(digits);
    else
      refuse("\"{}\" is not a size of this preset; known: T, K, V, seed{}", shown(name),
             request.preset.has_cosine ? ", cosine" : "");
  }
  require("T", request.size.tokens, request.preset.fewest_tokens, most_preset_tokens);
  require("K", request.size.dk, 1, most_preset_channels);
  require("V", request.size.dv, 1, most_preset_channels);
  constexpr Index most_work = Index{1} << 29;  // the cost of one run of the recurrence
  const Index work = request.size.tokens * request.size.dk * request.size.dv;
  if (work > most_work)
    refuse("T x K x V is {} x {} x {} = {}; expected at most {}, which takes seconds", request.size.tokens,
           request.size.dk, request.size.dv, work, most_work);
  return request;
}

/// The captures that the program ships, by name.
std::vector<std::string> capture_names() {
  return made_of(files_ending(asset("captures"), ".npz"),
                 [](const auto& file) { return file.stem().string(); });
}

}  // namespace

std::span<const Preset> presets() {
  static const Preset all[] = {
      {"random", "Random unit keys", "Values are stored under random keys, then queried.",
       "Random keys are not orthogonal, so every stored value leaks into what the memory returns for the "
       "others. More tokens or fewer key channels make it worse.",
       tell_random},
      {"orthonormal", "Orthonormal keys", "Values are stored under orthogonal keys, then queried.",
       "Orthogonal keys do not interfere: every rule without decay returns the exact value. There can be as "
       "many of them as key channels.",
       tell_orthonormal},
      {"correlated", "Correlated keys", "Values are stored under similar keys, then queried.",
       "Any two keys have the same cosine. Linear attention returns a mixture of all values. The delta rule "
       "subtracts the prediction before it writes.",
       tell_correlated, 1, true},
      {"overwrite", "Overwrite", "A key gets a value, and later another one.",
       "Some colours get a second thing. For the query of such a colour, the delta rule returns the new "
       "thing. Linear attention returns the sum of the old and the new.",
       tell_overwrite, 3},
      {"one_fact",
       "One fact, overwritten",
       "A red thing is stored, and later another one, with four channels each.",
       "Small enough to check by hand. At \"red → drum\" the delta rule erases the old value of red and "
       "keeps that of blue. Linear attention returns the sum of both values of red.",
       tell_one_fact,
       6,
       false,
       {.tokens = 6, .dk = 4, .dv = 4}},
      {"documents",
       "Two documents",
       "Facts of one document, then of another, in which the old ones no longer count.",
       "The second document overwrites blue and says nothing of red. A rule that only adds returns "
       "everything. A gate alone mixes both values of blue. The delta rule alone still returns the old value "
       "of red. Only a rule with both is right about all three.",
       tell_documents,
       10,
       false,
       {.tokens = 10, .dk = 16, .dv = 16}},
      {"recall", "Associative recall", "Facts are told in sentences, then queried.",
       "A fact is written at the thing in each box and read at the question mark. The other tokens write "
       "nothing.",
       tell_recall, 14},
      {"needle", "Needle", "One token to recall after a long text about other things.",
       "The secret is written once, early, and read at the very end. All other keys are orthogonal to its "
       "key, so only decay can lose it. Compare DeltaNet with the rules that decay.",
       tell_needle, 12},
      {"drift", "Drift", "A few values change slowly and are measured again and again.",
       "Early values become outdated. A rule without decay or erase returns the sum of all of them. Compare "
       "it with a decay and with the delta rule.",
       tell_drift},
      {"copy", "Copy", "A line of tokens is read, then repeated in the same order.",
       "Each token is stored under its position in the line. The next line uses the same positions. Only a "
       "rule that overwrites repeats it without the line before.",
       tell_copy, 2},
  };
  return all;
}

std::string preset_id(const Preset& preset, const PresetSize& size) {
  return fmt::format("{}{}?T={}&K={}&V={}&seed={}", preset_prefix, preset.id, size.tokens, size.dk, size.dv,
                     size.seed) +
         (preset.has_cosine ? fmt::format("&cosine={}", size.cosine) : "");
}

std::string whole_preset_id(const std::string& id) {
  const Request request = parse(id);
  return preset_id(request.preset, request.size);
}

std::string usual_preset_id(const Preset& preset) { return preset_id(preset, preset.usual); }

const Preset* preset_of(std::string_view id) {
  if (!id.starts_with(preset_prefix)) return nullptr;
  const std::string_view name =
      id.substr(preset_prefix.size()).substr(0, id.find('?') - preset_prefix.size());
  return row_called(presets(), name, &Preset::id);
}

DataSet make_preset(const std::string& id) {
  const Request request = parse(id);
  Story story(request.size);
  request.preset.tell(story);
  DataSet data = story.finish();
  data.id = preset_id(request.preset, request.size);
  data.title = fmt::format("{} · {} tokens", request.preset.label, data.tokens);
  data.notes = request.preset.notes;
  data.source = fmt::format("made up, seed {}", request.size.seed);
  return data;
}

PresetSize preset_size(const std::string& id) {
  try {
    return parse(id).size;
  } catch (const InputError&) {
    return {};
  }
}

DataSet open_capture(const std::string& id) {
  const std::string_view name = id.starts_with(capture_prefix)
                                    ? std::string_view(id).substr(capture_prefix.size())
                                    : std::string_view();
  const bool is_plain = !name.empty() && name.find_first_of("/\\") == std::string_view::npos && name != "..";
  if (!is_plain) refuse("\"{}\" is not a capture; expected {}NAME", id, capture_prefix);
  std::filesystem::path path;
  try {
    path = asset(fmt::format("captures/{}.npz", name));
  } catch (const Error&) {
    refuse("there is no capture \"{}\"; known: {}", shown(name), fmt::join(capture_names(), ", "));
  }
  DataSet data = open_file(path.string());
  data.id = id;
  data.doubts.clear();  // we know what it holds
  return data;
}

bool is_found_by_name(std::string_view id) {
  return id.starts_with(preset_prefix) || id.starts_with(capture_prefix) || is_text_id(id);
}

DataSet open_data(const std::string& id) {
  if (is_text_id(id)) return make_text_data(id);
  if (id.starts_with(preset_prefix)) return make_preset(id);
  if (id.starts_with(capture_prefix)) return open_capture(id);
  return open_file(id);
}

}  // namespace palimpsest
