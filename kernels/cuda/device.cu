#include "kernels/device.h"

#include "kernels/cuda/check.h"

namespace palimpsest {

namespace {

/// Does nothing. Whether it can be loaded tells whether our kernels were compiled for a device.
__global__ void probe() {}

/// "13.0" from 13000.
std::string dotted(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// An attribute of a device that is a frequency, in Hz; 0 where it does not say.
double frequency(cudaDeviceAttr attribute, int device) {
  int kilohertz = 0;
  return succeeded(cudaDeviceGetAttribute(&kilohertz, attribute, device)) ? 1e3 * kilohertz : 0;
}

std::string find_reason() {
  if (cuda_driver_version().empty()) return "no NVIDIA driver was found";
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  const bool counted = succeeded(status);
  if (status == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is too old: it knows CUDA " + cuda_driver_version() + ", this program needs " +
           cuda_runtime_version() + " (" + cudaGetErrorString(status) + ")";
  }
  if (status == cudaErrorNoDevice || (counted && count == 0)) return "there is no CUDA device";
  if (!counted) return cudaGetErrorString(status);

  const std::vector<Device> devices = cuda_devices();
  if (devices.empty()) return "the CUDA device cannot be asked what it is";
  cudaFuncAttributes attributes{};
  const cudaError_t loaded = cudaFuncGetAttributes(&attributes, probe);
  if (succeeded(loaded)) return "";
  const Device& device = devices.front();
  return device.name + " has compute capability " + std::to_string(device.major) + "." +
         std::to_string(device.minor) + ", for which the kernels were not compiled; set " +
         "PALIMPSEST_CUDA_ARCHITECTURES and build again (" + cudaGetErrorString(loaded) + ")";
}

}  // namespace

std::vector<Device> cuda_devices() {
  std::vector<Device> devices;
  int count = 0;
  if (!succeeded(cudaGetDeviceCount(&count))) return devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (!succeeded(cudaGetDeviceProperties(&properties, index))) continue;
    devices.push_back({properties.name, properties.major, properties.minor, properties.multiProcessorCount,
                       properties.totalGlobalMem, frequency(cudaDevAttrClockRate, index),
                       frequency(cudaDevAttrMemoryClockRate, index)});
  }
  return devices;
}

const std::string& cuda_unavailable() {
  static const std::string reason = find_reason();
  return reason;
}

std::string cuda_runtime_version() { return dotted(CUDART_VERSION); }

std::string cuda_driver_version() {
  int version = 0;
  if (!succeeded(cudaDriverGetVersion(&version)) || version == 0) return "";
  return dotted(version);
}

}  // namespace palimpsest
