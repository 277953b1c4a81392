#include "app/views/learn.h"

// A step as pictures: matrices or, for a memory that is a small network, the forward pass of the token, the
// backward pass of the gradient, and the step.

namespace palimpsest {

namespace {

constexpr double margin = 0.03;  // thickness of a vector beside a matrix, relative to its side
constexpr double margin_gap = 0.02;
constexpr double shown_part = 0.95;  // of the numbers are not clipped

struct ScaledNumbers {
  std::shared_ptr<const Matrix<double>> numbers = nullptr;
  double range = 0;
  double beyond = 0;  // the share of clipped entries
};

/// A matrix with the text below it and, if it is an outer product, the vectors beside and above it.
struct ShownMatrix {
  std::string id;
  ScaledNumbers matrix;
  std::string latex;
  std::vector<std::string> names;     // from long to short: the first that fits is shown
  std::vector<std::string> measured;  // in the same order
  bool is_good = false;               // `measured` says that something agrees
  bool is_step = false;
  ScaledNumbers key = {};    // [K, 1]; without numbers: it is no outer product
  ScaledNumbers error = {};  // [1, V]
  bool along_key = true;
};

ScaledNumbers scaled(const Matrix<double>& values) {
  const double range = quantile(sizes_of(values), shown_part);
  const auto beyond = static_cast<double>((values.array().abs() > range).count());
  return {std::make_shared<const Matrix<double>>(values), range,
          beyond / static_cast<double>(std::max<Index>(values.size(), 1))};
}

/// A gathered step before and after the shown iteration.
std::vector<ShownMatrix> iterated_matrices(const LearningStep& step, std::size_t shown) {
  const auto ratio = [&](std::size_t column, bool briefly) {
    const auto values = step.singular_values.col(static_cast<Index>(column));
    const Index used = count_used(step.singular_values);
    const double middle = used > 0 ? values[used / 2] : 0;
    return middle > 0 ? largest_ratio_words(values[0] / middle, briefly) : std::string("the gradient is 0");
  };
  return {{.id = "gathered",
           .matrix = scaled(step.iterates.front()),
           .latex = "X_0",
           .names = {"gathered"},
           .measured = {ratio(0, false), ratio(0, true)}},
          {.id = fmt::format("flattened {}", shown),
           .matrix = scaled(step.iterates[shown]),
           .latex = fmt::format("X_{{{}}}", shown),
           .names = {iterate_words(shown, step.iterates.size() - 1)},
           .measured = {ratio(shown, false), ratio(shown, true)}}};
}

/// The gradient, the momentum if there is one, and what is written.
std::vector<ShownMatrix> matrices_of(const LearningMoment& moment, bool has_check) {
  const LearningStep& step = moment.step;
  const InnerProblem& problem = step.problem;
  const std::string error = plain_number(moment.check.error, 2);
  ShownMatrix gradient{
      .id = "gradient",
      .matrix = scaled(step.gradient.front()),
      .latex = "\\nabla\\mathcal L",
      .names = {"gradient"},
      .measured = has_check ? std::vector{"agrees with finite differences: " + error,
                                          "finite differences: " + error, "checked: " + error}
                            : std::vector{fmt::format("norm {:.3g}", step.gradient.front().norm())},
      .is_good = has_check && moment.check.error < 1e-6};
  if (moment.outer) {
    gradient.key = scaled(moment.outer->key);
    gradient.error = scaled(moment.outer->error.transpose());
  }
  const bool has_momentum = !problem.moving.empty();
  const bool is_beta = moment.strength && moment.strength->array == "beta";
  ShownMatrix written{.id = "written",
                      .matrix = scaled(moment.written.front()),
                      .latex = has_momentum ? "M"
                               : is_beta    ? "-\\beta\\nabla\\mathcal L"
                                            : "\\Delta S",
                      .names = {"the step, written into S", "written into S"},
                      .measured = {fmt::format("norm {:.3g}", norm(moment.written))},
                      .is_step = true};
  if (const auto outer = has_momentum ? std::nullopt : written_outer(moment)) {
    written.key = scaled(outer->key);
    written.error = scaled(outer->error.transpose());
    written.along_key = outer->along_key;
    written.measured = {"rank-one update"};
  }
  if (!has_momentum) return {std::move(gradient), std::move(written)};
  ShownMatrix moving{.id = "moving",
                     .matrix = scaled(problem.moving.front()),
                     .latex = "M'",
                     .names = {"momentum before", "before"},
                     .measured = {fmt::format("{:.3g} of it is kept", problem.momentum)}};
  return {std::move(gradient), std::move(moving), std::move(written)};
}

/// A matrix with the vectors of its outer product on the left and above.
Node picture_of(const ShownMatrix& shown, std::uint64_t version) {
  const Matrix<double>& values = *shown.matrix.numbers;
  const double ratio = std::clamp(
      static_cast<double>(values.rows()) / static_cast<double>(std::max<Index>(values.cols(), 1)), 0.25, 4.0);
  const double across = margin + margin_gap;
  const double down = across / ratio;
  Plot plot{.name = shown.id,
            .x = {.low = -across, .high = 1, .has_round = false, .has_grid = false},
            .y = {.low = 1, .high = -down, .has_round = false, .has_grid = false},
            .is_area = true};
  // 0, 0 is the upper left corner of the matrix, 1, 1 its lower right one.
  const auto add = [&](const char* name, const ScaledNumbers& of, PlotPlace from, PlotPlace to) {
    if (!of.numbers) return;
    plot.marks.push_back(picture_mark(name, from, to, of.numbers, version, of.range > 0 ? of.range : 1,
                                      style::colours().edge));
  };
  add("matrix", shown.matrix, {0, 0}, {1, 1});
  add("key", shown.key, {-across, 0}, {-margin_gap, 1});
  add("error", shown.error, {0, -down}, {1, -margin_gap / ratio});
  return {scene::Over{{scene::plotted(std::move(plot))}, static_cast<float>(ratio)}};
}

Node head_of(const LearningMoment& moment, const ShownMatrix& shown) {
  if (!shown.key.numbers) return scene::caption(" ");
  Nodes all;
  if (shown.along_key) all += scene::formula("k", style::formula_label, style::colours().key);
  all += scene::that_fits(margin_words(moment.outer->is_difference, shown.is_step));
  return scene::row(std::move(all));
}

Node matrix_node(const LearnScene& scene, const ShownMatrix& shown) {
  const style::Palette& c = style::colours();
  std::vector<std::string> ways = shown.measured;
  if (shown.matrix.beyond > 0)
    ways.insert(ways.begin(), fmt::format("{}; ±{:.2g}, {:.0f} % clipped", ways.front(), shown.matrix.range,
                                          100 * shown.matrix.beyond));
  return scene::column({head_of(scene.moment, shown), picture_of(shown, scene.version).shrinking(),
                        scene::row({scene::formula(shown.latex), scene::that_fits(shown.names, c.text)}),
                        scene::that_fits(ways, shown.is_good ? c.good : scene::dim_ink)},
                       Gap::tight);
}

constexpr double strip_width = 0.03;  // of the picture
constexpr double narrow_part = 0.11;  // of each column on the right

double size_of(const Vector<double>& numbers) {
  return std::max(quantile(sizes_of(numbers), nearly_all), 1e-30);
}

ImU32 path_ink(double part) {
  const Rgb8 shade = colour(style::colours().map, static_cast<float>(part), 1);
  return style::with_alpha(style::colour(shade),
                           static_cast<float>(std::clamp(0.2 + 0.7 * std::abs(part), 0.0, 1.0)));
}

/// One vector of the network as a vertical strip.
struct Strip {
  std::string id;
  std::string words;  // the tooltip of a unit begins with it
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
  PlotMark mark =
      picture_mark(strip.id, {strip.left, 1}, {strip.left + strip_width, 0},
                   std::make_shared<const Matrix<double>>(strip.values), version, strip.range, strip.frame);
  mark.told = [words = strip.words, values = strip.values](Cell cell) {
    return fmt::format("{} {}: {:.3g}", words, cell.row + 1, values[cell.row]);
  };
  return mark;
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
    strips.push_back({"g2", "gradient at prediction", G2, size_of(G2), "g_2", c.error, c.edge});
  } else {
    strips.push_back(
        {"h", "hidden unit" + after, pass.hidden, size_of(before.hidden), "h" + prime, c.text, c.edge});
    strips.push_back({"y", "prediction" + after, pass.output, std::max(range, size_of(before.output)),
                      "y" + prime, c.text, c.edge});
  }
  const std::string answer = before.is_normalised() ? "f" : "y";
  if (before.is_normalised())
    strips.push_back({"f", "prediction k + LN(y)" + after, pass.answer, range, "f" + prime, c.text, c.edge});
  strips.push_back({"v", "value", pass.value, range, "v", c.value, c.edge});
  strips.push_back(
      {"e", "error" + after, pass.error, range, fmt::format("{}{}-v", answer, prime), c.text, c.error});
  return strips;
}

/// The operation between two strips: an arrow, reversed if `is_back`, with a formula and text below it.
Node layer(double part, bool is_back, const std::string& latex, const std::string& words) {
  const scene::Ink ink = is_back ? style::colours().error : scene::dim_ink;
  const auto written = [&](Fit fit) { return Node{scene::Formula{.latex = latex, .size = 15, .fit = fit}}; };
  Nodes wishes;
  if (!words.empty()) wishes += scene::row({written(Fit::whole), scene::tag(words)}, Gap::small);
  wishes += written(Fit::shorten);
  const auto head = is_back ? scene::Rule::Head::left : scene::Rule::Head::right;
  return scene::column({Node{scene::Rule{.room = Gap::near, .head = head, .ink = ink}},
                        scene::centred(scene::first_that_fits(std::move(wishes)))},
                       Gap::tight)
      .filling(static_cast<float>(part));
}

/// The operations from strip to strip, below them.
Node layers(const LearningMoment& moment, NetworkSide side, const std::vector<Strip>& strips) {
  const double half = strips[1].left;
  const double rest = 1 - strips[2].left;
  if (side == NetworkSide::forward) {
    Nodes all = {layer(half, false, "h=\\mathrm{gelu}(W_1^{\\top}k+b_1)", ""),
                 layer(half, false, "y=W_2^{\\top}h+b_2", "")};
    all += moment.network->is_normalised() ? layer(rest, false, "f=k+\\mathrm{LN}(y)", "")
                                           : scene::rest().filling(static_cast<float>(rest));
    return scene::row(std::move(all), Gap::small);
  }
  const bool is_step = side == NetworkSide::step;
  const Weights<double>& changes = is_step ? moment.written : moment.network->weight_gradients;
  const auto norm_of = [&](std::size_t weights) {
    return fmt::format("norm {:.3g}", norm({changes[weights]}));
  };
  return scene::row(
      {layer(half, true, is_step ? "\\Delta W_1" : "\\nabla W_1=k\\,g_1^{\\top}", norm_of(0)),
       layer(half + rest, true, is_step ? "\\Delta W_2" : "\\nabla W_2=h\\,g_2^{\\top}", norm_of(2))},
      Gap::small);
}

/// The three columns of the network, and beside them the strips that are compared.
Plot network_plot(const LearnScene& scene, NetworkSide side, const std::vector<Strip>& strips) {
  const PlotAxis axis{.has_round = false, .has_grid = false};
  Plot plot{.name = "network", .x = axis, .y = axis};
  for (const Strip& strip : strips) {
    plot.x.named.push_back(
        {.at = strip.left + strip_width / 2, .latex = strip.symbol, .colour = strip.colour});
    plot.marks.push_back(strip_mark(strip, scene.version));
  }
  const LearningMoment& moment = scene.moment;
  const NetworkPaths& paths = side == NetworkSide::forward    ? moment.network->sent
                              : side == NetworkSide::backward ? moment.network->taught
                                                              : moment.network_step;
  add_paths(plot, paths.in, strips[0], strips[1]);
  add_paths(plot, paths.out, strips[1], strips[2]);
  return plot;
}

}  // namespace

