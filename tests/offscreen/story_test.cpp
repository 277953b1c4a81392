// What a text tells, and where to look: the first that a newcomer reads.

#include "app/views/story_line.h"

#include <imgui.h>

#include "app/scene/parts.h"
#include "app/session/kept.h"
#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/views/answers.h"
#include "app/widgets/text.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("the words that a story names are where it says", "[story]") {
  int seen = 0;
  for (const char* name :
       {"deltanet_overwrite_l2", "gated_deltanet_overwrite_l1", "gated_deltanet_recall_l1", "gla_recall_l1",
        "kda_overwrite_l1", "kda_prose_l1", "kda_recall_l1", "mamba2_recall_l2", "retnet_overwrite_l2",
        "simple_gla_recall_l1", "softmax_code_l20", "softmax_names_l16", "softmax_recall_l18"}) {
    CAPTURE(name);
    const DataSet data = open_capture(std::string("capture:") + name);
    const FirstLook* look = first_look(data.id);
    REQUIRE(look != nullptr);
    for (const WordToSee& word : look->words) {
      REQUIRE(word.token < data.tokens);
      CHECK(visible_label(data.labels[static_cast<std::size_t>(word.token)]) == word.label);
      ++seen;
    }
  }
  CHECK(seen > 20);
  CHECK(first_look("preset:overwrite?T=12&K=4&V=4&seed=1") == nullptr);
}

TEST_CASE("a newcomer reads what the text tells, in a small window too", "[story]") {
  for (const auto& [width, height] : {std::pair{1280, 800}, std::pair{1920, 1080}}) {
    CAPTURE(width);
    Application application;
    Offscreen offscreen(width, height);
    application.open_first_capture();
    application.session.wait();
    for (int turn = 0; turn < 3; ++turn) offscreen.pass([&] { application.draw(1); });
    REQUIRE(parts().find("story"));
    CHECK(parts().find("story")->words == "A red jar holds a key; later it holds a drum.");
  }
  // Nothing is told of made-up data, nor where there is no room for it.
  Application application;
  Offscreen offscreen(700, 600);
  application.open_first_capture();
  application.session.wait();
  for (int turn = 0; turn < 3; ++turn) offscreen.pass([&] { application.draw(1); });
  CHECK_FALSE(parts().find("story"));
}

TEST_CASE("the data are named by whole parts of their title", "[story]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.closed_stories = {application.session.data().id};
  for (const auto& [width, words] :
       {std::pair(1920, "overwriting a fact · Gated DeltaNet · layer 1 · head 0 ▾"),
        std::pair(1150, "overwriting a fact · head 0 ▾")}) {
    Offscreen offscreen(width, 800);
    for (int turn = 0; turn < 3; ++turn) offscreen.pass([&] { application.draw(1); });
    REQUIRE(parts().find("data"));
    CHECK(parts().find("data")->words == words);
  }
}

TEST_CASE("a word of a story leads to the step that shows what happens there", "[story]") {
  Application application;
  Offscreen offscreen(1280, 800);
  application.open_first_capture();
  application.session.wait();
  const auto purpose = [&] {
    application.session.wait();
    return application.session.sight().trace->operation(application.session.sight().cursor).purpose;
  };
  const FirstLook* look = first_look(application.session.data().id);
  REQUIRE(look);
  REQUIRE(look->words.size() == 3);
  go_to_word(application, look->words[1]);  // "drum" over it
  CHECK(application.session.token() == 42);
  CHECK(purpose() == Purpose::update);
  go_to_word(application, look->words[2]);  // asked
  CHECK(application.session.token() == 63);
  CHECK(purpose() == Purpose::output);
  // What is asked for has a row and a column: key, and drum in its place.
  CHECK(asked_choice(application.session).words.pinned == std::vector<Index>{6, 42, 63});
  for (int turn = 0; turn < 3; ++turn) {
    application.session.questions().wait();
    offscreen.pass([&] { application.draw(1); });
  }
  const auto answers = ask_answers(application).value;
  REQUIRE(answers);
  std::vector<std::string> rows;
  for (const AskedWord& word : answers->table.words) rows.push_back(word.text);
  CHECK(rows == std::vector<std::string>{"key", "drum", "a"});
  // It is the query that asks for it, and the answer stands in its row.
  const AnswerTable& table = answers->table;
  REQUIRE(table.words[2].by_query);
  CHECK(table.after(2, 1) > 2 * table.after(2, 0));
  CHECK(table.after(2, 1) > 2 * table.after(2, 2));
  CHECK(answers->sentence.starts_with("Asked with the query of “The red jar holds a”, it answers “drum”: "));
  // At any other word those written most strongly are asked about.
  application.session.go_to_token(62);
  CHECK(asked_choice(application.session).by == AskedBy::strength);
  CHECK(asked_choice(application.session).words.pinned.empty());
  CHECK(application.session.state().words.empty());
  SessionState own = application.session.state();
  own.words = {3, 9};
  application.session.change(std::move(own));
  go_to_word(application, look->words[2]);
  CHECK(application.session.state().words == std::vector<Index>{3, 9});  // the person's own stay
  CHECK(asked_choice(application.session).by == AskedBy::person);
  CHECK(asked_choice(application.session).words == WordChoice{.pinned = {3, 9}});
  Choice choice = application.session.choice();
  choice.form = Form::chunkwise;  // whose steps are those of a chunk
  application.session.choose(std::move(choice));
  application.session.wait();
  go_to_word(application, look->words[0]);
  CHECK(application.session.token() == 6);
}

TEST_CASE("a story that was put away stays away, for its data alone", "[story]") {
  Application application;
  Offscreen offscreen(1280, 800);
  const auto draw = [&] {
    application.session.wait();
    for (int turn = 0; turn < 3; ++turn) offscreen.pass([&] { application.draw(1); });
  };
  application.open_first_capture();
  draw();
  REQUIRE(parts().find("story"));
  const std::string story = parts().find("story")->words;
  const std::string id = application.session.data().id;
  const Rectangle cross = parts().find("story/close")->where;
  ImGuiIO& io = ImGui::GetIO();
  io.AddMousePosEvent((cross.minimum.x + cross.maximum.x) / 2, (cross.minimum.y + cross.maximum.y) / 2);
  draw();
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  draw();
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  io.AddMousePosEvent(5, 700);
  draw();
  CHECK_FALSE(parts().find("story"));
  CHECK(application.closed_stories == std::vector<std::string>{id});
  REQUIRE(application.session.open_named("capture:gla_recall_l1"));
  draw();
  CHECK(parts().find("story"));
  application.open_first_capture();
  draw();
  CHECK_FALSE(parts().find("story"));
  // As the next start has it from the settings.
  Application next;
  Preferences kept;
  kept.closed_stories = application.closed_stories;
  next.closed_stories = parse_preferences(write_preferences(kept)).closed_stories;
  Offscreen another(1280, 800);
  next.open_first_capture();
  next.session.wait();
  for (int turn = 0; turn < 3; ++turn) another.pass([&] { next.draw(1); });
  CHECK_FALSE(parts().find("story"));
  bring_story_back(next);
  for (int turn = 0; turn < 3; ++turn) another.pass([&] { next.draw(1); });
  REQUIRE(parts().find("story"));
  CHECK(parts().find("story")->words == story);
}
