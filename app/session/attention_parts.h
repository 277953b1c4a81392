#pragma once

#include <optional>
#include <vector>

#include "core/insight/attention_band.h"

namespace palimpsest {

/// Which part of all weights is looked at: as many rows as columns.
struct AttentionBlock {
  Index first_row = 0;
  Index first_column = 0;
  Index count = 0;

  bool operator==(const AttentionBlock&) const = default;
};

/// The parts in which the picture of a block is asked for.
struct AttentionParts {
  std::optional<BandPlace> coarse = {};  // of a large block: a few rows that stand for those below them
  std::vector<BandPlace> fine = {};      // one row or two for each pixel, which stand for those below them,
                                         // or every row where there are no more; those nearest to the present
                                         // one last
};

/// Of a block that `pixels` show in width, over a sequence of `tokens` tokens.
AttentionParts attention_parts(const AttentionBlock& block, Index tokens, Index pixels, Index present);

}  // namespace palimpsest
