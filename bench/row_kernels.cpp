// The recurrent and the chunkwise form in f32 on the processor: the kernel on strided views of [B, T, H, D],
// the clear recurrent engine on the same rows, and whole runs with each, which read arrays and write outputs
// in f64.

#include <benchmark/benchmark.h>

#include <list>

#include "core/cases/random_case.h"
#include "core/engines/row_engines.h"
#include "core/rules/backend.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"
#include "kernels/cpu/chunk_rows.h"
#include "kernels/device.h"

using namespace palimpsest;

namespace {

constexpr Index heads = 4;

/// The same random head several times, as arrays [T, H, D] of the program's rows and as programs.
class Heads {
 public:
  Heads(const char* id, Index tokens, Index d) : variant_(find_variant(id)) {
    const Settings settings = random_settings(variant_, resolve(variant_, {}), 1);
    const RandomCase random = {.tokens = tokens, .dk = d, .dv = d, .initial_state = true};
    const Arrays head = random_arrays(variant_, settings, random);
    const auto all =
        std::make_shared<const Arrays>(repeated_heads(variant_, settings, head, 1, heads, Precision::f32));
    batch_ = bind(variant_, all, settings);
    program_ = variant_.rule->row_program()->encode<float>(batch_.heads.front(), 0, tokens);
    S_ = Matrix<float>::Zero(program_.k.cols(), program_.v.cols());
  }

  const Variant& variant() const { return variant_; }
  const std::vector<Sequence>& sequences() const { return batch_.heads; }
  const Program<float>& program() const { return program_; }
  Matrix<float>& S() { return S_; }

  /// All heads; their arrays must outlive them, as must `o` and `S`.
  std::vector<cpu::HeadRows> views() {
    std::vector<cpu::HeadRows> all(heads, {.structure = program_.structure,
                                           .rows = program_.rows(),
                                           .reads = program_.reads(),
                                           .K = program_.k.cols(),
                                           .V = program_.v.cols()});
    const auto spread = [&](const Matrix<float>& rows, auto member) {
      if (rows.size() == 0) return;
      float* const data = keep(rows.replicate(1, heads));
      for (Index h = 0; h < heads; ++h) entry(all, h).*member = {data + h * rows.cols(), heads * rows.cols()};
    };
    spread(program_.q, &cpu::HeadRows::q);
    spread(program_.k, &cpu::HeadRows::k);
    spread(program_.v, &cpu::HeadRows::v);
    spread(program_.a, &cpu::HeadRows::a);
    spread(program_.gate, &cpu::HeadRows::gate);
    spread(program_.beta, &cpu::HeadRows::beta);
    spread(program_.k_plain, &cpu::HeadRows::k_plain);
    spread(program_.v_plain, &cpu::HeadRows::v_plain);
    const Index V = program_.v.cols();
    float* const o = keep(Matrix<float>::Zero(program_.reads(), heads * V));
    float* const S = keep(Matrix<float>::Zero(heads * program_.k.cols(), V));
    for (Index h = 0; h < heads; ++h) {
      entry(all, h).o = o + h * V;
      entry(all, h).o_stride = heads * V;
      entry(all, h).S = S + h * program_.k.cols() * V;
    }
    return all;
  }

 private:
  float* keep(Matrix<float> matrix) { return kept_.emplace_back(std::move(matrix)).data(); }

  const Variant& variant_;
  SequenceBatch batch_;
  Program<float> program_;
  Matrix<float> S_;
  std::list<Matrix<float>> kept_;  // Eigen aligns them to the widest vectors
};

void count_tokens(benchmark::State& state) {
  state.counters["token_heads/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * state.range(0) * heads), benchmark::Counter::kIsRate);
}

struct Way {
  std::string words;
  Form form;
  Index chunk_size = 64;
};

void kernel(benchmark::State& state, const char* id, const Way& way, unsigned threads) {
  Heads of(id, state.range(0), state.range(1));
  const std::vector<cpu::HeadRows> views = of.views();
  for (auto _ : state) {
    if (way.form == Form::chunkwise)
      cpu::chunk_rows(views, way.chunk_size, threads);
    else
      cpu::recurrent_rows(views, threads);
  }
  count_tokens(state);
}

void clear_engine(benchmark::State& state, const char* id) {
  Heads of(id, state.range(0), state.range(1));
  for (auto _ : state) {
    for (Index h = 0; h < heads; ++h) benchmark::DoNotOptimize(recurrent(of.program(), of.S()));
  }
  count_tokens(state);
}

void whole_run(benchmark::State& state, const char* id, const Way& way, const Backend& backend) {
  const Heads of(id, state.range(0), state.range(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        backend.run_heads(of.variant(), of.sequences(), way.form, Precision::f32, way.chunk_size));
  }
  count_tokens(state);
}

const int registered = [] {
  const auto at_every_size = [](benchmark::internal::Benchmark* of) {
    of->ArgsProduct({{512, 4096}, {64, 128}})
        ->ArgNames({"T", "D"})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  const auto add_all = [&](const char* id, const Way& way) {
    const auto add = [&](const std::string& name, auto run) {
      at_every_size(benchmark::RegisterBenchmark((name + "/" + id + ", " + way.words).c_str(), run));
    };
    add("kernel, 1 thread", [=](benchmark::State& state) { kernel(state, id, way, 1); });
    add("kernel, 2 threads", [=](benchmark::State& state) { kernel(state, id, way, 2); });
    if (way.form == Form::recurrent)
      add("clear engine, 1 thread", [=](benchmark::State& state) { clear_engine(state, id); });
    add("run, fast", [=](benchmark::State& state) { whole_run(state, id, way, fast_cpu_backend()); });
    add("run, clear", [=](benchmark::State& state) { whole_run(state, id, way, cpu_backend()); });
  };
  for (const char* const id : {"linear", "scalar_decay", "gla", "deltanet", "gated_deltanet", "kda", "rwkv7"})
    add_all(id, {"recurrent", Form::recurrent});
  for (const char* const id : {"linear", "scalar_decay", "deltanet", "gated_deltanet"}) {
    add_all(id, {"chunkwise 16", Form::chunkwise, 16});
    add_all(id, {"chunkwise 64", Form::chunkwise, 64});
  }
  return 0;
}();

}  // namespace
