#pragma once

#include <deque>
#include <iterator>

#include "kernels/cuda/engines.h"
#include "kernels/cuda/matrices.h"

namespace palimpsest::cuda {

/// How many tables of `bytes_each` bytes are held at a time: as many as fit into a gigabyte, at least 1 and
/// at most `most`.
inline Index fitting(double bytes_each, Index most) {
  constexpr double room = 1 << 30;
  const auto count = static_cast<Index>(room / std::max(bytes_each, 1.0));
  return std::max<Index>(std::min(count, most), 1);
}

/// Waits for the device: otherwise a whole run would be queued before it could be stopped.
inline void await_device() { CHECK_CUDA(cudaStreamSynchronize(nullptr)); }

/// Some heads on the device, and the request: their arrays, uploaded once, their states, and room for
/// results. All of it stays in place until the run ends. Arrays with a name go to the request's tap under
/// that name.
template <template <class> class Operator, class Scalar>
class HeadsOnDevice {
 public:
  using Matrices = DeviceMatrices<Scalar>;
  using Heads = std::span<const Operator<Scalar>>;
  using States = std::span<Carried<Scalar>>;

  HeadsOnDevice(const EngineRequest& request_, Heads heads, States states, Rounding rounding)
      : request(request_), heads_(heads), states_(states), rounding_(rounding) {}

  const EngineRequest& request;

  Index count() const { return static_cast<Index>(heads_.size()); }
  const Operator<Scalar>& first() const { return heads_.front(); }
  States states() const { return states_; }
  Rounding rounding() const { return rounding_; }

  /// Calls visit(first, count) for `total` of anything, `at_once` at a time, so that a run can be stopped.
  template <class Visit>
  void in_parts(Index total, Index at_once, Visit visit) const {
    for (Index first = 0; first < total; first += at_once) {
      stop_if_asked(request.stop);
      visit(first, std::min(at_once, total - first));
    }
  }

  /// `of` every head: a member, or the result of a function.
  template <class Of>
  Matrices& upload(Of of) {
    return keep("", Matrices::of_heads(heads_, of));
  }

  /// The same for rows of q, k and v, which are rounded after the upload.
  template <class Of>
  Matrices& rows(Of of) {
    Matrices& rows = upload(of);
    rows.round(rounding_);
    return rows;
  }

  /// What a run starts from and changes: `of` every state.
  template <class Of>
  Matrices& changed(Of of) {
    Matrices& states = keep("", Matrices::of_heads(std::span<const Carried<Scalar>>(states_), of));
    changed_.push_back(&states);
    return states;
  }

  /// Part `index` of every state, which finish() downloads.
  Matrices& state(std::size_t index) {
    parts_.emplace_back(index, &changed(part<Scalar>(index)));
    return *parts_.back().second;
  }

  Matrices& keep(std::string_view name, Matrices matrices) {
    return all_.emplace_back(name, std::move(matrices)).second;
  }

  /// Room for matrices of every head, or of as many as there are.
  Matrices& make(std::string_view name, Index rows, Index columns) {
    return make(name, count(), rows, columns);
  }
  Matrices& make(std::string_view name, Index heads, Index rows, Index columns) {
    return keep(name, Matrices(heads, rows, columns));
  }

  /// Room for a matrix that only the tap wants; null where there is none.
  Scalar* tapped(std::string_view name, Index rows, Index columns = 1) {
    return request.tap ? make(name, 1, rows, columns).data() : nullptr;
  }

  /// Room for the outputs of every head.
  Matrices& outputs(Index rows, Index columns) { return *(outputs_ = &make("", rows, columns)); }

  /// Room for indices, and those that all heads share.
  Index* make_indices(Index size) { return indices_.emplace_back(static_cast<std::size_t>(size)).data(); }
  const Index* upload_indices(const std::vector<Index>& indices) {
    make_indices(std::ssize(indices));
    indices_.back().upload(indices.data(), indices.size());
    return indices_.back().data();
  }

