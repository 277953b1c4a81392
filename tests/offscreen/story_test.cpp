// What a text tells, and where to look: the first that a newcomer reads.

#include "app/views/story_page.h"

#include "app/session/kept.h"
#include "app/views/answers.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

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

TEST_CASE("the bar tells what the text tells, where it has room", "[story]") {
  ShownProgram shown;
  shown.draw(usual_sizes[1]);
  CHECK(words_at("story") == "A red jar holds a key; later it holds a drum.");
  // Nothing is told of made-up data, nor where there is no room for it.
  shown.draw({700, 600});
  CHECK_FALSE(parts().find("story"));
}

TEST_CASE("the data are named by whole parts of their title", "[story]") {
  ShownProgram shown;
  shown.application.closed_stories = {shown.session.data().id};
  for (const auto& [width, words] : {std::pair(1920, "overwriting a fact · Gated DeltaNet · head 0 ▾"),
                                     std::pair(1120, "overwriting a fact · head 0 ▾")}) {
    shown.draw({width, 800});
    CHECK(words_at("data") == words);
  }
}

TEST_CASE("a word of a story leads to the step that shows what happens there", "[story]") {
  ShownProgram shown;
  Application& application = shown.application;
  Session& session = shown.session;
  const auto purpose = [&] {
    session.wait();
    return session.sight().trace->operation(session.sight().cursor).purpose;
  };
  const FirstLook* look = first_look(session.data().id);
  REQUIRE(look);
  REQUIRE(look->words.size() == 3);
  go_to_word(application, look->words[1]);  // "drum" over it
  CHECK(session.token() == 42);
  CHECK(purpose() == Purpose::update);
  go_to_word(application, look->words[2]);  // asked
  CHECK(session.token() == 63);
  CHECK(purpose() == Purpose::output);
  // What is asked for has a row and a column: key, and drum in its place.
  CHECK(asked_choice(session).words.pinned == std::vector<Index>{6, 42, 63});
  shown.draw();
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
  CHECK(
      answers->sentence.starts_with("With the query of “The red jar holds a”, the memory returns “drum” ("));
  // At any other word those written most strongly are asked about.
  application.session.go_to_token(62);
  CHECK(asked_choice(session).by == AskedBy::strength);
  CHECK(asked_choice(session).words.pinned.empty());
  CHECK(session.state().words.empty());
  session.change([](SessionState& state) { state.words = {3, 9}; });
  go_to_word(application, look->words[2]);
  CHECK(session.state().words == std::vector<Index>{3, 9});  // the person's own stay
  CHECK(asked_choice(session).by == AskedBy::person);
  CHECK(asked_choice(session).words == WordChoice{.pinned = {3, 9}});
  shown.choose(Form::chunkwise);  // whose steps are those of a chunk
  go_to_word(application, look->words[0]);
  CHECK(session.token() == 6);
}

TEST_CASE("a story that was put away stays away, for its data alone", "[story]") {
  ShownProgram shown("step", {}, usual_sizes[1]);
  shown.draw();
  const std::string story = words_at("story");
  REQUIRE(story != "");
  shown.draw_clicked("story/close");
  CHECK_FALSE(parts().find("story"));
  CHECK(shown.application.closed_stories == std::vector<std::string>{shown.session.data().id});
  shown.open("capture:gla_recall_l1");
  shown.draw();
  CHECK(parts().find("story"));
  open_overwriting(shown.application.session);
  shown.draw();
  CHECK_FALSE(parts().find("story"));
  // As the next start has it from the settings.
  ShownProgram next("step", {}, usual_sizes[1]);
  Preferences kept;
  kept.closed_stories = shown.application.closed_stories;
  next.application.closed_stories = parse_preferences(write_preferences(kept)).closed_stories;
  next.draw();
  CHECK_FALSE(parts().find("story"));
  bring_story_back(next.application);
  next.draw();
  CHECK(words_at("story") == story);
}
