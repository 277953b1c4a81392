#include "core/rules/backend.h"
#include "kernels/device.h"

// Stands in for kernels/cpu where there is no Highway, as in a page.

namespace palimpsest {

const Backend& fast_cpu_backend() { return cpu_backend(); }

std::string vector_instructions() { return ""; }

}  // namespace palimpsest
