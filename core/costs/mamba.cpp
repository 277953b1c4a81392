#include "core/costs/costs.h"

namespace palimpsest {

namespace {

/// How often a scan goes over its rows, and how often it composes two of them.
template <class Number>
struct Scan {
  Number passes;
  Number composed;
};

/// `scan`: in the recurrent form none.
template <class Number>
Work<Number> mamba_work(const Number& L, const Number& k, const Number& v, const Scan<Number>& scan,
                        bool skip, Form form) {
  const Number cells = k * v;
  Work<Number> work = Work<Number>::product(L, k, v);  // the read
  work += {.multiplications = L * v + L * cells, .exponentials = L * cells};
  if (skip) work += {.multiplications = L * v};
  if (form == Form::recurrent) {
    work += Work<Number>::product(L, k, v);  // the write
    work += {.multiplications = L * cells, .moved = Number(2) * L * cells};
  } else {
    // What is written, the scan, and what was carried in. Both tables are written and read, and read and
    // written again in every pass.
    work += {.multiplications = Number(2) * (L + scan.composed) * cells,
             .moved = Number(4) * (Number(1) + scan.passes) * L * cells + Number(2) * cells};
  }
  return work;
}

Scan<double> scan_of(double L) {
  Scan<double> scan = {};
  for (double distance = 1; distance < L; distance *= 2) {
    scan.passes += 1;
    scan.composed += L - distance;
  }
  return scan;
}

}  // namespace

Cost mamba_cost(const Sequence& sequence, Form form, Index chunk_size) {
  const bool skip = sequence.has("D");
  const auto exact = [&](double L) {
    return mamba_work<double>(L, static_cast<double>(sequence.dk), static_cast<double>(sequence.dv),
                              scan_of(L), skip, form);
  };
  const Index size = form == Form::chunkwise ? chunk_size : form == Form::parallel ? sequence.tokens : 1;
  const std::string name = form == Form::chunkwise ? "C" : "n";
  const Polynomial L = form == Form::recurrent ? Polynomial(1) : Polynomial::symbol(name);
  const Polynomial passes = Polynomial::symbol("\\log_2 " + name);
  const Work<Polynomial> block =
      mamba_work<Polynomial>(L, Polynomial::symbol("d_k"), Polynomial::symbol("d_v"),
                             {.passes = passes, .composed = L * passes - L + 1}, skip, form);
  return {.total = sequence.tokens == 0 ? Work<double>() : Blocks(sequence.tokens, size).total(size, exact),
          .per_token = block * (Polynomial(1) / L)};
}

}  // namespace palimpsest
