#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/answers.h"
#include "app/session/computation.h"
#include "core/insight/answers.h"

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

/// These words: an answer.
struct WordsAsked {
  using Value = std::vector<AskedWord>;

  std::weak_ptr<const Foundation> of;
  Index token = 0;
  WordChoice words = {};

  bool operator<(const WordsAsked& other) const;
  std::string question() const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& words);
  bool gone() const { return of.expired(); }
};

/// What the memory answers at the place of a cursor: an answer.
struct MemoryAnswers {
  using Value = AnswersAtPlace;

  std::weak_ptr<const Foundation> of;
  Form form = Form::recurrent;
  Cursor cursor = {};
  WordChoice words = {};

  bool operator<(const MemoryAnswers& other) const;
  std::string question() const;
  std::shared_ptr<const AnswersAtPlace> compute(const Effort& effort) const;
  static std::size_t bytes(const AnswersAtPlace& answers);
  bool gone() const { return of.expired(); }
};

/// What one head of the data remembers, small.
struct HeadAnswers {
  AnswerTable table = {};   // after the first half of the tokens
  double legibility = 0;    // of it
  std::string reason = {};  // why there is no table; empty if there is one
};

/// The tables of all heads under the chosen rule, and the most legible of them: an answer. After half of the
/// tokens: at the end a memory that fades has lost most words, and every head has written some by then.
/// Costs one run over half of the tokens for each head.
struct HeadTables {
  struct Value {
    std::vector<HeadAnswers> heads;
    Index most_legible = 0;
  };

  std::weak_ptr<const Foundation> of;
  WordChoice words = {};

  bool operator<(const HeadTables& other) const;
  std::string question() const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& tables);
  bool gone() const { return of.expired(); }
};

/// The head that data open at under the rule of `choice`: of a capture that whose table is the most legible,
/// as HeadTables has it; the first where no memory answers, and of other data. Throws Cancelled.
Index opening_head(const DataSet& data, const Choice& choice, std::stop_token stop = {});

}  // namespace palimpsest
