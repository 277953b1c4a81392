// The panel "What the memory answers".

#include "app/views/answers.h"
#include "app/views/answer_cells.h"

#include <imgui_internal.h>  // to find windows

#include <algorithm>
#include <iterator>

#include "app/studio/application.h"
#include "app/views/underlined_words.h"
#include "app/window/offscreen.h"
#include "core/insight/answers.h"
#include "core/variants/variants.h"
#include "tests/catch.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// A program with the capture that greets a newcomer, at the word that overwrites another.
struct Asked {
  explicit Asked(int width = 1920, int height = 1080) : offscreen(width, height) {
    application.open_first_capture();
    application.session.wait();
    application.session.go_to_token(42);
    application.session.set_cursor({application.session.cursor().block, 3, 0});  // the update
    application.session.wait();
    draw();
  }

  void draw() {
    for (int turn = 0; turn < 2; ++turn) {  // what a view asks for is there in the frame after
      offscreen.pass([&] { application.draw(1); });
      application.session.questions().wait();
    }
    offscreen.pass([&] { application.draw(1); });
  }

  void choose(const char* variant, Form form) {
    Choice choice = application.session.choice();
    choice.variant = variant;
    choice.form = form;
    application.session.choose(std::move(choice));
    application.session.wait();
    draw();
  }

  Application application;
  Offscreen offscreen;
};

}  // namespace

TEST_CASE("the memory is asked under the stage, and the floor underlines the words", "[answers]") {
  Asked asked;
  const AnswersMap& map = answers_map();
  REQUIRE(map.shown);
  CHECK_FALSE(map.is_old);
  const AnswerTable& table = map.shown->table;
  CHECK(map.shown->sentence == "Asked as at “The red jar holds a key”, it now answers “drum”.");
  CHECK(table.words.size() == 6);
  CHECK((table.before + table.change - table.after).cwiseAbs().maxCoeff() < 1e-12);
  std::vector<Index> tokens;
  for (const AskedWord& word : table.words) tokens.push_back(word.token);
  std::ranges::sort(tokens);
  CHECK(underlined_words(asked.application.session) == tokens);

  // Cells have room for their numbers at both sizes of the design.
  CHECK(map.cell.x >= 36);
  asked.application.session.go_to_token(6);
  asked.draw();
  REQUIRE(answers_map().shown);
  CHECK(answers_map().shown->token == 6);

  Asked small(1280, 800);
  REQUIRE(answers_map().shown);
  CHECK(answers_map().cell.x >= 30);
  CHECK(answers_map().cell.y >= 18);
}

TEST_CASE("a person chooses the words that the memory is asked about", "[answers]") {
  Asked asked;
  Session& session = asked.application.session;
  const std::vector<Index> usual = underlined_words(session);
  SessionState state = session.state();
  state.words = {6, 20};
  session.change(state);
  asked.draw();
  REQUIRE(answers_map().shown);
  CHECK(answers_map().shown->table.words.size() == 2);
  CHECK(underlined_words(session) == std::vector<Index>{6, 20});
  asked.application.undo();
  asked.draw();
  CHECK(underlined_words(session) == usual);

  // Ctrl+click on a word adds it to those that are asked, or takes it out.
  const ImGuiWindow* floor = ImGui::FindWindowByName("Timeline");
  REQUIRE(floor);
  ImGuiIO& io = ImGui::GetIO();
  const auto frame = [&] { asked.offscreen.pass([&] { asked.application.draw(1); }); };
  io.AddMousePosEvent(floor->Pos.x + floor->Size.x / 2, floor->Pos.y + 40);
  frame();
  io.AddKeyEvent(ImGuiMod_Ctrl, true);
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  frame();
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  frame();
  io.AddKeyEvent(ImGuiMod_Ctrl, false);
  frame();
  std::vector<Index> toggled;
  std::ranges::set_symmetric_difference(usual, session.state().words, std::back_inserter(toggled));
  CHECK(toggled.size() == 1);
  CHECK(session.token() == 42);  // the cursor stays
  perform(find_command(asked.application, "words.strongest"), asked.application);
  CHECK(session.state().words.empty());

  session.open_named("preset:copy?T=12&K=3&V=2&seed=1");
  session.wait();
  CHECK(session.state().words.empty());  // they were of other data
}

TEST_CASE("where nobody can ask a memory, the stage has its room", "[answers]") {
  Asked asked;
  asked.choose("gated_deltanet", Form::chunkwise);
  CHECK_FALSE(has_answers(asked.application));
  asked.choose("gated_deltanet", Form::recurrent);
  CHECK(has_answers(asked.application));
  for (const Variant& variant : variants()) {
    INFO(variant.id);
    asked.choose(variant.id.c_str(), Form::recurrent);
    if (!asked.application.session.message().empty()) continue;  // it cannot take these data
    CHECK(has_answers(asked.application) == (variant.memory.none.empty() || variant.memory.answers));
    CHECK(asked.application.undrawn() == "");
    if (has_answers(asked.application)) CHECK(answers_map().shown);
  }
}

TEST_CASE("numbers beyond 1 have colours of their own, and say so", "[answers]") {
  Asked asked(1280, 800);
  REQUIRE(answers_map().shown);
  CHECK(answers_map().scale == 1);
  asked.choose("hgrn2", Form::recurrent);
  REQUIRE(answers_map().shown);
  const AnswerTable& table = answers_map().shown->table;
  const double scale = answers_map().scale;
  CHECK(scale > 1);
  CHECK(scale <= table.after.cwiseAbs().maxCoeff() + table.before.cwiseAbs().maxCoeff());
  Index beyond = 0;
  for (const Matrix<double>* values : {&table.before, &table.change, &table.after})
    beyond += (values->cwiseAbs().array() > scale).count();
  CHECK(static_cast<double>(beyond) <= 0.05 * 3 * static_cast<double>(table.after.size()));
  CHECK(answer_number(0.352) == "0.35");
  CHECK(answer_number(-31.91) == "-31.9");
  CHECK(answer_number(315.17) == "315");
  CHECK(answer_number(-99.96) == "-100");
  CHECK(answer_number(20000) == "2e+04");
  CHECK(answer_number(1.0 / 0.0) == "none");
}
