#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/contract/variant.h"

namespace palimpsest {

/// How the keys of a capacity sweep lie.
enum class Keys {
  random,       // independent directions, length 1
  orthonormal,  // at right angles; there are at most dk of them
  correlated,   // length 1, every two at the cosine `correlation` on average
};

/// Which pairs are stored in which memory.
struct CapacityPlan {
  std::vector<Index> counts = {1, 2, 4, 8, 16, 32, 64};  // pairs stored, ascending
  Index dk = 16;
  Index dv = 16;
  Keys keys = Keys::random;
  double correlation = 0.5;  // of correlated keys, in [0, 1)
  int draws = 1;             // seeds seed, seed + 1, ...
  std::uint64_t seed = 1;
  Settings settings = {};
  /// A number for every element of an array: {"alpha", 0.9}. The others are those of a memory that keeps
  /// everything and learns with a full step: decays 1, beta 1, else Input::stand_in.
  std::map<std::string, double, std::less<>> values = {};
};

/// |answer - v| / |v| over all stored pairs and draws.
struct CapacityPoint {
  Index pairs = 0;
  double mean = 0;
  double worst = 0;
  double last = 0;  // mean over draws, of the pair stored last
};

/// Stores pairs of normal values of about length 1 one after the other and asks for all of them at every
/// count. Throws InputError naming what does not fit (more orthonormal keys than channels, a key that the
/// rule makes itself), Unsupported where there is no memory, Cancelled. `progress` hears how much is done,
/// from 0 to 1.
std::vector<CapacityPoint> capacity(const Variant& variant, const CapacityPlan& plan,
                                    std::stop_token stop = {},
                                    const std::function<void(double)>& progress = {});

/// `count` keys [count, dk] of one draw.
Matrix<double> capacity_keys(const CapacityPlan& plan, Index count, std::uint64_t seed);

}  // namespace palimpsest
