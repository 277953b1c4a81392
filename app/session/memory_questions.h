#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "app/session/computation.h"
#include "app/session/learn_questions.h"
#include "app/session/questions.h"
#include "core/insight/answers.h"
#include "core/insight/memory_change.h"

// What is asked of a memory.

namespace palimpsest {

/// What a memory answers at a place, in a table and in words.
struct AnswersAtPlace {
  AnswerTable table = {};
  double legibility = 0;      // of the table after the change
  std::string sentence = {};  // made from the largest changes
  std::string change = {};    // what they are: "what the write changes"
  Index token = 0;            // under the cursor
  OutputAnswer output = {};   // which stored values that token's output resembles
  std::string output_sentence = {};
};

/// How strongly every token of one head writes, [T], in the data as they came: no edit or setting changes
/// which words are asked. Under the rule that the data belong to, where they name one and it takes them, so
/// that every rule is asked with the same words; else under the chosen one. Computed when first asked. Throws
/// Unsupported where no memory answers.
const Vector<double>& word_strengths(const Foundation& foundation);

/// The words that are asked at a token, wherever that is shown. Throws as word_strengths() and asked_words()
/// do.
std::vector<AskedWord> words_asked(const Foundation& foundation, Index token, const WordChoice& choice = {});

inline auto parts_of(const AskedWord& word) { return std::tie(word.text, word.occurrences, word.phrase); }
inline auto parts_of(const AnswerTable& table) {
  return std::tie(table.words, table.before, table.change, table.after);
}

/// These words: a question.
struct WordsAsked {
  using Value = std::vector<AskedWord>;

  Weak<Foundation> of = {};
  Index token = 0;
  WordChoice words = {};

  auto operator<=>(const WordsAsked&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

inline auto operator<=>(const Cursor& x, const Cursor& y) {
  return std::tie(x.block, x.operation, x.row, x.entered) <=>
         std::tie(y.block, y.operation, y.row, y.entered);
}

/// What the memory answers at the place of a cursor: a question.
struct MemoryAnswers {
  using Value = AnswersAtPlace;

  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  Cursor cursor = {};
  WordChoice words = {};

  auto operator<=>(const MemoryAnswers&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What one head of the data remembers, small.
struct HeadAnswers {
  AnswerTable table = {};   // after the first half of the tokens
  double legibility = 0;    // of it
  std::string reason = {};  // why there is no table; empty if there is one
};

/// The tables of all heads under the chosen rule, and the most legible of them: a question. After half of the
/// tokens: at the end a memory that fades has lost most words, and every head has written some by then.
/// Costs one run over half of the tokens for each head.
struct HeadTables {
  struct Value {
    std::vector<HeadAnswers> heads;
    Index most_legible = 0;
  };

  Weak<Foundation> of = {};
  WordChoice words = {};

  auto operator<=>(const HeadTables&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The head that data open at under the rule of `choice`: of a capture that whose table is the most legible,
/// as HeadTables has it; the first where no memory answers, and of other data. Throws Cancelled.
Index opening_head(const DataSet& data, const Choice& choice, std::stop_token stop = {});

class Session;

/// What a token's query gets before and after the token's own write: a question.
struct ReadNow {
  using Value = ReadMoments;

  Weak<Foundation> of = {};
  Index token = 0;

  auto operator<=>(const ReadNow&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Whether the option says when outputs read the memory (core/variants/variants.h).
bool is_read_option(const Option& option);

/// Whether outputs read the memory before their own update (core/variants/variants.h).
bool is_read_before(const Settings& settings);

/// Why the outputs of a computation can read one memory only; empty where choose_read() has an effect.
std::string no_read_choice(const Foundation& foundation);

/// Lets the session's rule read before its own update, or after it: a setting of the rule as any other.
void choose_read(Session& session, bool before);

/// Which memory the outputs of a computation read, or why there is but one that they can, in a sentence;
/// `read` of the token at the cursor, null while it is not known.
std::string reading_in_words(const Foundation& foundation, const ReadMoments* read);

}  // namespace palimpsest
