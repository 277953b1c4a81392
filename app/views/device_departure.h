#pragma once

#include "app/session/prove_questions.h"
#include "app/studio/application.h"

namespace palimpsest {

/// The first tensor of a form that the device in use makes otherwise than the CPU, asked for where the form
/// is beyond what it is allowed. No value: that is not known yet, or there is nothing to ask.
Known<std::optional<WrongPlace>> ask_device_departure(Application& application, Form form);

/// Whether a form is beyond what it is allowed on a device that is not the CPU.
bool parts_on_device(const Computation& computed, Form form);

/// "cuda parts at token 12, in U": where, and in which tensor.
std::string departure_words(const Computation& computed, const Departure& at);

/// Steps to where a form departs, on the Stage of Step.
void go_to_departure(Application& application, Form form, const Departure& at);

}  // namespace palimpsest
