#include "kernels/device.h"

#include "tests/catch.h"
#include "tests/kernels/gpu.h"

#if PALIMPSEST_HAS_CUDA
#include "kernels/cuda/check.h"
#endif

using namespace palimpsest;

TEST_CASE("where no kernel can run there is a reason, and without CUDA there are no devices") {
  if (cuda_devices().empty()) CHECK_FALSE(cuda_unavailable().empty());
  if (cuda_unavailable().empty()) CHECK_FALSE(cuda_driver_version().empty());
  CHECK(cuda_runtime_version().empty() == !PALIMPSEST_HAS_CUDA);
  if (!PALIMPSEST_HAS_CUDA) CHECK_THAT(cuda_unavailable(), testing::says("built without CUDA"));
}

TEST_CASE("every device has a name, memory and a compute capability") {
  if (!testing::has_gpu()) return;
  for (const Device& device : cuda_devices()) {
    INFO(device.name);
    CHECK_FALSE(device.name.empty());
    CHECK(device.major >= 5);
    CHECK(device.multiprocessors > 0);
    CHECK(device.memory > (std::size_t{1} << 28));
  }
}

#if PALIMPSEST_HAS_CUDA

TEST_CASE("a call that failed leaves no error behind for the next one") {
  if (!testing::has_gpu()) return;  // without a driver every call fails, that for the last error too
  CHECK_THROWS_AS(CHECK_CUDA(cudaSetDevice(-1)), Error);
  CHECK(cudaGetLastError() == cudaSuccess);
}

#endif
