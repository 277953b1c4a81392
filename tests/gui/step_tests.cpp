#include <imgui_internal.h>  // to find windows

#include "app/studio/command.h"
#include "tests/gui/tests.h"

// What stands around the Stage: the knob, the forms, why a number is what it is, the floor, what is said.

namespace palimpsest {

namespace {

Session& enter_form(ImGuiTestContext* context, Form form) {
  Session& session = start_program(context);
  session.go_to_token(42);
  Choice choice = session.choice();
  choice.form = form;
  session.choose(std::move(choice));
  settle(context);
  session.questions().wait();
  settle(context);
  return session;
}

void turns_the_knob(ImGuiTestContext* context) {
  Session& session = enter_form(context, Form::chunkwise);
  context->ItemClick("//Data/**/FLOPs for a word/16");
  settle(context);
  IM_CHECK_EQ(session.choice().chunk_size, 16);
  IM_CHECK_EQ(session.token(), 42);
  context->ItemClick("//Data/**/float32 error, measured/94");
  settle(context);
  IM_CHECK_EQ(session.choice().chunk_size, 94);
  session.undo();
  settle(context);
  IM_CHECK_EQ(session.choice().chunk_size, 16);
  // A chunk that is larger than the text is refused, with the reason.
  perform(find_command(program(), "chunk.128"), program());
  IM_CHECK_NE(program().refusal, std::string());
  IM_CHECK_EQ(session.choice().chunk_size, 16);
}

void chooses_a_form_by_its_heading(ImGuiTestContext* context) {
  Session& session = enter_form(context, Form::recurrent);
  context->ItemClick("//Forms/**/Chunkwise");
  settle(context);
  IM_CHECK(session.choice().form == Form::chunkwise);
  context->ItemClick("//Forms/**/Recurrent");
  settle(context);
  IM_CHECK(session.choice().form == Form::recurrent);
  Choice choice = session.choice();
  choice.variant = "ttt_mlp";
  session.choose(std::move(choice));
  settle(context);
  context->MouseMove("//Forms/**/Parallel");  // which this rule has not
  context->MouseClick();
  settle(context);
  IM_CHECK(session.choice().form == Form::recurrent);
}

/// Below the line that reads: after the write, or before it.
void chooses_which_memory_is_read(ImGuiTestContext* context) {
  Session& session = enter_form(context, Form::recurrent);
  const auto last = static_cast<Index>(session.trace()->phases[0].operations.size()) - 1;
  session.set_cursor({session.cursor().block, last, 0});  // what comes out
  settle(context);
  context->ItemClick("//Equation/**/###read before");
  settle(context);
  IM_CHECK_STR_EQ(session.choice().settings.options["order"].c_str(), "apply_first");
  IM_CHECK_EQ(session.cursor().operation, 0);  // it comes first, and the cursor stays with it
  IM_CHECK_EQ(session.token(), 42);
  context->MouseMoveToPos({2, 2});  // off the lines, whose numbers move what stands below
  context->Yield(2);
  context->ItemClick("//Equation/**/###read after");
  settle(context);
  IM_CHECK_EQ(session.cursor().operation, last);
  session.undo();
  settle(context);
  IM_CHECK_STR_EQ(session.choice().settings.options["order"].c_str(), "apply_first");
  perform(find_command(program(), "form.read"), program());
  settle(context);
  IM_CHECK_STR_EQ(session.choice().settings.options["order"].c_str(), "update_first");
}

void picks_a_head(ImGuiTestContext* context) {
  Session& session = enter_form(context, Form::recurrent);
  context->ItemClick("//Data/**/heads/2");
  settle(context);
  IM_CHECK_EQ(session.choice().head, 2);
  IM_CHECK_EQ(session.token(), 42);
}

void explains_the_largest(ImGuiTestContext* context) {
  Session& session = enter_form(context, Form::recurrent);
  IM_CHECK(program().focus_is_usual());
  IM_CHECK(program().focus().has_value());
  const CellFocus first = *program().focus();
  session.step(Session::Grain::operation, 1);
  settle(context);
  IM_CHECK(program().focus_is_usual());
  IM_CHECK(!(*program().focus() == first));
  program().pinned = first;
  context->Yield(2);
  IM_CHECK(*program().focus() == first);
  context->KeyPress(ImGuiKey_Escape);
  context->Yield(2);
  IM_CHECK(program().focus_is_usual());
  IM_CHECK_EQ(program().undrawn(), std::string());
}

void closes_a_message(ImGuiTestContext* context) {
  Session& session = enter_form(context, Form::recurrent);
  session.set_message("there is no such file");
  context->Yield(3);
  context->ItemClick("//Status/close message");
  context->Yield(2);
  IM_CHECK(session.message().empty());
}

void zooms_the_floor(ImGuiTestContext* context) {
  Session& session = enter_form(context, Form::recurrent);
  context->MouseMove("//Timeline/**/timeline");
  const Index token = session.token();
  for (int i = 0; i < 20; ++i) context->MouseWheelY(-1);
  for (int i = 0; i < 40; ++i) context->MouseWheelY(1);
  context->Yield(2);
  IM_CHECK_EQ(session.token(), token);
  context->ItemClick("//Timeline/**/word");
  IM_CHECK(program().grain == Session::Grain::token);
  IM_CHECK_EQ(program().undrawn(), std::string());
}

void steps_by_the_welcome(ImGuiTestContext* context) {
  Session& session = start_program(context);
  program().show_welcome = true;
  settle(context);
  const Cursor before = session.cursor();
  context->ItemClick("//Timeline/**/welcome");
  settle(context);
  IM_CHECK(session.cursor() == (Cursor{before.block, before.operation + 1, before.row}));
  IM_CHECK(!program().show_welcome);
}

void follows_the_story(ImGuiTestContext* context) {
  Session& session = start_program(context);
  context->ItemClick("//Top bar/story/words/word 42");
  settle(context);
  IM_CHECK_EQ(session.token(), 42);
  context->ItemClick("//Top bar/story/close");
  settle(context);
  IM_CHECK(parts().find("story") == nullptr);
  perform(find_command(program(), "data.list"), program());
  settle(context);
  session.questions().wait();
  settle(context);
  context->ItemClick("//All data/**/word 63");
  settle(context);
  IM_CHECK_EQ(session.token(), 63);
  IM_CHECK(!program().show_data);
  IM_CHECK(parts().find("story") != nullptr);
}

void says_beside_a_form_what_it_is(ImGuiTestContext* context) {
  start_program(context);
  context->MouseMove("//Stage/**/Parallel");
  context->SleepNoSkip(1.5F, 0.1F);
  const ImGuiTestItemInfo button = context->ItemInfo("//Stage/**/Parallel");
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  IM_CHECK(tip != nullptr && tip->Active);
  IM_CHECK_LE(tip->Pos.y + tip->Size.y, button.RectFull.Min.y);  // above: the formula lies below
}

void keeps_the_pills_in_place(ImGuiTestContext* context) {
  Session& session = start_program(context);
  const auto left = [&](const char* item) { return context->ItemInfo(item).RectFull.Min.x; };
  const float variant = left("//Top bar/###variant");
  const float data = left("//Top bar/###data");
  for (const char* id : {"value_decay_delta", "gla", "rls"}) {
    Choice choice = session.choice();
    choice.variant = id;
    session.choose(std::move(choice));
    settle(context);
    IM_CHECK_EQ(left("//Top bar/###variant"), variant);
    IM_CHECK_EQ(left("//Top bar/###data"), data);
  }
}

}  // namespace

void register_step_tests(ImGuiTestEngine* engine) {
  add_program_test(engine, "turns the knob", turns_the_knob);
  add_program_test(engine, "chooses a form by its heading", chooses_a_form_by_its_heading);
  add_program_test(engine, "chooses which memory is read", chooses_which_memory_is_read);
  add_program_test(engine, "picks a head", picks_a_head);
  add_program_test(engine, "explains the largest number by itself", explains_the_largest);
  add_program_test(engine, "closes a message", closes_a_message);
  add_program_test(engine, "zooms the floor", zooms_the_floor);
  add_program_test(engine, "steps by the welcome", steps_by_the_welcome);
  add_program_test(engine, "follows the story", follows_the_story);
  add_program_test(engine, "says beside a form what it is", says_beside_a_form_what_it_is);
  add_program_test(engine, "keeps the pills in place whatever the rule", keeps_the_pills_in_place);
}

}  // namespace palimpsest
