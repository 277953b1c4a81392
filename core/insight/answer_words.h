#pragma once

#include <string>

#include "core/insight/answer_table.h"

namespace palimpsest {

inline constexpr double noticed_change = 0.2;  // of an entry, or an entry: worth a word

/// What a change did to the answers, a sentence or two made from its largest entries: which word is answered
/// now where another was, a mixture, an answer beyond 1 by more than a quarter, or how little has changed.
/// Says also that nothing is stored.
std::string answer_sentence(const AnswerTable& table);

/// Which words an output resembles, in a sentence; that nothing is read or written, where that is so.
std::string output_sentence(const OutputAnswer& answer);

}  // namespace palimpsest
