#pragma once

#include <string>
#include <vector>

#include "app/session/step_questions.h"

namespace palimpsest {

/// What became of what a token wrote into an entry, as a sentence: written, decayed, erased and by whom, what
/// is left. Empty where nothing of it is known, as of a reading. `labels` are those of all tokens.
std::string writer_fate(const WriterShare& writer, const std::vector<std::string>& labels);

/// The place in `writers` of the one with the largest share; -1 where there is none.
int largest_share(const std::vector<WriterShare>& writers);

}  // namespace palimpsest
