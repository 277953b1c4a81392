// Chunk after chunk of linear attention on tensor cores, with one decay per token, one per channel, or none,
// with erase or without. A chunk is 64 tokens; with S the state before it, [K, V]:
//
//   R = V - e^G o K S                target minus prediction, with erase (spec 1.3)
//   U = T R                          T = (I + diag(beta) L)^-1 diag(beta), L_ij = e^{G_i - G_j} k_i . k_j
//   U = V                            without erase
//   O = e^G o Q S + P U              P_ij = e^{G_i - G_j} q_i . k_j for j <= i
//   S = e^{G_64} S + K^T (e^{G_64 - G} o U)
//
// For how the warpgroups of a block share this see docs/kernels.md. Right factors, Q^T, K^T, T^T, P^T and
// K, are tiles as bulk copies lay them, read along their rows or along their columns.
//
// Where every key channel has a decay, two warpgroups make queries and keys with their decays in them, and P
// (decayed_chunks.cuh). With erase, and where many blocks of values would do it over again, a kernel before
// puts them into tables (chunk_decays.cu), and L too. Else one warpgroup makes scores and L
// (token_scores.cuh). With erase one more makes T of L.
//
// R, T, P and U are f16 with erase: the most precise of two-byte formats, as they are rounded most often.
//
// Few heads go through segments of their chunks side by side (segment_states.cu), twice: first without
// reading, for the state that each leaves of none, then from the right one.

#include "kernels/cuda/hopper/decayed_chunks.cuh"
#include "kernels/cuda/hopper/token_scores.cuh"

namespace palimpsest {

namespace {

using namespace hopper;

constexpr int L = tile_rows;  // tokens of a chunk
constexpr int main_warpgroups = 2;
constexpr int main_threads = main_warpgroups * warpgroup_size;
constexpr int values_per_block = main_warpgroups * tile_columns;

constexpr int triangular_registers = 56;  // of a thread that makes T

enum class Decays {
  none,
  by_token,
  by_channel,  // multiplied into q and k here (decayed_chunks.cuh)
  in_tables    // likewise, by a kernel before (chunk_decays.cu)
};

/// The warpgroups of a block: those with S, and those that make what these multiply by.
template <bool erases, Decays decays>
struct Warpgroups {
  static constexpr bool decays_here = decays == Decays::by_channel;
  static constexpr bool has_tables = decays == Decays::in_tables;
  static constexpr bool scores_here = !decays_here && !has_tables;  // by the auxiliary one
  static constexpr int makers = (decays_here || erases ? 2 : 1) * warpgroup_size;
  static constexpr int threads = main_threads + makers;
  // of a thread
  static constexpr int main_registers = decays_here ? 144 : erases && scores_here ? 176 : 208;
  static constexpr int other_registers = decays_here ? 112 : has_tables ? 40 : erases ? 104 : 88;
};

/// What is copied for one chunk; q and scores only where outputs are read.
template <bool erases, Decays decays, bool reads>
struct Stage {
  Tile q[reads ? 2 : 0];
  Tile k[2];
  Tile v[decays == Decays::by_channel ? 0 : main_warpgroups];
  Tile scores[reads && decays == Decays::in_tables ? 1 : 0];
  Tile k_read[erases && decays == Decays::in_tables ? 2 : 0];
};

/// What the auxiliary warpgroup makes for one chunk.
struct Factors {
  float in[L];     // e^G, of the reads
  float erase[L];  // e^G, of the erases
  float out[L];    // e^{G_64 - G}, times beta without erase
  float total[128];
};

template <bool erases, Decays decays, bool reads>
struct Shared : Warpgroups<erases, decays> {
  using Roles = Warpgroups<erases, decays>;
  using Roles::decays_here, Roles::has_tables, Roles::scores_here;
  static constexpr int stages = has_tables && erases ? 2 : 3;
  static constexpr int buffers = has_tables && erases ? 3 : 2;  // of what is made for a chunk
  Stage<erases, decays, reads> stage[stages];
  Tile v[decays_here ? 2 : 0][main_warpgroups];
  channel_decays::DecayedChunks<reads>::Room decayed[decays_here ? 1 : 0];
  Tile scores[reads && !has_tables ? 2 : 0];
  Tile triangular[erases ? buffers : 0];
  Diagonal diagonal[erases ? buffers : 0][unit_lower::blocks];
  Tile o[reads ? main_warpgroups : 0];
  Factors factors[buffers];
  static constexpr int weights_ahead = 3;
  TokenWeights weights[scores_here ? weights_ahead : 0];
  Barrier copied[stages];                                      // a stage is filled
  Barrier used[stages];                                        // and may be filled again
  Barrier weighed[scores_here && erases ? weights_ahead : 0];  // weights of a chunk are there
  Barrier scored[erases ? buffers : 0];                        // what T is made of is there
  Barrier made[buffers];                                       // scores and factors of a chunk are there
  Barrier taken[buffers];                                      // and may be made again

