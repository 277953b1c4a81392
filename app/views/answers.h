#pragma once

#include "app/views/view.h"
#include "app/words/step.h"

namespace palimpsest {

enum class AskedBy { strength, guide, person };

/// Which stored tokens the memory is queried for at the cursor, and who chose them. The user's choice stays.
/// A story's choice holds only at the token where the story queries; that token uses its own query.
struct AskedChoice {
  WordChoice words = {};
  AskedBy by = AskedBy::strength;
};

AskedChoice asked_choice(const Session& session);

/// The tokens that a table queries, ascending.
std::vector<Index> asked_tokens(const AnswerTable& table);

/// Whether the memory can be queried in the current step: in the recurrent form, if the rule has a memory.
bool has_answers(const Application& application);

/// What the memory returns there.
Known<AnswersAtPlace> ask_answers(Application& application);

/// The end of the colour scale: 1, or close to the largest entry of all three tables if more than 5 % of the
/// entries exceed 1.
double answer_scale(const AnswerTable& table);

/// The rows and columns for `table`, with colours up to `scale`; the caller adds the tables.
CellTables answer_cells(const AnswerTable& table, double scale);

}  // namespace palimpsest
