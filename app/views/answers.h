#pragma once

#include "app/views/view.h"
#include "app/words/answers.h"

namespace palimpsest {

class Session;

enum class AskedBy { strength, guide, person };

/// Which words the memory is asked about where a session stands, and who chose them. A person's stay; those
/// of a story hold at the word that asks in it alone, which asks with its query.
struct AskedChoice {
  WordChoice words = {};
  AskedBy by = AskedBy::strength;
};

AskedChoice asked_choice(const Session& session);

/// Whether the memory can be asked in the step that is seen: token by token, where the rule has a memory.
bool has_answers(const Application& application);

/// What it answers there.
Known<AnswersAtPlace> ask_answers(Application& application);

/// What has the strongest colour: 1, or nearly the largest of all three tables where more than a twentieth of
/// their numbers are beyond it.
double answer_scale(const AnswerTable& table);

/// The rows and columns of the tables of `table`, which are still to be added, with colours up to `scale`.
CellTables answer_cells(const AnswerTable& table, double scale);

}  // namespace palimpsest
