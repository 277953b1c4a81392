// The panel "What the memory answers".

#include "app/views/answers.h"

#include <imgui_internal.h>  // to find windows

#include <algorithm>
#include <iterator>

#include "app/studio/application.h"
#include "app/views/underlined_words.h"
#include "app/window/offscreen.h"
#include "core/insight/answers.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/offscreen/plots.h"

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

  /// What the panel shows, which is of the present place.
  std::shared_ptr<const AnswersAtPlace> answers() {
    const auto known = ask_answers(application);
    REQUIRE(known.value);
    CHECK_FALSE(known.stale);
    REQUIRE(parts().find("step/answers/after"));
    return known.value;
  }

  Application application;
  Offscreen offscreen;
};

/// How large a cell is on the screen.
ImVec2 cell_size(const AnswerTable& table) {
  const Rectangle cells = place_of("step/answers/after");
  const auto count = static_cast<float>(table.words.size());
  return {(cells.maximum.x - cells.minimum.x) / count, (cells.maximum.y - cells.minimum.y) / count};
}

}  // namespace

TEST_CASE("the memory is asked under the stage, and the floor underlines the words", "[answers]") {
  Asked asked;
  const auto shown = asked.answers();
  const AnswerTable& table = shown->table;
  CHECK(shown->sentence == "Asked as at “The red jar holds a key”, it now answers “drum”.");
  CHECK(table.words.size() == 6);
  CHECK((table.before + table.change - table.after).cwiseAbs().maxCoeff() < 1e-12);
  std::vector<Index> tokens;
  for (const AskedWord& word : table.words) tokens.push_back(word.token);
  std::ranges::sort(tokens);
  CHECK(underlined_words(asked.application.session) == tokens);

  // Cells have room for their numbers at both sizes of the design.
  CHECK(cell_size(table).x >= 36);
  asked.application.session.go_to_token(6);
  asked.draw();
  CHECK(asked.answers()->token == 6);

  const Asked small(1280, 800);
  CHECK(cell_size(table).x >= 30);
  CHECK(cell_size(table).y >= 18);
}

TEST_CASE("a person chooses the words that the memory is asked about", "[answers]") {
  Asked asked;
  Session& session = asked.application.session;
  const std::vector<Index> usual = underlined_words(session);
  SessionState state = session.state();
  state.words = {6, 20};
  session.change(state);
  asked.draw();
  CHECK(asked.answers()->table.words.size() == 2);
  CHECK(underlined_words(session) == std::vector<Index>{6, 20});
  asked.application.session.undo();
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
    if (has_answers(asked.application)) CHECK(ask_answers(asked.application).value);
  }
}

TEST_CASE("numbers beyond 1 have colours of their own, and say so", "[answers]") {
  Asked asked(1280, 800);
  CHECK(answer_scale(asked.answers()->table) == 1);
  asked.choose("hgrn2", Form::recurrent);
  const auto shown = asked.answers();
  const AnswerTable& table = shown->table;
  const double scale = answer_scale(table);
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
