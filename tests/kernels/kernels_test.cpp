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

namespace {

/// Every structure that both kernels compute. What else the plain one knows is compared as a whole in
/// engines_test.cpp.
std::vector<Structure> all_structures() {
  std::vector<Structure> structures;
  for (const Decay decay : {Decay::none, Decay::scalar})
    for (const Erase erase : {Erase::none, Erase::decayed})
      for (const bool beta : {false, true})
        structures.push_back({.decay = decay, .erase = erase, .beta = beta});
  return structures;
}

struct Size {
  Index batches, tokens, heads, K, V;
  Index gap = 3;  // unused columns after every row; odd: no row is aligned
};

/// An array [B, T, H, columns] with NaN before, after and between its rows.
template <class Scalar>
class GuardedRows {
 public:
  GuardedRows(const Size& size, Index columns)
      : size_(size),
        columns_(columns),
        margin_(32 + size.gap),
        values_(static_cast<std::size_t>(offset(size.batches, 0, 0) + margin_),
                std::numeric_limits<Scalar>::quiet_NaN()),
        device_(values_.size()) {
    upload();
  }

  /// Every element of every row from `draw`.
  void fill(const std::function<double()>& draw) {
    for (const Index row : rows())
      for (Index c = 0; c < columns_; ++c)
        values_[static_cast<std::size_t>(row + c)] = static_cast<Scalar>(draw());
    upload();
  }

  /// All rows of one head: [T, columns].
  Matrix<double> of_head(Index batch, Index head) const {
    Matrix<double> matrix(size_.tokens, columns_);
    for (Index t = 0; t < size_.tokens; ++t)
      for (Index c = 0; c < columns_; ++c)
        matrix(t, c) = static_cast<double>(values_[static_cast<std::size_t>(offset(batch, t, head) + c)]);
    return matrix;
  }

  void download() { device_.download(values_.data(), values_.size()); }

  template <class Element>
  operator DeviceRows<Element>() {
    return {.data = device_.data() + margin_,
            .batch_stride = size_.tokens * size_.heads * stride(),
            .token_stride = size_.heads * stride(),
            .head_stride = stride()};
  }

  /// How many elements are NaN that should not be, or the other way round.
  Index misplaced() const {
    std::vector<bool> own(values_.size(), false);
    for (const Index row : rows()) std::fill_n(own.begin() + row, columns_, true);
    Index count = 0;
    for (std::size_t i = 0; i < own.size(); ++i) count += own[i] == std::isnan(values_[i]);
    return count;
  }

 private:
  Index stride() const { return columns_ + size_.gap; }

  Index offset(Index batch, Index token, Index head) const {
    return margin_ + ((batch * size_.tokens + token) * size_.heads + head) * stride();
  }

  /// Where every row begins.
  std::vector<Index> rows() const {
    std::vector<Index> starts;
    for (Index b = 0; b < size_.batches; ++b)
      for (Index t = 0; t < size_.tokens; ++t)
        for (Index h = 0; h < size_.heads; ++h) starts.push_back(offset(b, t, h));
    return starts;
  }

  void upload() { device_.upload(values_.data(), values_.size()); }

