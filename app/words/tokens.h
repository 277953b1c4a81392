#pragma once

#include "app/session/session.h"

// What is said of single tokens: by the time line, the floors and the panel that explains a number.

namespace palimpsest {

/// "half-life 954 tokens" of a decay: after how many tokens half of a write remains.
std::string half_life_words(double kept);

/// The same of several decays: "half-life 12 … 954 tokens".
std::string half_lives_words(const Matrix<double>& alpha);

/// What a token does: its decay, its write, its error before and after; of facts that there are.
std::string facts_words(const TokenFacts& facts, const Recall* recall, const std::string& written_symbol);

/// "decay until “drum”: 0.93": what fading leaves of a write.
std::string kept_words(const KeptBetween& kept, const std::string& until);

/// What the model says next, and whether what is shown beside it was changed since.
std::string answer_meaning(const Session& session);

/// What a model says at a token: its loss, then what it expects next.
std::string reading_words(const Session& session, Index token);

/// The norms of a token's error, before its write and after.
std::string error_norm_words(const Recall& recall);

/// What became of what a token wrote into an entry: written, decayed, corrected and by whom, what remains.
/// Empty where nothing of it is known, as of a reading. `labels` are those of all tokens.
std::string writer_fate(const WriterShare& writer, const std::vector<std::string>& labels);

}  // namespace palimpsest
