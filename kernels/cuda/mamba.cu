// Mamba's selective state space (spec 3.14), written to be read. Every entry (d, c) of the state has its own
// decay, E_t = exp(A o 1 delta_t^T), so that a chunk cannot be computed by matrix products.
//
// Recurrent: a warp takes one column of one head from the first token to the last; its K cells lie with their
// A in shared memory, where they fit, or in the final state.
//
// Chunkwise and parallel: a scan after Hillis and Steele over the pairs (E_t, B_t), one thread per token and
// cell in every pass: a pass over the distance d composes row i with row i - d, so that it then stands for
// 2 d tokens. Only products of numbers in [0, 1] and of those with what was written.

#include "kernels/cuda/engine.h"
#include "kernels/cuda/grid.cuh"

namespace palimpsest::cuda {

namespace {

constexpr int threads = 128;
constexpr int columns_of_block = 8;  // in the recurrent form: a warp each
constexpr int threads_of_columns = columns_of_block * warp_size;

/// What the last token of the one head computes, for a trace; null: not needed.
template <class Scalar>
struct MambaTap {
  Scalar* E = nullptr;          // [K, V]
  Scalar* S_decayed = nullptr;  // [K, V]
  Scalar* u = nullptr;          // [V]
  Scalar* update = nullptr;     // [K, V]
  Scalar* read = nullptr;       // [V]
};

/// What the chunkwise form keeps of one chunk of all heads.
template <class Scalar>
struct MambaTables {
  Scalar* U = nullptr;     // [H, L, V] delta o v
  Scalar* E = nullptr;     // [H, L, K V] decays, of a row after a scan: from the start of the chunk
  Scalar* B = nullptr;     // [H, L, K V] writes, of a row after a scan: all up to it; then every state
  Scalar* E_to = nullptr;  // [H, L, K V] room: a pass of the scan reads the one pair and writes the other
  Scalar* B_to = nullptr;  // [H, L, K V]
  Scalar* read = nullptr;  // [H, L, V] S^T q, without the skip connection; null: nobody asks
};

/// Some tokens of all heads.
template <class Scalar>
struct MambaTokens {
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t K = 0;
  std::int64_t V = 0;
  DeviceRows<const Scalar> q = {};      // [H, T, K], scaled
  DeviceRows<const Scalar> k = {};      // [H, T, K]
  DeviceRows<const Scalar> v = {};      // [H, T, V]
  DeviceRows<const Scalar> delta = {};  // [H, T, V]
  DeviceRows<const Scalar> A = {};      // [H, K, V]
  DeviceRows<const Scalar> D = {};      // [H, 1, V]; none: no skip connection
  DeviceRows<Scalar> o = {};            // [H, T, V]
  Scalar* S = nullptr;                  // [H, K, V], the initial state and then the final one
};

/// S_dc <- exp(A_dc delta_c) S_dc + k_d delta_c v_c, o_c = sum_d q_d S_dc + D_c v_c
template <class Scalar>
__global__ void __launch_bounds__(threads_of_columns)
    walk_columns(const MambaTokens<Scalar> tokens, bool is_shared, const MambaTap<Scalar> tap) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const int column = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t V = tokens.V;
  const std::int64_t blocks_of_head = (V + columns_of_block - 1) / columns_of_block;
  const std::int64_t head = blockIdx.x / blocks_of_head;
  const std::int64_t c = blockIdx.x % blocks_of_head * columns_of_block + column;
  if (c >= V) return;
  const int K = static_cast<int>(tokens.K);
  // S_dc is S[d step], and so is A_dc. A lane reads and writes the same d from first to last.
  Scalar* const S_given = tokens.S + head * tokens.K * V + c;
  const Scalar* const A_given = tokens.A.at(head) + c;
  Scalar* const S_shared = reinterpret_cast<Scalar*>(shared) + column * 2 * tokens.K;
  Scalar* const A_shared = S_shared + K;
  for (int d = lane; is_shared && d < K; d += warp_size) {
    S_shared[d] = S_given[d * V];
    A_shared[d] = A_given[d * V];
  }
  Scalar* const S = is_shared ? S_shared : S_given;
  const Scalar* const A = is_shared ? A_shared : A_given;
  const std::int64_t step = is_shared ? 1 : V;
  for (std::int64_t t = 0; t < tokens.T; ++t) {
    const bool is_tapped = tap.E && t == tokens.T - 1;
    const Scalar* const q = tokens.q.row(head, t);
    const Scalar* const k = tokens.k.row(head, t);
    const Scalar delta = tokens.delta.row(head, t)[c];
    const Scalar v = tokens.v.row(head, t)[c];
    const Scalar u = delta * v;
    Scalar read = 0;
    struct Cell {
      Scalar E;
      Scalar decayed;
      Scalar update;
      Scalar q;
    };
    few_at_once(
        lane, K, warp_size,
        [&](int d) {
          const Scalar E = exponential(A[d * step] * delta);
          return Cell{E, E * S[d * step], k[d] * u, q[d]};
        },
        [&](int d, const Cell& cell) {
          const Scalar after = cell.decayed + cell.update;
          S[d * step] = after;
          read += cell.q * after;
          if (!is_tapped) return;
          tap.E[d * V + c] = cell.E;
          tap.S_decayed[d * V + c] = cell.decayed;
          tap.update[d * V + c] = cell.update;
        });
    read = sum_of_lanes(read);
    if (lane > 0) continue;
    if (is_tapped) {
      tap.u[c] = u;
      tap.read[c] = read;
    }
    tokens.o.row(head, t)[c] = tokens.D.data ? read + tokens.D.at(head)[c] * v : read;
  }
  for (int d = lane; is_shared && d < K; d += warp_size) S_given[d * V] = S_shared[d];
}

/// U_ic = delta_ic v_ic, E_idc = exp(A_dc delta_ic), B_idc = k_id U_ic
template <class Scalar>
__global__ void fill_pairs(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables) {
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * tokens.T * tokens.K * tokens.V) return;
  const std::int64_t c = index % tokens.V;
  const std::int64_t d = index / tokens.V % tokens.K;
  const std::int64_t row = index / tokens.V / tokens.K;
  const std::int64_t head = row / tokens.T;
  const std::int64_t i = row % tokens.T;
  const Scalar delta = tokens.delta.row(head, i)[c];
  const Scalar u = delta * tokens.v.row(head, i)[c];
  const Scalar A = tokens.A.row(head, d)[c];
  tables.E[index] = exponential(A * delta);
  tables.B[index] = tokens.k.row(head, i)[d] * u;
  if (d == 0) tables.U[row * tokens.V + c] = u;
}

