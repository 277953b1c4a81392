#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/gl/context_local.h"
#include "app/session/scales.h"
#include "app/views/learn.h"
#include "app/widgets/text.h"
#include "core/insight/learning.h"

namespace palimpsest {

namespace {

using scene::Node;
using scene::Nodes;

constexpr double margin = 0.03;  // how thick a vector beside a matrix is, of its side
constexpr double margin_gap = 0.02;
constexpr double shown_part = 0.95;  // of the numbers have colours of their own

/// Numbers to be drawn, and what their colours end at.
struct ScaledNumbers {
  std::shared_ptr<const Matrix<double>> numbers = nullptr;
  double range = 0;
  double beyond = 0;  // the share of them beyond it
};

/// The vectors that a matrix is the product of.
struct Margins {
  ScaledNumbers key = {};    // [K, 1]; empty: there are none
  ScaledNumbers error = {};  // [1, V]
  bool along_key = true;
};

/// What is drawn of a moment, made once.
struct MatrixScales {
  std::uint64_t version = 0;
  std::string ids = {};  // of the matrices
  std::vector<ScaledNumbers> matrices = {};
  Margins gradient = {};
  Margins step = {};
};

/// A matrix with what stands below it.
struct ShownMatrix {
  std::string id;
  const Matrix<double>* values;
  std::string latex;
  std::string words;
  std::string words_briefly = {};
  std::string measured = {};
  std::string measured_briefly = {};
  std::string measured_least = {};  // where even that has no room
  bool is_good = false;             // `measured` is an agreement
  Margins MatrixScales::*margins = nullptr;
};

ScaledNumbers scaled(const Matrix<double>& values) {
  std::vector<double> sizes;
  for (const double number : values.reshaped()) sizes.push_back(std::abs(number));
  const double range = quantile(std::move(sizes), shown_part);
  const auto beyond = static_cast<double>((values.array().abs() > range).count());
  return {std::make_shared<const Matrix<double>>(values), range,
          beyond / static_cast<double>(std::max<Index>(values.size(), 1))};
}

Margins margins(const Vector<double>& key, const Vector<double>& error, bool along_key) {
  return {scaled(key), scaled(error.transpose()), along_key};
}

const MatrixScales& updated_scales(const LearnScene& scene, const std::vector<ShownMatrix>& shown) {
  auto& scales = context_local<MatrixScales>();
  std::string ids;
  for (const ShownMatrix& matrix : shown) ids += matrix.id + "\n";
  if (scales.version == scene.version && scales.ids == ids) return scales;
  scales = {.version = scene.version, .ids = ids};
  for (const ShownMatrix& matrix : shown) scales.matrices.push_back(scaled(*matrix.values));
  const LearningMoment& moment = scene.moment;
  if (moment.outer) scales.gradient = margins(moment.outer->key, moment.outer->error, true);
  const bool is_plain = moment.step.problem.moving.empty();
  if (const auto outer = is_plain ? written_outer(moment) : std::nullopt)
    scales.step = margins(outer->key, outer->error, outer->along_key);
  return scales;
}

std::vector<ShownMatrix> matrices_of(const LearningMoment& moment) {
  const LearningStep& step = moment.step;
  const InnerProblem& problem = step.problem;
  std::vector<ShownMatrix> shown;
  if (!step.iterates.empty()) {
    const auto ratio = [&](Index column, const char* before, const char* after) {
      const auto values = step.singular_values.col(column);
      const Index used = count_used(step.singular_values);
      const double middle = used > 0 ? values[used / 2] : 0;
      return middle > 0 ? fmt::format("{}{:.3g}{}", before, values[0] / middle, after)
                        : std::string("nothing is gathered");
    };
    const auto in_full = [&](Index column) { return ratio(column, "strongest ", " times the middle one"); };
    const auto briefly = [&](Index column) { return ratio(column, "strongest ", " × middle"); };
    const std::size_t last = step.iterates.size() - 1;
    const std::size_t index = shown_iterate(step.iterates.size());
    const std::string words = index == last ? std::string("the step, flattened")
                              : index == 0  ? std::string("not yet flattened")
                                            : fmt::format("after {} of {} steps", index, last);
    shown.push_back({"gathered", &step.iterates.front(), "X_0", "gathered", "", in_full(0), briefly(0)});
    shown.push_back({fmt::format("flattened {}", index), &step.iterates[index],
                     fmt::format("X_{{{}}}", index), words, "", in_full(static_cast<Index>(index)),
                     briefly(static_cast<Index>(index))});
    return shown;
  }
  shown.push_back({"gradient", &step.gradient.front(), "\\nabla\\mathcal L", "uphill", "",
                   fmt::format("agrees with finite differences: {}", scientific(moment.check.error)),
                   fmt::format("finite differences: {}", scientific(moment.check.error)),
                   fmt::format("checked: {}", scientific(moment.check.error)), moment.check.error < 1e-6,
                   &MatrixScales::gradient});
  if (!problem.moving.empty())
    shown.push_back({"moving", &problem.moving.front(), "M'", "momentum before", "before",
                     fmt::format("{:.3g} of it goes on", problem.momentum)});
  shown.push_back({"written", &moment.written.front(),
                   problem.moving.empty() ? "-\\beta\\nabla\\mathcal L" : "M", "the step, written into S",
                   "written into S", fmt::format("length {:.3g}", norm(moment.written)), "", "", false,
                   &MatrixScales::step});
  if (problem.moving.empty() && !(moment.strength && moment.strength->array == "beta"))
    shown.back().latex = "\\Delta S";
  return shown;
}

/// What the vector above a matrix is.
struct ErrorWords {
  const char* in_full;
  const char* briefly;
};

ErrorWords error_words(bool is_difference, bool is_step) {
  if (!is_difference)
    return is_step ? ErrorWords{"v: what this loss asks for", "v"}
                   : ErrorWords{"−v: this loss asks for no difference", "−v"};
  return is_step ? ErrorWords{"what should be there − what is there", "should be − is"}
                 : ErrorWords{"what is there − what should be there", "is − should be"};
}

/// Numbers between two corners, 0, 0 the upper left one of the matrix and 1, 1 its lower right one.
PlotMark numbers_mark(std::string name, const ScaledNumbers& scaled, std::uint64_t version, PlotPlace from,
                      PlotPlace to) {
  return {.kind = PlotMark::Kind::picture,
          .name = std::move(name),
          .x = from.x,
          .y = from.y,
          .to_x = to.x,
          .to_y = to.y,
          .look = {.colour = style::colours().edge},
          .outline = style::line,
          .numbers = scaled.numbers,
          .version = version,
          .heat = {.range = static_cast<float>(scaled.range > 0 ? scaled.range : 1)}};
}

/// A matrix, and left of it and above it the vectors that it is the product of.
Node picture_of(const LearnScene& scene, const ShownMatrix& shown, const ScaledNumbers& scaled,
                const Margins* beside) {
  const Matrix<double>& values = *shown.values;
  const double ratio = std::clamp(
      static_cast<double>(values.rows()) / static_cast<double>(std::max<Index>(values.cols(), 1)), 0.25, 4.0);
  const double across = margin + margin_gap;
  const double down = across / ratio;
  Plot plot{.name = shown.id,
            .x = {.low = -across, .high = 1, .has_round = false, .has_grid = false},
            .y = {.low = 1, .high = -down, .has_round = false, .has_grid = false},
            .is_area = true};
  plot.marks.push_back(numbers_mark("matrix", scaled, scene.version, {0, 0}, {1, 1}));
  if (beside && beside->key.numbers) {
    plot.marks.push_back(numbers_mark("key", beside->key, scene.version, {-across, 0}, {-margin_gap, 1}));
    plot.marks.push_back(
        numbers_mark("error", beside->error, scene.version, {0, -down}, {1, -margin_gap / ratio}));
  }
  return {scene::Over{{scene::plotted(std::move(plot))}, static_cast<float>(ratio)}};
}

/// What stands above a matrix: which vectors lie beside it.
Node head_of(const LearnScene& scene, const ShownMatrix& shown, const Margins* beside) {
  const style::Palette& c = style::colours();
  if (!beside || !beside->key.numbers) return scene::caption(" ");
  const ErrorWords words =
      error_words(scene.moment.outer->is_difference, shown.margins == &MatrixScales::step);
  const auto caption = [&](const char* error, scene::Fit fit) {
    return scene::text(error, style::Text::caption, scene::dim_ink, fit);
  };
  Nodes all;
  if (beside->along_key) all.push_back(scene::formula("k", style::formula_label, c.key));
  all.push_back(scene::first_that_fits(
      {caption(words.in_full, scene::Fit::whole), caption(words.briefly, scene::Fit::shorten)}));
  return scene::row(std::move(all));
}

/// A matrix with what stands above and below it.
Node matrix_node(const LearnScene& scene, const ShownMatrix& shown, const MatrixScales& scales,
                 const ScaledNumbers& scaled) {
  const style::Palette& c = style::colours();
  const Margins* beside = shown.margins ? &(scales.*shown.margins) : nullptr;
  const auto caption = [](const std::string& words, scene::Ink ink, bool is_last) {
    return scene::text(words, style::Text::caption, ink, is_last ? scene::Fit::shorten : scene::Fit::whole);
  };
  std::string measured = shown.measured;
  if (beside && beside->key.numbers && shown.margins == &MatrixScales::step)
    measured = beside->along_key ? "one key × one error" : "one direction × one error";
  std::vector<std::string> ways = {measured};
  if (scaled.beyond > 0)
    ways.insert(ways.begin(),
                fmt::format("{}±{:.2g}, {:.0f} % beyond", measured.empty() ? "" : measured + "; ",
                            scaled.range, 100 * scaled.beyond));
  for (const std::string& brief : {shown.measured_briefly, shown.measured_least})
    if (!brief.empty()) ways.push_back(brief);
  Nodes wishes;
  for (const std::string& way : ways)
    wishes.push_back(caption(way, shown.is_good ? c.good : scene::dim_ink, &way == &ways.back()));
  const bool has_brief = !shown.words_briefly.empty();
  Nodes names = {caption(shown.words, c.text, !has_brief)};
  if (has_brief) names.push_back(caption(shown.words_briefly, c.text, true));
  return scene::column({head_of(scene, shown, beside), picture_of(scene, shown, scaled, beside).shrinking(),
                        scene::row({scene::formula(shown.latex), scene::first_that_fits(std::move(names))}),
                        scene::first_that_fits(std::move(wishes))},
                       scene::Gap::tight);
}

}  // namespace

scene::Node step_matrices(const LearnScene& scene) {
  const std::vector<ShownMatrix> shown = matrices_of(scene.moment);
  const MatrixScales& scales = updated_scales(scene, shown);
  Nodes all;
  for (std::size_t i = 0; i < shown.size(); ++i)
    all.push_back(matrix_node(scene, shown[i], scales, scales.matrices[i]).filling());
  return Node{scene::Row{.nodes = std::move(all), .gap = scene::Gap::far, .on_top = true}};
}

}  // namespace palimpsest
