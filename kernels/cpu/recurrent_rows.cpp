// The recurrent form on the processor, spec 1.1 and 2.2, for rows of any decay on the key side and any
// erase.
//
// Naively a token takes several passes over the memory S [K, V]: decay it, read it with a (S^T a), write
// b u^T, read it with q. Each loads all of S for one or two operations with a number, so that loads and
// stores take the time. Here one pass does all of that for two tokens:
//
//   1. What the second token reads is known before the first has written. With D = Diag(alpha)
//        S_1 = D_1 S_0 + b_1 u_1^T,    S_1^T x = S_0^T (D_1 x) + (b_1 . x) u_1.
//      So S_0^T is read with four vectors, D_1 a_1, D_1 q_1, D_2 D_1 a_2 and D_2 D_1 q_2; what the writes
//      add is a number times u_1 or u_2. Then both are written:
//        S_2 = D_2 D_1 S_0 + (D_2 b_1) u_1^T + b_2 u_2^T.
//   2. They are written while the next two tokens read. Every number of S is loaded and stored once for
//      two tokens, with 7 operations in between (without erase 5), all but one of them multiply-adds.
//   3. A decay per token is a factor of all of S. It is kept apart, S = f S', which saves one operation.
//      Before f leaves 1/256 .. 256 a pass multiplies S' by it: a decay of 0 is right, and nothing
//      overflows.
//   4. Columns of S do not depend on each other. What a pass reads and writes for 4 vectors of columns
//      stays in registers. Such a block is taken through 32 tokens before the next one, so that it stays
//      in the first-level cache; what all blocks need (1.) is computed once for these tokens.
//   5. In [B, T, H, K] the rows of a head lie H K numbers apart. Heads take turns after 32 tokens, so
//      that memory is read in order, and with every row of S a pass fetches one line of what comes next.
//      Fetched all at once before a pass they hold it up: a processor waits for about 24 lines at a time.
//
// docs/kernels.md has what steps 3 and 5 bring.

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "core/base/parallel_for.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/recurrent_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/recurrent_rows.cpp"
#include <hwy/foreach_target.h>
// Everything from here on is compiled for every target.
#include "kernels/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

constexpr Index tile = 16;         // pairs of tokens that a block of columns is taken through at a time
constexpr Index slots = tile + 1;  // the last pair before a tile has not been written yet

/// How much of the writes of two rows is read by these rows themselves.
struct Seen {
  float old = 0;   // of the first by the erase of the second
  float o_11 = 0;  // of the first by the first read
  float o_21 = 0;  // of the first by the second read
  float o_22 = 0;  // of the second by the second read
};

/// Two consecutive rows, ready for a pass over S. What belongs to the second is 0 where there is none.
struct Pair {
  const float* reads[4];   // [K], a_1, a_2, q_1, q_2, decayed as far as a number per channel does
  const float* writes[4];  // [K], b_1, b_2, k+_1, k+_2, likewise
  const float* values[4];  // [V], v_1, v_2, v+_1, v+_2
  const float* decay;      // [K], what S is multiplied with; null: nothing
  float* o[2];             // [V]
  float erased[2];         // factors of what a_1, a_2 read
  float read[2];           // factors of what q_1, q_2 read
  float beta[2];
  float written[2];  // factors of u_1 and v+_1, u_2 and v+_2 as they are written
  Seen seen[2];      // of u, of v+
};

/// alpha from gates, which are alpha or its logarithm.
HWY_INLINE Numbers alpha(Numbers gate, bool is_log) { return is_log ? decay_of_log(gate) : gate; }

/// Makes the pairs of one head, in order, for all columns. The last `slots` are kept.
class Pairs {
 public:
  explicit Pairs(const HeadRows& head)
      : head_(head),
        structure_(head.structure),
        zero_(zeros(std::max(head.K, head.V))),
        unread_(zeros(head.V)),
        pitch_((head.K / lanes + 2) * lanes),
        slot_((head.structure.decay == Decay::key ? 7 : 1) * pitch_),
        faded_(zeros(slots * slot_)),
        lines_(static_cast<std::size_t>(head.K)),
        no_lines_(static_cast<std::size_t>(head.K), zero_.get()) {
    Pair& none = pairs_[slots - 1];
    none = {};
    for (const float*& write : none.writes) write = zero_.get();
  }

