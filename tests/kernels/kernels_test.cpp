#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "core/engines/row_engines.h"
#include "core/variants/variants.h"
#include "kernels/cuda/failed_run.h"
#include "kernels/cuda/matrices.h"
#include "kernels/cuda/row_kernels.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Every structure that both kernels compute. What else the plain one knows is compared as a whole in
/// engines_test.cpp.
std::vector<Structure> all_structures() {
  std::vector<Structure> structures;
  for (const Decay decay : {Decay::none, Decay::scalar, Decay::key})
    for (const Erase erase : {Erase::none, Erase::decayed})
      for (const bool beta : {false, true})
        structures.push_back({.decay = decay, .erase = erase, .beta = beta});
  return structures;
}

struct Size {
  Index tokens, heads, K, V;
};

enum class Kernel { rows, registers, decode };

/// An array [H, T, columns] with NaN before and after it.
template <class Scalar>
class GuardedRows {
 public:
  GuardedRows(const Size& size, Index columns)
      : size_(size),
        columns_(columns),
        values_(static_cast<std::size_t>(2 * margin + size.heads * size.tokens * columns),
                std::numeric_limits<Scalar>::quiet_NaN()),
        device_(values_.size()) {
    device_.upload(values_.data(), values_.size());
  }

  /// Every element from `draw`.
  void fill(const std::function<double()>& draw) {
    std::generate(values_.begin() + margin, values_.end() - margin,
                  [&] { return static_cast<Scalar>(draw()); });
    device_.upload(values_.data(), values_.size());
  }

  /// All rows of one head: [T, columns].
  Matrix<double> of_head(Index head) const {
    const Scalar* const first = values_.data() + margin + head * size_.tokens * columns_;
    return Eigen::Map<const Matrix<Scalar>>(first, size_.tokens, columns_).template cast<double>();
  }

  void download() { copy_numbers(values_.data(), device_.data(), values_.size(), cudaMemcpyDeviceToHost); }

  template <class Element>
  operator DeviceRows<Element>() {
    return {device_.data() + margin, columns_, size_.tokens * columns_};
  }

  /// How many elements are NaN that should not be, or the other way round.
  Index misplaced() const {
    const auto bad = std::count_if(values_.begin() + margin, values_.end() - margin,
                                   [](Scalar x) { return std::isnan(x); });
    const auto all = std::ranges::count_if(values_, [](Scalar x) { return std::isnan(x); });
    return bad + 2 * margin - (all - bad);
  }

 private:
  static constexpr Index margin = 32;

  Size size_;
  Index columns_;
  std::vector<Scalar> values_;
  DeviceArray<Scalar> device_;
};

/// Largest distance between kernel and CPU engine in f64 over all heads, relative to the largest element
/// expected.
template <class Scalar>
double worst_error(Kernel kernel, const Structure& structure, const Size& size) {
  const auto [T, H, K, V] = size;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;

  GuardedRows<Scalar> q(size, K), k(size, K), v(size, V), alpha(size, structure.decay == Decay::key ? K : 1),
      beta(size, 1), o(size, V);
  const double unit = 1 / std::sqrt(static_cast<double>(K));  // keys of length about 1
  q.fill([&] { return unit * normal(random); });
  k.fill([&] { return unit * normal(random); });
  v.fill([&] { return normal(random); });
  alpha.fill([&] { return uniform(random) < 0.05 ? 0.0 : 1 - 0.2 * uniform(random); });
  beta.fill([&] { return uniform(random); });

  const Size state_size = {.tokens = K, .heads = H, .K = K, .V = V};
  GuardedRows<Scalar> states(state_size, V);
  states.fill([&] { return normal(random); });
  std::vector<Matrix<double>> S;
  for (Index h = 0; h < H; ++h) S.push_back(states.of_head(h));

  using Given = DeviceRows<const Scalar>;
  const RowPrograms<Scalar> programs = {.heads = H,
                                        .T = T,
                                        .K = K,
                                        .V = V,
                                        .erase = structure.erase == Erase::decayed,
                                        .q = q,
                                        .k = k,
                                        .v = v,
                                        .alpha = structure.decay == Decay::none ? Given() : Given(alpha),
                                        .beta = structure.beta ? Given(beta) : Given(),
                                        .o = o,
                                        .state = DeviceRows<Scalar>(states).data,
                                        .R = T,
                                        .decays_by_channel = structure.decay == Decay::key,
                                        .a = k};
  if (kernel == Kernel::rows) recurrent_rows(programs);
  if (kernel == Kernel::registers) recurrent_in_registers(programs);
  if (kernel == Kernel::decode) {
    if (!can_decode(programs)) return 0;
    recurrent_decode(programs);
  }
  o.download();
  states.download();
  REQUIRE(o.misplaced() == 0);
  REQUIRE(states.misplaced() == 0);

  double difference = 0;
  double most = 0;
  const auto compare = [&](const Matrix<double>& got, const Matrix<double>& expected) {
    difference = std::max(difference, furthest_apart(got, expected));
    most = std::max(most, largest(expected));
  };
  for (Index h = 0; h < H; ++h) {
    const Program<double> program{.structure = structure,
                                  .q = q.of_head(h),
                                  .k = k.of_head(h),
                                  .v = v.of_head(h),
                                  .gate = alpha.of_head(h),
                                  .beta = beta.of_head(h)};
    Matrix<double>& expected = entry(S, h);
    compare(o.of_head(h), recurrent(program, expected));
    compare(states.of_head(h), expected);
  }
  return most == 0 ? difference : difference / most;
}

}  // namespace

