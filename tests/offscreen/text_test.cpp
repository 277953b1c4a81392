// Words are wrapped and cut however little room there is; what is cut tells the whole of itself.

#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* sentence = "With the key of “The red jar”, the memory returns “drum” (0.58).";

/// Whether something is told half a second after the pointer has come to `pointer`.
bool is_told(Offscreen& offscreen, ImVec2 pointer, const std::function<void()>& draw) {
  for (int frame = 0; frame < 30; ++frame) {
    offscreen.pass([&] {
      ImGui::GetIO().AddMousePosEvent(pointer.x, pointer.y);
      in_window({300, 200}, draw);
      tell_cut_words();
    });
  }
  return is_tip_shown();
}

}  // namespace

TEST_CASE("what is cut is told whole where the pointer rests on it, and nothing else is", "[cut words]") {
  Offscreen offscreen(320, 240);
  const auto cut = [] { draw_text({20, 20}, IM_COL32_WHITE, shortened(sentence, 120)); };
  CHECK(is_told(offscreen, {60, 26}, cut));
  CHECK_FALSE(is_told(offscreen, {200, 26}, cut));
  CHECK_FALSE(is_told(offscreen, {60, 26}, [] {
    draw_text({20, 20}, IM_COL32_WHITE, shortened("drum", 120));
  }));
  // Words that only end so were not cut.
  CHECK_FALSE(is_told(offscreen, {60, 26}, [] {
    draw_text({20, 20}, IM_COL32_WHITE, "and so on and on …");
  }));
  CHECK(is_told(offscreen, {26, 90}, [] {
    draw_rising_text({20, 150}, IM_COL32_WHITE, shortened(sentence, 120));
  }));
}

TEST_CASE("cut words say nothing where something else is said", "[cut words]") {
  Offscreen offscreen(320, 240);
  int told = 0;
  CHECK(is_told(offscreen, {60, 26}, [&] {
    ImGui::SetCursorScreenPos({20, 16});
    ImGui::InvisibleButton("item", {200, 20});
    if (ImGui::IsItemHovered()) {
      ImGui::BeginTooltip();
      ImGui::TextUnformatted("its own");
      ImGui::EndTooltip();
      ++told;
    }
    draw_text({20, 20}, IM_COL32_WHITE, shortened(sentence, 120));
  }));
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  CHECK(told > 10);
  CHECK(tip->ContentSize.y < 1.6F * ImGui::GetFontSize());  // one line: only its own
}

TEST_CASE("wrapped lines fit, hold a letter at least and lose nothing but blanks", "[text]") {
  Offscreen offscreen(200, 100);
  const std::string texts[] = {"",
                               "one",
                               "The red jar holds a key, and the blue one a drum.",
                               "two lines\nand more, of which the second is long",
                               "\n",
                               "ends with one\n",
                               "a free line\n\nbetween",
                               "\nbegins with one",
                               "averyveryverylongwordthatfitsnowhere at all",
                               "αβγδ … ‖k‖² 不动点迭代 ☂",
                               "   blanks   at   both   ends   "};
  offscreen.pass([&] {
    for (const std::string& text : texts) {
      for (const float width : {-5.0F, 0.0F, 1.0F, 9.0F, 40.0F, 170.0F, 1e6F}) {
        CAPTURE(text, width);
        std::string all;
        for (const std::string_view line : wrapped_lines(text, width)) {
          CHECK(line.find('\n') == std::string_view::npos);
          // A letter is whole: the first byte begins one.
          if (!line.empty()) CHECK((static_cast<unsigned char>(line.front()) & 0xC0U) != 0x80U);
          std::string_view words = line;
          while (words.ends_with(' ')) words.remove_suffix(1);
          const auto letters = std::ranges::count_if(
              words, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
          if (letters > 1) CHECK(text_extent(words).x <= std::max(width, 0.0F) + 0.5F);
          all += line;
        }
        const auto without_blanks = [](std::string from) {
          std::erase_if(from, [](char c) { return c == ' ' || c == '\n'; });
          return from;
        };
        CHECK(without_blanks(all) == without_blanks(text));
      }
    }
    CHECK(wrapped_lines("a free line\n\nbetween", 1000).size() == 3);
    CHECK(wrapped_lines("a b", 1000) == std::vector<std::string_view>{"a b"});
  });
}
