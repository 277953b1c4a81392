#include "app/views/verify.h"
#include "app/words/forms.h"
#include "tests/gui/tests.h"

// Verify: a person makes a form wrong, sees where, goes there, takes the fault out, and checks everything.

using namespace palimpsest;

namespace {

Session& enter_verify(ImGuiTestContext* context) {
  Session& session = start_in(context, ImGuiKey_5, 0);
  choose(context, [](Choice& choice) { choice.form = Form::chunkwise; });
  return session;
}

/// Items out of sight cannot be found.
void see_the_end_of_the_list(ImGuiTestContext* context) {
  context->ScrollToBottom(context->WindowInfo("//Inject a fault/##inject a fault").ID);
  context->Yield(2);
}

PROGRAM_TEST("Verify makes a form wrong, leads to the step and takes the fault out") {
  Session& session = enter_verify(context);
  IM_CHECK_STR_EQ(program().workspace().id, "verify");
  IM_CHECK_EQ(flagged_token(), -1);
  click(context, "//Inject a fault/**/Wrong sign in the solve");
  settle_questions(context);
  IM_CHECK_STR_EQ(session.state().verify.fault.id.c_str(), "solve-sign");
  IM_CHECK_EQ(flagged_token(), 1);
  IM_CHECK(parts().find("verify/where/wrong/solve") != nullptr);
  IM_CHECK(!session.computed()->agree);
  click(context, "//Where do the forms differ?/**/open in Step  →");
  IM_CHECK_STR_EQ(program().workspace().id, "step");
  IM_CHECK_EQ(session.token(), 1);
  IM_CHECK_STR_EQ(session.trace()->operation(session.cursor()).id.c_str(), "solve");
  IM_CHECK(has_fault_in(*session.computed()));
  click(context, "//Top bar/###fault");  // one click takes it out, wherever one is
  IM_CHECK(session.state().verify.fault.id.empty());
  IM_CHECK(session.computed()->agree);
  IM_CHECK(session.can_undo());
}

PROGRAM_TEST("Verify looks through lenses and at fragile forms") {
  Session& session = enter_verify(context);
  click(context, "//Difference from the recurrence/**/forms");
  IM_CHECK(session.state().verify.lens == ProofLens::forms);
  IM_CHECK_GE(parts().below("verify/floor/difference/series").size(), std::size_t{1});  // some coincide
  IM_CHECK(!session.can_undo() || session.state().verify.fault.id.empty());
  see_the_end_of_the_list(context);
  click(context, "//Inject a fault/**/Momentum dropped");  // which a form cannot have is refused
  IM_CHECK(!program().refusal.empty());
  IM_CHECK(session.state().verify.fault.id.empty());
  IM_CHECK(session.computed()->agree);
  click(context, "//Inject a fault/**/Keys divided by their decay");
  settle_questions(context);
  IM_CHECK_GE(flagged_token(), 0);
  click(context, "//Where do the forms differ?/**/data that do not");
  settle_questions(context);
  IM_CHECK_EQ(flagged_token(), -1);
  see_the_end_of_the_list(context);
  click(context, "//Inject a fault/**/Keys divided by their decay");
  IM_CHECK(session.state().verify.fragile.empty());
}

/// How many cells of the grid are like that.
int cells(std::string_view like) {
  int count = 0;
  for (const Part* row : parts().below("verify/grid/cells")) {
    if (row->path.ends_with("cells") || row->path.ends_with("meanings")) continue;
    const std::string& words = row->words;
    for (std::size_t at = words.find(like); at != std::string::npos; at = words.find(like, at + 1)) ++count;
  }
  return count;
}

PROGRAM_TEST("Verify checks everything until it is cancelled") {
  enter_verify(context);
  const GridReports& found = program().checks.found();
  IM_CHECK_EQ(found.done(), std::size_t{0});
  IM_CHECK_GT(cells("agrees"), 0);  // as when everything was checked last
  context->ItemClick("//Everything that can be checked/**/###check");
  for (int i = 0; i < 2000 && found.done() == 0; ++i) context->SleepNoSkip(0.02F, 0.02F);
  IM_CHECK_GT(found.done(), std::size_t{0});
  IM_CHECK_EQ(cells("differs"), 0);
  const int before = cells("agrees");
  press(context, ImGuiMod_Ctrl | ImGuiKey_1);  // it goes on while one looks at something else
  const std::size_t rules = found.done();
  for (int i = 0; i < 2000 && found.done() == rules; ++i) context->SleepNoSkip(0.02F, 0.02F);
  IM_CHECK_GT(found.done(), rules);
  press(context, ImGuiMod_Ctrl | ImGuiKey_5);
  const Rectangle cancel = place_of("verify/grid/cancel");
  context->ItemClick("//Everything that can be checked/**/cancel");
  click(context, cancel.middle());  // a second time at the same place does nothing: what was found stays
  const int known = cells("agrees");
  IM_CHECK_GT(before, 0);
  IM_CHECK_LT(found.done(), variants().size());
  context->SleepNoSkip(0.3F, 0.02F);
  IM_CHECK_EQ(cells("agrees"), known);  // nothing goes on
  click(context, "//Everything that can be checked/**/export…");
  IM_CHECK(program().show_save);
  IM_CHECK_STR_EQ(program().saving.what.c_str(), "the report");
  press(context, ImGuiKey_Escape);
}

}  // namespace
