#pragma once

#include "app/session/attention_questions.h"
#include "app/session/memory_questions.h"
#include "app/session/verify_questions.h"

// The sentences of the workspaces at the level "story", for new users.

namespace palimpsest {

/// A piece of a sentence; answers are highlighted.
struct Spoken {
  std::string words;
  bool is_answer = false;
};

/// "Asked “The red jar holds a …”, the memory said bell. Now it says lamp.": for the key whose answer changes
/// most; `token` is the token that makes the step, in quotes.
std::vector<Spoken> headline(const MemoryStory& story, const std::string& token);

/// The part of such a headline about the memory before.
std::vector<Spoken> first_half(std::vector<Spoken> headline);

/// The two sides of the label "red → key": the key "red" and the value "key"; other labels whole.
std::string asked_part(const std::string& label);
std::string answered_part(const std::string& label);

/// "The red jar holds a …": the common beginning of the texts that share a key.
std::string question_of(const AnswerTable& table, const SharedKey& key);

/// The key whose answer changes most, by at least `noticed`; null if none does.
const SharedKey* told_key(const MemoryStory& story);

/// How much the answers for the other keys change; empty if there are none.
std::string others_in_words(const MemoryStory& story);

/// "“lamp” is written: the loss falls from 2.03 to 0.244.": what a step did to its loss.
std::string learn_headline(const LearningMoment& moment, const std::string& token);

/// "At “a” (token 43), “lamp” has the largest weight of the other tokens, 43 %.": the other token with the
/// largest weight.
std::vector<Spoken> attend_headline(const Computation& computed, const RowOfWeights& row, Index token);

/// "At the last token, “a”, “lamp” has the largest weight: 43 %."
std::string last_reads_words(const Computation& computed, const ReadWord& most);

/// "All 4 forms give the same result: in f64 they differ by at most 7.94 × 10⁻¹⁶ here."
std::string agreement_headline(Index forms, double largest);

/// "The solve has the wrong sign: chunkwise differs from token 9 “key” on."; `first` is that token, -1 while
/// unknown.
std::string fault_headline(const Computation& computed, const Fault& fault, Form form, Index first);

/// How agreement is drawn.
inline constexpr const char* agreement_about =
    "A row is one form in one precision; a point is a token. The further left, the smaller its difference "
    "from the recurrence, which computes token by token.";

/// "Asked “The red jar holds a …”, linear attention says bell and coin. DeltaNet says lamp.": two rules after
/// the same token.
std::vector<Spoken> compare_headline(const std::array<std::pair<std::string, const MemoryStory*>, 2>& sides);

}  // namespace palimpsest
