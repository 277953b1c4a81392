#include "app/lessons/walk.h"

#include "app/commands/options.h"
#include "app/session/paths.h"
#include "core/base/refuse.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

/// What is between the signs, without what follows the last one.
std::vector<std::string> split_at(std::string_view text, char sign) {
  std::vector<std::string> pieces;
  while (!text.empty()) pieces.emplace_back(take_until(text, sign));
  return pieces;
}

std::vector<ListedLesson> read_shipped_lessons() {
  std::vector<ListedLesson> all;
  for (const std::filesystem::path& file : files_ending(asset("lessons"), ".md")) {
    try {
      const Lesson lesson = read_lesson(file);
      all.push_back({file, lesson.title, lesson.minutes, lesson.steps.size()});
    } catch (const InputError&) {
      continue;  // `lesson check` says what is wrong
    }
  }
  return all;
}

}  // namespace

std::string Guess::to_string() const {
  std::string text;
  if (choice) text = static_cast<char>('A' + *choice);
  if (number) text = fmt::format("{}", *number);
  for (const auto& [row, column] : cells)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", row, column);
  return text.empty() || !looked ? text : text + '!';
}

Guess Guess::parse(std::string_view text) {
  Guess guess{.looked = text.ends_with('!')};
  if (guess.looked) text.remove_suffix(1);
  if (text.empty()) return {};
  if (text.size() == 1 && text.front() >= 'A' && text.front() <= 'Z') {
    guess.choice = static_cast<std::size_t>(text.front() - 'A');
    return guess;
  }
  try {
    if (text.find(':') == std::string_view::npos) {
      guess.number = parse_number(text, "a guess");
      return guess;
    }
    for (const std::string& cell : split_at(text, ' ')) {
      const std::size_t colon = cell.find(':');
      guess.cells.insert(
          {parse_count(cell.substr(0, colon), "a row"), parse_count(cell.substr(colon + 1), "a column")});
    }
  } catch (const InputError&) {
    return {};  // of another version: asked again
  }
  return guess;
}

std::size_t steps_seen(std::string_view progress) {
  return progress.empty() ? 0 : static_cast<std::size_t>(std::ranges::count(progress, ';'));
}

std::string LessonWalk::progress() const {
  std::string all;
  for (std::size_t i = 0; i < seen_; ++i) all += guesses_[i].to_string() + ';';
  return all;
}

void LessonWalk::begin(Lesson lesson, std::filesystem::path file, std::size_t step,
                       std::string_view progress) {
  index_ = std::min(step, lesson.steps.size() - 1);
  guesses_.assign(lesson.steps.size(), {});
  seen_ = std::clamp(steps_seen(progress), index_ + 1, lesson.steps.size());
  const std::vector<std::string> kept = split_at(progress, ';');
  for (std::size_t i = 0; i < std::min(kept.size(), guesses_.size()); ++i)
    guesses_[i] = Guess::parse(kept[i]);
  lesson_ = std::move(lesson);
  file_ = std::move(file);
}

bool LessonWalk::go(int direction) {
  const bool has_next = direction > 0 ? index_ + 1 < lesson_->steps.size() : index_ > 0;
  if (has_next) index_ += static_cast<std::size_t>(direction);
  seen_ = std::max(seen_, index_ + 1);
  return has_next;
}

const std::vector<ListedLesson>& shipped_lessons() {
  static const std::vector<ListedLesson> known = read_shipped_lessons();
  return known;
}

std::string kept_name(const std::filesystem::path& file) {
  const bool ships = is_among(file, shipped_lessons(), &ListedLesson::file);
  return ships ? file.stem().string() : std::filesystem::absolute(file).string();
}

Lesson read_lesson(const std::filesystem::path& file) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 20;
  const std::string text = read_text_file(file, most_bytes);
  return naming_input(file.string(), [&] { return parse_lesson(text); });
}

}  // namespace palimpsest
