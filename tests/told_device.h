#pragma once

#include <vector>

#include "core/base/error.h"
#include "core/engines/device_engines.h"
#include "core/rules/backend.h"

namespace palimpsest::testing {

/// A device for races: it has every form that exists and computes nothing, so that what takes how long is
/// told by who derives from it.
class ToldDevice : public Backend {
 public:
  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision) const override {
    return variant.rule->missing(form, settings);
  }
  const DeviceEngines& engines(Precision) const override { return cpu_engines(); }
  Output run(const Variant&, const Sequence&, Form, Precision, Index, std::stop_token) const override {
    throw Error("nothing is computed here");
  }
  std::vector<Output> run_heads(const Variant&, std::span<const Sequence>, Form, Precision, Index,
                                std::stop_token, const HeadDone&) const override {
    throw Error("nothing is computed here");
  }
};

}  // namespace palimpsest::testing
