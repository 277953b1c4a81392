#include "core/proof/faults.h"

#include <fmt/format.h>

namespace palimpsest {

namespace {

/// G, the running sums of the logarithms of the decays, as a step of its own.
const Expression G = tensor("G_log");

void add_log_sums(EquationEditor& equations, const Expression& decays) {
  equations.insert({"log_sums", Purpose::fade_in, "Sums of logarithms",
                    "The logarithm of the decay since the start.", G.name(), call("log_sums", {decays})},
                   {"G", Role::gate, "running sums of log decays"});
}

/// The decays between two tokens from differences of G: `way` ends the names of the functions.
std::function<void(EquationEditor&)> from_log_sums(const std::string& way) {
  return [way](EquationEditor& equations) {
    std::optional<Expression> decays;
    equations.replace({}, [&](const Expression& x) -> std::optional<Expression> {
      if (!is_call(x, "decay_mask") && !is_call(x, "decay_scores")) return std::nullopt;
      std::vector<Expression> arguments(x.arguments().begin(), x.arguments().end());
      decays = arguments.back();
      arguments.back() = G;
      return call(x.name() + way, arguments);
    });
    if (decays) add_log_sums(equations, *decays);
  };
}

/// exp(G) on the side that reads, exp(-G) on the side that was written, as a step of its own for each of
/// these sides.
void divide_by_decays(EquationEditor& equations) {
  const Expression inverse = call("exp", {call("negative", {G})});
  std::optional<Expression> decays;
  std::vector<Expression> divided;
  const auto place = [](std::size_t index) {
    return "divided" + (index == 0 ? "" : std::to_string(index + 1));
  };
  equations.replace({}, [&](const Expression& x) -> std::optional<Expression> {
    const bool is_mask = is_call(x, "decay_mask");
    if (!is_mask && !is_call(x, "decay_scores")) return std::nullopt;
    decays = x.arguments().back();
    const Expression written = is_mask ? inverse : hadamard(x.arguments()[1], inverse);
    const auto known = std::ranges::find_if(divided, [&](const Expression& y) { return y == written; });
    const auto index = static_cast<std::size_t>(known - divided.begin());
    if (known == divided.end()) divided.push_back(written);
    const Expression grown = call("exp", {G});
    const Expression read = is_mask ? grown : hadamard(x.arguments()[0], grown);
    return call("lower", {read * transpose(tensor(place(index)))});
  });
  for (std::size_t i = 0; i < divided.size(); ++i) {
    equations.insert(
        {place(i), Purpose::prepare, "Divided by the decay",
         "Each write divided by its decay since the start; the decay of the query multiplies it back.",
         place(i), divided[i]},
        {fmt::format("D_{{{}}}", i + 1), Role::key, "written, divided by its decay"});
  }
  if (decays) add_log_sums(equations, *decays);
}

constexpr double beyond_the_range = 900;  // -log of a decay: its inverse is beyond 10^308
constexpr double within_the_range = 30;
constexpr double key_noise = 0.3;  // of the part of a key that is its own
constexpr double least_gate = 1e-6;

/// The names under which `arrays` holds decays of tokens.
std::vector<std::string> decays_in(const Variant& variant, const Arrays& arrays) {
  std::vector<std::string> names;
  for (const Input& input : variant.inputs) {
    if (input.range != Range::decay || !has_tokens(input)) continue;
    for (const std::string& name : {input.name, std::string("g")})
      if (arrays.contains(name) && !is_among(name, names)) names.push_back(name);
  }
  return names;
}

Array with_log_decays(const Array& decays, bool are_logs,
                      const std::function<double(Index, double)>& change) {
  Index i = 0;
  return mapped<double>(decays, [&](double decay) {
    const double log_decay = change(i++, are_logs ? decay : std::log(decay));
    return are_logs ? log_decay : std::exp(log_decay);
  });
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
      double& most_of_channel = entry(largest, channel);
      most_of_channel = std::max(most_of_channel, sum);
    }
  }
  return with_log_decays(decays, are_logs, [&](Index i, double log_decay) {
    const double of_channel = entry(largest, i % channels);
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
  if (arrays.contains("beta"))
    arrays.at("beta") = mapped<double>(arrays.at("beta"), [](double) { return 1.0; });
  for (const std::string& name : decays_in(variant, arrays)) {
    const double kept = name == "g" ? 0 : 1;
    arrays.at(name) = mapped<double>(arrays.at(name), [=](double) { return kept; });
  }
}

void note_broken(const Phase& phase, const Block& block, const Record& record,
                 std::vector<NotFiniteNumber>& broken) {
  for (const Operation& operation : phase.operations) {
    const std::string& name = operation.equation.result;
    if (is_among(name, broken, &NotFiniteNumber::tensor)) continue;
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

std::span<const FragileForm> fragile_forms() {
  const std::string fading = "scores with decay, read after the token's own decay";
  static const std::vector<FragileForm> table = {
      {{"divided-decays", "Keys divided by their decay",
        "Queries are multiplied by the decay since the start of the block; keys are divided by it: k "
        "exp(−G). One matrix product, exact in algebra.",
        fading, divide_by_decays},
       "In a block, −G (the sum of −log alpha) exceeds 709. Then exp(−G) is infinite and exp(G) is 0; their "
       "product is NaN. With keys kept in f32 or bf16 it happens at 88, in f16 at 11."},
      {{"late-mask", "Exponential before the mask",
        "exp(G_i − G_j) is computed for all pairs; those with later keys are multiplied by 0. For them the "
        "difference is positive and grows.",
        fading, from_log_sums("_late")},
       "The decay over a block is below exp(−709) in f64: a masked pair becomes infinite, and 0 times "
       "infinity is NaN."},
      {{"log-differences", "Differences of running log sums",
        "The decay between two tokens is exp of the difference of two sums of logarithms from the start.",
        fading, from_log_sums("_differences")},
       "A gate is exactly 0: both sums are −infinity after it, and their difference is NaN. After a "
       "strong gate the sums are large, and small differences lose their digits."},
      {{"doubled-inverse", "Inverse by doubling",
        "(I + N)⁻¹ as (I − N)(I + N²)(I + N⁴)…: matrix products instead of a solve row by row.",
        "a triangular system", replacing({}, renamed("solve_unit_lower", "solve_by_doubling"))},
       "Keys of a block resemble each other and beta is near 1: the powers of N grow to 10¹⁶ and more. They "
       "cancel, and no digit of the result is left."},
      {find_fault("multiplicative-mask"),
       "Always, for every token but the last: exp(0) = 1, so every later token keeps a weight.", true},
  };
  return table;
}

const FragileForm& find_fragile_form(std::string_view id) {
  const auto id_of = [](const FragileForm& form) { return form.way.id; };
  return find_row(fragile_forms(), id, id_of, fmt::format("there is no fragile form \"{}\"; known are", id));
}

FragileData fragile_data(const FragileForm& fragile, const Variant& variant, const Arrays& arrays,
                         Index block, bool breaks) {
  FragileData data{.arrays = arrays, .words = {}};
  const std::vector<std::string> decays = decays_in(variant, arrays);
  const std::string& id = fragile.way.id;
  if (id == "doubled-inverse") {
    if (!breaks) return data;
    make_alike(variant, data.arrays);
    data.words = "keys of norm 1 around one direction, beta 1, no decay";
  } else if (id == "divided-decays" || id == "late-mask") {
    const Index tokens =
        arrays.contains("k") && !arrays.at("k").shape.empty() ? arrays.at("k").shape.front() : block;
    const Index together = std::min(block, tokens);
    const double each = -beyond_the_range / static_cast<double>(std::max<Index>(together, 1));
    for (const std::string& name : decays) {
      const Array& given = arrays.at(name);
      const bool are_logs = name == "g";
      data.arrays.at(name) = breaks ? with_log_decays(given, are_logs, [=](Index, double) { return each; })
                                    : with_gentle_decays(given, are_logs, block, within_the_range);
    }
    data.words = breaks ? fmt::format("every gate is {:.1e}: the decay over {} tokens is exp(−{:.0f})",
                                      std::exp(-beyond_the_range / static_cast<double>(together)), together,
                                      beyond_the_range)
                        : fmt::format("the decay over a block is at least exp(−{:.0f})", within_the_range);
  } else if (id == "log-differences") {
    for (const std::string& name : decays)
      data.arrays.at(name) = with_reset(arrays.at(name), name == "g", block, breaks);
    data.words = breaks ? fmt::format("the gate of token {} is exactly 0",
                                      arrays.contains("k") && !arrays.at("k").shape.empty()
                                          ? std::min(block, arrays.at("k").shape.front()) / 2 + 1
                                          : 1)
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
    note_broken(entry(edited->phases, block.phase), block, record, run.broken);
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
