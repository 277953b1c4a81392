#include "core/proof/fragile_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/contract/sequence.h"
#include "core/proof/reference_run.h"
#include "core/rules/rule.h"
#include "core/steps/interpreted.h"

namespace palimpsest {

namespace {

constexpr double beyond_the_range = 900;  // -log of a decay: its inverse is beyond 10^308
constexpr double within_the_range = 30;
constexpr double key_noise = 0.3;  // of the part of a key that is its own
constexpr double least_gate = 1e-6;

Array array_of(const Array& like, const std::function<double(Index)>& at) {
  std::vector<double> values(static_cast<std::size_t>(like.size()));
  for (Index i = 0; i < like.size(); ++i) values[static_cast<std::size_t>(i)] = at(i);
  return {like.shape, std::move(values)};
}

/// The names under which `arrays` holds decays of tokens.
std::vector<std::string> decays_in(const Variant& variant, const Arrays& arrays) {
  std::vector<std::string> names;
  for (const Input& input : variant.inputs) {
    if (input.range != Range::decay || !has_tokens(input)) continue;
    for (const std::string& name : {input.name, std::string("g")})
      if (arrays.contains(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

/// The array with the logarithms of its decays changed.
Array with_log_decays(const Array& decays, bool are_logs,
                      const std::function<double(Index, double)>& change) {
  return array_of(decays, [&](Index i) {
    const double log_decay = change(i, are_logs ? decays[i] : std::log(decays[i]));
    return are_logs ? log_decay : std::exp(log_decay);
  });
}

/// The same decay at every token, so that so many tokens keep just exp(-sum).
Array with_even_decays(const Array& decays, bool are_logs, Index together, double sum) {
  const double each = -sum / static_cast<double>(std::max<Index>(together, 1));
  return with_log_decays(decays, are_logs, [=](Index, double) { return each; });
}

/// The logarithms of the decays divided where a block would keep less than exp(-most).
Array with_gentle_decays(const Array& decays, bool are_logs, Index block, double most) {
  const Index tokens = decays.shape.empty() ? 0 : decays.shape.front();
  const Index channels = tokens > 0 ? decays.size() / tokens : 0;
  std::vector<double> largest(static_cast<std::size_t>(channels), 0.0);  // sum over a block
  for (Index channel = 0; channel < channels; ++channel) {
    for (Index first = 0; first < tokens; first += block) {
      double sum = 0;
      for (Index t = first; t < std::min(first + block, tokens); ++t) {
        const double decay = decays[t * channels + channel];
        sum -= std::max(are_logs ? decay : std::log(decay), std::log(least_gate));
      }
      double& most_of_channel = largest[static_cast<std::size_t>(channel)];
      most_of_channel = std::max(most_of_channel, sum);
    }
  }
  return with_log_decays(decays, are_logs, [&](Index i, double log_decay) {
    const double of_channel = largest[static_cast<std::size_t>(i % channels)];
    return std::max(log_decay, std::log(least_gate)) * (most / std::max(of_channel, most));
  });
}

/// One gate of exactly 0 in the middle of the first block, or none.
Array with_reset(const Array& decays, bool are_logs, Index block, bool resets) {
  const Index tokens = decays.shape.empty() ? 0 : decays.shape.front();
  const Index channels = tokens > 0 ? decays.size() / tokens : 1;
  const Index at = std::min(block, tokens) / 2;
  return with_log_decays(decays, are_logs, [&](Index i, double log_decay) {
    if (resets && i / channels == at) return -std::numeric_limits<double>::infinity();
    return std::max(log_decay, std::log(least_gate));
  });
}

/// Unit keys around one direction.
Array alike(const Array& keys) {
  const Index tokens = keys.shape.empty() ? 0 : keys.shape.front();
  const Index channels = tokens > 0 ? keys.size() / tokens : 1;
  std::vector<double> values;
  for (Index t = 0; t < tokens; ++t) {
    Vector<double> key(channels);
    for (Index c = 0; c < channels; ++c) key(c) = keys[t * channels + c];
    const double length = key.norm();
    if (length > 0) key *= key_noise / length;
    key.array() += 1 / std::sqrt(static_cast<double>(channels));
    key.normalize();
    values.insert(values.end(), key.begin(), key.end());
  }
  return {keys.shape, std::move(values)};
}

void make_alike(const Variant& variant, Arrays& arrays) {
  arrays.at("k") = alike(arrays.at("k"));
  if (arrays.contains("beta")) arrays.at("beta") = array_of(arrays.at("beta"), [](Index) { return 1.0; });
  for (const std::string& name : decays_in(variant, arrays)) {
    const double kept = name == "g" ? 0 : 1;
    arrays.at(name) = array_of(arrays.at(name), [=](Index) { return kept; });
  }
}

void note_broken(const Phase& phase, const Block& block, const Record& record,
                 std::vector<NotFiniteNumber>& broken) {
  for (const Operation& operation : phase.operations) {
    const std::string& name = operation.equation.result;
    if (std::ranges::find(broken, name, &NotFiniteNumber::tensor) != broken.end()) continue;
    const Matrix<double>& value = record.at(name);
    for (Index flat = 0; flat < value.size(); ++flat) {
      const Index row = flat / value.cols();
      const Index column = flat % value.cols();
      // Logarithms of 0 and masked scores are infinite on purpose: what comes of them may not be.
      const double number = value(row, column);
      if (std::isfinite(number) || (std::isinf(number) && number < 0)) continue;
      const bool by_token = value.rows() == block.count;
      broken.push_back({name, operation.title, block.first_token + (by_token ? row : block.count - 1), row,
                        column, number});
      break;
    }
  }
}

}  // namespace

FragileData fragile_data(const FragileForm& fragile, const Variant& variant, const Arrays& arrays,
                         Index block, bool breaks) {
  FragileData data{.arrays = arrays, .words = {}};
  const std::vector<std::string> decays = decays_in(variant, arrays);
  const std::string& id = fragile.way.id;
  if (id == "doubled-inverse") {
    if (!breaks) return data;
    make_alike(variant, data.arrays);
    data.words = "keys of length 1 around one direction, beta 1, nothing fades";
  } else if (id == "divided-decays" || id == "late-mask") {
    const Index tokens =
        arrays.contains("k") && !arrays.at("k").shape.empty() ? arrays.at("k").shape.front() : block;
    const Index together = std::min(block, tokens);
    for (const std::string& name : decays) {
      const Array& given = arrays.at(name);
      data.arrays.at(name) = breaks ? with_even_decays(given, name == "g", together, beyond_the_range)
                                    : with_gentle_decays(given, name == "g", block, within_the_range);
    }
    data.words = breaks ? fmt::format("every gate is {:.1e}, so that {} tokens keep exp(−{:.0f})",
                                      std::exp(-beyond_the_range / static_cast<double>(together)), together,
                                      beyond_the_range)
                        : fmt::format("no block keeps less than exp(−{:.0f})", within_the_range);
  } else if (id == "log-differences") {
    for (const std::string& name : decays)
      data.arrays.at(name) = with_reset(arrays.at(name), name == "g", block, breaks);
    data.words = breaks ? fmt::format("the gate of token {} is exactly 0",
                                      arrays.contains("k") && !arrays.at("k").shape.empty()
                                          ? std::min(block, arrays.at("k").shape.front()) / 2
                                          : 0)
                        : "no gate is 0";
  }
  return data;
}

std::optional<FragileRun> run_fragile(const FragileForm& fragile, const Variant& variant,
                                      const Sequence& sequence, Form form, Index chunk_size,
                                      std::stop_token stop) {
  const auto trace = variant.rule->trace(sequence, form, Precision::f64, chunk_size);
  const std::optional<Equations> edited = with_fault(fragile.way, {trace->phases, trace->symbols});
  if (!edited) return std::nullopt;
  FragileRun run;
  run.symbols = edited->symbols;
  const auto visit = [&](Index index, const Record& record) {
    const Block block = trace->block(index);
    note_broken(edited->phases[static_cast<std::size_t>(block.phase)], block, record, run.broken);
  };
  const Output expected = reference(variant, sequence, stop);
  const Output output = interpret(*trace, edited->phases, {.visit = visit, .stop = stop});
  const Output right = variant.rule->run(sequence, form, Precision::f64, chunk_size, stop);
  run.errors = errors_by_row("o", output.o, expected.o);
  run.worst = compare(output, expected);
  run.right_errors = errors_by_row("o", right.o, expected.o);
  run.right_worst = compare(right, expected);
  for (std::size_t phase = 0; phase < trace->phases.size() && !run.change; ++phase) {
    const Phase& is = edited->phases[phase];
    const std::string id = changed_operation(trace->phases[phase], is, "");
    if (!id.empty()) run.change = formula_change(trace->phases[phase], is, id);
  }
  return run;
}

}  // namespace palimpsest
