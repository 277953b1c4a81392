#include "core/operator/channel.h"

#include <fmt/format.h>

#include <numeric>

#include "core/base/error.h"

namespace palimpsest {

std::vector<Index> rows_up_to_each(Index first, Index count) {
  std::vector<Index> after(static_cast<std::size_t>(count));
  std::iota(after.begin(), after.end(), first + 1);
  return after;
}

ChannelReads scaled_reads(const Sequence& sequence, Index first, Index count) {
  return {sequence.at("q").rows<double>(first, count) * sequence.parameter("scale"),
          rows_up_to_each(first, count)};
}

void require_column(Index column, Index columns) {
  if (column >= 0 && column < columns) return;
  throw InputError(fmt::format("column {} of the memory; expected one of 0 .. {}", column, columns - 1));
}

}  // namespace palimpsest
