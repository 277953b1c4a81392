#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "core/base/text.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

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

/// A colour of words and one that they stand on.
struct TextOnGround {
  ImU32 text;
  ImU32 ground;
};

/// Every colour of `palette` in which words are written, with each that they stand on.
std::vector<TextOnGround> texts_on_grounds(const style::Palette& palette) {
  // A colour that is added does not compile until it is named here: as a ground, or in a row of words.
  const auto& [background, panel, edge, text, dim, faint, accent, good, alarm, query, key, value, gate,
               strength, error, map] = palette;
  std::vector<TextOnGround> all;
  const auto on = [&all](std::initializer_list<ImU32> inks, std::initializer_list<ImU32> grounds) {
    for (const ImU32 ground : grounds) {
      for (const ImU32 ink : inks) all.push_back({ink, ground});
    }
  };
  const ImU32 selection = style::mix(panel, accent, style::selection_strength);
  // Panels, cards and fields to type in, also under the pointer; behind the panels stand only tabs.
  on({text, dim}, {panel, palette.lit_ground(), edge, background});
  on({text}, {selection});
  on({faint, accent, good, alarm, query, key, value, gate, strength, error}, {panel});
  // A tinted pill under the pointer, the present line of a rule.
  on({good, alarm, query, key, value, gate, strength, error}, {style::mix(panel, edge, 0.25F)});
  for (const Role role : roles) on({palette.role_dim(role)}, {panel});
  // What is chosen is filled with the text's colour, or that of its meaning.
  on({panel, background}, {text});
  on({panel}, {good, alarm, accent});
  for (int step = -100; step <= 100; ++step) {
    const Rgb8 paper = palimpsest::colour(map, static_cast<float>(step) / 100, 1);
    all.push_back({style::legible_on(paper, palette), style::colour(paper)});
  }
  return all;
}

/// A slider in a window of its own.
struct ShownSlider {
  const char* symbol;
  const char* words;
  style::SliderLook look;
  double value;
  float width = 300;
  ImVec2 from = {};
  ImVec2 to = {};
  Image image = {};  // the last frame
  DarkOffscreen offscreen{400, 200};

  void pass(int frames = 1) {
    const auto draw = [&] {
      ImGui::SetNextItemWidth(width);
      style::slider(symbol, words, &value, look);
      from = ImGui::GetItemRectMin();
      to = ImGui::GetItemRectMax();
    };
    for (int i = 0; i < frames; ++i) image = offscreen.render([&] { in_window({400, 200}, draw); }, 1);
  }
  void mouse(bool down) {
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, down);
    pass();
  }
  void move_to(ImVec2 at) {
    ImGui::GetIO().AddMousePosEvent(at.x, at.y);
    pass();
  }
  void press(ImGuiKey key) {
    for (const bool down : {true, false}) {
      ImGui::GetIO().AddKeyEvent(key, down);
      pass();
    }
  }
  /// With Ctrl, so that a number can be typed.
  void click_to_type() {
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, true);
    mouse(true);
    mouse(false);
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, false);
    pass(2);
  }
  void type(const char* text) {
    ImGui::GetIO().AddInputCharactersUTF8(text);
    pass(2);
  }
};

}  // namespace

TEST_CASE("style: all words can be read on all that they stand on") {
  CHECK(contrast(IM_COL32_WHITE, IM_COL32_BLACK) == Approx(21));
  for (const style::Theme theme : {style::Theme::dark, style::Theme::light}) {
    CAPTURE(static_cast<int>(theme));
    const style::Palette& colours = style::colours(theme);
    const std::vector<TextOnGround> all = texts_on_grounds(colours);
    const auto stands = [&](ImU32 text, ImU32 ground) {
      return std::ranges::any_of(
          all, [&](const TextOnGround& one) { return one.text == text && one.ground == ground; });
    };
    for (const TextOnGround& one : all) {
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
    Offscreen offscreen(64, 64);
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
  DarkOffscreen offscreen(64, 64);
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
      in_window({640, 480}, [&] {
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
        }
        style::end_panel();
      });
    });
    CHECK(real == 0.5);
    CHECK(whole == 3);
    const style::Palette& colours = style::colours();
    for (const ImU32 each : {colours.background, colours.panel, colours.edge, colours.gate, colours.text}) {
      INFO(style::hex(each));
      CHECK(count_pixels(everywhere(image),
                         [&](int x, int y) { return style::colour(pixel(image, x, y)) == each; }) > 0);
    }
  }
}

