// Whether every text has its room: in every workspace, for every rule and form, on every page, at usual
// sizes.

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "app/scene/parts.h"
#include "app/studio/application.h"
#include "app/views/answers.h"
#include "app/views/form_costs.h"
#include "app/widgets/text.h"
#include "app/window/offscreen.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/offscreen/glyphs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

struct Screen {
  int width;
  int height;
  float scale = 1;
};
constexpr std::array<Screen, 2> usual_screens = {{{1280, 800}, {1920, 1080}}};

/// Draws until all that is asked for has come and stands still.
void settle(Application& application, Offscreen& offscreen) {
  for (int i = 0; i < 4; ++i) {
    offscreen.pass([&] { application.draw(offscreen.scale()); });
    application.session.wait();
    application.session.questions().wait();
  }
  for (int i = 0; i < 2; ++i) offscreen.pass([&] { application.draw(offscreen.scale()); });
}

void check_letters(Application& application, Offscreen& offscreen) {
  settle(application, offscreen);
  CHECK(application.undrawn() == "");
  for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
}

void open_at_drum(Application& application) {
  application.open_first_capture();
  application.session.wait();
  application.session.go_to_token(42);
}

/// Every workspace for every rule: Step in every form, the others in one.
void walk(const Screen& screen) {
  CAPTURE(screen.width);
  Application application;
  open_at_drum(application);
  Offscreen offscreen(screen.width, screen.height, screen.scale);
  for (const Variant& variant : variants()) {
    for (const Workspace& workspace : application.workspaces()) {
      const bool has_forms = std::string_view(workspace.id) == "step";
      for (const Form form : all_forms) {
        if (!has_forms && form != Form::recurrent) continue;
        CAPTURE(variant.id, name(form), workspace.id);
        Choice choice = application.session.choice();
        choice.variant = variant.id;
        choice.form = form;
        application.session.choose(std::move(choice));
        application.session.wait();
        application.session.go_to_token(42);
        application.enter(workspace.id);
        check_letters(application, offscreen);
        if (!has_forms || !application.session.trace()) continue;
        // The last step of the block shows most.
        const Trace& trace = *application.session.trace();
        const Index block = trace.block_of(42, 0);
        const auto operations = static_cast<Index>(trace.phase(trace.block(block)).operations.size());
        application.session.set_cursor({block, operations - 1, 0});
        check_letters(application, offscreen);
      }
    }
  }
}

}  // namespace

TEST_CASE("no text is cut or lies over another, whatever the rule, the form and the workspace",
          "[readable]") {
  for (const Screen& screen : usual_screens) walk(screen);
}

TEST_CASE("no text is cut or lies over another on a large screen", "[.][readable-large]") {
  walk({3840, 2160, 2});
}

TEST_CASE("no text is cut or lies over another on any page", "[readable]") {
  for (const Screen& screen : usual_screens) {
    CAPTURE(screen.width);
    Application application;
    open_at_drum(application);
    Offscreen offscreen(screen.width, screen.height, screen.scale);
    int page = 0;
    for (bool Application::*shown :
         {&Application::show_data, &Application::show_keys, &Application::show_palette,
          &Application::show_places, &Application::show_open}) {
      CAPTURE(page++);
      application.*shown = true;
      check_letters(application, offscreen);
      application.*shown = false;
    }
  }
}

TEST_CASE("a presentation of any workspace can be read", "[readable]") {
  for (const Screen& screen : usual_screens) {
    Application application;
    open_at_drum(application);
    application.presenting = true;
    Offscreen offscreen(screen.width, screen.height, screen.scale);
    for (const Workspace& workspace : application.workspaces()) {
      CAPTURE(screen.width, workspace.id);
      application.enter(workspace.id);
      check_letters(application, offscreen);
      const std::string id = workspace.id;
      if (id == "compare") {  // sentences may be cut, names may not
        for (const CutPiece& piece : drawn_cut_words()) CHECK(piece.whole.ends_with('.'));
      }
      if (id == "step" || id == "learn" || id == "compare")
        CHECK(parts().below(id + "/floor/words").size() > 1);
    }
  }
}

TEST_CASE("a much enlarged window still shows what the memory answers, and names that lie apart",
          "[readable]") {
  Application application;
  open_at_drum(application);
  Offscreen offscreen(1280, 800, 1.5F);
  settle(application, offscreen);
  REQUIRE(answers_map().shown);
  CHECK(answers_map().cell.x >= 15 * 1.5F);  // where numbers of two digits have room
  CHECK(parts().find("step/forms/costs shown")->where.maximum.x + 4 <
        parts().find("step/forms/precisions")->where.minimum.x);
}

TEST_CASE("letters over letters and cut ones are seen", "[readable]") {
  Offscreen offscreen(400, 300);
  const auto faults = [&](const std::function<void()>& draw) {
    for (int i = 0; i < 3; ++i) {
      offscreen.pass([&] {
        ImGui::SetNextWindowPos({20, 20});
        ImGui::SetNextWindowSize({200, 100});
        ImGui::Begin("words", nullptr, ImGuiWindowFlags_NoDecoration);
        draw();
        ImGui::End();
      });
    }
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