  Size size_;
  Index columns_;
  Index margin_;
  std::vector<Scalar> values_;
  DeviceArray<Scalar> device_;
};

/// Largest distance between kernel and CPU engine in f64 over all heads, relative to the largest element
/// expected.
template <class Scalar>
double worst_error(bool in_registers, const Structure& structure, const Size& size, bool with_state) {
  const auto [B, T, H, K, V, gap] = size;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;

  GuardedRows<Scalar> q(size, K), k(size, K), v(size, V), alpha(size, 1), beta(size, 1), o(size, V);
  const double unit = 1 / std::sqrt(static_cast<double>(K));  // keys of length about 1
  q.fill([&] { return unit * normal(random); });
  k.fill([&] { return unit * normal(random); });
  v.fill([&] { return normal(random); });
  alpha.fill([&] { return uniform(random) < 0.05 ? 0.0 : 1 - 0.2 * uniform(random); });
  beta.fill([&] { return uniform(random); });

  // States lie side by side, [B, H, K, V]: one row for every head.
  const Size state_size = {.batches = 1, .tokens = B * H, .heads = 1, .K = K, .V = V, .gap = 0};
  GuardedRows<Scalar> before(state_size, K * V);
  GuardedRows<Scalar> after(state_size, K * V);
  before.fill([&] { return normal(random); });

  using Given = DeviceRows<const Scalar>;
  const RowPrograms<Scalar> programs = {.batches = B,
                                        .heads = H,
                                        .T = T,
                                        .K = K,
                                        .V = V,
                                        .erase = structure.erase == Erase::decayed,
                                        .q = q,
                                        .k = k,
                                        .v = v,
                                        .alpha = structure.decay == Decay::none ? Given() : Given(alpha),
                                        .beta = structure.beta ? Given(beta) : Given(),
                                        .initial_state = with_state ? Given(before).data : nullptr,
                                        .o = o,
                                        .final_state = DeviceRows<Scalar>(after).data,
                                        .R = T,
                                        .a = k};
  in_registers ? recurrent_scalar_decay(programs) : recurrent_rows(programs);
  o.download();
  after.download();
  REQUIRE(o.misplaced() == 0);
  REQUIRE(after.misplaced() == 0);

  double difference = 0;
  double largest = 0;
  const auto compare = [&](const Matrix<double>& got, const Matrix<double>& expected) {
    difference = std::max(difference, testing::furthest_apart(got, expected));
    largest = std::max(largest, testing::largest(expected));
  };
  for (Index b = 0; b < B; ++b) {
    for (Index h = 0; h < H; ++h) {
      const Program<double> program{.structure = structure,
                                    .q = q.of_head(b, h),
                                    .k = k.of_head(b, h),
                                    .v = v.of_head(b, h),
                                    .gate = alpha.of_head(b, h),
                                    .beta = beta.of_head(b, h)};
      const auto state_of_head = [&](const GuardedRows<Scalar>& states) {
        return Matrix<double>(
            Eigen::Map<const Matrix<double>>(states.of_head(0, 0).row(b * H + h).data(), K, V));
      };
      Matrix<double> S = with_state ? state_of_head(before) : Matrix<double>::Zero(K, V);
      compare(o.of_head(b, h), recurrent(program, S));
      compare(state_of_head(after), S);
    }
  }
  return largest == 0 ? difference : difference / largest;
}

}  // namespace

TEST_CASE("every kernel writes all of its outputs, nothing else, and what the CPU writes") {
  if (!testing::has_gpu()) return;
  const Size sizes[] = {{2, 17, 3, 12, 7},     {1, 65, 2, 33, 17},  {1, 16, 2, 64, 64}, {2, 15, 1, 100, 33},
                        {1, 257, 1, 128, 5},   {1, 31, 2, 256, 40}, {1, 9, 1, 300, 6},  {1, 5, 1, 896, 9},
                        {1, 1, 1, 1, 1},       {1, 0, 2, 8, 3},     {3, 2, 2, 32, 16},  {2, 33, 2, 64, 20, 4},
                        {1, 17, 1, 128, 16, 4}};
  for (const bool in_registers : {false, true}) {
    for (const Structure& structure : all_structures()) {
      for (const Size& size : sizes) {
        for (const bool with_state : {false, true}) {
          INFO("in registers " << in_registers << " decay " << static_cast<int>(structure.decay) << " erase "
                               << static_cast<int>(structure.erase) << " beta " << structure.beta << " B "
                               << size.batches << " T " << size.tokens << " H " << size.heads << " K "
                               << size.K << " V " << size.V << " state " << with_state);
          CHECK(worst_error<double>(in_registers, structure, size, with_state) < 1e-12);
          CHECK(worst_error<float>(in_registers, structure, size, with_state) < 2e-5);
        }
      }
    }
  }
}

TEST_CASE("a failing CUDA call names itself, its place and CUDA's reason") {
  CHECK_THROWS_WITH(CHECK_CUDA(cudaErrorMemoryAllocation), testing::says("kernels_test.cpp") &&
                                                               testing::says("cudaErrorMemoryAllocation") &&
                                                               testing::says("out of memory"));
}

TEST_CASE("memory that the device does not have is refused with what is free and what to do") {
  if (!testing::has_gpu()) return;
  CHECK_THROWS_WITH(DeviceArray<double>(std::size_t{1} << 40),
                    testing::says("has no 8796093.0 MB left") && testing::says("use fewer tokens or heads"));
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
                    testing::says("gla, chunkwise in bf16 on cuda, 2 heads of 8192 tokens, K 128, V 64 in "
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
  const auto is_named = testing::says("a step of gla: a call failed");
  CHECK_THROWS_WITH(steps->record(0), is_named);
  CHECK_THROWS_WITH(steps->shared_record(1), is_named);
  CHECK_THROWS_WITH(steps->prepare({}), is_named);
  std::stop_source asked;
  asked.request_stop();
  CHECK_THROWS_AS(steps->shared_record(0, asked.get_token()), Cancelled);
  CHECK(steps->shared_record(0));
  CHECK(steps->form == Form::chunkwise);
  CHECK(steps->tokens == 3);
  CHECK(steps->block_count() == 2);
  CHECK(steps->block(1).first_token == 1);
  CHECK(steps->block_of(1, 0) == 1);
  CHECK(steps->states({}).size() == 1);
  CHECK_FALSE(steps->output());
}

#endif
