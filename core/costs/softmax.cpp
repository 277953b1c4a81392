#include <algorithm>

#include "core/costs/costs.h"

namespace palimpsest {

namespace {

/// What softmax attention meets.
template <class Number>
struct Attention {
  Number queries = 0;
  Number k = 0;
  Number v = 0;
  Number seen = 0;    // pairs of a query and a key that it may see
  Number cells = 0;   // pairs that are computed
  Number tiles = 0;   // key tiles of a query, summed over the queries
  Number loaded = 0;  // keys read from the cache
};

template <class Number>
Work<Number> attention_work(const Attention<Number>& x, Form form, bool fades) {
  Work<Number> work = {.products = x.cells * (x.k + x.v), .seen = x.seen * (x.k + x.v)};
  if (form == Form::parallel) {
    work.multiplications = x.cells;  // divided by the sum of the row
    work.exponentials = x.seen;
    work.moved = Number(2) * x.cells;
  } else {
    // A new maximum fades what was collected under the old one; the first has nothing to fade.
    work.multiplications = x.tiles * (x.v + Number(1)) + x.queries * x.v;
    work.exponentials = x.seen + x.tiles - x.queries;
    work.moved = x.loaded * (x.k + x.v);
    if (fades) work.moved = work.moved + x.loaded;
  }
  return work;
}

Attention<double> exact(const Sequence& sequence, Form form, Index chunk_size) {
  const Index n = sequence.tokens;
  const Index earlier = sequence.has("initial_k_cache") ? sequence.at("initial_k_cache").rows() : 0;
  Attention<double> x = {.queries = static_cast<double>(n),
                         .k = static_cast<double>(sequence.dk),
                         .v = static_cast<double>(sequence.dv)};
  x.seen = x.queries * (x.queries + 1) / 2 + x.queries * static_cast<double>(earlier);
  x.cells = x.loaded = x.tiles = x.seen;
  if (form == Form::parallel) x.cells = x.queries * (x.queries + static_cast<double>(earlier));
  if (form != Form::chunkwise) return x;
  x.cells = x.loaded = x.tiles = 0;
  for (Index first = 0; first < n; first += chunk_size) {
    const Index count = std::min(chunk_size, n - first);
    const Index keys = earlier + first + count;
    x.cells += static_cast<double>(count) * static_cast<double>(keys);
    x.loaded += static_cast<double>(keys);
    x.tiles += static_cast<double>(count) * static_cast<double>((keys + chunk_size - 1) / chunk_size);
  }
  return x;
}

Attention<Polynomial> symbolic(Form form) {
  const Polynomial n = Polynomial::symbol("n");
  const Polynomial C = Polynomial::symbol("C");
  Attention<Polynomial> x = {.queries = n, .k = Polynomial::symbol("d_k"), .v = Polynomial::symbol("d_v")};
  x.seen = n * (n + 1) / 2;
  x.cells = x.loaded = x.tiles = x.seen;
  if (form == Form::parallel) x.cells = n * n;
  if (form == Form::chunkwise) {
    x.cells = n * (n + C) / 2;
    x.loaded = x.tiles = x.cells / C;
  }
  return x;
}

}  // namespace

Cost softmax_cost(const Sequence& sequence, Form form, Index chunk_size, bool fades) {
  return {
      .total = attention_work(exact(sequence, form, chunk_size), form, fades),
      .per_token = attention_work(symbolic(form), form, fades) * (Polynomial(1) / Polynomial::symbol("n"))};
}

}  // namespace palimpsest
