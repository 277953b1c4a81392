#include "core/rules/backend.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "core/base/parallel_for.h"

namespace palimpsest {

unsigned heads_at_once(double work, unsigned threads) {
  if (work * threads <= byte_limit) return threads;
  return static_cast<unsigned>(std::max(byte_limit / work, 1.0));
}

std::optional<std::string> Backend::missing_precision(Precision precision) const {
  if (precision == held_in(precision)) return std::nullopt;
  return fmt::format("{} computes in f64 and f32; {} is for a device with tensor cores", name(),
                     palimpsest::name(precision));
}

std::vector<Precision> precisions_of(const Backend& backend) {
  std::vector<Precision> precisions;
  for (const Precision precision : all_precisions) {
    if (!backend.missing_precision(precision)) precisions.push_back(precision);
  }
  return precisions;
}

Output Backend::run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
                    Index chunk_size, std::stop_token stop) const {
  return std::move(run_heads(variant, {&sequence, 1}, form, precision, chunk_size, std::move(stop)).front());
}

std::unique_ptr<Trace> Backend::trace(const Variant& variant, const Sequence& sequence, Form form,
                                      Precision precision, Index chunk_size, std::size_t budget) const {
  return variant.rule->trace(sequence, form, held_in(precision), chunk_size, budget, engines(precision));
}

RunTimes Backend::measure(const Variant& variant, std::span<const Sequence> heads, Form form,
                          Precision precision, Index chunk_size, const Repeats&, std::stop_token stop) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::vector<Output> outputs = run_heads(variant, heads, form, precision, chunk_size, std::move(stop));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return {.compute = {seconds}, .whole = seconds, .spent = seconds};
}

std::string Backend::what_is_timed() const {
  return "the whole run, from the arrays in memory to outputs and final states in memory, several heads at "
         "once in threads; caches are as the run before leaves them, and the memory that it has freed is "
         "kept; making the data is not timed";
}

std::optional<Roof> Backend::roof(Precision) const { return std::nullopt; }

namespace {

constexpr int tries = 5;

/// The shortest time in seconds in which all threads do `work(thread)`; the first run is not counted.
double shortest(const std::function<void(Index)>& work) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i <= tries; ++i) {
    const Clock::time_point start = Clock::now();
    parallel_for(processor_threads(), processor_threads(), work);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (i == 1 || (i > 1 && seconds < best)) best = seconds;
  }
  return best;
}

/// Of all threads: more than their caches hold, and no more than a page has room for.
std::size_t copied_bytes() { return std::min(std::size_t{32} * processor_threads(), std::size_t{256}) << 20; }

double copy_rate() {
  const std::size_t share = copied_bytes() / processor_threads();
  std::vector<std::vector<char>> from(processor_threads(), std::vector<char>(share, 1));
  std::vector<std::vector<char>> to(processor_threads(), std::vector<char>(share));
  const double seconds = shortest(
      [&](Index thread) { std::memcpy(entry(to, thread).data(), entry(from, thread).data(), share); });
  return 2 * static_cast<double>(share) * processor_threads() / seconds;
}

constexpr Index size = 128;  // three such matrices fit a cache
constexpr int products = 256;

template <class Scalar>
void multiply_by_eigen(const Matrix<Scalar>& A, const Matrix<Scalar>& B, Matrix<Scalar>& C) {
  C.noalias() = A * B;
}

template <class Scalar>
double product_rate(void (*multiply)(const Matrix<Scalar>& A, const Matrix<Scalar>& B, Matrix<Scalar>& C)) {
  struct Matrices {
    Matrix<Scalar> A = Matrix<Scalar>::Constant(size, size, Scalar{0.5});
    Matrix<Scalar> B = Matrix<Scalar>::Constant(size, size, Scalar{0.25});
    Matrix<Scalar> C = Matrix<Scalar>::Zero(size, size);
  };
  std::vector<Matrices> of(processor_threads());
  const double seconds = shortest([&](Index thread) {
    auto& [A, B, C] = entry(of, thread);
    for (int i = 0; i < products; ++i) multiply(A, B, C);
  });
  return 2.0 * size * size * size * products * processor_threads() / seconds;
}

