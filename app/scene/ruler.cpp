#include "app/scene/ruler.h"

#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float largest_number_of_compact = 20;

}  // namespace

Ruler screen_ruler(bool compact) {
  return {.scale = style::scale(),
          .largest_number = compact ? largest_number_of_compact : style::font_size(style::Text::number_large),
          .formula = measure_formula,
          .number =
              [](const std::string& digits, float size) {
                ImGui::PushFont(style::font(style::Text::number_large), size);
                const ImVec2 extent = ImGui::CalcTextSize(digits.c_str());
                ImGui::PopFont();
                return extent;
              },
          .words =
              [](const std::string& words, style::Text text, float width) {
                const style::TextStyle style(text);
                return ImGui::CalcTextSize(words.c_str(), nullptr, false, width);
              },
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
