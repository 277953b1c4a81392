// Layer norm, a row at a time, which stays in the first-level cache from one pass to the next; the rows are
// divided by multiplying with 1 / deviation.

#include "kernels/cpu/layer_norm.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/layer_norm.cpp"
#include <hwy/foreach_target.h>
// Everything from here on is compiled for every target.
#include "kernels/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

namespace {

HWY_INLINE float total(Numbers sum) { return hn::GetLane(hn::SumOfLanes(Tag(), sum)); }

void take_standardise(const float* Y, Index L, Index V, float eps, float* rows, float* deviations) {
  constexpr Tag d;
  const auto count = static_cast<float>(V);
  for (Index l = 0; l < L; ++l, Y += V, rows += V) {
    Numbers sum = hn::Zero(d);
    for (Index i = 0; i < V; i += lanes) sum = hn::Add(sum, load(Y, i, V));
    const float mean = total(sum) / count;
    float squares = 0;
    const Index whole = V / lanes * lanes;
    Numbers square = hn::Zero(d);
    for (Index i = 0; i < whole; i += lanes) {
      const Numbers centred = hn::Sub(hn::LoadU(d, Y + i), hn::Set(d, mean));
      square = hn::MulAdd(centred, centred, square);
      hn::StoreU(centred, d, rows + i);
    }
    for (Index i = whole; i < V; ++i) {
      rows[i] = Y[i] - mean;
      squares += rows[i] * rows[i];
    }
    deviations[l] = std::sqrt((squares + total(square)) / count + eps);
    const Numbers factor = hn::Set(d, 1 / deviations[l]);
    for (Index i = 0; i < V; i += lanes) store(hn::Mul(load(rows, i, V), factor), rows, i, V);
  }
}

void take_stretch(const float* X, Index L, Index V, const float* gain, const float* bias, float* Y) {
  for (Index l = 0; l < L; ++l, X += V, Y += V) {
    for (Index i = 0; i < V; i += lanes)
      store(hn::MulAdd(load(X, i, V), load(gain, i, V), load(bias, i, V)), Y, i, V);
  }
}

void take_gradient(const float* delta, const float* rows, const float* deviations, Index L, Index V,
                   float* G) {
  constexpr Tag d;
  const auto count = static_cast<float>(V);
  for (Index l = 0; l < L; ++l, delta += V, rows += V, G += V) {
    Numbers sum = hn::Zero(d);
    Numbers product = hn::Zero(d);
    for (Index i = 0; i < V; i += lanes) {
      const Numbers of_delta = load(delta, i, V);
      sum = hn::Add(sum, of_delta);
      product = hn::MulAdd(of_delta, load(rows, i, V), product);
    }
    const Numbers mean = hn::Set(d, total(sum) / count);
    const Numbers along = hn::Set(d, total(product) / count);
    const Numbers factor = hn::Set(d, 1 / deviations[l]);
    for (Index i = 0; i < V; i += lanes) {
      const Numbers level = hn::Sub(load(delta, i, V), mean);
      store(hn::Mul(hn::NegMulAdd(along, load(rows, i, V), level), factor), G, i, V);
    }
  }
}

}  // namespace

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace palimpsest::cpu {

namespace {
HWY_EXPORT(take_standardise);
HWY_EXPORT(take_stretch);
HWY_EXPORT(take_gradient);
}  // namespace

void standardise(const float* Y, Index L, Index V, float eps, float* rows, float* deviations) {
  HWY_DYNAMIC_DISPATCH(take_standardise)(Y, L, V, eps, rows, deviations);
}

void stretch(const float* X, Index L, Index V, const float* gain, const float* bias, float* Y) {
  HWY_DYNAMIC_DISPATCH(take_stretch)(X, L, V, gain, bias, Y);
}

void norm_gradient(const float* delta, const float* rows, const float* deviations, Index L, Index V,
                   float* G) {
  HWY_DYNAMIC_DISPATCH(take_gradient)(delta, rows, deviations, L, V, G);
}

}  // namespace palimpsest::cpu

#endif
