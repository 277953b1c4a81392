#include "app/views/verify.h"
#include "app/words/forms.h"
#include "tests/gui/tests.h"
#include "tests/other_device.h"

// Another device beside form and precision: a person chooses it, sees it checked, and is told when it is
// gone.

using namespace palimpsest;

namespace {

/// The program on a machine that has another device: one that outlives every program.
OtherDevice& other_device() {
  static OtherDevice device;
  return device;
}

Session& start_with_device(ImGuiTestContext* context) {
  DeviceTrouble& trouble = other_device().trouble;
  trouble.is_absent = trouble.is_lost = trouble.lacks_parallel = trouble.is_wrong = false;
  return start_program(context, other_device().beside_cpu());
}

PROGRAM_TEST("a device is chosen beside the precision, stepped through and taken back") {
  Session& session = start_with_device(context);
  click(context, "//Forms/**/cuda");
  IM_CHECK_STR_EQ(session.choice().device.c_str(), "cuda");
  IM_CHECK(session.computed()->device == &other_device());
  IM_CHECK(session.computed()->agree);
  IM_CHECK(agreement_words(*session.computed()).starts_with("4 forms agree on cuda"));
  press(context, ImGuiMod_Shift | ImGuiKey_RightArrow);  // its tensors are stepped through
  IM_CHECK_EQ(session.token(), 1);
  IM_CHECK(session.sight().trace == session.computed()->trace(Form::recurrent));
  press(context, ImGuiMod_Ctrl | ImGuiKey_Z);
  IM_CHECK_STR_EQ(session.choice().device.c_str(), "cpu");
  other_device().trouble.is_absent = true;  // then it cannot be chosen
  context->Yield(2);
  IM_CHECK((context->ItemInfo("//Forms/**/cuda").ItemFlags & ImGuiItemFlags_Disabled) != 0);
}

PROGRAM_TEST("a device that is lost leaves the CPU at the same place") {
  Session& session = start_with_device(context);
  click(context, "//Forms/**/cuda");
  session.go_to_token(9);
  settle(context);
  other_device().trouble.is_lost = true;
  press(context, ImGuiKey_P);
  IM_CHECK_STR_EQ(session.choice().device.c_str(), "cpu");
  IM_CHECK(session.choice().precision == Precision::f32);
  IM_CHECK_EQ(session.token(), 9);
  IM_CHECK(session.left_device().find("the device was lost") != std::string::npos);
  click(context, "//Status/close message");
  IM_CHECK(session.left_device().empty());
}

PROGRAM_TEST("a wrong kernel of a device is seen where it departs") {
  Session& session = start_with_device(context);
  press(context, ImGuiKey_2);
  other_device().trouble.is_wrong = true;
  click(context, "//Forms/**/cuda");
  settle_questions(context);
  IM_CHECK(!session.computed()->agree);
  press(context, ImGuiMod_Ctrl | ImGuiKey_5);
  settle_questions(context);
  IM_CHECK(words_at("verify/where/headline").starts_with("on cuda: chunkwise, chunk 1"));
  click(context, "//Where do the forms differ?/**/open in Step  →");
  IM_CHECK_STR_EQ(program().workspace().id, "step");
  IM_CHECK_EQ(session.token(), wrong_row);
  IM_CHECK_STR_EQ(session.trace()->operation(session.cursor()).id.c_str(), "solve");
}

}  // namespace
