#include "app/session/devices.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <fstream>

#include "core/base/parallel_for.h"
#include "core/race/race.h"
#include "kernels/device.h"

namespace palimpsest {

Devices backends() {
  static const std::array<const Backend*, 2> all = {&cpu_backend(), &cuda_backend()};
  return all;
}

Devices fastest_backends() {
  static const std::array<const Backend*, 2> all = {&fast_cpu_backend(), &cuda_backend()};
  return all;
}

const Backend& find_backend(std::string_view name, Devices devices) {
  return *find_row(devices, name, &Backend::name,
                   fmt::format("there is no device \"{}\"; expected one of", name));
}

std::string unavailable(const Backend& backend) {
  if (&backend == &cuda_backend()) return cuda_unavailable();  // called in every frame: no exceptions
  return why_unsupported([&] { backend.engines(Precision::f32); });
}

std::string why_not_in(const Backend& backend, Precision precision) {
  return backend.missing_precision(precision).value_or("");
}

const Backend& usable_backend(std::string_view name, Devices devices) {
  const Backend& backend = find_backend(name, devices);
  if (const std::string reason = unavailable(backend); !reason.empty())
    throw Unsupported(fmt::format("the device {} cannot be used: {}", name, reason));
  return backend;
}

std::vector<const Backend*> usable_backends() {
  std::vector<const Backend*> usable(fastest_backends().begin(), fastest_backends().end());
  std::erase_if(usable, [](const Backend* backend) { return !unavailable(*backend).empty(); });
  return usable;
}

std::string unusable_words(std::string_view what) {
  std::string words;
  for (const Backend* const backend : backends()) {
    const std::string reason = unavailable(*backend);
    if (!reason.empty()) words += fmt::format("The device {} {}: {}\n", backend->name(), what, reason);
  }
  return words;
}

std::string leave_to_cpu(const std::string& reason, std::string& device, Precision& precision) {
  device = cpu_backend().name();
  const std::string sentence = reason + (reason.ends_with('.') ? "" : ".");
  if (why_not_in(cpu_backend(), precision).empty()) return sentence + " The CPU continues.";
  precision = held_in(precision);
  return fmt::format("{} The CPU continues in {}.", sentence, name(precision));
}

std::string describe(const Backend& backend) {
  if (const std::string reason = unavailable(backend); !reason.empty()) return "cannot be used: " + reason;
  if (is_cpu(backend)) return fmt::format("{} threads", processor_threads());
  std::vector<std::string> cards;
  for (const Device& card : cuda_devices())
    cards.push_back(fmt::format("{}, compute capability {}.{}, {} GiB", card.name, card.major, card.minor,
                                card.memory >> 30));
  return fmt::format("{}", fmt::join(cards, "; "));
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string present_date() {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::now()));
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
