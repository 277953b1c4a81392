#pragma once

#include "app/session/session.h"

// The sentences about single tokens, for the timeline, the floors and the panel that explains a number.

namespace palimpsest {

/// "half-life 954 tokens" for a decay: the number of tokens after which half of a write remains.
std::string half_life_words(double kept);

/// The same for several decays: "half-life 12 … 954 tokens".
std::string half_lives_words(const Matrix<double>& alpha);

/// The facts of a token that are known: its decay, its write, its error before and after.
std::string facts_words(const TokenFacts& facts, const Recall* recall, const std::string& written_symbol);

/// "decay until “drum”: 0.93": how much of a write decay leaves.
std::string kept_words(const KeptBetween& kept, const std::string& until);

/// The model's answer with its probability, and a note if the rule or inputs of the shown head were changed.
std::string answer_meaning(const Session& session);

/// The model at a token: its loss, then the token that it expects next.
std::string reading_words(const Session& session, Index token);

/// The norms of a token's error, before its write and after.
std::string error_norm_words(const Recall& recall);

/// What became of a token's write into an entry: written, decayed, corrected by which tokens, remaining.
/// Empty if that is not known, as for a read. `labels` are those of all tokens.
std::string writer_fate(const WriterShare& writer, const std::vector<std::string>& labels);

}  // namespace palimpsest
