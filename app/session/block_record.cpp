#include "app/session/block_record.h"

#include "core/base/error.h"

namespace palimpsest {

bool BlockRecord::operator<(const BlockRecord& other) const {
  if (trace.owner_before(other.trace)) return true;
  return !other.trace.owner_before(trace) && block < other.block;
}

std::shared_ptr<const Record> BlockRecord::compute(const Effort& effort) const {
  const std::shared_ptr<const Trace> present = trace.lock();
  if (!present) throw Cancelled();
  return present->shared_record(block, effort.stop);
}

std::size_t BlockRecord::bytes(const Record& record) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : record.tensors())
    bytes += static_cast<std::size_t>(tensor.size()) * sizeof(double);
  return bytes;
}

}  // namespace palimpsest
