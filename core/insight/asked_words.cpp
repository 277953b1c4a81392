#include "core/insight/asked_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr Index most_occurrences = 64;  // of one word: beyond, their values say nothing new

void require_token(Index token, std::size_t tokens) {
  if (token >= 0 && static_cast<std::size_t>(token) < tokens) return;
  throw InputError(fmt::format("token {}; expected one of the {} tokens, counted from 0", token, tokens));
}

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

/// The words of all strong occurrences, the strongest in front, no more than `most`; if `token` is one of
/// them its word takes the place of the last.
std::vector<AskedWord> strongest_words(const Occurrences& strong, const Vector<double>& strengths,
                                       Index token, std::string_view present, Index most) {
  std::vector<Index> heads;  // the strongest occurrence of each text
  std::map<Index, std::string_view> texts;
  for (const auto& [text, tokens] : strong) {
    heads.push_back(
        *std::ranges::max_element(tokens, [&](Index x, Index y) { return strengths(x) < strengths(y); }));
    texts[heads.back()] = text;
  }
  std::ranges::sort(heads);
  by_strength(heads, strengths);
  const auto kept = heads.begin() + std::min<std::ptrdiff_t>(most, std::ssize(heads));
  const auto own = std::ranges::find_if(heads, [&](Index head) { return texts[head] == present; });
  const bool is_strong =
      own != heads.end() && std::ranges::binary_search(strong.find(present)->second, token);
  if (is_strong && own >= kept && kept != heads.begin()) *(kept - 1) = *own;
  heads.erase(kept, heads.end());
  std::vector<AskedWord> words;
  for (const Index head : heads) {
    const std::string_view text = texts[head];
    words.push_back({.token = strong.find(text)->second.front(), .text = std::string(text)});
  }
  return words;
}

/// A word per distinct text of the pinned tokens, asked with the first of them.
std::vector<AskedWord> pinned_words(std::span<const std::string> labels, std::vector<Index> pinned) {
  std::ranges::sort(pinned);
  std::vector<AskedWord> words;
  for (const Index token : pinned) {
    require_token(token, labels.size());
    const std::string text(word_text(labels[static_cast<std::size_t>(token)]));
    auto known = std::ranges::find(words, text, &AskedWord::text);
    if (known == words.end()) known = words.insert(words.end(), {.token = token, .text = text});
    known->occurrences.push_back(token);
  }
  return words;
}

}  // namespace

StoredPairs last_pair(const Variant& variant, const Sequence& sequence, Index token) {
  require_token(token, static_cast<std::size_t>(sequence.tokens));
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

std::vector<AskedWord> asked_words(std::span<const std::string> labels, const Vector<double>& strengths,
                                   Index token, const WordChoice& choice) {
  require_token(token, std::min(labels.size(), static_cast<std::size_t>(strengths.size())));
  const std::string_view present = word_text(labels[static_cast<std::size_t>(token)]);
  const Occurrences strong = strong_occurrences(labels, strengths, token + 1);
  std::vector<AskedWord> words = choice.pinned.empty()
                                     ? strongest_words(strong, strengths, token, present, choice.most)
                                     : pinned_words(labels, choice.pinned);
  for (AskedWord& word : words) {
    word.is_present = word.text == present;
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
