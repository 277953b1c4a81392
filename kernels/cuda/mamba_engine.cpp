#include <algorithm>
#include <utility>

#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/mamba.h"

namespace palimpsest::cuda {

namespace {

template <class Scalar>
MambaTokens<Scalar> upload(HeadsOnDevice<MambaRows, Scalar>& device) {
  using Rows = MambaRows<Scalar>;
  DeviceMatrices<Scalar>& k = device.rows(&Rows::k);
  DeviceMatrices<Scalar>& v = device.rows(&Rows::v);
  return {.heads = v.heads(),
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

/// The tables of one chunk of some heads.
template <class Scalar>
MambaTables<Scalar> make_tables(HeadsOnDevice<MambaRows, Scalar>& device, const MambaTokens<Scalar>& tokens,
                                Index heads, Index L) {
  const auto make = [&](Index columns) { return device.make("", heads, L, columns).data(); };
  const Index cells = tokens.K * tokens.V;
  return {.U = make(tokens.V), .E = make(cells), .B = make(cells), .E_to = make(cells), .B_to = make(cells)};
}

/// All passes over one chunk: E_bar and B_bar in the place of E and B.
template <class Scalar>
void scan(const MambaTokens<Scalar>& chunk, MambaTables<Scalar>& tables) {
  for (Index distance = 1; distance < chunk.T; distance *= 2) {
    chunk.scan_pass(tables, distance);
    std::swap(tables.E, tables.E_to);
    std::swap(tables.B, tables.B_to);
  }
}

/// `count` tokens from `first` on of `heads` heads from `first_head` on.
template <class Scalar>
MambaTokens<Scalar> some_tokens(MambaTokens<Scalar> all, Index first_head, Index heads, Index first,
                                Index count) {
  all.heads = heads;
  all.T = count;
  all.q = all.q.from(first_head, first);
  all.k = all.k.from(first_head, first);
  all.v = all.v.from(first_head, first);
  all.delta = all.delta.from(first_head, first);
  all.o = all.o.from(first_head, first);
  all.A = all.A.from(first_head, 0);
  all.D = all.D.from(first_head, 0);
  all.S += first_head * all.K * all.V;
  return all;
}

/// Chunk after chunk, in tables that all of them use.
template <class Scalar>
void run_chunks(HeadsOnDevice<MambaRows, Scalar>& device, const MambaTokens<Scalar>& all, Index chunk_size,
                const std::stop_token& stop) {
  const Index L = std::min<Index>(chunk_size, all.T);
  const double numbers = 4.0 * static_cast<double>(L) * static_cast<double>(all.K * all.V);
  const Index at_once = fitting(sizeof(Scalar) * numbers, all.heads);
  MambaTables<Scalar> tables = make_tables(device, all, at_once, L);
  device.compute([&] {
    for (Index head = 0; head < all.heads; head += at_once) {
      const Index heads = std::min<Index>(at_once, all.heads - head);
      for (Index first = 0; first < all.T; first += L) {
        stop_if_asked(stop);
        const MambaTokens<Scalar> chunk =
            some_tokens(all, head, heads, first, std::min<Index>(L, all.T - first));
        chunk.make_pairs(tables);
        scan(chunk, tables);
        chunk.read(tables);
      }
    }
  });
}

/// Some tokens at a time, so that a run can be stopped.
template <class Scalar>
void run_tokens(HeadsOnDevice<MambaRows, Scalar>& device, const MambaTokens<Scalar>& all,
                const std::stop_token& stop) {
  constexpr Index at_once = 1024;
  device.compute([&] {
    for (Index first = 0; first < all.T; first += at_once) {
      stop_if_asked(stop);
      some_tokens(all, 0, all.heads, first, std::min<Index>(at_once, all.T - first)).walk();
    }
  });
}

/// One token after the other; a tap receives the last.
template <class Scalar>
Matrix<Scalar> recurrent(const MambaRows<Scalar>& rows, Carried<Scalar>& state, Recorder* recorder,
                         Rounding rounding) {
  HeadsOnDevice<MambaRows, Scalar> device({&rows, 1}, {&state, 1}, rounding,
                                          rows.v.rows() > 0 ? recorder : nullptr);
  const MambaTokens<Scalar> tokens = upload(device);
  const Index K = tokens.K;
  const Index V = tokens.V;
  tokens.walk({.E = device.tapped("E", K, V),
               .S_decayed = device.tapped("S_decayed", K, V),
               .u = device.tapped("u", V),
               .update = device.tapped("update", K, V),
               .read = device.tapped("read", V)});
  if (!recorder || tokens.T == 0) return device.finish().front();
  device.record();
  (*recorder)("delta", rows.delta.bottomRows(1).transpose());
  (*recorder)("A", rows.A);
  if (rows.D.size() > 0) (*recorder)("D", rows.D.transpose());
  (*recorder)("S_before", state.front());
  const Matrix<Scalar> o = device.finish().front();
  (*recorder)("S_after", state.front());
  return o;
}

/// All tokens as one chunk.
template <class Scalar>
Matrix<Scalar> one_scan(const MambaRows<Scalar>& rows, Carried<Scalar>& state, Recorder* recorder,
                        const std::stop_token& stop, Rounding rounding) {
  HeadsOnDevice<MambaRows, Scalar> device({&rows, 1}, {&state, 1}, rounding, recorder);
  const MambaTokens<Scalar> tokens = upload(device);
  const Index L = tokens.T;
  const Index cells = tokens.K * tokens.V;
  MambaTables<Scalar> tables = make_tables(device, tokens, 1, L);
  tables.read = device.tapped("read", L, tokens.V);
  const auto record = [&](const char* name, const Matrix<Scalar>& value) {
    if (recorder) (*recorder)(name, value);
  };
  const auto record_table = [&](const char* name, const Scalar* table, Index columns) {
    if (recorder) (*recorder)(name, downloaded(table, L, columns));
  };
  stop_if_asked(stop);
  tokens.make_pairs(tables);
  record("Delta", rows.delta);
  record("A", rows.A);
  record_table("E", tables.E, cells);
  record_table("U", tables.U, tokens.V);
  record_table("B", tables.B, cells);

  stop_if_asked(stop);
  scan(tokens, tables);
  record_table("E_bar", tables.E, cells);
  record_table("B_bar", tables.B, cells);
  record("S_in", state.front());

  tokens.read(tables);
  record_table("S_all", tables.B, cells);
  device.record();
  if (rows.D.size() > 0) record("D", rows.D);
  const Matrix<Scalar> o = device.finish().front();
  record("S_out", state.front());
  return o;
}

}  // namespace

template <class Scalar>
class FamilyEngine<MambaRows, Scalar> : public CudaEngine<MambaRows, Scalar> {
 public:
  using Base = CudaEngine<MambaRows, Scalar>;
  using Base::Base;

 private:
  Matrix<Scalar> step(const EngineRequest& request, const MambaRows<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    if (request.form == Form::recurrent) return recurrent(rows, state, request.tap, this->rounding_);
    return one_scan(rows, state, request.tap, request.stop, this->rounding_);
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    typename Base::OnDevice device(heads, states, this->rounding_);
    const MambaTokens<Scalar> tokens = upload(device);
    if (request.form == Form::recurrent) {
      run_tokens(device, tokens, request.stop);
    } else if (tokens.T > 0) {
      run_chunks(device, tokens, request.form == Form::parallel ? tokens.T : request.chunk_size,
                 request.stop);
    }
    return device.finish();
  }
};

template OwnedEngine<MambaRows, double> make_engine(Rounding);
template OwnedEngine<MambaRows, float> make_engine(Rounding);

}  // namespace palimpsest::cuda
