#pragma once

#include "app/session/answers.h"
#include "app/session/computation.h"

namespace palimpsest {

/// Asks for what a computation still lacks, and adds what is there: every form compared, the recall of the
/// tokens, where the memory runs away. Until then what the last choice for the same data had stands. Returns
/// whether something was added; `problem` says what could not be computed.
bool complete(const std::shared_ptr<Computation>& computation, Answers& answers, std::string& problem);

}  // namespace palimpsest
