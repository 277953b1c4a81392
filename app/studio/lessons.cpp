// A lesson in the program: what its steps show, and how one goes through them.

#include "app/commands/options.h"
#include "app/scene/parts.h"
#include "app/scene/plot.h"
#include "app/studio/application.h"

namespace palimpsest {

bool Application::open_lesson(const std::filesystem::path& file, std::optional<std::size_t> step) {
  try {
    Lesson read = read_lesson(file);
    const std::string* const kept = value_at(lesson_progress, kept_name(file));
    const std::string progress = kept ? *kept : std::string();
    const std::size_t seen = steps_seen(progress);
    const bool is_anew = seen >= read.steps.size() && !step;  // a finished lesson starts again
    const std::size_t next = seen == 0 || is_anew ? 0 : seen - 1;
    if (!lesson.is_on()) before_lesson_ = session.state();
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

void Application::show_step_of_lesson() {
  playing = false;
  show_welcome = false;
  spotlight = true;
  keep_lesson_progress();
  lesson_place_.clear();
  lesson_facts_ = {};
  try {
    LessonPlace place = place_of(lesson.lesson(), lesson.index());
    place.state.view.theme = view.theme;
    lesson_state_ = place.state;
    session.from_string(state_string(place.state));
    lesson_place_ = place.at;
  } catch (const InputError& error) {
    session.set_message(error.what());
  }
}

void Application::keep_lesson_progress() { lesson_progress[kept_name(lesson.file())] = lesson.progress(); }

/// Moves the cursor to the place of a step, once its data are there.
void Application::arrive_in_lesson() {
  if (lesson_place_.empty() || session.computing()) return;
  const Trace* const trace = session.trace();
  if (!trace || trace->block_count() == 0) return;
  session.set_cursor(cursor_at(std::exchange(lesson_place_, {}), *trace));
}

void Application::hide_in_lesson() {
  hidden_parts().clear();
  if (lesson.hides()) hidden_parts() = made_of(lesson.step().hidden, &LessonSetting::value);
}

void Application::ask_on_plot() {
  PlotGuess& shown = plot_guess();
  const PlotGuess before = std::exchange(shown, {});
  if (!lesson.is_on() || !lesson.step().question) return;
  const LessonQuestion& question = *lesson.step().question;
  Guess& guess = lesson.guess();
  if (question.plot.empty()) return;
  if (before.is_dragged && before.plot == question.plot) guess.number = before.value;
  shown = {.plot = question.plot,
           .is_height = question.x.has_value(),
           .least = question.least,
           .most = question.most,
           .value = guess.number,
           .has_looked = guess.looked};
  const Known<Facts> facts = lesson_facts();
  if (!question.x || !facts.value) return;
  try {
    shown.x = question.x->expression.number(facts.value->views);
  } catch (const InputError&) {
    return;  // the lesson's panel says why
  }
}

std::span<const int> Application::lesson_keys() const {
  static constexpr int letters[] = {ImGuiKey_A, ImGuiKey_B, ImGuiKey_C, ImGuiKey_D};
  static constexpr int sideways[] = {ImGuiKey_LeftArrow, ImGuiKey_RightArrow};
  static constexpr int marking[] = {ImGuiKey_UpArrow, ImGuiKey_DownArrow, ImGuiKey_LeftArrow,
                                    ImGuiKey_RightArrow, ImGuiKey_Space};
  static constexpr std::span<const int> keys[] = {letters, sideways, marking};  // by LessonQuestion::Kind
  return lesson.hides() ? entry(keys, lesson.step().question->kind) : std::span<const int>();
}

void Application::answer_in_lesson(int key) {
  const LessonQuestion& question = *lesson.step().question;
  Guess& guess = lesson.guess();
  if (question.kind == LessonQuestion::Kind::choose) {
    const auto choice = static_cast<std::size_t>(key - ImGuiKey_A);
    if (choice < question.choices.size()) guess.choice = choice;
  } else if (question.kind == LessonQuestion::Kind::number) {
    constexpr double steps = 40;
    const double step = (question.most - question.least) / steps;
    const double before = guess.number.value_or((question.least + question.most) / 2);
    guess.number =
        std::clamp(before + (key == ImGuiKey_RightArrow ? step : -step), question.least, question.most);
  } else if (const Known<Facts> facts = lesson_facts(); facts.value) {
    const auto [rows, columns] = table_size(question, facts.value->views);
    if (key == ImGuiKey_Space) guess.mark(guess.at);
    std::pair<Index, Index>& at = guess.at;
    at.first += (key == ImGuiKey_DownArrow) - (key == ImGuiKey_UpArrow);
    at.second += (key == ImGuiKey_RightArrow) - (key == ImGuiKey_LeftArrow);
    at = {std::clamp<Index>(at.first, 0, rows - 1), std::clamp<Index>(at.second, 0, columns - 1)};
  }
}

bool Application::has_left_place_of_lesson() const {
  const SessionState& now = session.state();
  return lesson.is_on() && !is_arriving_in_lesson() &&
         (now.data != lesson_state_.data || now.workspace != lesson_state_.workspace ||
          session.token() != lesson_state_.place.token || view.level != lesson_state_.view.level);
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
  session.change([&](SessionState& state) {
    state.view = before_lesson_->view;
    state.attention = before_lesson_->attention;
    state.learn = before_lesson_->learn;
  });
  notice = "To return to where you were: Ctrl+P, “before the lesson”";
  lesson_place_.clear();
}

void Application::return_from_lesson() {
  lesson.end();
  keeping_pinned([&] { session.from_string(state_string(*before_lesson_)); });
  before_lesson_.reset();
}

Known<Facts> Application::lesson_facts() {
  if (lesson_facts_.value) return lesson_facts_;
  const Sight& sight = session.sight();
  const bool is_there =
      sight.computation && sight.trace && !is_arriving_in_lesson() && !session.lookout().is_stale();
  if (!is_there || has_left_place_of_lesson()) return {};
  const std::vector<std::string> views = views_of(lesson.step());
  if (views.empty()) {
    lesson_facts_.value = std::make_shared<const Facts>();
    return lesson_facts_;
  }
  const std::vector<Side>& sides = session.state().sides;
  Known<Facts> known = session.questions().ask(FactsAtPlace{.of = sight.computation,
                                                            .form = sight.trace->form,
                                                            .cursor = sight.cursor,
                                                            .words = session.state().words,
                                                            .beside = {sides.begin() + 1, sides.end()},
                                                            .sharpness = session.state().attention.sharpness,
                                                            .views = views});
  if (known.stale) known.value = nullptr;
  if (known.value) lesson_facts_ = known;
  return known;
}

}  // namespace palimpsest
