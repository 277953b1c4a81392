#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/contract/output.h"
#include "core/steps/phase.h"

namespace palimpsest {

template <class Scalar>
class Walk;

/// A trace whose blocks are computed when they are asked for; the last ones are kept.
class ComputedTrace : public Trace {
 public:
  const Record& record(Index index) final { return *shared_record(index); }
  std::shared_ptr<const Record> shared_record(Index index, std::stop_token stop = {}) const final;
  void prepare(std::stop_token stop) final;
  const Output* output() const final { return output_ ? &*output_ : nullptr; }

 protected:
  /// `kept`: how many records, at least 1.
  explicit ComputedTrace(std::size_t kept = 1) : kept_(kept) {}

  /// Every tensor of block `index`. May throw Cancelled when stop() asks for it.
  virtual Record compute(Index index) const = 0;

  /// Computes ahead the states that are kept.
  virtual void prepare_states() const {}

  /// Asks to stop what is being computed.
  const std::stop_token& stop() const { return stop_; }

  mutable std::optional<Output> output_;  // of the whole form, once a record has made it by the way

 private:
  struct Kept {
    Index block = -1;
    std::shared_ptr<const Record> record = {};
  };
  mutable std::mutex computing_;    // what is remembered belongs to the one who computes
  mutable std::vector<Kept> kept_;  // the latest first
  mutable std::stop_token stop_;
};

/// The trace of a walk: carried matrices kept every few blocks within `budget` bytes, the rest recomputed
/// from the nearest ones by the same engine.
template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Groups groups,
                                       std::size_t budget);

}  // namespace palimpsest
