#include "app/views/shown.h"

#include "app/gl/context_local.h"
#include "core/steps/turned.h"

namespace palimpsest {

namespace {

/// The last record that was turned: to turn it takes longer than to look at it in every frame.
struct TurnedBlock {
  std::weak_ptr<const Record> of;
  Phase phase;
  Record record;
};

}  // namespace

Shown shown(const Application& application) {
  const Sight& sight = application.session.sight();
  const Trace& trace = *sight.trace;
  const Phase& phase = trace.phase(trace.block(sight.cursor.block));
  if (!application.view.state_value_by_key) return {phase, *sight.record};
  auto& block = context_local<TurnedBlock>();
  if (block.of.lock() != sight.record)
    block = {sight.record, turned(phase, trace.symbols, *sight.record), turned(*sight.record, trace.symbols)};
  return {block.phase, block.record};
}

}  // namespace palimpsest
