#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <string>

#include "app/session/devices.h"
#include "core/base/error.h"
#include "core/engines/engines.h"

// A device that computes as the CPU does, and can be absent, lack a form, get lost in the middle of a run, or
// have a kernel that is wrong.

namespace palimpsest::testing {

inline constexpr Index wrong_row = 3;  // of every chunk that has it, while the kernel is wrong

/// What is the matter with the device. Changed while threads compute.
struct DeviceTrouble {
  std::atomic<bool> is_absent = false;
  std::atomic<bool> is_lost = false;
  std::atomic<bool> lacks_parallel = false;
  std::atomic<bool> is_wrong = false;
  std::atomic<bool> has_bf16 = false;    // by name: it computes as f32 does
  std::atomic<bool> has_fused = false;   // a kernel for whole heads in chunks, not in f64
  std::atomic<double> most_bytes = 1e9;  // of the rows that this takes at once
  mutable std::atomic<int> parts = 0;    // that it has taken
};

/// Whole heads through a kernel that keeps no tensors.
template <class Scalar>
class OtherRowHeads : public RowHeads<Scalar> {
 public:
  explicit OtherRowHeads(const DeviceTrouble& trouble) : trouble_(trouble) {}

  std::vector<Matrix<Scalar>> run(Form, std::span<const Program<Scalar>> heads, Index,
                                  std::span<Matrix<Scalar>> states, const std::stop_token&) const override {
    ++trouble_.parts;
    std::vector<Matrix<Scalar>> o;
    for (std::size_t head = 0; head < heads.size(); ++head)
      o.push_back(cpu_engines().in<Scalar>().recurrent(heads[head], states[head], nullptr));
    return o;
  }

  double most_bytes() const override { return trouble_.most_bytes; }

  std::string fused(Form form, const Structure&, Index K) const override {
    const bool is_fused = std::is_same_v<Scalar, float> && form == Form::chunkwise && K < 100;
    return is_fused ? "a fused kernel" : "";
  }

 private:
  const DeviceTrouble& trouble_;
};

template <class Scalar>
class OtherEngines : public Engines<Scalar> {
 public:
  using Rows = Matrix<Scalar>;

  explicit OtherEngines(const DeviceTrouble& trouble) : trouble_(trouble), row_heads_(trouble) {}

  Rows recurrent(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cpu().recurrent(program, S, recorder);
  }
  Rows chunk(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    Record record;
    Recorder own(record);
    Rows o = cpu().chunk(program, S, &own);
    if (trouble_.is_wrong && o.rows() > wrong_row) {
      o.row(wrong_row) *= 2;
      Matrix<double> U = record.at("U");
      U.row(wrong_row) *= 2;
      record.set("U", U);
    }
    if (!recorder) return o;
    for (const auto& [name, tensor] : record.tensors()) (*recorder)(name, tensor);
    return o;
  }
  Rows chunk_state(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cpu().chunk_state(program, S, recorder);
  }
  Rows chunk_outputs(const Program<Scalar>& program, const Rows& S_before, const Rows& U,
                     Recorder* recorder) const override {
    return cpu().chunk_outputs(program, S_before, U, recorder);
  }
  Rows parallel(const Program<Scalar>& program, Rows& S, Recorder* recorder,
                const std::stop_token& stop) const override {
    return cpu().parallel(program, S, recorder, stop);
  }
  const RowHeads<Scalar>* row_heads() const override { return trouble_.has_fused ? &row_heads_ : nullptr; }
  Rows read(const Rows& Q, const Rows& S) const override { return cpu().read(Q, S); }

  RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Rows& K, const Rows& V,
                                   Recorder* recorder, const Rows& bias) const override {
    return cpu().softmax_stream(q, K, V, recorder, bias);
  }
  void softmax_tile(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Index first_key,
                    SoftmaxState<Scalar>& state, Recorder* recorder, const Rows& bias) const override {
    cpu().softmax_tile(Q, K, V, first_query, first_key, state, recorder, bias);
  }
  Rows softmax_output(const SoftmaxState<Scalar>& state) const override {
    return cpu().softmax_output(state);
  }
  Rows softmax_dense(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Recorder* recorder,
                     const Rows& bias) const override {
    return cpu().softmax_dense(Q, K, V, first_query, recorder, bias);
  }

