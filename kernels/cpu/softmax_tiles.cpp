// Causal softmax attention on the processor, tile by tile (spec 3.1).
//
// Naively a query takes all its keys one after the other: a dot product of K numbers for each score, which is
// a sum over the lanes of a vector, then the weights, then a sum of value rows. Here
//
//   1. The lanes of a vector are keys. They are turned once, K^T in panels as wide as the registers hold, and
//      a tile of scores X = Q K^T is a product without a sum over lanes: 6 queries times 4 vectors of keys
//      stay in 24 registers while the channels pass, each number of K^T loaded once for 6 multiply-adds.
//   2. The weights of a tile never leave the cache: E = exp(X - m), and Y <- exp(m_old - m) Y + E V is the
//      same product with the values as panels. m and the sum of weights l are kept per query, so that the
//      tiles come in any number (SoftmaxState). No matrix [T, T] exists.
//   3. A tile of 64 keys is used by 48 queries before the next: K^T and V come from the second-level cache.
//   4. Tiles beyond the diagonal are not computed, and on it only the keys that one of the 6 queries sees.
//
// docs/kernels.md has what it reaches.

#include "kernels/cpu/softmax_tiles.h"

#include <algorithm>
#include <limits>

#include "core/base/parallel_for.h"
#include "kernels/cpu/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/softmax_tiles.cpp"
#include <hwy/foreach_target.h>
// Everything from here on is compiled for every target.
#include "kernels/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

namespace {

constexpr Index vectors = has_32_registers ? 4 : 2;
constexpr Index width = vectors * lanes;  // of a panel: what the registers hold of a row
constexpr Index strip = 6;                // queries whose tile they hold
constexpr Index tile_keys = 64;
constexpr Index tile_queries = 8 * strip;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

using Tile = Numbers[strip][vectors];

constexpr Index panels(Index columns) { return (columns + width - 1) / width; }

/// C <- C + A B for a strip of rows: A [strip, count], its rows `stride` apart; B [count, width].
HWY_INLINE void add_product(const float* A, Index stride, const float* B, Index count, Tile& C) {
  constexpr Tag d;
  Tile sum;  // of its own, or it would be written to memory after every step
#pragma GCC unroll 6
  for (Index r = 0; r < strip; ++r) {
#pragma GCC unroll 4
    for (Index j = 0; j < vectors; ++j) sum[r][j] = C[r][j];
  }
  for (Index i = 0; i < count; ++i) {
    Numbers b[vectors];
#pragma GCC unroll 4
    for (Index j = 0; j < vectors; ++j) b[j] = hn::Load(d, B + i * width + j * lanes);
#pragma GCC unroll 6
    for (Index r = 0; r < strip; ++r) {
      const Numbers a = hn::Set(d, A[r * stride + i]);
#pragma GCC unroll 4
      for (Index j = 0; j < vectors; ++j) sum[r][j] = hn::MulAdd(a, b[j], sum[r][j]);
    }
  }
#pragma GCC unroll 6
  for (Index r = 0; r < strip; ++r) {
#pragma GCC unroll 4
    for (Index j = 0; j < vectors; ++j) C[r][j] = sum[r][j];
  }
}

/// A block of queries on its way through the tiles of keys.
class Queries {
 public:
  Queries(const HeadAttention& head, const float* keys, const float* values, Index first)
      : head_(head),
        keys_(keys),
        values_(values),
        first_(first),
        count_(std::min(tile_queries, head.queries - first)),
        columns_(panels(head.value_channels) * width),
        room_(zeros(tile_queries * (head.channels + columns_ + 2) + strip * tile_keys)) {
    for (Index i = 0; i < count_; ++i) std::copy_n(head.Q.row(first + i), head.channels, q(i));
    std::fill_n(m(0), tile_queries, minus_infinity);
  }

