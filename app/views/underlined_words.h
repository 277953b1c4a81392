#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// Names the tokens that a view queries the memory for, in the order of the text; the floor underlines them.
/// To be called in every frame: the names disappear with the view.
void name_words(std::vector<Index> tokens);

/// How strongly every token writes: [T]; 0 where that is not known or not finite.
std::vector<double> write_strengths(std::span<const TokenFacts> tokens);

/// The tokens among the first `reached` whose writes were strongest, in the order of the text: up to `most`
/// with different labels, each at least half as strong as the strongest. Looks back no further than 16384
/// tokens.
std::vector<Index> strongest_writes(std::span<const double> strengths, std::span<const std::string> labels,
                                    Index reached, std::size_t most);

/// The tokens to underline: those that a view named in this frame or the last, else the strongest writes up
/// to the cursor.
const std::vector<Index>& underlined_words(const Session& session);

}  // namespace palimpsest
