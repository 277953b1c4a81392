#pragma once

#include "app/session/learn_answers.h"
#include "core/insight/capacity.h"
#include "core/insight/spectra.h"

// What Learn asks of a memory as a whole.

namespace palimpsest {

/// The keys of some tokens beside each other.
struct KeyPicture {
  Index first = 0;         // token
  Matrix<double> cosines;  // [keys, keys]
  KeyDirections directions;
};

struct StoredKeys : OfFoundation {
  using Value = KeyPicture;

  Index first = 0;
  Index count = 0;

  bool operator<(const StoredKeys& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& picture);
};

/// How much fits into a rule's memory.
struct CapacitySweep {
  using Value = std::vector<CapacityPoint>;

  std::string variant = {};
  Index channels = 16;  // of keys and of values
  Keys keys = Keys::random;
  Settings settings = {};

  bool operator<(const CapacitySweep& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& points) { return points.size() * sizeof(CapacityPoint); }
};

}  // namespace palimpsest
