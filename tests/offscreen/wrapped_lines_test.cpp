// Words are wrapped whatever they are and however little room there is, and nothing of them is lost.

#include <imgui.h>

#include <string>

#include "app/widgets/text.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

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
