#pragma once

#include "app/views/view.h"

// What the panels of Verify share.

namespace palimpsest {

/// The form that Verify shows: the one with the fault, else the one that is stepped through.
Form proof_form(const Application& application);

/// The first tensor in which the current device differs from the CPU, requested only if the form exceeds its
/// tolerance. No value: not known yet, or not requested.
Known<std::optional<WrongPlace>> ask_device_departure(Application& application, Form form);

/// Whether a form exceeds its tolerance on a device other than the CPU.
bool parts_on_device(const Computation& computed, Form form);

/// "cuda differs from token 12 on, in U": where, and in which tensor.
std::string departure_words(const Computation& computed, const Departure& at);

/// Goes to the first difference of a form, on the Stage of Step.
void go_to_departure(Application& application, Form form, const Departure& at);

/// Where a difference of 0 is drawn, below all others; the axis is broken at exact_gap.
inline constexpr double exact = 1e-17;
inline constexpr double exact_gap = 1e-16;

/// A heading as high as one with segments, so that the headings of neighbouring panels align.
Node beside_segments(Node heading);

/// The style of a formula with a box of this colour around its wrong piece.
LatexStyle boxed_style(const FormulaChange& change, scene::Ink box);

/// Injects a fault into the form that Verify shows; an empty id removes it.
void inject(Application& application, const std::string& fault);

/// The effect of the injected fault; nothing if there is none.
Known<FaultFigures> ask_present_fault(Application& application);

/// The question for the chosen fragile form, and its answer.
FragileHere about_fragile(const Application& application);
Known<FragileFigures> ask_present_fragile(Application& application);

/// "No difference above 10⁻¹⁰ on this input (largest 6.24 × 10⁻¹⁶)."
std::string no_difference_words(double allowed, double largest);

/// The centre with a fragile form.
Node fragile_form(Application& application);

/// The result of the comparison; and the differences at every token: a row for a form, a point for a token.
std::string agreement_verdict(Application& application);
Node agreement_chart(Application& application);

/// What an array of results is called: "the outputs", "the memory", "the memory's Hkk".
std::string array_words(const std::string& array);

/// "f16: what is written underflows to 0 at …": how a number was lost in an arithmetic.
std::string lost_words(const Application& application, const Seen& seen, const LostNumber& lost);

}  // namespace palimpsest
