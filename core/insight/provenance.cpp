#include "core/insight/provenance.h"

#include "core/operator/channel.h"
#include "core/rules/row_map.h"

namespace palimpsest {

namespace {

constexpr Index tokens_at_a_time = 64;

/// Where the entry stands in a state column [p K].
Index place_of(const StateEntry& entry, const Channel& channel) {
  const Index parts = channel.rows(0, 0).structure.part_count();
  const Index K = channel.initial.rows() / parts;
  const auto require = [](const char* what, Index index, Index count) {
    if (index >= 0 && index < count) return;
    refuse("{} {} of a state entry; expected 0 .. {}", what, index, count - 1);
  };
  require("the number of tokens", entry.tokens, channel.tokens + 1);
  require("part", entry.part, parts);
  require("row", entry.row, K);
  return entry.part * K + entry.row;
}

/// The functionals of a state column that give one entry of a later one, carried backwards.
class Shares {
 public:
  Shares(Index place, Index rows) : place_(place) {
    entry_ = RowVector<double>::Zero(rows);
    entry_(place) = 1;
    F_ = Matrix<double>::Zero(4, rows);
    F_.row(remaining) = entry_;
  }

  /// What is due to a state column that was there, or is written, `amount` times.
  void add(const RowVector<double>& column, double amount, Share& share) const {
    const Vector<double> weights = F_ * column.transpose() * amount;
    share.written += column(place_) * amount;
    share.mixed += weights(mixed);
    share.decayed += weights(decayed);
    share.erased += weights(erased);
    share.remaining += weights(remaining);
  }

  /// Carries them to before row r: what it removes from the entry and moves into it is added to that of later
  /// rows.
  void pull_back(const RowMap& map, Index r) {
    const Vector<double> hits = F_ * map.write(r).transpose();
    map.pull_back(r, hits, F_);
    const RowVector<double> faded = map.faded_back(r, entry_);
    RowVector<double> from_others = faded;
    from_others(place_) = 0;
    F_.row(mixed) += from_others;
    F_(decayed, place_) += 1 - faded(place_);
    if (map.erases()) F_.row(erased) += map.write(r)(place_) * map.erase(r);
  }

 private:
  enum { remaining, mixed, decayed, erased };

  Index place_;
  RowVector<double> entry_;
  Matrix<double> F_;  // [4, p K]
};

/// Calls add(column, amount) for everything that row r writes into a state column.
template <class Add>
void for_each_write(const RowMap& map, const Program<double>& block, Index r, Add add) {
  add(RowVector<double>(map.write(r)), block.v(r, 0));
  if (map.writes_plainly()) add(RowVector<double>(map.plain(r)), block.v_plain(r, 0));
}

/// Calls `visit(map, block, r, token)` for every row that writes into a channel's first `tokens` tokens, the
/// last one first.
template <class Visit>
void for_each_row_back(const Channel& channel, Index tokens, const std::stop_token& stop, Visit visit) {
  for (Index end = tokens; end > 0;) {
    stop_if_asked(stop);
    const Index first = std::max<Index>(0, end - tokens_at_a_time);
    const Program<double> block = channel.rows(first, end - first);
    const RowMap map(block);
    for (Index r = map.rows() - 1; r >= 0; --r)
      visit(map, block, r, static_cast<std::size_t>(first + r / channel.rows_per_token));
    end = first;
  }
}

}  // namespace

Provenance provenance(const Rule& rule, const Sequence& sequence, const StateEntry& entry,
                      std::stop_token stop) {
  const Channel channel = rule.channel(sequence, entry.column);
  Shares functionals(place_of(entry, channel), channel.initial.rows());
  Provenance provenance{.shares = std::vector<Share>(static_cast<std::size_t>(entry.tokens))};
  for_each_row_back(channel, entry.tokens, stop,
                    [&](const RowMap& map, const Program<double>& block, Index r, std::size_t token) {
                      for_each_write(map, block, r, [&](const RowVector<double>& column, double amount) {
                        functionals.add(column, amount, provenance.shares[token]);
                      });
                      functionals.pull_back(map, r);
                    });
  functionals.add(channel.initial.col(0).transpose(), 1, provenance.initial);
  provenance.value = provenance.initial.remaining;
  for (const Share& share : provenance.shares) provenance.value += share.remaining;
  return provenance;
}

std::vector<Share> history(const Rule& rule, const Sequence& sequence, const StateEntry& entry, Index token,
                           std::stop_token stop) {
  const Channel channel = rule.channel(sequence, entry.column);
  const Index place = place_of(entry, channel);
  if (token < initial_token || token >= entry.tokens) {
    refuse("token {}; expected one of the {} before the entry, or {} for the initial state", token,
           entry.tokens, initial_token);
  }
  std::vector<Share> shares(static_cast<std::size_t>(entry.tokens));
  RowVector<double> x = RowVector<double>::Zero(channel.initial.rows());
  if (token == initial_token) x = channel.initial.col(0).transpose();
  for (Index first = std::max<Index>(0, token); first < entry.tokens; first += tokens_at_a_time) {
    stop_if_asked(stop);
    const Program<double> block = channel.rows(first, std::min(tokens_at_a_time, entry.tokens - first));
    const RowMap map(block);
    for (Index r = 0; r < map.rows(); ++r) {
      const Index now = first + r / channel.rows_per_token;
      Share& share = shares[static_cast<std::size_t>(now)];
      const double taken = map.erases() ? map.erase(r).dot(x) : 0;
      RowVector<double> own = RowVector<double>::Zero(x.size());
      own(place) = x(place);
      const RowVector<double> faded = map.faded(r, x);
      const double kept = map.faded(r, own)(place);
      share.decayed += x(place) - kept;
      share.mixed += faded(place) - kept;
      share.erased += map.write(r)(place) * taken;
      x = faded - taken * RowVector<double>(map.write(r));
      if (now == token) {
        for_each_write(map, block, r, [&](const RowVector<double>& column, double amount) {
          share.written += column(place) * amount;
          x += column * amount;
        });
      }
      share.remaining = x(place);
    }
  }
  return shares;
}

ReadShares read_shares(const Rule& rule, const Sequence& sequence, Index tokens,
                       const Vector<double>& weights, Index column, std::stop_token stop) {
  const Channel channel = rule.channel(sequence, column);
  const Index rows = channel.initial.rows();
  if (weights.size() == 0 || rows % weights.size() != 0)
    refuse("a reading with {} weights of a state with {} rows", weights.size(), rows);
  if (tokens < 0 || tokens > channel.tokens)
    refuse("a reading after {} tokens; expected 0 to {}", tokens, channel.tokens);
  Matrix<double> f = Matrix<double>::Zero(1, rows);
  f.leftCols(weights.size()) = weights.transpose();
  ReadShares shares{.of_token = std::vector<double>(static_cast<std::size_t>(tokens))};
  for_each_row_back(channel, tokens, stop,
                    [&](const RowMap& map, const Program<double>& block, Index r, std::size_t token) {
                      double& share = shares.of_token[token];
                      const Vector<double> hits = f * map.write(r).transpose();
                      share += hits(0) * block.v(r, 0);
                      if (map.writes_plainly())
                        share += (f * map.plain(r).transpose())(0, 0) * block.v_plain(r, 0);
                      map.pull_back(r, hits, f);
                    });
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