TEST_CASE("style: a slider that is typed into leaves no letter beside its box") {
  ShownSlider slider{.symbol = R"(\alpha)",
                     .words = "how much is kept",
                     .look = {.maximum = 1, .reset = 1},
                     .value = 0.5,
                     .width = 200};
  slider.pass(2);
  slider.press(ImGuiKey_DownArrow);
  slider.press(ImGuiKey_Enter);
  slider.pass();
  REQUIRE(ImGui::GetIO().WantTextInput);
  const Rectangle beside = {{slider.to.x + 10, 0}, {398, 200}};  // beyond the frame of what has the keyboard
  CHECK(count_pixels(beside, [&](int x, int y) {
          return style::colour(pixel(slider.image, x, y)) != style::colours().background;
        }) == 0);
}

TEST_CASE("style: a slider is dragged, reset and typed into") {
  ShownSlider slider{
      .symbol = "",
      .words = "rate",
      .look = {.minimum = 1e-4, .maximum = 1, .reset = 0.25, .format = "%.1e", .logarithmic = true},
      .value = 0.5};
  const auto move = [&](float part) {
    slider.move_to({slider.from.x + 7 + part * (slider.to.x - slider.from.x - 14), slider.to.y - 7});
  };
  constexpr int until_no_double_click = 60;
  slider.pass(2);
  move(0.5F);
  slider.mouse(true);
  slider.mouse(false);
  CHECK(slider.value == Approx(1e-2).epsilon(0.1));
  slider.pass(until_no_double_click);
  slider.mouse(true);
  move(2);
  CHECK(slider.value == 1);
  move(-2);
  CHECK(slider.value == 1e-4);
  slider.mouse(false);
  slider.pass(until_no_double_click);
  move(0.75F);
  for (const bool down : {true, false, true, false}) slider.mouse(down);
  CHECK(slider.value == 0.25);
  slider.pass(until_no_double_click);
  slider.click_to_type();
  slider.type("0.125");
  slider.press(ImGuiKey_Enter);
  CHECK(slider.value == 0.125);
}

TEST_CASE("style: a slider says where it ends while a number beyond is typed") {
  ShownSlider slider{.symbol = "", .words = "factor", .look = {.maximum = 3, .reset = 1}, .value = 1};
  slider.pass();
  slider.move_to({slider.from.x + 20, slider.from.y + 30});
  slider.click_to_type();
  slider.type("2");
  CHECK_FALSE(is_tip_shown());
  slider.type("00");
  CHECK(is_tip_shown());
  slider.press(ImGuiKey_Enter);
  slider.pass();
  CHECK(slider.value == 3);
  CHECK_FALSE(is_tip_shown());
}

