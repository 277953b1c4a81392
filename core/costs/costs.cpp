#include "core/costs/costs.h"

#include "core/operator/blocks.h"

namespace palimpsest {

namespace {

struct Attention {
  double queries = 0;
  double k = 0;
  double v = 0;
  double seen = 0;    // pairs of a query and a key that it may see
  double cells = 0;   // pairs that are computed
  double tiles = 0;   // key tiles of a query, summed over the queries
  double loaded = 0;  // keys read from the cache
};

Attention exact(const Sequence& sequence, Form form, Index chunk_size) {
  const Index n = sequence.tokens;
  const Index earlier = sequence.has("initial_k_cache") ? sequence.at("initial_k_cache").rows() : 0;
  Attention x = {.queries = static_cast<double>(n),
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

/// A solve by Cholesky without square roots of a [k, k] matrix: the factors, then two triangular systems for
/// every right-hand side.
Work solve_work(double k, double columns) {
  const double triangle = k * (k - 1) / 2;
  const double products = k * (k * k - 1) / 6 + 2 * triangle * columns;
  return {.products = products, .seen = products, .multiplications = 2 * triangle + k * columns};
}

Work mamba_work(double L, double k, double v, bool skip, Form form) {
  const double cells = k * v;
  Work work = Work::product(L, k, v);  // the read
  work += {.multiplications = L * v + L * cells, .exponentials = L * cells};
  if (skip) work += {.multiplications = L * v};
  if (form == Form::recurrent) {
    work += Work::product(L, k, v);  // the write
    work += {.multiplications = L * cells, .moved = 2 * L * cells};
  } else {
    double passes = 0;    // of the scan over its rows
    double composed = 0;  // pairs of rows
    for (double distance = 1; distance < L; distance *= 2) {
      passes += 1;
      composed += L - distance;
    }
    // The writes, the scan, and the carried-in state. Both tables are written and read once, and read and
    // written again in every pass.
    work +=
        {.multiplications = 2 * (L + composed) * cells, .moved = 4 * (1 + passes) * L * cells + 2 * cells};
  }
  return work;
}

/// The reads once every query is solved, and the carry to the next block.
Work read_work(double L, double k, double v) {
  const double pairs = L * (L + 1) / 2;
  Work work = {.products = L * L * (k + v), .seen = pairs * (k + v)};
  work += Work::product(L, k, v);
  work += Work::product(k, L, k + v);
  // The decays between the tokens and their weights, then the decays of vectors and of the carried state.
  work += {.multiplications = L * (L - 1) / 2 + L - 1 + 2 * L * L + 2 * L * k + k * (k + v),
           .moved = 2 * k * (k + v)};
  return work;
}

Work recurrent_work(double k, double v) {
  Work work = Work::product(k, 1, k + v);
  work += solve_work(k, 1);
  work += Work::product(1, k, v);
  work += {.multiplications = k + k * (k + v), .moved = 2 * k * (k + v)};
  return work;
}

Work parallel_work(double L, double k, double v) {
  Work token = Work::product(k, 1, k) + solve_work(k, 1);
  token += {.multiplications = k + k * k};
  Work work = token * L + read_work(L, k, v);
  work.moved = work.moved + 2 * 2 * L * L + 2 * L * k * k;
  return work;
}

/// The gains of L keys and P after them: by Sherman and Morrison, or (parallel) one solve for each key with
/// the inverse of P, which is carried along.
Work gains_work(double L, double k, Form form) {
  Work token = Work::product(k, 1, k);  // k k^T, or P k
  if (form != Form::parallel) {
    token += Work::product(k, 1, k);
    token += Work::product(k, 1, 1);
    token += {.multiplications = 2 * k * k + k + 2, .moved = 2 * k * k};
    return token * L;
  }
  token += solve_work(k, 1);
  token += {.multiplications = 2 * k * k + k, .moved = 2 * k * k};
  Work inverse = solve_work(k, k);
  inverse += {.multiplications = k * k};
  return token * L + inverse * 2;
}

/// One piece of L tokens; `widths` are d_k, the hidden units and d_v.
Work piece_work(double L, const std::vector<double>& widths, bool biases, Form form) {
  const double pairs = L * (L + 1) / 2;
  Work work;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    double in = widths[layer];
    double out = widths[layer + 1];
    const double cells = in * out;
    work += Work::product(L, in, out);                 // the prediction for k
    if (layer > 0) work += Work::product(L, in, out);  // its error, one layer down
    work += Work::product(in, L, out);                 // the gradient
    work += {.multiplications = L * out, .moved = 4 * cells};
    if (layer > 0) work += {.multiplications = L * in, .exponentials = 3 * L * in};
    if (form == Form::recurrent) {
      work += Work::product(L, in, out);  // the output for q, by the token's own weights
      work += {.multiplications = L * cells + (biases ? L * out : 0)};
    } else {
      // The weights at the start, the gradients of the batch before this piece, and the piece itself.
      work += Work::product(2 * L, in, out);
      work += {.products = L * L * (in + out), .seen = pairs * (in + out)};
      work += {.multiplications = L * L + L * out};
    }
  }
  return work;
}

/// The weights that the next batch starts from.
Work batch_work(const std::vector<double>& widths, bool biases) {
  Work work;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    work += {.multiplications = widths[layer] * widths[layer + 1] + (biases ? widths[layer + 1] : 0)};
  }
  return work;
}

/// L tokens read and gathered.
Work gathering_work(double L, const RowSizes& size, bool l2) {
  Work work = Work::product(2 * L, size.columns_k, size.columns_v);
  if (l2) work += Work::product(L, size.columns_k, size.columns_v);
  work += {.multiplications = L * size.columns_k, .moved = 3 * size.columns_k * size.columns_v};
  return work;
}

/// The end of an inner batch. Newton and Schulz: five times B = X X^T, B B and (b B + c B^2) X.
Work update_work(const RowSizes& size, bool muon, bool weight_norm) {
  const auto [narrow, wide] = std::minmax({size.columns_k, size.columns_v});
  const double cells = size.columns_k * size.columns_v;
  const double gram = narrow * narrow;
  Work work = {.multiplications = cells, .moved = 5 * cells};
  if (muon) {
    work += Work::product(gram, 10, wide);
    work += Work::product(gram, 5, narrow);
    work += {.multiplications = 7 * cells + 10 * gram};  // the norm is two of the seven
  }
  if (weight_norm) work += {.multiplications = 2 * cells + size.columns_v};
  return work;
}

RowSizes sizes_of(const Sequence& sequence) {
  return {.reads = sequence.tokens,
          .columns_k = static_cast<double>(sequence.dk),
          .columns_v = static_cast<double>(sequence.dv)};
}

/// The work of all pieces of inner batches, `piece` by its number of tokens, and of the end of every batch.
template <class Function>
Work all_batches(const Sequence& sequence, Form form, Index chunk_size, Function piece, const Work& end) {
  const Index batch = inner_batch(sequence.settings);
  const Index size = form == Form::recurrent ? 1 : form == Form::parallel ? batch : chunk_size;
  const InnerBatches batches(sequence.tokens, batch, size);
  Work cost;
  for (Index i = 0; i < batches.piece_count(); ++i)
    cost += piece(static_cast<double>(batches.piece(i).count));
  return cost + end * static_cast<double>(batches.batch_count());
}

}  // namespace

Work softmax_cost(const Sequence& sequence, Form form, Index chunk_size, bool fades) {
  const Attention x = exact(sequence, form, chunk_size);
  Work work = {.products = x.cells * (x.k + x.v), .seen = x.seen * (x.k + x.v)};
  if (form == Form::parallel) {
    work.multiplications = x.cells;  // divided by the sum of the row
    work.exponentials = x.seen;
    work.moved = 2 * x.cells;
  } else {
    // A new maximum rescales what was summed under the old one; the first has nothing to rescale.
    work.multiplications = x.tiles * (x.v + 1) + x.queries * x.v;
    work.exponentials = x.seen + x.tiles - x.queries;
    work.moved = x.loaded * (x.k + x.v);
    if (fades) work.moved = work.moved + x.loaded;
  }
  return work;
}

Work mamba_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const RowSizes sizes = sizes_of(sequence);
  return all_blocks(form, sizes.reads, chunk_size, [&](double L) {
    return mamba_work(L, sizes.columns_k, sizes.columns_v, sequence.has("D"), form);
  });
}

