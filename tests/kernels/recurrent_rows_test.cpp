// The processor's kernels of rows, in the recurrent and in the chunkwise form, against the clear engine in
// f64, on every set of instructions that this processor has.

#include "kernels/cpu/recurrent_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/engines/row_engines.h"
#include "core/rules/backend.h"
#include "kernels/cpu/chunk_rows.h"
#include "kernels/device.h"
#include "tests/core/cases.h"
#include "tests/kernels/vector_targets.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

struct HeadSize {
  Index tokens;
  Index K;
  Index V;
};

constexpr Index heads = 2;
constexpr double allowed = 2e-5;  // of every form in f32 (docs/accuracy.md)

/// Every structure that differs to the kernel.
std::vector<Structure> structures() {
  std::vector<Structure> all;
  for (const Decay decay : {Decay::none, Decay::scalar, Decay::key}) {
    for (const bool logs : {false, true}) {
      if (logs && decay == Decay::none) continue;
      for (const ReadAt read_at : {ReadAt::after_row, ReadAt::before_row}) {
        for (const Erase erase : {Erase::none, Erase::decayed, Erase::undecayed}) {
          for (const bool plain : {false, true})
            all.push_back({.decay = decay,
                           .gates_are_logs = logs,
                           .erase = erase,
                           .erase_key = erase == Erase::undecayed,
                           .beta = erase != Erase::none,
                           .writes_value = !plain,
                           .plain_write = plain,
                           .read_at = read_at});
        }
      }
    }
  }
  all.push_back({.decay = Decay::scalar, .erase = Erase::decayed, .beta = true, .rows_per_read = 3});
  return all;
}

std::string words(const Structure& structure, const HeadSize& size) {
  return fmt::format(
      "decay {} logs {} erase {} plain {} read {} rows {}, T {} K {} V {}", static_cast<int>(structure.decay),
      structure.gates_are_logs, static_cast<int>(structure.erase), structure.plain_write,
      static_cast<int>(structure.read_at), structure.rows_per_read, size.tokens, size.K, size.V);
}

/// Some heads of random rows, laid out as [T, heads, columns + 3] with NaN in the three, where no kernel may
/// look.
class RandomHeads {
 public:
  RandomHeads(const Structure& structure, const HeadSize& size) : structure_(structure), size_(size) {
    const auto near_one = [&] {
      const float alpha = 1 - 0.3F * uniform_(generator_);
      return structure.gates_are_logs ? std::log(alpha) : alpha;
    };
    const Index rows = size.tokens * structure.rows_per_read;
    const auto direction = [&] { return normal_(generator_) / std::sqrt(static_cast<float>(size.K)); };
    const auto number = [&] { return normal_(generator_); };
    const auto strength = [&] { return uniform_(generator_); };
    q_ = table(size.tokens, size.K, direction);
    k_ = table(rows, size.K, direction);
    v_ = table(structure.writes_value ? rows : 0, size.V, number);
    a_ = table(structure.erase_key ? rows : 0, size.K, direction);
    const Index gates = structure.decay == Decay::key ? size.K : 1;
    gate_ = table(structure.decay == Decay::none ? 0 : rows, gates, near_one);
    beta_ = table(structure.beta ? rows : 0, 1, strength);
    k_plain_ = table(structure.plain_write ? rows : 0, size.K, direction);
    v_plain_ = table(structure.plain_write ? rows : 0, size.V, number);
    o_ = table(size.tokens, size.V, [] { return std::nanf(""); });
    for (float& s : (S_ = std::vector<float>(static_cast<std::size_t>(heads * size.K * size.V))))
      s = number();
  }

  std::vector<cpu::HeadRows> views() {
    std::vector<cpu::HeadRows> all;
    for (Index head = 0; head < heads; ++head) {
      const auto of = [&](const Table& table) -> cpu::StridedRows {
        if (table.numbers.empty()) return {};
        return {table.numbers.data() + head * (table.columns + gap), heads * (table.columns + gap)};
      };
      all.push_back({.structure = structure_,
                     .rows = size_.tokens * structure_.rows_per_read,
                     .reads = size_.tokens,
                     .K = size_.K,
                     .V = size_.V,
                     .q = of(q_),
                     .k = of(k_),
                     .v = of(v_),
                     .a = of(a_),
                     .gate = of(gate_),
                     .beta = of(beta_),
                     .k_plain = of(k_plain_),
                     .v_plain = of(v_plain_),
                     .o = o_.numbers.data() + head * (size_.V + gap),
                     .o_stride = heads * (size_.V + gap),
                     .S = S_.data() + head * size_.K * size_.V});
    }
    return all;
  }

