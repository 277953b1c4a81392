#include "app/commands/place_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "app/commands/values.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace palimpsest {

PlaceOption parse_place(std::string_view at, Index tokens) {
  const std::size_t colon = at.find(':');
  PlaceOption place{.token = parse_count(at.substr(0, colon), "the token of --at", 0, tokens - 1)};
  if (colon != std::string_view::npos) place.operation = at.substr(colon + 1);
  return place;
}

Cursor cursor_at(Index token, const std::string& operation, const Trace& trace) {
  std::vector<std::string_view> known;
  for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
    const std::vector<Operation>& operations = trace.phases[phase].operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      known.emplace_back(operations[i].id);
      if (operations[i].id != operation) continue;
      const Index block = trace.block_of(token, static_cast<Index>(phase));
      return {block, static_cast<Index>(i), token - trace.block(block).first_token};
    }
  }
  throw InputError(fmt::format("--at asks for the operation \"{}\"; this form has: {}", shown(operation),
                               fmt::join(known, ", ")));
}

}  // namespace palimpsest