  /// Which of those a chunk has, and which phase of its barriers.
  static __device__ int buffer(int chunk) { return chunk % buffers; }
  static __device__ int phase(int chunk) { return chunk / buffers % 2; }

  /// Waits until the chunk that has had a chunk's buffer before is gone through.
  __device__ void await_room(int chunk) { taken[buffer(chunk)].wait(phase(chunk) ^ 1); }
};

/// The block's place.
struct Place {
  int head = static_cast<int>(blockIdx.x);
  int first_value = static_cast<int>(blockIdx.y) * values_per_block;
  int segment = static_cast<int>(blockIdx.z);
  int first_chunk;
  int chunks;  // of the segment

  __device__ explicit Place(const TokenChunks& chain) {
    const auto most = static_cast<int>(chain.chunks_per_segment);
    first_chunk = segment * most;
    chunks = min(static_cast<int>(chain.chunks) - first_chunk, most);
  }

  /// The first token of one of its chunks.
  __device__ int token(int chunk) const { return (first_chunk + chunk) * L; }

  /// A chunk's number among those of all heads.
  __device__ std::int64_t among_chunks(const TokenChunks& chain, int chunk) const {
    return head * chain.chunks + first_chunk + chunk;
  }

  /// The segment's number among those of all heads.
  __device__ std::int64_t among_segments(const TokenChunks& chain) const {
    return head * chain.segments + segment;
  }
};

/// Sets tiles to 0, by one warpgroup or two.
template <int threads, int count>
__device__ void clear(Tile (&tiles)[count]) {
  auto* const words = reinterpret_cast<uint4*>(tiles);
  for (int i = static_cast<int>(threadIdx.x) % threads; i < int{sizeof(tiles) / sizeof(uint4)}; i += threads)
    words[i] = {};
}

/// Starts the copies of chunks; by one thread.
template <bool erases, Decays decays, bool reads>
class Copies {
 public:
  using Shared = palimpsest::Shared<erases, decays, reads>;

  __device__ Copies(const TokenChunks& chain, Shared& shared, const Place& place)
      : chain_(chain), shared_(shared), place_(place) {}

  /// Of as many as find room.
  __device__ void begin() const {
    for (int chunk = 0; chunk < Shared::stages - 1; ++chunk) start(chunk);
    for (int chunk = 0; chunk < Shared::buffers - 1; ++chunk) load_strengths(chunk);
  }

  /// Of the next one, once the chunk before this is gone through.
  __device__ void go_on(int chunk) const {
    start(chunk + Shared::stages - 1);
    load_strengths(chunk + Shared::buffers - 1);
  }

  __device__ void load_values(Tile* to, int chunk, Barrier& copied) const {
    for (int i = 0; i < main_warpgroups; ++i)
      load_tile(&to[i], chain_.v, {place_.first_value + i * tile_columns, place_.token(chunk), place_.head},
                copied);
  }

