#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/race/report.h"
#include "core/rules/backend.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// What is raced, and how often: every combination of what is listed.
struct RacePlan {
  struct Size {
    Index dk;
    Index dv;
  };

  std::vector<std::string> variants = {};  // ids; none: the whole table
  bool peer = true;                        // softmax too, whether it is listed or not
  std::vector<Form> forms = {std::begin(all_forms), std::end(all_forms)};
  std::vector<const Backend*> backends = {&cpu_backend()};
  std::vector<Precision> precisions = {Precision::f32};
  std::vector<Index> lengths = {128, 256, 512, 1024, 2048, 4096};
  std::vector<Index> batches = {1};
  std::vector<Index> heads = {4};
  std::vector<Size> sizes = {{64, 64}};
  std::vector<Index> chunk_sizes = {64};
  Index repeats = 11;       // of every point, at most
  Index least_repeats = 3;  // however long they take
  double seconds = 2;       // after which a point is not repeated further
  double longest = 60;      // seconds of one run; what would take longer is left out
  std::uint64_t seed = 1;
  bool roofs = true;  // measure what the devices do at most
};

/// The entries of a plan in the order in which they are measured, short lengths first. Throws InputError for
/// an unknown variant.
std::vector<RaceEntry> race_entries(const RacePlan& plan, std::span<const Variant> table = variants());

/// Where a race is: `done` of `total` entries are in the report, `last` the newest of them.
struct RaceProgress {
  const RaceReport& report;
  const RacePoint& last;
  Index done = 0;
  Index total = 0;
};

/// Measures what devices do at most, then the entries of `plan` one after the other: warmed by what does not
/// count, then repeated. What `begun` holds is not measured again; an entry that cannot run is a point that
/// says why. `measured` may be empty and is called after every new point. Asked to stop, it gives up the
/// point it is at and returns the others. Throws InputError for an unknown variant.
RaceReport race(const RacePlan& plan, RaceReport begun = {},
                const std::function<void(const RaceProgress&)>& measured = {}, std::stop_token stop = {},
                std::span<const Variant> table = variants());

}  // namespace palimpsest
