#pragma once

#include "core/variants/variants.h"
#include "tests/core/cases.h"

// Numbers that outgrow their type.

namespace palimpsest::testing {

/// Rules whose memory can grow without bound, of every structure that adds up a chunk in its own way.
inline constexpr const char* growing_rules[] = {"deltanet", "gated_deltanet", "kda",
                                                "titans",   "rwkv7",          "value_decay_delta"};

/// One of them whose numbers do, with what makes them grow.
inline Case growing(const char* id, double factor) {
  Case each = random_case(find_variant(id), {}, {.tokens = 200, .dk = 8, .dv = 8, .seed = 5});
  for (const char* name : {"k", "beta", "theta", "a", "b"})
    if (each.arrays->contains(name)) each = scaled(each, name, factor);
  return each;
}

/// The first token whose output is not finite; T if there is none.
inline Index first_bad(const Matrix<double>& o) {
  for (Index t = 0; t < o.rows(); ++t) {
    if (!o.row(t).allFinite()) return t;
  }
  return o.rows();
}

}  // namespace palimpsest::testing