  /// Whether what lies between the outputs of heads is as it was.
  bool gaps_are_intact() const {
    for (Index row = 0; row < size_.tokens * heads; ++row) {
      for (Index i = 0; i < gap; ++i) {
        if (!std::isnan(entry(o_.numbers, row * (size_.V + gap) + size_.V + i))) return false;
      }
    }
    return true;
  }

  /// Sets gate `row` of the first head.
  void set_gate(Index row, float gate) {
    const Index width = gate_.columns + gap;
    std::fill_n(gate_.numbers.data() + row * heads * width, gate_.columns, gate);
  }

 private:
  static constexpr Index gap = 3;

  struct Table {
    Index columns = 0;
    std::vector<float> numbers = {};
  };

  template <class Make>
  Table table(Index rows, Index columns, Make make) {
    Table all = {.columns = columns};
    for (Index i = 0; i < rows * heads; ++i) {
      for (Index j = 0; j < columns + gap; ++j) all.numbers.push_back(j < columns ? make() : std::nanf(""));
    }
    return all;
  }

  Structure structure_;
  HeadSize size_;
  std::mt19937 generator_{7};
  std::normal_distribution<float> normal_;
  std::uniform_real_distribution<float> uniform_;
  Table q_, k_, v_, a_, gate_, beta_, k_plain_, v_plain_, o_;
  std::vector<float> S_;
};

Matrix<double> matrix_of(const cpu::StridedRows& rows, Index count, Index columns) {
  if (!rows.data) return Matrix<double>(count, 0);
  Matrix<double> matrix(count, columns);
  for (Index r = 0; r < count; ++r) {
    for (Index c = 0; c < columns; ++c) matrix(r, c) = static_cast<double>(rows.row(r)[c]);
  }
  return matrix;
}

/// What a head reads and the state that it leaves, side by side below each other: [T + K, V].
struct Run {
  Matrix<double> o;
  Matrix<double> S;
};

/// By the clear engine in f64, from the same numbers.
Run reference(const cpu::HeadRows& head) {
  const auto [rows, K, V] = std::tuple(head.rows, head.K, head.V);
  const Index gates = head.structure.decay == Decay::key ? K : 1;
  Program<double> program = {.structure = head.structure,
                             .q = matrix_of(head.q, head.reads, K),
                             .k = matrix_of(head.k, rows, K),
                             .v = matrix_of(head.v, rows, V),
                             .a = matrix_of(head.a, rows, K),
                             .gate = matrix_of(head.gate, rows, gates),
                             .beta = matrix_of(head.beta, rows, 1),
                             .k_plain = matrix_of(head.k_plain, rows, K),
                             .v_plain = matrix_of(head.v_plain, rows, V)};
  if (!head.v.data) program.v = Matrix<double>::Zero(rows, V);
  Matrix<double> S = matrix_of({head.S, V}, K, V);
  Matrix<double> o = recurrent(program, S);
  return {std::move(o), std::move(S)};
}

Run result(const cpu::HeadRows& head) {
  return {matrix_of({head.o, head.o_stride}, head.reads, head.V),
          matrix_of({head.S, head.V}, head.K, head.V)};
}

/// max|x - y| / max|y| of both; infinite where a number is none.
double error(const Run& run, const Run& right) {
  const auto of = [](const Matrix<double>& x, const Matrix<double>& y) {
    if (!x.allFinite()) return std::numeric_limits<double>::infinity();
    return (x - y).cwiseAbs().maxCoeff() / y.cwiseAbs().maxCoeff();
  };
  return std::max(of(run.o, right.o), of(run.S, right.S));
}

/// By one kernel or the other.
using RowsKernel = std::function<void(std::span<const cpu::HeadRows>)>;

