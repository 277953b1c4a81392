#include "app/studio/command.h"
#include "app/views/learn.h"
#include "tests/gui/tests.h"

// Learn: a person drags the dot on the loss, paints gates, and tries what cannot be painted.

namespace palimpsest {

namespace {

constexpr Index word = 42;  // "drum", which overwrites "key"

/// Opens Learn at a word.
Session& enter_learn(ImGuiTestContext* context) {
  Session& session = start_program(context);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_2);
  context->Yield(2);
  session.go_to_token(word);
  settle_questions(context);
  return session;
}

void choose_variant(ImGuiTestContext* context, Session& session, const char* variant) {
  session.choose([&](Choice& choice) { choice.variant = variant; });
  settle_questions(context);
}

/// The edits of one kind.
std::vector<Edit> edits_of(const Session& session, std::string_view kind) {
  std::vector<Edit> found;
  for (const Edit& edit : session.choice().edits)
    if (edit.kind == kind) found.push_back(edit);
  return found;
}

/// Where a row of the floor lies; nowhere where it is not drawn.
Rectangle floor_row(const char* name) {
  const Part* row = parts().find(std::string("learn/floor/") + name);
  return row ? row->where : Rectangle{};
}

void drag(ImGuiTestContext* context, ImVec2 from, ImVec2 to) {
  context->MouseMoveToPos(from);
  context->MouseDown(0);
  context->Yield(2);
  context->MouseMoveToPos(to);
  context->Yield(2);
  context->MouseUp(0);
  context->Yield(2);
}

void opens_with_its_key(ImGuiTestContext* context) {
  const Session& session = enter_learn(context);
  IM_CHECK_STR_EQ(program().workspace().id, "learn");
  IM_CHECK(parts().find("learn/reason") == nullptr);
  IM_CHECK(parts().find("learn/loss/area") != nullptr);
  IM_CHECK_EQ(session.token(), word);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_1);
  context->Yield(2);
  IM_CHECK_STR_EQ(program().workspace().id, "step");
}

void the_dot_changes_the_strength(ImGuiTestContext* context) {
  Session& session = enter_learn(context);
  const ImVec2 dot = testing::middle_of(testing::place_of("learn/loss/mark/dot"));
  const Rectangle loss = testing::place_of("learn/loss/area");
  const float width = loss.maximum.x - loss.minimum.x;
  drag(context, dot, {dot.x + width / 4, dot.y});
  settle(context);
  const std::vector<Edit> painted = edits_of(session, "paint_gate");
  IM_CHECK_EQ(painted.size(), std::size_t{1});
  IM_CHECK_EQ(painted.front().array, std::string("beta"));
  IM_CHECK_EQ(painted.front().numbers[0], static_cast<double>(word));
  const double beta = painted.front().numbers[2];
  IM_CHECK_GT(beta, 1.2);
  IM_CHECK_EQ(session.computed()->sequence.at("beta")(word, 0), beta);
  session.questions().wait();
  settle(context);
  IM_CHECK_GT(testing::middle_of(testing::place_of("learn/loss/mark/dot")).x, dot.x + width / 5);
  // All of the drag is one change.
  session.undo();
  settle(context);
  IM_CHECK(session.choice().edits.empty());
}

/// Momentum takes the step off the line: the harmed word's dot stays on its curve, where the step's own is.
void harm_has_its_dot_on_the_curve(ImGuiTestContext* context) {
  Session& session = enter_learn(context);
  choose_variant(context, session, "titans");
  session.go_to_token(15);
  settle_questions(context);
  IM_CHECK(parts().find("learn/loss/mark/harm") != nullptr);
  const float harm = testing::middle_of(testing::place_of("learn/loss/mark/harm")).x;
  IM_CHECK_LT(std::abs(harm - testing::middle_of(testing::place_of("learn/loss/mark/dot")).x), 0.01F);
}

void paints_strengths_and_gates(ImGuiTestContext* context) {
  Session& session = enter_learn(context);
  const Rectangle strengths = floor_row("strength");
  const float middle = (strengths.minimum.x + strengths.maximum.x) / 2;
  const float y = strengths.minimum.y + (strengths.maximum.y - strengths.minimum.y) / 3;
  drag(context, {middle - 100, y}, {middle + 100, y});
  settle(context);
  const std::vector<Edit> painted = edits_of(session, "paint_gate");
  IM_CHECK_GE(painted.size(), std::size_t{3});
  IM_CHECK(std::ranges::all_of(painted, [](const Edit& edit) { return edit.array == "beta"; }));
  session.undo();
  settle(context);
  IM_CHECK(session.choice().edits.empty());

  const Rectangle gates = floor_row("gate");
  context->KeyDown(ImGuiMod_Shift);
  drag(context, {middle - 100, gates.minimum.y + 2}, {middle + 100, gates.maximum.y - 2});
  context->KeyUp(ImGuiMod_Shift);
  settle(context);
  const std::vector<Edit> ramps = edits_of(session, "ramp_gate");
  IM_CHECK_EQ(ramps.size(), std::size_t{1});
  IM_CHECK_EQ(ramps.front().array, std::string("alpha"));
  IM_CHECK_GT(ramps.front().numbers[2], ramps.front().numbers[3]);
}

