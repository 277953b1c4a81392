#pragma once

#include <compare>

#include "core/base/text.h"
#include "core/insight/memory_change.h"

namespace palimpsest {

/// A word that a memory is asked with, and whose values are looked for in its answers.
struct AskedWord {
  Index token = 0;                      // asked with its key: the first strong occurrence, or the pinned one
  std::string text;                     // its label without spaces around it
  std::vector<Index> occurrences = {};  // whose values count as this word, ascending; `token` is among them
  bool is_present = false;              // the text of the word at the cursor
  std::string phrase = {};              // phrase_before() of `token`
  bool is_again = false;                // the text of the word at the cursor, asked as at an earlier one
  bool by_query = false;                // asked with the query of `token` in the place of its key
  bool is_written = true;               // by the word at the cursor: a pinned one may come later
};

/// Which words are asked.
struct WordChoice {
  std::vector<Index> pinned = {};   // tokens; empty: those whose writes were strongest
  Index most = 6;                   // at most so many of those
  bool with_present = true;         // the word at the cursor is among those, if it writes at all
  std::optional<Index> query = {};  // this pinned token reads: its row asks with its query

  auto operator<=>(const WordChoice&) const = default;
};

/// What each of `tokens` stores, a row each; of several steps the last, as recall() has it. Throws InputError
/// for a token that there is not.
StoredPairs last_pairs(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens);

/// "The red jar holds a key", "…jar held a golden key": a token with the words before it in its sentence, as
/// far as few letters hold them. Throws InputError for a token that there is not.
std::string phrase_before(std::span<const std::string> labels, Index token);

/// What the tokens of a text write, one entry per token.
struct WordStrengths {
  Vector<double> written = {};  // how strongly: WriteStrengths
  Vector<double> faded = {};    // half-lives since the start, of the channel that stays longest; empty: none
};

/// What the tokens of `sequence` write. Throws Unsupported where no memory answers.
WordStrengths word_strengths(const Variant& variant, const Sequence& sequence);

/// The words to ask at `token`, by their tokens. Unless they are pinned: at most `most` distinct texts whose
/// strongest write up to `token` is at least half as strong as the strongest of all that are not faded, which
/// three half-lives do; the word at the cursor takes the place of the last, if it writes at all. All strong
/// occurrences so far of a text, at most the 64 strongest, count as one word. `labels` has one entry per
/// token.
std::vector<AskedWord> asked_words(std::span<const std::string> labels, const WordStrengths& strengths,
                                   Index token, const WordChoice& choice = {});

/// What a memory answers before and after a change: entry (i, j) is how much of the value of word j is in the
/// answer to the key of word i,
///   C(S) = (S^T k_i / |k_i|^2 as rows) V_B^+,   V_B the values of all occurrences of the words,
/// singular values of V_B below 5 % of the largest cut off, columns of one word added up. A rule whose
/// answers are not linear in its memory is asked with k_i itself, as it reads (memory_answers). A word
/// that reads is asked with its query in the place of its key (asking_query).
struct AnswerTable {
  std::vector<AskedWord> words = {};  // of the rows and of the columns
  bool is_linear = true;              // in the memory: then C(S + D) = C(S) + C(D)
  Matrix<double> before = {};         // [words, words]
  Matrix<double> change = {};         // after - before
  Matrix<double> after = {};
  Vector<double> explained_before = {};    // [words]: 1 - |rest|^2 / |answer|^2, the how much of the answer's
  Vector<double> explained_after = {};     // direction these values explain; 0 of no answer
  std::optional<Index> present = {};       // the row of the word at the cursor
  std::optional<Index> most_changed = {};  // the other row with the largest change of an entry
};

/// The table of `words` for one change of a memory. Throws Unsupported where no memory answers, saying why;
/// InputError for a token that there is not.
AnswerTable answer_table(const Variant& variant, const Sequence& sequence, const MemoryChange& change,
                         std::vector<AskedWord> words);

/// The cosine of two keys from which on they count as one.
inline constexpr double same_key = 0.7;

/// Words that are asked with nearly the same key: of their rows the one of the word at the cursor, else of
/// the last that is written; and the first of these words, whose phrase names them.
struct SharedKey {
  Index row = 0;
  Index first = 0;
};

/// The keys that the words of a table are asked with, each once: those with a cosine of at least 0.7 are the
/// same. In the order of their first words.
std::vector<SharedKey> shared_keys(const Variant& variant, const Sequence& sequence,
                                   const std::vector<AskedWord>& words);

/// How legible a table is: (mean |diagonal| - mean |rest|) / (their sum), 1 where every word answers itself
/// alone; 0 of an empty table or one of fewer than two words.
double legibility(const Matrix<double>& table);

/// Which stored values an output [1, V] resembles: a fit to it, whatever it was made of (who was read is told
/// by effective attention).
struct OutputAnswer {
  std::vector<AskedWord> words = {};  // those that are written already
  Vector<double> amounts = {};        // [words]
  double explained = 0;               // how much of the output's direction these values explain
  bool is_nothing = false;            // the output is 0
  bool is_early = false;              // words are asked, and none of them is written yet
};
OutputAnswer output_answer(const Variant& variant, const Sequence& sequence, const Matrix<double>& o,
                           std::vector<AskedWord> words);

inline constexpr double noticed = 0.2;  // of an entry, or an entry: worth a word

/// What a change did to the answers, in a sentence or two made from its largest entries; says also that
/// nothing is stored.
std::string answer_sentence(const AnswerTable& table);

/// Which words an output resembles, in a sentence; that nothing is read or written, where that is so.
std::string output_sentence(const OutputAnswer& answer);

}  // namespace palimpsest