 private:
  /// Of one chunk, once its stage is free.
  __device__ void start(int chunk) const {
    if (chunk >= place_.chunks) return;
    const int s = chunk % Shared::stages;
    if constexpr (!Shared::decays_here) shared_.used[s].wait((chunk / Shared::stages % 2) ^ 1);
    auto& stage = shared_.stage[s];
    Barrier& copied = shared_.copied[s];
    copied.arrive_expecting(static_cast<int>(sizeof(stage)));
    const int token = place_.token(chunk);
    const TilePlace at = {0, token, place_.head};
    const TilePlace second = {tile_columns, token, place_.head};
    const auto load_both = [&](Tile* tiles, const CUtensorMap& from) {
      load_tile(&tiles[0], from, at, copied);
      load_tile(&tiles[1], from, second, copied);
    };
    if constexpr (reads) load_both(stage.q, Shared::has_tables ? chain_.q_read : chain_.q);
    load_both(stage.k, Shared::has_tables ? chain_.k_write : chain_.k);
    if constexpr (!Shared::decays_here) load_values(stage.v, chunk, copied);
    if constexpr (reads && Shared::has_tables)
      load_bytes(&stage.scores[0], &chain_.scores[place_.among_chunks(chain_, chunk)], tile_bytes, copied);
    if constexpr (erases && Shared::has_tables) load_both(stage.k_read, chain_.k_read);
  }

  /// What T is made of, where it is in tables.
  __device__ void load_strengths(int chunk) const {
    if constexpr (erases && Shared::has_tables) {
      if (chunk >= place_.chunks) return;
      shared_.await_room(chunk);
      const int buffer = Shared::buffer(chunk);
      const std::int64_t from = place_.among_chunks(chain_, chunk);
      Barrier& scored = shared_.scored[buffer];
      constexpr int diagonal_bytes = unit_lower::blocks * int{sizeof(Diagonal)};
      scored.arrive_expecting(tile_bytes + diagonal_bytes);
      load_bytes(&shared_.triangular[buffer], &chain_.strengths[from], tile_bytes, scored);
      load_bytes(shared_.diagonal[buffer], &chain_.diagonals[from * unit_lower::blocks], diagonal_bytes,
                 scored);
    }
  }

  const TokenChunks& chain_;
  Shared& shared_;
  const Place& place_;
};

template <bool erases, Decays decays, bool reads>
class Auxiliary {
 public:
  using Shared = palimpsest::Shared<erases, decays, reads>;
  using Scores = TokenScores<reads, erases, decays == Decays::by_token>;

  __device__ Auxiliary(const TokenChunks& chain, Shared& shared, const Place& place)
      : chain_(chain), shared_(shared), place_(place), copies_(chain, shared, place) {}

  __device__ void run() {
    // blocks above the diagonal stay 0
    if constexpr (reads && Shared::scores_here) clear<warpgroup_size>(shared_.scores);
    if constexpr (erases && Shared::scores_here) clear<warpgroup_size>(shared_.triangular);
    const bool starts_copies = (!erases || Shared::has_tables) && thread_ == 0;
    if (starts_copies) copies_.begin();
    if constexpr (weighs) {
      weights_.fetch(place_.token(0));
      weights_.put(shared_.weights[0], place_.token(1));
    }
    for (int chunk = 0; chunk < place_.chunks; ++chunk) {
      if constexpr (Shared::has_tables)
        fetch_totals(chunk);
      else
        make(chunk);
      shared_.made[Shared::buffer(chunk)].arrive();
      // By other warps: the main warpgroups wait for neither.
      if (starts_copies) copies_.go_on(chunk);
      if constexpr (weighs)
        weights_.put(shared_.weights[(chunk + 1) % Shared::weights_ahead], place_.token(chunk + 2));
    }
    if (!reads && !erases && place_.first_value == 0)
      chain_.transitions[place_.among_segments(chain_) * warpgroup_size + thread_] = total_;
  }

 private:
  static constexpr bool weighs = Shared::scores_here && !erases;

