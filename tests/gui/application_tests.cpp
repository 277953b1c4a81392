#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/widgets/style.h"
#include "app/window/window.h"
#include "core/io/npy.h"
#include "tests/folders.h"
#include "tests/gui/tests.h"

// The test engine drives the real program with mouse and keyboard; what is asserted is the session.

namespace palimpsest {

namespace {

std::unique_ptr<Application> application;

void draw_application(ImGuiTestContext*) {
  if (application) application->draw(1);
}

/// Starts the program as a newcomer finds it.
Session& start_afresh(ImGuiTestContext* context, Devices devices = backends()) {
  application.reset();
  context->Yield(2);
  // The test engine puts back the style that it found before the first test, which knows nothing of ours.
  style::apply(Theme::light, 1);
  style::apply(Theme::dark, 1);
  auto fresh = std::make_unique<Application>(workspaces(), commands(), devices);
  fresh->open_first_capture();
  fresh->session.wait();
  application = std::move(fresh);
  context->Yield(4);
  return application->session;
}

/// The same, at the first token.
Session& start(ImGuiTestContext* context, Devices devices = backends()) {
  Session& session = start_afresh(context, devices);
  session.set_cursor({});
  return session;
}

ImGuiTest* add(ImGuiTestEngine* engine, const char* name, ImGuiTestTestFunc* test) {
  ImGuiTest* made = IM_REGISTER_TEST(engine, "application", name);
  made->GuiFunc = draw_application;
  made->TestFunc = test;
  return made;
}

void starts(ImGuiTestContext* context) {
  Session& session = start_afresh(context);
  IM_CHECK_EQ(session.data().id, std::string("capture:gated_deltanet_overwrite_l1"));
  IM_CHECK_EQ(session.choice().variant, std::string("gated_deltanet"));
  IM_CHECK_EQ(session.data().labels[static_cast<std::size_t>(session.token())], std::string(" key"));
  IM_CHECK_EQ(session.cursor().operation, 0);
  IM_CHECK(application->show_welcome);
  IM_CHECK(!application->playing);
  IM_CHECK(session.message().empty());
  IM_CHECK(session.computed()->agree);
  IM_CHECK_LT(session.computed()->worst, 1e-10);
  IM_CHECK(session.computed()->capture_error.has_value());
  IM_CHECK_LE(*session.computed()->capture_error, 2 * *session.data().stated_error);
  const Image image = take_picture(context);  // not an empty window: many colours
  std::vector<bool> seen(1 << 12);
  for (std::size_t i = 0; i + 2 < image.rgb.size(); i += 3) {
    seen[(image.rgb[i] >> 4) << 8 | (image.rgb[i + 1] >> 4) << 4 | image.rgb[i + 2] >> 4] = true;
  }
  IM_CHECK_GT(std::count(seen.begin(), seen.end(), true), 40);
}

void steps(ImGuiTestContext* context) {
  Session& session = start(context);
  const Trace& trace = *session.trace();
  context->KeyPress(ImGuiKey_RightArrow);
  IM_CHECK(session.cursor() == (Cursor{0, 1, 0}));
  IM_CHECK(!application->show_welcome);
  context->KeyPress(ImGuiKey_LeftArrow);
  IM_CHECK(session.cursor() == Cursor{});
  context->KeyPress(ImGuiKey_LeftArrow);  // nothing before the start
  IM_CHECK(session.cursor() == Cursor{});
  context->KeyPress(ImGuiMod_Shift | ImGuiKey_RightArrow);
  IM_CHECK_EQ(session.token(), 1);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_RightArrow);
  IM_CHECK_EQ(session.token(), session.choice().chunk_size);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_LeftArrow);
  IM_CHECK_EQ(session.token(), 0);
  context->KeyPress(ImGuiKey_End);
  IM_CHECK(session.cursor() == trace.last());
  context->KeyPress(ImGuiKey_RightArrow);  // nothing after the end
  IM_CHECK(session.cursor() == trace.last());
  context->KeyPress(ImGuiKey_Home);
  IM_CHECK(session.cursor() == Cursor{});
}

