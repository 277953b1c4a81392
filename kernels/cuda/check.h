#pragma once

#include <cuda_runtime.h>

#include <string>

#include "core/base/error.h"

namespace palimpsest {

/// Throws Error with the call, its place and CUDA's words for `status`, unless that is success.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  throw Error(std::string(call) + " failed at " + file + ":" + std::to_string(line) + ": " +
              cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

}  // namespace palimpsest

/// Every call into CUDA goes through this.
#define CHECK_CUDA(call) ::palimpsest::check_cuda((call), #call, __FILE__, __LINE__)
