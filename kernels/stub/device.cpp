#include "kernels/device.h"

namespace palimpsest {

std::vector<Device> cuda_devices() { return {}; }

const std::string& cuda_unavailable() {
  static const std::string reason =
      "this program was built without CUDA; install the CUDA toolkit and build again with PALIMPSEST_CUDA=ON";
  return reason;
}

std::string cuda_runtime_version() { return ""; }

std::string cuda_driver_version() { return ""; }

}  // namespace palimpsest
