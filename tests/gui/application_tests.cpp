#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/widgets/style.h"
#include "app/window/window.h"
#include "core/io/array_file.h"
#include "tests/folders.h"
#include "tests/gui/tests.h"

// The test engine drives the real program with mouse and keyboard; what is asserted is the session.

using namespace palimpsest;

namespace {

PROGRAM_TEST("starts with a capture, paused at the first word that matters") {
  Session& session = start_afresh(context);
  IM_CHECK_EQ(session.data().id, std::string("capture:gated_deltanet_overwrite_l1"));
  IM_CHECK_EQ(session.choice().variant, std::string("gated_deltanet"));
  IM_CHECK_EQ(session.data().labels[static_cast<std::size_t>(session.token())], std::string(" key"));
  IM_CHECK_EQ(session.cursor().operation, 0);
  IM_CHECK(program().show_welcome);
  IM_CHECK(!program().playing);
  IM_CHECK(session.message().empty());
  IM_CHECK(session.computed()->agree);
  IM_CHECK_LT(session.computed()->worst, 1e-10);
  IM_CHECK(session.computed()->capture_error.has_value());
  IM_CHECK_LE(*session.computed()->capture_error, 2 * *session.data().stated_error);
  const Image image = take_picture(context);  // not an empty window: many colours
  IM_CHECK_EQ(image.width, 1920);
  IM_CHECK_EQ(image.height, 1080);
  std::vector<bool> seen(1 << 12);
  for (std::size_t i = 0; i + 2 < image.rgb.size(); i += 3) {
    seen[(image.rgb[i] >> 4) << 8 | (image.rgb[i + 1] >> 4) << 4 | image.rgb[i + 2] >> 4] = true;
  }
  IM_CHECK_GT(std::count(seen.begin(), seen.end(), true), 40);
}

PROGRAM_TEST("steps both ways") {
  Session& session = start_program(context);
  const Trace& trace = *session.trace();
  context->KeyPress(ImGuiKey_RightArrow);
  IM_CHECK(session.cursor() == (Cursor{0, 1, 0}));
  IM_CHECK(!program().show_welcome);
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

PROGRAM_TEST("plays and stops") {
  Session& session = start_program(context);
  program().steps_per_second = 60;
  context->KeyPress(ImGuiKey_Space);
  IM_CHECK(program().playing);
  for (int frame = 0; frame < 600 && session.token() < 2; ++frame) context->Yield();
  IM_CHECK_GE(session.token(), 2);
  context->KeyPress(ImGuiKey_Space);
  IM_CHECK(!program().playing);
  const Cursor stopped = session.cursor();
  context->Yield(30);
  IM_CHECK(session.cursor() == stopped);
  context->KeyPress(ImGuiKey_End);
  const Index last = session.token();
  context->KeyPress(ImGuiKey_Space);
  context->Yield(2);
  IM_CHECK_LT(session.token(), last);  // from the start again
  context->KeyPress(ImGuiKey_Space);
  context->KeyPress(ImGuiKey_End);
  context->KeyPress(ImGuiKey_LeftArrow);
  context->KeyPress(ImGuiKey_Space);
  for (int frame = 0; frame < 120 && program().playing; ++frame) context->Yield();
  IM_CHECK(!program().playing);  // stops by itself where nothing follows
}

PROGRAM_TEST("repeats a range of words until that is taken back") {
  Session& session = start_program(context);
  program().steps_per_second = 60;
  program().grain = Session::Grain::token;
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
  program().grain = Session::Grain::operation;
}

PROGRAM_TEST("drags the timeline") {
  Session& session = start_program(context);
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

PROGRAM_TEST("changes the variant") {
  Session& session = start_program(context);
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

PROGRAM_TEST("changes form and chunk size") {
  Session& session = start_program(context);
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

PROGRAM_TEST("walks through every operation") {
  Session& session = start_program(context);
  for (const Form form : all_forms) {
    choose(context, [&](Choice& choice) {
      choice.form = form;
      choice.chunk_size = 40;  // the last chunk is shorter
    });
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

PROGRAM_TEST("opens bad and good files") {
  Session& session = start_program(context);
  session.go_to_token(7);
  const std::string before = session.to_json();
  const std::string folder = test_data_folder();
  for (const std::string name : {"not_an_archive.npz", "does_not_exist.npz"}) {
    open_by_keyboard(context, folder + "/gui/" + name);
    IM_CHECK(session.message().find(name) != std::string::npos);
    IM_CHECK_EQ(session.to_json(), before);  // nothing that was open is lost
    IM_CHECK(session.computed()->agree);
    press(context, ImGuiKey_Escape);
  }

  program().drop({folder + "/gui/not_an_archive.npz", folder});
  IM_CHECK(session.message().find("2 files") != std::string::npos);
  program().drop({folder + "/gui/not_an_archive.npz"});
  settle(context);
  IM_CHECK(session.message().find("not_an_archive.npz") != std::string::npos);
  IM_CHECK_EQ(session.to_json(), before);

  program().drop({asset("captures/gla_recall_l1.npz")});
  settle(context);
  IM_CHECK_EQ(session.choice().variant, std::string("gla"));

  const std::string good = asset("captures/deltanet_overwrite_l2.npz").string();
  open_by_keyboard(context, good);
  IM_CHECK(session.message().empty());
  IM_CHECK(!program().show_open);
  IM_CHECK_EQ(session.choice().variant, std::string("deltanet"));
  IM_CHECK_GT(session.token(), 0);  // where one sees something
  IM_CHECK(session.computed()->agree);
}

PROGRAM_TEST("opens other kinds of files") {
  Session& session = start_program(context);
  const OwnFolder folder;
  folder.file("table.csv", "label,q0,q1,k0,k1,v0,beta\nthe,1,0,1,0,2,1\njar,0,1,0,1,3,1\n");
  folder.file("bad.csv", "q0,k0,v0\n1,1,nan\n");
  std::filesystem::create_directories(folder / "layer 3");
  for (const char* name : {"q", "k", "v"}) {
    const std::vector<std::byte> bytes = format_npy(Array({3, 2}, std::vector<double>{1, 0, 0, 1, 1, 1}));
    folder.file(fmt::format("layer 3/{}.npy", name).c_str(),
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  program().drop({folder / "table.csv"});
  settle(context);
  IM_CHECK(session.message().empty());
  IM_CHECK_EQ(session.data().title, std::string("table"));
  IM_CHECK_EQ(session.data().labels.back(), std::string("jar"));
  IM_CHECK_EQ(session.choice().variant, std::string("deltanet"));
  const std::string before = session.to_json();
  program().drop({folder / "bad.csv"});
  settle(context);
  IM_CHECK(session.message().find("bad.csv: line 2, column \"v0\"") != std::string::npos);
  IM_CHECK_EQ(session.to_json(), before);

  const std::filesystem::path layer = folder / "layer 3";
  program().drop({layer / "q.npy", layer / "k.npy", layer / "v.npy"});  // all that a person marked
  settle(context);
  IM_CHECK(session.message().empty());
  IM_CHECK_EQ(session.data().title, std::string("layer 3"));
  IM_CHECK_EQ(session.data().tokens, 3);
  program().drop({layer / "q.npy", folder / "table.csv"});
  IM_CHECK(session.message().find("2 files") != std::string::npos);
  program().drop({folder / "table.csv"});
  settle(context);
  program().drop({layer});
  settle(context);
  IM_CHECK_EQ(session.data().title, std::string("layer 3"));

  open_by_keyboard(context, folder / "table.csv");
  IM_CHECK(!program().show_open);
  IM_CHECK_EQ(session.data().title, std::string("table"));
  open_by_keyboard(context, layer.string());
  IM_CHECK(!program().show_open);
  IM_CHECK_EQ(session.data().title, std::string("layer 3"));
}

PROGRAM_TEST("goes from event to event") {
  Session& session = start_program(context);
  session.go_to_token(0);
  press(context, ImGuiKey_J);
  const Index first = session.token();
  IM_CHECK_GT(first, 0);
  IM_CHECK(program().notice.starts_with(fmt::format("Token {} “", first + 1)));
  click(context, "//Timeline/**/to the next event");
  IM_CHECK_GT(session.token(), first);
  press(context, ImGuiMod_Shift | ImGuiKey_J);
  IM_CHECK_EQ(session.token(), first);
  session.go_to_token(session.data().tokens - 1);
  press(context, ImGuiKey_J);
  IM_CHECK_EQ(session.token(), session.data().tokens - 1);
  IM_CHECK(program().refusal.starts_with("No event after token"));
}

PROGRAM_TEST("saves a place and comes back to it") {
  Session& session = start_program(context);
  context->KeyPress(ImGuiKey_2);
  press(context, ImGuiKey_P);
  session.go_to_token(19);
  const std::string place = session.to_json();
  const OwnFolder folder;
  const std::string file = folder / "a place.json";
  press(context, ImGuiMod_Ctrl | ImGuiKey_S);
  context->KeyCharsReplaceEnter((folder / "nowhere/a place").c_str());  // no such folder
  context->Yield(2);
  IM_CHECK(program().show_save);
  context->KeyCharsReplaceEnter((folder / "a place.txt").c_str());  // could not be opened again
  context->Yield(2);
  IM_CHECK(program().show_save);
  IM_CHECK(program().notice.empty());
  IM_CHECK(std::filesystem::is_empty(folder / ""));
  context->KeyCharsReplaceEnter((folder / "a place").c_str());
  context->Yield(3);
  IM_CHECK(!program().show_save);
  IM_CHECK_EQ(program().notice, "This place is saved in " + file);
  context->KeyPress(ImGuiKey_V);
  press(context, ImGuiKey_Home);
  IM_CHECK_NE(session.to_json(), place);
  open_by_keyboard(context, file);
  IM_CHECK_EQ(session.to_json(), place);
}

PROGRAM_TEST("takes changes back and makes them again") {
  Session& session = start_program(context);
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
  IM_CHECK(program().view.theme == Theme::light);
  IM_CHECK_EQ(session.state().workspace, std::string("learn"));
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
  press(context, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z);
  IM_CHECK(same_but_place(session.state(), last));
}

PROGRAM_TEST("copies a place and goes to it") {
  Session& session = start_program(context);
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

PROGRAM_TEST("picks data and heads") {
  Session& session = start_program(context);
  press(context, ImGuiKey_H);
  IM_CHECK_EQ(session.choice().head, 1);
  context->ItemClick("//Top bar/###data");
  context->Yield(3);
  // Rows out of sight are no items: the list is scrolled until this one is seen.
  const char* const row = "all data/entries/capture:kda_overwrite_l1";
  context->MouseMoveToPos(place_of("all data/entries").middle());
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
}

PROGRAM_TEST("shows and hides the keys, and keeps them for the list that is open") {
  Session& session = start_program(context);
  press(context, ImGuiMod_Shift | ImGuiKey_Slash);
  IM_CHECK(program().show_keys);
  press(context, ImGuiKey_Escape);
  IM_CHECK(!program().show_keys);
  press(context, ImGuiKey_L);
  IM_CHECK(program().view.theme == Theme::light);

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

/// A click on a step's tile goes there.
PROGRAM_TEST("goes to a step by its tile") {
  Session& session = start_program(context);
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
PROGRAM_TEST("goes to lines that are out of sight") {
  Session& session = start_program(context);
  choose(context, [](Choice& choice) {
    choice.variant = "ttt_mlp";
    choice.form = Form::chunkwise;
  });
  context->ItemClick("//Stage/**/more\\/below");
  const Cursor below = session.cursor();
  IM_CHECK_EQ(below.block, 0);
  IM_CHECK_GT(below.operation, 2);
  context->Yield(2);
  context->ItemClick("//Stage/**/more\\/above");
  IM_CHECK_LT(session.cursor().operation, below.operation);
}

}  // namespace
