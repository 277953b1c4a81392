#include "core/costs/costs.h"

namespace palimpsest {

namespace {

/// What is read once every query is solved, and what is carried on.
template <class Number>
Work<Number> read_work(const Number& L, const Number& k, const Number& v) {
  const Number pairs = L * (L + Number(1)) / Number(2);
  Work<Number> work = {.products = L * L * (k + v), .seen = pairs * (k + v)};
  work += Work<Number>::product(L, k, v);
  work += Work<Number>::product(k, L, k + v);
  // The decays between the tokens and weights of them, then those of vectors and of what is carried.
  work += {.multiplications = L * (L - Number(1)) / Number(2) + L - Number(1) + Number(2) * L * L +
                              Number(2) * L * k + k * (k + v),
           .moved = Number(2) * k * (k + v)};
  return work;
}

template <class Number>
Work<Number> recurrent_work(const Number& k, const Number& v) {
  Work<Number> work = Work<Number>::product(k, Number(1), k + v);
  work += solve_work<Number>(k, 1);
  work += Work<Number>::product(Number(1), k, v);
  work += {.multiplications = k + k * (k + v), .moved = Number(2) * k * (k + v)};
  return work;
}

template <class Number>
Work<Number> chunk_work(const Number& L, const Number& k, const Number& v, const Number& steps) {
  const Number pairs = L * (L + Number(1)) / Number(2);
  // The diagonals that precondition, then every step: all matrices of the chunk times one vector each, and
  // two inner products and three sums of vectors.
  Work<Number> work = {.products = L * k + L * L * k, .seen = L * k + pairs * k};
  const Number step = Number(2) * L * k * k + Number(2) * L * k;
  work += {.products = steps * (step + Number(2) * L * L * k),
           .seen = steps * (step + Number(2) * pairs * k),
           .multiplications = Number(6) * L * k + L + steps * (Number(5) * L * k + L * L)};
  return work + read_work(L, k, v);
}

template <class Number>
Work<Number> parallel_work(const Number& L, const Number& k, const Number& v) {
  Work<Number> token = Work<Number>::product(k, Number(1), k) + solve_work<Number>(k, 1);
  token += {.multiplications = k + k * k};
  Work<Number> work = token * L + read_work(L, k, v);
  work.moved = work.moved + Number(2) * Number(2) * L * L + Number(2) * L * k * k;
  return work;
}

template <class Number>
Work<Number> mesanet_work(const Number& L, const Number& k, const Number& v, const Number& steps, Form form) {
  if (form == Form::recurrent) return recurrent_work(k, v);
  return form == Form::chunkwise ? chunk_work(L, k, v, steps) : parallel_work(L, k, v);
}

}  // namespace

Work<double> mesanet_chunk_work(double tokens, double dk, double dv, double steps) {
  return chunk_work(tokens, dk, dv, steps);
}

Cost mesanet_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const auto dk = static_cast<double>(sequence.dk);
  const auto dv = static_cast<double>(sequence.dv);
  const auto exact = [&](double L) { return mesanet_work(L, dk, dv, dk, form); };
  const Index size = form == Form::chunkwise ? chunk_size : form == Form::parallel ? sequence.tokens : 1;
  const Polynomial L =
      form == Form::recurrent ? Polynomial(1) : Polynomial::symbol(form == Form::chunkwise ? "C" : "n");
  const Work<Polynomial> block =
      mesanet_work(L, Polynomial::symbol("d_k"), Polynomial::symbol("d_v"), Polynomial::symbol("J"), form);
  return {.total = sequence.tokens == 0 ? Work<double>() : Blocks(sequence.tokens, size).total(size, exact),
          .per_token = block * (Polynomial(1) / L)};
}

}  // namespace palimpsest
