// Whether every text has its room: in every workspace, for every rule and form, on every page, at usual
// sizes.

#include "app/views/answers.h"
#include "app/words/forms.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/glyphs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void check_letters(ShownProgram& shown) {
  shown.draw();
  shown.pass();
  for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
}

/// How many equations stand beside the Stage; none has to be scrolled aside.
int check_equations() {
  int seen = 0;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (!window->Active || std::string_view(window->Name).find("equation") == std::string_view::npos)
      continue;
    CHECK(window->ScrollMax.x == 0);
    ++seen;
  }
  return seen;
}

/// The first capture at "drum".
struct AtDrum : ShownProgram {
  explicit AtDrum(const Size& size) : ShownProgram("step", {}, size) { session.go_to_token(42); }
};

/// Every workspace for every rule: Step in every form, the others in one.
void walk_at(const Size& size) {
  CAPTURE(size.width);
  AtDrum shown(size);
  int equations = 0;
  for (const Variant& variant : variants()) {
    for (const Workspace& workspace : shown.application.workspaces()) {
      const bool has_forms = std::string_view(workspace.id) == "step";
      for (const Form form : all_forms) {
        if (!has_forms && form != Form::recurrent) continue;
        CAPTURE(variant.id, name(form), workspace.id);
        shown.choose(variant.id, form);
        shown.session.go_to_token(42);
        shown.application.enter(workspace.id);
        check_letters(shown);
        if (!has_forms || !shown.session.trace()) continue;
        equations += check_equations();
        // The last step of the block shows most.
        const Trace& trace = *shown.session.trace();
        const Index block = trace.block_of(42, 0);
        const auto operations = static_cast<Index>(trace.phase(trace.block(block)).operations.size());
        shown.session.set_cursor({block, operations - 1, 0});
        check_letters(shown);
      }
    }
  }
  CHECK(equations > 20);
}

}  // namespace

TEST_CASE("no text is cut or lies over another, whatever the rule, the form and the workspace",
          "[readable]") {
  for (const Size& size : usual_sizes) walk_at(size);
}

TEST_CASE("no text is cut or lies over another on a large screen", "[.][readable-large]") {
  walk_at({3840, 2160, 2});
}

TEST_CASE("no text is cut or lies over another on any page", "[readable]") {
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    AtDrum shown(size);
    int page = 0;
    for (bool Application::*over :
         {&Application::show_data, &Application::show_keys, &Application::show_palette,
          &Application::show_places, &Application::show_open}) {
      CAPTURE(page++);
      shown.application.*over = true;
      check_letters(shown);
      shown.application.*over = false;
    }
  }
}

TEST_CASE("a presentation of any workspace can be read", "[readable]") {
  for (const Size& size : usual_sizes) {
    AtDrum shown(size);
    shown.application.presenting = true;
    for (const Workspace& workspace : shown.application.workspaces()) {
      CAPTURE(size.width, workspace.id);
      shown.application.enter(workspace.id);
      check_letters(shown);
      const std::string id = workspace.id;
      if (id == "compare") {  // sentences may be cut, names may not
        for (const CutPiece& piece : drawn_cut_words()) CHECK(piece.whole.ends_with('.'));
      }
      const bool has_floor = id == "learn" || id == "attend";
      CHECK(parts().below(id + (has_floor ? "/floor/words" : "/text/words")).size() > 1);
    }
  }
}

TEST_CASE("a much enlarged window still shows what the memory answers, and names that lie apart",
          "[readable]") {
  AtDrum shown({1280, 800, 1.3F});
  shown.draw();
  const Rectangle table = place_of("step/answers/after");
  const auto words = static_cast<float>(ask_answers(shown.application).value->table.words.size());
  CHECK((table.maximum.x - table.minimum.x) / words >= 15 * 1.3F);  // where numbers of two digits have room
  CHECK(parts().find("step/forms/costs shown")->where.maximum.x + 4 <
        parts().find("step/forms/precisions")->where.minimum.x);
}

TEST_CASE("letters over letters and cut ones are seen", "[readable]") {
  Offscreen offscreen(400, 300);
  const auto faults = [&](const std::function<void()>& draw) {
    for (int i = 0; i < 3; ++i) offscreen.pass([&] { in_window({200, 100}, draw, {20, 20}); });
    return letter_faults();
  };
  const ImU32 ink = IM_COL32_WHITE;
  const auto two_lines = [&](float below) {
    draw_text({40, 40}, ink, "the red jar");
    draw_text({40, 40 + below}, ink, "holds a drum");
  };
  CHECK(faults([&] { two_lines(20); }).empty());
  CHECK_FALSE(faults([&] { two_lines(6); }).empty());  // moved up
  // Past the edge of the window; past an edge of its own, as words that roll; above one.
  const auto long_words = [&] { draw_text({40, 40}, ink, "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"); };
  CHECK(faults(long_words).size() == 1);
  const auto clipped = [&](ImVec2 from, ImVec2 to) {
    return faults([&] {
      ImGui::PushClipRect(from, to, true);
      long_words();
      ImGui::PopClipRect();
    });
  };
  CHECK(clipped({47, 30}, {149, 90}).empty());
  CHECK(clipped({30, 48}, {149, 90}).size() == 1);
}