void plays(ImGuiTestContext* context) {
  Session& session = start(context);
  application->steps_per_second = 60;
  context->KeyPress(ImGuiKey_Space);
  IM_CHECK(application->playing);
  for (int frame = 0; frame < 600 && session.token() < 2; ++frame) context->Yield();
  IM_CHECK_GE(session.token(), 2);
  context->KeyPress(ImGuiKey_Space);
  IM_CHECK(!application->playing);
  const Cursor stopped = session.cursor();
  context->Yield(30);
  IM_CHECK(session.cursor() == stopped);
  context->KeyPress(ImGuiKey_End);
  context->KeyPress(ImGuiKey_Space);
  for (int frame = 0; frame < 120 && application->playing; ++frame) context->Yield();
  IM_CHECK(!application->playing);  // stops by itself where nothing follows
}

void repeats_a_range(ImGuiTestContext* context) {
  Session& session = start(context);
  application->steps_per_second = 60;
  application->grain = Session::Grain::token;
  session.go_to_token(5);
  context->KeyPress(ImGuiMod_Shift | ImGuiKey_Space);
  IM_CHECK(session.state().repeated == std::vector<Index>({5}));
  session.go_to_token(3);
  context->KeyPress(ImGuiMod_Shift | ImGuiKey_Space);
  IM_CHECK(session.state().repeated == std::vector<Index>({3, 5}));
  context->KeyPress(ImGuiKey_Space);
  bool has_ended = false;
  int times_back = 0;
  for (int frame = 0; frame < 1200 && times_back < 2; ++frame) {
    context->Yield();
    IM_CHECK_GE(session.token(), 3);
    IM_CHECK_LE(session.token(), 5);
    if (session.token() == 5) has_ended = true;
    if (has_ended && session.token() == 3) ++times_back, has_ended = false;
  }
  IM_CHECK_EQ(times_back, 2);
  context->KeyPress(ImGuiMod_Shift | ImGuiKey_Space);
  IM_CHECK(session.state().repeated.empty());
  for (int frame = 0; frame < 600 && session.token() < 7; ++frame) context->Yield();
  IM_CHECK_GE(session.token(), 7);  // on to the end
  context->KeyPress(ImGuiKey_Space);
  application->grain = Session::Grain::operation;
}

void drags_the_timeline(ImGuiTestContext* context) {
  Session& session = start(context);
  const ImGuiTestItemInfo timeline = context->ItemInfo("//Timeline/**/timeline");
  IM_CHECK_NE(timeline.ID, 0u);
  const ImRect area = timeline.RectFull;
  const float y = (area.Min.y + area.Max.y) / 2;
  context->MouseMoveToPos({area.Min.x + 20, y});
  context->MouseDown();
  Index before = session.token();
  for (const float part : {0.2F, 0.4F, 0.6F, 0.75F}) {
    context->MouseMoveToPos({area.Min.x + area.GetWidth() * part, y});
    context->Yield(2);
    IM_CHECK_GT(session.token(), before);
    before = session.token();
  }
  context->MouseMoveToPos({area.Min.x + area.GetWidth() * 0.3F, y});
  context->MouseUp();
  context->Yield(2);
  IM_CHECK_LT(session.token(), before);

  // What is shown after dragging to and fro is what a trace gives that goes there directly.
  const Cursor cursor = session.cursor();
  const Computation& computed = *session.computed();
  const auto direct = computed.variant->rule->trace(computed.sequence, Form::recurrent, Precision::f64, 8);
  const Record& there = direct->record(cursor.block);
  session.wait();
  for (const auto& [name, values] : session.sight().record->tensors()) {
    IM_CHECK(values == there.at(name));
  }
}

