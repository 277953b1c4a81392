#pragma once

#include "core/contract/variant.h"

namespace palimpsest {

/// One head's inputs to one variant: validated views under their contract names, and the resolved settings.
class Sequence {
 public:
  Index tokens = 0;  // T
  Index dk = 0;      // K
  Index dv = 0;      // V
  Settings settings;

  /// Whether the optional array `name` was given.
  bool has(std::string_view name) const { return views_.find(name) != views_.end(); }
  /// The array `name`: [T, columns] with an axis n, otherwise [rows, columns] with columns 1 for a vector.
  const MatrixView& at(std::string_view name) const;
  /// The arrays with one row per token, by their contract names.
  const std::vector<std::string>& names_with_tokens() const { return with_tokens_; }
  /// A resolved parameter of this head.
  double parameter(std::string_view name) const;
  /// A resolved option.
  const std::string& option(std::string_view name) const { return settings.option(name); }
  /// Adds an array with one row per token, made from the others: [T, columns].
  void add(const std::string& name, const Matrix<double>& rows);

  /// Whether the decay came as g = log alpha. at("alpha") then holds g.
  bool gates_are_logs = false;

 private:
  friend struct Binder;
  std::shared_ptr<const Arrays> arrays_;  // keeps the views alive
  std::vector<std::shared_ptr<const Array>> added_;
  std::map<std::string, MatrixView, std::less<>> views_;
  std::vector<std::string> with_tokens_;
};

/// All heads of all batches of one set of arrays, bound to one variant.
struct SequenceBatch {
  std::vector<Sequence> heads;  // head (b, h) is heads[b * head_count + h]
  Index batch_count = 1;
  Index head_count = 1;
  int rank = 2;                      // of q: 2 [T, K], 3 [T, H, K], 4 [B, T, H, K]
  std::vector<std::string> ignored;  // arrays that the variant does not know
};

/// Throws InputError unless 0 <= token < tokens.
void require_token(Index token, Index tokens);

/// Throws InputError if only one of two arrays is given that belong together.
void require_together(const Sequence& sequence, std::string_view one, std::string_view other);

/// A symmetric matrix [K, K] as an input gives it: whole, or as its diagonal [K, 1].
Matrix<double> square(const MatrixView& given);

/// Checks every array that `variant` takes (presence, rank, sizes, ranges; the rank of q tells whether there
/// are head and batch axes) and gives a view per head. q, k and v may have fewer heads: head h of H uses head
/// floor(h Hx / H). Parameters that the file holds as arrays are used unless `given` has them. Throws
/// InputError naming the array, the index and what was expected.
SequenceBatch bind(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& given);

/// Tokens of one inner batch: the parameter batch; 1 where a rule has none.
Index inner_batch(const Settings& settings);

/// In a page, whose memory has 2 GB at most and never shrinks.
inline constexpr bool has_little_memory = sizeof(void*) < 8;

/// Bytes that a run may hold at its peak, over all heads that are computed at the same time.
inline constexpr double byte_limit = has_little_memory ? 0.2e9 : 6e9;

/// The bytes that one head takes, an upper estimate.
struct Footprint {
  double work = 0;        // at the peak, besides what is kept
  double kept = 0;        // outputs and final states
  std::string what = {};  // most of it, in words: "its n x n matrices"
};

/// Throws Unsupported, saying what to do instead, where one head, or the record of a block of its trace,
/// would go over the limit in this form.
void require_footprint(const Footprint& needed, const Sequence& sequence, Form form, Index chunk_size,
                       bool recorded = false);

/// Throws InputError, naming the arrays that set its size, if a state of this size is too large to be kept
/// and written.
void require_state(const Sequence& sequence, Index rows, Index columns);

/// The most heads of all batches together: as many as blocks fit along the second or third axis of a GPU's
/// grid.
inline constexpr Index most_heads_in_all = 65535;

}  // namespace palimpsest
