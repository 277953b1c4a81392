#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/cases/random_case.h"
#include "core/contract/variant.h"
#include "core/proof/reference_run.h"
#include "core/rules/backend.h"

namespace palimpsest {

/// A variant with one choice of its options.
struct OptionChoice {
  const Variant* variant = nullptr;
  Settings given = {};
};

/// Whether `variant` takes decays, as alpha or as their logarithm g.
bool has_gates(const Variant& variant);

/// Whether the variant takes these options together: options that follow others may exclude each other.
bool is_possible(const Variant& variant, const Settings& given);

/// Every choice of options that `variant` takes. An option that follows another one does so, or is set on its
/// own.
std::vector<Settings> option_choices(const Variant& variant);

/// "causal=false": all options of resolved settings; empty where there are none.
std::string describe_options(const Settings& settings);

/// One case that verify() runs in every form, device and precision.
struct VerifyCase {
  const Variant* variant = nullptr;
  Settings given = {};  // resolved
  RandomCase random = {};
  std::vector<Index> chunk_sizes = {64};                       // of the chunkwise form
  std::string data = {};                                       // the name of other data; empty: `random`
  std::function<std::shared_ptr<const Arrays>()> arrays = {};  // theirs, made when they are needed
};

/// What --case calls the numbers of a case.
std::string data_of(const VerifyCase& verified);

/// Case `index` of the random cases that `seed` stands for, the same on every machine: one of `choices`, T up
/// to 300 (mostly lengths beside a multiple of a chunk) and now and then up to 4096, K and V up to 24, the
/// chunk size, with or without states, alpha or g, parameters within their ranges.
VerifyCase random_verify_case(const std::vector<OptionChoice>& choices, std::uint64_t seed, Index index);

/// The inputs of one case in one precision, and what the f64 recurrence makes of them. Throws what the case
/// throws before any form runs.
ReferenceRun reference_run(const VerifyCase& verified, Precision precision, std::stop_token stop = {});

/// The command line that makes one comparison again: "palimpsest verify --variant gla --case random:T=17,...
/// --form chunkwise ...".
std::string reproduction(const VerifyCase& verified, const std::string& device, Form form,
                         Precision precision, Index chunk_size);

/// Which cases are run, and how: every combination of lengths, sizes and chunks; or so many random cases
/// instead; or just these. With the first of the sizes also texts that forget nothing, and long ones; beyond
/// longest_with_all tokens every choice of options once, with its largest inner batch. Where a device is not
/// the processor also its longest combined texts with channels that do not fit into one tile of a kernel.
struct VerifyPlan {
  struct Size {
    Index dk;
    Index dv;
  };
  static constexpr Index whole_sequence = 0;       // as a chunk size: T
  static constexpr Index longest_combined = 300;   // tokens; above, a length is a long one
  static constexpr Index longest_with_all = 4096;  // tokens

  std::vector<std::string> variants = {};  // ids; none: the whole table
  std::vector<const Backend*> backends = {&cpu_backend()};
  std::vector<Form> forms = {std::begin(all_forms), std::end(all_forms)};
  std::vector<Precision> precisions = {};  // none: all that the device has
  std::vector<Index> lengths = {0, 1, 2, 15, 16, 17, 63, 64, 65, 257};
  std::vector<Index> chunk_sizes = {1, 7, 16, 64, whole_sequence};
  std::vector<Size> sizes = {{12, 7}, {5, 20}};
  std::vector<Size> wide_sizes = {{70, 100}, {20, 130}};  // of a device that is not the processor
  std::vector<bool> initial_states = {false, true};
  std::vector<bool> log_gates = {false, true};  // decays as alpha, and as g
  bool keeps = true;                            // texts that forget nothing too
  std::vector<Index> long_lengths = {};         // in chunks of 64
  std::vector<Index> batch_sizes = {1, 6, 16};  // of the rules that have inner batches; none: drawn
  std::uint64_t seed = 1;
  int draws = 1;  // random instances of every case
  std::vector<ToleranceException> exceptions = {usual_exceptions().begin(), usual_exceptions().end()};
  Index random_cases = 0;              // this many, in the place of every combination
  std::vector<VerifyCase> more = {};   // these, besides every combination
  std::vector<VerifyCase> cases = {};  // these alone
  unsigned jobs = 1;                   // threads; changes no result
};

/// What `palimpsest verify` runs: every combination, and texts of 1000 and 4096 tokens.
VerifyPlan thorough_plan();

/// What `palimpsest verify --tokens` runs: every combination with these lengths, the long ones in chunks of
/// 64. No other length is run.
VerifyPlan plan_of_lengths(const std::vector<Index>& lengths);

/// The cases of a plan, made when they are asked for.
class PlannedCases {
 public:
  /// Throws InputError for an unknown variant.
  PlannedCases(const VerifyPlan& plan, std::span<const Variant> table);

  /// The variants and options that there are cases of, or may be: those of the given cases, or all.
  const std::vector<OptionChoice>& choices() const { return choices_; }

  Index size() const { return size_; }

  /// Whether they are drawn, so that lengths and sizes are whatever came.
  bool are_random() const { return are_random_; }

  /// Case `index`, the same every time.
  VerifyCase at(Index index) const;

 private:
  std::vector<OptionChoice> choices_;
  std::vector<VerifyCase> cases_;
  std::uint64_t seed_;
  bool are_random_;
  Index size_;
};

}  // namespace palimpsest