  /// How many there are.
  Index count() const { return (head_.rows + 1) / 2; }
  /// Pair `index`; -1: one that writes nothing.
  const Pair& operator[](Index index) const { return pairs_[(index + slots) % slots]; }
  /// What S is divided by in the passes, once the last pair is written.
  float factor() const { return factor_; }

  /// Makes pair `index` ready, after those before it.
  void prepare(Index index) {
    const Index first = 2 * index;
    Pair& pair = pairs_[index % slots];
    float* const faded = faded_.get() + index % slots * slot_;
    gather(pair, first);
    if (structure_.decay == Decay::key)
      fade_channels(pair, first, faded);
    else
      fade_all(pair, first, faded);
  }

  /// The lines of the cache that hold the inputs and outputs of a pair, as many as S has rows; of the others,
  /// if there are fewer, a line that is always there.
  const float* const* lines(Index index) {
    std::fill(lines_.begin(), lines_.end(), zero_.get());
    auto next = lines_.begin();
    for (const Index row : {2 * index, 2 * index + 1}) next = add_lines(row, next);
    return lines_.data();
  }
  /// The same of nothing.
  const float* const* no_lines() const { return no_lines_.data(); }

 private:
  bool has(Index row) const { return row < head_.rows; }
  bool erases() const { return structure_.erase != Erase::none; }
  bool erases_early() const { return structure_.erase == Erase::undecayed; }
  bool reads_early() const { return structure_.read_at == ReadAt::before_row; }

  /// Which read belongs to a row; -1: none.
  Index read_of(Index row) const {
    const Index read = row / structure_.rows_per_read;
    const bool is_read = row % structure_.rows_per_read == structure_.reading_row() && read < head_.reads;
    return is_read ? read : -1;
  }

  /// Sets what two rows read and write, as it is given.
  void gather(Pair& pair, Index first) {
    const StridedRows& erase_keys = structure_.erase_key ? head_.a : head_.k;
    for (Index i = 0; i < 2; ++i) {
      const Index r = first + i;
      const auto row = [&](const StridedRows& rows, bool is_given) {
        return has(r) && is_given ? rows.row(r) : zero_.get();
      };
      const Index read = has(r) ? read_of(r) : -1;
      pair.reads[i] = row(erase_keys, erases());
      pair.reads[2 + i] = read >= 0 ? head_.q.row(read) : zero_.get();
      pair.o[i] = read >= 0 ? head_.o + read * head_.o_stride : unread_.get();
      pair.writes[i] = row(head_.k, true);
      pair.writes[2 + i] = row(head_.k_plain, structure_.plain_write);
      pair.values[i] = row(head_.v, structure_.writes_value);
      pair.values[2 + i] = row(head_.v_plain, structure_.plain_write);
      pair.beta[i] = structure_.beta && has(r) ? *head_.beta.row(r) : 1;
    }
  }

  /// One decay per channel goes into the vectors that read and write.
  void fade_channels(Pair& pair, Index first, float* faded) {
    const Decays decays = {.gate_1 = head_.gate.row(first),
                           .gate_2 = has(first + 1) ? head_.gate.row(first + 1) : nullptr,
                           .faded = faded};
    see_writes<true>(pair, decays);
    for (Index i = 0; i < 4; ++i) pair.reads[i] = faded + i * pitch_;
    pair.writes[0] = faded + 4 * pitch_;
    if (structure_.plain_write) pair.writes[2] = faded + 5 * pitch_;
    pair.decay = faded + 6 * pitch_;
    for (Index i = 0; i < 2; ++i) pair.erased[i] = pair.read[i] = pair.written[i] = 1;
  }