void changes_the_variant(ImGuiTestContext* context) {
  Session& session = start(context);
  session.go_to_token(19);
  context->ItemClick("//Top bar/###variant");
  context->KeyChars("retain");  // no rule has that
  context->Yield(2);
  IM_CHECK_EQ(context->ItemInfo("//$FOCUSED/**/retnet", ImGuiTestOpFlags_NoError).ID, 0u);
  press(context, ImGuiKey_Enter);
  IM_CHECK_EQ(session.choice().variant, std::string("gated_deltanet"));
  context->KeyCharsReplace("retn");
  press(context, ImGuiKey_Enter);
  IM_CHECK_EQ(session.choice().variant, std::string("retnet"));
  IM_CHECK_EQ(session.computed()->variant->id, std::string("retnet"));
  IM_CHECK_EQ(session.token(), 19);
  IM_CHECK(session.computed()->agree);
  IM_CHECK(!session.computed()->inputs.notes.empty());  // beta is not used, the decay is averaged: it says so
  for (std::size_t i = 0; i < variants().size(); ++i) {
    press(context, ImGuiKey_V);
    IM_CHECK(session.message().empty());
    IM_CHECK(session.computed()->agree);
    IM_CHECK_EQ(session.computed()->variant->id, session.choice().variant);
  }
  IM_CHECK_EQ(session.choice().variant, std::string("retnet"));
}

void changes_form_and_chunk_size(ImGuiTestContext* context) {
  Session& session = start(context);
  session.go_to_token(19);
  context->ItemClick("//Stage/**/Chunkwise");
  IM_CHECK(session.choice().form == Form::chunkwise);
  IM_CHECK_EQ(session.token(), 19);
  IM_CHECK_EQ(session.trace()->block(session.cursor().block).first_token, 16);
  press(context, ImGuiKey_RightBracket);
  IM_CHECK_EQ(session.choice().chunk_size, 16);
  IM_CHECK_EQ(session.trace()->block(session.cursor().block).count, 16);
  context->ItemInputValue("//Data/**/###chunk size", 7);
  settle(context);
  IM_CHECK_EQ(session.choice().chunk_size, 7);
  IM_CHECK_EQ(session.trace()->block(session.cursor().block).first_token, 14);
  IM_CHECK_EQ(session.token(), 19);
  for (int i = 0; i < 12; ++i) press(context, ImGuiKey_RightBracket);  // never beyond the sequence
  IM_CHECK_EQ(session.choice().chunk_size, session.data().tokens);
  IM_CHECK(session.computed()->agree);
  context->KeyPress(ImGuiKey_3);
  IM_CHECK(session.choice().form == Form::two_pass);
  context->KeyPress(ImGuiKey_4);
  IM_CHECK(session.choice().form == Form::parallel);
  IM_CHECK_EQ(session.trace()->block_count(), 1);
}

void walks_every_operation(ImGuiTestContext* context) {
  Session& session = start(context);
  for (const Form form : all_forms) {
    Choice choice = session.choice();
    choice.form = form;
    choice.chunk_size = 40;  // the last chunk is shorter
    session.choose(std::move(choice));
    settle(context);
    // Every operation of the last two blocks is drawn once; back and forth leads to the same place.
    session.step(Session::Grain::end, 1);
    int taken = 0;
    while (session.cursor().block + 2 > session.trace()->block_count() - 1 && session.cursor().block > 0 &&
           taken < 24) {
      session.step(Session::Grain::operation, -1);
      context->Yield();
      ++taken;
    }
    for (int i = 0; i < taken; ++i) session.step(Session::Grain::operation, 1);
    IM_CHECK(session.cursor() == session.trace()->last());
    context->KeyPress(ImGuiKey_LeftArrow);
    context->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK(session.cursor() == session.trace()->last());
  }
}

/// Types a path into the open dialog.
void open_by_keyboard(ImGuiTestContext* context, const std::string& path) {
  press(context, ImGuiMod_Ctrl | ImGuiKey_O);
  context->KeyCharsReplaceEnter(path.c_str());
  settle(context);
}

