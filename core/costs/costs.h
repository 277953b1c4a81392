#pragma once

#include "core/contract/sequence.h"
#include "core/engines/inner_network.h"
#include "core/operator/work.h"

namespace palimpsest {

/// What one head takes in one form, of rules that are no row programs (those: core/costs/row.h). Exact in
/// `products`.

/// core/engines/softmax: dense tiles, every query tile against all key tiles that it reaches; where keys fade
/// with a gate for every key.
Work softmax_cost(const Sequence& sequence, Form form, Index chunk_size, bool fades);

/// core/engines/mamba: Hillis and Steele's scan makes all states of a chunk, two numbers per cell and token.
Work mamba_cost(const Sequence& sequence, Form form, Index chunk_size);

/// core/engines/mesanet. How many steps J the conjugate gradients of the chunkwise form take depends on the
/// numbers; counted with J = d_k, after which they are exact but for rounding.
Work mesanet_cost(const Sequence& sequence, Form form, Index chunk_size);

/// The work of mesanet's chunk of these many tokens with so many steps.
Work mesanet_chunk_work(double tokens, double dk, double dv, double steps);

/// core/variants/rls: a gain per key, then the row program that writes along them.
Work least_squares_cost(const Sequence& sequence, Form form, Index chunk_size);

/// core/engines/inner_network, with `widths` d_k, hidden, d_v. What the layer norm and the slope of the gelu
/// multiply is left out: a few numbers per token and unit. A tanh counts as an exponential.
Work network_cost(const Sequence& sequence, const NetworkPlan& plan, Form form, Index chunk_size);

/// core/engines/lact: gathering, reading, and one update per inner batch.
Work lact_cost(const Sequence& sequence, Form form, Index chunk_size);

}  // namespace palimpsest
