#include <algorithm>

#include "core/contract/sequence.h"
#include "core/costs/costs.h"
#include "core/operator/inner_batches.h"

namespace palimpsest {

namespace {

template <class Number>
struct Sizes {
  Number k = 0;
  Number v = 0;
  Number narrow = 0;  // the smaller of both
  Number wide = 0;
};

/// L tokens read and gathered.
template <class Number>
Work<Number> piece_work(const Number& L, const Sizes<Number>& size, bool l2) {
  Work<Number> work = Work<Number>::product(Number(2) * L, size.k, size.v);
  if (l2) work += Work<Number>::product(L, size.k, size.v);
  work += {.multiplications = L * size.k, .moved = Number(3) * size.k * size.v};
  return work;
}

/// The end of an inner batch. Newton and Schulz: five times B = X X^T, B B and (b B + c B^2) X.
template <class Number>
Work<Number> update_work(const Sizes<Number>& size, bool muon, bool weight_norm) {
  const Number cells = size.k * size.v;
  const Number gram = size.narrow * size.narrow;
  Work<Number> work = {.multiplications = cells, .moved = Number(5) * cells};
  if (muon) {
    work += Work<Number>::product(gram, Number(10), size.wide);
    work += Work<Number>::product(gram, Number(5), size.narrow);
    work += {.multiplications = Number(7) * cells + Number(10) * gram};  // the norm is two of the seven
  }
  if (weight_norm) work += {.multiplications = Number(2) * cells + size.v};
  return work;
}

}  // namespace

Cost lact_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const auto is = [&](const char* option, const char* value) { return sequence.option(option) == value; };
  const bool muon = is("optimizer", "muon");
  const bool l2 = is("loss", "l2");
  const bool weight_norm = is("weight_norm", "true");
  const bool is_tall = sequence.dk > sequence.dv;
  const Polynomial k = Polynomial::symbol("d_k");
  const Polynomial v = Polynomial::symbol("d_v");
  const auto dk = static_cast<double>(sequence.dk);
  const auto dv = static_cast<double>(sequence.dv);
  const Sizes<double> sizes = {dk, dv, std::min(dk, dv), std::max(dk, dv)};
  const Sizes<Polynomial> symbols = {k, v, is_tall ? v : k, is_tall ? k : v};

  const auto batch = inner_batch(sequence.settings);
  const Index size = form == Form::recurrent ? 1 : form == Form::parallel ? batch : chunk_size;
  const InnerBatches batches(sequence.tokens, batch, size);
  Cost cost;
  for (Index i = 0; i < batches.piece_count(); ++i)
    cost.total += piece_work(static_cast<double>(batches.piece(i).count), sizes, l2);
  cost.total += update_work(sizes, muon, weight_norm) * static_cast<double>(batches.batch_count());

  const Polynomial b = Polynomial::symbol("b");
  const Polynomial L = form == Form::recurrent ? Polynomial(1) : size < batch ? Polynomial::symbol("C") : b;
  cost.per_token = piece_work(L, symbols, l2) * (Polynomial(1) / L) +
                   update_work(symbols, muon, weight_norm) * (Polynomial(1) / b);
  return cost;
}

}  // namespace palimpsest