void opens_files(ImGuiTestContext* context) {
  Session& session = start(context);
  session.go_to_token(7);
  const std::string before = session.to_json();
  const std::string folder = testing::test_data_folder();
  open_by_keyboard(context, folder + "/gui/not_an_archive.npz");
  IM_CHECK(session.message().find("not_an_archive.npz") != std::string::npos);
  IM_CHECK_EQ(session.to_json(), before);  // nothing that was open is lost
  IM_CHECK(session.computed()->agree);
  press(context, ImGuiKey_Escape);
  open_by_keyboard(context, folder + "/gui/does_not_exist.npz");
  IM_CHECK(session.message().find("does_not_exist.npz") != std::string::npos);
  IM_CHECK_EQ(session.to_json(), before);
  press(context, ImGuiKey_Escape);

  application->drop({folder + "/gui/not_an_archive.npz", folder});
  IM_CHECK(session.message().find("2 files") != std::string::npos);
  application->drop({folder + "/gui/not_an_archive.npz"});
  settle(context);
  IM_CHECK(session.message().find("not_an_archive.npz") != std::string::npos);
  IM_CHECK_EQ(session.to_json(), before);

  application->drop({asset("captures/gla_recall_l1.npz")});
  settle(context);
  IM_CHECK_EQ(session.choice().variant, std::string("gla"));

  const std::string good = asset("captures/deltanet_overwrite_l2.npz").string();
  open_by_keyboard(context, good);
  settle(context);
  IM_CHECK(session.message().empty());
  IM_CHECK(!application->show_open);
  IM_CHECK_EQ(session.choice().variant, std::string("deltanet"));
  IM_CHECK_EQ(session.token(), 0);
  IM_CHECK(session.computed()->agree);
}

void write_text(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

/// A folder with a table, a bad one, and q, k and v as .npy files.
std::filesystem::path folder_of_own_data() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "palimpsest own data";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "layer 3");
  write_text(folder / "table.csv", "label,q0,q1,k0,k1,v0,beta\nthe,1,0,1,0,2,1\njar,0,1,0,1,3,1\n");
  write_text(folder / "bad.csv", "q0,k0,v0\n1,1,nan\n");
  for (const char* name : {"q", "k", "v"}) {
    const std::vector<std::byte> bytes = format_npy(Array({3, 2}, std::vector<double>{1, 0, 0, 1, 1, 1}));
    write_text(folder / "layer 3" / (std::string(name) + ".npy"),
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return folder;
}

void opens_other_kinds_of_files(ImGuiTestContext* context) {
  Session& session = start(context);
  const std::filesystem::path folder = folder_of_own_data();
  application->drop({folder / "table.csv"});
  settle(context);
  IM_CHECK(session.message().empty());
  IM_CHECK_EQ(session.data().title, std::string("table"));
  IM_CHECK_EQ(session.data().labels.back(), std::string("jar"));
  IM_CHECK_EQ(session.choice().variant, std::string("deltanet"));
  const std::string before = session.to_json();
  application->drop({folder / "bad.csv"});
  settle(context);
  IM_CHECK(session.message().find("bad.csv: line 2, column \"v0\"") != std::string::npos);
  IM_CHECK_EQ(session.to_json(), before);

  const std::filesystem::path layer = folder / "layer 3";
  application->drop({layer / "q.npy", layer / "k.npy", layer / "v.npy"});  // all that a person marked
  settle(context);
  IM_CHECK(session.message().empty());
  IM_CHECK_EQ(session.data().title, std::string("layer 3"));
  IM_CHECK_EQ(session.data().tokens, 3);
  application->drop({layer / "q.npy", folder / "table.csv"});
  IM_CHECK(session.message().find("2 files") != std::string::npos);
  application->drop({folder / "table.csv"});
  settle(context);
  application->drop({layer});
  settle(context);
  IM_CHECK_EQ(session.data().title, std::string("layer 3"));

  open_by_keyboard(context, (folder / "table.csv").string());
  IM_CHECK(!application->show_open);
  IM_CHECK_EQ(session.data().title, std::string("table"));
  open_by_keyboard(context, layer.string());
  IM_CHECK(!application->show_open);
  IM_CHECK_EQ(session.data().title, std::string("layer 3"));
  std::filesystem::remove_all(folder);
}

void goes_from_event_to_event(ImGuiTestContext* context) {
  Session& session = start(context);
  session.go_to_token(0);
  press(context, ImGuiKey_J);
  const Index first = session.token();
  IM_CHECK_GT(first, 0);
  IM_CHECK(application->notice.starts_with(fmt::format("Word {} “", first)));
  click(context, "//Timeline/**/to the next event");
  IM_CHECK_GT(session.token(), first);
  press(context, ImGuiMod_Shift | ImGuiKey_J);
  IM_CHECK_EQ(session.token(), first);
  session.go_to_token(session.data().tokens - 1);
  press(context, ImGuiKey_J);
  IM_CHECK_EQ(session.token(), session.data().tokens - 1);
  IM_CHECK(application->refusal.starts_with("No event after word"));
}

void saves_a_place(ImGuiTestContext* context) {
  Session& session = start(context);
  context->KeyPress(ImGuiKey_2);
  press(context, ImGuiKey_P);
  session.go_to_token(19);
  const std::string place = session.to_json();
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "palimpsest gui";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "a place.json").string();
  press(context, ImGuiMod_Ctrl | ImGuiKey_S);
  context->KeyCharsReplaceEnter((folder / "nowhere" / "a place").string().c_str());  // no such folder
  context->Yield(2);
  IM_CHECK(application->show_save);
  context->KeyCharsReplaceEnter((folder / "a place.txt").string().c_str());  // could not be opened again
  context->Yield(2);
  IM_CHECK(application->show_save);
  IM_CHECK(application->notice.empty());
  IM_CHECK(std::filesystem::is_empty(folder));
  context->KeyCharsReplaceEnter((folder / "a place").string().c_str());
  context->Yield(3);
  IM_CHECK(!application->show_save);
  IM_CHECK_EQ(application->notice, "This place is saved in " + file);
  context->KeyPress(ImGuiKey_V);
  press(context, ImGuiKey_Home);
  IM_CHECK_NE(session.to_json(), place);
  open_by_keyboard(context, file);
  settle(context);
  IM_CHECK_EQ(session.to_json(), place);
  std::filesystem::remove_all(folder);
}

