#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/engines/engine.h"
#include "kernels/cuda/head_groups.h"
#include "kernels/cuda/matrices.h"
#include "kernels/cuda/run_clock.h"

namespace palimpsest::cuda {

/// Calls compute(), which launches the kernels of a run between its uploads and its downloads, and changes
/// `states`, which hold what it starts from. A clock calls it several times, each from the same states; it
/// must make all else that it reads and take no memory, which would be in its times.
template <class Scalar, class Compute>
void computing(const std::vector<DeviceMatrices<Scalar>*>& states, Compute compute) {
  RunClock* const clock = RunClock::present();
  if (!clock) return compute();
  std::vector<DeviceArray<Scalar>> initial;
  const auto copy = [](Scalar* to, const Scalar* from, std::size_t count) {
    if (count > 0)
      CHECK_CUDA(cudaMemcpyAsync(to, from, count * sizeof(Scalar), cudaMemcpyDeviceToDevice, nullptr));
  };
  clock->aside([&] {
    for (const DeviceMatrices<Scalar>* const state : states) {
      initial.emplace_back(state->size());
      copy(initial.back().data(), state->data(), state->size());
    }
  });
  const auto restore = [&] {
    for (std::size_t i = 0; i < states.size(); ++i)
      copy(states[i]->data(), initial[i].data(), initial[i].size());
  };
  clock->repeat(restore, compute);
}

/// What all engines on the first device have in common. Each has a step, one block of one head by the kernels
/// that make every tensor, and runs whole heads, as many together as the device has room for. All throw Error
/// with CUDA's words.
template <template <class> class Operator, class Scalar>
class CudaEngine : public Engine<Operator, Scalar> {
 public:
  explicit CudaEngine(Rounding rounding) : rounding_(rounding) {}

  /// Copies, tables and results of what is given take several times as much again, and the processor holds it
  /// too.
  double most_bytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    CHECK_CUDA(cudaMemGetInfo(&free, &total));
    return std::min(static_cast<double>(total) / 8, 8.0 * (std::int64_t{1} << 30));
  }

 protected:
  using Heads = std::span<const Operator<Scalar>>;
  using States = std::span<Carried<Scalar>>;
  using Outputs = std::vector<Matrix<Scalar>>;

  Rounding rounding_;

 private:
  virtual Matrix<Scalar> step(const EngineRequest& request, const Operator<Scalar>& rows,
                              Carried<Scalar>& state) const = 0;

  virtual Outputs run_heads(const EngineRequest& request, Heads heads, States states) const = 0;

  /// What one head takes while it runs, rather too much; 0: all heads run together.
  virtual double bytes(const EngineRequest&, const Operator<Scalar>&, const Carried<Scalar>&) const {
    return 0;
  }

  HeadsTaken<Scalar> compute(const EngineRequest& request, Heads heads, States states) const override {
    HeadsTaken<Scalar> taken = {.o = {}, .kernel = this->kernel(request, heads.front())};
    if (request.phase) {
      for (std::size_t h = 0; h < heads.size(); ++h) taken.o.push_back(step(request, heads[h], states[h]));
      return taken;
    }
    for_groups(heads.size(), bytes(request, heads.front(), states.front()),
               [&](std::size_t first, std::size_t count) {
                 std::ranges::move(
                     run_heads(request, heads.subspan(first, count), states.subspan(first, count)),
                     std::back_inserter(taken.o));
               });
    return taken;
  }
};

/// Part `index` of the states of heads, on the device.
template <class Scalar>
DeviceMatrices<Scalar> upload_part(std::span<const Carried<Scalar>> states, std::size_t index) {
  return DeviceMatrices<Scalar>::of_heads(states, part<Scalar>(index));
}

/// The other way.
template <class Scalar>
void download_part(const DeviceMatrices<Scalar>& from, std::span<Carried<Scalar>> states, std::size_t index) {
  std::vector<Matrix<Scalar>> heads = from.download();
  for (std::size_t h = 0; h < heads.size(); ++h) states[h][index] = std::move(heads[h]);
}

/// Q S on the device: [R, V]; Q and what comes out as `rounding` says.
template <class Scalar>
Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S, Rounding rounding);

}  // namespace palimpsest::cuda
