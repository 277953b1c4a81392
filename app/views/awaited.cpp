#include "app/views/awaited.h"

#include <fmt/format.h>

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

}  // namespace palimpsest
