#pragma once

#include "app/session/attention_questions.h"
#include "app/session/memory_questions.h"
#include "app/session/verify_questions.h"

// What the workspaces tell at the level "story", in a newcomer's words.

namespace palimpsest {

/// A piece of a sentence; answers stand out in it.
struct Spoken {
  std::string words;
  bool is_answer = false;
};

/// "Asked “The red jar holds a …”, the memory said bell. Now it says lamp.": of the key whose answer changes
/// most; `token` is the one whose step it is, in quotes.
std::vector<Spoken> headline(const MemoryStory& story, const std::string& token);

/// What such a headline says of the memory before.
std::vector<Spoken> first_half(std::vector<Spoken> headline);

/// Of the label "red → key" what is stored under, "red", and what is stored, "key"; other labels whole.
std::string asked_part(const std::string& label);
std::string answered_part(const std::string& label);

/// "The red jar holds a …": what the words under a key have in common.
std::string question_of(const AnswerTable& table, const SharedKey& key);

/// The key whose answer changes most, by at least `noticed`; nothing where none does.
const SharedKey* told_key(const MemoryStory& story);

/// How much the answers under the other keys change; empty where there are none.
std::string others_in_words(const MemoryStory& story);

/// "“lamp” is written: the error of its key falls from 2.03 to 0.244.": what a step did to its loss.
std::string learn_headline(const LearningMoment& moment, const std::string& token);

/// "At “a” (token 43), the output reads “lamp” most: 43 %.": which other token's value it
/// contains most of.
std::vector<Spoken> attend_headline(const Computation& computed, const RowOfWeights& row, Index token);

/// "The last token, “a”, reads “lamp” most: 43 %."
std::string last_reads_words(const Computation& computed, const ReadWord& most);

/// "All 4 forms compute the same: in f64 they differ by 7.94 × 10⁻¹⁶ at most."
std::string agreement_headline(Index forms, double largest);

/// "The solve has the wrong sign: chunkwise differs from token 9 “key” on."; `first` is that token, -1 while
/// it is not known.
std::string fault_headline(const Computation& computed, const Fault& fault, Form form, Index first);

/// How agreement is drawn.
inline constexpr const char* agreement_about =
    "A row is one form in one precision; a point is a token. The further left, the smaller its difference "
    "from "
    "the recurrence, which handles token after token.";

/// "Asked “The red jar holds a …”, linear attention says bell and coin. DeltaNet says lamp.": two rules after
/// the same token.
std::vector<Spoken> compare_headline(const std::array<std::pair<std::string, const MemoryStory*>, 2>& sides);

}  // namespace palimpsest
