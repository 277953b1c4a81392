// A run so small that a sanitizer ends in minutes, and yet of every kernel of the program:
// compute-sanitizer --tool racecheck build/tests_kernels "[every-kernel]"

#include "tests/kernels/gpu.h"

#if PALIMPSEST_HAS_CUDA

#include <cuda_runtime.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "kernels/cuda/matrices.h"
#include "kernels/cuda/multiply_adds.h"
#include "kernels/cuda/row_kernels.h"

using namespace palimpsest;
using namespace palimpsest::testing;

// Code that nvcc makes tells the CUDA runtime of every kernel as the program starts, and asks it for a kernel
// when that is launched for the first time. The linker brings both calls here first (--wrap in
// tests/CMakeLists.txt).

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

namespace {

/// A kernel of the program.
struct LinkedKernel {
  std::string name;        // with its template's and its own arguments
  bool launched = false;   // since the program began
  bool on_device = false;  // whether it was compiled for the first device; false without one
};

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

/// All kernels that are linked into this program, by name.
std::vector<LinkedKernel> kernels_of_the_program() {
  const std::scoped_lock lock(seen().mutex);
  std::vector<LinkedKernel> all;
  for (const auto& [function, name] : seen().kernels)
    all.push_back({readable(name), seen().launched.contains(function), is_on_device(function)});
  std::ranges::sort(all, {}, &LinkedKernel::name);
  return all;
}

/// The usual options, and each of the others by itself.
std::vector<Settings> single_options(const Variant& variant) {
  const Settings usual = resolve(variant, {});
  std::vector<Settings> few;
  for (const Settings& given : option_choices(variant)) {
    const Settings settings = resolve(variant, given);
    const auto others = std::ranges::count_if(settings.options, [&](const auto& option) {
      return usual.options.at(option.first) != option.second;
    });
    if (others <= 1) few.push_back(given);
  }
  return few;
}

/// All rules, every second with an initial state, every fourth with gates as logarithms.
std::vector<Case> small_cases(RandomCase random) {
  std::vector<Case> cases;
  for (const Variant& variant : variants()) {
    for (const Settings& given : single_options(variant)) {
      random.initial_state = cases.size() % 2 == 0;
      random.log_gates = cases.size() % 4 < 2 && has_gates(variant);
      cases.push_back(random_case(variant, given, random));
    }
  }
  return cases;
}

/// Two heads alike give the same, and numbers.
void run_two_heads(const Case& each, Form form, Precision precision) {
  const std::vector<Sequence> heads = {each.sequence, each.sequence};
  const auto got = cuda_backend().run_heads(*each.variant, heads, form, precision, 16);
  REQUIRE(got.size() == 2);
  CHECK(got[0].o.allFinite());
  CHECK(got[0].o == got[1].o);
}

void run_every_form() {
  const auto cases = small_cases({.tokens = 19, .dk = 12, .dv = 12, .seed = 3});
  for (const Precision precision : all_precisions) {
    for_every_form(cases, precision,
                   [&](const Case& each, Form form) { run_two_heads(each, form, precision); });
  }
}

/// The plain kernels by which every step is shown.
void show_every_step() {
  const auto cases = small_cases({.tokens = 5, .dk = 6, .dv = 6, .seed = 4});
  for (const Precision precision : scalar_precisions) {
    for_every_form(cases, precision, [&](const Case& each, Form form) {
      const auto trace = each.variant->rule->trace(each.sequence, form, precision, 4, std::size_t{1} << 24,
                                                   cuda_backend().engines(precision));
      for (Index index = 0; index < trace->block_count(); ++index)
        CHECK_FALSE(trace->record(index).tensors().empty());
    });
  }
}

void run_wide(const char* id, const RandomCase& random, Form form, const std::vector<Precision>& precisions) {
  for (const Precision precision : precisions)
    for_every_form({random_case(id, random)}, precision, [&](const Case& each, Form any) {
      if (any == form) run_two_heads(each, form, precision);
    });
}

void run_wide_keys() {
  // The recurrence in registers has a kernel for every range of key channels.
  for (const char* const id : {"scalar_decay", "gated_deltanet", "gla", "kda"}) {
    for (const Index dk : {33, 65, 129, 257})
      run_wide(id, {.tokens = 3, .dk = dk, .dv = 5, .seed = 5}, Form::recurrent,
               {Precision::f64, Precision::f32});
    // So many columns that a lane takes two at a time.
    run_wide(id, {.tokens = 3, .dk = 65, .dv = 5000, .seed = 5}, Form::recurrent, {Precision::f32});
  }
  // One token with rows of 16 bytes.
  for (const Index dk : {32, 64, 128, 256})
    run_wide("gated_deltanet", {.tokens = 1, .dk = dk, .dv = 8, .seed = 5}, Form::recurrent,
             {Precision::f64, Precision::f32});
  // Columns that no block has shared memory for.
  run_wide("gla", {.tokens = 3, .dk = 40000, .dv = 2, .seed = 7}, Form::recurrent,
           {Precision::f64, Precision::f32});
  // In tf32 there is a kernel for up to 64 channels and one for more; in bf16 one, whose second tile is full
  // only then. So many tokens are several chunks of both.
  for (const char* const id : {"gated_deltanet", "gla", "softmax"})
    run_wide(id, {.tokens = 70, .dk = 65, .dv = 66, .seed = 6}, Form::chunkwise,
             {Precision::tf32, Precision::bf16});
  // So many chunks that few heads take them in segments.
  for (const char* const id : {"linear", "scalar_decay", "gla", "deltanet", "gated_deltanet", "kda"})
    run_wide(id, {.tokens = 1500, .dk = 12, .dv = 12, .seed = 8}, Form::chunkwise, {Precision::bf16});
  // So many values that the decays of every channel come in tables.
  run_wide("gla", {.tokens = 1500, .dk = 12, .dv = 400, .seed = 8}, Form::chunkwise, {Precision::bf16});
  // Chunks of more rows than a small tile has, than a large one, and than a block writes at once.
  for (const char* const id : {"gated_deltanet", "gla"})
    run_wide(id, {.tokens = 515, .dk = 5, .dv = 3, .seed = 8}, Form::parallel,
             {Precision::f64, Precision::f32});
}

/// So many heads that a product takes large tiles, which are cut off at both edges.
template <class Scalar>
void multiply_many_heads() {
  constexpr Index heads = 300;
  const Matrix<Scalar> A = Matrix<Scalar>::Random(130, 67);
  const Matrix<Scalar> B = Matrix<Scalar>::Random(67, 129);
  const std::vector<Matrix<Scalar>> all(heads, A);
  const auto left = DeviceMatrices<Scalar>::of_heads(std::span<const Matrix<Scalar>>(all));
  const DeviceMatrices<Scalar> right(B);
  DeviceMatrices<Scalar> product(heads, A.rows(), B.cols());
  const HeadMatrices<const Scalar> same = {right.data(), B.rows(), B.cols(), B.cols(), 1, 0};
  multiply(heads, 2, left, same, 0, {}, product.all());
  const Matrix<Scalar> expected = 2 * (A * B);
  const double enough = 100 * std::numeric_limits<Scalar>::epsilon() * static_cast<double>(B.rows());
  for (const Matrix<Scalar>& got : product.download())
    REQUIRE((got - expected).cwiseAbs().maxCoeff() <= static_cast<Scalar>(enough));
}

/// What the race measures the device by, and rounding, which no run asks for in f64.
void launch_the_rest() {
  multiply_many_heads<double>();
  multiply_many_heads<float>();
  DeviceArray<double> never(1);
  CHECK(cuda::multiply_adds<double>(never.data()) > 0);
  CHECK(cuda::multiply_adds<float>(never.data()) > 0);
  CHECK(cuda::bf16_multiply_adds(never.data()) > 0);
  CHECK(cuda::tf32_multiply_adds(never.data()) > 0);
  if (cuda::has_tensor_cores(cuda::Rounding::bf16)) CHECK(cuda::hopper_multiply_adds(never.data()) > 0);
  const double third = 1.0 / 3;
  double rounded = 0;
  never.upload(&third, 1);
  cuda::round_to_bf16(never.data(), 1);
  copy_numbers(&rounded, never.data(), 1, cudaMemcpyDeviceToHost);
  CHECK(rounded == 0.333984375);
}

}  // namespace

TEST_CASE("the kernels of the program are known by name") {
  const std::vector<LinkedKernel> kernels = kernels_of_the_program();
  for (const char* const name :
       {"walk_columns<double, true>(", "chain_columns<float>(", "attend(", "probe("}) {
    INFO(name);
    CHECK(std::ranges::any_of(kernels, [&](const auto& each) { return each.name.starts_with(name); }));
  }
}

TEST_CASE("a small run of every rule, form, precision and step launches every kernel", "[every-kernel]") {
  if (!has_gpu()) return;
  run_every_form();
  show_every_step();
  run_wide_keys();
  launch_the_rest();
  int launched = 0;
  std::string missed;
  for (const LinkedKernel& kernel : kernels_of_the_program()) {
    if (kernel.launched) {
      std::cout << fmt::format("{:>4} {}\n", ++launched, kernel.name);
    } else if (kernel.on_device && !kernel.name.starts_with("probe(")) {  // it is only to be loaded
      missed += kernel.name + '\n';
    }
  }
  INFO(missed);
  CHECK(missed.empty());
  CHECK(launched > 0);
}

#endif
