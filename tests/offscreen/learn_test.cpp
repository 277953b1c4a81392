#include "app/views/learn.h"

#include <fmt/format.h>
#include <imgui.h>

#include "app/studio/application.h"
#include "app/views/answers.h"
#include "app/views/learn_rows.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Draws until everything that is asked for is there.
void draw_all(Application& application, Offscreen& offscreen) {
  const auto draw = [&] { application.draw(offscreen.scale()); };
  for (int i = 0; i < 4; ++i) {
    offscreen.pass(draw);
    application.session.wait();
    application.session.answers().wait();
  }
  offscreen.pass(draw);
  REQUIRE(application.undrawn() == "");
}

std::string words_of(const std::vector<Rectangle>& pieces) {
  std::string words;
  for (const Rectangle& piece : pieces)
    words += fmt::format("[{:.0f}, {:.0f}] to [{:.0f}, {:.0f}]\n", piece.minimum.x, piece.minimum.y,
                         piece.maximum.x, piece.maximum.y);
  return words;
}

}  // namespace

TEST_CASE("Learn shows every variant at every size, or says why not", "[learn]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=5"));
  application.session.wait();
  application.enter("learn");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const Variant& variant : variants()) {
      CAPTURE(variant.id, width);
      Choice choice = application.session.choice();
      choice.variant = variant.id;
      application.session.choose(std::move(choice));
      application.session.wait();
      application.session.go_to_token(15);
      draw_all(application, offscreen);
      CHECK(words_of(learn_map().beyond) == "");
      const bool is_empty = learn_map().reason.empty() == variant.loss.problems.operator bool();
      CHECK(is_empty);
      CHECK(learn_map().words.size() > 5);
    }
  }
}

TEST_CASE("Learn follows the words that Step asks", "[learn]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  Offscreen offscreen(1280, 800);
  for (const char* variant : {"gated_deltanet", "titans", "ttt_linear", "lact"}) {
    for (const Index token : {42, 51, 52}) {
      CAPTURE(variant, token);
      Choice choice = application.session.choice();
      choice.variant = variant;
      application.session.choose(std::move(choice));
      application.session.wait();
      application.session.go_to_token(token);
      application.enter("step");
      draw_all(application, offscreen);
      REQUIRE(answers_map().shown);
      std::vector<Index> asked;
      for (const AskedWord& word : answers_map().shown->table.words) asked.push_back(word.token);
      application.enter("learn");
      draw_all(application, offscreen);
      CHECK(learn_lanes() == asked);
    }
  }
}

TEST_CASE("a step that is too long is beyond the edge, and says which token runs away", "[learn]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=5"));
  application.session.wait();
  application.enter("learn");
  Choice choice = application.session.choice();
  choice.variant = "deltanet";
  paint(choice.edits, "beta", 0, 23, 6);
  application.session.choose(std::move(choice));
  application.session.wait();
  application.session.go_to_token(20);
  Offscreen offscreen(1920, 1080);
  draw_all(application, offscreen);
  CHECK(words_of(learn_map().beyond) == "");
  CHECK(application.session.computed()->divergence.has_value());
  const Rectangle& loss = learn_map().loss;
  CHECK(learn_map().dot.x > loss.minimum.x + 0.8F * (loss.maximum.x - loss.minimum.x));
}

TEST_CASE("Learn with nothing open says what to do", "[learn]") {
  Application application;
  application.enter("learn");
  Offscreen offscreen(1280, 800);
  offscreen.pass([&] { application.draw(1); });
  CHECK(application.undrawn() == "");
  CHECK_FALSE(learn_map().reason.empty());
}

TEST_CASE("the pages about keys and about capacity are drawn, or say why not", "[learn]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=5"));
  application.session.wait();
  application.enter("learn");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const LearnPage page : {LearnPage::keys, LearnPage::capacity}) {
      for (const char* variant : {"deltanet", "softmax", "ttt_mlp"}) {
        CAPTURE(variant, width, static_cast<int>(page));
        Choice choice = application.session.choice();
        choice.variant = variant;
        application.session.choose(std::move(choice));
        offscreen.pass([&] {
          learn_page() = page;
          application.draw(offscreen.scale());
        });
        draw_all(application, offscreen);
        CHECK(words_of(learn_map().beyond) == "");
      }
    }
  }
}

TEST_CASE("Learn is drawn at every size, however small", "[learn]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=5"));
  application.session.wait();
  application.enter("learn");
  for (const auto& [width, height] : {std::pair(16, 16), std::pair(320, 200), std::pair(640, 300),
                                      std::pair(300, 1000), std::pair(1900, 320)}) {
    CAPTURE(width, height);
    Offscreen offscreen(width, height);
    for (const LearnPage page : {LearnPage::step, LearnPage::keys, LearnPage::capacity}) {
      offscreen.pass([&] {
        learn_page() = page;
        application.draw(offscreen.scale());
      });
      draw_all(application, offscreen);
    }
  }
}
