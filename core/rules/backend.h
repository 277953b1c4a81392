#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "core/contract/variant.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// What a device can do, and does.
class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu" or "cuda".
  virtual std::string name() const = 0;

  /// Why this variant, form and precision cannot run here; nothing if it can.
  virtual std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                             Precision precision) const = 0;

  /// Runs one head. Throws Unsupported with the reason of missing().
  virtual Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
                     Index chunk_size, std::stop_token stop = {}) const = 0;
};

/// The engines of core on the processor: every form that exists.
const Backend& cpu_backend();

/// The same for tokens that only ask (Rule::answers()): outputs and no states.
const Backend& asking_backend();

}  // namespace palimpsest
