#include "core/rules/backend.h"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/base/parallel_for.h"
#include "core/rules/run_times.h"

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
         "once in threads; caches are as the run before leaves them; making the data is not timed";
}

std::optional<Roof> Backend::roof(Precision) const { return std::nullopt; }

namespace {

class CpuBackend : public Backend {
 public:
  std::string name() const override { return "cpu"; }

  const DeviceEngines& engines(Precision precision) const override {
    require(precision);
    return cpu_engines();
  }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision precision) const override {
    if (auto reason = variant.rule->missing(form, settings)) return reason;
    return missing_precision(precision);
  }

  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    require(precision);
    return variant.rule->run(sequence, form, precision, chunk_size, std::move(stop));
  }

  std::vector<Output> run_heads(const Variant& variant, std::span<const Sequence> heads, Form form,
                                Precision precision, Index chunk_size, std::stop_token stop,
                                const HeadDone& head_done) const override {
    if (heads.empty()) return {};
    require(precision);
    const Footprint footprint = variant.rule->footprint(heads.front(), form, precision, chunk_size);
    std::vector<Output> outputs(heads.size());
    parallel_for(static_cast<Index>(heads.size()), heads_at_once(footprint.work, processor_threads()),
                 [&](Index i) {
                   const auto head = static_cast<std::size_t>(i);
                   outputs[head] = run(variant, heads[head], form, precision, chunk_size, stop);
                   if (head_done) head_done();
                 });
    return outputs;
  }

  std::optional<Roof> roof(Precision precision) const override {
    if (missing_precision(precision)) return std::nullopt;
    return processor_roof(precision);
  }

 protected:
  void require(Precision precision) const {
    if (const auto reason = missing_precision(precision)) throw Unsupported(*reason);
  }
};

class AskingBackend : public CpuBackend {
 public:
  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    require(precision);
    try {
      return {variant.rule->answers(sequence, form, precision, chunk_size, std::move(stop)), {}};
    } catch (const Unsupported& reason) {
      throw Unsupported(fmt::format("{}: {}", variant.id, reason.what()));
    }
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

const Backend& asking_backend() {
  static const AskingBackend backend;
  return backend;
}

namespace {

std::string words(KernelKind kernel, Precision precision) {
  if (kernel == KernelKind::registers) return "one kernel that holds the memory in registers";
  return precision == Precision::tf32 ? "fused kernels on tensor cores in tf32"
                                      : "fused kernels on tensor cores";
}

}  // namespace

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
