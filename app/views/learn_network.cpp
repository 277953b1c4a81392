// A memory that is a little network: the word on its way through, the gradient on its way back, and the step.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/session/scales.h"
#include "app/views/learn.h"

namespace palimpsest {

namespace {

using scene::Node;
using scene::Nodes;

constexpr double strip_width = 0.03;  // of the picture
constexpr double narrow_part = 0.11;  // of each column on the right

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
  double left = 0;  // in the picture

  double y(Index unit) const {
    return 1 - (static_cast<double>(unit) + 0.5) / static_cast<double>(values.size());
  }
};

PlotMark strip_mark(const Strip& strip, std::uint64_t version) {
  return {.kind = PlotMark::Kind::picture,
          .name = strip.id,
          .x = strip.left,
          .y = 1,
          .to_x = strip.left + strip_width,
          .to_y = 0,
          .look = {.colour = strip.frame},
          .outline = style::line,
          .numbers = std::make_shared<const Matrix<double>>(strip.values),
          .version = version,
          .heat = {.range = static_cast<float>(strip.range)},
          .told = [words = strip.words, values = strip.values](Cell cell) {
            return fmt::format("{} {}: {:.4g}", words, cell.row, values[cell.row]);
          }};
}

void add_paths(Plot& plot, const std::vector<StrongLink>& paths, const Strip& from, const Strip& to) {
  if (paths.empty()) return;
  const double most = std::max(std::abs(paths.back().amount), 1e-30);
  for (const StrongLink& path : paths) {
    const double part = path.amount / most;
    plot.marks.push_back(
        line_mark(from.left + strip_width, from.y(path.from), to.left, to.y(path.to),
                  {.colour = path_ink(part), .width = static_cast<float>(0.6 + 1.8 * std::abs(part))}));
  }
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
  return strips;
}

/// What happens between two strips: an arrow, back where `is_back`, with a formula and words below it.
Node layer(double part, bool is_back, const std::string& latex, const std::string& words) {
  const scene::Ink ink = is_back ? style::colours().error : scene::dim_ink;
  const auto written = [&](scene::Fit fit) {
    return Node{scene::Formula{.latex = latex, .size = 15, .fit = fit}};
  };
  Nodes wishes;
  if (!words.empty())
    wishes.push_back(scene::row({written(scene::Fit::whole),
                                 scene::text(words, style::Text::caption, scene::dim_ink, scene::Fit::whole)},
                                scene::Gap::small));
  wishes.push_back(written(scene::Fit::shorten));
  const auto head = is_back ? scene::Rule::Head::left : scene::Rule::Head::right;
  return scene::column({Node{scene::Rule{.room = scene::Gap::near, .head = head, .ink = ink}},
                        scene::centred(scene::first_that_fits(std::move(wishes)))},
                       scene::Gap::tight)
      .filling(static_cast<float>(part));
}

/// What leads from strip to strip, below them.
Node layers(const LearningMoment& moment, NetworkSide side, const std::vector<Strip>& strips) {
  const double half = strips[1].left;
  const double rest = 1 - strips[2].left;
  if (side == NetworkSide::forward) {
    Nodes all = {layer(half, false, "h=\\mathrm{gelu}(W_1^{\\top}k+b_1)", ""),
                 layer(half, false, "y=W_2^{\\top}h+b_2", "")};
    all.push_back(moment.network->is_normalised() ? layer(rest, false, "f=k+\\mathrm{LN}(y)", "")
                                                  : scene::rest().filling(static_cast<float>(rest)));
    return scene::row(std::move(all), scene::Gap::small);
  }
  const bool is_step = side == NetworkSide::step;
  const Weights<double>& changes = is_step ? moment.written : moment.network->weight_gradients;
  const auto length = [&](std::size_t weights) {
    return fmt::format("length {:.3g}", norm({changes[weights]}));
  };
  return scene::row(
      {layer(half, true, is_step ? "\\Delta W_1" : "\\nabla W_1=k\\,g_1^{\\top}", length(0)),
       layer(half + rest, true, is_step ? "\\Delta W_2" : "\\nabla W_2=h\\,g_2^{\\top}", length(2))},
      scene::Gap::small);
}

/// The three columns that paths lead through, and beside them those that are compared.
Plot network_plot(const LearnScene& scene, NetworkSide side, const std::vector<Strip>& strips) {
  Plot plot{.name = "network",
            .x = {.has_round = false, .has_grid = false},
            .y = {.has_round = false, .has_grid = false}};
  for (const Strip& strip : strips) {
    plot.x.named.push_back(
        {.at = strip.left + strip_width / 2, .latex = strip.symbol, .colour = strip.colour});
    plot.marks.push_back(strip_mark(strip, scene.version));
  }
  const NetworkPaths& paths = paths_of(scene.moment, side);
  add_paths(plot, paths.in, strips[0], strips[1]);
  add_paths(plot, paths.out, strips[1], strips[2]);
  return plot;
}

}  // namespace

scene::Node network_picture(const LearnScene& scene) {
  const NetworkSide side = learn_look().network;
  std::vector<Strip> strips = strips_of(scene.moment, side);
  const double narrow = narrow_part * static_cast<double>(strips.size() - 3);
  for (std::size_t i = 0; i < strips.size(); ++i)
    strips[i].left =
        (1 - strip_width) * (i < 3 ? (1 - narrow) * static_cast<double>(i) / 2
                                   : 1 - narrow_part * static_cast<double>(strips.size() - 1 - i));
  return scene::column(
      {scene::row({scene::segments(
                       {"forward", "backward", "step"}, static_cast<std::size_t>(side),
                       [](std::size_t chosen) { learn_look().network = static_cast<NetworkSide>(chosen); }),
                   scene::as_many(side_words(scene.moment, side))}),
       scene::plotted(network_plot(scene, side, strips)).filling(), layers(scene.moment, side, strips)},
      scene::Gap::tight);
}

}  // namespace palimpsest
