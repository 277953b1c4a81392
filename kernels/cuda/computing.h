#pragma once

#include <vector>

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

}  // namespace palimpsest::cuda