  /// One decay for all channels stays apart from S, or goes into it where their product gets too far from 1.
  void fade_all(Pair& pair, Index first, float* faded) {
    const float alpha_1 = alpha_of(first);
    const float alpha_2 = has(first + 1) ? alpha_of(first + 1) : 1;
    const float both = alpha_1 * alpha_2;
    pair.erased[0] = factor_ * (erases_early() ? 1 : alpha_1);
    pair.erased[1] = factor_ * (erases_early() ? alpha_1 : both);
    pair.read[0] = factor_ * (reads_early() ? 1 : alpha_1);
    pair.read[1] = factor_ * (reads_early() ? alpha_1 : both);
    see_writes<false>(pair, {});
    for (Seen& seen : pair.seen) {
      if (!erases_early()) seen.old *= alpha_2;
      if (!reads_early()) seen.o_21 *= alpha_2;
    }
    factor_ *= both;
    pair.decay = nullptr;
    constexpr float farthest = 256;
    const float size = std::abs(factor_);
    if (!(size >= 1 / farthest && size <= farthest)) {
      std::fill_n(faded, head_.K, factor_);
      pair.decay = faded;
      factor_ = 1;
    }
    pair.written[0] = alpha_2 / factor_;
    pair.written[1] = 1 / factor_;
  }

  float alpha_of(Index row) const {
    if (structure_.decay == Decay::none) return 1;
    return hn::GetLane(alpha(hn::Set(Tag(), *head_.gate.row(row)), structure_.gates_are_logs));
  }

  struct Decays {
    const float* gate_1 = nullptr;
    const float* gate_2 = nullptr;  // null: there is no second row
    float* faded = nullptr;         // [7, pitch], the vectors that the decays go into
  };

  /// How much of each write the reads of the same pair see. With `fades` the decays go into the vectors on
  /// the way: [7, pitch], the reads, the first writes, the decay itself.
  template <bool fades>
  void see_writes(Pair& pair, const Decays& decays) const {
    const Pair given = pair;
    const Index K = head_.K;
    const Index pitch = pitch_;
    const bool are_logs = structure_.gates_are_logs;
    const bool has_erase = erases();
    const bool has_plain = structure_.plain_write;
    const bool erase_first = erases_early();
    const bool read_first = reads_early();
    constexpr Tag d;
    const Numbers one = hn::Set(d, 1.0F);
    Numbers sums[2][4];  // of u and v+: old, o_11, o_21, o_22
    for (auto& of : sums) std::fill_n(of, 4, hn::Zero(d));
    for (Index i = 0; i < K; i += lanes) {
      const auto keep = [&](Index row, Numbers x)
                            HWY_ATTR { hn::Store(x, d, decays.faded + row * pitch + i); };
      const Numbers a_2 = has_erase ? load(given.reads[1], i, K) : one;
      const Numbers q_1 = load(given.reads[2], i, K);
      const Numbers q_2 = load(given.reads[3], i, K);
      Numbers alpha_2 = one;
      if constexpr (fades) {
        const Numbers alpha_1 = alpha(load(decays.gate_1, i, K), are_logs);
        if (decays.gate_2) alpha_2 = alpha(load(decays.gate_2, i, K), are_logs);
        const Numbers both = hn::Mul(alpha_1, alpha_2);
        if (has_erase) {
          const Numbers a_1 = load(given.reads[0], i, K);
          keep(0, erase_first ? a_1 : hn::Mul(a_1, alpha_1));
          keep(1, hn::Mul(a_2, erase_first ? alpha_1 : both));
        }
        keep(2, read_first ? q_1 : hn::Mul(q_1, alpha_1));
        keep(3, hn::Mul(q_2, read_first ? alpha_1 : both));
        keep(6, both);
      }
      const auto see = [&](Index kind) HWY_ATTR {
        const Numbers b_1 = load(given.writes[2 * kind], i, K);
        const Numbers b_2 = load(given.writes[2 * kind + 1], i, K);
        const Numbers faded = hn::Mul(b_1, alpha_2);
        if constexpr (fades) keep(4 + kind, faded);
        Numbers* const sum = sums[kind];
        sum[0] = hn::MulAdd(a_2, erase_first ? b_1 : faded, sum[0]);
        sum[1] = hn::MulAdd(q_1, b_1, sum[1]);
        sum[2] = hn::MulAdd(q_2, read_first ? b_1 : faded, sum[2]);
        sum[3] = hn::MulAdd(q_2, b_2, sum[3]);
      };
      see(0);
      if (has_plain) see(1);
    }
    const auto total = [](Numbers sum) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(Tag(), sum)); };
    for (Index kind = 0; kind < (has_plain ? 2 : 1); ++kind) {
      const Numbers* const sum = sums[kind];
      pair.seen[kind] = {.old = total(sum[0]),
                         .o_11 = read_first ? 0 : total(sum[1]),
                         .o_21 = total(sum[2]),
                         .o_22 = read_first ? 0 : total(sum[3])};
    }
  }

  using Lines = std::vector<const float*>;

  Lines::iterator add_lines(Index row, Lines::iterator next) {
    if (!has(row)) return next;
    const auto add = [&](const StridedRows& rows, Index r, Index columns) {
      constexpr Index line = 64 / sizeof(float);
      for (Index i = 0; rows.data && i < columns && next != lines_.end(); i += line)
        *next++ = rows.row(r) + i;
    };
    add(head_.k, row, head_.K);
    add(head_.v, row, head_.V);
    if (erases()) add(head_.a, row, head_.K);
    if (structure_.decay == Decay::key) add(head_.gate, row, head_.K);
    add(head_.k_plain, row, head_.K);
    add(head_.v_plain, row, head_.V);
    if (const Index read = read_of(row); read >= 0) {
      add(head_.q, read, head_.K);
      add({head_.o, head_.o_stride}, read, head_.V);
    }
    return next;
  }

  const HeadRows& head_;
  const Structure& structure_;
  Memory zero_;
  Memory unread_;  // where outputs go that nobody reads
  Index pitch_;
  Index slot_;    // numbers of a pair: four reads, two writes and the decay, or the decay alone
  Memory faded_;  // [slots, slot]
  float factor_ = 1;
  Lines lines_;
  Lines no_lines_;
  Pair pairs_[slots];
};

