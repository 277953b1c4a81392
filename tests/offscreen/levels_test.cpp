// How much is shown: one story, what one works with, or all.

#include "app/session/typed_text.h"
#include "app/views/story_page.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/glyphs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void show_level(ShownProgram& shown, Level level) {
  shown.application.change_view([level](ViewOptions& view) { view.level = level; });
}

/// As somebody sees it who starts it for the first time.
struct FirstStart : ShownProgram {
  FirstStart() {
    application.open_first_text();
    session.wait();
    show_level(*this, Level::story);
    draw();
  }

  MemoryStory story() {
    const WordChoice words = {.pinned = session.state().words, .most = 7};
    return *find_out(StoryAtToken{session.computed(), session.token(), words});
  }
};

/// The larger numbers of a table in the rows that a story tells of.
std::string told_numbers(const MemoryStory& story, const Matrix<double>& values) {
  std::string words;
  for (const SharedKey& key : story.keys) {
    for (const double number : values.row(key.row)) {
      if (std::abs(number) >= 0.1) words += (words.empty() ? "" : " ") + fmt::format("{:.2f}", number);
    }
  }
  return words;
}

int open_panels() {
  int count = 0;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    count += window->Active && std::string_view(window->Name).ends_with("##fixed") ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("the first screen tells in one sentence what a write did, and shows the numbers of it",
          "[levels]") {
  FirstStart shown;
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    shown.draw(size);
    CHECK(open_panels() == 2);
    const MemoryStory story = shown.story();
    REQUIRE(story.keys.size() == 2);
    CHECK(words_at("step/story/headline") ==
          "Asked “The red jar holds a …”, the memory said bell. Now it says lamp.");
    CHECK(words_at("step/story/answers/before") == told_numbers(story, story.table.before));
    CHECK(words_at("step/story/answers/change") == told_numbers(story, story.table.change));
    CHECK(words_at("step/story/answers/after") == told_numbers(story, story.table.after));
    CHECK_THAT(words_at("step/text/words/answer"), says("lamp 1.00"));
    for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
  }
}

TEST_CASE("one click shows what happens when nothing is erased", "[levels]") {
  FirstStart shown;
  shown.draw_clicked("step/story/erase/only add");
  CHECK_THAT(words_at("step/text/words/answer"), says("bell 0.99"));
  CHECK_THAT(words_at("step/story/headline"), says(" and "));
  CHECK(shown.session.data().read->typed.interventions.size() == 1);
  shown.draw_clicked("step/story/erase/erase, then write");
  CHECK_THAT(words_at("step/text/words/answer"), says("lamp 1.00"));
  CHECK(shown.session.data().read->typed.interventions.empty());
}

TEST_CASE("the story of a first start is told piece by piece, until a key is pressed", "[levels]") {
  FirstStart shown;
  const std::string all = words_at("step/story/headline");
  const std::string after = words_at("step/story/answers/after");
  shown.application.tell_slowly();
  shown.pass(1);
  CHECK(shown.application.telling() < 0.6);
  CHECK(words_at("step/story/headline") == "Asked “The red jar holds a …”, the memory said bell.");
  CHECK(words_at("step/story/answers/after").empty());
  CHECK_FALSE(words_at("step/story/answers/before").empty());
  ImGui::GetIO().AddKeyEvent(ImGuiKey_Escape, true);
  shown.pass(2);
  CHECK(shown.application.telling() == HUGE_VAL);
  CHECK(words_at("step/story/headline") == all);
  CHECK(words_at("step/story/answers/after") == after);
  shown.application.change_view([](ViewOptions& view) { view.growth = false; });  // nothing moves
  shown.application.tell_slowly();
  CHECK(shown.application.telling() == HUGE_VAL);
}

TEST_CASE("a story goes on token by token, and its text can be typed in", "[levels]") {
  FirstStart shown;
  shown.application.step(Session::Grain::operation, 1);
  CHECK(shown.session.token() == 30);
  CHECK_FALSE(parts().find("text bar"));
  shown.draw_clicked("step/text/type a text");
  CHECK_THAT(words_at("text bar/text"), says("holds a lamp"));
  shown.draw_after("view.release");
  CHECK_FALSE(parts().find("text bar"));
}

TEST_CASE("I shows more and more, Shift+I less; a panel that is not there comes with its level", "[levels]") {
  FirstStart shown;
  CHECK(why_not(find_command(shown.application, "view.less"), shown.application) != "");
  shown.draw_after("view.more");
  CHECK(shown.application.level() == Level::work);
  CHECK(parts().find("step/stage"));
  CHECK_FALSE(parts().find("step/forms"));
  shown.draw_after("view.more");
  CHECK(shown.application.level() == Level::all);
  CHECK(parts().find("step/forms"));
  CHECK(why_not(find_command(shown.application, "view.more"), shown.application) != "");
  shown.draw_after("view.level.story");
  CHECK(open_panels() == 2);
  for (const Panel& panel : shown.application.workspace().panels) {
    if (std::string_view(panel.title) != "Forms") continue;
    shown.application.show_panel(panel);
    shown.draw();
    CHECK(shown.application.level() == Level::all);
  }
}

