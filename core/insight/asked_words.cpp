#include "core/insight/asked_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/contract/sequence.h"
#include "core/operator/program.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr Index most_occurrences = 64;  // of one word: beyond, their values say nothing new

/// The strong occurrences of every text among the first `count` tokens.
using Occurrences = std::map<std::string_view, std::vector<Index>>;
Occurrences strong_occurrences(std::span<const std::string> labels, const Vector<double>& strengths,
                               Index count) {
  Occurrences found;
  const double strongest = strengths.head(count).maxCoeff();
  for (Index t = 0; t < count; ++t) {
    if (strengths(t) > 0 && strengths(t) >= strongest / 2)
      found[word_text(labels[static_cast<std::size_t>(t)])].push_back(t);
  }
  return found;
}

/// The strongest of `tokens` in front.
void by_strength(std::vector<Index>& tokens, const Vector<double>& strengths) {
  std::ranges::stable_sort(tokens, [&](Index x, Index y) { return strengths(x) > strengths(y); });
}

/// The words of all strong occurrences, the strongest in front, no more than `most`. The word at `token`,
/// where it is to be among them and writes at all, takes the place of the last.
std::vector<AskedWord> strongest_words(const Occurrences& strong, const Vector<double>& strengths,
                                       Index token, std::string_view present, const WordChoice& choice) {
  std::vector<Index> heads;  // the strongest occurrence of each text
  std::map<Index, std::string_view> texts;
  for (const auto& [text, tokens] : strong) {
    heads.push_back(
        *std::ranges::max_element(tokens, [&](Index x, Index y) { return strengths(x) < strengths(y); }));
    texts[heads.back()] = text;
  }
  std::ranges::sort(heads);
  by_strength(heads, strengths);
  heads.resize(std::min<std::size_t>(heads.size(), static_cast<std::size_t>(choice.most)));
  std::vector<AskedWord> words;
  for (const Index head : heads) {
    const std::string_view text = texts[head];
    words.push_back({.token = strong.find(text)->second.front(), .text = std::string(text)});
  }
  const bool is_missing = choice.with_present && choice.most > 0 && strengths(token) > 0 &&
                          std::ranges::find(words, present, &AskedWord::text) == words.end();
  if (!is_missing) return words;
  if (std::ssize(words) == choice.most) words.pop_back();
  const auto known = strong.find(present);
  words.push_back(
      {.token = known == strong.end() ? token : known->second.front(), .text = std::string(present)});
  return words;
}

