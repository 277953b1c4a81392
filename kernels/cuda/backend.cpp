#include <fmt/format.h>

#include "core/rules/backend.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/failed_run.h"
#include "kernels/cuda/measure.h"
#include "kernels/device.h"

namespace palimpsest {

namespace cuda {

std::string run_words(const Variant& variant, std::span<const Sequence> heads, Form form, Precision precision,
                      Index chunk_size) {
  const Sequence& head = heads.front();
  const std::string chunks = has_chunks(form) ? fmt::format(" in chunks of {}", chunk_size) : "";
  return fmt::format("{}, {} in {} on cuda, {} {} of {} tokens, K {}, V {}{}", variant.id, name(form),
                     name(precision), heads.size(), heads.size() == 1 ? "head" : "heads", head.tokens,
                     head.dk, head.dv, chunks);
}

Error failed_run(const Error& error, std::string_view run) {
  // After a kernel that failed every call fails, unrelated ones too.
  const cudaError_t now = cudaStreamSynchronize(nullptr);
  const std::string lost = succeeded(now)
                               ? ""
                               : fmt::format(
                                     ". The device does not answer any more ({}): start the program again, "
                                     "or go on with the CPU",
                                     cudaGetErrorName(now));
  return Error(fmt::format("{}: {}{}", run, error.what(), lost));
}

namespace {

class NamedTrace : public Trace {
 public:
  NamedTrace(std::string words, std::unique_ptr<Trace> trace)
      : Trace(*trace), words_(std::move(words)), trace_(std::move(trace)) {}

  Index block_count() const override { return trace_->block_count(); }
  Block block(Index index) const override { return trace_->block(index); }
  Index block_of(Index token, Index phase) const override { return trace_->block_of(token, phase); }
  const Output* output() const override { return trace_->output(); }
  NamedStates states(const Record& latest) const override { return trace_->states(latest); }

  const Record& record(Index index) override {
    return *naming(words_, [&] { return &trace_->record(index); });
  }

  std::shared_ptr<const Record> shared_record(Index index, std::stop_token stop) const override {
    return naming(words_, [&] { return trace_->shared_record(index, std::move(stop)); });
  }

  void prepare(std::stop_token stop) override {
    naming(words_, [&] { trace_->prepare(std::move(stop)); });
  }

 private:
  std::string words_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace

std::unique_ptr<Trace> named_trace(std::string words, std::unique_ptr<Trace> trace) {
  return std::make_unique<NamedTrace>(std::move(words), std::move(trace));
}

}  // namespace cuda

namespace {

static_assert(most_heads_in_all <= most_grid_blocks);  // kernels have a block for each head there

constexpr int first_with_tensor_cores = 8;  // for bf16 and tf32: major number of the compute capability

class CudaBackend : public Backend {
 public:
  std::string name() const override { return "cuda"; }

  std::optional<std::string> missing_precision(Precision precision) const override {
    if (precision == held_in(precision)) return std::nullopt;
    if (!cuda_unavailable().empty()) return cuda_unavailable();
    static const Device device = cuda_devices().front();
    if (device.major >= first_with_tensor_cores) return std::nullopt;
    return fmt::format("{} needs tensor cores of compute capability {}.0; {} has {}.{}",
                       palimpsest::name(precision), first_with_tensor_cores, device.name, device.major,
                       device.minor);
  }

  const DeviceEngines& engines(Precision precision) const override {
    if (!cuda_unavailable().empty()) throw Unsupported(cuda_unavailable());
    if (const auto reason = missing_precision(precision)) throw Unsupported(*reason);
    return cuda_engines(precision);
  }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision precision) const override {
    if (const auto reason = variant.rule->missing(form, settings)) return reason;
    if (!cuda_unavailable().empty()) return cuda_unavailable();
    if (const auto reason = missing_precision(precision)) return reason;
    return precision == Precision::tf32 ? cuda::missing_in_tf32(variant, settings, form) : std::nullopt;
  }

  std::vector<Output> run_heads(const Variant& variant, std::span<const Sequence> heads, Form form,
                                Precision precision, Index chunk_size, std::stop_token stop,
                                const HeadDone&) const override {
    if (heads.empty()) return {};
    if (const auto reason = missing(variant, heads.front().settings, form, precision))
      throw Unsupported(*reason);
    return cuda::naming(cuda::run_words(variant, heads, form, precision, chunk_size), [&] {
      return variant.rule->run_heads(heads, form, held_in(precision), chunk_size, std::move(stop),
                                     cuda_engines(precision));
    });
  }

  std::unique_ptr<Trace> trace(const Variant& variant, const Sequence& sequence, Form form,
                               Precision precision, Index chunk_size, std::size_t budget) const override {
    const std::string words =
        "a step of " + cuda::run_words(variant, {&sequence, 1}, form, precision, chunk_size);
    return cuda::named_trace(words, cuda::naming(words, [&] {
                               return Backend::trace(variant, sequence, form, precision, chunk_size, budget);
                             }));
  }

  RunTimes measure(const Variant& variant, std::span<const Sequence> heads, Form form, Precision precision,
                   Index chunk_size, const Repeats& repeats, std::stop_token stop) const override {
    if (heads.empty()) return {};
    if (const auto reason = missing(variant, heads.front().settings, form, precision))
      throw Unsupported(*reason);
    return cuda::measure(
        repeats, [&] { run_heads(variant, heads, form, precision, chunk_size, std::move(stop), {}); });
  }

  std::string what_is_timed() const override { return cuda::what_is_timed(); }

  std::optional<Roof> roof(Precision precision) const override {
    if (!cuda_unavailable().empty() || missing_precision(precision)) return std::nullopt;
    return cuda::roof(precision);
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace palimpsest
