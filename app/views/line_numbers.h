#pragma once

#include <string>

#include "app/session/computation.h"
#include "app/session/step_questions.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// What a step of one word comes to, in one number: "half-life 954 words", "β = 0.856, length 0.75", "error
/// left 0.13" from the word's `recall`, if it is known. Empty where nothing is recorded.
std::string line_number(const Operation& operation, const Record& record, const Symbols& symbols,
                        const Recall* recall);

}  // namespace palimpsest
