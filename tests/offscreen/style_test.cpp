#include "app/widgets/style.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "app/window/offscreen.h"
#include "core/base/text.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

constexpr Role roles[] = {Role::plain,    Role::query, Role::key,   Role::value, Role::gate,
                          Role::strength, Role::error, Role::state, Role::output};

// Relative luminance as WCAG 2 defines it.
double luminance(ImU32 colour) {
  const auto part = [&](int shift) {
    const double s = (colour >> shift & 255) / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(IM_COL32_R_SHIFT) + 0.7152 * part(IM_COL32_G_SHIFT) + 0.0722 * part(IM_COL32_B_SHIFT);
}

double contrast(ImU32 a, ImU32 b) {
  const double x = luminance(a);
  const double y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

/// Draws in a window that fills the picture.
void in_window(float width, float height, const auto& draw) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({width, height});
  ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
  draw();
  ImGui::End();
}

bool is_tip_shown() {
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  return tip && tip->Active;
}

}  // namespace

TEST_CASE("style: all words can be read on all that they stand on") {
  CHECK(contrast(IM_COL32_WHITE, IM_COL32_BLACK) == Approx(21));
  for (const style::Theme theme : {style::Theme::dark, style::Theme::light}) {
    CAPTURE(static_cast<int>(theme));
    const style::Palette& colours = style::colours(theme);
    const std::vector<style::TextOnGround> all = style::texts_on_grounds(colours);
    const auto stands = [&](ImU32 text, ImU32 ground) {
      return std::ranges::any_of(
          all, [&](const style::TextOnGround& one) { return one.text == text && one.ground == ground; });
    };
    for (const style::TextOnGround& one : all) {
      INFO(style::hex(one.text) << " on " << style::hex(one.ground));
      CHECK(contrast(one.text, one.ground) >= 4.5);
      CHECK(style::contrast(one.text, one.ground) == Approx(contrast(one.text, one.ground)).epsilon(1e-12));
    }
    for (const Role role : roles) {
      INFO("role " << static_cast<int>(role));
      CHECK(stands(colours.role(role), colours.panel));
      CHECK(stands(colours.role_dim(role), colours.panel));
      CHECK(colours.role_dim(role) != colours.role(role));  // what waits looks otherwise
    }
    CHECK(style::colour(colours.map.zero) == colours.panel);
  }
}

TEST_CASE("style: colours are written as LaTeX wants them") {
  CHECK(style::hex(IM_COL32(0xe9, 0xb4, 0x4c, 255)) == "#e9b44c");
  CHECK(style::hex(IM_COL32(0, 0, 10, 0)) == "#00000a");
  CHECK(style::mix(IM_COL32_BLACK, IM_COL32_WHITE, 0) == IM_COL32_BLACK);
  CHECK(style::mix(IM_COL32_BLACK, IM_COL32_WHITE, 1) == IM_COL32_WHITE);
}

TEST_CASE("style: theme and scale belong to the context") {
  Offscreen first(64, 64);
  style::apply(style::Theme::light, 2);
  CHECK(style::theme() == style::Theme::light);
  CHECK(style::scale() == 2);
  CHECK(style::px(8) == 16);
  {
    Offscreen second(64, 64);
    CHECK(style::theme() == style::Theme::dark);
    CHECK(style::scale() == 1);
    style::apply(style::Theme::dark, 1.25F);
    CHECK(style::px(8) == 10);
    CHECK(style::px(1) == 1);
    second.render([] {}, 1);
  }
  first.render([] { CHECK(style::scale() == 2); }, 1);
}

TEST_CASE("style: letters are of the size of the design at every scale") {
  for (const float scale : {1.0F, 1.5F, 2.0F}) {
    Offscreen offscreen(64, 64, scale);
    style::apply(style::Theme::dark, scale);
    offscreen.render(
        [&] {
          const style::TextStyle text(style::Text::body);
          // Inter's lines are 1.21 em high; Dear ImGui takes whole pixels.
          CHECK(ImGui::GetFontSize() == Approx(14 * 1.21 * scale).margin(0.5));
        },
        2);
  }
}

TEST_CASE("style: every character that the program writes has a glyph") {
  Offscreen offscreen(64, 64);
  style::apply(style::Theme::dark, 1);
  const std::u32string characters =
      U"ABCxyz0189Σᵢⱼₖₜₛₙₘ₀₁₂₃₊₋αβγδεζηθικλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ‖²³ᵀ⊙⊤←→↑↓−·“”…×½∇ℒ∂≤≥≈∞√∈′ℓ⋯–—▾●✓✗␣⏎"
      U"\u0304\u0303\u0302\u0307\u030c";
  for (const style::Text text : {style::Text::body, style::Text::strong, style::Text::number}) {
    for (const char32_t character : characters) {
      INFO("U+" << std::hex << static_cast<unsigned>(character));
      ImWchar wanted = character;
      if (wanted == 0x1d40) wanted = 0x22a4;
      CHECK(style::font(text)->IsGlyphInFont(wanted));
    }
  }
}

