#include "core/costs/costs.h"
#include "core/costs/row.h"

namespace palimpsest {

namespace {

/// The gains of L keys and P after them: by Sherman and Morrison, or (parallel) one solve for each key with
/// the inverse of P, which is carried along.
template <class Number>
Work<Number> gains_work(const Number& L, const Number& k, Form form) {
  Work<Number> token = Work<Number>::product(k, Number(1), k);  // k k^T, or what is not known along k
  if (form != Form::parallel) {
    token += Work<Number>::product(k, Number(1), k);
    token += Work<Number>::product(k, Number(1), Number(1));
    token += {.multiplications = Number(2) * k * k + k + Number(2), .moved = Number(2) * k * k};
    return token * L;
  }
  token += solve_work<Number>(k, 1);
  token += {.multiplications = Number(2) * k * k + k, .moved = Number(2) * k * k};
  Work<Number> inverse = solve_work<Number>(k, k);
  inverse += {.multiplications = k * k};
  return token * L + inverse * Number(2);
}

}  // namespace

Cost least_squares_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const RowSizes sizes = {.reads = sequence.tokens,
                          .columns_k = static_cast<double>(sequence.dk),
                          .columns_v = static_cast<double>(sequence.dv),
                          .k = Polynomial::symbol("d_k"),
                          .v = Polynomial::symbol("d_v")};
  Cost cost = row_cost({.erase = Erase::decayed, .erase_key = true}, sizes, form, chunk_size);
  const Polynomial n = form == Form::parallel ? Polynomial::symbol("n") : Polynomial(1);
  cost.per_token += gains_work(n, sizes.k, form) * (Polynomial(1) / n);
  if (sequence.tokens > 0)
    cost.total += gains_work(static_cast<double>(sequence.tokens), sizes.columns_k, form);
  return cost;
}

}  // namespace palimpsest
