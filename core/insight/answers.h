#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/insight/asked_words.h"
#include "core/insight/memory_change.h"

namespace palimpsest {

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

/// The table of `words` for one change of a memory. Costs O(words K V + occurrences^2 V). Throws Unsupported
/// where no memory answers, saying why; InputError for a token that there is not.
AnswerTable answer_table(const Variant& variant, const Sequence& sequence, const MemoryChange& change,
                         std::vector<AskedWord> words);

/// How legible a table is: (mean |diagonal| - mean |rest|) / (their sum), 1 where every word answers itself
/// alone; 0 of an empty table or one of fewer than two words.
double legibility(const Matrix<double>& table);

/// Which stored values an output resembles: the same with `o` [1, V] in the place of an answer. A fit to
/// the output, whatever it was made of: who was read is told by effective attention.
struct OutputAnswer {
  std::vector<AskedWord> words = {};  // those that are written already
  Vector<double> amounts = {};        // [words]
  double explained = 0;               // how much of the output's direction these values explain
  bool is_nothing = false;            // the output is 0
  bool is_early = false;              // words are asked, and none of them is written yet
};
OutputAnswer output_answer(const Variant& variant, const Sequence& sequence, const Matrix<double>& o,
                           std::vector<AskedWord> words);

inline constexpr double noticed_change = 0.2;  // of an entry, or an entry: worth a word

/// What a change did to the answers, a sentence or two made from its largest entries: which word is answered
/// now where another was, a mixture, an answer beyond 1 by more than a quarter, or how little has changed.
/// Says also that nothing is stored.
std::string answer_sentence(const AnswerTable& table);

/// Which words an output resembles, in a sentence; that nothing is read or written, where that is so.
std::string output_sentence(const OutputAnswer& answer);

}  // namespace palimpsest
