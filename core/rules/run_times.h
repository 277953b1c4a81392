#pragma once

#include <string>

namespace palimpsest {

/// What one run of a batch took, in seconds.
struct RunTimes {
  double compute = 0;      // with the inputs where they are computed on
  double transfers = 0;    // of inputs and results, to the device and back
  double allocations = 0;  // of memory on the device
  double whole = 0;        // by the clock, with what the processor does besides
};

/// What a device does at most, as it was measured.
struct Roof {
  double bytes_per_second = 0;  // of a copy: read and written
  double flops_per_second = 0;  // of matrix products; a multiply-add is two
  std::string copy = {};        // how the first was measured, in words
  std::string product = {};     // and the second

  bool operator==(const Roof&) const = default;
};

}  // namespace palimpsest
