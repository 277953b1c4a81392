// Formulas that are too wide for their panel.

#include <imgui_internal.h>

#include "app/studio/application.h"
#include "app/widgets/formula.h"
#include "app/window/offscreen.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("a wide formula is cut before its signs, between brackets only where nothing else helps",
          "[formula]") {
  const Offscreen fonts(64, 64);
  const std::string latex = "S_t = (1 - f_t) S_{t-1} + \\left(a + b\\right) - \\eta_t M_t";
  CHECK(formula_lines(latex, 16, 1e6F) == std::vector<std::string>{latex});
  const std::vector<std::string> cut = formula_lines(latex, 16, 1);
  std::string joined;
  for (std::size_t i = 0; i < cut.size(); ++i) joined += i == 0 ? cut[i] : cut[i].substr(2);
  CHECK(joined == "S_t = (1 - f_t) S_{t-1} + (a + b) - \\eta_t M_t");  // brackets are of one size then
  CHECK(cut.size() == 6);
  const float width = 0.6F * measure_formula(latex, 16).width;
  const std::vector<std::string> two = formula_lines(latex, 16, width);
  REQUIRE(two.size() == 2);
  for (const std::string& line : two) CHECK(measure_formula(line, 16).width <= width);
  // A sign that follows another one begins no line.
  CHECK(formula_lines("x = -y", 16, 1).size() == 2);
}

TEST_CASE("no equation beside the Stage has to be scrolled aside", "[formula]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.session.go_to_token(42);
  Offscreen offscreen(1280, 800);
  int seen = 0;
  for (const Variant& variant : variants()) {
    for (const Form form : {Form::recurrent, Form::parallel}) {
      CAPTURE(variant.id, name(form));
      Choice choice = application.session.choice();
      choice.variant = variant.id;
      choice.form = form;
      application.session.choose(std::move(choice));
      application.session.wait();
      draw_fully(application, offscreen);
      for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
        if (!window->Active || std::string_view(window->Name).find("equation") == std::string_view::npos)
          continue;
        CHECK(window->ScrollMax.x == 0);
        ++seen;
      }
    }
  }
  CHECK(seen > 20);
}
