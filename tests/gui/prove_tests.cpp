#include <imgui.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include "app/scene/parts.h"
#include "app/studio/application.h"
#include "app/views/form_words.h"
#include "app/views/prove.h"
#include "tests/gui/tests.h"

// Prove: a person makes a form wrong, sees where, goes there, takes the fault out, and checks everything.

namespace palimpsest {

namespace {

Session& enter_prove(ImGuiTestContext* context) {
  Session& session = start_program(context);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_5);
  context->Yield(2);
  choose_proof_form(program(), Form::chunkwise);
  settle(context);
  session.questions().wait();
  settle(context);
  return session;
}

/// Items out of sight cannot be found.
void see_the_end_of_the_list(ImGuiTestContext* context) {
  context->ScrollToBottom(context->WindowInfo("//Make it wrong/##make it wrong").ID);
  context->Yield(2);
}

void makes_it_wrong_and_right_again(ImGuiTestContext* context) {
  Session& session = enter_prove(context);
  IM_CHECK_STR_EQ(program().workspace().id, "prove");
  IM_CHECK_EQ(prove_map().flag, -1);
  context->ItemClick("//Make it wrong/**/Wrong sign in the solve");
  settle(context);
  session.questions().wait();
  settle(context);
  IM_CHECK_STR_EQ(session.state().prove.fault.id.c_str(), "solve-sign");
  IM_CHECK_EQ(prove_map().flag, 1);
  IM_CHECK_STR_EQ(prove_map().operation.c_str(), "solve");
  IM_CHECK(!session.computed()->agree);
  context->ItemClick("//Where do they part?/**/to the Stage  →");
  settle(context);
  IM_CHECK_STR_EQ(program().workspace().id, "step");
  IM_CHECK_EQ(session.token(), 1);
  IM_CHECK_STR_EQ(session.trace()->operation(session.cursor()).id.c_str(), "solve");
  IM_CHECK(has_fault_in(*session.computed()));
  context->ItemClick("//Top bar/###fault");  // one click takes it out, wherever one is
  settle(context);
  IM_CHECK(session.state().prove.fault.id.empty());
  IM_CHECK(session.computed()->agree);
  IM_CHECK(session.can_undo());
}

void refuses_what_a_form_cannot_have(ImGuiTestContext* context) {
  Session& session = enter_prove(context);
  see_the_end_of_the_list(context);
  context->ItemClick("//Make it wrong/**/Momentum dropped");
  context->Yield(2);
  IM_CHECK(!program().refusal.empty());
  IM_CHECK(session.state().prove.fault.id.empty());
  IM_CHECK(session.computed()->agree);
}

void looks_through_other_lenses(ImGuiTestContext* context) {
  Session& session = enter_prove(context);
  context->ItemClick("//How far from the recurrence/**/forms");
  settle(context);
  IM_CHECK(session.state().prove.lens == ProofLens::forms);
  IM_CHECK_EQ(parts().below("prove/floor/difference/series").size(), std::size_t{4});
  IM_CHECK(!session.can_undo() || session.state().prove.fault.id.empty());
  see_the_end_of_the_list(context);
  context->ItemClick("//Make it wrong/**/Keys divided by their decay");
  settle(context);
  session.questions().wait();
  settle(context);
  IM_CHECK_GE(prove_map().flag, 0);
  context->ItemClick("//Where do they part?/**/data that do not");
  settle(context);
  session.questions().wait();
  settle(context);
  IM_CHECK_EQ(prove_map().flag, -1);
  see_the_end_of_the_list(context);
  context->ItemClick("//Make it wrong/**/Keys divided by their decay");
  context->Yield(2);
  IM_CHECK(session.state().prove.fragile.empty());
}

void checks_everything_until_it_is_cancelled(ImGuiTestContext* context) {
  enter_prove(context);
  IM_CHECK_EQ(prove_map().cells.agree, 0);
  context->ItemClick("//Everything that can be checked/**/###check");
  for (int i = 0; i < 2000 && prove_map().cells.agree == 0; ++i) context->SleepNoSkip(0.02F, 0.02F);
  IM_CHECK_GT(prove_map().cells.agree, 0);
  IM_CHECK_EQ(prove_map().cells.part, 0);
  const int before = prove_map().cells.agree;
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_1);  // it goes on while one looks at something else
  context->Yield(2);
  const std::size_t rules = prove_map().checked;
  for (int i = 0; i < 2000 && prove_map().checked == rules; ++i) context->SleepNoSkip(0.02F, 0.02F);
  IM_CHECK_GT(prove_map().checked, rules);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_5);
  context->Yield(2);
  IM_CHECK_GT(prove_map().cells.agree, before);
  const Rectangle cancel = prove_map().cancel;
  context->ItemClick("//Everything that can be checked/**/cancel");
  // A second click at the same place does nothing: what was found stays.
  context->MouseMoveToPos(
      {(cancel.minimum.x + cancel.maximum.x) / 2, (cancel.minimum.y + cancel.maximum.y) / 2});
  context->MouseClick(0);
  context->Yield(3);
  const int known = prove_map().cells.agree;
  IM_CHECK_GE(known, before);
  IM_CHECK_GT(prove_map().cells.waiting, 0);
  context->SleepNoSkip(0.3F, 0.02F);
  IM_CHECK_EQ(prove_map().cells.agree, known);  // nothing goes on
  context->ItemClick("//Everything that can be checked/**/export…");
  context->Yield(3);
  IM_CHECK(program().show_save);
  IM_CHECK_STR_EQ(program().text_name.c_str(), "report");
  context->KeyPress(ImGuiKey_Escape);
  context->Yield(2);
}

}  // namespace

void register_prove_tests(ImGuiTestEngine* engine) {
  add_program_test(engine, "Prove makes a form wrong, leads to the step and takes the fault out",
                   makes_it_wrong_and_right_again);
  add_program_test(engine, "Prove refuses a fault that a form cannot have", refuses_what_a_form_cannot_have);
  add_program_test(engine, "Prove looks through lenses and at fragile forms", looks_through_other_lenses);
  add_program_test(engine, "Prove checks everything until it is cancelled",
                   checks_everything_until_it_is_cancelled);
}

}  // namespace palimpsest