void takes_changes_back(ImGuiTestContext* context) {
  Session& session = start(context);
  const SessionState first = session.state();
  press(context, ImGuiKey_V);
  const std::string next = session.choice().variant;
  context->KeyPress(ImGuiKey_L);
  const ImGuiTestItemInfo slider = context->ItemInfo("//Data/**/###scale_keys");
  IM_CHECK_NE(slider.ID, 0u);
  const ImRect area = slider.RectFull;
  context->MouseMoveToPos(area.GetCenter());
  context->MouseDown();
  for (const float part : {0.6F, 0.7F, 0.8F}) {
    context->MouseMoveToPos({area.Min.x + area.GetWidth() * part, area.GetCenter().y});
    settle(context);
    IM_CHECK_EQ(session.state().edits.size(), 1u);
  }
  context->MouseUp();
  settle(context);
  const SessionState last = session.state();
  context->KeyPress(ImGuiKey_End);
  const Index token = session.token();
  press(context, ImGuiMod_Ctrl | ImGuiKey_Z);  // the whole drag
  IM_CHECK(session.state().edits.empty());
  IM_CHECK(session.computed()->choice.edits.empty());
  IM_CHECK_EQ(session.token(), token);
  IM_CHECK_EQ(session.choice().variant, next);
  press(context, ImGuiMod_Ctrl | ImGuiKey_2);  // where and how one looks is nothing to take back
  press(context, ImGuiMod_Ctrl | ImGuiKey_Z);
  IM_CHECK(same_but_place(session.state(), first));
  IM_CHECK(application->view.theme == Theme::light);
  IM_CHECK_EQ(session.state().workspace, std::string("learn"));
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
  press(context, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z);
  IM_CHECK(same_but_place(session.state(), last));
}

void copies_a_place(ImGuiTestContext* context) {
  Session& session = start(context);
  context->KeyPress(ImGuiKey_2);
  session.go_to_token(19);
  const std::string place = session.to_json();
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
  context->KeyPress(ImGuiKey_V);
  press(context, ImGuiKey_Home);
  IM_CHECK_NE(session.to_json(), place);
  press(context, ImGuiMod_Ctrl | ImGuiKey_V);
  IM_CHECK_EQ(session.to_json(), place);
  ImGui::SetClipboardText("not a place");
  press(context, ImGuiMod_Ctrl | ImGuiKey_V);
  IM_CHECK(session.message().starts_with("this state cannot be opened: "));
  IM_CHECK_EQ(session.to_json(), place);
}

