#include "app/scene/ruler.h"

#include "app/widgets/text.h"

namespace palimpsest {

Ruler screen_ruler(bool compact) {
  constexpr float largest_of_compact = 20;
  return {.scale = style::scale(),
          .largest_number = compact ? largest_of_compact : style::font_size(style::Text::number_large),
          .formula = measure_formula,
          .number =
              [](const std::string& digits, float size) {
                const style::TextStyle style(style::Text::number_large, size);
                return text_extent(digits);
              },
          .words = [](const std::string& words, style::Text text) { return text_extent(text, words); },
          .shortened =
              [](const std::string& words, style::Text text, float width) {
                const style::TextStyle style(text);
                return shortened(words, width);
              },
          .lines =
              [](const std::string& words, style::Text text, float width) {
                const style::TextStyle style(text);
                const std::vector<std::string_view> lines = wrapped_lines(words, width);
                return std::vector<std::string>(lines.begin(), lines.end());
              },
          .formula_lines = formula_lines};
}

}  // namespace palimpsest