/// Where a pass finds what belongs to its columns.
struct Columns {
  float* S;  // [K, n lanes]
  float* u;  // [4, n lanes], what the pair before writes: u_1, u_2, v+_1, v+_2
  const float* values[4] = {};
  float* o[2] = {};
  const float* const* lines = nullptr;  // [K], what is fetched on the way
};

HWY_INLINE Numbers times(float factor, Numbers x) { return hn::Mul(hn::Set(Tag(), factor), x); }
/// factor x + sum.
HWY_INLINE Numbers add(float factor, Numbers x, Numbers sum) {
  return hn::MulAdd(hn::Set(Tag(), factor), x, sum);
}

/// The rest of a pass, for vector j of its columns: from what was read to u and o. y: [reads, n].
template <bool erases, bool is_plain, Index n>
HWY_INLINE void finish_tokens(const Pair& pair, const Columns& columns, Index j, const Numbers (*y)[n]) {
  constexpr Tag d;
  const auto value = [&](Index i) HWY_ATTR { return hn::LoadU(d, columns.values[i] + j * lanes); };
  const auto leave = [&](Index i, Numbers u) HWY_ATTR {
    hn::Store(times(pair.written[i % 2], u), d, columns.u + (i * n + j) * lanes);
  };
  const Numbers* const read = erases ? y[2] + j : y[0] + j;
  Numbers u_1 = value(0);
  Numbers u_2 = value(1);
  const Numbers plain_1 = is_plain ? value(2) : hn::Zero(d);
  const Numbers plain_2 = is_plain ? value(3) : hn::Zero(d);
  const auto& [seen, seen_plain] = pair.seen;
  if constexpr (erases) u_1 = hn::Sub(u_1, times(pair.erased[0], y[0][j]));
  u_1 = times(pair.beta[0], u_1);
  if constexpr (erases) {
    Numbers old = add(seen.old, u_1, times(pair.erased[1], y[1][j]));
    if constexpr (is_plain) old = add(seen_plain.old, plain_1, old);
    u_2 = hn::Sub(u_2, old);
  }
  u_2 = times(pair.beta[1], u_2);
  Numbers o_1 = add(seen.o_11, u_1, times(pair.read[0], read[0]));
  Numbers o_2 = add(seen.o_22, u_2, add(seen.o_21, u_1, times(pair.read[1], read[n])));
  if constexpr (is_plain) {
    o_1 = add(seen_plain.o_11, plain_1, o_1);
    o_2 = add(seen_plain.o_22, plain_2, add(seen_plain.o_21, plain_1, o_2));
    leave(2, plain_1);
    leave(3, plain_2);
  }
  leave(0, u_1);
  leave(1, u_2);
  hn::StoreU(o_1, d, columns.o[0] + j * lanes);
  hn::StoreU(o_2, d, columns.o[1] + j * lanes);
}

