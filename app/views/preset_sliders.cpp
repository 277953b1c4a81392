#include "app/views/preset_sliders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace palimpsest {

namespace {

using scene::Node;
using scene::Nodes;

constexpr Index most_tokens_shown = 4096;
constexpr Index most_channels_shown = 128;
constexpr double cosine_steps = 100;  // two decimals, so that its id is short

Node slider(const char* words, double value, const style::SliderLook& look, std::function<void(double)> set) {
  return {scene::Slider{.words = words, .value = value, .look = look, .set = std::move(set), .waits = true}};
}

}  // namespace

Node preset_sliders(const Preset& preset, const PresetSize& size,
                    const std::function<void(const PresetSize&)>& change) {
  Nodes all;
  const auto add = [&](const char* words, Index PresetSize::*field, Index smallest, Index largest) {
    const style::SliderLook look = {.minimum = static_cast<double>(smallest),
                                    .maximum = static_cast<double>(largest),
                                    .reset = static_cast<double>(std::clamp<Index>(16, smallest, largest)),
                                    .format = "%.0f",
                                    .logarithmic = true};
    all.push_back(slider(words, static_cast<double>(size.*field), look, [size, field, change](double value) {
      PresetSize next = size;
      next.*field = std::lround(value);
      change(next);
    }));
  };
  add("tokens", &PresetSize::tokens, std::max<Index>(preset.fewest_tokens, 1), most_tokens_shown);
  add("key channels K", &PresetSize::dk, 1, most_channels_shown);
  add("value channels V", &PresetSize::dv, 1, most_channels_shown);
  if (preset.has_cosine)
    all.push_back(slider("cosine between any two keys", size.cosine,
                         {.minimum = 0, .maximum = largest_cosine, .reset = 0.75, .format = "%.2f"},
                         [size, change](double cosine) {
                           PresetSize next = size;
                           next.cosine = std::round(cosine * cosine_steps) / cosine_steps;
                           change(next);
                         }));
  all.push_back(scene::row(
      {scene::caption(fmt::format("seed {}", size.seed)), scene::pill("another seed").on([size, change] {
         PresetSize next = size;
         ++next.seed;
         change(next);
       })},
      scene::Gap::wide));
  return scene::column(std::move(all), scene::Gap::near);
}

}  // namespace palimpsest
