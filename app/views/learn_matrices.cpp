#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/scales.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/insight/learning.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float margin_size = 10;  // of a vector beside its matrix
constexpr float margin_gap = 5;
constexpr float below_matrix = 44;  // its symbol, words and what was measured
constexpr float smallest_side = 40;
constexpr double shown_part = 0.95;  // of the numbers have colours of their own

/// The vectors that a matrix is the product of.
struct Margins {
  Matrix<double> key = {};    // [K, 1]; empty: there are none
  Matrix<double> error = {};  // [1, V]
  double key_range = 0;
  double error_range = 0;
  bool along_key = true;
};

/// The colour scales of a moment, and how much lies beyond them.
struct MatrixScales {
  std::uint64_t version = 0;
  std::string ids = {};  // of the matrices
  std::vector<double> ranges = {};
  std::vector<double> beyond = {};
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

double range_of(const Matrix<double>& values) {
  const std::vector<double> numbers(values.data(), values.data() + values.size());
  std::vector<double> sizes;
  for (const double number : numbers) sizes.push_back(std::abs(number));
  return quantile(std::move(sizes), shown_part);
}

Margins margins(const Vector<double>& key, const Vector<double>& error, bool along_key) {
  Margins beside{.key = key, .error = error.transpose(), .along_key = along_key};
  beside.key_range = range_of(beside.key);
  beside.error_range = range_of(beside.error);
  return beside;
}

double part_beyond(const Matrix<double>& values, double range) {
  if (values.size() == 0) return 0;
  const Index count = (values.array().abs() > range).count();
  return static_cast<double>(count) / static_cast<double>(values.size());
}

const MatrixScales& updated_scales(const LearnScene& scene, const std::vector<ShownMatrix>& shown) {
  auto& scales = context_local<MatrixScales>();
  std::string ids;
  for (const ShownMatrix& matrix : shown) ids += matrix.id + "\n";
  if (scales.version == scene.version && scales.ids == ids) return scales;
  scales = {.version = scene.version, .ids = ids};
  for (const ShownMatrix& matrix : shown) {
    scales.ranges.push_back(range_of(*matrix.values));
    scales.beyond.push_back(part_beyond(*matrix.values, scales.ranges.back()));
  }
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

/// Draws one matrix in a square of `side` and what stands below it.
void draw_matrix(const LearnScene& scene, const ShownMatrix& shown, const MatrixScales& scales,
                 std::size_t index, ImVec2 corner, ImVec2 size, float words_width) {
  const style::Palette& c = style::colours();
  const auto look = [](double range) {
    return HeatMapLook{.range = static_cast<float>(range > 0 ? range : 1)};
  };
  const std::uint64_t version = scene.version;
  ImDrawList* list = ImGui::GetWindowDrawList();
  heat_map(fmt::format("learn {}", shown.id), *shown.values, version, corner, size,
           look(scales.ranges[index]));
  list->AddRect({corner.x - 1, corner.y - 1}, {corner.x + size.x + 1, corner.y + size.y + 1}, c.edge);
  const bool is_step = shown.margins == &MatrixScales::step;
  std::string measured = shown.measured;
  if (shown.margins && (scales.*shown.margins).key.size() > 0) {
    const Margins& beside = scales.*shown.margins;
    if (is_step) measured = beside.along_key ? "one key × one error" : "one direction × one error";
    const float thick = px(margin_size);
    const float gap = px(margin_gap);
    heat_map(fmt::format("learn {} k", shown.id), beside.key, version, {corner.x - gap - thick, corner.y},
             {thick, size.y}, look(beside.key_range));
    heat_map(fmt::format("learn {} e", shown.id), beside.error, version, {corner.x, corner.y - gap - thick},
             {size.x, thick}, look(beside.error_range));
    if (beside.along_key) learn_formula({corner.x - gap - thick, corner.y - gap - px(1)}, "k", px(15), c.key);
    const style::TextStyle text(style::Text::caption);
    const ErrorWords words = error_words(scene.moment.outer->is_difference, is_step);
    const std::string error = text_extent(words.in_full).x <= size.x ? words.in_full : words.briefly;
    learn_text_right({corner.x + size.x, corner.y - gap - thick - text_extent(error).y - px(2)}, c.dim,
                     error);
  }
  const style::TextStyle text(style::Text::caption);
  const float top = corner.y + size.y + px(6);
  const float baseline = top + ImGui::GetFontBaked()->Ascent;
  const float symbol = learn_formula({corner.x, baseline}, shown.latex, px(15), c.text) + px(8);
  const bool is_brief = !shown.words_briefly.empty() && text_extent(shown.words).x > words_width - symbol;
  learn_text({corner.x + symbol, top}, c.text,
             shortened(is_brief ? shown.words_briefly : shown.words, words_width - symbol));
  const std::string brief = shown.measured_briefly.empty() ? measured : shown.measured_briefly;
  const std::string least = shown.measured_least.empty() ? brief : shown.measured_least;
  const std::string alone = measured;
  if (scales.beyond[index] > 0)
    measured += fmt::format("{}±{:.2g}, {:.0f} % beyond", measured.empty() ? "" : "; ", scales.ranges[index],
                            100 * scales.beyond[index]);
  const auto fits = [&](const std::string& words) { return text_extent(words).x <= words_width; };
  const std::string& fitting = fits(measured) ? measured : fits(alone) ? alone : fits(brief) ? brief : least;
  learn_text({corner.x, top + text_extent("x").y + px(3)}, shown.is_good ? c.good : c.dim,
             shortened(fitting, words_width));
}

}  // namespace

void draw_step_matrices(const LearnScene& scene, const LearnRoom& room) {
  const std::vector<ShownMatrix> shown = matrices_of(scene.moment);
  const MatrixScales& scales = updated_scales(scene, shown);
  const auto count = static_cast<float>(shown.size());
  const float left = px(margin_size + margin_gap);
  const float top = px(margin_size + margin_gap + 18);
  const float gap = px(room.compact ? 20 : 36);
  const float column = (room.width() - gap * (count - 1)) / count;
  const float height = room.height() - top - px(below_matrix);
  const Matrix<double>& first = *shown.front().values;
  const float wanted = std::min(column - left, px(340));
  const float ratio = static_cast<float>(first.rows()) / static_cast<float>(std::max<Index>(first.cols(), 1));
  ImVec2 size = {wanted, wanted * std::clamp(ratio, 0.25F, 4.0F)};
  if (size.y > height) size = {size.x * height / size.y, height};
  size = {std::round(size.x), std::round(size.y)};
  if (size.x < px(smallest_side) || size.y < px(8)) return;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const ImVec2 corner = {std::round(room.from.x + static_cast<float>(i) * (column + gap) + left),
                           std::round(room.from.y + top)};
    draw_matrix(scene, shown[i], scales, i, corner, size, column - left);
  }
}

}  // namespace palimpsest