/// One pass over n vectors of columns: S <- decay S + b u^T of the pair before, y = S^T x of this one.
template <bool erases, bool is_plain, bool decays, Index n>
HWY_INLINE void pass(const Pair& before, const Pair& pair, Index K, const Columns& columns) {
  constexpr Tag d;
  constexpr Index reads = erases ? 4 : 2;
  constexpr Index writes = is_plain ? 4 : 2;
  const float* x[reads];
  const float* b[writes];
  Numbers y[reads][n];
  Numbers u[writes][n];
#pragma GCC unroll 4
  for (Index r = 0; r < reads; ++r) {
    x[r] = pair.reads[4 - reads + r];
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) y[r][j] = hn::Zero(d);
  }
#pragma GCC unroll 4
  for (Index w = 0; w < writes; ++w) {
    b[w] = before.writes[w];
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) u[w][j] = hn::Load(d, columns.u + (w * n + j) * lanes);
  }
  float* const S = columns.S;
  const float* const decay = before.decay;
  const float* const* const lines = columns.lines;
  // One number of a vector at a time for all columns: then none waits for a store, and few registers are
  // taken.
  for (Index i = 0; i < K; ++i) {
    __builtin_prefetch(lines[i], 0, 2);
    float* const row = S + i * n * lanes;
    Numbers s[n];
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) {
      s[j] = hn::Load(d, row + j * lanes);
      if constexpr (decays) s[j] = hn::Mul(hn::Set(d, decay[i]), s[j]);
    }
#pragma GCC unroll 4
    for (Index w = 0; w < writes; ++w) {
      const Numbers b_i = hn::Set(d, b[w][i]);
#pragma GCC unroll 4
      for (Index j = 0; j < n; ++j) s[j] = hn::MulAdd(b_i, u[w][j], s[j]);
    }
#pragma GCC unroll 4
    for (Index r = 0; r < reads; ++r) {
      const Numbers x_i = hn::Set(d, x[r][i]);
#pragma GCC unroll 4
      for (Index j = 0; j < n; ++j) y[r][j] = hn::MulAdd(x_i, s[j], y[r][j]);
    }
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) hn::Store(s[j], d, row + j * lanes);
  }
#pragma GCC unroll 4
  for (Index j = 0; j < n; ++j) finish_tokens<erases, is_plain, n>(pair, columns, j, y);
}

/// A block of columns, as wide as n vectors: a copy of its part of S, and what is written next.
template <bool erases, bool is_plain, Index n>
class Block {
 public:
  static constexpr Index width = n * lanes;

  /// How many numbers a block needs.
  static Index size(Index K) { return (K + 10) * width; }

  /// Columns first .. first + count of `head`, in `room` for size() numbers that are 0.
  Block(const HeadRows& head, Index first, Index count, float* room)
      : head_(head),
        first_(first),
        count_(count),
        room_(room),
        columns_{.S = room, .u = room + head.K * width} {
    for (Index i = 0; i < head.K; ++i) std::copy_n(head.S + i * head.V + first, count, room + i * width);
  }

