#include <fmt/format.h>

#include <random>

#include "core/base/table.h"
#include "core/formula/gradient.h"
#include "core/rules/inner_problem.h"
#include "core/written/written_parts.h"

namespace palimpsest {

namespace {

// Functions are differentiated with about ten digits.
constexpr double rounding_share = 1e-6;

/// Whether it is a memory before the token, or a result of its shape.
bool is_memory(const RuleText& rule, const std::string& name) {
  const auto is_it = [&](const RuleMemory& memory) { return name == before(memory.name); };
  const RuleLine* const line = line_of(rule, name);
  return std::ranges::any_of(rule.memories, is_it) ||
         (line && line->shape == Shape{specimen_dk, specimen_dv});
}

/// `x` with every other result written out.
Expression down_to_memories(const RuleText& rule, const Expression& x) {
  return replaced(x, [&](const Expression& piece) -> std::optional<Expression> {
    if (piece.kind() != Expression::Kind::tensor || is_memory(rule, piece.name())) return std::nullopt;
    const RuleLine* const line = line_of(rule, piece.name());
    return line ? std::optional(down_to_memories(rule, line->equation.expression)) : std::nullopt;
  });
}

/// The loss over the one memory that it reads.
struct LossOfMemory {
  Expression loss;
  std::string base = {};

  explicit LossOfMemory(const RuleText& rule) : loss(down_to_memories(rule, rule.loss->equation.expression)) {
    for (const std::string& name : operands(loss)) {
      if (!is_memory(rule, name)) continue;
      if (!base.empty() && base != name)
        throw RuleTextError(rule.loss->line, 1, "a loss reads one memory, S or a result that is one");
      base = name;
    }
    if (base.empty())
      throw RuleTextError(rule.loss->line, 1, "the loss reads no memory, so it teaches nothing");
  }
};

/// The memory whose update is compared: the one that the loss reads before the token, else S.
std::string updated(const RuleText& rule, const std::string& base) {
  for (const RuleMemory& memory : rule.memories)
    if (base == before(memory.name)) return after(memory.name);
  return after("S");
}

/// The rate at which the change of the memory is nearest to a step along -G, and the share beside it.
std::pair<double, double> fitted(const Matrix<double>& change, const Matrix<double>& G) {
  const double squares = G.squaredNorm();
  const double rate = squares > 0 ? -change.cwiseProduct(G).sum() / squares : 0;
  const double size = change.norm();
  return {rate, size > 0 ? (change + rate * G).norm() / size : 0};
}

std::shared_ptr<const LossTerm> term_of(const LossOfMemory& of, const Record& record) {
  const auto at = [of, record](const Matrix<double>& S) {
    Record moved = record;
    moved.set(of.base, S);
    return moved;
  };
  const auto value = [of, at](const Weights<double>& W) { return evaluate(of.loss, at(W[0]))(0, 0); };
  const auto slopes = [of, at](const Weights<double>& W) -> Weights<double> {
    return {gradient(of.loss, of.base, at(W[0]))};
  };
  const auto on_line = [value, slopes](const Weights<Jet>& W) {
    const auto each = [&](double Jet::*part) -> Matrix<double> {
      return W[0].unaryExpr([part](const Jet& x) { return x.*part; });
    };
    const Matrix<double> S = each(&Jet::value);
    const Matrix<double> along = each(&Jet::slope);
    const auto slope_at = [&](double e) { return dot(slopes({S + e * along}), {along}); };
    constexpr double step = 1e-5;
    return Jet(value({S}), slope_at(0), (slope_at(step) - slope_at(-step)) / (2 * step));
  };
  return std::make_shared<const LossTerm>(
      LossTerm{value, on_line, slopes, [](const Weights<double>&) { return std::nullopt; }});
}

/// How the update of a rule compares with one step down the loss that its text gives: S - rate grad L(S), S
/// the memory that the loss reads.
struct StepOnLoss {
  std::string rate = {};  // an input, a setting, a result or 1; empty: no name has its value
  double beside = 0;      // the share of the update's norm that is not along the gradient
};

/// Tried on random numbers.
StepOnLoss step_on_loss(const RuleText& rule, const LossOfMemory& of) {
  StepOnLoss found;
  const Record zeros = specimen(rule);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> between(0.2, 0.8);
  std::vector<std::string> names = {"1"};
  for (int draw = 0; draw < 3; ++draw) {
    Record record;
    for (const auto& [name, value] : zeros.tensors())
      record.set(name, value.unaryExpr([&](double) { return between(random); }));
    for (const Parameter& setting : rule.parameters)
      record.set(setting.name, record.at(setting.name).cwiseMax(setting.minimum).cwiseMin(setting.maximum));
    record.set(identity_of_keys, Matrix<double>::Identity(specimen_dk, specimen_dk));
    record.set(identity_of_values, Matrix<double>::Identity(specimen_dv, specimen_dv));
    for (const RuleLine& line : rule.lines)
      record.set(line.equation.result, evaluate(line.equation.expression, record));
    if (draw == 0)
      for (const auto& [name, value] : record.tensors())
        if (value.size() == 1) names.push_back(name);
    const Matrix<double> change = record.at(updated(rule, of.base)) - record.at(of.base);
    const auto [rate, beside] = fitted(change, gradient(of.loss, of.base, record));
    found.beside = std::max(found.beside, beside);
    std::erase_if(names, [&, rate = rate](const std::string& name) {
      const double value = name == "1" ? 1 : record.at(name)(0, 0);
      return !(std::abs(value - rate) <= rounding_share * std::abs(rate));
    });
  }
  if (!names.empty()) found.rate = names.front();
  return found;
}

}  // namespace

InnerLoss text_loss(const WrittenRule& rule) {
  const RuleText& text = rule.text;
  const LossOfMemory of(text);
  const StepOnLoss step = step_on_loss(text, of);
  const Symbols symbols = written_steps(text).symbols;
  const auto letters = [&](const std::string& name) { return latex(tensor(name), symbols); };
  InnerLoss loss;
  loss.latex = latex(text.loss->equation.expression, symbols);
  const bool is_step = step.beside <= rounding_share;
  if (is_step) {
    const std::string rate = step.rate == "1" || step.rate.empty() ? "" : letters(step.rate);
    loss.words = step.rate.empty()
                     ? "The update is a gradient step on the loss of the text, at a rate of its own."
                     : fmt::format(
                           "The update is one gradient step on the loss of the text, with "
                           "the rate {}.",
                           step.rate == "1" ? "1" : unicode(rate));
    loss.step = fmt::format("{} = {} - {}\\nabla\\mathcal L({})", letters(updated(text, of.base)),
                            letters(of.base), rate, letters(of.base));
  } else {
    loss.words = fmt::format(
        "The update is no gradient step on the loss of the text: of a random token's change, {:.0f} % lie "
        "beside the gradient.",
        100 * step.beside);
  }
  loss.problems = [&rule, of](const InnerContext& context) -> std::vector<InnerProblem> {
    const Record record = token_record(rule.text, context.sequence, context.token, context.before);
    const Matrix<double>& S = record.at(of.base);
    const auto [rate, beside] =
        fitted(record.at(updated(rule.text, of.base)) - S, gradient(of.loss, of.base, record));
    if (beside > rounding_share)
      throw Unsupported(
          fmt::format("token {}: {:.2g} % of the memory's change lie beside the gradient of the "
                      "text's loss, so it is no step on it",
                      context.token + 1, 100 * beside));
    return step_from(context, S, {{term_of(of, record)}}, rate);
  };
  return loss;
}

}  // namespace palimpsest
