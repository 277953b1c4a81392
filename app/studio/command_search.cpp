#include "app/studio/command_search.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <tuple>

#include "core/base/text.h"

namespace palimpsest {

namespace {

/// The small letter of a Latin, Greek or Cyrillic capital; anything else stays.
char32_t small(char32_t letter) {
  const auto in = [&](char32_t first, char32_t last) { return letter >= first && letter <= last; };
  const bool capital =
      in(U'A', U'Z') || (in(U'À', U'Þ') && letter != U'×') || in(U'Α', U'Ω') || in(U'А', U'Я');
  return capital ? letter + 0x20 : letter;
}

/// `text` in small letters. Those beyond the first 2048 code points have none.
std::string lower(const std::string& text) {
  std::string folded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const bool is_pair = (byte(i) & 0xE0U) == 0xC0U && i + 1 < text.size();
    if (is_pair) {
      append_utf8(folded, small((byte(i) & 0x1FU) << 6U | (byte(i + 1) & 0x3FU)));
      ++i;
    } else if (byte(i) < 0x80) {
      append_utf8(folded, small(byte(i)));
    } else {
      folded += text[i];
    }
  }
  return folded;
}

bool is_letter(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 0x80 || std::isalnum(value) != 0;
}

constexpr int nowhere = 2;

/// How well `word` is met: 0 where a word of `text` begins with it, 1 inside of one, else `nowhere`.
int distance(const std::string& text, const std::string& word) {
  int best = nowhere;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (at == 0 || !is_letter(text[at - 1])) return 0;
    best = 1;
  }
  return best;
}

/// The words that are typed, in small letters.
std::vector<std::string> words_of(std::string_view typed) {
  std::istringstream stream(lower(valid_utf8(typed)));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

TypedWords::TypedWords(std::string_view typed) : words_(words_of(typed)) {}

bool TypedWords::all_in(std::string_view text) const {
  const std::string small_text = lower(valid_utf8(text));
  return std::ranges::all_of(
      words_, [&](const std::string& word) { return small_text.find(word) != std::string::npos; });
}

bool has_words(std::string_view text, std::string_view typed) { return TypedWords(typed).all_in(text); }

std::vector<const Command*> search(std::initializer_list<std::span<const Command>> tables,
                                   std::string_view typed, std::span<const std::string> recent,
                                   const MoreWords& more) {
  const TypedWords words(typed);
  struct Hit {
    int distance;
    std::ptrdiff_t age;
    const Command* command;
  };
  std::vector<Hit> hits;
  for (const std::span<const Command> table : tables) {
    for (const Command& command : table) {
      const std::string text = lower(command.words + ' ' + command.group + ' ' + command.id);
      std::string
          beside;  // made where it is needed: most commands are found by their own words, or not at all
      Hit hit{0, std::ranges::find(recent, command.id) - recent.begin(), &command};
      const bool met = std::ranges::all_of(words.all(), [&](const std::string& word) {
        int how = distance(text, word);
        if (how == nowhere) {
          if (beside.empty())
            beside = lower(command.explained + ' ' + (more ? more(command) : std::string()));
          how += distance(beside, word);
        }
        hit.distance += how;
        return how < 2 * nowhere;
      });
      if (met) hits.push_back(hit);
    }
  }
  std::ranges::stable_sort(hits, {}, [](const Hit& hit) { return std::tuple(hit.distance, hit.age); });
  std::vector<const Command*> found;
  for (const Hit& hit : hits) found.push_back(hit.command);
  return found;
}

std::vector<const Command*> search(std::span<const Command> table, std::string_view typed,
                                   std::span<const std::string> recent) {
  return search({table}, typed, recent);
}

}  // namespace palimpsest
