// A text that a small model reads: its line, its answer, and what becomes of that when the model is changed.

#include "app/session/typed_text.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("the answer changes when a layer no longer erases, and comes back", "[text bar]") {
  ShownProgram shown;
  shown.draw();
  CHECK_FALSE(parts().find("text bar"));
  const Command& only_add = find_command(shown.application, "text.only_add");
  CHECK_THAT(why_not(only_add, shown.application), says("Ctrl+T"));
  shown.draw_after("text.open");
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    shown.draw(size);
    CHECK(words_at("text bar/answer") == "answers “lamp” 1.00");
    CHECK(words_at("text bar/place") == "layer 2 · head 2");
    CHECK_THAT(words_at("text bar/text"), says("Now the red jar holds a lamp."));
    CHECK(parts().find("text bar/answer")->is_whole());
    shown.draw_after("text.only_add");
    CHECK(words_at("text bar/answer") == "answers “lamp” → “bell” 0.99");
    CHECK_THAT(words_at("text bar/change only-add:2"), says("layer 2: only adds"));
    CHECK(shown.session.choice().variant == "linear_with_beta");
    shown.draw_clicked("text bar/change only-add:2");
    CHECK(words_at("text bar/answer") == "answers “lamp” 1.00");
  }
  CHECK(shown.session.token() == 29);
  shown.draw_after("text.take_out");
  CHECK(words_at("text bar/answer") == "answers “lamp” → “bell” 1.00");
  CHECK(shown.session.data().read->typed.interventions.size() == 1);
  shown.draw_after("text.as_trained");
  const auto answer_to = [&](const char* text) {
    TypedText typed = usual_text();
    typed.text = text;
    shown.session.read(typed);
    shown.draw();
    return words_at("text bar/answer");
  };
  CHECK_THAT(answer_to("hello"), says("guesses"));
  CHECK(answer_to(" ") == "no answer");
  CHECK(shown.session.data().read->typed.interventions.empty());
}

TEST_CASE("a newcomer is greeted by a text, at the word that is written over another", "[text bar]") {
  ShownProgram shown;
  shown.application.open_first_text();
  shown.session.wait();
  CHECK(shown.session.message().empty());
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    shown.draw(size);
    CHECK(words_at("text bar/answer") == "answers “lamp” 1.00");
    CHECK_FALSE(parts().find("story"));
  }
  CHECK(shown.session.data().labels[static_cast<std::size_t>(shown.session.token())] == " lamp");
  CHECK(shown.session.choice().variant == "deltanet");
}

TEST_CASE("its menus show what else could follow, which head carries it, and lead to heads", "[text bar]") {
  ShownProgram shown;
  shown.draw_after("text.open");
  shown.draw_after("text.only_add");
  const std::string changed = shown.session.data().id;
  shown.draw_after("text.open");  // a text that is open stays
  CHECK(shown.session.data().id == changed);
  shown.draw_clicked("text bar/answer");
  const std::string answers = parts().text();
  CHECK_THAT(answers, says("“lamp”") && says("“bell”") && says("logit of “lamp” minus logit of “bell”"));
  CHECK_THAT(answers, says("nats per token"));
  CHECK_THAT(answers, says("What the memory returns after “lamp”"));
  const auto part_at = [](std::string_view end) -> const Part& {
    const auto found =
        std::ranges::find_if(parts().all(), [&](const Part& part) { return part.path.ends_with(end); });
    REQUIRE(found != parts().all().end());
    return *found;
  };
  // With the key of the first fact: a little of coin and of bell, most of lamp.
  CHECK_THAT(part_at("memories/trained").words, says("0.16 0.27 0.58"));
  CHECK(parts().find("text bar/answer")->where.maximum.x <= 1280);
  shown.click(part_at("only adds/0.3").where);
  shown.draw();
  CHECK(shown.session.data().read->typed.layer == 0);
  CHECK(shown.session.data().read->typed.head == 3);
}

TEST_CASE("the floor shows the loss of every word of a typed text", "[text bar]") {
  ShownProgram shown("step", text_id(usual_text()));
  shown.draw();
  CHECK(parts().find("step/floor/loss"));
  shown.open("preset:overwrite");
  shown.draw();
  CHECK_FALSE(parts().find("step/floor/loss"));
}
