#include "app/views/preset_sliders.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr Index most_tokens_shown = 4096;
constexpr Index most_channels_shown = 128;

/// What a slider shows while the mouse holds it; `keep` once it lets go.
template <class Number>
bool held(const char* words, Number& value, const auto& draw) {
  ImGuiStorage* memory = ImGui::GetStateStorage();
  const ImGuiID key = ImGui::GetID(words) + 1;
  auto shown = static_cast<Number>(memory->GetFloat(key, -1));
  if (shown < 0) shown = value;
  const bool changed = draw(&shown);
  const bool finished = ImGui::IsItemDeactivated() || (changed && !ImGui::IsItemActive());
  memory->SetFloat(key, ImGui::IsItemActive() && !finished ? static_cast<float>(shown) : -1);
  if (!finished || shown == value) return false;
  value = shown;
  return true;
}

bool size_slider(const char* words, Index& size, Index smallest, Index largest) {
  auto value = static_cast<int>(size);
  style::SliderLook<int> look;
  look.minimum = static_cast<int>(smallest);
  look.maximum = static_cast<int>(largest);
  look.reset = std::clamp(16, look.minimum, look.maximum);
  look.logarithmic = true;
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (!held<int>(words, value, [&](int* shown) { return style::slider("", words, shown, look); }))
    return false;
  size = value;
  return true;
}

bool cosine_slider(double& cosine) {
  constexpr double step = 100;  // two decimals, so that its id is short
  const char* words = "cosine between any two keys";
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (!held<double>(words, cosine, [&](double* shown) {
        return style::slider("", words, shown,
                             {.minimum = 0, .maximum = largest_cosine, .reset = 0.75, .format = "%.2f"});
      }))
    return false;
  cosine = std::round(cosine * step) / step;
  return true;
}

}  // namespace

bool preset_sliders(const Preset& preset, PresetSize& size) {
  bool changed =
      size_slider("tokens", size.tokens, std::max<Index>(preset.fewest_tokens, 1), most_tokens_shown);
  changed |= size_slider("key channels K", size.dk, 1, most_channels_shown);
  changed |= size_slider("value channels V", size.dv, 1, most_channels_shown);
  if (preset.has_cosine) changed |= cosine_slider(size.cosine);
  ImGui::AlignTextToFramePadding();
  style::caption(fmt::format("seed {}", size.seed));
  ImGui::SameLine(0, style::px(12));
  if (style::pill_button("another seed")) {
    ++size.seed;
    changed = true;
  }
  return changed;
}

}  // namespace palimpsest
