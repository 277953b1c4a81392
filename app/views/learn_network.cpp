// A memory that is a little network: the word on its way through, the gradient on its way back, and the step.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/scales.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float strip_width = 14;
constexpr float head_height = 58;   // the choice of the side and the symbols above the strips
constexpr float below_strips = 46;  // what happens in each layer

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

/// One vector of the network, upright.
struct Strip {
  std::string id;
  std::string words;  // of one of its units, under the pointer
  Vector<double> values;
  double range = 1;
  std::string symbol;
  ImU32 colour = 0;
  ImU32 frame = 0;
  float x = 0;
  float top = 0;
  float bottom = 0;

  float y(Index unit) const {
    return top + (bottom - top) * (static_cast<float>(unit) + 0.5F) / static_cast<float>(values.size());
  }
};

void draw_strip(const LearnScene& scene, const Strip& strip) {
  const ImVec2 from = {strip.x, strip.top};
  const ImVec2 size = {px(strip_width), strip.bottom - strip.top};
  heat_map("learn network " + strip.id, Matrix<double>(strip.values), scene.version, from, size,
           {.range = static_cast<float>(strip.range)});
  ImGui::GetWindowDrawList()->AddRect({from.x - 1, from.y - 1}, {from.x + size.x + 1, from.y + size.y + 1},
                                      strip.frame);
  const float width = measure_formula(strip.symbol, px(16)).width;
  learn_formula({strip.x + (px(strip_width) - width) / 2, strip.top - px(8)}, strip.symbol, px(16),
                strip.colour);
  if (!ImGui::IsWindowHovered()) return;
  if (const auto cell = hovered_cell(from, size, strip.values.size(), 1, ImGui::GetMousePos()))
    tooltip_beside(from, {from.x + size.x, from.y + size.y},
                   fmt::format("{} {}: {:.4g}", strip.words, cell->row, strip.values[cell->row]));
}

void draw_paths(const std::vector<StrongLink>& paths, const Strip& from, const Strip& to) {
  if (paths.empty()) return;
  const double most = std::max(std::abs(paths.back().amount), 1e-30);
  for (const StrongLink& path : paths) {
    const double part = path.amount / most;
    ImGui::GetWindowDrawList()->AddLine({from.x + px(strip_width), from.y(path.from)}, {to.x, to.y(path.to)},
                                        path_ink(part), px(static_cast<float>(0.6 + 1.8 * std::abs(part))));
  }
}

/// What happens between two strips: an arrow, back where `is_back`, with a formula and words below it.
void draw_layer(float left, float right, float y, bool is_back, const std::string& latex,
                const std::string& words) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = is_back ? c.error : c.dim;
  const float tip = is_back ? left : right;
  const float inward = is_back ? px(8) : -px(8);
  list->AddLine({left, y}, {right, y}, ink, px(2));
  list->AddTriangleFilled({tip, y}, {tip + inward, y - px(5)}, {tip + inward, y + px(5)}, ink);
  const style::TextStyle text(style::Text::caption);
  constexpr float smallest = 11;
  float size = 15;
  while (measure_formula(latex, px(size)).width > right - left && size > smallest) --size;
  const float formula = measure_formula(latex, px(size)).width;
  const float gap = px(6);
  const bool has_words = !words.empty() && formula + gap + text_extent(words).x <= right - left;
  const float width = formula + (has_words ? gap + text_extent(words).x : 0);
  const float from = left + std::max((right - left - width) / 2, 0.0F);
  learn_formula({from, y + px(22)}, latex, px(size), c.text);
  if (has_words) learn_text({from + formula + gap, y + px(22) - ImGui::GetFontBaked()->Ascent}, c.dim, words);
}

double half_square(const Vector<double>& error) { return error.squaredNorm() / 2; }

/// What a line is and what the step came to: as many of these as there is room for, in this order.
std::vector<std::string> side_words(const LearningMoment& moment, NetworkSide side) {
  const NetworkPass& pass = *moment.network;
  const auto strongest = [](const NetworkPaths& paths) {
    return fmt::format("the {} strongest", paths.in.size() + paths.out.size());
  };
  switch (side) {
    case NetworkSide::forward:
      return {"a line: unit × weight", strongest(pass.sent),
              fmt::format("{} hidden units", pass.hidden.size())};
    case NetworkSide::backward:
      return {"a line: a weight's gradient", strongest(pass.taught), "before η and σ"};
    case NetworkSide::step:
      break;
  }
  std::vector<std::string> words = {
      fmt::format("error {:.4g} → {:.4g}", half_square(pass.error), half_square(moment.network_after->error)),
      "a line: a weight's change"};
  if (moment.step.problem.token_count > 1) words.push_back("the batch so far");
  return words;
}

const NetworkPaths& paths_of(const LearningMoment& moment, NetworkSide side) {
  if (side == NetworkSide::forward) return moment.network->sent;
  return side == NetworkSide::backward ? moment.network->taught : moment.network_step;
}

