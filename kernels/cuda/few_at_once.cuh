#pragma once

#include <type_traits>

namespace palimpsest {

/// Calls put(i, take(i)) for i = first, first + step and so on below `end`, by one thread, which takes a few
/// before it puts the first of them: what it reads for one does not wait until another is written.
template <class Index, class Take, class Put>
__device__ void few_at_once(Index first, std::type_identity_t<Index> end, std::type_identity_t<Index> step,
                            Take take, Put put) {
  constexpr int few = 4;
  for (Index i = first; i < end; i += few * step) {
    decltype(take(i)) taken[few];
    // Beyond the end its own first one again: no load waits for a branch.
#pragma unroll
    for (int n = 0; n < few; ++n) taken[n] = take(i + n * step < end ? i + n * step : i);
#pragma unroll
    for (int n = 0; n < few; ++n) {
      if (i + n * step < end) put(i + n * step, taken[n]);
    }
  }
}

}  // namespace palimpsest