TEST_CASE("style: words about what was clicked are gone until the pointer goes on") {
  DarkOffscreen offscreen(400, 200);
  const auto frames = [&](int count) {
    const auto draw = [] {
      ImGui::SetCursorScreenPos({20, 20});
      ImGui::InvisibleButton("item", {300, 24});
      tooltip("what it is");
    };
    pass_in_window(offscreen, {400, 200}, draw, count);
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

TEST_CASE("style: numbers are plain from 0.001 to 999, else powers of ten") {
  CHECK(plain_number(3.56, 2) == "3.6");
  CHECK(plain_number(99.4, 2) == "99");
  CHECK(plain_number(102.4, 2) == "102");
  CHECK(plain_number(0.38241) == "0.382");
  CHECK(plain_number(0.5) == "0.5");
  CHECK(plain_number(139.71) == "140");
  CHECK(plain_number(999.4) == "999");
  CHECK(plain_number(0.00123, 2) == "0.0012");
  CHECK(plain_number(0.00099951) == "0.001");
  CHECK(plain_number(0.0009994) == "9.99\u00A0×\u00A010⁻⁴");
  CHECK(plain_number(999.6) == "10³");
  CHECK(plain_number(-2346) == "-2.35\u00A0×\u00A010³");
  CHECK(plain_number(123456, 2) == "1.2\u00A0×\u00A010⁵");
  CHECK(plain_number(1e-10) == "10⁻¹⁰");
  CHECK(plain_number(-1e20) == "-10²⁰");
  CHECK(plain_number(5e-324) == "4.94\u00A0×\u00A010⁻³²⁴");
  CHECK(plain_number(0) == "0");
  CHECK(plain_number(-0.0) == "0");
  CHECK(plain_number(HUGE_VAL) == "∞");
  CHECK(plain_number(NAN) == "not a number");
  CHECK(signed_number(0.188) == "+0.188");
  CHECK(signed_number(-0.188) == "-0.188");
  CHECK(signed_number(0) == "0");
  CHECK(in_percent(0.0049) == "0 %");
  CHECK(in_percent(-0.0049) == "0 %");
  CHECK(in_percent(0.0051) == "1 %");
  CHECK(in_percent(-0.126) == "-13 %");
  using Column = std::vector<std::string>;
  CHECK(number_column({0.188, -0.000362, 0.00289}) == Column{"0.188", "≈ 0", "0.003"});
  CHECK(number_column({12.3, 0.004, -1.5}) == Column{"12.3", "≈ 0", "-1.5"});
  CHECK(number_column({1.8e-18, -1.7e-18}, 1e-12) == Column{"0", "0"});
  CHECK(number_column({2e-5, 0}) == Column{"2\u00A0×\u00A010⁻⁵", "0"});
  CHECK(fixed_number(0.784, 2) == "0.78");
  CHECK(fixed_number(-0.004, 2) == "0.00");
  CHECK(fixed_number(-0.006, 2) == "-0.01");
  CHECK(fixed_number(99999.99, 2) == "99999.99");
  CHECK(fixed_number(99999.996, 2) == "10⁵");
  CHECK(fixed_number(-19355343125244.18, 2) == "-1.9\u00A0×\u00A010¹³");
  CHECK(share_of_one(0.9812) == ".98");
  CHECK(share_of_one(0.9949) == ".99");
  CHECK(share_of_one(0.9993) == ".999");
  CHECK(share_of_one(0.99951) == "<1");
  CHECK(share_of_one(1) == "1");
  CHECK(share_of_one(-0.0123) == "-.01");
}

TEST_CASE("style: numbers on an axis differ from each other") {
  CHECK(axis_number(0.5, 0.5) == "0.5");
  CHECK(axis_number(0.006742, 2e-6) == "0.006742");
  CHECK(axis_number(0.006744, 2e-6) == "0.006744");
  CHECK(axis_number(300000, 100000) == "3\u00A0×\u00A010⁵");
  CHECK(axis_number(0, 1e-6) == "0.000000");
}

TEST_CASE("letters that are first drawn after other sizes were forgotten have their own size", "[style]") {
  ShownProgram shown("step", "preset:one_fact");
  shown.draw();
  ImFont* const font = ImGui::GetIO().Fonts->Fonts.front();
  const auto height = [&](float size, ImWchar letter) {
    const ImFontGlyph& glyph = *font->GetFontBaked(size)->FindGlyph(letter);
    return glyph.Y1 - glyph.Y0;
  };
  constexpr float forgotten = 31;
  constexpr float small = 17;
  constexpr float large = 61;
  for (const float size : {forgotten, small, large}) height(size, 'e');
  height(small, 'o');  // the face has this size now
  ImFontAtlasBakedDiscard(ImGui::GetIO().Fonts, font, font->GetFontBaked(forgotten));
  shown.pass();  // the large letters are now where the small ones were
  CHECK(std::abs(height(large, 'z') - height(large, 'e')) <= 0.05F * large);
}
