#pragma once

#include <hwy/targets.h>

#include "tests/catch.h"

namespace palimpsest::testing {

/// Calls visit() with each set of vector instructions of this processor that kernels were compiled for.
template <class Visit>
void on_every_target(Visit visit) {
  const auto restrict_to = [](std::int64_t targets) {  // 0: all that there are
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  struct Finally {
    decltype(restrict_to) restore;
    ~Finally() { restore(0); }
  } const finally{restrict_to};
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON}) {
    restrict_to(0);
    if ((hwy::SupportedTargets() & target) == 0) continue;
    restrict_to(target);
    INFO(hwy::TargetName(target));
    visit();
  }
}

}  // namespace palimpsest::testing
