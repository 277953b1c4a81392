#pragma once

#include "core/base/error.h"
#include "core/operator/channel.h"
#include "core/rules/effective_attention.h"
#include "tests/core/cases.h"

namespace palimpsest::testing {

/// The numbers of a value channel that the rows write, w and v+, one below the other: [T h, 1] each.
struct Written {
  Matrix<double> w;
  Matrix<double> v_plain;  // empty without plain writes
};

/// What a case's rows write in one value channel. Softmax has no memory with channels: its values themselves.
inline Written written(const Case& each, Index channel) {
  try {
    const Program<double> rows =
        each.variant->rule->channel(each.sequence, channel).rows(0, each.sequence.tokens);
    return {rows.v, rows.v_plain};
  } catch (const Unsupported&) {
    return {each.sequence.at("v").all<double>().col(channel), {}};
  }
}

/// Why outputs are no weighted sums of values; empty where they are.
inline std::string refusal(const Case& each) {
  try {
    each.variant->rule->effective_attention(each.sequence, {});
    return {};
  } catch (const Unsupported& reason) {
    return reason.what();
  }
}

/// The same case with one number of an array changed.
inline Case with_changed(const Case& each, const std::string& array, Index at, double by) {
  return changed(each, array, [&](double value, std::size_t i) {
    return static_cast<Index>(i) == at ? value + by : value;
  });
}

}  // namespace palimpsest::testing
