#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/race/crossing.h"
#include "core/race/report.h"

namespace palimpsest {

/// The points of a report that differ in their length alone, short ones first.
struct RaceCurve {
  RaceEntry of = {};  // tokens 0
  std::vector<TimedLength> compute = {};
  std::vector<TimedLength> whole = {};
};

/// The curves of a report in the order of their first points; what was not measured is left out.
std::vector<RaceCurve> race_curves(const RaceReport& report);

/// What is compared.
enum class RaceQuestion {
  softmax,        // another rule with softmax in its fastest form at each length
  forms,          // the chunkwise form with the recurrent one
  devices,        // the GPU with the CPU, computing alone
  whole_devices,  // the same, transfers and allocations too
};

/// A length from which on one thing is faster than another.
struct RaceCrossover {
  RaceQuestion question = RaceQuestion::softmax;
  RaceEntry faster = {};  // from there on; tokens 0
  RaceEntry slower = {};
  double tokens = 0;
  double seconds = 0;
  std::string sentence = {};  // "From about 1,900 tokens on, ... is faster than ..."
  std::string where = {};     // "cpu, f32, B 1, H 4, K 64, V 64": what both have in common
};

/// Where the curves of a report cross, in the order of the questions. None where they do not.
std::vector<RaceCrossover> race_crossovers(const RaceReport& report,
                                           std::span<const Variant> table = variants());

/// "1,900": a length to two digits.
std::string about(double tokens);

}  // namespace palimpsest