  /// Scores and factors of a chunk.
  __device__ void make(int chunk) {
    if constexpr (reads || erases) {
      typename Scores::Products products;
      start_scores(products, chunk);
      make_factors(chunk);
      finish_scores(products, chunk);
    } else {
      make_factors(chunk);
      if constexpr (decays == Decays::by_token)
        total_ *= two_to(shared_.weights[chunk % Shared::weights_ahead].G[L - 1]);
    }
  }

  __device__ void start_scores(typename Scores::Products& products, int chunk) {
    const int s = chunk % Shared::stages;
    shared_.copied[s].wait(chunk / Shared::stages % 2);
    Scores::start(products, shared_.stage[s].q, shared_.stage[s].k);
  }

  __device__ void finish_scores(typename Scores::Products& products, int chunk) {
    const int buffer = Shared::buffer(chunk);
    const TokenWeights& weights = shared_.weights[chunk % Shared::weights_ahead];
    Scores::await(products);
    if constexpr (erases) {
      scores_.put_strengths(products.of_keys, weights, shared_.triangular[buffer], shared_.diagonal[buffer]);
      shared_.scored[buffer].arrive();
    }
    if constexpr (reads) scores_.put_scores(products.of_queries, weights, shared_.scores[buffer]);
    publish_to_tensor_cores();
  }

  __device__ void make_factors(int chunk) {
    shared_.await_room(chunk);
    if constexpr (weighs)
      meet(1, warpgroup_size);
    else
      shared_.weighed[chunk % Shared::weights_ahead].wait(chunk / Shared::weights_ahead % 2);
    if (thread_ >= L) return;
    const TokenWeights& weights = shared_.weights[chunk % Shared::weights_ahead];
    Factors& factors = shared_.factors[Shared::buffer(chunk)];
    float out = erases ? 1 : weights.beta[thread_];
    if constexpr (decays == Decays::by_token) {
      factors.in[thread_] = two_to(read_sum(chain_, weights.G, thread_));
      factors.erase[thread_] = two_to(weights.G[thread_]);
      out *= two_to(weights.G[L - 1] - weights.G[thread_]);
    }
    factors.out[thread_] = out;
  }

  __device__ void fetch_totals(int chunk) {
    shared_.await_room(chunk);
    const float total = chain_.totals[place_.among_chunks(chain_, chunk) * 128 + thread_];
    shared_.factors[Shared::buffer(chunk)].total[thread_] = total;
    if constexpr (!reads) total_ *= total;
  }

  const TokenChunks& chain_;
  Shared& shared_;
  const Place& place_;
  Copies<erases, decays, reads> copies_;
  int thread_ = static_cast<int>(threadIdx.x) - main_threads;
  WeightMaker<decays == Decays::by_token> weights_{chain_, place_.head};
  Scores scores_{chain_};
  float total_ = 1;  // the decay of the segment; of this thread's channel
};

/// One more warpgroup with erase: it makes T. Where the auxiliary one makes scores, this one makes weights
/// for them and starts copies.
template <Decays decays, bool reads>
class Triangular {
 public:
  using Shared = palimpsest::Shared<true, decays, reads>;

  __device__ Triangular(const TokenChunks& chain, Shared& shared, const Place& place)
      : shared_(shared), place_(place), copies_(chain, shared, place), weights_(chain, place.head) {}

  __device__ void run() {
    const bool starts_copies = Shared::scores_here && thread_ == warpgroup_size - 32;
    if (starts_copies) copies_.begin();
    if constexpr (Shared::scores_here) weights_.fetch(place_.token(0));
    if (thread_ >= warpgroup_size / 2) {
      weigh(0);
      weigh(1);
    }
    for (int chunk = 0; chunk < place_.chunks; ++chunk) {
      const int buffer = Shared::buffer(chunk);
      Tile& T = shared_.triangular[buffer];
      shared_.scored[buffer].wait(Shared::phase(chunk));  // then nobody reads the weights before
      unit_lower::solve(shared_.diagonal[buffer][thread_ / 32], T);
      unit_lower::merge_blocks(T, [&] { weigh(chunk + 2); });
      publish_to_tensor_cores();
      shared_.made[buffer].arrive();
      if (starts_copies) copies_.go_on(chunk);
    }
  }

