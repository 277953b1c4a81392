#include <algorithm>
#include <utility>

#include "kernels/cuda/engine.h"
#include "kernels/cuda/mamba.h"

namespace palimpsest::cuda {

template <class Scalar>
class FamilyRun<MambaRows, Scalar> : public AnyFamily {
 public:
  using Rows = MambaRows<Scalar>;
  using Tokens = MambaTokens<Scalar>;

  explicit FamilyRun(HeadsOnDevice<MambaRows, Scalar>& device) : device_(device) {
    DeviceMatrices<Scalar>& k = device.rows(&Rows::k);
    DeviceMatrices<Scalar>& v = device.rows(&Rows::v);
    all_ = {.heads = v.heads(),
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
    device_.compute([&] {
      device_.in_parts(all_.T, at_once,
                       [&](Index first, Index count) { some_tokens(0, all_.heads, first, count).walk(tap); });
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
    chunk.make_pairs(tables);
    record("E", tables.E, cells);
    record("U", tables.U, chunk.V);
    record("B", tables.B, cells);
    stop_if_asked(device_.request.stop);
    for (Index distance = 1; distance < chunk.T; distance *= 2) {
      chunk.scan_pass(tables, distance);
      std::swap(tables.E, tables.E_to);
      std::swap(tables.B, tables.B_to);
    }
    record("E_bar", tables.E, cells);
    record("B_bar", tables.B, cells);
    chunk.read(tables);
    record("S_all", tables.B, cells);
  }

  /// `count` tokens from `first` on of `heads` heads from `first_head` on.
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
