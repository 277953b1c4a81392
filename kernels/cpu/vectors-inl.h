// What kernels in vector instructions share: included after foreach_target.h, and compiled for every target
// again, as Highway's own headers of this kind.

#if defined(PALIMPSEST_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef PALIMPSEST_VECTORS
#undef PALIMPSEST_VECTORS
#else
#define PALIMPSEST_VECTORS
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>

#include "core/base/matrix.h"

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Numbers = hn::Vec<Tag>;

constexpr Index lanes = hn::MaxLanes(Tag());
constexpr bool has_32_registers = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;

/// Numbers x[i] ... of x [count]; zeros beyond its end.
HWY_INLINE Numbers load(const float* x, Index i, Index count) {
  if (i + lanes <= count) return hn::LoadU(Tag(), x + i);
  HWY_ALIGN float rest[lanes] = {};
  std::copy_n(x + i, count - i, rest);
  return hn::Load(Tag(), rest);
}

/// Writes them to x[i] ... of x [count], none beyond its end.
HWY_INLINE void store(Numbers numbers, float* x, Index i, Index count) {
  if (i + lanes <= count) return hn::StoreU(numbers, Tag(), x + i);
  HWY_ALIGN float rest[lanes];
  hn::Store(numbers, Tag(), rest);
  std::copy_n(rest, count - i, x + i);
}

/// exp(x), also of what is no number, for which Highway's is 0.
HWY_INLINE Numbers exponential(Numbers x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(Tag(), x)); }

/// The decay whose logarithm is x: below that of the smallest normal number exactly 0
/// (core/numbers/exponential.h).
HWY_INLINE Numbers decay_of_log(Numbers x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(Tag(), -87.33F)), exponential(x));
}

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#endif