  void run() {
    const Index strips = (count_ + strip - 1) / strip;
    const Index last = std::min(head_.first_query + first_ + count_, head_.keys);
    for (Index key = 0; key < last; key += tile_keys) {
      for (Index i = 0; i < strips; ++i) take_tile(i * strip, key);
    }
    for (Index i = 0; i < count_; ++i) {
      for (Index c = 0; c < head_.value_channels; ++c)
        head_.o[(first_ + i) * head_.o_stride + c] = Y(i)[c] / *l(i);
    }
  }

 private:
  float* Y(Index i) { return room_.get() + i * columns_; }
  float* E() { return room_.get() + tile_queries * columns_; }
  float* q(Index i) { return E() + strip * tile_keys + i * head_.channels; }
  float* m(Index i) { return E() + strip * tile_keys + tile_queries * head_.channels + i; }
  float* l(Index i) { return m(tile_queries) + i; }

  /// How many keys of the tile from `key` on query `i` sees.
  Index seen(Index i, Index key) const {
    return std::clamp<Index>(std::min(head_.first_query + first_ + i + 1, head_.keys) - key, 0, tile_keys);
  }

  /// Queries i .. i + strip - 1 and the tile of keys from `key` on.
  void take_tile(Index i, Index key) {
    const Index count = seen(i + strip - 1, key);
    if (count == 0) return;
    make_scores(i, key, count);
    float fades[strip];
    for (Index r = 0; r < strip; ++r) fades[r] = make_weights(i + r, r, count);
    const float* const values = values_ + key * columns_;
    for (Index column = 0; column < columns_; column += width)
      add_values(i, column, fades, values + column * tile_keys, count);
  }

  /// E = Q K^T, minus infinity where a query does not see the key.
  void make_scores(Index i, Index key, Index count) {
    constexpr Tag d;
    for (Index first = 0; first < count; first += width) {
      Tile X;
      clear(X);
      add_product(q(i), head_.channels, keys_ + (key + first) * head_.channels, head_.channels, X);
      for (Index r = 0; r < strip; ++r) {
        const auto end = hn::Set(d, static_cast<float>(seen(i + r, key) - first));
#pragma GCC unroll 4
        for (Index j = 0; j < vectors; ++j) {
          const auto is_seen = hn::Lt(hn::Iota(d, static_cast<float>(j * lanes)), end);
          hn::Store(hn::IfThenElse(is_seen, X[r][j], hn::Set(d, minus_infinity)), d,
                    E() + r * tile_keys + first + j * lanes);
        }
      }
    }
  }

  /// Row r of E becomes exp(E - m). Returns what the sums so far are multiplied with, and advances m and l.
  float make_weights(Index i, Index r, Index count) {
    constexpr Tag d;
    float* const row = E() + r * tile_keys;
    Numbers highest = hn::Set(d, *m(i));
    for (Index j = 0; j < count; j += lanes) highest = hn::Max(highest, hn::Load(d, row + j));
    const Numbers now = hn::MaxOfLanes(d, highest);
    Numbers sum = hn::Zero(d);
    for (Index j = 0; j < count; j += lanes) {
      const Numbers weight = exponential(hn::Sub(hn::Load(d, row + j), now));
      hn::Store(weight, d, row + j);
      sum = hn::Add(sum, weight);
    }
    const float fade = hn::GetLane(exponential(hn::Sub(hn::Set(d, *m(i)), now)));
    *m(i) = hn::GetLane(now);
    *l(i) = *l(i) * fade + hn::GetLane(hn::SumOfLanes(d, sum));
    return fade;
  }