Node step_matrices(const LearnScene& scene) {
  const LearningStep& step = scene.moment.step;
  const std::size_t iterate = shown_iterate(scene.application.session, step.iterates.size());
  const bool has_check = scene.application.shows_all();
  const std::vector<ShownMatrix>& shown = kept_for(std::tuple(scene.version, iterate, has_check), [&] {
    return step.iterates.empty() ? matrices_of(scene.moment, has_check) : iterated_matrices(step, iterate);
  });
  Nodes all;
  for (const ShownMatrix& matrix : shown) all += matrix_node(scene, matrix).filling();
  return scene::top_row(std::move(all), Gap::far);
}

Node network_picture(const LearnScene& scene) {
  const NetworkSide side = scene.view().network;
  std::vector<Strip> strips = strips_of(scene.moment, side);
  const double narrow = narrow_part * static_cast<double>(strips.size() - 3);
  for (std::size_t i = 0; i < strips.size(); ++i)
    strips[i].left =
        (1 - strip_width) * (i < 3 ? (1 - narrow) * static_cast<double>(i) / 2
                                   : 1 - narrow_part * static_cast<double>(strips.size() - 1 - i));
  return scene::column(
      {scene::row({field_choice(scene.application.session, &SessionState::learn, &LearnView::network,
                                named_values<NetworkSide>()),
                   scene::as_many(network_words(scene.moment, side))}),
       scene::plotted(network_plot(scene, side, strips)).filling(), layers(scene.moment, side, strips)},
      Gap::tight);
}

}  // namespace palimpsest
