#include "tests/gui/tests.h"

// The page of all data: found by words, looked at, opened, its numbers typed over.

using namespace palimpsest;

namespace {

constexpr const char* open_button = "//All data/**/###open data";

void open_page(ImGuiTestContext* context) {
  context->KeyPress(find_command(program(), "data.list").key);
  context->Yield(3);
  settle(context);
}

PROGRAM_TEST("finds data by their words") {
  Session& session = start_program(context);
  open_page(context);
  IM_CHECK(program().show_data);
  context->KeyChars("kda prose");
  context->Yield(2);
  IM_CHECK_EQ(context->ItemInfo("//All data/**/capture:kda_recall_l1", ImGuiTestOpFlags_NoError).ID, 0u);
  press(context, ImGuiKey_Enter);
  IM_CHECK_EQ(session.data().id, std::string("capture:kda_prose_l1"));
  IM_CHECK(!program().show_data);

  open_page(context);  // nothing has these words: Enter does nothing
  context->KeyChars("no such data");
  press(context, ImGuiKey_Enter);
  IM_CHECK(program().show_data);
  IM_CHECK_EQ(session.data().id, std::string("capture:kda_prose_l1"));
  context->KeyCharsReplace("gla");
  context->KeyPress(ImGuiKey_DownArrow);
  press(context, ImGuiKey_Escape);
  IM_CHECK(!program().show_data);
  IM_CHECK_EQ(session.data().id, std::string("capture:kda_prose_l1"));
}

PROGRAM_TEST("opens the list at the present entry") {
  Session& session = start_program(context);
  session.open_named("capture:kda_recall_l1");  // the last of a long list
  settle(context);
  open_page(context);
  const ImGuiTestItemInfo row = context->ItemInfo("//All data/**/capture:kda_recall_l1");
  IM_CHECK_NE(row.ID, 0u);
  const Rectangle list = place_of("all data/entries");
  IM_CHECK(ImRect(list.minimum, list.maximum).Contains(row.RectFull.GetCenter()));
  context->KeyPress(ImGuiKey_Escape);
}

PROGRAM_TEST("follows a link and opens a head") {
  Session& session = start_program(context);
  open_page(context);
  click(context, "//All data/**/retnet_overwrite_l2");                                 // in what to look at
  IM_CHECK_EQ(session.data().id, std::string("capture:gated_deltanet_overwrite_l1"));  // only looked at
  click(context, "//All data/**/head 1");
  IM_CHECK_EQ(session.data().id, std::string("capture:retnet_overwrite_l2"));
  IM_CHECK_EQ(session.choice().head, 1);
  IM_CHECK_EQ(session.choice().variant, std::string("retnet"));
  IM_CHECK(!program().show_data);
  open_page(context);  // another head of what is open
  click(context, "//All data/**/head 2");
  IM_CHECK_EQ(session.choice().head, 2);
  IM_CHECK(session.message().empty());
}

PROGRAM_TEST("makes a preset of one's own sizes") {
  Session& session = start_program(context);
  open_page(context);
  context->KeyChars("preset correlated");
  settle(context);
  click(context, "//All data/**/another seed");
  const ImRect area = context->ItemInfo("//All data/**/cosine between any two keys").RectFull;
  drag(context, {area.Min.x + area.GetWidth() * 0.75F, area.Max.y - 8},
       {area.Min.x + area.GetWidth() * 0.31F, area.Max.y - 8});
  click(context, open_button);
  IM_CHECK(session.data().id.starts_with("preset:correlated?"));
  const PresetSize size = preset_size(session.data().id);
  IM_CHECK_EQ(size.seed, 2u);
  IM_CHECK_LT(std::abs(size.cosine - 0.31), 0.03);
  IM_CHECK(session.computed()->agree);
}

/// Types a number into a cell of the present token.
void type_cell(ImGuiTestContext* context, const char* cell, const char* number) {
  context->ItemClick(cell);
  context->KeyCharsReplaceEnter(number);
  settle(context);
}

PROGRAM_TEST("takes typed numbers") {
  Session& session = start_program(context);
  session.open_named("preset:one_fact");
  settle(context);
  session.go_to_token(0);
  open_page(context);
  type_cell(context, "//All data/**/##v[0,2]", "0.125");
  IM_CHECK_EQ(session.state().edits.size(), 1u);
  IM_CHECK_EQ(session.computed()->inputs.arrays->at("v")[2], 0.125);
  IM_CHECK(session.computed()->agree);
  type_cell(context, "//All data/**/##v[0,2]", "-3");  // the same cell once more is the same edit
  IM_CHECK_EQ(session.state().edits.size(), 1u);
  context->ItemClick("//All data/**/token after");
  IM_CHECK_EQ(session.token(), 1);
  type_cell(context, "//All data/**/##k[1,0]", "0.5");
  IM_CHECK_EQ(session.state().edits.size(), 2u);
  IM_CHECK_EQ(session.computed()->inputs.arrays->at("k")[4], 0.5);

  type_cell(context, "//All data/**/##k[1,0]", "1e400");
  const Part* refusal = parts().below("all data/details/cells/refusal").front();
  IM_CHECK_STR_EQ(refusal->words.c_str(), "k stays 0.5: the typed number exceeds the largest, 1.8e+308.");
  IM_CHECK_EQ(session.state().edits.size(), 2u);
  type_cell(context, "//All data/**/##alpha[1,0]", "3");  // no decay
  IM_CHECK(parts().below("all data/details/cells/refusal").empty());
  IM_CHECK(session.message().find("expected a number in") != std::string::npos);
  IM_CHECK_EQ(session.state().edits.size(), 2u);
  press(context, ImGuiKey_Escape);
  press(context, ImGuiMod_Ctrl | ImGuiKey_Z);
  IM_CHECK_EQ(session.state().edits.size(), 1u);
}

PROGRAM_TEST("remembers own files") {
  Session& session = start_program(context);
  const std::string file = asset("captures/gla_recall_l1.npz").string();
  program().drop({file});
  settle(context);
  IM_CHECK_EQ(session.data().id, file);
  IM_CHECK_EQ(program().recent_files, std::vector<std::string>{file});
  session.open_named("preset:copy");
  settle(context);
  open_page(context);
  context->KeyChars(file.c_str());
  press(context, ImGuiKey_Enter);
  IM_CHECK_EQ(session.data().id, file);

  program().recent_files.emplace_back("/no/such/file.npz");
  open_page(context);
  context->KeyChars("no such file.npz");
  settle(context);
  press(context, ImGuiKey_Enter);  // it is not there: the page stays and says so
  IM_CHECK(program().show_data);
  IM_CHECK_EQ(session.data().id, file);
  context->KeyPress(ImGuiKey_Escape);
}

}  // namespace
