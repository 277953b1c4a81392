#pragma once

#include "core/rules/backend.h"

namespace palimpsest {

/// Why one form can be expected to be faster than the other.
enum class Faster {
  alone,         // the other does not exist here
  kernel,        // it alone has a fast kernel
  one_pass,      // fast kernels of both: a processor's takes the memory once for two tokens
  few_tokens,    // fast kernels of both on a device, and all tokens within one chunk
  side_by_side,  // a device computes the tokens of a chunk at once
  less_work
};

struct FastestForm {
  Form form = Form::recurrent;
  Faster why = Faster::alone;
  double operations = 0;  // of a token in this form, where `why` is less_work
  double others = 0;      // and in the other one
};

/// The recurrent or the chunkwise form of heads like `sequence`, by what would compute them and by the cost
/// model: nothing is timed, and the same sizes give the same form. Recurrent where neither exists.
FastestForm fastest_form(const Backend& backend, const Variant& variant, const Sequence& sequence,
                         Precision precision, Index chunk_size);

}  // namespace palimpsest
