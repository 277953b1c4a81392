#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// How often a device computes the same while it has the inputs, where it can: `most` times, but no more than
/// `least` once they took so many seconds.
struct Repeats {
  Index most = 1;
  Index least = 1;
  double seconds = 0;
};

/// What one run of a batch took, in seconds.
struct RunTimes {
  std::vector<double> compute = {};  // every time, with the inputs where they are computed on; one or more
  double transfers = 0;              // of inputs and results, to the device and back
  double allocations = 0;            // of memory on the device
  double whole = 0;                  // by the clock, with what the processor does besides, computing once
  double spent = 0;                  // by the clock, all in all
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
