// The recurrent form of recurrent_registers.cu for a few tokens, as a model takes them when it decodes: then
// nearly all of the time goes to reading the states and writing them back.
//
//   u_t = beta_t (v_t - S~^T k_t),  o_t = S~^T q_t + (k_t . q_t) u_t,  S_t = S~ + k_t u_t^T
//
// In milliseconds, Gated DeltaNet in f32 with one token, 8,192 heads and 128 channels, where a copy of the
// states takes 0.26:
//
// - 1.08 by recurrent_registers.cu, which reads S 4 bytes at a time, whole rows apart, and sets up stages of
//   tokens in shared memory before it can begin.
// - 0.28 where each number of S is read once and written once, 16 bytes at a time. A warp takes a few
//   neighbouring columns, and a lane holds a part of their rows: 64 bytes or more of each row lie side by
//   side. No warp waits for another: while one waits for its part of S, others compute or write theirs. What
//   a lane needs of k, q and the decays it reads from memory itself; the other warps of a head ask for the
//   same numbers at about the same time.
//
// Each further token takes 0.05. Many are for the other kernel, which brings them before they are needed; so
// are a few of few heads, where no other warp computes while one waits for its token. To have a lane hold its
// next token would take more registers than a multiprocessor has for so many warps.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/row_kernels.h"

namespace palimpsest {

namespace {

constexpr int threads = 128;

/// 16 bytes, read or written at once.
template <class Scalar>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(Scalar);
  Scalar at[size];
};

/// The columns of S that a warp holds: a pack of columns in each lane, and `packs` packs of its rows;
/// `groups` lanes share the rows of the same columns.
template <class Scalar, int groups>
class Columns {
 public:
  using Pack = Pack<Scalar>;
  static constexpr int beside = warp_size / groups;  // lanes with neighbouring columns
  static constexpr int in_warp = beside * Pack::size;
  static constexpr int packs = 4;                        // of rows, in a lane
  static constexpr int K = groups * packs * Pack::size;  // rows of S that fit

  __device__ Columns(const RowPrograms<Scalar>& programs, std::int64_t head, std::int64_t first_column)
      : programs_(programs), head_(head), column_(first_column + threadIdx.x % beside * Pack::size) {}

  __device__ void run() {
    for_each_row([&](Pack& columns, const Pack* in_memory) { columns = in_memory ? *in_memory : Pack(); });
    for (std::int64_t t = 0; t < programs_.T; ++t) step(t);
    for_each_row([&](const Pack& columns, Pack* in_memory) {
      if (in_memory) *in_memory = columns;
    });
  }

 private:
  __device__ void step(std::int64_t t) {
    const Scalar alpha = decay(t);
    Scalar old[Pack::size] = {};
    Scalar read[Pack::size] = {};
    Scalar k_dot_q = 0;
    Pack k[packs];
    unrolled<packs>([&](int p) {
      k[p] = channels(programs_.k, t, p);
      const Pack q = channels(programs_.q, t, p);
      unrolled<Pack::size, Pack::size>([&](int j, int c) {
        old[c] += S_[p][j].at[c] * k[p].at[j];
        read[c] += S_[p][j].at[c] * q.at[j];
      });
      unrolled<Pack::size>([&](int j) { k_dot_q += k[p].at[j] * q.at[j]; });
    });
    k_dot_q = sum_of_groups(k_dot_q);
    const Scalar beta = of_token(programs_.beta, t);
    const Pack v = exists() ? pack(programs_.v, t, column_) : Pack();
    Pack u;
    Pack o;
    unrolled<Pack::size>([&](int c) {
      u.at[c] = beta * (v.at[c] - (programs_.erase ? alpha * sum_of_groups(old[c]) : 0));
      o.at[c] = alpha * sum_of_groups(read[c]) + k_dot_q * u.at[c];
    });
    unrolled<packs>([&](int p) {
      unrolled<Pack::size, Pack::size>(
          [&](int j, int c) { S_[p][j].at[c] = alpha * S_[p][j].at[c] + k[p].at[j] * u.at[c]; });
    });
    if (exists() && group_ == 0) reinterpret_cast<Pack&>(programs_.o.row(head_, t)[column_]) = o;
  }

