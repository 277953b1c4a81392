#include "core/rule.h"

#include <fmt/format.h>

#include "core/error.h"

namespace palimpsest {

std::optional<std::string> Rule::missing(Form, const Settings&) const { return std::nullopt; }

bool Rule::is_causal(const Sequence&) const { return true; }

Memory Rule::memory(const Sequence&, Form, Precision, Index) const { return {}; }

void require_chunk_size(Index chunk_size) {
  if (chunk_size < 1) throw InputError(fmt::format("the chunk size is {}; expected at least 1", chunk_size));
}

}  // namespace palimpsest
