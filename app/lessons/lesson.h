#pragma once

#include "app/commands/show_views.h"
#include "app/lessons/expression.h"
#include "app/session/session.h"

// A lesson: a walk through the live program, as a text file in Markdown (docs/lessons.md). Every step sets
// what is shown, points at parts of it, and may ask for a prediction before the result is seen.

namespace palimpsest {

/// A place in a lesson's file, both from 1.
struct TextPlace {
  int line = 0;
  int column = 0;
};

/// Throws InputError: "line 12, column 3: ...".
[[noreturn]] void refuse_at(TextPlace at, const std::string& words);

/// Returns act(); the message of an InputError that it throws begins with the place.
template <class Act>
auto naming_place(TextPlace at, Act act) {
  return naming_input(fmt::format("line {}, column {}", at.line, at.column), act);
}

struct WrittenExpression {
  FactExpression expression;
  TextPlace at = {};
};

/// A piece of a lesson's text.
struct LessonSpan {
  enum class Kind { words, strong, code, formula, spot, number };
  Kind kind = Kind::words;
  std::string text = {};                             // words; LaTeX; of a number what is written, or nothing
  int spot = 0;                                      // 1 or 2
  std::optional<WrittenExpression> expression = {};  // of a number
  double tolerance = 0;                              // of a number that is written
};
using LessonText = std::vector<LessonSpan>;

/// "at = 29" in a step.
struct LessonSetting {
  std::string key;
  std::string value;
  TextPlace at = {};
};

/// A question, answered before the result is seen.
struct LessonQuestion {
  enum class Kind { choose, number, mark };
  struct Choice {
    LessonText words;
    WrittenExpression truth;  // of exactly one choice it is true
  };
  Kind kind = Kind::choose;
  std::string words = {};  // of a number, or of cells
  std::vector<Choice> choices = {};
  std::optional<WrittenExpression> truth = {};  // the number; of cells: whether cell i, j is to be marked
  double least = 0;                             // of a number
  double most = 1;
  std::string plot = {};                        // the path of the plot on which it is guessed; empty: none
  std::optional<WrittenExpression> x = {};      // where it is a height there; none: it is on the x axis
  std::string cells = {};                       // the path of the table whose cells are marked
  std::optional<WrittenExpression> table = {};  // its numbers
  TextPlace at = {};
};

struct LessonStep {
  std::string title;
  std::vector<LessonSetting> settings = {};
  std::vector<LessonSetting> spots = {};   // paths of parts that are pointed at, at most two
  std::vector<LessonSetting> hidden = {};  // paths of parts that are hatched until one looks
  std::vector<LessonText> text = {};       // paragraphs
  std::optional<LessonQuestion> question = {};
  std::vector<LessonText> after = {};  // shown after looking
  TextPlace at = {};
};

struct Lesson {
  std::string title;
  int minutes = 0;
  std::string needs = {};
  std::string after = {};  // what one can do then
  std::vector<std::string> sources = {};
  std::vector<LessonStep> steps = {};
};

/// Reads a lesson. Throws InputError: "line 12, column 3: ...".
Lesson parse_lesson(const std::string& text);

/// What a step shows: the settings of all steps up to it.
struct LessonPlace {
  SessionState state;
  std::string at = {};  // as `show --at` takes it
};

/// Throws InputError naming the line.
LessonPlace place_of(const Lesson& lesson, std::size_t step);

/// Settings, from the second step on, that leave what is shown as it was before them.
std::vector<TextPlace> settings_without_effect(const Lesson& lesson);

/// The views that the expressions of a step name, in order.
std::vector<std::string> views_of(const LessonStep& step);

std::vector<const WrittenExpression*> expressions_of(const LessonStep& step);

/// A number as the text shows it: as written, or its expression's value; "…" while that is not known.
std::string written_number(const LessonSpan& span, const Facts* facts);

/// The size of the table whose cells are asked about. Throws InputError.
std::pair<Index, Index> table_size(const LessonQuestion& question, const Json& views);

/// The cells of it that are to be marked. Throws InputError.
std::set<std::pair<Index, Index>> true_cells(const LessonQuestion& question, const Json& views);

/// The index of the choice that is true. Throws InputError where not exactly one is.
std::size_t true_choice(const LessonQuestion& question, const Json& views);

}  // namespace palimpsest
