#include "app/session/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include "app/session/paths.h"
#include "app/session/story.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using Directions = std::vector<std::vector<double>>;

template <std::size_t count>
std::string word(const std::array<const char*, count>& words, Index index) {
  const auto round = index / static_cast<Index>(count);
  const char* name = words[static_cast<std::size_t>(index) % count];
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

/// Stores a value under every key, with strengths between `least_beta` and 1, then asks for all of them in
/// turn.
void store_and_ask(Story& story, const Directions& keys, double least_beta) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto index = static_cast<Index>(i);
    story.store(fmt::format("{} → {}", colour(index), thing(index)), keys[i],
                story.random.unit(story.size.dv), story.random.uniform(least_beta, 1));
  }
  for (std::size_t i = 0; story.left() > 0; i = (i + 1) % keys.size()) {
    story.ask(fmt::format("{} ?", colour(static_cast<Index>(i))), keys[i]);
  }
}

Index half(const Story& story) { return (story.size.tokens + 1) / 2; }

void tell_random(Story& story) {
  Directions keys;
  for (Index i = 0; i < half(story); ++i) keys.push_back(story.random.unit(story.size.dk));
  store_and_ask(story, keys, 0.7);
}

void tell_orthonormal(Story& story) {
  store_and_ask(story, apart(story.random, std::min(half(story), story.size.dk), story.size.dk), 1);
}

/// Any two keys have the chosen cosine: of N directions w_i at right angles, key i is a w_i + b sum_j w_j
/// with a = sqrt(1 - c) and a + N b = sqrt(1 - c + N c).
void tell_correlated(Story& story) {
  const Index count = std::min(half(story), story.size.dk);
  Directions keys = apart(story.random, count, story.size.dk);
  std::vector<double> sum(static_cast<std::size_t>(story.size.dk), 0.0);
  for (const std::vector<double>& direction : keys) {
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += direction[d];
  }
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
  const Directions keys = apart(story.random, count, story.size.dk);
  Index things = 0;
  const auto store = [&](Index key) {
    story.store(fmt::format("{} → {}", colour(key), thing(things++)), keys[static_cast<std::size_t>(key)],
                story.random.unit(story.size.dv));
  };
  for (Index key = 0; key < count; ++key) store(key);
  for (Index round = 0; story.left() > 0; ++round) {
    for (Index key = count > 1 ? round % 2 : 0; key < count; key += 2) store(key);
    for (Index key = 0; key < count; ++key) {
      story.ask(fmt::format("{} ?", colour(key)), keys[static_cast<std::size_t>(key)]);
    }
  }
}

/// One key gets a value and later another one, beside a key that keeps its own; nothing fades.
void tell_one_fact(Story& story) {
  const Directions keys = apart(story.random, 2, story.size.dk);
  const bool has_room = story.size.dk > 1;
  story.least_kept = 1;
  const auto store = [&](const char* label, std::size_t key) {
    story.store(label, keys[key], story.random.unit(story.size.dv));
  };
  if (has_room) store("blue → shell", 1);
  store("red → key", 0);
  story.ask("red ?", keys[0]);
  store("red → drum", 0);
  for (bool red = true; story.left() > 0; red = !red || !has_room)
    story.ask(red ? "red ?" : "blue ?", keys[red ? 0 : 1]);
}

