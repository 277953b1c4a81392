#include <algorithm>
#include <utility>

#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/mamba.h"

namespace palimpsest::cuda {

namespace {

/// The tokens of all heads, uploaded once, with their states and room for what comes out.
template <class Scalar>
class TokensOnDevice {
 public:
  TokensOnDevice(std::span<const MambaRows<Scalar>> heads, std::span<const Carried<Scalar>> states,
                 Rounding rounding)
      : rounding_(rounding),
        q_(DeviceMatrices<Scalar>::of_heads(heads, &MambaRows<Scalar>::q)),
        k_(DeviceMatrices<Scalar>::of_heads(heads, &MambaRows<Scalar>::k)),
        v_(DeviceMatrices<Scalar>::of_heads(heads, &MambaRows<Scalar>::v)),
        delta_(DeviceMatrices<Scalar>::of_heads(heads, &MambaRows<Scalar>::delta)),
        A_(DeviceMatrices<Scalar>::of_heads(heads, &MambaRows<Scalar>::A)),
        D_(DeviceMatrices<Scalar>::of_heads(heads, &MambaRows<Scalar>::D)),
        S_(upload_part(states, 0)),
        o_(v_.heads(), v_.rows(), v_.columns()) {
    for (DeviceMatrices<Scalar>* const rows : {&q_, &k_, &v_}) rows->round(rounding);
    tokens_ = {.heads = v_.heads(),
               .T = v_.rows(),
               .K = k_.columns(),
               .V = v_.columns(),
               .q = q_.view(),
               .k = k_.view(),
               .v = v_.view(),
               .delta = delta_.view(),
               .A = A_.view(),
               .D = D_.view(),
               .o = o_.template view<Scalar>(),
               .S = S_.data()};
  }

  const MambaTokens<Scalar>& tokens() const { return tokens_; }
  DeviceMatrices<Scalar>& S() { return S_; }

  /// What every head answers.
  std::vector<Matrix<Scalar>> outputs() {
    o_.round(rounding_);
    return o_.download();
  }
  Matrix<Scalar> output() { return std::move(outputs().front()); }

 private:
  Rounding rounding_;
  DeviceMatrices<Scalar> q_, k_, v_, delta_, A_, D_, S_, o_;
  MambaTokens<Scalar> tokens_;
};

/// The tables of one chunk of some heads on the device.
template <class Scalar>
class Tables {
 public:
  Tables(const MambaTokens<Scalar>& tokens, Index heads, Index L, bool keeps_reads)
      : U(heads, L, tokens.V),
        E(heads, L, tokens.K * tokens.V),
        B(heads, L, tokens.K * tokens.V),
        E_to(heads, L, tokens.K * tokens.V),
        B_to(heads, L, tokens.K * tokens.V) {
    if (keeps_reads) read = DeviceMatrices<Scalar>(heads, L, tokens.V);
  }

  MambaTables<Scalar> view() {
    return {U.data(), E.data(), B.data(), E_to.data(), B_to.data(), keeps_reads() ? read.data() : nullptr};
  }

  /// All passes over one chunk: E_bar and B_bar in the place of E and B.
  void scan(const MambaTokens<Scalar>& chunk) {
    for (Index distance = 1; distance < chunk.T; distance *= 2) {
      mamba_scan_pass(chunk, view(), distance);
      std::swap(E, E_to);
      std::swap(B, B_to);
    }
  }

  DeviceMatrices<Scalar> U, E, B, E_to, B_to, read;