  /// What is kept under a name.
  Matrix<Scalar> operator[](std::string_view name) const {
    return std::ranges::find(all_, name, &std::pair<std::string, Matrices>::first)->second.matrix();
  }

  /// Hands a value to the tap, where there is one; a matrix as it lies on the device; and what is kept under
  /// these names.
  void record(std::string_view name, const Matrix<Scalar>& value) const {
    if (request.tap) (*request.tap)(name, value);
  }
  void record(std::string_view name, const Scalar* data, Index rows, Index columns) const {
    if (request.tap) record(name, downloaded(data, rows, columns));
  }
  void record(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (request.tap) record(name, (*this)[name]);
    }
  }

  /// Hands all that has a name to the tap.
  void record_all() const {
    for (const auto& [name, matrices] : all_) {
      if (!name.empty()) record({name});
    }
  }

  /// What the name of a state ends with, as it stands before the block, and after it.
  std::string before() const { return request.form == Form::recurrent ? "_before" : "_in"; }
  std::string after() const { return request.form == Form::recurrent ? "_after" : "_out"; }

  /// Calls compute(), which launches the kernels of a run between its uploads and its downloads, and changes
  /// the states. A clock calls it several times, each from the same initial states; it must compute all else
  /// that it reads and allocate no memory, which would count in its times.
  template <class Compute>
  void compute(Compute compute) {
    RunClock* const clock = RunClock::present();
    if (!clock) return compute();
    std::vector<DeviceArray<Scalar>> initial;
    const auto copy = [](Scalar* to, const Scalar* from, std::size_t numbers) {
      if (numbers > 0)
        CHECK_CUDA(cudaMemcpyAsync(to, from, numbers * sizeof(Scalar), cudaMemcpyDeviceToDevice, nullptr));
    };
    clock->aside([&] {
      for (const Matrices* const states : changed_) {
        initial.emplace_back(states->size());
        copy(initial.back().data(), states->data(), states->size());
      }
    });
    const auto restore = [&] {
      for (std::size_t i = 0; i < changed_.size(); ++i)
        copy(changed_[i]->data(), initial[i].data(), initial[i].size());
    };
    clock->repeat(restore, compute);
  }

  void download_states() const {
    for (const auto& [index, matrices] : parts_) {
      std::vector<Matrix<Scalar>> heads = matrices->download();
      for (std::size_t h = 0; h < heads.size(); ++h) states_[h][index] = std::move(heads[h]);
    }
  }

  /// Downloads the states, and returns the outputs of every head, rounded before the download.
  std::vector<Matrix<Scalar>> finish() {
    download_states();
    outputs_->round(rounding_);
    return outputs_->download();
  }

  /// The same, with what the only state of a block is before it and after it for the tap.
  std::vector<Matrix<Scalar>> finish(const std::string& state) {
    record(state + before(), states_.front().front());
    std::vector<Matrix<Scalar>> answers = finish();
    record(state + after(), states_.front().front());
    return answers;
  }

 private:
  Heads heads_;
  States states_;
  Rounding rounding_;
  std::deque<std::pair<std::string, Matrices>> all_;
  std::deque<DeviceArray<Index>> indices_;
  std::vector<Matrices*> changed_;
  std::vector<std::pair<std::size_t, Matrices*>> parts_;
  Matrices* outputs_ = nullptr;
};

/// One run of a family: whole heads, or one block of one head by the kernels that make every tensor. It is
/// made from a HeadsOnDevice, and its run() returns the outputs. Specialised in the family's file.
template <template <class> class Operator, class Scalar>
class FamilyRun;

/// The defaults of a family for operators of these sizes.
struct AnyFamily {
  static KernelKind kernel(const EngineRequest&, const auto&, Rounding) { return KernelKind::plain; }
  static std::optional<std::string> missing(const EngineRequest&, const auto&, Rounding) { return {}; }

