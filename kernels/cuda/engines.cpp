#include "kernels/cuda/engines.h"

#include <fmt/format.h>

#include "core/rules/row_rule.h"
#include "kernels/cuda/engine.h"

namespace palimpsest {

DeviceMemory memory_of_device() {
  DeviceMemory memory;
  CHECK_CUDA(cudaMemGetInfo(&memory.free, &memory.total));
  return memory;
}

void* allocate_on_device(std::size_t bytes) {
  // The device's pool keeps freed memory: the next run takes it without waiting for the driver.
  [[maybe_unused]] static const bool keeps = [] {
    cudaMemPool_t pool = nullptr;
    CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::uint64_t everything = UINT64_MAX;
    CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
    return true;
  }();
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, nullptr);
  if (!succeeded(status) && status == cudaErrorMemoryAllocation) {
    const auto [free, total] = memory_of_device();
    throw Error(fmt::format(
        "the CUDA device has no {:.1f} MB left ({:.0f} of {:.0f} MB are free); use fewer tokens or heads, "
        "smaller chunks, or the CPU",
        static_cast<double>(bytes) / 1e6, static_cast<double>(free) / 1e6, static_cast<double>(total) / 1e6));
  }
  CHECK_CUDA(status);
  CHECK_CUDA(cudaMemsetAsync(data, 0xff, bytes, nullptr));
  return data;
}

namespace cuda {

namespace {

/// The engine of a family, made once.
template <template <class> class Operator, class Scalar, Rounding rounding>
const Engine<Operator, Scalar>& the_engine() {
  static const OwnedEngine<Operator, Scalar> owned = make_engine<Operator, Scalar>(rounding);
  return *owned;
}

template <class Scalar, Rounding rounding>
Engines<Scalar> all_engines() {
  return {the_engine<Program, Scalar, rounding>(),         the_engine<CachedQueries, Scalar, rounding>(),
          the_engine<MambaRows, Scalar, rounding>(),       the_engine<NetworkRows, Scalar, rounding>(),
          the_engine<LactTokens, Scalar, rounding>(),      the_engine<MesaRows, Scalar, rounding>(),
          the_engine<LeastSquaresKeys, Scalar, rounding>()};
}

/// Whether the kernels support the rows of this rule; called in every frame.
bool has_kernels(const Variant& variant, const Settings& settings) {
  const RowRule* const rows = variant.rule->row_program();
  return rows && fit_tensor_cores(rows->structure(settings), 1);
}

}  // namespace

std::optional<std::string> missing_in_tf32(const Variant& variant, const Settings& settings, Form form) {
  if (form != Form::chunkwise) return "tf32 is for products on tensor cores; this form has no kernel of them";
  const bool is_softmax = hands_on(variant, "k_cache");  // its keys decay where their gates are handed on
  if (is_softmax ? !hands_on(variant, "g_cache") : has_kernels(variant, settings)) return std::nullopt;
  return "tf32 is for products on tensor cores; the kernels of them do not know what this rule computes";
}

}  // namespace cuda

const DeviceEngines& cuda_engines(Precision precision) {
  using namespace cuda;
  static const Engines<double> f64 = all_engines<double, Rounding::none>();
  static const DeviceEngines as_given = {f64, all_engines<float, Rounding::none>()};
  static const DeviceEngines in_tf32 = {f64, all_engines<float, Rounding::tf32>()};
  static const DeviceEngines in_bf16 = {f64, all_engines<float, Rounding::bf16>()};
  if (precision == Precision::tf32) return in_tf32;
  return precision == Precision::bf16 ? in_bf16 : as_given;
}

}  // namespace palimpsest
