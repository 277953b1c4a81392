// The processor's kernel of causal softmax attention against the clear engine in f64.

#include "kernels/cpu/softmax_tiles.h"

#include <random>

#include "core/engines/softmax.h"
#include "core/rules/backend.h"
#include "kernels/device.h"
#include "tests/core/cases.h"
#include "tests/kernels/vector_targets.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// One head of random rows in the middle of rows that are twice as long, with NaN around them.
class RandomAttention {
 public:
  RandomAttention(Index queries, Index keys, Index first_query, Index K, Index V, float size = 1)
      : queries_(queries),
        first_query_(first_query),
        Q_(rows(queries, K, size)),
        K_(rows(keys, K, size)),
        V_(rows(keys, V, 1)),
        o_(rows(queries, V, 1)) {}

  cpu::HeadAttention view() {
    const auto of = [](const Matrix<float>& rows) -> cpu::StridedRows {
      return {rows.data() + rows.cols() / 4, rows.cols()};
    };
    return {.queries = queries_,
            .keys = K_.rows(),
            .channels = Q_.cols() / 2,
            .value_channels = V_.cols() / 2,
            .first_query = first_query_,
            .Q = of(Q_),
            .K = of(K_),
            .V = of(V_),
            .o = o_.data() + o_.cols() / 4,
            .o_stride = o_.cols()};
  }

  /// What was written: [queries, V].
  Matrix<double> written() const { return inner(o_); }

  /// By the clear engine in f64.
  Matrix<double> reference() const {
    return softmax_dense<double>(inner(Q_), inner(K_), inner(V_), first_query_);
  }

 private:
  Matrix<float> rows(Index count, Index columns, float size) {
    Matrix<float> all = Matrix<float>::Constant(count, 2 * columns, std::nanf(""));
    for (Index i = 0; i < count; ++i) {
      for (Index c = 0; c < columns; ++c) all(i, columns / 2 + c) = size * normal_(generator_);
    }
    return all;
  }

  static Matrix<double> inner(const Matrix<float>& rows) {
    return rows.middleCols(rows.cols() / 4, rows.cols() / 2).cast<double>();
  }

  std::mt19937 generator_{5};
  std::normal_distribution<float> normal_;
  Index queries_;
  Index first_query_;
  Matrix<float> Q_, K_, V_, o_;
};

double error_of(RandomAttention& random, unsigned threads = 1) {
  const cpu::HeadAttention head = random.view();
  cpu::softmax_tiles({&head, 1}, threads);
  const Matrix<double> o = random.written();
  const Matrix<double> right = random.reference();
  if (!o.allFinite()) return std::numeric_limits<double>::infinity();
  return (o - right).cwiseAbs().maxCoeff() / right.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("tiles of softmax attention in vector instructions are what the clear engine computes") {
  on_every_target([] {
    for (const Index T : {1, 15, 16, 17, 63, 64, 65, 300}) {
      for (const auto& [K, V] : {std::pair<Index, Index>{3, 5}, {17, 33}, {70, 130}}) {
        RandomAttention random(T, T, 0, K, V);
        INFO("T " << T << " K " << K << " V " << V);
        CHECK(error_of(random) < 2e-5);
      }
    }
    RandomAttention long_one(1000, 1000, 0, 16, 16);
    CHECK(error_of(long_one) < 2e-5);
    RandomAttention after_cache(50, 130, 80, 17, 9);
    CHECK(error_of(after_cache) < 2e-5);
    RandomAttention beyond_keys(50, 20, 3, 17, 9);
    CHECK(error_of(beyond_keys) < 2e-5);
    RandomAttention sharp(100, 100, 0, 64, 8, 4);  // scores up to hundreds: most weights underflow
    CHECK(error_of(sharp) < 1e-4);
  });
}

TEST_CASE(
    "tiles of softmax attention are the same bits on any number of threads, and a score that is no number "
    "shows") {
  RandomAttention one(500, 500, 0, 33, 40);
  RandomAttention two(500, 500, 0, 33, 40);
  CHECK(error_of(one, 1) == error_of(two, 2));
  CHECK((one.written().array() == two.written().array()).all());

  cpu::HeadAttention head = two.view();
  std::vector<float> key(33, std::nanf(""));
  std::vector<float> keys;
  for (Index j = 0; j < head.keys; ++j) {
    const float* const row = j == 100 ? key.data() : head.K.row(j);
    keys.insert(keys.end(), row, row + head.channels);
  }
  head.K = {keys.data(), head.channels};
  cpu::softmax_tiles({&head, 1}, 2);
  CHECK(two.written().topRows(100).allFinite());
  CHECK(two.written().bottomRows(400).array().isNaN().all());
}

TEST_CASE("a run of softmax in chunks in f32 takes vector instructions, and can be stopped") {
  const Case each = random_case(find_variant("softmax"), {}, {.tokens = 40, .dk = 5, .dv = 7});
  CHECK_FALSE(fused_kernel(fast_cpu_backend(), *each.variant, each.sequence, Form::chunkwise, Precision::f32)
                  .empty());
  const Output fast =
      fast_cpu_backend().run(*each.variant, each.sequence, Form::chunkwise, Precision::f32, 16);
  CHECK(compare(fast, each.run(Form::recurrent)).error < 2e-5);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(fast_cpu_backend().run(*each.variant, each.sequence, Form::chunkwise, Precision::f32, 16,
                                         stop.get_token()),
                  Cancelled);
}
