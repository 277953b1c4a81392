#include "app/views/learn.h"
#include "tests/gui/tests.h"

// Learn: a person drags the dot on the loss, paints gates, and tries what cannot be painted.

using namespace palimpsest;

namespace {

constexpr Index word = 42;  // "drum", which overwrites "key"

/// Opens Learn at a word.
Session& enter_learn(ImGuiTestContext* context) { return start_in(context, ImGuiKey_2, word); }

Session& learn_rule(ImGuiTestContext* context, const char* variant) {
  Session& session = enter_learn(context);
  choose(context, [&](Choice& choice) { choice.variant = variant; });
  return session;
}

/// The edits of one kind.
std::vector<Edit> edits_of(const Session& session, std::string_view kind) {
  std::vector<Edit> found;
  for (const Edit& edit : session.choice().edits)
    if (edit.kind == kind) found.push_back(edit);
  return found;
}

PROGRAM_TEST("the dot on the loss changes the word's strength") {
  Session& session = enter_learn(context);
  IM_CHECK_STR_EQ(program().workspace().id, "learn");
  IM_CHECK(parts().find("learn/reason") == nullptr);
  const ImVec2 dot = place_of("learn/loss/mark/dot").middle();
  const Rectangle loss = place_of("learn/loss/area");
  drag(context, dot, {dot.x + loss.width() / 4, dot.y});
  const std::vector<Edit> painted = edits_of(session, "paint_gate");
  IM_CHECK_EQ(painted.size(), std::size_t{1});
  IM_CHECK_EQ(painted.front().array, std::string("beta"));
  IM_CHECK_EQ(painted.front().numbers[0], static_cast<double>(word));
  const double beta = painted.front().numbers[2];
  IM_CHECK_GT(beta, 1.2);
  IM_CHECK_EQ(session.computed()->sequence.at("beta")(word, 0), beta);
  settle_questions(context);
  IM_CHECK_GT(place_of("learn/loss/mark/dot").middle().x, dot.x + loss.width() / 5);
  // All of the drag is one change.
  session.undo();
  settle(context);
  IM_CHECK(session.choice().edits.empty());
  press(context, ImGuiMod_Ctrl | ImGuiKey_1);
  IM_CHECK_STR_EQ(program().workspace().id, "step");
}

/// Momentum takes the step off the line: the harmed word's dot stays on its curve, where the step's own is.
PROGRAM_TEST("harm has its dot on the curve") {
  Session& session = learn_rule(context, "titans");
  session.go_to_token(15);
  settle_questions(context);
  IM_CHECK(parts().find("learn/loss/mark/harm") != nullptr);
  const float harm = place_of("learn/loss/mark/harm").middle().x;
  IM_CHECK_LT(std::abs(harm - place_of("learn/loss/mark/dot").middle().x), 0.01F);
}

PROGRAM_TEST("strengths and gates are painted") {
  Session& session = enter_learn(context);
  const Rectangle strengths = place_of("learn/floor/strength");
  const float middle = (strengths.minimum.x + strengths.maximum.x) / 2;
  const float y = strengths.minimum.y + (strengths.maximum.y - strengths.minimum.y) / 3;
  drag(context, {middle - 100, y}, {middle + 100, y});
  const std::vector<Edit> painted = edits_of(session, "paint_gate");
  IM_CHECK_GE(painted.size(), std::size_t{3});
  IM_CHECK(std::ranges::all_of(painted, [](const Edit& edit) { return edit.array == "beta"; }));
  session.undo();
  settle(context);
  IM_CHECK(session.choice().edits.empty());

  const Rectangle gates = place_of("learn/floor/gate");
  context->KeyDown(ImGuiMod_Shift);
  drag(context, {middle - 100, gates.minimum.y + 2}, {middle + 100, gates.maximum.y - 2});
  context->KeyUp(ImGuiMod_Shift);
  settle(context);
  const std::vector<Edit> ramps = edits_of(session, "ramp_gate");
  IM_CHECK_EQ(ramps.size(), std::size_t{1});
  IM_CHECK_EQ(ramps.front().array, std::string("alpha"));
  IM_CHECK_GT(ramps.front().numbers[2], ramps.front().numbers[3]);
}

PROGRAM_TEST("Learn says what cannot be painted") {
  Session& session = learn_rule(context, "retnet");
  const Rectangle gates = place_of("learn/floor/gate");
  context->MouseMoveToPos(gates.middle());
  context->MouseDown(0);
  context->Yield(3);
  IM_CHECK_EQ(program().refusal.empty(), false);
  context->MouseUp(0);
  context->Yield(2);
  IM_CHECK(session.choice().edits.empty());
  // A dot that cannot be dragged stays, too.
  const ImVec2 dot = place_of("learn/loss/mark/dot").middle();
  drag(context, dot, {dot.x + 60, dot.y});
  IM_CHECK(session.choice().edits.empty());
  IM_CHECK_EQ(session.message(), std::string());
}

void click_choice(ImGuiTestContext* context, const std::string& words) {
  const Part* const choice = parts().find("learn/" + words);
  IM_CHECK(choice != nullptr);
  click(context, choice->where.middle());
}

PROGRAM_TEST("the network of TTT-MLP runs both ways") {
  Session& session = learn_rule(context, "ttt_mlp");
  IM_CHECK(session.state().learn.network == NetworkSide::forward);
  click_choice(context, "backward");
  IM_CHECK(session.state().learn.network == NetworkSide::backward);
  click_choice(context, "step");
  IM_CHECK(session.state().learn.network == NetworkSide::step);
  IM_CHECK(words_beyond("learn").empty());
  click_choice(context, "forward");
  IM_CHECK(session.choice().edits.empty());
}

PROGRAM_TEST("a solve is seen instead of the step") {
  Session& session = learn_rule(context, "mesanet");
  IM_CHECK(session.state().learn.solve);
  click_choice(context, "the step");
  IM_CHECK(!session.state().learn.solve);
  click_choice(context, "the solve");
  IM_CHECK(session.state().learn.solve);
  IM_CHECK(words_beyond("learn").empty());
}

PROGRAM_TEST("fewer flattening steps are looked at") {
  Session& session = learn_rule(context, "lact");
  const Rectangle chart = place_of("learn/flattening/area");
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