void says_what_cannot_be_painted(ImGuiTestContext* context) {
  Session& session = enter_learn(context);
  choose_variant(context, session, "retnet");
  const Rectangle gates = floor_row("gate");
  const float middle = (gates.minimum.x + gates.maximum.x) / 2;
  context->MouseMoveToPos({middle, (gates.minimum.y + gates.maximum.y) / 2});
  context->MouseDown(0);
  context->Yield(3);
  IM_CHECK_EQ(program().refusal.empty(), false);
  context->MouseUp(0);
  context->Yield(2);
  IM_CHECK(session.choice().edits.empty());
  // A dot that cannot be dragged stays, too.
  const ImVec2 dot = testing::middle_of(testing::place_of("learn/loss/mark/dot"));
  drag(context, dot, {dot.x + 60, dot.y});
  IM_CHECK(session.choice().edits.empty());
  IM_CHECK_EQ(session.message(), std::string());
}

void click_choice(ImGuiTestContext* context, const std::string& words) {
  const Part* const choice = parts().find("learn/" + words);
  IM_CHECK(choice != nullptr);
  context->MouseMoveToPos(testing::middle_of(choice->where));
  context->MouseClick(0);
  context->Yield(2);
}

void a_network_runs_both_ways(ImGuiTestContext* context) {
  Session& session = enter_learn(context);
  choose_variant(context, session, "ttt_mlp");
  IM_CHECK(session.state().learn.network == NetworkSide::forward);
  click_choice(context, "backward");
  IM_CHECK(session.state().learn.network == NetworkSide::backward);
  click_choice(context, "step");
  IM_CHECK(session.state().learn.network == NetworkSide::step);
  IM_CHECK(testing::words_beyond("learn").empty());
  click_choice(context, "forward");
  IM_CHECK(session.choice().edits.empty());
}

void a_solve_is_seen_instead_of_the_step(ImGuiTestContext* context) {
  Session& session = enter_learn(context);
  choose_variant(context, session, "mesanet");
  IM_CHECK(session.state().learn.solve);
  click_choice(context, "the step");
  IM_CHECK(!session.state().learn.solve);
  click_choice(context, "the solve");
  IM_CHECK(session.state().learn.solve);
  IM_CHECK(testing::words_beyond("learn").empty());
}

void fewer_flattening_steps_are_looked_at(ImGuiTestContext* context) {
  Session& session = enter_learn(context);
  choose_variant(context, session, "lact");
  const Rectangle chart = testing::place_of("learn/flattening/area");
  IM_CHECK_GT(chart.maximum.x, chart.minimum.x);
  IM_CHECK_EQ(shown_iterate(session, 6), std::size_t{5});
  const float y = (chart.minimum.y + chart.maximum.y) / 2;
  drag(context, {chart.maximum.x - 4, y}, {(chart.minimum.x + chart.maximum.x) / 2 - 10, y});
  IM_CHECK_EQ(shown_iterate(session, 6), std::size_t{2});
  // Beyond the chart there is nothing before the gathered step.
  drag(context, {chart.minimum.x + 4, y}, {chart.minimum.x - 200, y});
  IM_CHECK_EQ(shown_iterate(session, 6), std::size_t{0});
  IM_CHECK(session.choice().edits.empty());
}

}  // namespace

void register_learn_tests(ImGuiTestEngine* engine) {
  add_program_test(engine, "Learn opens with its key", opens_with_its_key);
  add_program_test(engine, "harm has its dot on the curve", harm_has_its_dot_on_the_curve);
  add_program_test(engine, "the dot on the loss changes the word's strength", the_dot_changes_the_strength);
  add_program_test(engine, "strengths and gates are painted", paints_strengths_and_gates);
  add_program_test(engine, "Learn says what cannot be painted", says_what_cannot_be_painted);
  add_program_test(engine, "the network of TTT-MLP runs both ways", a_network_runs_both_ways);
  add_program_test(engine, "a solve is seen instead of the step", a_solve_is_seen_instead_of_the_step);
  add_program_test(engine, "fewer flattening steps are looked at", fewer_flattening_steps_are_looked_at);
}

}  // namespace palimpsest
