#pragma once

#include <memory>
#include <string>

#include "core/rules/rule.h"

namespace palimpsest::cuda {

/// The steps of `trace`; an error in computing them is named `words` (failed_run.h).
std::unique_ptr<Trace> named_trace(std::string words, std::unique_ptr<Trace> trace);

}  // namespace palimpsest::cuda
