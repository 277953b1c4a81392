// The panel "What the memory returns", and the row of small tables in which a head is chosen.

#include "app/views/answers.h"
#include "app/session/memory_questions.h"
#include "app/views/data_parts.h"
#include "app/views/floor.h"
#include "core/insight/answers.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The capture that greets a newcomer, at the update of the word that overwrites another.
struct Asked : ShownProgram {
  explicit Asked(const Size& size = usual_sizes[1]) : ShownProgram("step", {}, size) {
    session.go_to_token(42);
    session.set_cursor({session.cursor().block, 3, 0});
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
};

/// How large a cell is on the screen.
ImVec2 cell_size(const AnswerTable& table) {
  const Rectangle cells = place_of("step/answers/after");
  const auto count = static_cast<float>(table.words.size());
  return {cells.width() / count, cells.height() / count};
}

}  // namespace

TEST_CASE("the memory is asked under the stage, and the floor underlines the words", "[answers]") {
  Asked asked;
  const auto shown = asked.answers();
  const AnswerTable& table = shown->table;
  CHECK(
      shown->sentence ==
      "With the key of “The red jar holds a key”, the memory now returns mostly “drum” (0.58; “key” 0.35).");
  CHECK(table.words.size() == 6);
  CHECK((table.before + table.change - table.after).cwiseAbs().maxCoeff() < 1e-12);
  std::vector<Index> tokens;
  for (const AskedWord& word : table.words) tokens.push_back(word.token);
  std::ranges::sort(tokens);
  CHECK(underlined_words(asked.session) == tokens);

  // Cells have room for their numbers at both sizes of the design.
  CHECK(cell_size(table).x >= 36);
  asked.draw_at(6);
  CHECK(asked.answers()->token == 6);

  const Asked small(usual_sizes[0]);
  CHECK(cell_size(table).x >= 30);
  CHECK(cell_size(table).y >= 18);
}

TEST_CASE("a person chooses the words that the memory is asked about", "[answers]") {
  Asked asked;
  Session& session = asked.session;
  const std::vector<Index> usual = underlined_words(session);
  session.change([](SessionState& state) { state.words = {6, 20}; });
  asked.draw();
  CHECK(asked.answers()->table.words.size() == 2);
  CHECK(underlined_words(session) == std::vector<Index>{6, 20});
  asked.session.undo();
  asked.draw();
  CHECK(underlined_words(session) == usual);

  // Ctrl+click on a word adds it to those that are asked, or takes it out.
  const ImGuiWindow* floor = ImGui::FindWindowByName("Timeline");
  REQUIRE(floor);
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, true);
  asked.click(ImVec2(floor->Pos.x + floor->Size.x / 2, floor->Pos.y + 40));
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, false);
  asked.pass();
  std::vector<Index> toggled;
  std::ranges::set_symmetric_difference(usual, session.state().words, std::back_inserter(toggled));
  CHECK(toggled.size() == 1);
  CHECK(session.token() == 42);  // the cursor stays
  perform(find_command(asked.application, "words.strongest"), asked.application);
  CHECK(session.state().words.empty());

  asked.open("preset:copy?T=12&K=3&V=2&seed=1");
  CHECK(session.state().words.empty());  // they were of other data
}

TEST_CASE("where nobody can ask a memory, the stage has its room", "[answers]") {
  Asked asked;
  asked.draw_as("gated_deltanet", Form::chunkwise);
  CHECK_FALSE(has_answers(asked.application));
  for (const Variant& variant : variants()) {
    INFO(variant.id);
    asked.draw_as(variant.id, Form::recurrent);
    if (!asked.session.message().empty()) continue;  // it cannot take these data
    CHECK(has_answers(asked.application) == (variant.memory.none.empty() || variant.memory.answers));
    if (has_answers(asked.application)) CHECK(ask_answers(asked.application).value);
  }
}

TEST_CASE("numbers beyond 1 have colours of their own, and say so", "[answers]") {
  Asked asked(usual_sizes[0]);
  CHECK(answer_scale(asked.answers()->table) == 1);
  asked.draw_as("hgrn2", Form::recurrent);
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

TEST_CASE("heads are pictures where they are few, and their tables are those of the answer", "[heads]") {
  ShownProgram shown("step", "capture:gated_deltanet_overwrite_l1");
  Session& session = shown.session;
  CHECK(has_head_tables(session));
  const auto tables = [&] {
    HeadTables key;
    key.of = session.sight().computation;
    return session.questions().ask(key).value;
  };
  CHECK_FALSE(tables());
  shown.draw_at(42);
  REQUIRE(tables());
  CHECK(tables()->heads.size() == 4);

  // The pointer rests on the second picture.
  const Rectangle second = place_of("step/heads/1");
  shown.point(second.middle(), 60);
  CHECK(shown.application.undrawn() == "");
  shown.click(second);
  CHECK(session.choice().head == 1);
  CHECK(session.token() == 42);

  // One head needs no choice, and a very long text is not run through for it.
  shown.open("preset:overwrite?T=24&K=6&V=5");
  CHECK_FALSE(has_head_tables(session));
}
