#include "tests/gui/tests.h"

// What stands around the Stage: the knob, the forms, why a number is what it is, the floor, what is said.

using namespace palimpsest;

namespace {

Session& enter_form(ImGuiTestContext* context, Form form) {
  Session& session = start_in(context, ImGuiKey_1, 42);
  choose(context, [&](Choice& choice) { choice.form = form; });
  return session;
}

PROGRAM_TEST("turns the knob") {
  Session& session = enter_form(context, Form::chunkwise);
  click(context, "//Data/**/FLOPs per token/16");
  IM_CHECK_EQ(session.choice().chunk_size, 16);
  IM_CHECK_EQ(session.token(), 42);
  click(context, "//Data/**/float32 error, measured/94");
  IM_CHECK_EQ(session.choice().chunk_size, 94);
  session.undo();
  settle(context);
  IM_CHECK_EQ(session.choice().chunk_size, 16);
  // A chunk that is larger than the text is refused, with the reason.
  perform(find_command(program(), "chunk.128"), program());
  IM_CHECK_NE(program().refusal, std::string());
  IM_CHECK_EQ(session.choice().chunk_size, 16);
}

PROGRAM_TEST("chooses a form by its heading") {
  Session& session = enter_form(context, Form::recurrent);
  click(context, "//Forms/**/Chunkwise");
  IM_CHECK(session.choice().form == Form::chunkwise);
  click(context, "//Forms/**/Recurrent");
  IM_CHECK(session.choice().form == Form::recurrent);
  choose(context, [](Choice& choice) { choice.variant = "ttt_mlp"; });
  context->MouseMove("//Forms/**/Parallel");  // which this rule has not
  context->MouseClick();
  settle(context);
  IM_CHECK(session.choice().form == Form::recurrent);
}

/// Below the line that reads: after the write, or before it.
PROGRAM_TEST("chooses which memory is read") {
  Session& session = enter_form(context, Form::recurrent);
  const auto last = static_cast<Index>(session.trace()->phases[0].operations.size()) - 1;
  session.set_cursor({session.cursor().block, last, 0});  // what comes out
  settle(context);
  click(context, "//Equation/**/###read before");
  IM_CHECK_STR_EQ(session.choice().settings.options["order"].c_str(), "apply_first");
  IM_CHECK_EQ(session.cursor().operation, 0);  // it comes first, and the cursor stays with it
  IM_CHECK_EQ(session.token(), 42);
  context->MouseMoveToPos({2, 2});  // off the lines, whose numbers move what stands below
  context->Yield(2);
  click(context, "//Equation/**/###read after");
  IM_CHECK_EQ(session.cursor().operation, last);
  session.undo();
  settle(context);
  IM_CHECK_STR_EQ(session.choice().settings.options["order"].c_str(), "apply_first");
  perform(find_command(program(), "form.read"), program());
  settle(context);
  IM_CHECK_STR_EQ(session.choice().settings.options["order"].c_str(), "update_first");
}

PROGRAM_TEST("closes a message, and zooms the floor") {
  Session& session = enter_form(context, Form::recurrent);
  session.set_message("there is no such file");
  context->Yield(3);
  click(context, "//Status/close message");
  IM_CHECK(session.message().empty());
  context->MouseMove("//Timeline/**/timeline");
  const Index token = session.token();
  for (int i = 0; i < 20; ++i) context->MouseWheelY(-1);
  for (int i = 0; i < 40; ++i) context->MouseWheelY(1);
  context->Yield(2);
  IM_CHECK_EQ(session.token(), token);
  context->ItemClick("//Timeline/**/token");
  IM_CHECK(program().grain == Session::Grain::token);
  IM_CHECK_EQ(program().undrawn(), std::string());
}

PROGRAM_TEST("steps by the welcome") {
  Session& session = start_program(context);
  program().show_welcome = true;
  settle(context);
  const Cursor before = session.cursor();
  click(context, "//Timeline/**/welcome");
  IM_CHECK(session.cursor() == (Cursor{before.block, before.operation + 1, before.row}));
  IM_CHECK(!program().show_welcome);
}

PROGRAM_TEST("follows the story") {
  Session& session = start_program(context);
  click(context, "//Top bar/story/words/token 42");
  IM_CHECK_EQ(session.token(), 42);
  click(context, "//Top bar/story/close");
  IM_CHECK(parts().find("story") == nullptr);
  perform(find_command(program(), "data.list"), program());
  settle_questions(context);
  click(context, "//All data/**/token 63");
  IM_CHECK_EQ(session.token(), 63);
  IM_CHECK(!program().show_data);
  IM_CHECK(parts().find("story") != nullptr);
}

PROGRAM_TEST("says beside a form what it is") {
  start_program(context);
  context->MouseMove("//Stage/**/Parallel");
  context->SleepNoSkip(1.5F, 0.1F);
  IM_CHECK(is_tip_shown());
  const ImGuiTestItemInfo button = context->ItemInfo("//Stage/**/Parallel");
  IM_CHECK_LE(window_place("##Tooltip_00").maximum.y,
              button.RectFull.Min.y);  // above: the formula lies below
}

PROGRAM_TEST("keeps the pills in place whatever the rule") {
  start_program(context);
  const auto left = [&](const char* item) { return context->ItemInfo(item).RectFull.Min.x; };
  const float variant = left("//Top bar/###variant");
  const float data = left("//Top bar/###data");
  for (const char* id : {"value_decay_delta", "gla", "rls"}) {
    choose(context, [&](Choice& choice) { choice.variant = id; });
    IM_CHECK_LE(std::abs(left("//Top bar/###variant") - variant), 1.0F);  // by the digits of the residual
    IM_CHECK_LE(std::abs(left("//Top bar/###data") - data), 1.0F);
  }
}

}  // namespace
