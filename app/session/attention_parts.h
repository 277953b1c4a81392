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
  std::vector<BandPlace> fine = {};      // every row, or of a pixel that stands for many rows some of them;
                                         // those nearest to the present one last
  Index rows_per_cell = 1;               // of the fine parts' rows are shown as one
};

/// Of a block that `pixels` show in width, over a sequence of `tokens` tokens.
AttentionParts attention_parts(const AttentionBlock& block, Index tokens, Index pixels, Index present);

}  // namespace palimpsest