  void take(const Pair& before, const Pair& pair, const float* const* lines) {
    columns_.lines = lines;
    const bool is_cut = count_ < width;
    for (Index i = 0; i < 4; ++i)
      columns_.values[i] = is_cut ? cut(pair.values[i], i) : pair.values[i] + first_;
    for (Index i = 0; i < 2; ++i) columns_.o[i] = is_cut ? cut_row(4 + i) : pair.o[i] + first_;
    if (before.decay)
      pass<erases, is_plain, true, n>(before, pair, head_.K, columns_);
    else
      pass<erases, is_plain, false, n>(before, pair, head_.K, columns_);
    for (Index i = 0; i < 2 && is_cut; ++i) std::copy_n(columns_.o[i], count_, pair.o[i] + first_);
  }

  /// Writes the last pair, and the state.
  void finish(const Pair& last, float factor) {
    constexpr Tag d;
    const bool is_single = head_.rows % 2 == 1;
    for (Index i = 0; i < head_.K; ++i) {
      float* const row = columns_.S + i * width;
      for (Index j = 0; j < width; j += lanes) {
        Numbers s = times(last.decay ? last.decay[i] : 1, hn::Load(d, row + j));
        for (Index w = 0; w < (is_plain ? 4 : 2); ++w) {
          if (w % 2 == 1 && is_single) continue;
          s = add(last.writes[w][i], hn::Load(d, columns_.u + w * width + j), s);
        }
        hn::Store(times(factor, s), d, row + j);
      }
      std::copy_n(row, count_, head_.S + i * head_.V + first_);
    }
  }

 private:
  /// Room for a row of values or outputs, for the block that the last columns fill in part.
  float* cut_row(Index row) const { return room_ + (head_.K + 4 + row) * width; }
  const float* cut(const float* values, Index row) const {
    std::copy_n(values + first_, count_, cut_row(row));
    return cut_row(row);
  }

  const HeadRows& head_;
  Index first_;
  Index count_;
  float* room_;
  Columns columns_;
};

/// Blocks of n vectors, then of half as many, until all columns have one.
template <bool erases, bool is_plain, Index n>
class Blocks {
 public:
  Blocks(const HeadRows& head, Index first, Index end) {
    const Index whole = n == 1 ? (end - first + lanes - 1) / lanes : (end - first) / Of::width;
    room_ = zeros(whole * Of::size(head.K));
    for (Index i = 0; i < whole; ++i) {
      const Index begin = first + i * Of::width;
      blocks_.emplace_back(head, begin, std::min(Of::width, end - begin), room_.get() + i * Of::size(head.K));
    }
    if constexpr (n > 1)
      rest_ = std::make_unique<Blocks<erases, is_plain, n / 2>>(head, first + whole * Of::width, end);
  }

  /// Takes pairs first .. first + count. What comes next, in order, are those of `next` from `then` on: with
  /// each pair of the first block one of them is fetched.
  void take(const Pairs& pairs, Index first, Index count, Pairs* next, Index then) {
    for (Of& block : blocks_) {
      for (Index i = 0; i < count; ++i) {
        block.take(pairs[first + i - 1], pairs[first + i], next ? next->lines(then + i) : pairs.no_lines());
      }
      next = nullptr;
    }
    if constexpr (n > 1) rest_->take(pairs, first, count, next, then);
  }

  void finish(const Pair& last, float factor) {
    for (Of& block : blocks_) block.finish(last, factor);
    if constexpr (n > 1) rest_->finish(last, factor);
  }

 private:
  using Of = Block<erases, is_plain, n>;
  struct Nothing {};

  Memory room_;
  std::vector<Of> blocks_;
  std::conditional_t<(n > 1), std::unique_ptr<Blocks<erases, is_plain, std::max<Index>(n / 2, 1)>>, Nothing>
      rest_;
};

