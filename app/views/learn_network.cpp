// A memory that is a little network: the word on its way through, and what runs back.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/session/scales.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float strip_width = 14;
constexpr float head_height = 24;   // the symbols above the strips
constexpr float below_strips = 46;  // the arrows back

double size_of(const Vector<double>& numbers) {
  std::vector<double> sizes;
  for (const double number : numbers) sizes.push_back(std::abs(number));
  return std::max(quantile(std::move(sizes), nearly_all), 1e-30);
}

ImU32 path_ink(double part) {
  const Rgb8 shade = colour(style::colours().map, static_cast<float>(part), 1);
  return style::with_alpha(style::colour(shade),
                           static_cast<float>(std::clamp(0.2 + 0.7 * std::abs(part), 0.0, 1.0)));
}

struct Strip {
  float x = 0;
  float top = 0;
  float bottom = 0;
  Index units = 1;

  float y(Index unit) const {
    return top + (bottom - top) * (static_cast<float>(unit) + 0.5F) / static_cast<float>(units);
  }
};

void draw_strip(const LearnScene& scene, const char* id, const Strip& strip, const Vector<double>& values,
                double range, const std::string& symbol, ImU32 colour, ImU32 frame) {
  heat_map(fmt::format("learn network {}", id), Matrix<double>(values), scene.version, {strip.x, strip.top},
           {px(strip_width), strip.bottom - strip.top}, {.range = static_cast<float>(range)});
  ImGui::GetWindowDrawList()->AddRect({strip.x - 1, strip.top - 1},
                                      {strip.x + px(strip_width) + 1, strip.bottom + 1}, frame);
  const float width = measure_formula(symbol, px(16)).width;
  learn_formula({strip.x + (px(strip_width) - width) / 2, strip.top - px(8)}, symbol, px(16), colour);
}

void draw_paths(const std::vector<NetworkPath>& paths, const Strip& from, const Strip& to) {
  if (paths.empty()) return;
  const double most = std::max(std::abs(paths.back().amount), 1e-30);
  for (const NetworkPath& path : paths) {
    const double part = path.amount / most;
    ImGui::GetWindowDrawList()->AddLine({from.x + px(strip_width), from.y(path.from)}, {to.x, to.y(path.to)},
                                        path_ink(part), px(std::abs(part) > 0.6 ? 2.0F : 1.0F));
  }
}

/// An arrow to the left: what the error changes on its way back.
void draw_back(float from, float to, float y, const std::string& symbol, const std::string& words) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({to, y}, {from, y}, c.error, px(2));
  list->AddTriangleFilled({to - px(2), y}, {to + px(8), y - px(5)}, {to + px(8), y + px(5)}, c.error);
  const style::TextStyle text(style::Text::caption);
  const float symbol_width = measure_formula(symbol, px(15)).width + px(6);
  const float left = (from + to - symbol_width - text_extent(words).x) / 2;
  learn_formula({left, y + px(22)}, symbol, px(15), c.text);
  learn_text({left + symbol_width, y + px(22) - ImGui::GetFontBaked()->Ascent}, c.dim, words);
}

}  // namespace

void draw_network(const LearnScene& scene, const LearnRoom& room) {
  const style::Palette& c = style::colours();
  const NetworkPass& pass = *scene.moment.network;
  const float top = room.from.y + px(head_height);
  const float bottom = room.to.y - px(below_strips);
  if (bottom - top < px(40)) return;
  const float width = room.width() - px(strip_width);
  const auto strip = [&](float part, Index units) {
    return Strip{std::round(room.from.x + width * part), top, bottom, units};
  };
  const Strip key = strip(0, pass.key.size());
  const Strip hidden = strip(0.4F, pass.hidden.size());
  const Strip answer = strip(0.8F, pass.answer.size());
  const Strip value = strip(0.9F, pass.value.size());
  const Strip error = strip(1, pass.value.size());
  draw_paths(pass.in, key, hidden);
  draw_paths(pass.out, hidden, answer);
  const Vector<double> miss = pass.answer - pass.value;
  const double range = std::max(size_of(pass.answer), size_of(pass.value));
  draw_strip(scene, "k", key, pass.key, size_of(pass.key), "k", c.key, c.edge);
  draw_strip(scene, "h", hidden, pass.hidden, size_of(pass.hidden), "h", c.text, c.edge);
  draw_strip(scene, "y", answer, pass.answer, range, "y", c.text, c.edge);
  draw_strip(scene, "v", value, pass.value, range, "v", c.value, c.edge);
  draw_strip(scene, "e", error, miss, range, "y-v", c.text, c.error);
  {
    const style::TextStyle text(style::Text::caption);
    const std::string words = fmt::format("{} hidden units, the {} strongest paths", pass.hidden.size(),
                                          pass.in.size() + pass.out.size());
    const float left = hidden.x + px(strip_width + 12);
    learn_text({left, top - px(20)}, c.dim, shortened(words, answer.x - left - px(8)));
  }
  const Weights<double>& written = scene.moment.written;
  const float arrow = bottom + px(14);
  draw_back(hidden.x, key.x, arrow, "\\Delta W_1", fmt::format("length {:.3g}", norm({written[0]})));
  draw_back(error.x + px(strip_width), hidden.x + px(strip_width + 4), arrow, "\\Delta W_2",
            fmt::format("length {:.3g}", norm({written[2]})));
}

}  // namespace palimpsest
