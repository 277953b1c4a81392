#pragma once

#include <string>

#include "core/contract/sequence.h"

namespace palimpsest {

/// "3 of 4 heads of 1024 tokens done on cpu": where a run of the batch is; without the heads that are done,
/// of which a device may tell nothing, "4 heads of 1024 tokens on cuda".
std::string describe_progress(const SequenceBatch& batch, const std::string& device, Index done);

}  // namespace palimpsest
