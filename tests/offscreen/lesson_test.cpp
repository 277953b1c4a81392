// Lessons in the program: every one that ships passes the checker, and what is wrong is found.

#include "app/lessons/walk.h"
#include "app/session/paths.h"
#include "app/window/window_commands.h"
#include "core/io/file.h"
#include "tests/commands/cli.h"
#include "tests/folders.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Ran check(const std::vector<std::string>& files) {
  return palimpsest_with(joined({"lesson", "check"}, files), window_commands());
}

std::filesystem::path guide_to_lessons() {
  return std::filesystem::path(assets_folder()).parent_path() / "docs/lessons.md";
}

std::filesystem::path lesson_file() { return std::filesystem::path(test_data_folder()) / "lesson.md"; }

std::string with(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

}  // namespace

TEST_CASE("every lesson that ships passes the checker", "[lesson]") {
  const std::vector<ListedLesson> all = shipped_lessons();
  REQUIRE_FALSE(all.empty());
  std::vector<std::string> files;
  for (const ListedLesson& each : all) files.push_back(each.file.string());
  const Ran ran = check(files);
  CHECK_THAT(ran.out, says("nothing is wrong"));
  CHECK(ran.status == exit_done);
}

TEST_CASE("the example on the page about lessons passes the checker", "[lesson]") {
  const std::string text = read_text_file(guide_to_lessons(), 1 << 20);
  std::string example;
  std::istringstream lines(text.substr(text.find("    # ")));
  for (std::string line; std::getline(lines, line) && (line.empty() || line.starts_with("    "));)
    example += line.substr(std::min<std::size_t>(line.size(), 4)) + '\n';
  const TemporaryFolder folder;
  write_text(folder / "example.md", example);
  const Ran ran = check({folder / "example.md"});
  CHECK_THAT(ran.out, says("nothing is wrong"));
}

TEST_CASE("the page about lessons names every edit and its fields", "[lesson]") {
  std::istringstream lines(read_text_file(guide_to_lessons(), 1 << 20));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  for (const EditKind& kind : edit_kinds()) {
    CAPTURE(kind.id);
    const auto row = std::ranges::find_if(rows, [&](const std::string& each) {
      return each.find(fmt::format("`{}`", kind.id)) < each.rfind('|');
    });
    REQUIRE(row != rows.end());
    for (const EditField& field : kind.fields) CHECK_THAT(*row, says(fmt::format("`{}`", field.name)));
    CHECK((row->find("`array`") != std::string::npos) == kind.has_array);
  }
}

TEST_CASE("the checker finds every kind of fault, by line and column", "[lesson]") {
  const std::string right = read_text_file(lesson_file(), 1 << 20);
  const TemporaryFolder folder;
  const std::string file = folder / "lesson.md";
  std::string many_words;
  for (int i = 0; i < 120; ++i) many_words += "many words ";
  const std::tuple<std::string, std::string, std::string> faults[] = {
      {"0.83 = answers", "0.93 = answers", ":23:145: the text says 0.93, but it is 0.83"},
      {"point = step/story/answers/change", "point = step/story/answers/chang",
       "there is no part \"step/story/answers/chang\""},
      {"point = step/story/answers/change", "point = step/story/answers/change\nrule = deltanet",
       ":38:8: this changes nothing"},
      {"> answers.after[lamp, lamp]\n", "< answers.after[lamp, lamp]\n",
       "line 28, column 31: this choice is true here, and so is choice 1"},
      {"from = 0\n", "from = 0.5\n", "the answer is 0.287524, outside of 0.5 to 0.83"},
      {"-answers.change[", "-answers.chang[", "there is no field \"chang\""},
      {"at = 29", "at = 99", "99"},
      {"rule = deltanet", "rule = deltant", "deltant"},
      {"Switch to", many_words, "this step's text is too long for its place at 1280 × 800"},
      {"from = 0\n", "from = 0\non = step/nothing\n", "there is no part \"step/nothing/area\""},
      {"from = 0\nto = 0.83\n```",
       "from = 0\nto = 0.83\n```\n\n> Yes.\n\n## Which?\n\n```set\nlevel = work\n```\n\n```mark\n"
       "cells = step/answers/change\nof = answers.change\ntruth = answers.change[i, j] > 0.4\n```",
       "\"step/answers/change\" shows the answer too early: hide it"},
      {"## Try it", "## Try it\n\n```set\nhide = step/lost\n```", "there is no part \"step/lost\""},
  };
  for (const auto& [before, after, expected] : faults) {
    INFO(after);
    write_text(file, with(right, before, after));
    const Ran ran = check({file});
    CHECK(ran.status == exit_failed_checks);
    CHECK_THAT(ran.out, says(expected));
  }
}

