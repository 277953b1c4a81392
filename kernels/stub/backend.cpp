#include "core/rules/backend.h"
#include "kernels/device.h"

namespace palimpsest {

namespace {

/// Stands in for the CUDA kernels where the program was built without them.
class NoCudaBackend : public Backend {
 public:
  std::string name() const override { return "cuda"; }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision) const override {
    if (const auto reason = variant.rule->missing(form, settings)) return reason;
    return cuda_unavailable();
  }

  std::optional<std::string> missing_precision(Precision precision) const override {
    if (precision == held_in(precision)) return std::nullopt;
    return cuda_unavailable();
  }

  const DeviceEngines& engines(Precision) const override { throw Unsupported(cuda_unavailable()); }

  std::vector<Output> run_heads(const Variant& variant, std::span<const Sequence> heads, Form form,
                                Precision precision, Index, std::stop_token, const HeadDone&) const override {
    if (heads.empty()) return {};
    throw Unsupported(*missing(variant, heads.front().settings, form, precision));
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const NoCudaBackend backend;
  return backend;
}

std::vector<Device> cuda_devices() { return {}; }

const std::string& cuda_unavailable() {
  static const std::string reason = PALIMPSEST_WHY_NO_CUDA;
  return reason;
}

std::string cuda_runtime_version() { return ""; }

std::string cuda_driver_version() { return ""; }

}  // namespace palimpsest