constexpr SquareProduct eigen_product = {"Eigen's product", multiply_by_eigen<float>};

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const DeviceEngines& engines, bool only_asks = false,
                      const SquareProduct& product = eigen_product)
      : engines_(engines), only_asks_(only_asks), product_(product) {}

  std::string name() const override { return "cpu"; }

  const DeviceEngines& engines(Precision precision) const override {
    require(precision);
    return engines_;
  }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision precision) const override {
    if (auto reason = variant.rule->missing(form, settings)) return reason;
    return missing_precision(precision);
  }

  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    require(precision);
    if (!only_asks_) {
      const DeviceEngines& engines =
          has_kernel(variant, sequence, form, precision) ? engines_ : cpu_engines();
      return variant.rule->run(sequence, form, precision, chunk_size, std::move(stop), engines);
    }
    try {
      return {variant.rule->answers(sequence, form, precision, chunk_size, std::move(stop)), {}};
    } catch (const Unsupported& reason) {
      throw Unsupported(fmt::format("{}: {}", variant.id, reason.what()));
    }
  }

  std::vector<Output> run_heads(const Variant& variant, std::span<const Sequence> heads, Form form,
                                Precision precision, Index chunk_size, std::stop_token stop,
                                const HeadDone& head_done) const override {
    if (heads.empty()) return {};
    require(precision);
    if (!only_asks_ && has_kernel(variant, heads.front(), form, precision)) {
      // The kernel shares heads and their columns among threads itself.
      std::vector<Output> outputs =
          variant.rule->run_heads(heads, form, precision, chunk_size, std::move(stop), engines_);
      for (std::size_t head = 0; head_done && head < heads.size(); ++head) head_done();
      return outputs;
    }
    const Footprint footprint = variant.rule->footprint(heads.front(), form, precision, chunk_size);
    std::vector<Output> outputs(heads.size());
    parallel_for(static_cast<Index>(heads.size()), heads_at_once(footprint.work, processor_threads()),
                 [&](Index head) {
                   entry(outputs, head) = run(variant, entry(heads, head), form, precision, chunk_size, stop);
                   if (head_done) head_done();
                 });
    return outputs;
  }

  /// The limits of this processor with all its threads, measured in about a second: copies of buffers that
  /// fit no cache, and products of matrices that fit one. The best of a few runs.
  std::optional<Roof> roof(Precision precision) const override {
    if (missing_precision(precision)) return std::nullopt;
    const char* const threads = processor_threads() == 1 ? "thread" : "threads";
    const bool is_f64 = precision == Precision::f64;
    return Roof{.bytes_per_second = copy_rate(),
                .flops_per_second = is_f64 ? product_rate<double>(multiply_by_eigen<double>)
                                           : product_rate<float>(product_.multiply),
                .copy = fmt::format("memcpy of {} MiB in {} {}, read and written", copied_bytes() >> 20,
                                    processor_threads(), threads),
                .product = fmt::format("{4} of two [{0}, {0}] matrices in {1} in each of {2} {3}", size,
                                       palimpsest::name(precision), processor_threads(), threads,
                                       is_f64 ? eigen_product.words : product_.words)};
  }

 private:
  void require(Precision precision) const {
    if (const auto reason = missing_precision(precision)) throw Unsupported(*reason);
  }

  /// Whether the engines have a fast kernel for such heads. The clear ones take all others.
  bool has_kernel(const Variant& variant, const Sequence& head, Form form, Precision precision) const {
    return variant.rule->kernel(head, form, precision, engines_) != KernelKind::plain;
  }

  const DeviceEngines& engines_;
  bool only_asks_;
  SquareProduct product_;
};

std::string words(KernelKind kernel, Precision precision) {
  if (kernel == KernelKind::vectors) return "one kernel in vector instructions";
  if (kernel == KernelKind::registers) return "one kernel that holds the memory in registers";
  return precision == Precision::tf32 ? "fused kernels on tensor cores in tf32"
                                      : "fused kernels on tensor cores";
}

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend(cpu_engines());
  return backend;
}

std::unique_ptr<const Backend> cpu_backend_with(const DeviceEngines& engines, const SquareProduct& product) {
  return std::make_unique<CpuBackend>(engines, false, product);
}

bool is_cpu(const Backend& backend) { return backend.name() == cpu_backend().name(); }

const Backend& asking_backend() {
  static const CpuBackend backend(cpu_engines(), true);
  return backend;
}

std::string fused_kernel(const Backend& device, const Variant& variant, const Sequence& sequence, Form form,
                         Precision precision) {
  if (sequence.tokens == 0 || device.missing(variant, sequence.settings, form, precision)) return {};
  const KernelKind kernel =
      variant.rule->kernel(sequence, form, held_in(precision), device.engines(precision));
  if (kernel == KernelKind::plain) return {};
  return fmt::format(
      "A run of this form on {} takes {} and keeps no tensors: the steps shown are made by plain kernels "
      "from "
      "the same {}rows, and differ from the run by rounding.",
      device.name(), words(kernel, precision), precision == Precision::bf16 ? "rounded " : "");
}

}  // namespace palimpsest