/// B_i <- B_i + E_i B_{i-distance}, E_i <- E_i E_{i-distance}
template <class Scalar>
__global__ void compose(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables,
                        std::int64_t distance) {
  const std::int64_t cells = tokens.K * tokens.V;
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * tokens.T * cells) return;
  const std::int64_t i = index / cells % tokens.T;
  Scalar E = tables.E[index];
  Scalar B = tables.B[index];
  if (i >= distance) {
    B += E * tables.B[index - distance * cells];
    E *= tables.E[index - distance * cells];
  }
  tables.E_to[index] = E;
  tables.B_to[index] = B;
}

/// S_idc = B_idc + E_idc S_dc in the place of B, o_ic = sum_d q_id S_idc + D_c v_ic
template <class Scalar>
__global__ void read_states(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables) {
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * tokens.T * tokens.V) return;
  const std::int64_t c = index % tokens.V;
  const std::int64_t row = index / tokens.V;
  const std::int64_t head = row / tokens.T;
  const std::int64_t i = row % tokens.T;
  const Scalar* const q = tokens.q.row(head, i);
  Scalar read = 0;
  for (std::int64_t d = 0; d < tokens.K; ++d) {
    const std::int64_t cell = (row * tokens.K + d) * tokens.V + c;
    tables.B[cell] += tables.E[cell] * tokens.S[(head * tokens.K + d) * tokens.V + c];
    read += q[d] * tables.B[cell];
  }
  if (tables.read) tables.read[index] = read;
  const Scalar v = tokens.v.row(head, i)[c];
  tokens.o.row(head, i)[c] = tokens.D.data ? read + tokens.D.at(head)[c] * v : read;
}

/// S = the state after the last row
template <class Scalar>
__global__ void take_last(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables) {
  const std::int64_t cells = tokens.K * tokens.V;
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * cells) return;
  const std::int64_t head = index / cells;
  tokens.S[index] = tables.B[(head * tokens.T + tokens.T - 1) * cells + index % cells];
}

}  // namespace

template <class Scalar>
class FamilyRun<MambaRows, Scalar> : public AnyFamily {
 public:
  using Rows = MambaRows<Scalar>;
  using Tokens = MambaTokens<Scalar>;

  explicit FamilyRun(HeadsOnDevice<MambaRows, Scalar>& device) : device_(device) {
    DeviceMatrices<Scalar>& k = device.rows(&Rows::k);
    DeviceMatrices<Scalar>& v = device.rows(&Rows::v);
    all_ = Tokens{.heads = v.heads(),
                  .T = v.rows(),
                  .K = k.columns(),
                  .V = v.columns(),
                  .q = device.rows(&Rows::q),
                  .k = k,
                  .v = v,
                  .delta = device.upload(&Rows::delta),
                  .A = device.upload(&Rows::A),
                  .D = device.upload(&Rows::D),
                  .o = device.outputs(v.rows(), v.columns()),
                  .S = device.state(0).data()};
  }

