// A lesson in the program: what its steps show, and how one goes through them.

#include "app/commands/options.h"
#include "app/scene/parts.h"
#include "app/studio/application.h"

namespace palimpsest {

bool Application::open_lesson(const std::filesystem::path& file, std::optional<std::size_t> step) {
  try {
    Lesson read = read_lesson(file);
    const auto kept = lesson_progress.find(file.stem().string());
    const std::string progress = kept == lesson_progress.end() ? "" : kept->second;
    const std::size_t seen = steps_seen(progress);
    const bool is_anew = seen >= read.steps.size() && !step;  // a finished one is asked once more
    const std::size_t next = seen == 0 || is_anew ? 0 : seen - 1;
    if (!lesson.is_on()) level_before_lesson_ = view.level;
    lesson.begin(std::move(read), file, step.value_or(next), is_anew ? std::string(seen, ';') : progress);
  } catch (const InputError& error) {
    session.set_message(error.what());
    return false;
  }
  show_lessons = false;
  show_step_of_lesson();
  return true;
}

void Application::reload_lesson() {
  if (lesson.is_on()) open_lesson(lesson.file(), lesson.index());
}

/// Opens the place of the present step.
void Application::show_step_of_lesson() {
  playing = false;
  show_welcome = false;
  spotlight = true;
  keep_lesson_progress();
  lesson_place_.clear();
  try {
    LessonPlace place = place_of(lesson.lesson(), lesson.index());
    const Theme theme = view.theme;
    place.state.view.theme = theme;
    lesson_state_ = place.state;
    session.from_string(state_string(place.state));
    lesson_place_ = place.at;
  } catch (const InputError& error) {
    session.set_message(error.what());
  }
}

void Application::keep_lesson_progress() {
  lesson_progress[lesson.file().stem().string()] = lesson.progress();
}

/// Moves the cursor to the place of a step, once its data are there.
void Application::arrive_in_lesson() {
  if (lesson_place_.empty() || session.computing()) return;
  const Trace* const trace = session.trace();
  if (!trace || trace->block_count() == 0) return;
  session.set_cursor(cursor_at(std::exchange(lesson_place_, {}), *trace));
}

void Application::hide_in_lesson() {
  std::vector<std::string>& hidden = hidden_parts();
  hidden.clear();
  if (!lesson.hides()) return;
  for (const LessonSetting& path : lesson.step().hidden) hidden.push_back(path.value);
}

void Application::choose_in_lesson(std::size_t choice) {
  if (lesson.hides() && choice < lesson.step().question->choices.size()) lesson.guess().choice = choice;
}

void Application::turn_guess_in_lesson(int direction) {
  constexpr double steps = 40;
  const LessonQuestion& question = *lesson.step().question;
  std::optional<double>& number = lesson.guess().number;
  const double step = (question.most - question.least) / steps;
  const double before = number.value_or((question.least + question.most) / 2);
  number = std::clamp(before + direction * step, question.least, question.most);
}

bool Application::has_left_place_of_lesson() const {
  const SessionState& now = session.state();
  return lesson.is_on() && !is_arriving_in_lesson() &&
         (now.data != lesson_state_.data || now.workspace != lesson_state_.workspace ||
          session.token() != lesson_state_.place.token || view.level != lesson_state_.view.level);
}

void Application::mark_in_lesson(int key) {
  const Known<Facts> facts = lesson_facts();
  if (!facts.value) return;
  const auto [rows, columns] = table_size(*lesson.step().question, facts.value->views);
  Guess& guess = lesson.guess();
  if (!guess.at)
    guess.at = std::pair<Index, Index>{0, 0};
  else if (key == ImGuiKey_Space)
    guess.mark(*guess.at);
  guess.at->first = std::clamp<Index>(
      guess.at->first + (key == ImGuiKey_DownArrow) - (key == ImGuiKey_UpArrow), 0, rows - 1);
  guess.at->second = std::clamp<Index>(
      guess.at->second + (key == ImGuiKey_RightArrow) - (key == ImGuiKey_LeftArrow), 0, columns - 1);
}

void Application::go_on_in_lesson() {
  if (lesson.hides()) {
    if (!lesson.guess().is_made()) return;
    lesson.guess().looked = true;
    spotlight = false;  // the result is not only there
    keep_lesson_progress();
    return;
  }
  if (lesson.go(1)) return show_step_of_lesson();
  leave_lesson();
  show_lessons = true;
}

void Application::go_back_in_lesson() {
  if (lesson.go(-1)) show_step_of_lesson();
}

void Application::leave_lesson() {
  if (!lesson.is_on()) return;
  lesson.end();
  change_view([&](ViewOptions& changed) { changed.level = level_before_lesson_; });
  lesson_place_.clear();
}

Known<Facts> Application::lesson_facts() {
  const Sight& sight = session.sight();
  const std::vector<std::string> views = views_of(lesson.step());
  static const auto nothing = std::make_shared<const Facts>();
  if (views.empty()) {
    Known<Facts> known;
    known.value = nothing;
    return known;
  }
  if (!sight.computation || !sight.trace || is_arriving_in_lesson()) return {};
  const std::vector<Side>& sides = session.state().sides;
  return session.questions().ask(FactsAtPlace{.of = sight.computation,
                                              .form = sight.trace->form,
                                              .cursor = sight.cursor,
                                              .words = session.state().words,
                                              .beside = {sides.begin() + 1, sides.end()},
                                              .sharpness = session.state().attention.sharpness,
                                              .views = views});
}

}  // namespace palimpsest
