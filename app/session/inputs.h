#pragma once

#include <string>
#include <vector>

#include "app/session/data_set.h"
#include "app/session/edits.h"

namespace palimpsest {

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

/// Fits one head's arrays to `variant`: edits made, decays turned from one per head to one per channel or
/// back, what is missing made up (and said). Throws InputError naming the array, or the edit, that is wrong.
Inputs make_inputs(const DataSet& data, Index head, const Variant& variant, const Settings& settings,
                   const Edits& edits = {}, std::span<const EditKind> table = edit_kinds());

}  // namespace palimpsest
