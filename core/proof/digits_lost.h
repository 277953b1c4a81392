#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/proof/reference_run.h"

namespace palimpsest {

/// How many times a form multiplies rounding, because it adds up many writes before they take each other
/// away.
struct DigitsLost {
  Form form = Form::recurrent;
  Index at_once = 1;    // tokens
  double factor = 1;    // of the outputs, at least 1; infinite where nothing of them is left
  double of_state = 1;  // the same of the state that is worst

  /// Decimal digits that are gone.
  double digits() const;
};

/// That of these forms, as `reference` is amplified (ReferenceRun::amplification).
std::vector<DigitsLost> digits_lost(ReferenceRun& reference, const std::vector<Form>& forms, Index chunk_size,
                                    std::stop_token stop = {});

/// What that says about a sum over many tokens, in sentences.
std::string in_words(const std::vector<DigitsLost>& lost);

}  // namespace palimpsest
