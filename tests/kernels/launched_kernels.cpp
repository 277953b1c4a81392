// Code that nvcc makes tells the CUDA runtime of every kernel as the program starts, and asks it for a kernel
// when that is launched for the first time. The linker brings both calls here first (--wrap in
// tests/CMakeLists.txt).

#include "tests/kernels/launched_kernels.h"

#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "kernels/device.h"

namespace {

struct Seen {
  std::mutex mutex;
  std::map<const void*, std::string> kernels;  // mangled names by the function that launches them
  std::set<const void*> launched;
};

Seen& seen() {
  static Seen all;
  return all;
}

void remember_launch(const void* function) {
  const std::scoped_lock lock(seen().mutex);
  seen().launched.insert(function);
}

}  // namespace

// Names that the linker makes; weak, since each version of CUDA launches by one of the two last.
extern "C" {
void __real___cudaRegisterFunction(void** fat, const char* function, char* device_function, const char* name,
                                   int threads, uint3*, uint3*, dim3*, dim3*, int*);
[[gnu::weak]] cudaError_t __real___cudaGetKernel(cudaKernel_t* kernel, const void* function);
[[gnu::weak]] cudaError_t __real_cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block,
                                                       void** arguments, std::size_t shared,
                                                       cudaStream_t stream);

void __wrap___cudaRegisterFunction(void** fat, const char* function, char* device_function, const char* name,
                                   int threads, uint3* thread, uint3* block, dim3* blocks, dim3* grid,
                                   int* warp) {
  {
    const std::scoped_lock lock(seen().mutex);
    seen().kernels[function] = name;
  }
  __real___cudaRegisterFunction(fat, function, device_function, name, threads, thread, block, blocks, grid,
                                warp);
}

cudaError_t __wrap___cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  remember_launch(function);
  return __real___cudaGetKernel(kernel, function);
}

cudaError_t __wrap_cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                         std::size_t shared, cudaStream_t stream) {
  remember_launch(function);
  return __real_cudaLaunchKernel_ptsz(function, grid, block, arguments, shared, stream);
}
}

namespace palimpsest::testing {

namespace {

/// "walk_columns<double, true>(RowPrograms<double>, Room, RecurrentTap<double>)"
std::string readable(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : mangled;
  for (const std::string said : {"void ", "(anonymous namespace)::", "palimpsest::", "cuda::"}) {
    for (std::size_t at = name.find(said); at != std::string::npos; at = name.find(said))
      name.erase(at, said.size());
  }
  return name;
}

bool is_on_device(const void* function) {
  if (!cuda_unavailable().empty()) return false;
  cudaFuncAttributes attributes{};
  const bool is = cudaFuncGetAttributes(&attributes, function) == cudaSuccess;
  cudaGetLastError();  // the next call is not to fail for this one
  return is;
}

}  // namespace

std::vector<Kernel> kernels_of_the_program() {
  const std::scoped_lock lock(seen().mutex);
  std::vector<Kernel> all;
  for (const auto& [function, name] : seen().kernels)
    all.push_back({readable(name), seen().launched.contains(function), is_on_device(function)});
  std::ranges::sort(all, {}, &Kernel::name);
  return all;
}

}  // namespace palimpsest::testing

#else

std::vector<palimpsest::testing::Kernel> palimpsest::testing::kernels_of_the_program() { return {}; }

#endif