  /// Y <- fade Y + E V in the columns of a panel.
  void add_values(Index i, Index column, const float* fades, const float* panel, Index count) {
    constexpr Tag d;
    Tile sum;
#pragma GCC unroll 6
    for (Index r = 0; r < strip; ++r) {
#pragma GCC unroll 4
      for (Index j = 0; j < vectors; ++j)
        sum[r][j] = hn::Mul(hn::Set(d, fades[r]), hn::Load(d, Y(i + r) + column + j * lanes));
    }
    add_product(E(), tile_keys, panel, count, sum);
#pragma GCC unroll 6
    for (Index r = 0; r < strip; ++r) {
#pragma GCC unroll 4
      for (Index j = 0; j < vectors; ++j) hn::Store(sum[r][j], d, Y(i + r) + column + j * lanes);
    }
  }

  static HWY_INLINE void clear(Tile& tile) {
#pragma GCC unroll 6
    for (Index r = 0; r < strip; ++r) {
#pragma GCC unroll 4
      for (Index j = 0; j < vectors; ++j) tile[r][j] = hn::Zero(Tag());
    }
  }

  const HeadAttention& head_;
  const float* keys_;
  const float* values_;
  Index first_;
  Index count_;
  Index columns_;
  Memory room_;
};

/// How many numbers the panels of a head's values have a row.
Index panel_columns(Index value_channels) { return panels(value_channels) * width; }

/// Queries first .. of one block of `head`.
void take_queries(const HeadAttention& head, const float* keys, const float* values, Index first) {
  Queries(head, keys, values, first).run();
}

/// The keys of a tile turned into panels, [tile_keys / width, channels, width], and its values in panels,
/// [panels, tile_keys, width]. Where there is nothing they stay as they are, 0.
void pack_tile(const HeadAttention& head, Index key, float* keys, float* values) {
  const Index count = std::min(tile_keys, head.keys - key);
  for (Index j = 0; j < count; ++j) {
    const float* const k = head.K.row(key + j);
    float* const to = keys + j / width * width * head.channels + j % width;
    for (Index i = 0; i < head.channels; ++i) to[i * width] = k[i];
    for (Index c = 0; c < head.value_channels; c += width) {
      std::copy_n(head.V.row(key + j) + c, std::min(width, head.value_channels - c),
                  values + c * tile_keys + j * width);
    }
  }
}

}  // namespace

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace palimpsest::cpu {

namespace {

HWY_EXPORT(panel_columns);
HWY_EXPORT(pack_tile);
HWY_EXPORT(take_queries);

constexpr Index keys_of_tile = 64;
constexpr Index queries_of_block = 48;

}  // namespace

void softmax_tiles(std::span<const HeadAttention> heads, unsigned threads, const std::stop_token& stop) {
  if (heads.empty() || heads.front().queries == 0) return;
  const HeadAttention& first = heads.front();
  const auto count = std::ssize(heads);
  const Index tiles = (first.keys + keys_of_tile - 1) / keys_of_tile;
  const Index columns = HWY_DYNAMIC_DISPATCH(panel_columns)(first.value_channels);
  const Index key_numbers = keys_of_tile * first.channels;
  const Index value_numbers = keys_of_tile * columns;
  const Memory keys = zeros(count * tiles * key_numbers);
  const Memory values = zeros(count * tiles * value_numbers);
  parallel_for(count * tiles, threads, [&](Index unit) {
    HWY_DYNAMIC_DISPATCH(pack_tile)
    (entry(heads, unit / tiles), unit % tiles * keys_of_tile, keys.get() + unit * key_numbers,
     values.get() + unit * value_numbers);
  });
  // The last queries see most keys: they come first, so that no thread begins one of them at the end.
  const Index blocks = (first.queries + queries_of_block - 1) / queries_of_block;
  parallel_for(count * blocks, threads, [&](Index unit) {
    stop_if_asked(stop);
    const Index head = unit % count;
    const Index block = blocks - 1 - unit / count;
    HWY_DYNAMIC_DISPATCH(take_queries)
    (entry(heads, head), keys.get() + head * tiles * key_numbers, values.get() + head * tiles * value_numbers,
     block * queries_of_block);
  });
}

}  // namespace palimpsest::cpu

#endif
