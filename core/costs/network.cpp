#include <algorithm>

#include "core/contract/sequence.h"
#include "core/costs/costs.h"
#include "core/operator/inner_batches.h"

namespace palimpsest {

namespace {

/// One piece of L tokens; `widths` are d_k, the hidden units and d_v.
template <class Number>
Work<Number> piece_work(const Number& L, const std::vector<Number>& widths, bool biases, Form form) {
  const Number pairs = L * (L + Number(1)) / Number(2);
  Work<Number> work;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const Number& in = widths[layer];
    const Number& out = widths[layer + 1];
    const Number cells = in * out;
    work += Work<Number>::product(L, in, out);                 // the answer for k
    if (layer > 0) work += Work<Number>::product(L, in, out);  // its error, one layer down
    work += Work<Number>::product(in, L, out);                 // the gradient
    work += {.multiplications = L * out, .moved = Number(4) * cells};
    if (layer > 0) work += {.multiplications = L * in, .exponentials = Number(3) * L * in};
    if (form == Form::recurrent) {
      work += Work<Number>::product(L, in, out);  // the answer for q, by the token's own weights
      work += {.multiplications = L * cells + (biases ? L * out : Number(0))};
    } else {
      // By the weights at the start, by what the batch learned before this piece, and by the piece itself.
      work += Work<Number>::product(Number(2) * L, in, out);
      work += {.products = L * L * (in + out), .seen = pairs * (in + out)};
      work += {.multiplications = L * L + L * out};
    }
  }
  return work;
}

/// The weights that the next batch starts from.
template <class Number>
Work<Number> batch_work(const std::vector<Number>& widths, bool biases) {
  Work<Number> work;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    work += {.multiplications = widths[layer] * widths[layer + 1] + (biases ? widths[layer + 1] : Number(0))};
  }
  return work;
}

}  // namespace

Cost network_cost(const Sequence& sequence, const NetworkPlan& plan, Form form, Index chunk_size) {
  std::vector<double> widths = {static_cast<double>(sequence.dk)};
  std::vector<Polynomial> symbols = {Polynomial::symbol("d_k")};
  for (std::size_t layer = 0; layer + 1 < plan.layers(); ++layer) {
    widths.push_back(static_cast<double>(sequence.at(plan.weights[layer]).columns()));
    symbols.push_back(Polynomial::symbol("h"));
  }
  widths.push_back(static_cast<double>(sequence.dv));
  symbols.push_back(Polynomial::symbol("d_v"));

  const auto batch = inner_batch(sequence.settings);
  const InnerBatches batches(sequence.tokens, batch, form == Form::recurrent ? 1 : chunk_size);
  Cost cost;
  for (Index i = 0; i < batches.piece_count(); ++i) {
    const auto tokens = static_cast<double>(batches.piece(i).count);
    cost.total += piece_work(tokens, widths, plan.has_biases(), form);
  }
  cost.total += batch_work(widths, plan.has_biases()) * static_cast<double>(batches.batch_count());

  const Polynomial b = Polynomial::symbol("b");
  const Polynomial L = form == Form::recurrent ? Polynomial(1)
                       : chunk_size < batch    ? Polynomial::symbol("C")
                                               : b;
  cost.per_token = piece_work(L, symbols, plan.has_biases(), form) * (Polynomial(1) / L) +
                   batch_work(symbols, plan.has_biases()) * (Polynomial(1) / b);
  return cost;
}

}  // namespace palimpsest
