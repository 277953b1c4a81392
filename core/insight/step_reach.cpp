#include "core/insight/step_reach.h"

#include <algorithm>

#include "core/base/stop.h"
#include "core/insight/learning_moment.h"
#include "core/rules/row_rule.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr Index window = 1024;  // tokens whose keys are held at a time

/// The first step on the loss; nothing where a rule makes none.
std::optional<LearningStep> first_step(const Variant& variant, const Sequence& sequence) {
  if (!variant.loss.problems || sequence.tokens == 0) return std::nullopt;
  const std::vector<LearningStep> first = learning_at(variant, sequence, 0);
  return first.empty() ? std::nullopt : std::optional(first.back());
}

/// Whether the loss has no parabola: its curvature depends on the weights.
bool is_network(const LearningStep& step) { return step.stability && !step.stability->exact; }

bool erases(const Variant& variant, const Sequence& sequence) {
  if (!variant.loss.problems) return false;
  const RowRule* const rows = variant.rule->row_program();
  if (!rows) {  // a plain step on a bowl, as long as the array says
    const auto first = learning_moment(variant, sequence, 0, 2);
    return first && first->strength && first->step.stability && first->step.stability->sharpness > 0;
  }
  return rows->structure(sequence).erase != Erase::none;
}

/// The rate that a row program makes of its strength and the key; nothing where it takes the input as it is.
struct MadeRate {
  Vector<double> of_token;
  std::string symbol;  // LaTeX
};

std::optional<MadeRate> made_rate(const Variant& variant, const Sequence& sequence, const std::string& array,
                                  const std::stop_token& stop) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows) return std::nullopt;
  const Notation notation = rows->notation(sequence.settings);
  const std::string& name = notation.token.beta;
  const auto symbol = notation.symbols.find(name);
  if (name == array || symbol == notation.symbols.end()) return std::nullopt;
  MadeRate made{Vector<double>(sequence.tokens), symbol->second.latex};
  if (made.symbol.ends_with("_t")) made.symbol.resize(made.symbol.size() - 2);
  for (Index first = 0; first < sequence.tokens; first += window) {
    stop_if_asked(stop);
    const Index count = std::min(window, sequence.tokens - first);
    const Program<double> program = rows->encode<double>(sequence, first, count);
    if (!program.structure.beta || program.structure.rows_per_read != 1) return std::nullopt;
    made.of_token.segment(first, count) = program.beta.col(0);
  }
  return made;
}

/// |k|^2 of every token's last pair.
Vector<double> key_squares(const Variant& variant, const Sequence& sequence, const std::stop_token& stop) {
  Vector<double> squares(sequence.tokens);
  for (Index first = 0; first < sequence.tokens; first += window) {
    stop_if_asked(stop);
    const Index count = std::min(window, sequence.tokens - first);
    const Matrix<double> keys = stored_pairs(variant, sequence, first, count).keys;
    const Index per_token = keys.rows() / count;
    for (Index t = 0; t < count; ++t) squares[first + t] = keys.row((t + 1) * per_token - 1).squaredNorm();
  }
  return squares;
}

}  // namespace

std::optional<std::string> strength_array(const Variant& variant) {
  for (const char* name : {"beta", "theta", "eta", "delta"}) {
    const auto found = std::ranges::find(variant.inputs, name, &Input::name);
    if (found != variant.inputs.end() && has_tokens(*found)) return name;
  }
  return std::nullopt;
}

StepReach step_reach(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  require_memory_to_ask(variant);
  StepReach strengths;
  const std::optional<std::string> array = strength_array(variant);
  if (array) strengths.array = *array;
  if (sequence.tokens == 0) return strengths;
  const std::optional<LearningStep> first = first_step(variant, sequence);
  strengths.has_momentum = first && !first->problem.moving.empty();
  if (first && is_network(*first)) {
    strengths.reach = strengths.squares = Vector<double>::Zero(sequence.tokens);
    const auto curve = learning_curve(variant, sequence, stop);
    for (Index t = 0; t < sequence.tokens; ++t) {
      const auto& point = curve[static_cast<std::size_t>(t)];
      if (!point) continue;
      strengths.reach[t] = point->rate * point->sharpness;
      const double own = array ? sequence.at(*array).rows<double>(t, 1).mean() : 1;
      if (own > 0) strengths.squares[t] = strengths.reach[t] / own;
    }
    strengths.has_edge = strengths.is_network = true;
    return strengths;
  }
  strengths.squares = strengths.reach = key_squares(variant, sequence, stop);
  if (const auto made = array ? made_rate(variant, sequence, *array, stop) : std::nullopt) {
    strengths.symbol = made->symbol;
    strengths.reach.array() *= made->of_token.array();
  } else if (array) {
    const Matrix<double> rates = sequence.at(*array).all<double>();
    const bool has_steps = *array == "beta" && rates.cols() > 1;  // of several the last counts
    const Vector<double> own = has_steps ? Vector<double>(rates.rightCols(1)) : rates.rowwise().mean();
    strengths.reach.array() *= own.array();
  }
  strengths.has_edge = erases(variant, sequence);
  return strengths;
}

}  // namespace palimpsest