  /// Multiplies S by the decays of channels; returns the one of all channels, else 1.
  __device__ Scalar decay(std::int64_t t) {
    if (!programs_.decays_by_channel) return of_token(programs_.alpha, t);
    unrolled<packs>([&](int p) {
      const Pack alpha = channels(programs_.alpha, t, p);
      unrolled<Pack::size, Pack::size>([&](int j, int c) { S_[p][j].at[c] *= alpha.at[j]; });
    });
    return 1;
  }

  __device__ Scalar of_token(const DeviceRows<const Scalar>& rows, std::int64_t t) const {
    return rows.data ? *rows.row(head_, t) : 1;
  }

  __device__ const Pack& pack(const DeviceRows<const Scalar>& rows, std::int64_t t, std::int64_t at) const {
    return reinterpret_cast<const Pack&>(rows.row(head_, t)[at]);
  }

  /// The channels of the rows of S in pack `p`; 0 beyond K.
  __device__ Pack channels(const DeviceRows<const Scalar>& rows, std::int64_t t, int p) const {
    return row(p) < programs_.K ? pack(rows, t, row(p)) : Pack();
  }

  /// The first row of S in a pack of them.
  __device__ int row(int p) const { return (p * groups + group_) * Pack::size; }

  __device__ bool exists() const { return column_ < programs_.V; }

  /// The sum over the lanes that share columns.
  __device__ static Scalar sum_of_groups(Scalar x) {
    for (int distance = beside; distance < warp_size; distance *= 2)
      x += __shfl_xor_sync(0xffffffffU, x, distance);
    return x;
  }

  /// Calls visit(columns of a row, where they lie in memory; null where they do not).
  template <class Visit>
  __device__ void for_each_row(Visit visit) {
    Scalar* const state = programs_.state + head_ * programs_.K * programs_.V + column_;
    unrolled<packs>([&](int p) {
      const bool lies = row(p) < programs_.K && exists();
      unrolled<Pack::size>([&](int j) {
        visit(S_[p][j], lies ? reinterpret_cast<Pack*>(state + (row(p) + j) * programs_.V) : nullptr);
      });
    });
  }

  const RowPrograms<Scalar>& programs_;
  std::int64_t head_;
  std::int64_t column_;
  int group_ = threadIdx.x % warp_size / beside;
  Pack S_[packs][Pack::size];  // [packs of rows, rows]
};

template <class Scalar, int groups>
__global__ void __launch_bounds__(threads, 4) decode_tokens(const RowPrograms<Scalar> programs) {
  using Columns = Columns<Scalar, groups>;
  const std::int64_t warp = thread_number() / warp_size;
  const std::int64_t warps_per_head = (programs.V + Columns::in_warp - 1) / Columns::in_warp;
  const std::int64_t head = warp / warps_per_head;
  if (head >= programs.heads) return;
  Columns(programs, head, warp % warps_per_head * Columns::in_warp).run();
}

template <class Scalar, int groups>
void take_columns(const RowPrograms<Scalar>& programs) {
  const std::int64_t warps = programs.heads * blocks_for(programs.V, Columns<Scalar, groups>::in_warp);
  launch(decode_tokens<Scalar, groups>, {blocks_for(warps * warp_size, threads), threads}, programs);
}

}  // namespace

template <class Scalar>
bool can_decode(const RowPrograms<Scalar>& programs) {
  constexpr int pack = Pack<Scalar>::size;
  return programs.K <= Columns<Scalar, 16>::K && programs.K % pack == 0 && programs.V % pack == 0;
}

template <class Scalar>
void recurrent_decode(const RowPrograms<Scalar>& programs) {
  if (programs.K <= Columns<Scalar, 4>::K) return take_columns<Scalar, 4>(programs);
  if (programs.K <= Columns<Scalar, 8>::K) return take_columns<Scalar, 8>(programs);
  take_columns<Scalar, 16>(programs);
}

template bool can_decode(const RowPrograms<double>&);
template bool can_decode(const RowPrograms<float>&);
template void recurrent_decode(const RowPrograms<double>&);
template void recurrent_decode(const RowPrograms<float>&);

}  // namespace palimpsest
