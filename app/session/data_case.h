#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/session/data_set.h"
#include "core/proof/verify_plan.h"

namespace palimpsest {

/// The first head of `data` as a case of verify(): `variant` gets what the window would give it. Throws
/// InputError where it cannot take these data.
VerifyCase data_case(const Variant& variant, std::shared_ptr<const DataSet> data, const Settings& given,
                     Index chunk_size);

/// The data of a case, to be opened: arrays of one head, with the variant for a rule.
DataSet data_of_case(const VerifyCase& verified);

/// Every preset as a case of each of `variants`, in chunks of 64: 257 and 1100 tokens, and one of 4096.
std::vector<VerifyCase> preset_cases(std::span<const Variant> variants);

}  // namespace palimpsest
