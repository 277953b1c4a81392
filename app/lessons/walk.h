#pragma once

#include "app/lessons/lesson.h"

namespace palimpsest {

/// What the user predicted at a step, and whether the result is shown.
struct Guess {
  std::optional<std::size_t> choice = {};
  std::optional<double> number = {};
  std::set<std::pair<Index, Index>> cells = {};
  std::pair<Index, Index> at = {};  // the cell that the keyboard is on
  bool looked = false;

  /// Marks a cell, or takes its mark away.
  void mark(const std::pair<Index, Index>& cell) {
    if (!cells.erase(cell)) cells.insert(cell);
  }

  bool is_made() const { return choice || number || !cells.empty(); }

  /// As it is kept: "C!", "0.25!", "0:2 1:3!" once looked at; empty before a guess.
  std::string to_string() const;
  static Guess parse(std::string_view text);
};

/// A lesson in progress: the present step, and the predictions so far.
class LessonWalk {
 public:
  /// Begins at a step, as far as there are so many, with what is kept of an earlier walk. `file` is where the
  /// lesson was read.
  void begin(Lesson lesson, std::filesystem::path file, std::size_t step = 0, std::string_view progress = {});

  /// The steps that were seen with the guesses there, for begin(): one entry a step, separated by semicolons.
  std::string progress() const;
  void end() { lesson_.reset(); }

  bool is_on() const { return lesson_.has_value(); }
  const Lesson& lesson() const { return *lesson_; }
  const std::filesystem::path& file() const { return file_; }
  std::size_t index() const { return index_; }
  bool is_last() const { return index_ + 1 == lesson_->steps.size(); }
  const LessonStep& step() const { return lesson_->steps[index_]; }
  Guess& guess() { return guesses_[index_]; }
  const Guess& guess() const { return guesses_[index_]; }

  /// Whether the result of the present step is hidden until the user asks for it.
  bool hides() const { return is_on() && step().question && !guess().looked; }

  /// Goes a step on (+1) or back (-1). Returns whether there is one.
  bool go(int direction);

 private:
  std::optional<Lesson> lesson_;
  std::filesystem::path file_;
  std::size_t index_ = 0;
  std::size_t seen_ = 0;  // steps
  std::vector<Guess> guesses_;
};

/// The name under which what is seen of a lesson is kept: of one that ships "08-erase-then-write".
std::string kept_name(const std::filesystem::path& file);

/// A lesson that ships.
struct ListedLesson {
  std::filesystem::path file;
  std::string title;
  int minutes = 0;
  std::size_t steps = 0;
};

/// The lessons that ship, in the order of their names. Read once; one that cannot be read is left out.
const std::vector<ListedLesson>& shipped_lessons();

/// How many steps were seen, as LessonWalk::progress() says it.
std::size_t steps_seen(std::string_view progress);

/// Reads a lesson. Throws InputError naming the file, the line and the column.
Lesson read_lesson(const std::filesystem::path& file);

}  // namespace palimpsest
