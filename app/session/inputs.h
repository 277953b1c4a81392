#pragma once

#include <string>
#include <vector>

#include "app/session/data_set.h"

namespace palimpsest {

/// What the sliders change. The neutral values leave the data as they are.
struct Adjustments {
  double decay = 1;             // alpha becomes alpha^decay: 2 forgets twice as fast, 0 not at all
  double beta = 1;              // beta becomes beta * this
  double key_length = 1;        // k becomes k * this
  double missing_alpha = 0.98;  // where the data have no decay
  double missing_beta =
      0;  // where the data have no beta; 0: 1 / max |k|^2, the largest that is stable everywhere

  bool operator==(const Adjustments&) const = default;
};

/// What one head of a data set gives a variant, and what had to be made up for it.
struct Inputs {
  std::shared_ptr<const Arrays> arrays;
  Settings settings;
  std::vector<std::string> notes;  // "beta is not in these data: 0.50 at every token"
  bool is_original = true;         // nothing changed, nothing made up
  bool made_up_alpha = false;
  bool made_up_beta = false;
  bool made_up_more = false;  // further arrays or parameters of the rule
  double beta = 0;            // the made-up beta
};

/// Fits one head's arrays to `variant`: sliders applied, decays turned from one per head to one per channel
/// or back, what is missing made up (and said).
Inputs make_inputs(const DataSet& data, Index head, const Variant& variant, const Settings& settings,
                   const Adjustments& adjustments);

}  // namespace palimpsest