TEST_CASE("style: the controls draw in every state") {
  Offscreen offscreen(640, 480);
  for (const style::Theme theme : {style::Theme::dark, style::Theme::light}) {
    style::apply(theme, 1);
    double real = 0.5;
    double whole = 3;
    double logarithmic = 1e-3;
    const Image image = offscreen.render([&] {
      in_window(640, 480, [&] {
        if (style::begin_panel("A panel", {300, 460})) {
          ImGui::PushItemWidth(-1);
          style::slider(R"(\alpha)", "how much is kept", &real,
                        {.maximum = 1, .reset = 1, .role = Role::gate});
          style::slider("", "chunk size", &whole,
                        {.minimum = 1, .maximum = 29, .reset = 8, .format = "%.0f"});
          style::slider(R"(\eta)", "learning rate", &logarithmic,
                        {.minimum = 1e-6, .maximum = 1, .format = "%.1e", .logarithmic = true});
          ImGui::PopItemWidth();
          style::button("Recurrent", {.chosen = true});
          style::button("Chunkwise");
          style::button("Step", {.shape = style::ButtonShape::tab, .chosen = true});
          style::key_hint("Space");
        }
        style::end_panel();
      });
    });
    CHECK(real == 0.5);
    CHECK(whole == 3);
    const auto has = [&](ImU32 colour) {
      for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
        if (IM_COL32(image.rgb[i], image.rgb[i + 1], image.rgb[i + 2], 255) == colour) return true;
      }
      return false;
    };
    const style::Palette& colours = style::colours();
    CHECK(has(colours.background));
    CHECK(has(colours.panel));
    CHECK(has(colours.edge));
    CHECK(has(colours.gate));
    CHECK(has(colours.text));
  }
}

TEST_CASE("style: a slider that is typed into leaves no letter beside its box") {
  Offscreen offscreen(400, 200);
  style::apply(style::Theme::dark, 1);
  double value = 0.5;
  float right = 0;
  const auto frame = [&] {
    return offscreen.render(
        [&] {
          in_window(400, 200, [&] {
            ImGui::SetNextItemWidth(200);
            style::slider(R"(\alpha)", "how much is kept", &value, {.maximum = 1, .reset = 1});
            right = ImGui::GetItemRectMax().x;
          });
        },
        1);
  };
  ImGuiIO& io = ImGui::GetIO();
  frame();
  frame();
  for (const ImGuiKey key : {ImGuiKey_DownArrow, ImGuiKey_Enter}) {
    for (const bool down : {true, false}) {
      io.AddKeyEvent(key, down);
      frame();
    }
  }
  const Image image = frame();
  REQUIRE(io.WantTextInput);
  int written = 0;  // beyond the frame of what has the keyboard
  for (int y = 0; y < image.height; ++y) {
    for (int x = static_cast<int>(right) + 10; x < image.width - 2; ++x) {
      const std::uint8_t* const seen = image.pixel(x, y);
      written += IM_COL32(seen[0], seen[1], seen[2], 255) != style::colours().background ? 1 : 0;
    }
  }
  CHECK(written == 0);
}

TEST_CASE("style: a slider is dragged, reset and typed into") {
  Offscreen offscreen(400, 200);
  style::apply(style::Theme::dark, 1);
  double value = 0.5;
  ImVec2 from;
  ImVec2 to;
  const auto frame = [&] {
    offscreen.pass([&] {
      in_window(400, 200, [&] {
        ImGui::SetNextItemWidth(300);
        style::slider("", "rate", &value,
                      {.minimum = 1e-4, .maximum = 1, .reset = 0.25, .format = "%.1e", .logarithmic = true});
        from = ImGui::GetItemRectMin();
        to = ImGui::GetItemRectMax();
      });
    });
  };
  ImGuiIO& io = ImGui::GetIO();
  const auto press = [&](bool down) {
    io.AddMouseButtonEvent(ImGuiMouseButton_Left, down);
    frame();
  };
  const auto move = [&](float part) {
    io.AddMousePosEvent(from.x + 7 + part * (to.x - from.x - 14), to.y - 7);
    frame();
  };
  frame();
  frame();
  move(0.5F);
  press(true);
  press(false);
  CHECK(value == Approx(1e-2).epsilon(0.1));
  for (int i = 0; i < 60; ++i) frame();  // so that the next click is not a double one
  press(true);
  move(2);
  CHECK(value == 1);
  move(-2);
  CHECK(value == 1e-4);
  press(false);
  for (int i = 0; i < 60; ++i) frame();
  move(0.75F);
  for (const bool down : {true, false, true, false}) press(down);
  CHECK(value == 0.25);
  for (int i = 0; i < 60; ++i) frame();
  io.AddKeyEvent(ImGuiMod_Ctrl, true);
  press(true);
  press(false);
  io.AddKeyEvent(ImGuiMod_Ctrl, false);
  frame();
  io.AddInputCharactersUTF8("0.125");
  frame();
  io.AddKeyEvent(ImGuiKey_Enter, true);
  frame();
  io.AddKeyEvent(ImGuiKey_Enter, false);
  frame();
  CHECK(value == 0.125);
}

