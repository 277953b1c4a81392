// What panels wait for: a window of effective attention, and the writers of the entry under the pointer.

#include <benchmark/benchmark.h>

#include "core/cases/random_case.h"
#include "core/insight/provenance.h"
#include "core/rules/effective_attention.h"
#include "core/variants/variants.h"

using namespace palimpsest;

namespace {

constexpr Index tokens = 4096;
constexpr Index d = 128;

/// One random head of a variant with its first options.
Sequence sequence_of(const Variant& variant) {
  const Settings settings = random_settings(variant, resolve(variant, {}), 1);
  const auto arrays = std::make_shared<const Arrays>(
      random_arrays(variant, settings, {.tokens = tokens, .dk = d, .dv = d, .initial_state = true}));
  return bind(variant, arrays, settings).heads.front();
}

/// The last rows over a square of columns `back` tokens before them.
void effective_attention_window(benchmark::State& state, const char* id, Index rows, Index back,
                                bool initial) {
  const Variant& variant = find_variant(id);
  const Sequence sequence = sequence_of(variant);
  const AttentionWindow window{.first_row = tokens - rows,
                               .rows = rows,
                               .first_column = tokens - rows - back,
                               .columns = rows,
                               .initial = initial};
  for (auto _ : state) benchmark::DoNotOptimize(variant.rule->effective_attention(sequence, window));
}

void provenance_of_last(benchmark::State& state, const char* id) {
  const Variant& variant = find_variant(id);
  const Sequence sequence = sequence_of(variant);
  const StateEntry entry{.tokens = tokens, .row = 3, .column = 5};
  for (auto _ : state) benchmark::DoNotOptimize(provenance(*variant.rule, sequence, entry));
}

void history_of_first(benchmark::State& state, const char* id) {
  const Variant& variant = find_variant(id);
  const Sequence sequence = sequence_of(variant);
  const StateEntry entry{.tokens = tokens, .row = 3, .column = 5};
  for (auto _ : state) benchmark::DoNotOptimize(history(*variant.rule, sequence, entry, 0));
}

BENCHMARK_CAPTURE(effective_attention_window, gated_deltanet_diagonal, "gated_deltanet", 64, 0, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, gated_deltanet_far, "gated_deltanet", 64, 4032, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, kda_far, "kda", 64, 4032, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, kernel, "kernel", 64, 0, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, titans_far, "titans", 64, 4032, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, softmax, "softmax", 64, 0, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, mesanet, "mesanet", 64, 0, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, gated_deltanet_one_row, "gated_deltanet", 1, 4095, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(effective_attention_window, gated_deltanet_whole, "gated_deltanet", 4096, 0, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(provenance_of_last, gated_deltanet, "gated_deltanet")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(provenance_of_last, kda, "kda")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(provenance_of_last, titans, "titans")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(provenance_of_last, rwkv7, "rwkv7")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(history_of_first, gated_deltanet, "gated_deltanet")->Unit(benchmark::kMillisecond);

}  // namespace