TEST_CASE("a lesson is printed with its pictures, questions and answers", "[lesson]") {
  const TemporaryFolder folder;
  const std::string page = folder / "page.html";
  const auto print = [&](const std::vector<std::string>& more) {
    return palimpsest_with(joined({"lesson", "print"}, more), window_commands());
  };
  REQUIRE(print({lesson_file().string(), "--output", page}).status == exit_done);
  const std::string html = read_text_file(page, 1 << 26);
  CHECK_THAT(html, says("<h1>Erase, then write</h1>") && says("<h2>Answers</h2>") &&
                       says("1. A key that is already taken: C"));
  CHECK_THAT(html, says("Lamp <b>0.656</b>, bell <b>0.288</b>"));
  CHECK_THAT(html, !says("…</b>"));  // everything is computed
  const Lesson lesson = read_lesson(lesson_file());
  const auto pictures = [&](const std::string& kind) {
    std::size_t count = 0;
    for (std::size_t at = html.find(kind); at != std::string::npos; at = html.find(kind, at + 1)) ++count;
    return count;
  };
  CHECK(pictures("class=\"picture\"") == lesson.steps.size());
  CHECK(pictures("class=\"formula\"") >= 4);
  REQUIRE(print({lesson_file().string(), "--output", page, "--no-answers"}).status == exit_done);
  CHECK_THAT(read_text_file(page, 1 << 26), !says("Answers") && !says("0.656"));
  CHECK_THAT(print({lesson_file().string()}).error, says("needs --output"));
  CHECK_THAT(print({folder / "none.md", "--output", page}).error, says("none.md"));
}

TEST_CASE("a lesson asks, hides the result until one looks, and goes on", "[lesson]") {
  ShownProgram shown("step", "preset:one_fact");
  Application& application = shown.application;
  const Level before = application.view.level;
  REQUIRE(application.open_lesson(lesson_file()));
  application.session.wait();
  shown.draw();
  CHECK(parts().find("step/lesson/title")->words == "A key that is already taken");
  CHECK(parts().find("step/story/answers/after")->words.empty());
  CHECK_THAT(parts().find("step/story/headline")->words, says("How does “lamp” change"));
  application.go_on_in_lesson();  // nothing is predicted yet
  CHECK(application.lesson.hides());
  shown.press(ImGuiKey_B);
  CHECK(application.lesson.guess().choice == 1);
  application.change_view([](ViewOptions& view) { view.growth = true; });
  shown.press(ImGuiKey_Enter);
  CHECK_FALSE(application.lesson.hides());
  CHECK(application.telling() < 1.6);  // until then the table after the write stays hatched
  shown.press(ImGuiKey_F12);           // any key ends that
  shown.draw();
  CHECK_THAT(parts().find("step/story/answers/after")->words, says("0.66"));
  CHECK_THAT(parts().find("step/lesson/question/after")->words, says("0.656"));
  // Elsewhere the answer of this step stays what it is, and a link leads back.
  const std::string after = parts().find("step/lesson/question/after")->words;
  CHECK(parts().find("step/lesson/return") == nullptr);
  shown.draw_at(5);
  CHECK(parts().find("step/lesson/question/after")->words == after);
  shown.draw_clicked("step/lesson/return");
  CHECK(shown.session.token() == 29);
  CHECK(parts().find("step/lesson/return") == nullptr);
  shown.press(ImGuiKey_D);  // the data page again
  CHECK(application.show_data);
  shown.press(ImGuiKey_Escape);
  shown.draw();
  shown.press(ImGuiKey_Enter);
  CHECK(application.lesson.index() == 1);
  shown.press(ImGuiKey_Backspace);
  CHECK(application.lesson.index() == 0);
  shown.press(ImGuiKey_Escape);
  shown.press(ImGuiKey_Escape);
  CHECK_FALSE(application.lesson.is_on());
  CHECK(application.view.level == before);
  shown.draw_after("lesson.return");
  CHECK(shown.session.data().id.starts_with("preset:one_fact"));
  CHECK_FALSE(application.can_return_from_lesson());
}