TEST_CASE("a narrow window and a presentation tell the story, whatever was chosen", "[levels]") {
  FirstStart shown;
  show_level(shown, Level::all);
  shown.draw({1280, 800, 1.5F});  // 853 × 533 design pixels
  CHECK(shown.application.tells_story());
  for (const Workspace& workspace : shown.application.workspaces()) {
    CAPTURE(workspace.id);
    shown.draw_in(workspace.id);
    for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
  }
  shown.draw_in("step");
  shown.draw(usual_sizes[1]);
  CHECK_FALSE(shown.application.tells_story());
  shown.application.presenting = true;
  shown.draw();
  CHECK(shown.application.tells_story());
  CHECK_FALSE(parts().find("tabs"));
  CHECK(shown.application.view.level == Level::all);
}

TEST_CASE("a phone tells the story, its tables below each other, and a lesson below what it is about",
          "[levels]") {
  constexpr Size phone = {390, 844, 1};
  FirstStart shown;
  const auto none_beyond = [&] {
    for (const Part& part : parts().all()) {
      CAPTURE(part.path);
      CHECK((part.where.minimum.x >= 0 && part.where.maximum.x <= phone.width));
    }
  };
  const auto top = [](const char* path) {
    CAPTURE(path);
    const Part* const part = parts().find(path);
    REQUIRE(part);
    return part->where.minimum.y;
  };
  shown.draw(phone);
  CHECK(top("step/story/answers/before") < top("step/story/answers/change"));
  CHECK(top("step/story/answers/change") < top("step/story/answers/after"));
  none_beyond();
  REQUIRE(shown.application.open_lesson(shipped_lessons().at(6).file, 0));
  shown.session.wait();
  shown.draw(phone);
  CHECK(top("step/lesson") > top("step/story/answers/before"));
  none_beyond();
}

TEST_CASE("the story of every workspace can be read under every rule", "[levels]") {
  ShownProgram shown;
  show_level(shown, Level::story);
  shown.session.go_to_token(42);
  for (const Variant& variant : variants()) {
    shown.choose(variant.id);
    for (const Workspace& workspace : shown.application.workspaces()) {
      CAPTURE(variant.id, workspace.id);
      shown.draw_in(workspace.id);
      CHECK(open_panels() == (workspace.in_bar ? 2 : 3));  // with the text of a rule
      CHECK(std::ranges::any_of(parts().all(), [&](const Part& part) {
        return part.path.starts_with(workspace.id) && part.path.ends_with("/headline") && !part.words.empty();
      }));
      for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
    }
  }
}

TEST_CASE("the story of Verify injects a fault that changes the form by one click, and removes it by another",
          "[levels]") {
  FirstStart shown;
  for (const Form form : {Form::recurrent, Form::chunkwise}) {
    shown.choose(form);
    shown.draw_in("verify");
    CHECK_THAT(words_at("verify/where/headline"), says("All 4 forms give the same result: in f64"));
    for (std::size_t i = 0; i < faults().size() && shown.session.state().verify.fault.id.empty(); ++i) {
      shown.draw_clicked("verify/where/inject");  // off until a fault is known to change it
    }
    const InjectedFault injected = shown.session.state().verify.fault;
    REQUIRE(injected.form == form);
    const auto figures = find_out(FaultHere{without_fault(shown.session.computed()), form, injected.id});
    REQUIRE(figures->first_wrong >= 0);
    CHECK_THAT(
        words_at("verify/where/headline"),
        says(find_fault(injected.id).label) && says(fmt::format("token {} ", figures->first_wrong + 1)));
    shown.draw_clicked("verify/where/remove");
    CHECK(shown.session.state().verify.fault.id.empty());
  }
}

TEST_CASE("a window that is resized in one workspace leaves the others as designed", "[levels]") {
  const auto places = [](ShownProgram& shown) {
    std::vector<Rectangle> all;
    for (const Panel& panel : shown.application.workspace().panels) {
      if (is_window_shown(panel.title)) all.push_back(window_place(panel.title));
    }
    return all;
  };
  ShownProgram fresh("step", {}, {1600, 1000});
  fresh.application.zoom = 1.25;  // as a smaller window
  fresh.draw();
  const std::vector<Rectangle> designed = places(fresh);
  ShownProgram shown("step", {}, {1600, 1000});
  shown.draw();
  shown.draw_in("learn");
  shown.application.zoom = 1.25;
  shown.draw();
  shown.draw_in("step");
  CHECK(places(shown) == designed);
}