 private:
  bool keeps_reads() const { return read.heads() > 0; }
};

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
void run_chunks(TokensOnDevice<Scalar>& on_device, Index chunk_size, const std::stop_token& stop) {
  const MambaTokens<Scalar>& all = on_device.tokens();
  const Index L = std::min<Index>(chunk_size, all.T);
  const double numbers = 4.0 * static_cast<double>(L) * static_cast<double>(all.K * all.V);
  const Index at_once = fitting(sizeof(Scalar) * numbers, all.heads);
  Tables<Scalar> tables(all, at_once, L, false);
  computing<Scalar>({&on_device.S()}, [&] {
    for (Index head = 0; head < all.heads; head += at_once) {
      const Index heads = std::min<Index>(at_once, all.heads - head);
      for (Index first = 0; first < all.T; first += L) {
        stop_if_asked(stop);
        const MambaTokens<Scalar> chunk =
            some_tokens(all, head, heads, first, std::min<Index>(L, all.T - first));
        mamba_pairs(chunk, tables.view());
        tables.scan(chunk);
        mamba_reads(chunk, tables.view());
      }
    }
  });
}

/// Some tokens at a time, so that a run can be stopped.
template <class Scalar>
void run_tokens(TokensOnDevice<Scalar>& on_device, const std::stop_token& stop) {
  constexpr Index at_once = 1024;
  const MambaTokens<Scalar>& all = on_device.tokens();
  computing<Scalar>({&on_device.S()}, [&] {
    for (Index first = 0; first < all.T; first += at_once) {
      stop_if_asked(stop);
      mamba_walk(some_tokens(all, 0, all.heads, first, std::min<Index>(at_once, all.T - first)));
    }
  });
}

/// One token after the other; a tap receives the last.
template <class Scalar>
Matrix<Scalar> recurrent(const MambaRows<Scalar>& rows, Carried<Scalar>& state, Recorder* recorder,
                         Rounding rounding) {
  Matrix<Scalar>& S = state.front();
  TokensOnDevice<Scalar> on_device({&rows, 1}, {&state, 1}, rounding);
  const MambaTokens<Scalar>& tokens = on_device.tokens();
  if (!recorder || tokens.T == 0) {
    mamba_walk(tokens);
    S = on_device.S().matrix();
    return on_device.output();
  }
  DeviceMatrices<Scalar> E(1, tokens.K, tokens.V), decayed(1, tokens.K, tokens.V), u(1, 1, tokens.V),
      update(1, tokens.K, tokens.V), read(1, 1, tokens.V);
  mamba_walk(tokens, MambaTap<Scalar>{E.data(), decayed.data(), u.data(), update.data(), read.data()});
  (*recorder)("delta", rows.delta.bottomRows(1).transpose());
  (*recorder)("A", rows.A);
  (*recorder)("E", E.matrix());
  (*recorder)("S_before", S);
  (*recorder)("S_decayed", decayed.matrix());
  (*recorder)("u", u.matrix().transpose());
  (*recorder)("update", update.matrix());
  S = on_device.S().matrix();
  (*recorder)("S_after", S);
  (*recorder)("read", read.matrix().transpose());
  if (rows.D.size() > 0) (*recorder)("D", rows.D.transpose());
  return on_device.output();
}

/// All tokens as one chunk.
template <class Scalar>
Matrix<Scalar> one_scan(const MambaRows<Scalar>& rows, Carried<Scalar>& state, Recorder* recorder,
                        const std::stop_token& stop, Rounding rounding) {
  Matrix<Scalar>& S = state.front();
  TokensOnDevice<Scalar> on_device({&rows, 1}, {&state, 1}, rounding);
  const MambaTokens<Scalar>& tokens = on_device.tokens();
  const auto record = [&](const char* name, const Matrix<Scalar>& value) {
    if (recorder) (*recorder)(name, value);
  };
  const auto record_table = [&](const char* name, const DeviceMatrices<Scalar>& table) {
    if (recorder) (*recorder)(name, table.matrix());
  };
  stop_if_asked(stop);
  Tables<Scalar> tables(tokens, 1, tokens.T, true);
  mamba_pairs(tokens, tables.view());
  record("Delta", rows.delta);
  record("A", rows.A);
  record_table("E", tables.E);
  record_table("U", tables.U);
  record_table("B", tables.B);

  stop_if_asked(stop);
  tables.scan(tokens);
  record_table("E_bar", tables.E);
  record_table("B_bar", tables.B);
  record("S_in", S);

  mamba_reads(tokens, tables.view());
  S = on_device.S().matrix();
  record_table("S_all", tables.B);
  record_table("read", tables.read);
  record("S_out", S);
  if (rows.D.size() > 0) record("D", rows.D);
  return on_device.output();
}

template <class Scalar>
class MambaEngine : public CudaEngine<MambaRows, Scalar> {
 public:
  using CudaEngine<MambaRows, Scalar>::CudaEngine;

 private:
  using Base = CudaEngine<MambaRows, Scalar>;
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const MambaRows<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    if (request.form == Form::recurrent) return recurrent(rows, state, request.tap, rounding_);
    return one_scan(rows, state, request.tap, request.stop, rounding_);
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    TokensOnDevice<Scalar> on_device(heads, states, rounding_);
    const Index T = on_device.tokens().T;
    if (request.form == Form::recurrent) {
      run_tokens(on_device, request.stop);
    } else if (T > 0) {
      run_chunks(on_device, request.form == Form::parallel ? T : request.chunk_size, request.stop);
    }
    download_part(on_device.S(), states, 0);
    return on_device.outputs();
  }
};

}  // namespace

template <class Scalar>
OwnedEngine<MambaRows, Scalar> mamba_engine(Rounding rounding) {
  return std::make_unique<MambaEngine<Scalar>>(rounding);
}

template OwnedEngine<MambaRows, double> mamba_engine(Rounding);
template OwnedEngine<MambaRows, float> mamba_engine(Rounding);

}  // namespace palimpsest::cuda
