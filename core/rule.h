#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix.h"
#include "core/memory.h"
#include "core/sequence.h"
#include "core/trace.h"

namespace palimpsest {

/// What one head gives: its outputs and the state after the last token.
struct Output {
  Matrix<double> o;  // [T, V]
  std::vector<std::pair<std::string, Matrix<double>>>
      states;  // by the names of Variant::states; vectors are [D, 1]
};

/// How a variant computes. Row programs share one implementation (row_rule.h).
class Rule {
 public:
  virtual ~Rule() = default;

  /// Why `form` does not exist with these settings; nothing if it does.
  virtual std::optional<std::string> missing(Form form, const Settings& settings) const;

  /// Outputs and final state of one head. `chunk_size` >= 1 is the form's chunk and never changes a result.
  /// Throws Unsupported with the reason where the form is missing, Cancelled when asked to stop.
  virtual Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                     std::stop_token stop = {}) const = 0;

  /// Whether no output depends on tokens after its own (or after its inner batch): then more tokens may
  /// follow (core/hand_over.h).
  virtual bool is_causal(const Sequence& sequence) const;

  /// What run() takes for one head.
  virtual Memory memory(const Sequence& sequence, Form form, Precision precision, Index chunk_size) const;

  /// The steps of one form, values on demand in at most about `budget` bytes of checkpoints.
  virtual std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision,
                                       Index chunk_size,
                                       std::size_t budget = std::size_t{256} << 20) const = 0;
};

/// Throws InputError unless chunk_size >= 1.
void require_chunk_size(Index chunk_size);

}  // namespace palimpsest