RowsKernel recurrent_kernel(unsigned threads = 1) {
  return [threads](std::span<const cpu::HeadRows> rows) { cpu::recurrent_rows(rows, threads); };
}

RowsKernel chunk_kernel(Index chunk_size, unsigned threads = 1) {
  return [=](std::span<const cpu::HeadRows> rows) { cpu::chunk_rows(rows, chunk_size, threads); };
}

/// The largest error of any head.
double error_of(RandomHeads& random, const RowsKernel& kernel = recurrent_kernel()) {
  const std::vector<cpu::HeadRows> views = random.views();
  std::vector<Run> right;
  for (const cpu::HeadRows& head : views) right.push_back(reference(head));
  kernel(views);
  double worst = 0;
  for (std::size_t h = 0; h < views.size(); ++h) worst = std::max(worst, error(result(views[h]), right[h]));
  return random.gaps_are_intact() ? worst : std::numeric_limits<double>::infinity();
}

}  // namespace

TEST_CASE("vector instructions compute what the clear engine does, whatever the rows and their sizes") {
  on_every_target([] {
    for (const Structure& structure : structures()) {
      for (const Index tokens : {1, 2, 15, 16, 17, 63, 65}) {
        for (const auto& [K, V] : {std::pair<Index, Index>{3, 5}, {17, 33}}) {
          RandomHeads random(structure, {tokens, K, V});
          INFO(words(structure, {tokens, K, V}));
          CHECK(error_of(random) < allowed);
        }
      }
      RandomHeads wide(structure, {65, 70, 130});
      INFO(words(structure, {65, 70, 130}));
      CHECK(error_of(wide) < allowed);
      RandomHeads long_rows(structure, {1000, 9, 20});
      CHECK(error_of(long_rows) < allowed);
    }
  });
}

TEST_CASE("chunks in vector instructions are what the clear engine computes row by row") {
  on_every_target([] {
    for (const Structure& structure : structures()) {
      if (!cpu::fit_chunks(structure)) continue;
      for (const Index chunk_size : {5, 16, 64}) {
        for (const Index tokens : {1, 2, 15, 16, 17, 63, 65}) {
          RandomHeads random(structure, {tokens, 17, 33});
          INFO(words(structure, {tokens, 17, 33}) << ", chunks of " << chunk_size);
          CHECK(error_of(random, chunk_kernel(chunk_size)) < allowed);
        }
        RandomHeads wide(structure, {65, 70, 130});
        CHECK(error_of(wide, chunk_kernel(chunk_size)) < allowed);
        RandomHeads long_rows(structure, {1000, 9, 20});
        CHECK(error_of(long_rows, chunk_kernel(chunk_size)) < allowed);
      }
    }
  });
}

TEST_CASE("a decay of 0, a negative one and one far from 1 leave what they leave in the clear engine") {
  on_every_target([] {
    for (const Decay decay : {Decay::scalar, Decay::key}) {
      const Structure structure = {.decay = decay, .erase = Erase::decayed, .beta = true};
      for (const float gate : {0.0F, -0.5F, 1e-6F, 1e-30F, 3.0F}) {
        RandomHeads random(structure, {40, 9, 7});
        for (const Index row : {4, 11, 12, 13, 30}) random.set_gate(row, gate);
        INFO("gate " << gate << " decay " << static_cast<int>(decay));
        CHECK(error_of(random) < allowed);
        if (!cpu::fit_chunks(structure)) continue;
        RandomHeads again(structure, {40, 9, 7});
        for (const Index row : {4, 11, 12, 13, 30}) again.set_gate(row, gate);
        CHECK(error_of(again, chunk_kernel(16)) < allowed);
      }
      Structure logs = structure;
      logs.gates_are_logs = true;
      RandomHeads reset(logs, {40, 9, 7});
      for (const Index row : {7, 20, 39}) reset.set_gate(row, -std::numeric_limits<float>::infinity());
      CHECK(error_of(reset) < allowed);
      if (!cpu::fit_chunks(logs)) continue;
      RandomHeads again(logs, {40, 9, 7});
      for (const Index row : {7, 20, 39}) again.set_gate(row, -std::numeric_limits<float>::infinity());
      CHECK(error_of(again, chunk_kernel(16)) < allowed);
    }
  });
}

