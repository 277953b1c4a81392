#include "app/session/fused_words.h"

#include "core/rules/backend.h"

namespace palimpsest {

std::string fused_words(const Computation& computed, Form form) {
  const InjectedFault& fault = computed.choice.fault;
  const bool is_carried_out = !fault.id.empty() && fault.form == form;  // by the CPU
  if (is_carried_out || !computed.form(form).missing.empty()) return {};
  return fused_kernel(*computed.device, *computed.variant, computed.sequence, form,
                      computed.choice.precision);
}

}  // namespace palimpsest