/// "The red box holds a key." several times, then "What does the red box hold?" in another order.
void tell_recall(Story& story) {
  constexpr Index words = 7;  // of a sentence of either kind
  const Index sentences = story.size.tokens / words;
  const Index questions = std::max<Index>(sentences / 3, 1);
  const Index facts = std::min(sentences - questions, story.size.dk);
  const Directions keys = apart(story.random, facts, story.size.dk);
  for (Index fact = 0; fact < facts; ++fact) {
    story.say_words(fmt::format("The {} box holds a", colour(fact)));
    story.store(thing(fact), keys[static_cast<std::size_t>(fact)], story.random.unit(story.size.dv));
    story.say(".");
  }
  Index asked = 0;
  for (Index question = facts; question < sentences; ++question) {
    asked = story.random.below(facts);
    story.say_words(fmt::format("What does the {} box hold", colour(asked)));
    story.ask("?", keys[static_cast<std::size_t>(asked)]);
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
  const std::vector<double> key = story.random.unit(story.size.dk);
  story.least_kept = 0.99;
  story.say_words("The secret word is");
  story.store("river", key, story.random.unit(story.size.dv));
  story.say(".");
  std::string_view rest;
  while (story.left() > words_of_question) {
    if (rest.empty()) rest = filler[static_cast<std::size_t>(story.random.below(std::ssize(filler)))];
    const std::size_t space = std::min(rest.find(' '), rest.size());
    const std::string word(rest.substr(0, space));
    rest.remove_prefix(std::min(space + 1, rest.size()));
    if (story.size.dk == 1) {  // there is no other direction to write to
      story.say(word);
      continue;
    }
    std::vector<double> other = story.random.unit(story.size.dk);
    for (int pass = 0; pass < 2; ++pass) {  // the second pass takes out what rounding left
      remove_part(other, key);
      normalise(other);
    }
    story.store(word, other, story.random.unit(story.size.dv), story.random.uniform(0.1, 0.5));
  }
  story.say_words("What is the secret word");
  story.ask("?", key);
}

/// A few keys whose values wander: each is stored anew in turn, and now and then one is asked for.
void tell_drift(Story& story) {
  static constexpr std::array places = {"kitchen", "garden", "cellar", "attic"};
  constexpr double stride = 0.3;
  const Index count = std::min<Index>(std::ssize(places), story.size.dk);
  const Directions keys = apart(story.random, count, story.size.dk);
  Directions values;
  for (Index i = 0; i < count; ++i) values.push_back(story.random.unit(story.size.dv));
  story.least_kept = 0.9;
  for (Index round = 0; story.left() > 0; ++round) {
    for (Index i = 0; i < count; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const std::vector<double> step = story.random.unit(story.size.dv);
      for (std::size_t d = 0; d < step.size(); ++d) values[place][d] += stride * step[d];
      story.store(fmt::format("{} is {}", places[place], round + 1), keys[place], values[place],
                  story.random.uniform(0.5, 1));
    }
    const auto asked = static_cast<std::size_t>(round % count);
    story.ask(fmt::format("{} ?", places[asked]), keys[asked]);
  }
}

/// Verses: words are stored under their places in a line, then the line is recited; the next line takes the
/// same places.
void tell_copy(Story& story) {
  const Index length =
      std::clamp<Index>(story.size.tokens / 4, 1, story.size.dk);  // so that there are two lines
  const Directions places = apart(story.random, length, story.size.dk);
  Index words = 0;
  while (story.left() > 0) {
    const Index first = words;
    for (const std::vector<double>& place : places) {
      story.store(thing(words++), place, story.random.unit(story.size.dv));
    }
    for (Index i = 0; i < length; ++i) {
      story.ask(fmt::format("{} ?", thing(first + i)), places[static_cast<std::size_t>(i)]);
    }
  }
}

struct Row {
  Preset preset;
  void (*tell)(Story&);
  const char* notes;
};

/// All presets: to add one, add a row.
const std::array<Row, 9>& table() {
  static const std::array<Row, 9> rows = {{
      {{"random", "Random unit keys", "Values are stored under random keys, then asked for.", 1},
       tell_random,
       "Watch how the answers blur: random keys overlap a little, so every stored value leaks into the "
       "others. The more tokens and the fewer key channels, the worse."},
      {{"orthonormal", "Orthonormal keys", "Values are stored under keys at right angles, then asked for.",
        1},
       tell_orthonormal,
       "Keys at right angles never touch each other: every rule without decay answers exactly. There is "
       "room for as many of them as the keys have channels."},
      {{"correlated",
        "Correlated keys",
        "Values are stored under keys that all look alike, then asked for.",
        1,
        {},
        true},
       tell_correlated,
       "Any two keys have the same cosine. Linear attention answers with a mixture of everything; watch "
       "how the delta rule subtracts what is there already before it writes."},
      {{"overwrite", "Overwrite", "A key gets a value, and later another one.", 3},
       tell_overwrite,
       "Some colours get a second thing. Where a colour is asked for, the delta rule answers the new "
       "thing; linear attention answers the sum of the old and the new."},
      {{"one_fact",
        "One fact, overwritten",
        "A red thing is stored, and later another one, with four numbers each.",
        6,
        {.tokens = 6, .dk = 4, .dv = 4}},
       tell_one_fact,
       "Small enough to check by hand. Where \"red → drum\" is written, the delta rule takes out what the "
       "memory answers for red, the key, and nothing of what it holds for blue; linear attention answers "
       "the sum."},
      {{"recall", "Associative recall", "Facts are told in sentences, then asked for.", 14},
       tell_recall,
       "A fact is written at the thing in each box and read at the question mark. The other words write "
       "nothing."},
      {{"needle", "Needle", "One word to remember in a long text about other things.", 12},
       tell_needle,
       "The secret is written once, early, and read at the very end. The text in between never touches "
       "its direction, so only decay can lose it: compare DeltaNet with the rules that forget."},
      {{"drift", "Drift", "A few values change slowly and are measured again and again.", 1},
       tell_drift,
       "What was true early is wrong later. A rule that never forgets answers with the sum of everything "
       "it was ever told; watch what decay and the delta rule do about it."},
      {{"copy", "Copy", "A line of words is read, then recited in the same order.", 2},
       tell_copy,
       "Each word is stored under its place in the line. The next line uses the same places: only a rule "
       "that overwrites recites it without the line before."},
  }};
  return rows;
}

constexpr std::string_view preset_prefix = "preset:";
constexpr std::string_view capture_prefix = "capture:";

const Row& find_row(std::string_view id) {
  std::string known;
  for (const Row& row : table()) {
    if (row.preset.id == id) return row;
    known += (known.empty() ? "" : ", ") + row.preset.id;
  }
  throw InputError(fmt::format("there is no preset \"{}\"; known: {}", shown(id), known));
}

struct Request {
  const Row& row;
  PresetSize size;
};

template <class Number>
Number whole_number(std::string_view name, std::string_view digits) {
  Number number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw InputError(fmt::format("{} is \"{}\"; expected a whole number", name, shown(digits)));
  }
  return number;
}

