#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/session/session.h"

namespace palimpsest {

/// Which words the memory is asked about; the floor underlines them.
struct NamedWords {
  std::optional<std::vector<Index>> named;  // by the view that asks, in the order of the text; else the usual
};

/// Those of the current Dear ImGui context: a view that asks names them in every frame.
NamedWords& named_words();

/// The tokens among the first `reached` whose writes were strongest, in the order of the text: up to `most`
/// with different labels, each at least half as strong as the strongest. Looks back no further than 16384
/// tokens.
std::vector<Index> strongest_writes(std::span<const TokenFacts> tokens, std::span<const std::string> labels,
                                    Index reached, std::size_t most);

/// What is underlined now: what is named, or the strongest writes up to the cursor.
const std::vector<Index>& underlined_words(const Session& session);

}  // namespace palimpsest
