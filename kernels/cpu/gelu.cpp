// GELU and its derivative. With s = 1 / (1 + exp(-2 z)) instead of tanh(z) = 2 s - 1, where z is the argument
// of tanh, one exponential and one division are enough:
//   gelu(x) = x s,    gelu'(x) = s + 2 x s (1 - s) dz/dx.

#include "kernels/cpu/gelu.h"

#include <algorithm>

#include "core/numbers/gelu_constants.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gelu.cpp"
#include <hwy/foreach_target.h>
// Everything from here on is compiled for every target.
#include "kernels/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

namespace {

constexpr auto root = static_cast<float>(gelu_constants::root);
constexpr auto cubic = static_cast<float>(gelu_constants::cubic);

struct Sigmoid {
  Numbers s;
  Numbers rest;  // 1 - s, with all its digits; no number where s is 0
};

HWY_INLINE Sigmoid sigmoid_of(Numbers x) {
  constexpr Tag d;
  const Numbers slope = hn::MulAdd(hn::Mul(x, x), hn::Set(d, cubic), hn::Set(d, 1));
  const Numbers twice = hn::Mul(hn::Mul(x, slope), hn::Set(d, -2 * root));
  // Beyond 89 exp is infinite and s is 0; beyond 104 Highway says nothing.
  const Numbers power = hn::Exp(d, hn::Min(twice, hn::Set(d, 104)));
  const Numbers s = hn::Div(hn::Set(d, 1), hn::Add(hn::Set(d, 1), power));
  // Of what is no number Highway's exponential is 0.
  return {hn::IfThenElse(hn::IsNaN(x), x, s), hn::Mul(power, s)};
}

struct Value {
  HWY_INLINE Numbers operator()(Numbers x) const { return hn::Mul(x, sigmoid_of(x).s); }
};

struct Derivative {
  HWY_INLINE Numbers operator()(Numbers x) const {
    constexpr Tag d;
    const auto [s, rest] = sigmoid_of(x);
    const Numbers slope = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 3 * cubic), hn::Set(d, 1));
    const Numbers spread = hn::Mul(s, rest);
    const Numbers bend = hn::Mul(hn::Mul(hn::Mul(hn::Set(d, 2 * root), x), spread), slope);
    // Far out s is 0 or 1, whatever the slope has grown to.
    return hn::Add(s, hn::IfThenElseZero(hn::Gt(spread, hn::Zero(d)), bend));
  }
};

template <class Function>
void map(const float* x, Index count, float* y) {
  constexpr Function function;
  for (Index i = 0; i < count; i += lanes) store(function(load(x, i, count)), y, i, count);
}

void take_gelu(const float* x, Index count, float* y) { map<Value>(x, count, y); }
void take_gelu_derivative(const float* x, Index count, float* y) { map<Derivative>(x, count, y); }

}  // namespace

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace palimpsest::cpu {

namespace {
HWY_EXPORT(take_gelu);
HWY_EXPORT(take_gelu_derivative);
}  // namespace

void gelu(const float* x, Index count, float* y) { HWY_DYNAMIC_DISPATCH(take_gelu)(x, count, y); }

void gelu_derivative(const float* x, Index count, float* y) {
  HWY_DYNAMIC_DISPATCH(take_gelu_derivative)(x, count, y);
}

}  // namespace palimpsest::cpu

#endif
