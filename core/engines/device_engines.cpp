
#include "core/engines/device_engines.h"

#include "core/operator/program.h"

namespace palimpsest {

const char* name(KernelKind kernel) {
  switch (kernel) {
    case KernelKind::plain:
      return "plain kernel";
    case KernelKind::registers:
      return "in registers";
    case KernelKind::tensor_cores:
      break;
  }
  return "tensor cores";
}

// All fields by name: whoever adds one to Structure is asked here whether the kernels know it.

bool fit_tensor_cores(const Structure& structure, Index K) {
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return K <= most_tensor_core_channels && !value_decay && erase != Erase::undecayed && !erase_key &&
         writes_value && !plain_write && read_at != ReadAt::end && rows_per_read == 1 && parts.empty();
}

bool fits_tensor_cores(Index K, Index V, bool fades) {
  return K <= most_tensor_core_channels && V <= most_tensor_core_channels && !fades;
}

bool fit_registers(const Structure& structure, Index K) {
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return K <= most_register_channels && decay != Decay::key && !value_decay && erase != Erase::undecayed &&
         !erase_key && writes_value && !plain_write && read_at == ReadAt::after_row && rows_per_read == 1 &&
         parts.empty();
}

}  // namespace palimpsest
