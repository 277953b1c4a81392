
#include "core/base/error.h"
#include "core/rules/rule.h"
#include "kernels/cuda/cuda_engines.h"
#include "kernels/cuda/measure.h"
#include "kernels/cuda_backend.h"
#include "kernels/device.h"

namespace palimpsest {

namespace {

class CudaBackend : public Backend {
 public:
  std::string name() const override { return "cuda"; }

  const DeviceEngines& engines() const override {
    if (!cuda_unavailable().empty()) throw Unsupported(cuda_unavailable());
    return cuda_engines();
  }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision) const override {
    if (const auto reason = variant.rule->missing(form, settings)) return reason;
    if (!cuda_unavailable().empty()) return cuda_unavailable();
    return std::nullopt;
  }

  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    return std::move(
        run_heads(variant, {&sequence, 1}, form, precision, chunk_size, std::move(stop)).front());
  }

  std::vector<Output> run_heads(const Variant& variant, std::span<const Sequence> heads, Form form,
                                Precision precision, Index chunk_size, std::stop_token stop) const override {
    if (heads.empty()) return {};
    if (const auto reason = missing(variant, heads.front().settings, form, precision))
      throw Unsupported(*reason);
    return variant.rule->run_heads(heads, form, precision, chunk_size, std::move(stop), engines());
  }

  RunTimes measure(const Variant& variant, std::span<const Sequence> heads, Form form, Precision precision,
                   Index chunk_size, std::stop_token stop) const override {
    if (heads.empty()) return {};
    if (const auto reason = missing(variant, heads.front().settings, form, precision))
      throw Unsupported(*reason);
    return cuda::measure([&] { run_heads(variant, heads, form, precision, chunk_size, std::move(stop)); });
  }

  std::string what_is_timed() const override { return cuda::what_is_timed(); }

  std::optional<Roof> roof(Precision precision) const override {
    if (!cuda_unavailable().empty()) return std::nullopt;
    return cuda::roof(precision);
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace palimpsest