TEST_CASE("style: a slider says where it ends while a number beyond is typed") {
  Offscreen offscreen(400, 200);
  style::apply(style::Theme::dark, 1);
  double value = 1;
  ImVec2 from;
  const auto frame = [&] {
    offscreen.pass([&] {
      in_window(400, 200, [&] {
        ImGui::SetNextItemWidth(300);
        style::slider("", "factor", &value, {.maximum = 3, .reset = 1});
        from = ImGui::GetItemRectMin();
      });
    });
  };
  ImGuiIO& io = ImGui::GetIO();
  const auto type = [&](const char* text) {
    io.AddInputCharactersUTF8(text);
    frame();
    frame();
  };
  frame();
  io.AddMousePosEvent(from.x + 20, from.y + 30);
  frame();
  io.AddKeyEvent(ImGuiMod_Ctrl, true);
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  frame();
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  io.AddKeyEvent(ImGuiMod_Ctrl, false);
  frame();
  frame();
  type("2");
  CHECK_FALSE(is_tip_shown());
  type("00");
  CHECK(is_tip_shown());
  io.AddKeyEvent(ImGuiKey_Enter, true);
  frame();
  io.AddKeyEvent(ImGuiKey_Enter, false);
  frame();
  frame();
  CHECK(value == 3);
  CHECK_FALSE(is_tip_shown());
}

TEST_CASE("style: words about what was clicked are gone until the pointer goes on") {
  Offscreen offscreen(400, 200);
  style::apply(style::Theme::dark, 1);
  const auto frames = [&](int count) {
    for (int frame = 0; frame < count; ++frame) {
      offscreen.pass([&] {
        in_window(400, 200, [] {
          ImGui::SetCursorScreenPos({20, 20});
          ImGui::InvisibleButton("item", {300, 24});
          tooltip("what it is");
        });
      });
    }
  };
  ImGuiIO& io = ImGui::GetIO();
  io.AddMousePosEvent(60, 30);
  frames(60);
  CHECK(is_tip_shown());
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  frames(2);
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  io.AddMousePosEvent(63, 31);  // no hand is still
  frames(60);
  CHECK_FALSE(is_tip_shown());
  io.AddMousePosEvent(200, 30);
  frames(60);
  CHECK(is_tip_shown());
}

TEST_CASE("style: numbers are written out up to 100,000") {
  CHECK(plain_number(3.56, 2) == "3.6");
  CHECK(plain_number(99.4, 2) == "99");
  CHECK(plain_number(99.7, 2) == "100");
  CHECK(plain_number(102.4, 2) == "102");
  CHECK(plain_number(-2345, 3) == "-2345");
  CHECK(plain_number(0.00123, 2) == "0.0012");
  CHECK(plain_number(123456, 2) == "1.2e+05");
  CHECK(plain_number(99999.7, 3) == "1e+05");
  CHECK(plain_number(HUGE_VAL, 2) == "inf");
  CHECK(fixed_number(0.784, 2) == "0.78");
  CHECK(fixed_number(-0.004, 2) == "0.00");
  CHECK(fixed_number(-0.006, 2) == "-0.01");
  CHECK(fixed_number(99999.99, 2) == "99999.99");
  CHECK(fixed_number(99999.996, 2) == "1.0e+05");
  CHECK(fixed_number(-19355343125244.18, 2) == "-1.9e+13");
  CHECK(share_of_one(0.9812) == ".98");
  CHECK(share_of_one(0.9949) == ".99");
  CHECK(share_of_one(0.9993) == ".999");
  CHECK(share_of_one(0.99951) == "<1");
  CHECK(share_of_one(1) == "1");
}

TEST_CASE("style: numbers on an axis differ from each other") {
  CHECK(axis_number(0.5, 0.5) == "0.5");
  CHECK(axis_number(0.006742, 2e-6) == "0.006742");
  CHECK(axis_number(0.006744, 2e-6) == "0.006744");
  CHECK(axis_number(300000, 100000) == "3e+05");
  CHECK(axis_number(0, 1e-6) == "0.000000");
}
