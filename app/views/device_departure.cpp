#include "app/views/device_departure.h"

#include <fmt/format.h>

#include <algorithm>

namespace palimpsest {

bool parts_on_device(const Computation& computed, Form form) {
  const FormResult& result = computed.form(form);
  const bool is_faulty = computed.right && computed.choice.fault.form == form;
  return !is_cpu(*computed.device) && !is_faulty && result.is_compared && result.missing.empty() &&
         !result.judgement.passed();
}

Known<std::optional<WrongPlace>> ask_device_departure(Application& application, Form form) {
  const auto computed = application.session.computed();
  if (!computed || !parts_on_device(*computed, form)) return {};
  WrongHere key{{without_fault(computed)}, form, {}};
  key.tolerance = std::max(step_tolerance, computed->form(form).judgement.allowed());
  return application.session.questions().ask(key, Urgency::later);
}

std::string departure_words(const Computation& computed, const Departure& at) {
  return fmt::format("{} parts at token {}, in {}", computed.choice.device, at.token, at.tensor);
}

void go_to_departure(Application& application, Form form, const Departure& at) {
  application.playing = false;
  application.show_welcome = false;
  Choice choice = application.session.choice();
  choice.form = form;
  application.session.choose(std::move(choice));
  if (const Trace* trace = application.session.trace()) {
    const Block block = trace->block(at.block);
    const std::vector<Operation>& operations = trace->phase(block).operations;
    const auto operation = std::ranges::find(operations, at.operation, &Operation::id);
    application.session.set_cursor({at.block, operation - operations.begin(), at.token - block.first_token});
  }
  application.enter("step");
}

}  // namespace palimpsest
