// The recurrent form with no decay, one decay per token or one per key channel, with and without erase.
//
//   S~  = Diag(alpha_t) S_{t-1}
//   u_t = beta_t (v_t - S~^T k_t)         with erase; beta_t v_t without
//   o_t = S~^T q_t + (k_t . q_t) u_t      this is S_t^T q_t
//   S_t = S~ + k_t u_t^T
//
// Tokens must come one after another, so what counts is how long one token takes. What can be side by side is
// the columns of S (spec 1.4): column c needs v_tc, and otherwise only what all columns share. So:
//
// - A column lives in the registers of a few neighbouring lanes of one warp, from first to last token. It
//   never goes to memory in between: per token a head reads 2K + V + 2 numbers and writes V.
// - S~^T k and S~^T q are summed in one sweep over the old column. With o written as above no second sweep
//   over the new one is needed, and the lanes of a column exchange both sums together, in a few shuffles. One
//   decay for all channels is taken out of the sums; K of them cost no more multiplications, but their row
//   has to be read, too.
// - Where there are many heads, a lane holds parts of two columns: what it reads of a token serves both, and
//   reading from shared memory is what takes longest.
// - The working warps of a block hold other columns of the same head and read its tokens from shared memory;
//   one more, the carrier, brings them there, a stage of up to 16 tokens at a time, and finds k . q, which is
//   the same for all columns. It is two stages ahead: while one is worked on, the next has arrived and gets
//   its k . q, and the one after that is on its way.
//
// Rows of S beyond K are zero and are multiplied by zeros, so K need not be a multiple of anything.
//
// Few tokens are for recurrent_decode.cu: there all that counts is how S is read and written.

#include <cuda_pipeline_primitives.h>

#include <bit>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/row_kernels.h"

namespace palimpsest {

namespace {

constexpr int working_warps = 4;
constexpr int threads = (working_warps + 1) * warp_size;
constexpr int stage_count = 3;
constexpr int shared_bytes = 48 * 1024;  // what a block gets everywhere without asking

/// How columns of S lie in a warp: `lanes` neighbours hold `rows` elements of each of `beside` columns.
template <int lanes_, int rows_, int beside_ = 1>
struct Shape {
  static constexpr int lanes = lanes_;
  static constexpr int rows = rows_;
  static constexpr int beside = beside_;
  static constexpr int K = lanes * rows;                           // rows of S that fit
  static constexpr int apart = working_warps * warp_size / lanes;  // the columns of one lane
  static constexpr int columns = apart * beside;                   // of S in one block
};

/// What a block needs to know of one token.
template <class Scalar, class Shape, bool by_channel>
struct alignas(16) Token {
  Scalar k[Shape::K];  // zero beyond K
  Scalar q[Shape::K];
  Scalar v[Shape::columns];  // the block's own columns
  alignas(by_channel ? 16 : sizeof(Scalar)) Scalar alpha[by_channel ? Shape::K : 1];
  Scalar beta;
  Scalar k_dot_q;
};

/// Tokens that are loaded together.
template <class Scalar, class Shape, bool by_channel>
struct Stage {
  static constexpr int fitting = shared_bytes / (stage_count * sizeof(Token<Scalar, Shape, by_channel>));
  static constexpr int size = fitting < 16 ? fitting : 16;
  static constexpr int lanes_per_token =
      warp_size / std::bit_ceil(static_cast<unsigned>(size));  // of one warp
  Token<Scalar, Shape, by_channel> tokens[size];
};

/// 16 bytes, read from shared memory at once.
template <class Scalar>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(Scalar);
  Scalar at[size];
};

/// The sum of a few numbers, pairwise.
template <class Scalar, int size>
__device__ Scalar total(Scalar (&numbers)[size]) {
#pragma unroll
  for (int distance = size / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (int j = 0; j < distance; ++j) numbers[j] += numbers[j + distance];
  }
  return numbers[0];
}

/// Starts the copy of `count` neighbours into shared memory.
template <int count, class Scalar>
__device__ void start_copy(Scalar* to, const Scalar* from) {
  __pipeline_memcpy_async(to, from, count * sizeof(Scalar));
}

/// The head and the columns of S that a block works on.
struct Place {
  std::int64_t head;
  std::int64_t first_column;

  template <class Scalar>
  __device__ Place(const RowPrograms<Scalar>& programs, int columns) {
    const std::int64_t blocks_per_head = (programs.V + columns - 1) / columns;
    head = blockIdx.x / blocks_per_head;
    first_column = blockIdx.x % blocks_per_head * columns;
  }
};

/// The warp that brings tokens.
template <class Scalar, class Shape, bool by_channel>
class Carrier {
 public:
  using Stage = Stage<Scalar, Shape, by_channel>;
  using Pack = Pack<Scalar>;

