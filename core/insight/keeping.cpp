#include "core/insight/keeping.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/contract/sequence.h"

namespace palimpsest {

namespace {

/// What makes the rule forget: the logarithm of what every token keeps.
struct Gate {
  std::string array = {};  // as in Keeping
  bool forgets = false;
  Matrix<double> logs = {};  // [T, channels]
};

std::optional<Gate> gate_of(const Sequence& sequence) {
  for (const char* name : {"alpha", "gamma", "forget", "mu"}) {
    if (!sequence.has(name) || sequence.at(name).rows() != sequence.tokens || sequence.tokens == 0) continue;
    Gate gate{.array = name, .forgets = std::string_view(name) == "forget"};
    gate.logs = sequence.at(name).all<double>();
    const bool are_logs = gate.array == "alpha" && sequence.gates_are_logs;
    if (gate.forgets) gate.logs = (1 - gate.logs.array()).matrix();
    if (!are_logs) gate.logs = gate.logs.array().log().matrix();
    return gate;
  }
  if (sequence.tokens == 0) return std::nullopt;
  const auto& parameters = sequence.settings.parameters;
  if (const auto gamma = parameters.find("gamma"); gamma != parameters.end())
    return Gate{.logs = Matrix<double>::Constant(sequence.tokens, 1, std::log(gamma->second))};
  if (const auto slope = parameters.find("slope"); slope != parameters.end())
    return Gate{.logs = Matrix<double>::Constant(sequence.tokens, 1, -slope->second)};
  return std::nullopt;
}

Keeping keeping_of(const Gate& gate, Index channels) {
  return {.array = gate.array,
          .forgets = gate.forgets,
          .channels = channels,
          .mean = gate.logs.rowwise().mean().array().exp(),
          .least = gate.logs.rowwise().minCoeff().array().exp(),
          .most = gate.logs.rowwise().maxCoeff().array().exp()};
}

}  // namespace

std::optional<Keeping> keeping(const Sequence& sequence) {
  const std::optional<Gate> gate = gate_of(sequence);
  if (!gate) return std::nullopt;
  return keeping_of(*gate, gate->logs.cols());
}

std::optional<Keeping> keeping_of_channel(const Sequence& sequence, Index channel) {
  std::optional<Gate> gate = gate_of(sequence);
  if (!gate) return std::nullopt;
  const Index channels = gate->logs.cols();
  if (gate->array.empty()) return keeping_of(*gate, channels);  // a parameter, the same everywhere
  if (channel < 0 || channel >= channels)
    throw InputError(fmt::format("channel {} of {}; expected one of {}", channel, gate->array, channels));
  gate->logs = gate->logs.col(channel).eval();
  return keeping_of(*gate, channels);
}

std::optional<KeptBetween> kept_between(const Sequence& sequence, Index first, Index last) {
  if (first < 0 || last < first || last >= sequence.tokens) {
    throw InputError(
        fmt::format("tokens {} to {}; expected two of the {}, in their order", first, last, sequence.tokens));
  }
  const std::optional<Gate> gate = gate_of(sequence);
  if (!gate) return std::nullopt;
  const Vector<double> logs = gate->logs.middleRows(first + 1, last - first).colwise().sum().transpose();
  return KeptBetween{.channels = gate->logs.cols(),
                     .least = std::exp(logs.minCoeff()),
                     .mean = std::exp(logs.mean()),
                     .most = std::exp(logs.maxCoeff())};
}

}  // namespace palimpsest