void picks_data_and_heads(ImGuiTestContext* context) {
  Session& session = start(context);
  press(context, ImGuiKey_H);
  IM_CHECK_EQ(session.choice().head, 1);
  context->ItemClick("//Top bar/###data");
  context->Yield(3);
  // Rows out of sight are no items: the list is scrolled until this one is seen.
  const char* const row = "all data/entries/capture:kda_overwrite_l1";
  context->MouseMoveToPos(testing::middle_of(testing::place_of("all data/entries")));
  for (int i = 0; i < 200 && !parts().find(row)->is_whole(); ++i) {
    const Part& part = *parts().find(row);
    context->MouseWheelY(part.where.minimum.y < part.seen.minimum.y ? 1.0F : -1.0F);
    context->Yield();
  }
  context->ItemClick("//All data/**/capture:kda_overwrite_l1");
  click(context, "//All data/**/###open data");
  IM_CHECK_EQ(session.data().id, std::string("capture:kda_overwrite_l1"));
  IM_CHECK_EQ(session.choice().variant, std::string("kda"));
  IM_CHECK(session.computed()->agree);
  context->ItemClick("//Top bar/###data");
  context->KeyChars("preset:overwrite");  // chooses what is left
  context->Yield(2);
  click(context, "//All data/**/###open data");
  IM_CHECK(session.data().id.starts_with("preset:overwrite"));
  IM_CHECK(session.computed()->agree);
}

void shows_and_hides_help(ImGuiTestContext* context) {
  start(context);
  press(context, ImGuiMod_Shift | ImGuiKey_Slash);
  IM_CHECK(application->show_keys);
  press(context, ImGuiKey_Escape);
  IM_CHECK(!application->show_keys);
  press(context, ImGuiKey_L);
  IM_CHECK(application->view.theme == style::Theme::light);
}

void keeps_keys_for_the_list(ImGuiTestContext* context) {
  Session& session = start(context);
  const auto is_open = [] { return ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup); };
  const auto opened_and_closed = [&] {
    context->Yield(3);
    IM_CHECK(is_open());
    context->KeyPress(ImGuiKey_RightArrow);  // nothing moves behind it
    IM_CHECK(session.cursor() == Cursor{});
    press(context, ImGuiKey_Escape);
    IM_CHECK(!is_open());
  };
  context->KeyPress(ImGuiKey_D);
  opened_and_closed();
  context->ItemClick("//Top bar/###variant");
  opened_and_closed();
  context->KeyPress(ImGuiKey_RightArrow);
  IM_CHECK(!(session.cursor() == Cursor{}));
}

void points_at_a_cell(ImGuiTestContext* context) {
  Session& session = start(context);
  session.go_to_token(19);
  settle(context);
  const ImGuiTestItemInfo stage = context->WindowInfo("//Stage");
  const ImRect area = stage.RectFull;
  bool found = false;  // somewhere in the upper half lies a picture
  for (float y = 0.3F; y < 0.6F && !found; y += 0.06F) {
    for (float x = 0.1F; x < 0.9F && !found; x += 0.06F) {
      context->MouseMoveToPos({area.Min.x + area.GetWidth() * x, area.Min.y + area.GetHeight() * y});
      context->Yield(2);
      found = application->focus() && !application->focus_is_usual();
    }
  }
  IM_CHECK(found);
  const CellFocus focus = *application->focus();
  const Matrix<double>& values = session.sight().record->at(focus.tensor);
  IM_CHECK_LT(focus.row, values.rows());
  IM_CHECK_LT(focus.column, values.cols());
  context->MouseClick();
  context->Yield(2);
  IM_CHECK(application->pinned == focus);
  context->KeyPress(ImGuiKey_Escape);
  IM_CHECK(!application->pinned.has_value());
}

