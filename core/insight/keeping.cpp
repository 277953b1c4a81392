#include "core/insight/keeping.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/contract/sequence.h"

namespace palimpsest {

namespace {

/// Fills the shares of rows [T, channels] of logarithms.
void fill(Keeping& keeping, const Matrix<double>& logs) {
  keeping.mean = logs.rowwise().mean().array().exp();
  keeping.least = logs.rowwise().minCoeff().array().exp();
  keeping.most = logs.rowwise().maxCoeff().array().exp();
}

std::optional<Keeping> keeping_of(const Sequence& sequence, std::optional<Index> channel) {
  for (const char* name : {"alpha", "gamma", "forget"}) {
    if (!sequence.has(name) || sequence.at(name).rows() != sequence.tokens || sequence.tokens == 0) continue;
    Keeping found{.array = name, .forgets = std::string_view(name) == "forget"};
    Matrix<double> gate = sequence.at(name).all<double>();
    found.channels = gate.cols();
    if (channel) {
      if (*channel < 0 || *channel >= gate.cols())
        throw InputError(fmt::format("channel {} of {}; expected one of {}", *channel, name, gate.cols()));
      gate = gate.col(*channel).eval();
    }
    const bool are_logs = found.array == "alpha" && sequence.gates_are_logs;
    if (found.forgets) gate = (1 - gate.array()).matrix();
    fill(found, are_logs ? gate : gate.array().log().matrix());
    return found;
  }
  const auto gamma = sequence.settings.parameters.find("gamma");
  if (gamma == sequence.settings.parameters.end() || sequence.tokens == 0) return std::nullopt;
  Keeping found;
  fill(found, Matrix<double>::Constant(sequence.tokens, 1, std::log(gamma->second)));
  return found;
}

}  // namespace

std::optional<Keeping> keeping(const Sequence& sequence) { return keeping_of(sequence, std::nullopt); }

std::optional<Keeping> keeping_of_channel(const Sequence& sequence, Index channel) {
  return keeping_of(sequence, channel);
}

}  // namespace palimpsest