  __device__ Carrier(const RowPrograms<Scalar>& programs, const Place& place, int lane)
      : programs_(programs), place_(place), lane_(lane) {}

  /// Starts the copy of the tokens from `first` on; there may be none.
  __device__ void fetch(Stage& stage, std::int64_t first) {
    if (in_packs_)
      fetch_rows<Pack::size>(stage, first);
    else
      fetch_rows<1>(stage, first);

    const std::int64_t t = first + lane_;
    if (lane_ < Stage::size && t < programs_.T) {
      auto& token = stage.tokens[lane_];
      if (!by_channel && alpha_) start_copy<1>(token.alpha, alpha_ + t * programs_.alpha.token_stride);
      if (beta_) start_copy<1>(&token.beta, beta_ + t * programs_.beta.token_stride);
    }
    __pipeline_commit();
  }

  /// Waits for the stage fetched before the last one and finds its k . q, all tokens at once: a few lanes for
  /// each of them, so that hardly any sum has to wait for a shuffle.
  __device__ void complete(Stage& stage) {
    constexpr int lanes = Stage::lanes_per_token;
    __pipeline_wait_prior(1);
    __syncwarp();
    auto& token = stage.tokens[min(lane_ / lanes, Stage::size - 1)];
    const auto* const k = reinterpret_cast<const Pack*>(token.k);
    const auto* const q = reinterpret_cast<const Pack*>(token.q);
    Pack sum{};
#pragma unroll 4
    for (int p = lane_ % lanes; p < Shape::K / Pack::size; p += lanes) {
      unrolled<Pack::size>([&](int j) { sum.at[j] += k[p].at[j] * q[p].at[j]; });
    }
    token.k_dot_q = sum_of_lanes<lanes>(total(sum.at));
  }

 private:
  static_assert(Shape::columns <= warp_size && Stage::size >= 1);

  /// The rows q, k, v and those of a decay per channel, where every lane copies `width` neighbouring channels
  /// at once, from its own first one on: what it adds to its addresses is then known when this is compiled.
  template <int width>
  __device__ void fetch_rows(Stage& stage, std::int64_t first) {
    constexpr int step = warp_size * width;
    constexpr int copies = (Shape::K + step - 1) / step;
    constexpr bool is_wide = Shape::K > 256;  // then copies are too many to have all addresses in registers
    const int own = lane_ * width;
    const int channels = static_cast<int>(programs_.K) - own;
    const Scalar* q = q_ + first * programs_.q.token_stride + own;
    const Scalar* k = k_ + first * programs_.k.token_stride + own;
    const Scalar* v = v_ + first * programs_.v.token_stride + lane_;
    const Scalar* alpha = by_channel ? alpha_ + first * programs_.alpha.token_stride + own : nullptr;
#pragma unroll(is_wide ? 1 : 4)
    for (int i = 0; i < Stage::size; ++i) {
      const bool exists = first + i < programs_.T;
      const int here = exists ? channels : 0;
      auto& token = stage.tokens[i];
      Scalar* const k_here = token.k + own;
      Scalar* const q_here = token.q + own;
#pragma unroll(is_wide ? 4 : copies)
      for (int j = 0; j < copies * step; j += step) {
        if (j < here) {
          start_copy<width>(k_here + j, k + j);
          start_copy<width>(q_here + j, q + j);
          if (by_channel) start_copy<width>(token.alpha + own + j, alpha + j);
        }
      }
      if (exists && lane_ < Shape::columns && lane_ < columns_) start_copy<1>(token.v + lane_, v);
      q += programs_.q.token_stride;
      k += programs_.k.token_stride;
      v += programs_.v.token_stride;
      if (by_channel) alpha += programs_.alpha.token_stride;
    }
  }

  const RowPrograms<Scalar>& programs_;
  const Place& place_;
  int lane_;
  std::int64_t columns_ = programs_.V - place_.first_column;  // from the first of this block on
  const Scalar* q_ = programs_.q.at(place_.head);
  const Scalar* k_ = programs_.k.at(place_.head);
  const Scalar* v_ = programs_.v.at(place_.head) + place_.first_column;
  const Scalar* alpha_ = programs_.alpha.data ? programs_.alpha.at(place_.head) : nullptr;
  const Scalar* beta_ = programs_.beta.data ? programs_.beta.at(place_.head) : nullptr;
  // Rows of K numbers, which lie side by side, can be copied 16 bytes at a time.
  bool in_packs_ = programs_.K % Pack::size == 0;
};

/// The parts of its columns of S that one lane holds.
template <class Scalar, class Shape, bool erase, bool by_channel>
class Columns {
 public:
  using Token = Token<Scalar, Shape, by_channel>;
  using Pack = Pack<Scalar>;

