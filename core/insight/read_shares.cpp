#include "core/insight/read_shares.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/operator/channel.h"
#include "core/rules/row_map.h"

namespace palimpsest {

ReadShares read_shares(const Rule& rule, const Sequence& sequence, Index tokens,
                       const Vector<double>& weights, Index column, std::stop_token stop) {
  constexpr Index tokens_at_a_time = 64;
  const Channel channel = rule.channel(sequence, column);
  const Index rows = channel.initial.rows();
  if (weights.size() == 0 || rows % weights.size() != 0) {
    throw InputError(fmt::format("a reading with {} weights of a state with {} rows", weights.size(), rows));
  }
  if (tokens < 0 || tokens > channel.tokens) {
    throw InputError(fmt::format("a reading after {} tokens; expected 0 to {}", tokens, channel.tokens));
  }
  Matrix<double> f = Matrix<double>::Zero(1, rows);
  f.leftCols(weights.size()) = weights.transpose();
  ReadShares shares{.of_token = std::vector<double>(static_cast<std::size_t>(tokens))};
  for (Index end = tokens; end > 0;) {
    stop_if_asked(stop);
    const Index first = std::max<Index>(0, end - tokens_at_a_time);
    const Program<double> block = channel.rows(first, end - first);
    const RowMap map(block);
    for (Index r = map.rows() - 1; r >= 0; --r) {
      double& share = shares.of_token[static_cast<std::size_t>(first + r / channel.rows_per_token)];
      const Vector<double> hits = f * map.write(r).transpose();
      share += hits(0) * block.v(r, 0);
      if (map.writes_plainly()) share += (f * map.plain(r).transpose())(0, 0) * block.v_plain(r, 0);
      map.pull_back(r, hits, f);
    }
    end = first;
  }
  shares.initial = (f * channel.initial)(0, 0);
  shares.value = shares.initial;
  for (const double share : shares.of_token) shares.value += share;
  return shares;
}

Vector<double> before_decay(const Vector<double>& weights, const Matrix<double>& alpha) {
  if (alpha.size() == 1) return weights * alpha(0, 0);
  return weights.cwiseProduct(Eigen::Map<const Vector<double>>(alpha.data(), alpha.size()));
}

std::vector<double> product_terms(const Matrix<double>& X, const Matrix<double>& Y, Index row, Index column,
                                  Index count) {
  std::vector<double> terms;
  for (Index j = 0; j < count; ++j) terms.push_back(X(row, j) * Y(j, column));
  return terms;
}

}  // namespace palimpsest