Work mesanet_chunk_work(double L, double k, double v, double steps) {
  const double pairs = L * (L + 1) / 2;
  // The diagonals that precondition, then every step: all matrices of the chunk times one vector each, and
  // two inner products and three sums of vectors.
  Work work = {.products = L * k + L * L * k, .seen = L * k + pairs * k};
  const double step = 2 * L * k * k + 2 * L * k;
  work += {.products = steps * (step + 2 * L * L * k),
           .seen = steps * (step + 2 * pairs * k),
           .multiplications = 6 * L * k + L + steps * (5 * L * k + L * L)};
  return work + read_work(L, k, v);
}

Work mesanet_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const RowSizes sizes = sizes_of(sequence);
  const double k = sizes.columns_k;
  const double v = sizes.columns_v;
  return all_blocks(form, sizes.reads, chunk_size, [&](double L) {
    if (form == Form::recurrent) return recurrent_work(k, v);
    return form == Form::chunkwise ? mesanet_chunk_work(L, k, v, k) : parallel_work(L, k, v);
  });
}

Work least_squares_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const RowSizes sizes = sizes_of(sequence);
  Work cost = row_cost({.erase = Erase::decayed, .erase_key = true}, sizes, form, chunk_size);
  if (sequence.tokens > 0) cost += gains_work(static_cast<double>(sequence.tokens), sizes.columns_k, form);
  return cost;
}

Work network_cost(const Sequence& sequence, const NetworkPlan& plan, Form form, Index chunk_size) {
  std::vector<double> widths = {static_cast<double>(sequence.dk)};
  for (std::size_t layer = 0; layer + 1 < plan.layers(); ++layer)
    widths.push_back(static_cast<double>(sequence.at(plan.weights[layer]).columns()));
  widths.push_back(static_cast<double>(sequence.dv));
  const auto piece = [&](double L) { return piece_work(L, widths, plan.has_biases(), form); };
  return all_batches(sequence, form, chunk_size, piece, batch_work(widths, plan.has_biases()));
}

Work lact_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const auto is = [&](const char* option, const char* value) { return sequence.option(option) == value; };
  const bool l2 = is("loss", "l2");
  const RowSizes sizes = sizes_of(sequence);
  return all_batches(
      sequence, form, chunk_size, [&](double L) { return gathering_work(L, sizes, l2); },
      update_work(sizes, is("optimizer", "muon"), is("weight_norm", "true")));
}

}  // namespace palimpsest
