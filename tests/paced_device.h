#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "app/session/devices.h"
#include "core/base/error.h"
#include "tests/told_device.h"

// A device for races that takes time as tokens do, and from some length on does not end before somebody stops
// it.

namespace palimpsest::testing {

class PacedBackend : public ToldDevice {
 public:
  std::atomic<Index> endless_from = 1000;  // tokens

  std::string name() const override { return "cuda"; }  // the program has commands for it
  RunTimes measure(const Variant&, std::span<const Sequence> heads, Form form, Precision, Index,
                   const Repeats&, std::stop_token stop) const override {
    const Index tokens = heads.front().tokens;
    while (tokens >= endless_from && !stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (stop.stop_requested()) throw Cancelled();
    const double seconds = 1e-7 * static_cast<double>(tokens) * (form == Form::recurrent ? 1 : 2);
    return {.compute = {seconds}, .transfers = 0, .allocations = 0, .whole = seconds, .spent = seconds};
  }
  std::string what_is_timed() const override { return "nothing"; }
  std::optional<Roof> roof(Precision) const override {
    return Roof{.bytes_per_second = 1e10, .flops_per_second = 1e11, .copy = "told", .product = "told"};
  }

  /// The processor, and this device.
  Devices beside_cpu() {
    both_ = {&cpu_backend(), this};
    return both_;
  }

 private:
  std::array<const Backend*, 2> both_ = {};
};

/// The one that tests share.
inline PacedBackend& paced_device() {
  static PacedBackend device;
  return device;
}

}  // namespace palimpsest::testing
