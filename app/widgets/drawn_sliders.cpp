#include "app/widgets/drawn_sliders.h"

#include <utility>

#include "app/gl/context_local.h"

namespace palimpsest::style {

namespace {

struct Noted {
  int frame = -1;
  std::vector<DrawnSlider> now;
  std::vector<DrawnSlider> before;
  ImGuiID sought = 0;
};

/// That of this frame.
Noted& noted() {
  auto& all = context_local<Noted>();
  if (const int frame = ImGui::GetFrameCount(); all.frame != frame) {
    all.before = all.frame == frame - 1 ? std::move(all.now) : std::vector<DrawnSlider>();
    all.now.clear();
    all.frame = frame;
  }
  return all;
}

}  // namespace

std::vector<DrawnSlider> drawn_sliders() { return noted().before; }

void seek_slider(ImGuiID id) { noted().sought = id; }

bool note_slider(std::string_view symbol, std::string_view words, ImGuiID id) {
  Noted& all = noted();
  all.now.push_back({std::string(symbol), std::string(words), id});
  return id == all.sought && std::exchange(all.sought, 0) != 0;
}

}  // namespace palimpsest::style
