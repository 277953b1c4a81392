#pragma once

#include "app/session/computation.h"
#include "app/session/step_questions.h"
#include "app/stage/cell_words.h"
#include "app/views/cell_sum.h"
#include "app/views/view.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// What a step of one word comes to, in one number: "half-life 954 words", "β = 0.856, length 0.75", "error
/// left 0.13" from the word's `recall`, if it is known. Empty where nothing is recorded.
std::string line_number(const Operation& operation, const Record& record, const Symbols& symbols,
                        const Recall* recall);

/// What became of what a token wrote into an entry, as a sentence: written, decayed, erased and by whom, what
/// is left. Empty where nothing of it is known, as of a reading. `labels` are those of all tokens.
std::string writer_fate(const WriterShare& writer, const std::vector<std::string>& labels);

/// The place in `writers` of the one with the largest share; -1 where there is none.
int largest_share(const std::vector<WriterShare>& writers);

/// The products that add up to a cell which is an inner product, with what the sum is multiplied by: one for
/// every channel, or for every word where the sum runs over words. Empty where the cell is none.
std::vector<CellPart> inner_terms(const Trace& trace, const Block& block, const Record& record,
                                  const CellFocus& cell);

}  // namespace palimpsest