  Rows mamba_recurrent(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder) const override {
    return cpu().mamba_recurrent(rows, S, recorder);
  }
  Rows mamba_scan(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return cpu().mamba_scan(rows, S, recorder, stop);
  }

  Rows network_primal(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& token,
                      Carried<Scalar>& carried, Recorder* recorder) const override {
    return cpu().network_primal(network, token, carried, recorder);
  }
  Rows network_dual(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& rows,
                    Carried<Scalar>& carried, Recorder* recorder) const override {
    return cpu().network_dual(network, rows, carried, recorder);
  }

  void lact_gather(const Rows& K, const Rows& R, const Vector<Scalar>& eta, Rows& G) const override {
    cpu().lact_gather(K, R, eta, G);
  }
  void lact_update(const LactUpdate<Scalar>& update, const Rows& G, Scalar momentum, Rows& S, Rows& M,
                   Recorder* recorder) const override {
    cpu().lact_update(update, G, momentum, S, M, recorder);
  }
  LactScan<Scalar> lact_scan(const Rows& K, const Rows& V, const Vector<Scalar>& eta,
                             const std::vector<Index>& first, const Vector<Scalar>& momentum,
                             const std::optional<NewtonSchulz>& muon, const Rows& S_0, const Rows& M_0,
                             const std::stop_token& stop) const override {
    return cpu().lact_scan(K, V, eta, first, momentum, muon, S_0, M_0, stop);
  }

  Rows mesa_recurrent(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder) const override {
    return cpu().mesa_recurrent(rows, H, recorder);
  }
  Rows mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return cpu().mesa_chunk(rows, H, recorder, stop);
  }
  Rows mesa_parallel(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                     const std::stop_token& stop) const override {
    return cpu().mesa_parallel(rows, H, recorder, stop);
  }

  Rows least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P, Recorder* recorder) const override {
    return cpu().least_squares_gains(keys, P, recorder);
  }
  Rows solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P,
                                  const std::stop_token& stop) const override {
    return cpu().solved_least_squares_gains(keys, P, stop);
  }

 private:
  const Engines<Scalar>& cpu() const {
    if (trouble_.is_lost) throw Error("cudaMemcpy of 4096 bytes: the device was lost. Restart the program");
    return cpu_engines().in<Scalar>();
  }

  const DeviceTrouble& trouble_;
  OtherRowHeads<Scalar> row_heads_;
};

/// The device, under the name of the program's second one, in a table of devices for a Session.
class OtherDevice : public Backend {
 public:
  DeviceTrouble trouble;

  std::string name() const override { return "cuda"; }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision precision) const override {
    if (const auto reason = variant.rule->missing(form, settings)) return reason;
    if (trouble.is_absent) return absent;
    if (const auto reason = missing_precision(precision)) return reason;
    if (trouble.lacks_parallel && form == Form::parallel)
      return "there are no kernels for all tokens at once";
    return std::nullopt;
  }

  std::optional<std::string> missing_precision(Precision precision) const override {
    return trouble.has_bf16 ? std::nullopt : Backend::missing_precision(precision);
  }

  const DeviceEngines& engines(Precision precision) const override {
    if (const auto reason = missing_precision(precision)) throw Unsupported(*reason);
    if (trouble.is_absent) throw Unsupported(absent);
    return engines_;
  }

  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    if (const auto reason = missing(variant, sequence.settings, form, precision)) throw Unsupported(*reason);
    return variant.rule->run(sequence, form, held_in(precision), chunk_size, std::move(stop),
                             engines(precision));
  }

  std::vector<Output> run_heads(const Variant& variant, std::span<const Sequence> heads, Form form,
                                Precision precision, Index chunk_size, std::stop_token stop,
                                const HeadDone&) const override {
    std::vector<Output> outputs;
    for (const Sequence& head : heads)
      outputs.push_back(run(variant, head, form, precision, chunk_size, stop));
    return outputs;
  }

  Devices beside_cpu() const { return table_; }

 private:
  static constexpr const char* absent = "there is no driver";

  OtherEngines<double> f64_{trouble};
  OtherEngines<float> f32_{trouble};
  DeviceEngines engines_{f64_, f32_};
  std::array<const Backend*, 2> table_ = {&cpu_backend(), this};
};

}  // namespace palimpsest::testing