TEST_CASE("what a lesson covers is seen until the next press, once nothing is asked", "[lesson]") {
  ShownProgram shown("step", "preset:one_fact");
  REQUIRE(shown.application.open_lesson(shipped_lessons()[7].file, 2));  // at the level work
  shown.draw();
  CHECK(parts().find("step/lesson/peek") == nullptr);
  CHECK_FALSE(why_not(find_command(shown.application, "lesson.peek"), shown.application).empty());
  shown.press(ImGuiKey_Space);
  shown.press(ImGuiKey_Enter);
  shown.draw();
  REQUIRE(parts().find("step/lesson/peek"));
  CHECK(parts().find("step/forms") == nullptr);
  shown.click(place_of("step/lesson/peek"));
  shown.draw();
  CHECK(parts().find("step/why") != nullptr);
  CHECK(parts().find("step/lesson") == nullptr);
  shown.press(ImGuiKey_Enter);  // the press does nothing else
  shown.draw();
  CHECK(shown.application.lesson.index() == 2);
  CHECK(parts().find("step/forms") == nullptr);
  CHECK(parts().find("step/lesson/title") != nullptr);
}

TEST_CASE("the list of lessons is gone through by the arrow keys and by typing", "[lesson]") {
  ShownProgram shown("step", "preset:one_fact");
  const auto open_list = [&] {
    shown.application.show_lessons = true;
    shown.draw();
  };
  open_list();
  shown.press(ImGuiKey_DownArrow);
  shown.press(ImGuiKey_Enter);
  CHECK(shown.application.lesson.file() == shipped_lessons()[1].file);
  open_list();
  ImGui::GetIO().AddInputCharactersUTF8("momentum");
  shown.draw();
  shown.press(ImGuiKey_Enter);
  CHECK(shown.application.lesson.file() == shipped_lessons()[15].file);
  const ListedLesson& first = shipped_lessons()[0];
  shown.application.lesson_progress[kept_name(first.file)] = std::string(first.steps, ';');
  open_list();  // the first one that is not done is chosen
  shown.press(ImGuiKey_Enter);
  CHECK(shown.application.lesson.file() == shipped_lessons()[1].file);
}

TEST_CASE("a number is guessed by a ring on a plot, whose curves are seen after the look", "[lesson]") {
  const TemporaryFolder folder;
  const std::string file = folder / "lesson.md";
  const auto ask = [&](const std::string& more) {
    write_text(file,
               "# A loss\n\n```lesson\nminutes = 5\nneeds = nothing\nafter = nothing\nsource = none\n```\n\n"
               "## How large?\n\n```set\ndata = preset:one_fact?T=6&K=4&V=4&seed=1\nrule = deltanet\n"
               "at = 3\nlevel = story\nworkspace = learn\n```\n\n```number\ntruth = " +
                   more + "\non = learn/loss\n```\n\n> There.\n");
    REQUIRE(std::filesystem::exists(file));
  };
  ShownProgram shown("step", "preset:one_fact");
  Application& application = shown.application;
  const auto drag_to = [&](double across, double down) {
    const Rectangle area = place_of("learn/loss/area");
    shown.click(area.minimum + area.size() * ImVec2{static_cast<float>(across), static_cast<float>(down)});
    shown.pass();
    REQUIRE(application.lesson.guess().number);
    return *application.lesson.guess().number;
  };
  // A number of the x axis: the whole width is 0 to 2.4.
  ask("learning.parabola_edge / 2\nfrom = 0\nto = 2.4");
  REQUIRE(application.open_lesson(file));
  application.session.wait();
  shown.draw();
  CHECK_FALSE(parts().find("learn/loss/series/loss"));
  CHECK_FALSE(parts().find("learn/loss/mark/edge"));
  CHECK(std::abs(drag_to(0.25, 0.1) - 0.6) < 0.02);  // two pixels
  CHECK(std::abs(drag_to(0.999, 0.9) - 2.4) < 0.02);
  shown.press(ImGuiKey_Enter);
  shown.draw();
  CHECK(parts().find("learn/loss/series/loss"));
  CHECK(parts().find("learn/loss/mark/guess"));
  CHECK_THAT(parts().find("learn/lesson/question/verdict")->words, says("1.4 too high"));
  // A height, where the curve is asked for at one x: the axis goes up to 1, the largest guess.
  ask("learning.loss_after\nx = learning.rate\nfrom = 0\nto = 1");
  REQUIRE(application.open_lesson(file));
  application.session.wait();
  shown.draw();
  CHECK(std::abs(drag_to(0.2, 0.25) - 0.75) < 0.02);
}
