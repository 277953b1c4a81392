#include "app/session/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <utility>

#include "core/base/parallel_for.h"
#include "kernels/device.h"

namespace palimpsest {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string present_date() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

RaceMachine this_machine(std::string program) {
  RaceMachine machine = {.processor = processor_name(),
                         .threads = static_cast<Index>(processor_threads()),
                         .program = std::move(program)};
  if (!cuda_unavailable().empty()) return machine;
  const Device card = cuda_devices().front();
  machine.gpu = card.name;
  machine.driver = cuda_driver_version();
  machine.clocks =
      fmt::format("at most {:.0f} MHz, memory {:.0f} MHz", card.clock / 1e6, card.memory_clock / 1e6);
  return machine;
}

}  // namespace palimpsest
