#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "app/session/devices.h"
#include "core/base/error.h"
#include "core/engines/engines.h"

// A device that computes as the CPU does, and can be absent, lack a form, get lost in the middle of a run,
// hang, or have a kernel that is wrong.

namespace palimpsest::testing {

inline constexpr Index wrong_row = 3;  // of every chunk that has it, while the kernel is wrong

/// What is the matter with the device. Changed while threads compute.
struct DeviceTrouble {
  std::atomic<bool> is_absent = false;
  std::atomic<bool> is_lost = false;
  std::atomic<bool> lacks_parallel = false;
  std::atomic<bool> is_wrong = false;
  std::atomic<bool> hangs = false;      // no run ends while it does
  std::atomic<bool> has_bf16 = false;   // by name: it computes as f32 does
  std::atomic<bool> has_fused = false;  // a kernel for whole heads in chunks, not in f64
  std::atomic<double> most_bytes = 0;   // of the rows of whole heads that it takes at once; 0: block by block
  mutable std::atomic<int> parts = 0;   // that it has taken
};

/// The engine of a family on the processor, until the device is lost.
template <template <class> class Operator, class Scalar>
class OtherEngine : public Engine<Operator, Scalar> {
 public:
  OtherEngine(const DeviceTrouble& trouble, const Engine<Operator, Scalar>& cpu)
      : trouble_(trouble), cpu_(cpu) {}

 protected:
  std::vector<Matrix<Scalar>> compute(const EngineRequest& request, std::span<const Operator<Scalar>> heads,
                                      std::span<Carried<Scalar>> states) const override {
    if (trouble_.is_lost) throw Error("cudaMemcpy of 4096 bytes: the device was lost. Restart the program");
    while (trouble_.hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return cpu_.run(request, heads, states);
  }

  const DeviceTrouble& trouble_;

 private:
  const Engine<Operator, Scalar>& cpu_;
};

/// That of rows, which has a kernel for whole heads that keeps no tensors, and makes chunks wrongly.
template <class Scalar>
class OtherRows : public OtherEngine<Program, Scalar> {
 public:
  explicit OtherRows(const DeviceTrouble& trouble)
      : OtherEngine<Program, Scalar>(trouble, cpu_engines().in<Scalar>().rows) {}

  double most_bytes() const override { return this->trouble_.most_bytes; }

  KernelKind kernel(const EngineRequest& request, const Program<Scalar>& program) const override {
    const bool is_fused = std::is_same_v<Scalar, float> && this->trouble_.has_fused &&
                          request.form == Form::chunkwise && program.k.cols() < 100;
    return is_fused ? KernelKind::tensor_cores : KernelKind::plain;
  }

 private:
  using Base = OtherEngine<Program, Scalar>;

  std::vector<Matrix<Scalar>> compute(const EngineRequest& request, std::span<const Program<Scalar>> heads,
                                      std::span<Carried<Scalar>> states) const override {
    if (!request.phase) {
      ++this->trouble_.parts;
      return Base::compute({}, heads, states);
    }
    if (request.form != Form::chunkwise || request.phase != 0) return Base::compute(request, heads, states);
    Record record;
    Recorder own(record);
    EngineRequest recorded = request;
    recorded.tap = &own;
    std::vector<Matrix<Scalar>> outputs = Base::compute(recorded, heads, states);
    Matrix<Scalar>& o = outputs.front();
    if (this->trouble_.is_wrong && o.rows() > wrong_row) {
      o.row(wrong_row) *= 2;
      Matrix<double> U = record.at("U");
      U.row(wrong_row) *= 2;
      record.set("U", U);
    }
    if (!request.tap) return outputs;
    for (const auto& [name, tensor] : record.tensors()) (*request.tap)(name, tensor);
    return outputs;
  }
};

template <class Scalar>
struct OtherEngines {
  OtherRows<Scalar> rows;
  OtherEngine<CachedQueries, Scalar> softmax;
  OtherEngine<MambaRows, Scalar> mamba;
  OtherEngine<NetworkRows, Scalar> network;
  OtherEngine<LactTokens, Scalar> lact;
  OtherEngine<MesaRows, Scalar> mesa;
  OtherEngine<LeastSquaresKeys, Scalar> least_squares;

  explicit OtherEngines(const DeviceTrouble& trouble, const Engines<Scalar>& cpu = cpu_engines().in<Scalar>())
      : rows(trouble),
        softmax(trouble, cpu.softmax),
        mamba(trouble, cpu.mamba),
        network(trouble, cpu.network),
        lact(trouble, cpu.lact),
        mesa(trouble, cpu.mesa),
        least_squares(trouble, cpu.least_squares) {}

  Engines<Scalar> all() const { return {rows, softmax, mamba, network, lact, mesa, least_squares}; }
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
  DeviceEngines engines_{f64_.all(), f32_.all()};
  std::array<const Backend*, 2> table_ = {&cpu_backend(), this};
};

}  // namespace palimpsest::testing
