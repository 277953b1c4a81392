#include "core/insight/network_pass.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/numbers/gelu.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

/// The strongest of what `units` [N] send along weights [N, M].
std::vector<NetworkPath> strongest(const Vector<double>& units, const Matrix<double>& weights, Index count) {
  std::vector<NetworkPath> paths;
  for (Index from = 0; from < weights.rows(); ++from) {
    for (Index to = 0; to < weights.cols(); ++to)
      paths.push_back({from, to, units[from] * weights(from, to)});
  }
  const auto size = [](const NetworkPath& path) { return std::abs(path.amount); };
  const auto kept = std::min(paths.size(), static_cast<std::size_t>(std::max<Index>(count, 0)));
  std::ranges::partial_sort(paths, paths.begin() + static_cast<std::ptrdiff_t>(kept), std::greater(), size);
  paths.resize(kept);
  std::ranges::reverse(paths);
  return paths;
}

}  // namespace

NetworkPass network_pass(const Variant& variant, const Sequence& sequence, Index token,
                         const Weights<double>& W, Index count) {
  if (W.size() != 4) throw InputError("a network of one hidden layer has the weights W1, b1, W2, b2");
  const StoredPairs pair = stored_pairs(variant, sequence, token, 1);
  NetworkPass pass{.key = pair.keys.bottomRows(1).transpose(),
                   .hidden = {},
                   .answer = {},
                   .value = pair.values.bottomRows(1).transpose()};
  const Matrix<double> before = W[0].transpose() * pass.key + W[1];
  pass.hidden = gelu(before);
  pass.answer = W[2].transpose() * pass.hidden + W[3];
  pass.in = strongest(pass.key, W[0], count);
  pass.out = strongest(pass.hidden, W[2], count);
  return pass;
}

}  // namespace palimpsest