TEST_CASE("vector instructions give the same bits on any number of threads") {
  const auto is_same = [](const Structure& structure, Index V, const auto& kernel_of) {
    std::vector<Matrix<double>> o;
    for (const unsigned threads : {1U, 2U, 3U}) {
      RandomHeads random(structure, {700, 70, V});
      const auto views = random.views();
      kernel_of(threads)(views);
      for (const cpu::HeadRows& head : views) {
        const Run run = result(head);
        o.push_back(run.o);
        o.push_back(run.S);
      }
    }
    for (std::size_t i = 4; i < o.size(); ++i) CHECK((o[i].array() == o[i % 4].array()).all());
  };
  for (const Index V : {64, 130, 200}) {
    is_same({.decay = Decay::key, .erase = Erase::decayed, .beta = true}, V, recurrent_kernel);
    is_same({.decay = Decay::scalar, .erase = Erase::decayed, .beta = true}, V,
            [](unsigned threads) { return chunk_kernel(64, threads); });
  }
}

TEST_CASE("a wrong number among the inputs of the vector kernel is found") {
  const Structure structure = {.decay = Decay::scalar, .erase = Erase::decayed, .beta = true};
  RandomHeads random(structure, {65, 17, 33});
  const std::vector<cpu::HeadRows> views = random.views();
  const Run right = reference(views.front());
  for (const auto fault : {&cpu::HeadRows::k, &cpu::HeadRows::q, &cpu::HeadRows::v, &cpu::HeadRows::beta}) {
    RandomHeads again(structure, {65, 17, 33});
    std::vector<cpu::HeadRows> faulty = again.views();
    (faulty.front().*fault).data +=
        (faulty.front().*fault).stride;  // the second token's in place of the first's
    faulty.front().rows = faulty.front().reads = 64;
    for (const RowsKernel& kernel : {recurrent_kernel(), chunk_kernel(16)}) {
      kernel(faulty);
      const Matrix<double> o = result(faulty.front()).o;
      CHECK((o - right.o.topRows(64)).cwiseAbs().maxCoeff() > 1e-2 * right.o.cwiseAbs().maxCoeff());
    }
  }
}

TEST_CASE("whole heads in f32 are taken by vector instructions where they can be, and the run says so") {
  const Backend& fast = fast_cpu_backend();
  CHECK(is_cpu(fast));
  CHECK_FALSE(vector_instructions().empty());
  const auto taken = [&](const char* id, Form form, Precision precision) {
    const Case each = random_case(find_variant(id), {}, {.tokens = 9, .dk = 5, .dv = 7});
    return !fused_kernel(fast, *each.variant, each.sequence, form, precision).empty();
  };
  for (const char* const id : {"linear", "gla", "gated_deltanet", "kda", "rwkv7", "comba", "deltaproduct"}) {
    INFO(id);
    CHECK(taken(id, Form::recurrent, Precision::f32));
    CHECK_FALSE(taken(id, Form::recurrent, Precision::f64));
    CHECK(taken(id, Form::chunkwise, Precision::f32));
    CHECK_FALSE(taken(id, Form::parallel, Precision::f32));
  }
  for (const char* const id : {"titans", "value_decay", "softmax"})
    CHECK_FALSE(taken(id, Form::recurrent, Precision::f32));
  CHECK(fused_kernel(cpu_backend(), find_variant("linear"),
                     random_case(find_variant("linear"), {}, {.tokens = 9, .dk = 5, .dv = 7}).sequence,
                     Form::recurrent, Precision::f32)
            .empty());
}

TEST_CASE("every rule in f32 is, with vector instructions, what it is without") {
  for (const Variant& variant : variants()) {
    for (const Settings& given : option_choices(variant)) {
      const Case each = random_case(variant, resolve(variant, given), {.tokens = 33, .dk = 12, .dv = 7});
      INFO(each.words);
      for (const Form form : each.forms()) {
        INFO(name(form));
        const auto run = [&](const Backend& backend) {
          return backend.run(variant, each.sequence, form, Precision::f32, 16);
        };
        CHECK(compare(run(fast_cpu_backend()), run(cpu_backend())).error < each.allowed(4e-5));
      }
    }
  }
}
