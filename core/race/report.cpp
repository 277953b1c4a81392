#include "core/race/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"

namespace palimpsest {

Quartiles quartiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - std::floor(place));
  };
  return {at(0.25), at(0.5), at(0.75)};
}

const RacePoint* RaceReport::find(const RaceEntry& entry) const {
  const auto found = std::ranges::find(points, entry, &RacePoint::entry);
  return found == points.end() ? nullptr : &*found;
}

const Roof* RaceReport::roof_of(const RaceEntry& entry) const {
  const auto found = std::ranges::find_if(roofs, [&](const RaceRoof& each) {
    return each.device == entry.device && each.precision == entry.precision;
  });
  return found == roofs.end() ? nullptr : &found->roof;
}

double least_seconds(const RaceWork& work, const Roof& roof) {
  const double for_bytes = roof.bytes_per_second > 0 ? work.bytes / roof.bytes_per_second : 0;
  const double for_flops = roof.flops_per_second > 0 ? work.needed_flops / roof.flops_per_second : 0;
  return std::max(for_bytes, for_flops);
}

double roof_fraction(const RacePoint& point, const RaceReport& report) {
  const Roof* const roof = report.roof_of(point.entry);
  if (!roof || point.compute.median <= 0) return 0;
  return least_seconds(point.work, *roof) / point.compute.median;
}

void require_same_machine(const RaceMachine& machine, const RaceMachine& here) {
  const auto require = [](const char* what, const std::string& theirs, const std::string& ours) {
    if (theirs == ours) return;
    const auto named = [](const std::string& text) {
      return text.empty() ? std::string("none") : fmt::format("\"{}\"", shown(text));
    };
    throw InputError(
        fmt::format("the report comes from another {}: {}, here {}. Times of two machines or programs do not "
                    "go into one report; start a new one",
                    what, named(theirs), named(ours)));
  };
  require("processor", machine.processor, here.processor);
  require("number of threads", std::to_string(machine.threads), std::to_string(here.threads));
  require("GPU", machine.gpu, here.gpu);
  require("driver", machine.driver, here.driver);
  require("program", machine.program, here.program);
}

std::string race_label(const std::string& id, std::span<const Variant> table) {
  const auto found = std::ranges::find(table, id, &Variant::id);
  return found == table.end() ? id : found->label;
}

std::string in_groups(std::string digits) {
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

}  // namespace palimpsest
