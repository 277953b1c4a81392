#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/matrix.h"
#include "core/contract/variant.h"

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

/// What `token` stores; of several steps the last, as recall() has it. One row each. Throws
/// InputError for a token that there is not.
StoredPairs last_pair(const Variant& variant, const Sequence& sequence, Index token);

/// Stored keys [N, K] as words are asked with them: divided by |k|^2 where the memory answers linearly, so
/// that a write with beta 1 into an empty memory answers 1 however long its key is.
Matrix<double> asking_keys(const Variant& variant, Matrix<double> keys);

/// The query of `token` [1, K] as a word is asked with it: of a memory that answers linearly its direction,
/// as long as the key that the token stores, so that its row compares with the others'; else as it reads.
Matrix<double> asking_query(const Variant& variant, const Sequence& sequence, Index token);

/// What the memory answers for such keys: [N, V]; 0 where nothing is in it yet that could be divided by.
Matrix<double> asked_answers(const Variant& variant, const Sequence& sequence, const NamedStates& memory,
                             const Matrix<double>& keys);

/// The label without spaces around it: what makes two tokens the same word.
std::string_view word_text(std::string_view label);

/// "The red jar holds a key", "…jar held a golden key": a token with the words before it in its sentence, as
/// far as few letters hold them. A key carries what came before its word. Throws InputError for a token that
/// there is not.
std::string phrase_before(std::span<const std::string> labels, Index token);

/// The words to ask at `token`, by their tokens. Unless they are pinned: at most `most` distinct texts whose
/// strongest write up to `token` is at least half as strong as the strongest of all, the strongest ones; the
/// word at the cursor takes the place of the last, if it writes at all. All strong occurrences so far of a
/// text, at most the 64 strongest, count as one word. `labels` and `strengths` (WriteStrengths) hold one
/// entry per token. Throws InputError for a token that there is not.
std::vector<AskedWord> asked_words(std::span<const std::string> labels, const Vector<double>& strengths,
                                   Index token, const WordChoice& choice = {});

}  // namespace palimpsest
