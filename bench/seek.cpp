// The time to show any token of a very long sequence, and the cost of preparing it. Run it alone, since the
// peak of memory is that of the whole program:  palimpsest-bench --benchmark_filter=seek

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/contract/sequence.h"
#include "core/contract/variant.h"
#include "core/rules/rule.h"
#include "core/variants/variants.h"

namespace {

using namespace palimpsest;

constexpr Index tokens = 1'000'000;
constexpr Index channels = 64;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The peak of the program's memory so far, in MB.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024 / 1e6;
  }
  return 0;
}

/// `columns` numbers for every token; with `unit`, of norm 1.
Array numbers(std::mt19937& bits, Index columns, float least, float most, bool unit = false) {
  std::uniform_real_distribution<float> uniform(least, most);
  std::vector<float> values(static_cast<std::size_t>(tokens * columns));
  for (float& value : values) value = uniform(bits);
  if (unit) {
    Eigen::Map<Matrix<float>> rows(values.data(), tokens, columns);
    rows.rowwise().normalize();
  }
  if (columns == 1) return {{tokens}, std::move(values)};
  return {{tokens, columns}, std::move(values)};
}

/// Gated DeltaNet of one head, held as f32.
Sequence long_sequence(const Variant& variant) {
  std::mt19937 bits(1);
  Arrays arrays;
  arrays["q"] = numbers(bits, channels, -0.2F, 0.2F);
  arrays["k"] = numbers(bits, channels, -1, 1, true);
  arrays["v"] = numbers(bits, channels, -1, 1);
  arrays["alpha"] = numbers(bits, 1, 0.97F, 1);
  arrays["beta"] = numbers(bits, 1, 0, 1);
  return bind(variant, std::make_shared<const Arrays>(std::move(arrays)), {}).heads.front();
}

/// `budget`: MiB of states that the trace keeps. The window allows itself 96.
void seek(benchmark::State& state, Form form, Precision precision, std::size_t budget) {
  const Variant& variant = find_variant("gated_deltanet");
  const Sequence sequence = long_sequence(variant);
  state.counters["sequence_MB"] = peak_memory();
  const Clock::time_point start = Clock::now();
  const std::unique_ptr<Trace> trace = variant.rule->trace(sequence, form, precision, 64, budget << 20);
  trace->prepare({});
  state.counters["prepare_s"] = seconds_since(start);

  std::mt19937 bits(2);
  std::uniform_int_distribution<Index> any_token(0, tokens - 1);
  std::vector<double> milliseconds;
  double drawn = 0;
  for (auto _ : state) {
    const Index block = trace->block_of(any_token(bits), 0);
    const Clock::time_point asked = Clock::now();
    const Record& record = trace->record(block);
    milliseconds.push_back(1e3 * seconds_since(asked));
    drawn += record.at(form == Form::recurrent ? "S_after" : "S_out").sum();
  }
  if (!std::isfinite(drawn)) state.SkipWithError("the state is not finite");
  std::ranges::sort(milliseconds);
  state.counters["median_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["worst_ms"] = milliseconds.back();
  state.counters["peak_MB"] = peak_memory();
}

#define PALIMPSEST_SEEK(name, form, precision, budget) \
  BENCHMARK_CAPTURE(seek, name, form, precision, budget)->Iterations(100)->Unit(benchmark::kMillisecond)
PALIMPSEST_SEEK(recurrent_f64, Form::recurrent, Precision::f64, 96);
PALIMPSEST_SEEK(recurrent_f32, Form::recurrent, Precision::f32, 96);
PALIMPSEST_SEEK(chunkwise_f64, Form::chunkwise, Precision::f64, 96);
PALIMPSEST_SEEK(recurrent_f64_128_MiB, Form::recurrent, Precision::f64, 128);

}  // namespace
