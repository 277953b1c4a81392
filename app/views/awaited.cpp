#include "app/views/awaited.h"

#include <fmt/format.h>
#include <imgui.h>

#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr double noticed_after = 0.3;  // seconds

std::string progress_words(std::string_view words, double progress) {
  return fmt::format("{}{}", words, progress > 0 ? fmt::format(" · {:.0f} %", 100 * progress) : "");
}

}  // namespace

scene::Node awaiting(std::string_view words, bool under_way, double seconds, double progress,
                     std::function<void()> stop) {
  if (!under_way || seconds < noticed_after) return scene::column({});
  const scene::Ink ink = style::colours().dim;
  return scene::row(
      {scene::mark(scene::Mark::Kind::spinner, ink),
       scene::line(progress_words(words, progress), style::Text::caption, ink),
       scene::word_button("stop").on(std::move(stop)).told("Gives it up; what is seen stays.")});
}

bool awaited(std::string_view words, bool under_way, double seconds, double progress) {
  constexpr float height = 18;
  if (!under_way || seconds < noticed_after) return false;
  const style::TextStyle text(style::Text::caption, style::colours().dim);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x - style::px(68);
  style::spinner({from.x + style::px(6), from.y + style::px(height / 2)}, style::colours().dim);
  const std::string line = shortened(progress_words(words, progress), room);
  draw_text({from.x + style::px(18), from.y + (style::px(height) - text_extent(line).y) / 2},
            style::colours().dim, line);
  ImGui::Dummy({style::px(18) + text_extent(line).x, style::px(height)});
  ImGui::SameLine(0, style::px(12));
  const bool stops = style::word_button("stop", height);
  tooltip("Gives it up; what is seen stays.");
  return stops;
}

}  // namespace palimpsest
