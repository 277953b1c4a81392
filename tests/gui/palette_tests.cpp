#include "tests/gui/tests.h"

// Commands by their keys and by their words, in the real window.

using namespace palimpsest;

namespace {

void open_palette(ImGuiTestContext* context, const char* typed) {
  context->KeyPress(find_command(program(), "help.commands").key);
  context->Yield(3);
  context->KeyChars(typed);
  context->Yield(2);
}

PROGRAM_TEST("finds commands by their words") {
  Session& session = start_program(context);
  open_palette(context, "retn");
  IM_CHECK(program().show_palette);
  press(context, ImGuiKey_Enter);
  IM_CHECK(!program().show_palette);
  IM_CHECK_EQ(session.computed()->variant->id, std::string("retnet"));
  context->KeyPress(ImGuiKey_RightArrow);  // the keys are the program's again
  IM_CHECK_EQ(session.cursor().operation, 1);

  // What was done last comes first where nothing is typed; down and up go through the rows.
  open_palette(context, "light theme");
  context->KeyPress(ImGuiKey_Enter);
  open_palette(context, "");
  context->KeyPress(ImGuiKey_DownArrow);
  context->KeyPress(ImGuiKey_DownArrow);
  context->KeyPress(ImGuiKey_UpArrow);
  press(context, ImGuiKey_Enter);
  IM_CHECK_EQ(program().recent_commands.front(), std::string("variant.retnet"));
  IM_CHECK(program().view.theme == Theme::light);

  // A click does the same, and a preset opens.
  open_palette(context, "overwri pres");
  click(context, "//Commands/**/preset.overwrite");
  IM_CHECK(session.data().id.starts_with("preset:overwrite"));
  IM_CHECK(!program().show_palette);
}

PROGRAM_TEST("refuses what cannot be done, with the reason") {
  Session& session = start_program(context);
  open_palette(context, "rwkv");
  press(context, ImGuiKey_Escape);
  IM_CHECK(!program().show_palette);
  IM_CHECK_EQ(session.choice().variant, std::string("gated_deltanet"));
  click(context, "//Top bar/Ctrl P");
  IM_CHECK(program().show_palette);
  press(context, ImGuiMod_Ctrl | ImGuiKey_P);
  IM_CHECK(!program().show_palette);

  open_palette(context, "one token back");
  press(context, ImGuiKey_Enter);
  IM_CHECK(program().show_palette);  // it stays, and says why
  IM_CHECK(program().recent_commands.empty());
  click(context, "//Commands/**/token.back");
  IM_CHECK(program().show_palette);
  context->KeyCharsReplace("one token forward");  // the line has the keyboard again
  press(context, ImGuiKey_Enter);
  IM_CHECK_EQ(session.token(), 1);
  open_palette(context, "no such words");
  press(context, ImGuiKey_Enter);
  IM_CHECK(program().show_palette);
  press(context, ImGuiKey_Escape);
  context->KeyPress(ImGuiMod_Shift | ImGuiKey_LeftArrow);
  IM_CHECK_EQ(session.token(), 0);
  context->KeyPress(ImGuiMod_Shift | ImGuiKey_LeftArrow);
  IM_CHECK_EQ(program().refusal, std::string("one token back: this is the start"));
}

/// A command that leads to a card or a list leaves the keyboard there.
PROGRAM_TEST("leads from the palette to other cards") {
  start_program(context);
  open_palette(context, "these keys");
  press(context, ImGuiKey_Enter);
  IM_CHECK(program().show_keys);
  press(context, ImGuiKey_Escape);
  IM_CHECK(!program().show_keys);
  open_palette(context, "open a file");
  press(context, ImGuiKey_Enter);
  IM_CHECK(program().show_open);
  IM_CHECK(ImGui::GetIO().WantTextInput);
  press(context, ImGuiKey_Escape);
  IM_CHECK(!program().show_open);
  open_palette(context, "data.list");
  press(context, ImGuiKey_Enter);
  IM_CHECK(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
  press(context, ImGuiKey_Escape);
  IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
}

}  // namespace
