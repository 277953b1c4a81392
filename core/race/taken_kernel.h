#pragma once

#include <optional>
#include <span>

#include "core/contract/variant.h"
#include "core/race/report.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// What a GPU computes a whole run with (docs/kernels.md).
enum class KernelKind {
  plain,        // written to be read
  registers,    // row by row, with the memory in registers
  tensor_cores  // matrix products on tensor cores
};

/// "plain kernel", "in registers", "tensor cores".
const char* name(KernelKind kernel);

/// With what an entry of a report was measured. A report does not say so: it follows from the precision, the
/// form and what the rule computes, and for bf16 from the instructions that its roof was measured with.
/// Nothing on a processor, and where it does not follow.
std::optional<KernelKind> taken_kernel(const RaceEntry& entry, const RaceReport& report,
                                       std::span<const Variant> table = variants());

/// Whether the kernels for tensor cores know this rule at this size in chunks, in bf16 and tf32 that is, even
/// if `entry` is in another precision.
bool has_tensor_cores(const RaceEntry& entry, std::span<const Variant> table = variants());

}  // namespace palimpsest
