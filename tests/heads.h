#pragma once

#include "core/base/array.h"

namespace palimpsest::testing {

/// Many heads as one array: [B, n, H, ...] with tokens, else [B, H, ...]; without the axis B for rank 3.
inline Array stacked(const std::vector<const Array*>& heads, Index batches, int rank, bool tokens) {
  const std::vector<Index>& shape = heads.front()->shape;
  const Index H = std::ssize(heads) / batches;
  const Index n = tokens ? shape.front() : 1;
  const Index rest = n == 0 ? 0 : heads.front()->size() / n;
  std::vector<Index> axes;
  if (rank == 4) axes.push_back(batches);
  if (tokens) axes.push_back(n);
  axes.push_back(H);
  axes.insert(axes.end(), shape.begin() + (tokens ? 1 : 0), shape.end());
  std::vector<double> values;
  for (Index b = 0; b < batches; ++b) {
    for (Index t = 0; t < n; ++t) {
      for (Index h = 0; h < H; ++h) {
        for (Index i = 0; i < rest; ++i) values.push_back((*entry(heads, b * H + h))[t * rest + i]);
      }
    }
  }
  return {axes, std::move(values)};
}

}  // namespace palimpsest::testing
