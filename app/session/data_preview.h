#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/session/data_set.h"
#include "app/session/questions.h"

namespace palimpsest {

/// The first tokens of one head, for small pictures.
struct HeadPreview {
  Matrix<double> similarity = {};     // cosines of every two keys, the data's or the rule's own, [n, n]
  std::vector<double> strength = {};  // beta |k|^2 of each token's write; empty where the data have no beta
  std::vector<double> kept = {};      // alpha of each token, mean over channels; empty where nothing fades
};

/// Data before they are opened.
struct PreviewedData {
  std::shared_ptr<const DataSet> data;
  const Variant* variant = nullptr;  // variant_of them
  Index tokens = 0;                  // n: how many are in the pictures
  std::vector<HeadPreview> heads;    // over batches and heads, the first ones
  std::uint64_t version = 0;         // its own
};

inline constexpr Index most_previewed_tokens = 128;
inline constexpr Index most_previewed_heads = 16;

/// What there is to see of data before they are opened.
struct DataPreview {
  using Value = PreviewedData;

  static constexpr std::size_t most_kept = 16;  // each takes up to 2 MB, and a slider makes many

  std::string id;  // as open_data takes it

  auto operator<=>(const DataPreview&) const = default;
  Found<Value> compute(const Effort& effort) const;

  /// Presets of other sizes stand for one until it is made.
  std::string subject() const { return id.substr(0, id.find('?')); }
};

/// The variant that data belong to: their own, else the one that fits, else Gated DeltaNet.
const Variant& variant_of(const DataSet& data);

}  // namespace palimpsest
