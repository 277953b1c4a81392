#pragma once

#include "app/session/edits.h"
#include "core/proof/verify.h"

namespace palimpsest {

/// The inputs of a variant from one head of a data set, and what was filled in.
struct Inputs {
  std::shared_ptr<const Arrays> arrays;
  Settings settings;
  std::vector<std::string> notes;    // "Not in the data: gamma = 1, ridge = 1."
  std::vector<std::string> lacking;  // not in the data, with the substitute: "gamma = 1"
  std::vector<std::string> adapted;  // derived from the data: "gamma = mean of alpha"
  bool made_up_alpha = false;
  bool made_up_beta = false;
  bool made_up_more = false;  // further arrays or parameters of the rule
  double beta = 0;            // the made-up beta
};

/// Adapts one head's arrays to `variant`: applies edits, converts decays between one per head and one per
/// channel, fills in what is missing (and notes it). Throws InputError naming the wrong array or edit.
Inputs make_inputs(const DataSet& data, Index head, const Variant& variant, const Settings& settings,
                   const Edits& edits = {});

/// The first tokens of one head, for small pictures.
struct HeadPreview {
  Matrix<double> similarity = {};     // cosines of every two keys, the data's or the rule's own, [n, n]
  std::vector<double> strength = {};  // beta |k|^2 of each token's write; empty without beta
  std::vector<double> kept = {};      // alpha of each token, mean over channels; empty without decay
};

/// Data before they are opened.
struct PreviewedData {
  std::shared_ptr<const DataSet> data;
  const Variant* variant = nullptr;  // their own, else the one that fits, else Gated DeltaNet
  Index tokens = 0;                  // n: how many are in the pictures
  std::vector<HeadPreview> heads;    // over batches and heads, the first ones
  std::uint64_t version = 0;         // its own
};

inline constexpr Index most_previewed_tokens = 128;

/// A preview of data before they are opened: a question.
struct DataPreview {
  static constexpr std::size_t most_kept = 16;  // each takes up to 2 MB, and a slider makes many
  std::string id;                               // as open_data takes it
  auto operator<=>(const DataPreview&) const = default;
  Found<PreviewedData> compute(const Effort& effort) const;

  /// Until a preset is made, it may be shown in another size.
  std::string subject() const { return id.substr(0, id.find('?')); }
};

/// The first head of `data` as a case of verify(), with the inputs that the window would use. Throws
/// InputError if `variant` cannot take these data.
VerifyCase data_case(const Variant& variant, std::shared_ptr<const DataSet> data, const Settings& given,
                     Index chunk_size);

/// The data of a case, to be opened: arrays of one head, with the variant for a rule.
DataSet data_of_case(const VerifyCase& verified);

/// Every preset as a case of each of `variants`, in chunks of 64: 257 and 1100 tokens, and one of 4096.
std::vector<VerifyCase> preset_cases(std::span<const Variant> variants);

}  // namespace palimpsest