bool is_space(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

/// Whether the last labels up to `token` bring the spaces between words along.
bool have_spaces(std::span<const std::string> labels, Index token) {
  constexpr Index enough = 64;
  for (Index t = token; t >= std::max<Index>(token - enough, 0); --t) {
    const std::string& label = labels[static_cast<std::size_t>(t)];
    if (label.size() > 1 && is_space(label.front())) return true;
  }
  return false;
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

/// Whether nothing before this label belongs to the same sentence.
bool ends_sentence(std::string_view label) {
  const std::string_view text = word_text(label);
  return label.find('\n') != std::string_view::npos || text.ends_with('.') || text.ends_with('?') ||
         text.ends_with('!') || text.starts_with("<|");
}

/// A word per distinct text of the pinned tokens, asked with the first of them.
std::vector<AskedWord> pinned_words(std::span<const std::string> labels, std::vector<Index> pinned) {
  std::ranges::sort(pinned);
  std::vector<AskedWord> words;
  for (const Index token : pinned) {
    require_token(token, std::ssize(labels));
    const std::string text(word_text(labels[static_cast<std::size_t>(token)]));
    auto known = std::ranges::find(words, text, &AskedWord::text);
    if (known == words.end()) known = words.insert(words.end(), {.token = token, .text = text});
    known->occurrences.push_back(token);
  }
  return words;
}

}  // namespace

StoredPairs last_pair(const Variant& variant, const Sequence& sequence, Index token) {
  require_token(token, sequence.tokens);
  const StoredPairs pairs = stored_pairs(variant, sequence, token, 1);
  return {pairs.keys.bottomRows(1), pairs.values.bottomRows(1)};
}

Matrix<double> asking_keys(const Variant& variant, Matrix<double> keys) {
  if (!answers_linearly(variant)) return keys;
  for (Index row = 0; row < keys.rows(); ++row) {
    const double squares = keys.row(row).squaredNorm();
    if (squares > 0) keys.row(row) /= squares;
  }
  return keys;
}

Matrix<double> asking_query(const Variant& variant, const Sequence& sequence, Index token) {
  require_token(token, sequence.tokens);
  const Rows<double> row{.sequence = sequence, .first = token, .count = 1};
  if (!answers_linearly(variant)) return row.scaled_q();
  Matrix<double> query = row("q");
  const double length = query.norm();
  const double key = last_pair(variant, sequence, token).keys.norm();
  if (length > 0 && key > 0) query /= length * key;
  return query;
}

Matrix<double> asked_answers(const Variant& variant, const Sequence& sequence, const NamedStates& memory,
                             const Matrix<double>& keys) {
  const Matrix<double> answers = memory_answers(variant, sequence, memory, keys);
  const bool is_empty = std::ranges::all_of(memory, [](const auto& state) { return state.second.isZero(0); });
  if (is_empty && !answers.allFinite()) return Matrix<double>::Zero(answers.rows(), answers.cols());
  return answers;
}

std::string_view word_text(std::string_view label) {
  constexpr std::string_view spaces = " \t\n\r";
  const std::size_t first = label.find_first_not_of(spaces);
  if (first == std::string_view::npos) return label;
  return label.substr(first, label.find_last_not_of(spaces) - first + 1);
}

std::string phrase_before(std::span<const std::string> labels, Index token) {
  require_token(token, std::ssize(labels));
  constexpr std::size_t most_letters = 24;
  const bool spaced = have_spaces(labels, token);
  std::string phrase(word_text(labels[static_cast<std::size_t>(token)]));
  const auto gap_of = [&](const std::string& label) {
    return !spaced || (!label.empty() && is_space(label.front())) ? " " : "";
  };
  std::string gap = gap_of(labels[static_cast<std::size_t>(token)]);
  for (Index t = token - 1; t >= 0; --t) {
    const std::string& label = labels[static_cast<std::size_t>(t)];
    if (ends_sentence(label)) return phrase;
    std::string longer = std::string(word_text(label)) + gap + phrase;
    if (letters(longer) > most_letters) return "…" + phrase;
    phrase = std::move(longer);
    gap = gap_of(label);
  }
  return phrase;
}

std::vector<AskedWord> asked_words(std::span<const std::string> labels, const Vector<double>& strengths,
                                   Index token, const WordChoice& choice) {
  require_token(token, std::min<Index>(std::ssize(labels), strengths.size()));
  const std::string_view present = word_text(labels[static_cast<std::size_t>(token)]);
  const Occurrences strong = strong_occurrences(labels, strengths, token + 1);
  std::vector<AskedWord> words = choice.pinned.empty()
                                     ? strongest_words(strong, strengths, token, present, choice)
                                     : pinned_words(labels, choice.pinned);
  for (AskedWord& word : words) {
    word.is_present = word.text == present;
    word.phrase = phrase_before(labels, word.token);
    word.is_written = word.token <= token;
    word.is_again = word.is_present && word.token != token;
    word.by_query = word.token == choice.query;
    std::vector<Index> others;
    if (const auto found = strong.find(word.text); found != strong.end()) others = found->second;
    by_strength(others, strengths);
    others.resize(std::min<std::size_t>(others.size(), most_occurrences));
    word.occurrences.push_back(word.token);
    word.occurrences.insert(word.occurrences.end(), others.begin(), others.end());
    std::ranges::sort(word.occurrences);
    const auto repeated = std::ranges::unique(word.occurrences);
    word.occurrences.erase(repeated.begin(), repeated.end());
  }
  std::ranges::sort(words, {}, &AskedWord::token);
  return words;
}

}  // namespace palimpsest
