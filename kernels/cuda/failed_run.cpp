#include "kernels/cuda/failed_run.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "kernels/cuda/check.h"

namespace palimpsest::cuda {

std::string run_words(const Variant& variant, std::span<const Sequence> heads, Form form, Precision precision,
                      Index chunk_size) {
  const Sequence& head = heads.front();
  const std::string chunks = has_chunks(form) ? fmt::format(" in chunks of {}", chunk_size) : "";
  return fmt::format("{}, {} in {} on cuda, {} {} of {} tokens, K {}, V {}{}", variant.id, name(form),
                     name(precision), heads.size(), heads.size() == 1 ? "head" : "heads", head.tokens,
                     head.dk, head.dv, chunks);
}

Error failed_run(const Error& error, std::string_view run) {
  // After a kernel that broke off every call fails, also of what had nothing to do with it.
  const cudaError_t now = cudaStreamSynchronize(nullptr);
  const std::string lost = succeeded(now)
                               ? ""
                               : fmt::format(
                                     ". The device does not answer any more ({}): start the program again, "
                                     "or go on with the CPU",
                                     cudaGetErrorName(now));
  return Error(fmt::format("{}: {}{}", run, error.what(), lost));
}

}  // namespace palimpsest::cuda