  /// `own` is the first of the lane's columns among those of the block.
  __device__ Columns(const RowPrograms<Scalar>& programs, const Place& place, int own)
      : own_(own), part_(threadIdx.x % Shape::lanes), column_(place.first_column + own), V_(programs.V) {
    state_offset_ = place.head * programs.K * V_ + column_;
  }

  __device__ void load(const Scalar* state, std::int64_t K) {
    for_each_element([&](Scalar& element, int c, int row) {
      element = row < K && exists(c) ? state[state_offset_ + row * V_ + c * Shape::apart] : Scalar(0);
    });
  }

  __device__ void store(Scalar* state, std::int64_t K) {
    for_each_element([&](Scalar& element, int c, int row) {
      if (row < K && exists(c)) state[state_offset_ + row * V_ + c * Shape::apart] = element;
    });
  }

  /// One token, whose row of outputs is `o`.
  __device__ void step(const Token& token, Scalar* o) {
    const auto* const k_packs = reinterpret_cast<const Pack*>(token.k);
    const auto* const q_packs = reinterpret_cast<const Pack*>(token.q);
    const auto* const alpha_packs = reinterpret_cast<const Pack*>(token.alpha);

    // The sums over the old state: one per place in a pack, so that additions need not wait.
    Pack k[packs];
    Scalar old[Shape::beside][Pack::size] = {};
    Scalar read[Shape::beside][Pack::size] = {};
    unrolled<packs>([&](int p) {
      k[p] = k_packs[p * Shape::lanes + part_];
      const Pack q = q_packs[p * Shape::lanes + part_];
      Pack fade;
      if (by_channel) fade = alpha_packs[p * Shape::lanes + part_];
      unrolled<Shape::beside, Pack::size>([&](int c, int j) {
        Scalar& S = S_[c][p][j];
        if (by_channel) S *= fade.at[j];
        if (erase) old[c][j] += S * k[p].at[j];
        read[c][j] += S * q.at[j];
      });
    });
    const Scalar alpha = by_channel ? Scalar(1) : token.alpha[0];
    unrolled<Shape::beside>([&](int c) {
      const Scalar answer = erase ? alpha * sum_of_lanes<Shape::lanes>(total(old[c])) : Scalar(0);
      const Scalar u = token.beta * (token.v[own_ + c * Shape::apart] - answer);

      // S = alpha S + k u^T
      unrolled<packs, Pack::size>([&](int p, int j) { S_[c][p][j] = alpha * S_[c][p][j] + k[p].at[j] * u; });
      // o = alpha S^T q + (k . q) u
      const Scalar sum = alpha * sum_of_lanes<Shape::lanes>(total(read[c])) + token.k_dot_q * u;
      if (part_ == 0 && exists(c)) o[column_ + c * Shape::apart] = sum;
    });
  }

 private:
  static constexpr int packs = Shape::rows / Pack::size;

  __device__ bool exists(int c) const { return column_ + c * Shape::apart < V_; }

  /// Calls visit(element, column of the lane, row of S). Neighbouring lanes hold neighbouring packs: none
  /// waits for another's bank.
  template <class Visit>
  __device__ void for_each_element(Visit visit) {
    unrolled<Shape::beside>([&](int c) {
      unrolled<packs, Pack::size>(
          [&](int p, int j) { visit(S_[c][p][j], c, (p * Shape::lanes + part_) * Pack::size + j); });
    });
  }