template <bool erases, bool is_plain>
void take_columns_of(std::span<const HeadRows> heads, Index first, Index end) {
  struct Head {
    Head(const HeadRows& rows, Index first_column, Index end_column)
        : pairs(rows), blocks(rows, first_column, end_column) {}

    Pairs pairs;
    Blocks<erases, is_plain, has_32_registers && !is_plain ? 4 : 2> blocks;
  };
  std::deque<Head> all;
  for (const HeadRows& head : heads) all.emplace_back(head, first, end);
  const Index pairs = all.front().pairs.count();
  for (Index i = 0; i < pairs; i += tile) {
    const Index count = std::min(tile, pairs - i);
    for (std::size_t h = 0; h < all.size(); ++h) {
      Head& head = all[h];
      for (Index j = i; j < i + count; ++j) head.pairs.prepare(j);
      const bool is_last = h + 1 == all.size();
      head.blocks.take(head.pairs, i, count, &all[is_last ? 0 : h + 1].pairs, is_last ? i + count : i);
    }
  }
  for (Head& head : all) head.blocks.finish(head.pairs[pairs - 1], head.pairs.factor());
}

/// Takes columns first .. end of S of some heads through all rows, a tile of each head at a time.
void take_columns(std::span<const HeadRows> heads, Index first, Index end) {
  const bool erases = heads.front().structure.erase != Erase::none;
  const bool is_plain = heads.front().structure.plain_write;
  if (erases && is_plain) return take_columns_of<true, true>(heads, first, end);
  if (erases) return take_columns_of<true, false>(heads, first, end);
  if (is_plain) return take_columns_of<false, true>(heads, first, end);
  take_columns_of<false, false>(heads, first, end);
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace palimpsest::cpu {

namespace {

HWY_EXPORT(take_columns);
HWY_EXPORT(target_name);

constexpr Index widest_block = 64;         // columns, with the widest vectors
constexpr double least_of_a_thread = 2e6;  // multiply-adds, below which waking a thread takes longer
constexpr Index most_together =
    1 << 19;  // bytes of the states of heads that take turns: half a second-level cache

/// How many parts the columns of each of `heads` heads are split into, so that all threads have work.
Index parts_of_head(const HeadRows& head, Index heads, unsigned threads) {
  const Index wanted = heads % threads == 0 ? 1 : threads;
  return std::clamp<Index>(wanted, 1, std::max<Index>((head.V + widest_block / 2) / widest_block, 1));
}

/// How many of `heads` heads take turns in one thread.
Index heads_together(const HeadRows& head, Index heads, unsigned threads) {
  const Index bytes = std::max<Index>(head.K * head.V, 1) * static_cast<Index>(sizeof(float));
  const Index share = std::max<Index>(heads / threads, 1);
  return std::clamp<Index>(most_together / bytes, 1, share);
}

}  // namespace

void recurrent_rows(std::span<const HeadRows> heads, unsigned threads) {
  if (heads.empty() || heads.front().rows == 0) return;
  const HeadRows& first = heads.front();
  const auto count = std::ssize(heads);
  const double work = 2.0 * static_cast<double>(count * first.rows) * static_cast<double>(first.K * first.V);
  if (work < 2 * least_of_a_thread) threads = 1;
  const Index parts = parts_of_head(first, count, threads);
  const Index together = heads_together(first, count, threads);
  const Index groups = (count + together - 1) / together;
  const Index blocks = (first.V + widest_block - 1) / widest_block;
  parallel_for(groups * parts, threads, [&](Index unit) {
    const Index begin = unit / parts * together;
    const auto group = heads.subspan(static_cast<std::size_t>(begin),
                                     static_cast<std::size_t>(std::min(together, count - begin)));
    const auto column = [&](Index part) { return std::min(blocks * part / parts * widest_block, first.V); };
    HWY_DYNAMIC_DISPATCH(take_columns)(group, column(unit % parts), column(unit % parts + 1));
  });
}

std::string vector_instructions() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace palimpsest::cpu

#endif
