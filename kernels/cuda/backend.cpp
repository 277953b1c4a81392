#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/rules/row_rule.h"
#include "kernels/cuda/device_array.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/structure_of.h"
#include "kernels/cuda_backend.h"
#include "kernels/device.h"

namespace palimpsest {

namespace {

constexpr Index rows_at_a_time = 16384;  // bounds memory and the wait after a stop; changes no result

/// The rows of one head on the device: [T, columns] with nothing between.
template <class Scalar, class Element>
DeviceRows<Element> rows_of(DeviceArray<Scalar>& array, Index columns) {
  return {.data = array.data(), .token_stride = columns};
}

/// Room on the device for some rows of one head's program, and its state.
template <class Scalar>
class HeadOnDevice {
 public:
  /// `program` gives the structure and sizes, `S` the state before the first token.
  HeadOnDevice(const Program<Scalar>& program, Index rows, const Matrix<Scalar>& S)
      : q_(size(rows, program.q.cols())),
        k_(size(rows, program.k.cols())),
        v_(size(rows, program.v.cols())),
        alpha_(size(rows, program.structure.decay == Decay::none ? 0 : 1)),
        beta_(size(rows, program.structure.beta ? 1 : 0)),
        o_(size(rows, program.v.cols())),
        state_(static_cast<std::size_t>(S.size())) {
    state_.upload(S.data(), state_.size());
  }

  /// Runs these rows and moves the state on. Returns what they read: [L, V].
  Matrix<Scalar> run(const Program<Scalar>& program, void (*launch)(const RowPrograms<Scalar>&)) {
    upload(q_, program.q);
    upload(k_, program.k);
    upload(v_, program.v);
    if (alpha_.size() > 0) upload(alpha_, program.alpha());
    if (beta_.size() > 0) upload(beta_, program.beta);
    const Index K = program.k.cols();
    const Index V = program.v.cols();
    launch({.T = program.rows(),
            .K = K,
            .V = V,
            .erase = program.structure.erase == Erase::decayed,
            .q = rows_of<Scalar, const Scalar>(q_, K),
            .k = rows_of<Scalar, const Scalar>(k_, K),
            .v = rows_of<Scalar, const Scalar>(v_, V),
            .alpha = rows_of<Scalar, const Scalar>(alpha_, 1),
            .beta = rows_of<Scalar, const Scalar>(beta_, 1),
            .initial_state = state_.data(),
            .o = rows_of<Scalar, Scalar>(o_, V),
            .final_state = state_.data()});
    Matrix<Scalar> o(program.rows(), V);
    o_.download(o.data(), static_cast<std::size_t>(o.size()));
    return o;
  }

  /// The state after the rows so far.
  void download_state(Matrix<Scalar>& S) const { state_.download(S.data(), state_.size()); }

 private:
  static std::size_t size(Index rows, Index columns) { return static_cast<std::size_t>(rows * columns); }

  static void upload(DeviceArray<Scalar>& array, const Matrix<Scalar>& matrix) {
    array.upload(matrix.data(), static_cast<std::size_t>(matrix.size()));
  }

  DeviceArray<Scalar> q_, k_, v_, alpha_, beta_, o_, state_;
};

void stop_if_asked(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

template <class Scalar>
Output run_on_device(const RowRule& rule, const Kernel& kernel, const Sequence& sequence,
                     const std::stop_token& stop) {
  Matrix<Scalar> S = rule.initial_state<Scalar>(sequence);
  if (S.rows() > kernel.largest_K) {
    throw Unsupported(
        fmt::format("the CUDA kernel {} holds at most {} key channels; here are {}. The CPU has no such "
                    "limit",
                    kernel.name, kernel.largest_K, S.rows()));
  }
  const Index T = sequence.tokens;
  const Index most_rows = std::min(T, rows_at_a_time);
  HeadOnDevice<Scalar> head(rule.encoder().encode<Scalar>(sequence, 0, 0), most_rows, S);
  Matrix<Scalar> read(T, S.cols());
  for (Index first = 0; first < T; first += rows_at_a_time) {
    stop_if_asked(stop);
    const Index count = std::min(rows_at_a_time, T - first);
    read.middleRows(first, count) =
        head.run(rule.encoder().encode<Scalar>(sequence, first, count), kernel.launch<Scalar>());
  }
  stop_if_asked(stop);
  head.download_state(S);
  return {rule.finish<Scalar>(read, sequence).template cast<double>(),
          rule.named_states<Scalar>(S, sequence)};
}

class CudaBackend : public Backend {
 public:
  std::string name() const override { return "cuda"; }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision precision) const override {
    if (const auto reason = variant.rule->missing(form, settings)) return reason;
    if (!cuda_unavailable().empty()) return cuda_unavailable();
    const std::optional<Structure> structure = structure_of(variant, settings);
    if (!structure) {
      return fmt::format(
          "{} is no row program (one decay, erase, write and read per token), and all CUDA kernels so "
          "far compute row programs. The CPU computes it",
          variant.label);
    }
    if (!find_kernel(*structure, form, precision)) return no_kernel_reason(*structure, form, precision);
    return std::nullopt;
  }

  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    require_chunk_size(chunk_size);
    if (const auto reason = missing(variant, sequence.settings, form, precision)) throw Unsupported(*reason);
    const auto& rule = dynamic_cast<const RowRule&>(*variant.rule);
    const Kernel& kernel = *find_kernel(*structure_of(variant, sequence.settings), form, precision);
    return precision == Precision::f64 ? run_on_device<double>(rule, kernel, sequence, stop)
                                       : run_on_device<float>(rule, kernel, sequence, stop);
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace palimpsest
