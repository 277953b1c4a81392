#pragma once

#include "core/base/text.h"
#include "core/insight/memory_change.h"

namespace palimpsest {

/// A token text that a memory is queried with, and whose values are searched for in what it returns.
struct AskedWord {
  Index token = 0;                      // whose key queries: the first strong occurrence, or the pinned one
  std::string text;                     // its label without spaces around it
  std::vector<Index> occurrences = {};  // whose values count as this text, ascending; includes `token`
  bool is_present = false;              // the text of the token at the cursor
  std::string phrase = {};              // phrase_before() of `token`
  bool is_again = false;                // the text of the token at the cursor, queried as at an earlier one
  bool by_query = false;                // queried with the query of `token` instead of its key
  bool is_written = true;               // up to the cursor: a pinned one may come later
};

/// Which token texts are queried.
struct WordChoice {
  std::vector<Index> pinned = {};   // tokens; empty: those whose writes were strongest
  Index most = 6;                   // the largest number of those
  bool with_present = true;         // includes the text at the cursor, if it writes at all
  std::optional<Index> query = {};  // this pinned token reads: its row uses its query

  auto operator<=>(const WordChoice&) const = default;
};

/// The pair that each of `tokens` stores, a row each; of several steps the last, as in recall(). Throws
/// InputError for a token that does not exist.
StoredPairs last_pairs(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens);

/// Between key and value in the label of a stored pair: "red → key".
inline constexpr std::string_view pair_sign = " → ";

/// "The red jar holds a key", "…jar held a golden key": a token with the text before it in its sentence,
/// shortened to a few letters; a stored pair alone. Throws InputError for a token that does not exist.
std::string phrase_before(std::span<const std::string> labels, Index token);

/// How strongly the tokens of a text write, one entry per token.
struct WordStrengths {
  Vector<double> written = {};  // WriteStrengths
  Vector<double> faded = {};    // half-lives since the start, of the channel that decays least; empty: none
};

/// The strengths of the tokens of `sequence`. Throws Unsupported where no memory can be queried.
WordStrengths word_strengths(const Variant& variant, const Sequence& sequence);

/// The texts to query at `token`, by their tokens. Unless they are pinned: at most `most` distinct texts
/// whose strongest write up to `token` is at least half as strong as the strongest of all writes of the last
/// three half-lives; the text at the cursor replaces the last, if it writes at all. All strong occurrences so
/// far of a text, at most the 64 strongest, count as one. `labels` has one entry per token.
std::vector<AskedWord> asked_words(std::span<const std::string> labels, const WordStrengths& strengths,
                                   Index token, const WordChoice& choice = {});

/// What a memory returns before and after a change: entry (i, j) is how much of the value of text j is in
/// what the memory returns for the key of text i,
///   C(S) = (S^T k_i / |k_i|^2 as rows) V_B^+,   V_B the values of all occurrences of the texts,
/// singular values of V_B below 5 % of the largest cut off, columns of one text added up. A rule that is not
/// linear in its memory is queried with k_i itself, as it reads (memory_answers). A token that reads uses its
/// query instead of its key (asking_query).
struct AnswerTable {
  std::vector<AskedWord> words = {};  // of the rows and of the columns
  bool is_linear = true;              // in the memory: then C(S + D) = C(S) + C(D)
  Matrix<double> before = {};         // [words, words]
  Matrix<double> change = {};         // after - before
  Matrix<double> after = {};
  Vector<double> explained_before = {};    // [words]: 1 - |rest|^2 / |result|^2, how much of the direction of
  Vector<double> explained_after = {};     // what is returned these values explain; 0 if it is 0
  std::optional<Index> present = {};       // the row of the text at the cursor
  std::optional<Index> most_changed = {};  // the other row with the largest change of an entry
};

/// The table of `words` for one change of a memory. Throws Unsupported where no memory can be queried, saying
/// why; InputError for a token that does not exist.
AnswerTable answer_table(const Variant& variant, const Sequence& sequence, const MemoryChange& change,
                         std::vector<AskedWord> words);

/// The cosine of two keys from which on they count as one.
inline constexpr double same_key = 0.7;

/// Texts that are queried with nearly the same key: their row is that of the text at the cursor, else of the
/// one written last; the first of them names them by its phrase.
struct SharedKey {
  Index row = 0;
  Index first = 0;
};

/// The distinct keys that the texts of a table are queried with: those with a cosine of at least 0.7 are the
/// same. In the order of their first texts.
std::vector<SharedKey> shared_keys(const Variant& variant, const Sequence& sequence,
                                   const std::vector<AskedWord>& words);

/// How legible a table is: (mean |diagonal| - mean |rest|) / (their sum), 1 where every key returns only its
/// own text; 0 for a table of zeros or of fewer than two texts.
double legibility(const Matrix<double>& table);

/// Which stored values an output [1, V] resembles: a fit, not the tokens that were read (those are in
/// effective attention).
struct OutputAnswer {
  std::vector<AskedWord> words = {};  // those that are written already
  Vector<double> amounts = {};        // [words]
  double explained = 0;               // how much of the output's direction these values explain
  bool is_nothing = false;            // the output is 0
  bool is_early = false;              // words are asked, and none of them is written yet
};
OutputAnswer output_answer(const Variant& variant, const Sequence& sequence, const Matrix<double>& o,
                           std::vector<AskedWord> words);

inline constexpr double noticed = 0.2;  // an entry, or its change, from which on it is mentioned

/// How a change affects what the memory returns, in one or two sentences from its largest entries; also says
/// if nothing is stored.
std::string answer_sentence(const AnswerTable& table);

/// Which texts an output resembles, in a sentence; or that nothing is read or written.
std::string output_sentence(const OutputAnswer& answer);

}  // namespace palimpsest