TEST_CASE("every kernel writes all of its outputs, nothing else, and what the CPU writes") {
  if (!has_gpu()) return;
  const Size sizes[] = {{17, 6, 12, 7},   {65, 2, 33, 17},    {16, 2, 64, 64}, {15, 2, 101, 33},
                        {257, 1, 128, 5}, {31, 2, 256, 40},   {9, 1, 301, 6},  {5, 1, 896, 9},
                        {1, 1, 1, 1},     {0, 2, 8, 3},       {2, 6, 32, 16},  {33, 4, 64, 20},
                        {17, 1, 128, 16}, {19, 140, 101, 33},  // enough for two columns a lane on an H200
                        {1, 3, 128, 128}, {1, 2, 20, 12},     {8, 5, 128, 20}, {15, 1, 68, 36},
                        {16, 2, 256, 8},  {2, 3, 4, 132},     {3, 2, 6, 10}};
  for (const Kernel kernel : {Kernel::rows, Kernel::registers, Kernel::decode}) {
    for (const Structure& structure : all_structures()) {
      for (const Size& size : sizes) {
        if (kernel != Kernel::rows && size.K > most_register_channels(structure.decay == Decay::key))
          continue;
        INFO("kernel " << static_cast<int>(kernel) << " decay " << static_cast<int>(structure.decay)
                       << " erase " << static_cast<int>(structure.erase) << " beta " << structure.beta
                       << " T " << size.tokens << " H " << size.heads << " K " << size.K << " V " << size.V);
        CHECK(worst_error<double>(kernel, structure, size) < 1e-12);
        CHECK(worst_error<float>(kernel, structure, size) < 2e-5);
      }
    }
  }
}

TEST_CASE("a failing CUDA call names itself, its place and CUDA's reason") {
  CHECK_THROWS_WITH(CHECK_CUDA(cudaErrorMemoryAllocation),
                    says("kernels_test.cpp") && says("cudaErrorMemoryAllocation") && says("out of memory"));
}

TEST_CASE("memory that the device does not have is refused with what is free and what to do") {
  if (!has_gpu()) return;
  CHECK_THROWS_WITH(DeviceArray<double>(std::size_t{1} << 40),
                    says("has no 8796093.0 MB left") && says("use fewer tokens or heads"));
  CHECK(DeviceArray<double>(8).size() == 8);
}

TEST_CASE("a run that fails on the device is named with its sizes; what was asked for stays as it is") {
  const Variant& variant = find_variant("gla");
  Sequence head;
  head.tokens = 8192;
  head.dk = 128;
  head.dv = 64;
  const std::vector<Sequence> heads = {head, head};
  const auto failing = [&](auto error) {
    return cuda::naming(cuda::run_words(variant, heads, Form::chunkwise, Precision::bf16, 32),
                        [&]() -> int { throw error; });
  };
  CHECK_THROWS_WITH(failing(Error("a call failed")),
                    says("gla, chunkwise in bf16 on cuda, 2 heads of 8192 tokens, K 128, V 64 in "
                         "chunks of 32: a call failed"));
  CHECK_THROWS_AS(failing(Cancelled()), Cancelled);
  CHECK_THROWS_WITH(failing(Unsupported("there is none")), "there is none");
  CHECK(cuda::naming("a run", [] { return 3; }) == 3);
}

TEST_CASE("a step that fails on the device is named with the sizes too; other steps stay as they are") {
  class Failing : public Trace {
   public:
    Failing() {
      form = Form::chunkwise;
      tokens = 3;
    }
    Index block_count() const override { return 2; }
    Block block(Index index) const override { return {.first_token = index}; }
    Index block_of(Index token, Index) const override { return token; }
    const Record& record(Index) override { throw Error("a call failed"); }
    std::shared_ptr<const Record> shared_record(Index index, std::stop_token stop) const override {
      if (stop.stop_requested()) throw Cancelled();
      if (index == 1) throw Error("a call failed");
      return std::make_shared<const Record>();
    }
    NamedStates states(const Record&) const override { return {{"S", {}}}; }
    void prepare(std::stop_token) override { throw Error("a call failed"); }
  };
  const std::unique_ptr<Trace> steps = cuda::named_trace("a step of gla", std::make_unique<Failing>());
  const auto is_named = says("a step of gla: a call failed");
  CHECK_THROWS_WITH(steps->record(0), is_named);
  CHECK_THROWS_WITH(steps->shared_record(1), is_named);
  CHECK_THROWS_WITH(steps->prepare({}), is_named);
  CHECK_THROWS_AS(steps->shared_record(0, stopped()), Cancelled);
  CHECK(steps->shared_record(0));
  CHECK(steps->form == Form::chunkwise);
  CHECK(steps->tokens == 3);
  CHECK(steps->block(1).first_token == 1);
  CHECK(steps->block_of(1, 0) == 1);
  CHECK_FALSE(steps->output());
}

#endif
