#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/cases/random_case.h"
#include "core/contract/variant.h"
#include "core/proof/reference_run.h"

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

}  // namespace palimpsest