  /// The memory of one head while it runs, an upper estimate; 0: all heads run together.
  static double bytes(const EngineRequest&, const auto&, const auto&) { return 0; }
};

/// A family's engine on the first device. It runs blocks one by one, and whole heads as many together as the
/// device has room for. Throws Error with CUDA's words.
template <template <class> class Operator, class Scalar>
class CudaEngine : public Engine<Operator, Scalar> {
 public:
  explicit CudaEngine(Rounding rounding) : rounding_(rounding) {}

  KernelKind kernel(const EngineRequest& request, const Operator<Scalar>& head) const override {
    return FamilyRun<Operator, Scalar>::kernel(request, head, rounding_);
  }

  std::optional<std::string> missing(const EngineRequest& request,
                                     const Operator<Scalar>& head) const override {
    return FamilyRun<Operator, Scalar>::missing(request, head, rounding_);
  }

  /// Copies, tables and results take several times as much as the inputs, and the processor holds the inputs
  /// too.
  double most_bytes() const override {
    return std::min(static_cast<double>(memory_of_device().total) / 8, 8.0 * (std::int64_t{1} << 30));
  }

 private:
  using OnDevice = HeadsOnDevice<Operator, Scalar>;

  /// Heads in groups that take at most a quarter of the device's memory, or are one head.
  std::vector<Matrix<Scalar>> compute(const EngineRequest& request, typename OnDevice::Heads heads,
                                      typename OnDevice::States states) const override {
    std::vector<Matrix<Scalar>> o;
    std::size_t at_once = request.phase ? 1 : heads.size();
    if (at_once > 1) {
      const double bytes = FamilyRun<Operator, Scalar>::bytes(request, heads.front(), states.front());
      const double fitting = static_cast<double>(memory_of_device().total) / 4 / bytes;
      if (fitting < static_cast<double>(at_once))
        at_once = std::max<std::size_t>(static_cast<std::size_t>(fitting), 1);
    }
    for (std::size_t first = 0; first < heads.size(); first += at_once) {
      const std::size_t count = std::min(at_once, heads.size() - first);
      OnDevice device(request, heads.subspan(first, count), states.subspan(first, count), rounding_);
      std::ranges::move(FamilyRun<Operator, Scalar>(device).run(), std::back_inserter(o));
    }
    return o;
  }

  Rounding rounding_;
};

template <template <class> class Operator, class Scalar>
OwnedEngine<Operator, Scalar> make_engine(Rounding rounding) {
  return std::make_unique<CudaEngine<Operator, Scalar>>(rounding);
}

#define PALIMPSEST_CUDA_ENGINES(prefix, Operator)                      \
  prefix template OwnedEngine<Operator, double> make_engine(Rounding); \
  prefix template OwnedEngine<Operator, float> make_engine(Rounding)

// Made at the end of the family's file, where its FamilyRun is known.
PALIMPSEST_CUDA_ENGINES(extern, Program);
PALIMPSEST_CUDA_ENGINES(extern, CachedQueries);
PALIMPSEST_CUDA_ENGINES(extern, MambaRows);
PALIMPSEST_CUDA_ENGINES(extern, NetworkRows);
PALIMPSEST_CUDA_ENGINES(extern, LactTokens);
PALIMPSEST_CUDA_ENGINES(extern, MesaRows);
PALIMPSEST_CUDA_ENGINES(extern, LeastSquaresKeys);

/// Q S on the device: [R, V]; Q and what comes out as `rounding` says.
template <class Scalar>
Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S, Rounding rounding) {
  DeviceMatrices<Scalar> queries(Q), memory(S), O(1, Q.rows(), S.cols());
  queries.round(rounding);
  multiply(1, 1, queries, memory, 0, {}, O.all());
  O.round(rounding);
  return O.matrix();
}

}  // namespace palimpsest::cuda