void require(std::string_view name, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  throw InputError(fmt::format("{} is {}; expected {} to {}", name, value, least, most));
}

double cosine_of(std::string_view digits) {
  double cosine = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), cosine);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || !(cosine >= 0 && cosine <= largest_cosine))
    throw InputError(fmt::format("cosine is \"{}\"; expected a number from 0 to {}", digits, largest_cosine));
  return cosine;
}

/// Takes "preset:NAME?T=32&K=16&V=16&seed=1" apart; what is not said is standard.
Request parse(std::string_view id) {
  if (!id.starts_with(preset_prefix)) {
    throw InputError(
        fmt::format("\"{}\" is not a preset; expected {}NAME?T=32&K=16&V=16&seed=1", id, preset_prefix));
  }
  std::string_view rest = id.substr(preset_prefix.size());
  const auto take = [&](char until) {
    const std::size_t end = std::min(rest.find(until), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
  };
  Request request{find_row(take('?')), {}};
  request.size = request.row.preset.usual;
  std::vector<std::string_view> given;
  while (!rest.empty()) {
    const std::string_view part = take('&');
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const std::string_view digits = part.substr(std::min(equals + 1, part.size()));
    if (std::ranges::find(given, name) != given.end())
      throw InputError(fmt::format("{} is given twice in \"{}\"", name, id));
    given.push_back(name);
    if (name == "T")
      request.size.tokens = whole_number<Index>(name, digits);
    else if (name == "K")
      request.size.dk = whole_number<Index>(name, digits);
    else if (name == "V")
      request.size.dv = whole_number<Index>(name, digits);
    else if (name == "seed")
      request.size.seed = whole_number<std::uint64_t>(name, digits);
    else if (name == "cosine" && request.row.preset.has_cosine)
      request.size.cosine = cosine_of(digits);
    else
      throw InputError(fmt::format("\"{}\" is not a size of this preset; known: T, K, V, seed{}", shown(name),
                                   request.row.preset.has_cosine ? ", cosine" : ""));
  }
  require("T", request.size.tokens, request.row.preset.fewest_tokens, most_preset_tokens);
  require("K", request.size.dk, 1, most_preset_channels);
  require("V", request.size.dv, 1, most_preset_channels);
  const Index work = request.size.tokens * request.size.dk * request.size.dv;
  if (work > most_preset_work) {
    throw InputError(fmt::format("T x K x V is {} x {} x {} = {}; expected at most {}, which takes seconds",
                                 request.size.tokens, request.size.dk, request.size.dv, work,
                                 most_preset_work));
  }
  return request;
}

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> all = [] {
    std::vector<Preset> collected;
    for (const Row& row : table()) collected.push_back(row.preset);
    return collected;
  }();
  return all;
}

