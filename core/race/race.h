#pragma once

#include <functional>
#include <span>
#include <stop_token>

#include "core/race/plan.h"
#include "core/race/report.h"

namespace palimpsest {

/// Where a race is: `done` of `total` entries are in the report, `last` the newest of them.
struct RaceProgress {
  const RaceReport& report;
  const RacePoint& last;
  Index done = 0;
  Index total = 0;
};

/// Measures what devices do at most, then the entries of `plan` one after the other: warmed by what does not
/// count, then repeated. What `begun` holds already is not measured again. Data are made once for entries
/// that share them, and not timed. An entry that cannot run is a point that says why. `measured` may be empty
/// and is called after every new point. Asked to stop, it gives up the point it is at and returns the others.
/// Throws InputError for an unknown variant.
RaceReport race(const RacePlan& plan, RaceReport begun = {},
                const std::function<void(const RaceProgress&)>& measured = {}, std::stop_token stop = {},
                std::span<const Variant> table = variants());

}  // namespace palimpsest