 private:
  /// By the warps that merge nothing.
  __device__ void weigh(int chunk) {
    if constexpr (Shared::scores_here) {
      weights_.put(shared_.weights[chunk % Shared::weights_ahead], place_.token(chunk + 1));
      shared_.weighed[chunk % Shared::weights_ahead].arrive();
    }
  }

  Shared& shared_;
  const Place& place_;
  Copies<true, decays, reads> copies_;
  WeightMaker<decays == Decays::by_token> weights_;
  int thread_ = static_cast<int>(threadIdx.x % warpgroup_size);
};

/// Two warpgroups in place of the auxiliary one. They multiply the decays into a chunk while the one before
/// is gone through and the one after is copied.
template <bool reads>
class Decaying {
 public:
  using Shared = palimpsest::Shared<false, Decays::by_channel, reads>;
  using Chunks = channel_decays::DecayedChunks<reads>;

  __device__ Decaying(const TokenChunks& chain, Shared& shared, const Place& place)
      : chain_(chain),
        shared_(shared),
        place_(place),
        copies_(chain, shared, place),
        decayed_(chain, shared.decayed[0], place.head) {}

  __device__ void run() {
    if constexpr (reads) clear<Chunks::threads>(shared_.scores);  // blocks above the diagonal stay 0
    if (thread_ == Chunks::idle_thread) {
      copies_.begin();
      copy_values(0);
    }
    decayed_.fetch(place_.token(0));
    for (int chunk = 0; chunk < place_.chunks; ++chunk) {
      shared_.await_room(chunk);
      make(chunk);
      publish_to_tensor_cores();
      shared_.made[Shared::buffer(chunk)].arrive();
      if (thread_ == Chunks::idle_thread && chunk + 1 < place_.chunks) {
        shared_.await_room(chunk + 1);  // with it a stage becomes free
        copy_values(chunk + 1);
        copies_.go_on(chunk);
      }
    }
    if (!reads && place_.first_value == 0 && thread_ < channel_decays::channels / 2)
      reinterpret_cast<float2&>(
          chain_.transitions[place_.among_segments(chain_) * warpgroup_size + 2 * thread_]) = total_;
  }

 private:
  __device__ void copy_values(int chunk) {
    Barrier& made = shared_.made[Shared::buffer(chunk)];
    made.arrive_expecting(static_cast<int>(sizeof(shared_.v[0])));
    copies_.load_values(shared_.v[Shared::buffer(chunk)], chunk, made);
  }

  __device__ void make(int chunk) {
    auto& stage = shared_.stage[chunk % Shared::stages];
    float* const total = shared_.factors[Shared::buffer(chunk)].total;
    shared_.copied[chunk % Shared::stages].wait(chunk / Shared::stages % 2);
    decayed_.fade(chunk, stage.q, stage.k, total, place_.token(chunk + 1));
    if constexpr (reads)
      decayed_.score(chunk, &shared_.scores[Shared::buffer(chunk)], place_.token(chunk));
    else if (thread_ < channel_decays::channels / 2)
      total_ = channel_decays::product(total_, reinterpret_cast<const float2&>(total[2 * thread_]));
  }

  const TokenChunks& chain_;
  Shared& shared_;
  const Place& place_;
  Copies<false, Decays::by_channel, reads> copies_;
  Chunks decayed_;
  int thread_ = static_cast<int>(threadIdx.x % Chunks::threads);
  float2 total_ = {1, 1};  // the decay of the segment; of this thread's channels
};

template <bool erases, Decays decays, bool reads>
class Main {
 public:
  using Number = std::conditional_t<erases, Half, Bfloat>;  // of scores and U
  using Shared = palimpsest::Shared<erases, decays, reads>;

  __device__ Main(const TokenChunks& chain, Shared& shared, const Place& place)
      : chain_(chain), shared_(shared), place_(place) {}

