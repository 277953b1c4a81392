#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace palimpsest {

class Backend;

/// A graphics card that CUDA sees.
struct Device {
  std::string name;
  int major = 0;  // compute capability major.minor
  int minor = 0;
  int multiprocessors = 0;
  std::size_t memory = 0;   // bytes
  double clock = 0;         // the highest of its multiprocessors, in Hz
  double memory_clock = 0;  // in Hz
};

/// Every device of this machine; none without CUDA, driver or card. Never throws.
std::vector<Device> cuda_devices();

/// The CUDA kernels on the first device; refuses everything, with the reason, where there is none.
const Backend& cuda_backend();

/// The processor, named "cpu" as cpu_backend() is, with the kernels of kernels/cpu for whole heads in f32
/// where they know the rule. Where the program was built without them it is cpu_backend().
const Backend& fast_cpu_backend();

/// The vector instructions that they take here, as Highway names them: "AVX2"; empty without them.
std::string vector_instructions();

/// Why nothing can run on a device here; empty if the first device can be used. Determined once, then cached.
const std::string& cuda_unavailable();

/// "13.0": the CUDA runtime that the program was built with; empty if built without.
std::string cuda_runtime_version();

/// "13.0": the newest CUDA that the installed driver knows; empty without a driver.
std::string cuda_driver_version();

}  // namespace palimpsest