  std::vector<Matrix<Scalar>> run() {
    if (all_.T == 0) return device_.finish();
    const bool by_token = device_.request.form == Form::recurrent;
    if (by_token)
      walk();
    else
      scan_chunks();
    if (device_.request.tap) record_inputs(by_token);
    device_.record_all();
    return device_.finish("S");
  }

 private:
  /// Of tokens one after the other the last one's, as a column.
  void record_inputs(bool by_token) const {
    const Rows& rows = device_.first();
    if (by_token)
      device_.record("delta", rows.delta.bottomRows(1).transpose());
    else
      device_.record("Delta", rows.delta);
    device_.record("A", rows.A);
    if (rows.D.size() > 0) device_.record("D", by_token ? Matrix<Scalar>(rows.D.transpose()) : rows.D);
  }

  /// Token after token; a tap receives what the last one makes.
  void walk() {
    constexpr Index at_once = 1024;
    const Index K = all_.K;
    const Index V = all_.V;
    const MambaTap<Scalar> tap = {.E = device_.tapped("E", K, V),
                                  .S_decayed = device_.tapped("S_decayed", K, V),
                                  .u = device_.tapped("u", V),
                                  .update = device_.tapped("update", K, V),
                                  .read = device_.tapped("read", V)};
    const std::size_t shared = shared_bytes_or_none(Index{sizeof(Scalar)} * 2 * columns_of_block * K);
    const unsigned blocks = blocks_for(all_.heads * blocks_for(V, columns_of_block));
    device_.compute([&] {
      device_.in_parts(all_.T, at_once, [&](Index first, Index count) {
        launch(walk_columns<Scalar>, {blocks, threads_of_columns, shared},
               some_tokens(0, all_.heads, first, count), shared > 0, tap);
      });
    });
  }

  /// Chunk after chunk, in tables that all of them use; a block is one.
  void scan_chunks() {
    const EngineRequest& request = device_.request;
    const bool is_whole = request.phase || request.form == Form::parallel;
    const Index L = is_whole ? all_.T : std::min<Index>(request.chunk_size, all_.T);
    const Index cells = all_.K * all_.V;
    const double bytes = sizeof(Scalar) * 4.0 * static_cast<double>(L) * static_cast<double>(cells);
    const Index at_once = fitting(bytes, all_.heads);
    const auto make = [&](Index columns) { return device_.make("", at_once, L, columns).data(); };
    MambaTables<Scalar> tables = {.U = make(all_.V),
                                  .E = make(cells),
                                  .B = make(cells),
                                  .E_to = make(cells),
                                  .B_to = make(cells),
                                  .read = device_.tapped("read", L, all_.V)};
    device_.compute([&] {
      for (Index head = 0; head < all_.heads; head += at_once) {
        const Index heads = std::min<Index>(at_once, all_.heads - head);
        device_.in_parts(all_.T, L, [&](Index first, Index count) {
          scan(some_tokens(head, heads, first, count), tables);
        });
      }
    });
  }

  /// Makes every state of a chunk and reads it: E_bar and B_bar come in the place of E and B.
  void scan(const Tokens& chunk, MambaTables<Scalar>& tables) {
    const auto record = [&](const char* name, const Scalar* table, Index columns) {
      device_.record(name, table, chunk.T, columns);
    };
    const Index cells = chunk.K * chunk.V;
    const auto blocks = [&](Index numbers) {
      return Grid(blocks_for(chunk.heads * numbers, threads), threads);
    };
    launch(fill_pairs<Scalar>, blocks(chunk.T * cells), chunk, tables);
    record("E", tables.E, cells);
    record("U", tables.U, chunk.V);
    record("B", tables.B, cells);
    stop_if_asked(device_.request.stop);
    for (Index distance = 1; distance < chunk.T; distance *= 2) {
      launch(compose<Scalar>, blocks(chunk.T * cells), chunk, tables, distance);
      std::swap(tables.E, tables.E_to);
      std::swap(tables.B, tables.B_to);
    }
    record("E_bar", tables.E, cells);
    record("B_bar", tables.B, cells);
    launch(read_states<Scalar>, blocks(chunk.T * chunk.V), chunk, tables);
    launch(take_last<Scalar>, blocks(cells), chunk, tables);
    record("S_all", tables.B, cells);
  }

  Tokens some_tokens(Index first_head, Index heads, Index first, Index count) const {
    Tokens some = all_;
    some.heads = heads;
    some.T = count;
    for (auto* const rows : {&some.q, &some.k, &some.v, &some.delta}) *rows = rows->from(first_head, first);
    some.o = some.o.from(first_head, first);
    some.A = some.A.from(first_head, 0);
    some.D = some.D.from(first_head, 0);
    some.S += first_head * some.K * some.V;
    return some;
  }

  HeadsOnDevice<MambaRows, Scalar>& device_;
  Tokens all_;
};

PALIMPSEST_CUDA_ENGINES(, MambaRows);

}  // namespace palimpsest::cuda
