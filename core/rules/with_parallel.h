#pragma once

#include <functional>
#include <memory>

#include "core/rules/rule.h"

namespace palimpsest {

/// `rule`, but with the parallel form of `parallel` where `applies` says so: some rules are row programs with
/// some options, and only as such have a form over the whole sequence. The channels of its memory are those
/// of `parallel` where `is_linear` says so; empty: where `applies` does.
std::shared_ptr<const Rule> with_parallel(std::shared_ptr<const Rule> rule,
                                          std::shared_ptr<const Rule> parallel,
                                          std::function<bool(const Settings&)> applies,
                                          std::function<bool(const Settings&)> is_linear = {});

}  // namespace palimpsest