/// k, h, y, (f,) v and the error; on the way back the gradients at h and y in their place.
std::vector<Strip> strips_of(const LearningMoment& moment, NetworkSide side) {
  const style::Palette& c = style::colours();
  const bool is_back = side == NetworkSide::backward;
  const bool is_after = side == NetworkSide::step;
  const NetworkPass& pass = is_after ? *moment.network_after : *moment.network;
  const NetworkPass& before = *moment.network;
  const double range = std::max(size_of(before.answer), size_of(before.value));
  const std::string prime = is_after ? "'" : "";
  const std::string after = is_after ? ", after the step" : "";
  std::vector<Strip> strips = {{"k", "key", pass.key, size_of(pass.key), "k", c.key, c.edge}};
  if (is_back) {
    const Vector<double>& G1 = pass.hidden_gradient;
    const Vector<double>& G2 = pass.output_gradient;
    strips.push_back({"g1", "gradient at hidden unit", G1, size_of(G1), "g_1", c.error, c.edge});
    strips.push_back({"g2", "gradient at answer", G2, size_of(G2), "g_2", c.error, c.edge});
  } else {
    strips.push_back(
        {"h", "hidden unit" + after, pass.hidden, size_of(before.hidden), "h" + prime, c.text, c.edge});
    strips.push_back({"y", "answer" + after, pass.output, std::max(range, size_of(before.output)),
                      "y" + prime, c.text, c.edge});
  }
  const std::string answer = before.is_normalised() ? "f" : "y";
  if (before.is_normalised())
    strips.push_back(
        {"f", "answer with the key, normalised" + after, pass.answer, range, "f" + prime, c.text, c.edge});
  strips.push_back({"v", "value", pass.value, range, "v", c.value, c.edge});
  strips.push_back(
      {"e", "error" + after, pass.error, range, fmt::format("{}{}-v", answer, prime), c.text, c.error});
  for (Strip& strip : strips) strip.id = fmt::format("{} {}", static_cast<int>(side), strip.id);
  return strips;
}

void draw_layers(const LearningMoment& moment, NetworkSide side, const std::vector<Strip>& strips, float y) {
  const float key = strips[0].x;
  const float hidden = strips[1].x;
  const float output = strips[2].x;
  const float end = strips.back().x + px(strip_width);
  if (side == NetworkSide::forward) {
    draw_layer(key, hidden, y, false, "h=\\mathrm{gelu}(W_1^{\\top}k+b_1)", "");
    draw_layer(hidden + px(strip_width + 4), output, y, false, "y=W_2^{\\top}h+b_2", "");
    if (moment.network->is_normalised())
      draw_layer(output + px(strip_width + 4), end, y, false, "f=k+\\mathrm{LN}(y)", "");
    return;
  }
  const bool is_step = side == NetworkSide::step;
  const Weights<double>& changes = is_step ? moment.written : moment.network->weight_gradients;
  const auto length = [&](std::size_t weights) {
    return fmt::format("length {:.3g}", norm({changes[weights]}));
  };
  draw_layer(key, hidden, y, true, is_step ? "\\Delta W_1" : "\\nabla W_1=k\\,g_1^{\\top}", length(0));
  draw_layer(hidden + px(strip_width + 4), end, y, true,
             is_step ? "\\Delta W_2" : "\\nabla W_2=h\\,g_2^{\\top}", length(2));
}

}  // namespace

NetworkSide& network_side() {
  struct Shown {
    NetworkSide side = NetworkSide::forward;
  };
  return context_local<Shown>().side;
}

void draw_network(const LearnScene& scene, const LearnRoom& room) {
  static constexpr std::array sides = {"forward", "backward", "step"};
  const auto chosen = learn_choice(room.from, sides, static_cast<std::size_t>(network_side()));
  network_side() = static_cast<NetworkSide>(chosen.index);
  const NetworkSide side = network_side();
  {
    const style::TextStyle text(style::Text::caption);
    const float left = chosen.right + px(12);
    learn_text({left, room.from.y + px(6)}, style::colours().dim,
               joined_to_fit(side_words(scene.moment, side), room.to.x - left));
  }
  const float top = room.from.y + px(head_height);
  const float bottom = room.to.y - px(below_strips);
  if (bottom - top < px(40)) return;
  std::vector<Strip> strips = strips_of(scene.moment, side);
  const float between = strips.size() > 5 ? 0.12F : 0.1F;  // the narrow columns on the right
  const float narrow = between * static_cast<float>(strips.size() - 3);
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const float part = i < 3 ? (1 - narrow) * static_cast<float>(i) / 2
                             : 1 - between * static_cast<float>(strips.size() - 1 - i);
    strips[i].x = std::round(room.from.x + (room.width() - px(strip_width)) * part);
    strips[i].top = top;
    strips[i].bottom = bottom;
  }
  const NetworkPaths& paths = paths_of(scene.moment, side);
  draw_paths(paths.in, strips[0], strips[1]);
  draw_paths(paths.out, strips[1], strips[2]);
  for (const Strip& strip : strips) draw_strip(scene, strip);
  draw_layers(scene.moment, side, strips, bottom + px(14));
}

}  // namespace palimpsest
