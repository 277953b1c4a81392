#pragma once

#include "core/engines/inner_network.h"
#include "core/operator/program.h"
#include "core/operator/work.h"

namespace palimpsest {

// The cost of one head in one form, exact in `products`.

/// The sizes of a row program's matrices.
struct RowSizes {
  Index reads = 0;  // tokens
  double columns_k = 0;
  double columns_v = 0;
};

/// The cost of a row program in one form, from its structure alone (spec sections 2 and 4). `read_after` is
/// the program's. Exact for the three engines, whose work does not depend on the numbers.
Work row_cost(const Structure& structure, const RowSizes& sizes, Form form, Index chunk_size,
              const std::vector<Index>& read_after = {});

/// The work of all blocks of a form; `of` gives that of one block by its number of tokens.
template <class Function>
Work all_blocks(Form form, Index tokens, Index chunk_size, Function of) {
  Work sum;
  if (tokens == 0) return sum;
  const Index size = has_chunks(form) ? chunk_size : form == Form::parallel ? tokens : 1;
  if (tokens >= size) sum += of(static_cast<double>(size)) * static_cast<double>(tokens / size);
  if (tokens % size > 0) sum += of(static_cast<double>(tokens % size));
  return sum;
}

/// core/engines/softmax: dense tiles, every query tile against all key tiles that it reaches; `fades`: with a
/// decay gate for every key.
Work softmax_cost(const Sequence& sequence, Form form, Index chunk_size, bool fades);

/// core/engines/mamba: Hillis and Steele's scan makes all states of a chunk, two numbers per cell and token.
Work mamba_cost(const Sequence& sequence, Form form, Index chunk_size);

/// core/engines/mesanet. How many steps J the conjugate gradients of the chunkwise form take depends on the
/// numbers; counted with J = d_k, after which they are exact but for rounding.
Work mesanet_cost(const Sequence& sequence, Form form, Index chunk_size);

/// The work of a MesaNet chunk of L tokens with `steps` steps of conjugate gradients.
Work mesanet_chunk_work(double L, double k, double v, double steps);

/// core/variants/rls: a gain per key, then the row program that writes along them.
Work least_squares_cost(const Sequence& sequence, Form form, Index chunk_size);

/// core/engines/inner_network, with `widths` d_k, hidden, d_v. Multiplications of the layer norm and of the
/// GELU's derivative are left out: a few numbers per token and unit. A tanh counts as an exponential.
Work network_cost(const Sequence& sequence, const NetworkPlan& plan, Form form, Index chunk_size);

/// core/engines/lact: gathering, reading, and one update per inner batch.
Work lact_cost(const Sequence& sequence, Form form, Index chunk_size);

}  // namespace palimpsest