/// A click on a step's tile goes there.
void goes_to_a_step_by_its_tile(ImGuiTestContext* context) {
  Session& session = start(context);
  session.go_to_token(19);
  settle(context);
  context->ItemClick("//Stage/**/tile\\/2");
  IM_CHECK_EQ(session.cursor().operation, 2);
  IM_CHECK_EQ(session.trace()->token(session.cursor()), 19);
  context->Yield(2);
  context->ItemClick("//Stage/**/tile\\/0");
  IM_CHECK_EQ(session.cursor().operation, 0);
}

/// TTT-MLP has more lines than fit: a click on how many are below goes on to the next of them.
void goes_to_lines_out_of_sight(ImGuiTestContext* context) {
  Session& session = start(context);
  session.choose([](Choice& choice) {
    choice.variant = "ttt_mlp";
    choice.form = Form::chunkwise;
  });
  settle(context);
  context->ItemClick("//Stage/**/more\\/below");
  const Cursor below = session.cursor();
  IM_CHECK_EQ(below.block, 0);
  IM_CHECK_GT(below.operation, 2);
  context->Yield(2);
  context->ItemClick("//Stage/**/more\\/above");
  IM_CHECK_LT(session.cursor().operation, below.operation);
}

/// The smallest sequences and every other capture: drawn in every form without trouble.
void draws_anything(ImGuiTestContext* context) {
  Session& session = start(context);
  for (const char* id : {"preset:random?T=1&K=1&V=1&seed=1", "preset:random?T=2&K=3&V=5&seed=1"}) {
    IM_CHECK(session.open(make_preset(id)));
    session.wait();
    for (const Variant& variant : variants()) {
      for (const Form form : all_forms) {
        Choice choice = session.choice();
        choice.variant = variant.id;
        choice.form = form;
        session.choose(std::move(choice));
        session.wait();
        IM_CHECK_SILENT(session.message().empty());
        session.step(Session::Grain::end, 1);
        context->Yield();
      }
    }
  }
}

}  // namespace

ImGuiTest* add_program_test(ImGuiTestEngine* engine, const char* name, void (*test)(ImGuiTestContext*)) {
  return add(engine, name, test);
}

Session& start_program(ImGuiTestContext* context, Devices devices) { return start(context, devices); }

Application& program() { return *application; }

void settle(ImGuiTestContext* context) {
  context->Yield(2);
  application->session.wait();
  context->Yield(2);
}

void settle_questions(ImGuiTestContext* context) {
  settle(context);
  application->session.questions().wait();
  settle(context);
}

void press(ImGuiTestContext* context, int key) {
  context->KeyPress(key);
  settle(context);
}

void click(ImGuiTestContext* context, const char* item) {
  context->ItemClick(item);
  settle(context);
}

void register_application_tests(ImGuiTestEngine* engine) {
  add(engine, "starts with a capture, paused at the first word that matters", starts);
  add(engine, "steps both ways", steps);
  add(engine, "plays and stops", plays);
  add(engine, "repeats a range of words until that is taken back", repeats_a_range);
  add(engine, "drags the timeline", drags_the_timeline);
  add(engine, "changes the variant", changes_the_variant);
  add(engine, "changes form and chunk size", changes_form_and_chunk_size);
  add(engine, "walks through every operation", walks_every_operation);
  add(engine, "opens bad and good files", opens_files);
  add(engine, "opens other kinds of files", opens_other_kinds_of_files);
  add(engine, "goes from event to event", goes_from_event_to_event);
  add(engine, "saves a place and comes back to it", saves_a_place);
  add(engine, "takes changes back and makes them again", takes_changes_back);
  add(engine, "copies a place and goes to it", copies_a_place);
  add(engine, "picks data and heads", picks_data_and_heads);
  add(engine, "shows and hides the keys", shows_and_hides_help);
  add(engine, "keeps the keys for the list that is open", keeps_keys_for_the_list);
  add(engine, "explains the cell under the pointer", points_at_a_cell);
  add(engine, "goes to lines that are out of sight", goes_to_lines_out_of_sight);
  add(engine, "goes to a step by its tile", goes_to_a_step_by_its_tile);
  add(engine, "draws the smallest sequences", draws_anything);
}

}  // namespace palimpsest
