#pragma once

#include "app/session/computation.h"
#include "core/insight/spectra.h"

// Questions about a memory: what it returns, how a token changes it, what is left of a write.

namespace palimpsest {

/// The step that a token makes; nothing where it makes none.
struct LearningNow {
  Weak<Foundation> of = {};
  Index token = 0;
  auto operator<=>(const LearningNow&) const = default;
  Found<std::optional<LearningMoment>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The stored pair whose loss a token's step increases most, with its loss along that step.
struct HarmAlong {
  HarmedPair pair;
  std::vector<double> rates = {};
  std::vector<double> losses = {};
};

/// Nothing where the token harms none.
struct HarmNow {
  Weak<Foundation> of = {};
  Index token = 0;
  auto operator<=>(const HarmNow&) const = default;
  Found<std::optional<HarmAlong>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The course of the solve for a token's query; nothing if the rule does not solve.
struct SolveNow {
  Weak<Foundation> of = {};
  Index token = 0;
  Index chunk_size = 1;
  auto operator<=>(const SolveNow&) const = default;
  Found<std::optional<ConvergingSolve>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The rows under the tokens: step sizes and decay of every token.
struct TokenCourses {
  std::optional<StepReach> strengths = {};
  std::string no_strengths = {};  // why there are none
  ReachEdges edges = {};          // of the strengths, where their losses have edges
  std::optional<Keeping> keeping = {};
  bool never_decays = false;
};

/// How much of a token's write decay leaves at a later token.
struct KeptSince {
  Weak<Foundation> of = {};
  Index first = 0;
  Index last = 0;
  auto operator<=>(const KeptSince&) const = default;
  Found<std::optional<KeptBetween>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The token that multiplies a part of the memory most; nothing where the rule is no row program.
struct GrowthOfRule {
  Weak<Foundation> of = {};
  auto operator<=>(const GrowthOfRule&) const = default;
  Found<std::optional<LargestGrowth>> compute(const Foundation& foundation, const Effort& effort) const;
};

struct CoursesOfTokens {
  Weak<Foundation> of = {};
  Index channel = -1;  // of the gate; -1: all of them
  auto operator<=>(const CoursesOfTokens&) const = default;
  Found<TokenCourses> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What is left of stored words after tokens first .. last.
struct RememberedWords {
  Weak<Foundation> of = {};
  std::vector<Index> tokens = {};
  std::vector<Index> moments = {};
  auto operator<=>(const RememberedWords&) const = default;
  Found<Remembered> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The singular values of the memory after so many tokens.
struct SpectraOfMemory {
  Weak<Foundation> of = {};
  Index tokens = 0;
  auto operator<=>(const SpectraOfMemory&) const = default;
  Found<std::vector<Spectrum>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The keys of some tokens beside each other.
struct KeyPicture {
  Index first = 0;         // token
  Matrix<double> cosines;  // [keys, keys]
  KeyDirections directions;
};

struct StoredKeys {
  Weak<Foundation> of = {};
  Index first = 0;
  Index count = 0;
  auto operator<=>(const StoredKeys&) const = default;
  Found<KeyPicture> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The capacity of a rule's memory: a question.
struct CapacitySweep {
  std::string variant = {};
  Index channels = 16;  // of keys and of values
  Keys keys = Keys::random;
  Settings settings = {};
  auto operator<=>(const CapacitySweep&) const = default;
  Found<std::vector<CapacityPoint>> compute(const Effort& effort) const;
};

/// Whether the trace subtracts the prediction times a write strength: then beta |k|^2 is the step size of a
/// write.
bool erases_by_strength(const Trace& trace);

/// beta |k|^2 of a token's write: above 1 it overshoots, above 2 it increases the error. Nothing if this is
/// not the step size: without an erase by beta, with a separate key p for the prediction, or with several
/// steps per token.
struct WriteReach {
  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  Index token = 0;
  auto operator<=>(const WriteReach&) const = default;
  Found<std::optional<double>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What a memory returns at a place, as a table and as sentences.
struct AnswersAtPlace {
  AnswerTable table = {};
  double legibility = 0;      // of the table after the change
  std::string sentence = {};  // from the largest changes
  std::string change = {};    // the name of the changes: "change by the write"
  Index token = 0;            // under the cursor
  OutputAnswer output = {};   // which stored values that token's output resembles
  std::string output_sentence = {};
};

/// What every token of one head writes in the unedited data, so that no edit, setting or change of a model
/// changes which tokens are queried. Computed under the data's own rule if possible, so that all rules are
/// queried for the same tokens; else under the chosen one. Computed at the first call. Throws Unsupported if
/// there is no memory to query.
const WordStrengths& strengths_in(const Foundation& foundation);

/// The stored tokens that are queried at a token, in all views. Throws as strengths_in() and asked_words()
/// do.
std::vector<AskedWord> words_asked(const Foundation& foundation, Index token, const WordChoice& choice = {});

inline auto parts_of(const AskedWord& word) { return std::tie(word.text, word.occurrences, word.phrase); }
inline auto parts_of(const AnswerTable& table) {
  return std::tie(table.words, table.before, table.change, table.after);
}

/// These words: a question.
struct WordsAsked {
  Weak<Foundation> of = {};
  Index token = 0;
  WordChoice words = {};
  auto operator<=>(const WordsAsked&) const = default;
  Found<std::vector<AskedWord>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What the memory answers at the place of a cursor: a question.
struct MemoryAnswers {
  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  Cursor cursor = {};
  WordChoice words = {};
  auto operator<=>(const MemoryAnswers&) const = default;
  Found<AnswersAtPlace> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The change of a memory, and of what it returns, by a token's whole step.
struct MemoryStory {
  Index token = 0;
  std::string no_memory = {};  // why the memory is no single matrix; empty if it is
  Matrix<double> before = {};  // of the first state
  Matrix<double> change = {};
  Matrix<double> after = {};
  double range = 0;           // bounds 95 % of the entries of both memories
  std::uint64_t version = 0;  // of all three
  AnswerTable table = {};
  std::vector<SharedKey> keys = {};  // of its words
  std::string no_table = {};         // why nothing is returned
};

/// That story: a question.
struct StoryAtToken {
  Weak<Foundation> of = {};
  Index token = 0;
  WordChoice words = {};
  auto operator<=>(const StoryAtToken&) const = default;
  Found<MemoryStory> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What one head of the data remembers, small.
struct HeadAnswers {
  AnswerTable table = {};   // after the first half of the tokens
  double legibility = 0;    // of it
  std::string reason = {};  // why there is no table; empty if there is one
};

/// What all heads remember, and which of them is the most legible.
struct TablesOfHeads {
  std::vector<HeadAnswers> heads;
  Index most_legible = 0;
};

/// These tables under the chosen rule: a question. After half of the tokens, as every head has written some
/// by then, and at the end a memory with decay has lost most of them. Costs one run over half of the tokens
/// for each head.
struct HeadTables {
  Weak<Foundation> of = {};
  WordChoice words = {};
  auto operator<=>(const HeadTables&) const = default;
  Found<TablesOfHeads> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The head to open data at under the rule of `choice`: for a capture the one with the most legible table, as
/// in HeadTables; for other data, or without a memory to query, the first. Throws Cancelled.
Index opening_head(const DataSet& data, const Choice& choice, std::stop_token stop = {});

class Session;

/// What a token's query retrieves before and after the token's own write: a question.
struct ReadNow {
  Weak<Foundation> of = {};
  Index token = 0;
  auto operator<=>(const ReadNow&) const = default;
  Found<ReadMoments> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Whether outputs read the memory before their own update (core/variants/variants.h).
bool is_read_before(const Settings& settings);

/// Sets whether the session's rule reads before or after its own update, a setting of the rule. Has no effect
/// if no_read_order() gives a reason.
void choose_read(Session& session, bool before);

/// A sentence on which memory the outputs read, or why they have no choice; `read` is for the token at the
/// cursor, null while it is not known.
std::string reading_in_words(const Foundation& foundation, const ReadMoments* read);

}  // namespace palimpsest