std::string preset_id(const Preset& preset, const PresetSize& size) {
  return fmt::format("{}{}?T={}&K={}&V={}&seed={}", preset_prefix, preset.id, size.tokens, size.dk, size.dv,
                     size.seed) +
         (preset.has_cosine ? fmt::format("&cosine={}", size.cosine) : "");
}

std::string usual_preset_id(const Preset& preset) { return preset_id(preset, preset.usual); }

const Preset* preset_of(std::string_view id) {
  if (!id.starts_with(preset_prefix)) return nullptr;
  const std::string_view name =
      id.substr(preset_prefix.size()).substr(0, id.find('?') - preset_prefix.size());
  const auto all = presets();
  const auto found = std::ranges::find(all, name, &Preset::id);
  return found == all.end() ? nullptr : &*found;
}

DataSet make_preset(const std::string& id) {
  const Request request = parse(id);
  Story story(request.size);
  request.row.tell(story);
  DataSet data = story.finish();
  data.id = preset_id(request.row.preset, request.size);
  data.title = fmt::format("{} · {} tokens", request.row.preset.label, data.tokens);
  data.notes = request.row.notes;
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

namespace {

/// The captures that the program ships, by name.
std::vector<std::string> capture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(asset("captures"))) {
    if (entry.path().extension() == ".npz") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

DataSet open_capture(const std::string& id) {
  const std::string_view name = id.starts_with(capture_prefix)
                                    ? std::string_view(id).substr(capture_prefix.size())
                                    : std::string_view();
  const bool is_plain = !name.empty() && name.find_first_of("/\\") == std::string_view::npos && name != "..";
  if (!is_plain)
    throw InputError(fmt::format("\"{}\" is not a capture; expected {}NAME", id, capture_prefix));
  std::filesystem::path path;
  try {
    path = asset(fmt::format("captures/{}.npz", name));
  } catch (const Error&) {
    throw InputError(
        fmt::format("there is no capture \"{}\"; known: {}", shown(name), fmt::join(capture_names(), ", ")));
  }
  DataSet data = open_file(path);
  data.id = id;
  return data;
}

DataSet open_data(const std::string& id) {
  if (id.starts_with(preset_prefix)) return make_preset(id);
  if (id.starts_with(capture_prefix)) return open_capture(id);
  return open_file(id);
}

}  // namespace palimpsest