  Scalar S_[Shape::beside][packs][Pack::size];
  int own_;
  int part_;  // which rows of the columns: packs part, part + lanes, ...
  std::int64_t column_;
  std::int64_t V_;
  std::int64_t state_offset_;
};

template <class Scalar, class Shape, bool erase, bool by_channel>
__global__ void __launch_bounds__(threads, 1) read_and_write_tokens(const RowPrograms<Scalar> programs) {
  using Stage = Stage<Scalar, Shape, by_channel>;
  __shared__ Stage stages[stage_count];
  const Place place(programs, Shape::columns);
  const bool is_carrier = threadIdx.x / warp_size == working_warps;

  // Copies never touch what lies beyond K and V, nor a decay or strength that is not given.
  auto* const elements = reinterpret_cast<Scalar*>(stages);
  for (int i = threadIdx.x; i < static_cast<int>(sizeof(stages) / sizeof(Scalar)); i += threads)
    elements[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < stage_count * Stage::size; i += threads) {
    auto& token = stages[i / Stage::size].tokens[i % Stage::size];
    if (!by_channel) token.alpha[0] = 1;
    token.beta = 1;
  }
  __syncthreads();

  Carrier<Scalar, Shape, by_channel> carrier(programs, place, threadIdx.x % warp_size);
  Columns<Scalar, Shape, erase, by_channel> columns(programs, place, threadIdx.x / Shape::lanes);
  if (is_carrier) {
    carrier.fetch(stages[0], 0);
    carrier.fetch(stages[1], Stage::size);
    carrier.complete(stages[0]);
  } else {
    columns.load(programs.state, programs.K);
  }
  __syncthreads();

  Scalar* o = programs.o.at(place.head);
  int now = 0;
  for (std::int64_t first = 0; first < programs.T; first += Stage::size) {
    const int next = (now + 1) % stage_count;
    if (is_carrier) {
      carrier.fetch(stages[(now + 2) % stage_count], first + 2 * Stage::size);
      carrier.complete(stages[next]);
    } else {
      const int count = static_cast<int>(min(programs.T - first, static_cast<std::int64_t>(Stage::size)));
#pragma unroll 4
      for (int i = 0; i < count; ++i) {
        columns.step(stages[now].tokens[i], o);
        o += programs.o.token_stride;
      }
    }
    now = next;
    __syncthreads();
  }
  if (!is_carrier) columns.store(programs.state, programs.K);
}

template <class Scalar, class Shape, bool by_channel>
void take_columns(const RowPrograms<Scalar>& programs) {
  const unsigned blocks_per_head = blocks_for(programs.V, Shape::columns);
  launch(programs.erase ? read_and_write_tokens<Scalar, Shape, true, by_channel>
                        : read_and_write_tokens<Scalar, Shape, false, by_channel>,
         {blocks_for(programs.heads * blocks_per_head), threads}, programs);
}

/// Whether blocks of `columns` each keep all multiprocessors busy.
template <class Scalar>
bool are_many(const RowPrograms<Scalar>& programs, int columns) {
  return programs.heads * blocks_for(programs.V, columns) >= 2 * multiprocessors();
}

template <class Scalar, bool by_channel>
void take_keys(const RowPrograms<Scalar>& programs) {
  if constexpr (std::is_same_v<Scalar, float>) {
    using Wide = Shape<8, 16, 2>;
    if (programs.K > 64 && programs.K <= Wide::K && are_many(programs, Wide::columns))
      return take_columns<Scalar, Wide, by_channel>(programs);
  }
  if (programs.K <= 32) return take_columns<Scalar, Shape<8, 4>, by_channel>(programs);
  if (programs.K <= 64) return take_columns<Scalar, Shape<8, 8>, by_channel>(programs);
  if (programs.K <= 128) return take_columns<Scalar, Shape<8, 16>, by_channel>(programs);
  if (programs.K <= 256) return take_columns<Scalar, Shape<16, 16>, by_channel>(programs);
  if constexpr (!by_channel) {
    if (programs.K <= 896) return take_columns<Scalar, Shape<32, 28>, by_channel>(programs);
  }
  throw Error("recurrent_in_registers: K = " + std::to_string(programs.K) + "; expected at most " +
              std::to_string(recurrent_in_registers_largest_K(by_channel)));
}

/// Whether reading and writing the states takes longest: with one token, and with a few if so many warps
/// share a multiprocessor that some compute while others wait for their next token.
template <class Scalar>
bool states_take_longest(const RowPrograms<Scalar>& programs) {
  constexpr std::int64_t few = 16;
  constexpr std::int64_t bytes = 64 * 1024;  // of a multiprocessor
  const auto bytes_of_states =
      static_cast<std::int64_t>(sizeof(Scalar)) * programs.heads * programs.K * programs.V;
  return programs.T <= 1 || (programs.T <= few && bytes_of_states >= bytes * multiprocessors());
}

}  // namespace

template <class Scalar>
void recurrent_in_registers(const RowPrograms<Scalar>& programs) {
  if (can_decode(programs) && states_take_longest(programs)) return recurrent_decode(programs);
  programs.decays_by_channel ? take_keys<Scalar, true>(programs) : take_keys<Scalar, false>(programs);
}

template void recurrent_in_registers(const RowPrograms<double>&);
template void recurrent_in_registers(const RowPrograms<float>&);

}  // namespace palimpsest
