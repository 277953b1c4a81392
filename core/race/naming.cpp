#include "core/race/naming.h"

#include <algorithm>

namespace palimpsest {

std::string race_label(const std::string& id, std::span<const Variant> table) {
  const auto found = std::ranges::find(table, id, &Variant::id);
  return found == table.end() ? id : found->label;
}

std::string in_groups(std::string digits) {
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

}  // namespace palimpsest
