#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/session/computation.h"
#include "app/session/presets.h"

namespace palimpsest::testing {

/// All that is found out about a choice. Throws what begin() throws.
inline std::shared_ptr<Computation> compute(std::shared_ptr<const DataSet> data, const Choice& choice,
                                            std::stop_token stop = {}, Devices devices = backends()) {
  const auto result = begin(std::move(data), choice, std::move(stop), {}, devices);
  Questions questions(1);
  for (std::string problem; !result->is_complete(); questions.wait()) complete(result, questions, problem);
  return result;
}

/// The same of what an id names, by one rule.
inline std::shared_ptr<Computation> compute(const std::string& id, const std::string& variant) {
  return compute(std::make_shared<const DataSet>(open_data(id)), {{.variant = variant}});
}

}  // namespace palimpsest::testing
