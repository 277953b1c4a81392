#pragma once

#include "app/views/view.h"

// What the panels of Verify share.

namespace palimpsest {

/// The form that Verify looks at: the one with the fault, else the one that is stepped through.
Form proof_form(const Application& application);

/// The first tensor of a form that the device in use makes otherwise than the CPU, asked for where the form
/// is beyond what it is allowed. No value: that is not known yet, or there is nothing to ask.
Known<std::optional<WrongPlace>> ask_device_departure(Application& application, Form form);

/// Whether a form is beyond what it is allowed on a device that is not the CPU.
bool parts_on_device(const Computation& computed, Form form);

/// "cuda differs from token 12 on, in U": where, and in which tensor.
std::string departure_words(const Computation& computed, const Departure& at);

/// Steps to where a form departs, on the Stage of Step.
void go_to_departure(Application& application, Form form, const Departure& at);

/// Where a difference of 0 is drawn, below all others; from exact_gap down numbers are no scale.
inline constexpr double exact = 1e-17;
inline constexpr double exact_gap = 1e-16;

/// A heading as high as one with segments, so that those of neighbouring panels stand on one line.
Node beside_segments(Node heading);

/// How a formula is written whose wrong piece stands in a box of this colour.
LatexStyle boxed_style(const FormulaChange& change, scene::Ink box);

/// Puts a fault into the form that is looked at; an empty id takes it out.
void inject(Application& application, const std::string& fault);

/// What the present fault does; nothing where none is in.
Known<FaultFigures> ask_present_fault(Application& application);

/// A fragile form as it is looked at, and the question for that.
FragileHere about_fragile(const Application& application);
Known<FragileFigures> ask_present_fragile(Application& application);

/// "No difference above 10⁻¹⁰ on this input (largest 6.24 × 10⁻¹⁶)."
std::string no_difference_words(double allowed, double largest);

/// The centre while a fragile form is looked at, and while nothing is wrong.
Node fragile_form(Application& application);
Node agreement(Application& application);

/// What the forms come to, and how much each differs at every token: a row each, a point for a token.
std::string agreement_verdict(Application& application);
Node agreement_chart(Application& application);

/// What an array of results is called: "the outputs", "the memory", "the memory's Hkk".
std::string array_words(const std::string& array);

/// "f16: what is written underflows to 0 at …": what became of a number on its way through an arithmetic.
std::string lost_words(const Application& application, const Seen& seen, const LostNumber& lost);

}  // namespace palimpsest
