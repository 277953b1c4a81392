#pragma once

#include "core/rules/backend.h"

namespace palimpsest {

/// Devices to choose from, the CPU first.
using Devices = std::span<const Backend* const>;

/// Every device that the program knows, whether it can be used here or not. The CPU has the engines whose
/// steps are shown.
Devices backends();

/// The same under the same names, to run whole heads on: the CPU takes fast kernels where it has one.
Devices fastest_backends();

/// The backend called `name`; throws InputError listing all.
const Backend& find_backend(std::string_view name, Devices devices = backends());

/// Why nothing at all runs on this device here; empty if it can be used.
std::string unavailable(const Backend& backend);

/// Why a device does not compute in this precision; empty if it does, provided that it can be used.
std::string why_not_in(const Backend& backend, Precision precision);

/// The backend called `name`, to be used at once: throws InputError as find_backend() does, Unsupported with
/// the reason where it cannot be used here.
const Backend& usable_backend(std::string_view name, Devices devices = backends());

/// The fastest_backends() that can be used here.
std::vector<const Backend*> usable_backends();

/// A line for each device that cannot be used: "The device cuda was not checked: there is no driver".
std::string unusable_words(std::string_view what);

/// Switches to the CPU, in f32 if it lacks the precision, and returns why: "... The CPU continues in f32."
std::string leave_to_cpu(const std::string& reason, std::string& device, Precision& precision);

/// The device in words: "2 threads", "NVIDIA H200, compute capability 9.0, 139 GiB".
std::string describe(const Backend& backend);

struct RaceMachine;

/// The processor as the kernel calls it.
std::string processor_name();

/// "2026-11-22 09:30 UTC".
std::string present_date();

/// This machine. `program` describes the program that runs.
RaceMachine this_machine(std::string program);

}  // namespace palimpsest
