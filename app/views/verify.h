#pragma once

#include "app/views/view.h"

// What the panels of Verify share.

namespace palimpsest {

/// The form that Verify shows: the one with the fault, else the one that is stepped through.
inline Form proof_form(const Application& application) {
  const InjectedFault& fault = application.session.state().verify.fault;
  return fault.id.empty() ? application.session.choice().form : fault.form;
}

/// The first tensor in which the current device differs from the CPU, requested only if the form exceeds its
/// tolerance. No value: not known yet, or not requested.
Known<std::optional<WrongPlace>> ask_device_departure(Application& application, Form form);

/// Whether a form exceeds its tolerance on a device other than the CPU.
inline bool parts_on_device(const Computation& computed, Form form) {
  const FormResult& result = computed.form(form);
  const bool is_faulty = computed.right && computed.choice.fault.form == form;
  return !is_cpu(*computed.device) && !is_faulty && result.is_compared && result.missing.empty() &&
         !result.judgement.passed();
}

/// "cuda differs from token 12 on, in U": where, and in which tensor.
inline std::string departure_words(const Computation& computed, const Departure& at) {
  return fmt::format("{} differs from token {} on, in {}", computed.choice.device, at.token + 1, at.tensor);
}

/// Goes to the first difference of a form, on the Stage of Step.
void go_to_departure(Application& application, Form form, const Departure& at);

/// A heading as high as one with segments, so that the headings of neighbouring panels align.
inline Node beside_segments(Node heading) { return scene::framed(std::move(heading), Gap::none, Gap::small); }

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
inline std::string no_difference_words(double allowed, double largest) {
  return fmt::format("In f64 no difference exceeds {} on this input (largest {}).", plain_number(allowed),
                     plain_number(largest));
}

/// The centre with a fragile form.
Node fragile_form(Application& application);

/// The result of the comparison; and the differences at every token: a row for a form, a point for a token.
std::string agreement_verdict(Application& application);
Node agreement_chart(Application& application);

/// What an array of results is called: "the outputs", "the memory", "the memory's Hkk".
std::string array_words(const std::string& array);

}  // namespace palimpsest
