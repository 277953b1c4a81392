#pragma once

#include <string>
#include <vector>

namespace palimpsest::testing {

/// A kernel of the program.
struct Kernel {
  std::string name;        // with its template's and its own arguments
  bool launched = false;   // since the program began
  bool on_device = false;  // whether it was compiled for the first device; false without one
};

/// All kernels that are linked into this program, by name.
std::vector<Kernel> kernels_of_the_program();

}  // namespace palimpsest::testing
