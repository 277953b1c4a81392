// `palimpsest lesson`: `check` goes through lessons in the real program and says what is wrong with them.

#include "app/commands/options.h"
#include "app/scene/parts.h"
#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "app/window/window_commands.h"
#include "core/base/refuse.h"

namespace palimpsest {

namespace {

struct WindowSize {
  int width;
  int height;
};
constexpr WindowSize checked_sizes[] = {{1280, 800}, {1920, 1080}};
constexpr int passes = 6;  // frames until all that a step asks for is shown

/// Goes through a lesson, step by step.
struct LessonChecker {
  const std::string& file;
  std::vector<std::string> problems = {};  // a line each: "FILE:LINE:COLUMN: what"

  void check() {
    try {
      const Lesson lesson = read_lesson(file);
      for (const TextPlace& at : settings_without_effect(lesson)) add(at, "this changes nothing here");
      for (const WindowSize& size : checked_sizes) check_at(lesson, size);
    } catch (const InputError& error) {
      const std::string words = error.what();
      note(words.starts_with(file) ? words : fmt::format("{}: {}", file, words));
    }
  }

  void add(TextPlace at, const std::string& words) {
    note(fmt::format("{}:{}:{}: {}", file, at.line, at.column, words));
  }

  /// Each once, though a lesson is checked at several sizes.
  void note(std::string problem) {
    if (!is_among(problem, problems)) problems.push_back(std::move(problem));
  }

  void check_at(const Lesson& lesson, WindowSize size) {
    Offscreen offscreen(size.width, size.height);
    Application application;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      const LessonStep& step = lesson.steps[i];
      application.session.clear_message();
      application.open_lesson(file, i);
      application.session.wait();
      settle(offscreen, application, passes);
      if (!application.session.message().empty()) {
        add(step.at, application.session.message());
        continue;
      }
      check_parts(application, step, size);
      const Known<Facts> facts = application.lesson_facts();
      if (!facts.value) {
        add(step.at, facts.reason.empty() ? "what its expressions use is missing" : facts.reason);
        continue;
      }
      check_numbers(step, facts.value->views);
      if (!step.question || !look(application, facts.value->views)) continue;
      settle(offscreen, application, passes);
      check_room(application, step, size);
    }
  }

  void check_parts(const Application& application, const LessonStep& step, WindowSize size) {
    const auto need = [&](const std::string& path, TextPlace at) -> const Part* {
      const Part* part = parts().find(path);
      if (!part)
        add(at, fmt::format(
                    "there is no part \"{}\" here; `render --lesson FILE#STEP --part ?` lists what there is",
                    path));
      if (part && !part->is_whole())
        add(at, fmt::format("\"{}\" is not fully visible at {} × {}", path, size.width, size.height));
      return part;
    };
    for (const LessonSetting& spot : step.spots) need(spot.value, spot.at);
    for (const LessonSetting& path : step.hidden) {
      if (const Part* part = need(path.value, path.at); part && part->words != "hidden")
        add(path.at, fmt::format("\"{}\" cannot be hidden", path.value));
    }
    if (step.question && !step.question->cells.empty()) {
      if (const Part* part = need(step.question->cells, step.question->at);
          part && part->words != "hidden" && !part->words.empty())
        add(step.question->at, fmt::format("\"{}\" shows the answer too early: hide it", part->path));
    }
    if (step.question && !step.question->plot.empty()) need(step.question->plot + "/area", step.question->at);
    check_room(application, step, size);
  }

  /// Whether the lesson's text has room.
  void check_room(const Application& application, const LessonStep& step, WindowSize size) {
    for (const Part* part : parts().below(application.workspace().id + std::string("/lesson"))) {
      if (part->is_whole() && !part->scrolls) continue;
      return add(step.at, fmt::format("this step's text is too long for its place at {} × {}", size.width,
                                      size.height));
    }
  }

  /// Calls `check`; an InputError is a problem at `at`.
  template <class Check>
  void guard(TextPlace at, Check check) {
    try {
      check();
    } catch (const InputError& error) {
      add(at, error.what());
    }
  }

  void check_numbers(const LessonStep& step, const Json& views) {
    const auto check_text = [&](const LessonText& text) {
      for (const LessonSpan& span : text) {
        if (!span.expression) continue;
        guard(span.expression->at, [&] {
          const Json value = span.expression->expression.value(views);
          if (span.text.empty()) return;
          const double written = parse_number(span.text, "this");
          const double computed = span.expression->expression.number(views);
          if (!(std::abs(written - computed) <= span.tolerance))
            refuse("the text says {}, but it is {:.6g}", span.text, computed);
        });
      }
    };
    for (const LessonText& text : step.text) check_text(text);
    for (const LessonText& text : step.after) check_text(text);
    if (!step.question) return;
    const LessonQuestion& question = *step.question;
    for (const LessonQuestion::Choice& choice : question.choices) check_text(choice.words);
    guard(question.at, [&] {
      if (question.kind != LessonQuestion::Kind::number) return;
      const double truth = question.truth->expression.number(views);
      if (truth < question.least || truth > question.most)
        refuse("the answer is {:.6g}, outside of {} to {}", truth, question.least, question.most);
    });
  }

  /// Answers the question rightly, and looks. Returns whether that is possible.
  bool look(Application& application, const Json& views) {
    const LessonQuestion& question = *application.lesson.step().question;
    Guess& guess = application.lesson.guess();
    try {
      if (question.kind == LessonQuestion::Kind::choose) guess.choice = true_choice(question, views);
      if (question.kind == LessonQuestion::Kind::mark) guess.cells = true_cells(question, views);
      if (question.kind == LessonQuestion::Kind::number)
        guess.number = question.truth->expression.number(views);
    } catch (const InputError& error) {
      note(fmt::format("{}: {}", file, error.what()));
      return false;
    }
    if (question.kind == LessonQuestion::Kind::mark && guess.cells.empty())
      add(question.at, "no cell is to be marked here");
    application.go_on_in_lesson();
    return guess.looked;
  }
};

int check_lessons(const CommandOptions& options, const Console& console) {
  std::size_t wrong = 0;
  const std::vector<std::string>& files = options.all("FILES");
  for (const std::string& file : files) {
    LessonChecker checker{file};
    checker.check();
    for (const std::string& problem : checker.problems) console.out << problem << '\n';
    wrong += checker.problems.size();
  }
  console.out << fmt::format(
      "{} checked, {}\n", counted(std::ssize(files), "lesson", "lessons"),
      wrong == 0 ? "nothing is wrong" : counted(static_cast<Index>(wrong), "problem", "problems"));
  return wrong == 0 ? exit_done : exit_failed_checks;
}

}  // namespace

Task add_lesson_command(CommandOptions command, Console console) {
  CommandOptions check = command.subcommand(
      "check", "Go through lessons in the program and say what is wrong, by line and column");
  check.list("FILES", "lessons", {.repeated = true});
  CommandOptions print = command.subcommand("print", "Write a lesson as a page for paper (HTML)");
  print.option("FILE", "a lesson", "", {.required = true});
  print.option("--output", "the HTML file to write");
  print.flag("--no-answers", "leave out the page with the answers");
  return [check, print, console] {
    if (print.was_given()) return print_lesson(print);
    if (!check.was_given()) refuse("expected a subcommand: check or print");
    return check_lessons(check, console);
  };
}

}  // namespace palimpsest