  __device__ void run() {
    load_state();
    for (int chunk = 0; chunk < place_.chunks; ++chunk) {
      if constexpr (Shared::decays_here)
        shared_.made[Shared::buffer(chunk)].wait(Shared::phase(chunk));
      else
        shared_.copied[chunk % Shared::stages].wait(chunk / Shared::stages % 2);
      step(chunk);
    }
    if (place_.chunks > 0) write(place_.chunks - 1);
    store_state();
    if (thread_ == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }

 private:
  __device__ void step(int chunk) {
    const auto& stage = shared_.stage[chunk % Shared::stages];
    const int buffer = Shared::buffer(chunk);
    const Factors& factors = shared_.factors[buffer];
    const Tile* const scores = Shared::has_tables ? stage.scores : shared_.scores + (reads ? buffer : 0);
    const Tile* const v = Shared::decays_here ? shared_.v[buffer] : stage.v;
    const Tile* const triangular = shared_.triangular + (erases ? buffer : 0);

    // O^T = S^T Q^T, and X^T = S^T K^T
    Sums<L> O;
    Sums<L> X;
    if constexpr (reads || erases) {
      // Half of S at a time, where other warpgroups need the registers.
      constexpr int parts = Shared::main_registers < 208 ? 2 : 1;
      unrolled<parts>([&](int part) {
        Left S[8 / parts];
        unrolled<8 / parts>([&](int i) { S[i] = left_factor<Bfloat>(S_, 8 / parts * part + i); });
        begin_products();
        unrolled<8 / parts>([&](int i) {
          const int step = 8 / parts * part + i;
          if constexpr (reads) multiply<Bfloat, Along::rows>(O, S[i], along_rows(stage.q, step), step > 0);
          if constexpr (erases)
            multiply<Bfloat, Along::rows>(
                X, S[i], along_rows(Shared::has_tables ? stage.k_read : stage.k, step), step > 0);
        });
        end_products();
        if (part == 0 && chunk > 0) write(chunk - 1);
        if (part + 1 < parts) await_read(O, X);
      });
    }
    Left V[L / 16];
    const auto fetch_values = [&] {
      unrolled<L / 16>([&](int step) { V[step] = transposed_left(&v[warpgroup_], 16 * step, row_); });
    };
    if constexpr (!Shared::decays_here) {
      fetch_values();
      shared_.made[buffer].wait(Shared::phase(chunk));
    }
    await_read(O, X);
    if constexpr (Shared::decays_here) fetch_values();

    // the decays of S and of what is read from it
    if constexpr (decays == Decays::by_token) {
      const float total = factors.erase[L - 1];
#pragma unroll
      for (float& element : S_.at) element *= total;
      if constexpr (reads) scale(O, factors.in);
    }
    if constexpr (Shared::decays_here || Shared::has_tables) scale(S_, factors.total);

    Left U[L / 16];      // for P U
    Left U_out[L / 16];  // for K^T U
    if constexpr (erases) {
      // R^T = V^T - X^T, and U^T = R^T T^T
      if constexpr (decays == Decays::by_token) scale(X, factors.erase);
      Left R[L / 16];
      unrolled<L / 16, 4>([&](int step, int i) {
        const float2 v = unpacked<Bfloat>(V[step].at[i]);
        R[step].at[i] = packed<Half>(v.x - X.at[8 * step + 2 * i], v.y - X.at[8 * step + 2 * i + 1]);
      });
      Sums<L>& W = X;
      begin_products();
      unrolled<L / 16>(
          [&](int step) { multiply<Half, Along::rows>(W, R[step], along_rows(triangular, step), step > 0); });
      end_products();
      await_products(W);
      unrolled<L / 16>([&](int step) { U[step] = left_factor<Half>(W, step); });
      if constexpr (decays == Decays::by_token) scale(W, factors.out);
      unrolled<L / 16>([&](int step) { U_out[step] = left_factor<Bfloat>(W, step); });
    } else {
      const bool scales = decays == Decays::by_token || (decays == Decays::none && chain_.beta.data);
      unrolled<L / 16>([&](int step) {
        U[step] = V[step];
        U_out[step] = V[step];
        if (scales) {
          unrolled<4>([&](int i) {
            const float2 v = unpacked<Bfloat>(V[step].at[i]);
            const float2 out =
                reinterpret_cast<const float2&>(factors.out[16 * step + i / 2 * 8 + lane_ % 4 * 2]);
            U_out[step].at[i] = packed<Bfloat>(v.x * out.x, v.y * out.y);
          });
        }
      });
    }

    // O^T = O^T + U^T P^T, and S^T = S^T + U^T K
    begin_products();
    unrolled<L / 16>([&](int step) {
      if constexpr (reads) multiply<Number, Along::rows>(O, U[step], along_rows(scores, step));
      multiply<Bfloat, Along::columns>(
          S_, U_out[step], further(tiles_for_product(&stage.k[0], Along::columns), Along::columns, step));
    });
    end_products();
    if constexpr (reads)
      await_products(O, S_);
    else
      await_products(S_);
    if constexpr (!Shared::decays_here) shared_.used[chunk % Shared::stages].arrive();
    shared_.taken[buffer].arrive();
    if constexpr (reads) unrolled<L / 16>([&](int step) { O_[step] = left_factor<Bfloat>(O, step); });
  }

  /// Waits for what is read from the state.
  static __device__ void await_read(Sums<L>& O, Sums<L>& X) {
    if constexpr (erases && reads)
      await_products(O, X);
    else if constexpr (erases)
      await_products(X);
    else if constexpr (reads)
      await_products(O);
  }

  /// Multiplies column c by factors[c].
  template <int columns>
  __device__ void scale(Sums<columns>& sums, const float* factors) const {
    unrolled<columns / 8>([&](int n) {
      const float2 factor = reinterpret_cast<const float2&>(factors[8 * n + lane_ % 4 * 2]);
      sums.at[4 * n] *= factor.x;
      sums.at[4 * n + 1] *= factor.y;
      sums.at[4 * n + 2] *= factor.x;
      sums.at[4 * n + 3] *= factor.y;
    });
  }

  /// Writes the outputs of a chunk, while the next one is begun.
  __device__ void write(int chunk) {
    if constexpr (!reads) return;
    Tile& tile = shared_.o[warpgroup_];
    if (thread_ == 0) await_stored_tiles();
    meet(2 + warpgroup_, warpgroup_size);
    unrolled<L / 16>([&](int step) { store_transposed(&tile, 16 * step, row_, O_[step]); });
    publish_to_tensor_cores();
    meet(2 + warpgroup_, warpgroup_size);
    if (thread_ == 0)
      store_tile(chain_.o, {place_.first_value + warpgroup_ * tile_columns, place_.token(chunk), place_.head},
                 &tile);
  }

  /// Whether the block follows unit vectors through the segment, in place of values beyond V.
  __device__ bool is_transition() const { return erases && !reads && place_.first_value >= chain_.V; }

  __device__ float* segment_state() const {
    return chain_.segment_states + place_.among_segments(chain_) * chain_.K * chain_.V + place_.first_value;
  }

  __device__ float* whole_state() const {
    return chain_.state + place_.head * chain_.K * chain_.V + place_.first_value;
  }

  /// What the segment begins with.
  __device__ void load_state() {
    const float* const from = chain_.segments > 1 ? segment_state() : whole_state();
    for_each_element([&](float& element, std::int64_t k, std::int64_t v) {
      if (k >= chain_.K)
        element = 0;
      else if constexpr (reads)
        element = place_.first_value + v < chain_.V ? from[k * chain_.V + v] : 0;
      else
        element = is_transition() && k == v ? 1 : 0;
    });
  }

  /// What it leaves; between two segments that is known before outputs are read.
  __device__ void store_state() {
    if (reads && place_.segment + 1 < chain_.segments) return;
    float* const to = reads ? whole_state() : segment_state();
    float* const transition = chain_.transitions + place_.among_segments(chain_) * 128 * 128;
    for_each_element([&](float element, std::int64_t k, std::int64_t v) {
      if (is_transition())
        transition[v * 128 + k] = element;
      else if (k < chain_.K && place_.first_value + v < chain_.V)
        to[k * chain_.V + v] = element;
    });
  }

  /// Calls visit(element of S, its row, its column among those of the block).
  template <class Visit>
  __device__ void for_each_element(Visit visit) {
    const int first = warpgroup_ * tile_columns + row_ + lane_ / 4;
    unrolled<16, 4>([&](int n, int e) {
      const int k = 8 * n + lane_ % 4 * 2 + e % 2;
      visit(S_.at[4 * n + e], std::int64_t{k}, std::int64_t{first + e / 2 * 8});
    });
  }

  const TokenChunks& chain_;
  Shared& shared_;
  const Place& place_;
  int warpgroup_ = static_cast<int>(threadIdx.x) / warpgroup_size;
  int thread_ = static_cast<int>(threadIdx.x) % warpgroup_size;
  int lane_ = static_cast<int>(threadIdx.x) % 32;
  int row_ = thread_ / 32 * 16;
  Sums<128> S_;                 // transposed: [64 values, 128 keys]
  Left O_[reads ? L / 16 : 0];  // outputs that are not written yet
};

template <bool erases, Decays decays, bool reads>
__global__ void __launch_bounds__(Warpgroups<erases, decays>::threads, 1)
    chain_chunks(const __grid_constant__ TokenChunks chain) {
  using Roles = Warpgroups<erases, decays>;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<erases, decays, reads>*>(memory);
  if (threadIdx.x == 0) {
    for (Barrier& barrier : shared.copied) barrier.initialize(1);
    for (Barrier& barrier : shared.used) barrier.initialize(main_threads);
    for (Barrier& barrier : shared.weighed) barrier.initialize(warpgroup_size / 2);
    for (Barrier& barrier : shared.scored) barrier.initialize(Roles::has_tables ? 1 : warpgroup_size);
    for (Barrier& barrier : shared.made) barrier.initialize(Roles::makers + (Roles::decays_here ? 1 : 0));
    for (Barrier& barrier : shared.taken) barrier.initialize(main_threads);
    publish_barriers();
  }
  __syncthreads();
  const Place place(chain);
  if (threadIdx.x < main_threads) {
    take_registers<Roles::main_registers>();
    Main<erases, decays, reads>(chain, shared, place).run();
    return;
  }
  if constexpr (erases) {
    if (threadIdx.x >= main_threads + warpgroup_size) {
      keep_registers<triangular_registers>();
      Triangular<decays, reads>(chain, shared, place).run();
      return;
    }
  }
  keep_registers<Roles::other_registers>();
  if constexpr (Roles::decays_here)
    Decaying<reads>(chain, shared, place).run();
  else
    Auxiliary<erases, decays, reads>(chain, shared, place).run();
}

/// Goes through segments, all of them where outputs are read, else all but the last; with erase, more blocks
/// then follow unit vectors.
template <bool reads>
void go_through(const TokenChunks& chain) {
  const auto start = [&](auto erases, auto decays, auto by_channel, auto has_tables) {
    constexpr Decays of_channels = has_tables || erases ? Decays::in_tables : Decays::by_channel;
    constexpr Decays how = !decays ? Decays::none : by_channel ? of_channels : Decays::by_token;
    const unsigned values = blocks_for(chain.V, values_per_block) + (erases && !reads ? 1 : 0);
    launch(chain_chunks<erases, how, reads>,
           {{blocks_for(chain.heads), values, blocks_for(chain.segments - (reads ? 0 : 1))},
            Warpgroups<erases, how>::threads,
            sizeof(Shared<erases, how, reads>)},
           chain);
  };
  with_constants(start, chain.erases, chain.g.data != nullptr, chain.decays_by_channel, chain.has_tables);
}

}  // namespace

void chain_on_tensor_cores(const TokenChunks& chain) {
  if (chain.segments > 1) {
    go_through<false>(chain);
    pass_states_on(chain);
  }
  go_through<true>(chain);
}

}  // namespace palimpsest
