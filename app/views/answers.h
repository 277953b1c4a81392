#pragma once

#include "app/views/view.h"

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

/// The title of a table, with the end of its colours where that is not 1: "before, to ±3.20".
std::string title_with_scale(std::string_view title, double scale);

/// What the colours mean, and why they end elsewhere than at 1.
std::string scale_words(double scale);

/// A number as it stands in a cell: "0.35", "-31.9", "315", "2e+04".
std::string answer_number(double value);

/// The rows and columns of the tables of `table`, which are still to be added, with colours up to `scale`.
CellTables answer_cells(const AnswerTable& table, double scale);

/// What a number of one of them says.
std::string answer_words(const AnswerTable& table, std::string_view title, const Matrix<double>& values,
                         Cell cell);

}  // namespace palimpsest
