#pragma once

#include <string>
#include <vector>

#include "core/base/matrix.h"
#include "core/contract/sequence.h"
#include "core/contract/variant.h"
#include "core/operator/work.h"

namespace palimpsest {

/// What a token costs in one form.
struct CostRow {
  Form form = Form::recurrent;
  std::string missing = {};  // why the form does not exist; empty: it does
  double flops = 0;          // per token
  double exponentials = 0;   // per token
  double bytes = 0;          // read and written per token: inputs, outputs, states, n x n matrices
  Index steps = 0;           // that wait for each other, over all tokens: see steps_in_a_row
};

/// How many blocks of `tokens` wait for the one before: every token; every chunk; two-pass, every chunk's
/// state and then all outputs at once; one in the parallel form.
Index steps_in_a_row(Form form, Index tokens, Index chunk_size);

/// Bytes of one head that come in with its tokens and go out as outputs: so many for a number of q, k, v and
/// o, and for any other.
double given_bytes(const Sequence& sequence, double of_rows, double of_others);

/// The cost of every form of `variant` over this sequence, in chunks of `chunk_size`, one row per form. The
/// state is written back and read again at every block (token, chunk), as where it does not fit into
/// registers.
std::vector<CostRow> costs(const Variant& variant, const Sequence& sequence, Index chunk_size,
                           double bytes_per_number = 4);

}  // namespace palimpsest
