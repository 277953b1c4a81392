#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// How often a device repeats a computation while it holds the inputs, where it can: `most` times, but no
/// more than `least` once they took `seconds`.
struct Repeats {
  Index most = 1;
  Index least = 1;
  double seconds = 0;
};

/// What one run of a batch took, in seconds.
struct RunTimes {
  std::vector<double> compute = {};  // of every repeat, with the inputs on the device; one or more
  double transfers = 0;              // of inputs and results, to the device and back
  double allocations = 0;            // of memory on the device
  double whole = 0;                  // wall-clock time with the processor's work, computing once
  double spent = 0;                  // wall-clock time of everything
};

/// The measured limits of a device.
struct Roof {
  double bytes_per_second = 0;  // of a copy: read and written
  double flops_per_second = 0;  // of matrix products; a multiply-add is two
  std::string copy = {};        // how the first was measured, in words
  std::string product = {};     // and the second

  bool operator==(const Roof&) const = default;
};

}  // namespace palimpsest
