#include "app/panels/shown.h"

#include "app/gl/context_local.h"
#include "core/steps/turned.h"

namespace palimpsest {

namespace {

/// The last block that was turned: to turn it takes longer than to look at it in every frame.
struct TurnedBlock {
  std::uint64_t version = 0;
  Form form = Form::recurrent;
  Index index = -1;
  Phase phase;
  Record record;
};

}  // namespace

Shown shown(const Application& application, Trace& trace, Index index) {
  const Phase& phase = trace.phase(trace.block(index));
  const Record& record = trace.record(index);
  if (!application.view.state_value_by_key) return {phase, record};
  auto& block = context_local<TurnedBlock>();
  const std::uint64_t version = application.session.computed()->version;
  if (block.version != version || block.form != trace.form || block.index != index) {
    block = {version, trace.form, index, turned(phase, trace.symbols, record), turned(record, trace.symbols)};
  }
  return {block.phase, block.record};
}

}  // namespace palimpsest
