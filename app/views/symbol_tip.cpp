#include "app/views/symbol_tip.h"

namespace palimpsest {

std::span<const SymbolMeaning> glossary() {
  static const SymbolMeaning table[] = {
      {"q_t", "query: what is asked of the memory", "Mamba: C. RWKV: r, receptance. TTT: the test view."},
      {"k_t", "key: where it is written", "Mamba: B. TTT: the training view of the input."},
      {"v_t", "value: what should be there", "Mamba-2: Δ x. TTT: the label view of the input."},
      {"o_t", "output: what comes out", "Mamba: y. TTT: z."},
      {"S_t", "memory: all that is stored, key × value",
       "Mamba, RNNs: h, the hidden state. TTT: W, fast weights. Titans: M. Some papers turn it: value × "
       "key."},
      {"\\bar S_t", "what is kept of the memory before the token writes",
       "Gated DeltaNet: αₜ Sₜ₋₁, without a name."},
      {"\\alpha_t", "decay: how much of the memory is kept",
       "RetNet: γ, one number. GLA: α, from G. Mamba-2: exp(Δ A). RWKV-7: w. Its logarithm is g."},
      {"\\beta_t", "write strength: how much of the error is corrected",
       "The learning rate of one gradient step: η in TTT, θ in Titans."},
      {"\\gamma", "decay that does not depend on the text", "RetNet: γ, fixed for each head."},
      {"\\hat v_t", "what the memory answers now for this key", "DeltaNet: v^old."},
      {"e_t", "error: what that answer lacks",
       "DeltaNet: v − v^old. Its product with k is minus the gradient."},
      {"\\Delta_t", "update: what is added to the memory", "In Mamba the same letter is the time step."},
      {"\\eta_t", "learning rate; in Titans momentum",
       "TTT, LaCT: η. Titans: ηₜ, how much past surprise counts."},
      {"\\theta_t", "learning rate", "Titans: θₜ, how much momentary surprise counts."},
      {"\\sigma", "scale of the query", "Transformers: 1/√d."},
      {"\\mu", "momentum, or decay on the side of values", ""},
      {"\\phi", "feature map of keys and queries",
       "Linear Transformer: elu + 1. Performer: random features."},
      {"\\Lambda", "ridge that keeps the solve stable", "MesaNet: Λ."},
      {"Q", "queries of the block, a row per token", "Mamba-2: C."},
      {"K", "keys of the block, a row per token", "Mamba-2: B."},
      {"V", "values of the block, a row per token", "Mamba-2: X."},
      {"O", "outputs of the block, a row per token", "Mamba-2: Y."},
      {"G", "what is kept of each write until each row",
       "RetNet: D, the decay mask. Mamba-2: L. Gated DeltaNet: Γ."},
      {"P", "who reads whom inside the block", "Linear attention: Q Kᵀ ⊙ M."},
      {"N", "what each erase finds of earlier writes of the block",
       "DeltaNet: the strictly lower part of Diag(β) K Kᵀ; (I + N)⁻¹ Diag(β) is the T of the UT transform."},
      {"U", "what the rows of the block really write", "DeltaNet: U − W S, the pseudo-values."},
      {"R", "what each row would write if it were alone in the block", "DeltaNet: Diag(β) (V − K S)."},
  };
  return table;
}

namespace {

/// The first of `rows` that is this symbol, else the first with its letter.
template <class Rows, class Latex>
auto find(const Rows& rows, const PointedSymbol& symbol, Latex latex) {
  auto same_letter = std::end(rows);
  for (auto row = std::begin(rows); row != std::end(rows); ++row) {
    const PointedSymbol first = first_symbol(latex(*row));
    if (first.symbol.empty()) continue;
    if (first.symbol == symbol.symbol) return row;
    if (same_letter == std::end(rows) && first.letter == symbol.letter) same_letter = row;
  }
  return same_letter;
}

constexpr double rest = 0.35;  // seconds until a pointer rests

/// The symbol that the pointer is on, and since when.
struct Resting {
  std::optional<PointedSymbol> symbol;
  double since = 0;
  SymbolMeaning meaning;
};

/// In the place of what the item that the symbol stands on says of itself: one tip at a time.
void say(const SymbolMeaning& known) {
  Nodes all = {scene::formula(known.latex, style::formula_label + 4), scene::text(known.words)};
  if (!known.papers.empty()) all.push_back(scene::caption(known.papers));
  scene::show_tip(scene::column(std::move(all)));
}

}  // namespace

SymbolMeaning meaning(const PointedSymbol& symbol, const Symbols& symbols) {
  SymbolMeaning known;
  const auto entries = glossary();
  const auto shared = find(entries, symbol, std::mem_fn(&SymbolMeaning::latex));
  if (shared != entries.end()) known = *shared;
  const auto own =
      find(symbols, symbol, [](const auto& row) -> const std::string& { return row.second.latex; });
  if (own == symbols.end()) return known;
  known.latex = own->second.latex;
  if (!own->second.words.empty()) known.words = own->second.words;
  return known;
}

const std::optional<PointedSymbol>& symbol_under_pointer() { return context_local<Resting>().symbol; }

void draw_symbol_tip(const Application& application) {
  auto& resting = context_local<Resting>();
  const PointedSymbol* pointed = pointed_symbol();
  if (!pointed) {
    resting.symbol.reset();
    return;
  }
  if (resting.symbol != *pointed) {
    const Sight& sight = application.session.sight();
    resting = {*pointed, scene::now(), meaning(*pointed, sight.trace ? sight.trace->symbols : Symbols())};
  }
  if (scene::now() - resting.since >= rest && !resting.meaning.latex.empty()) say(resting.meaning);
}

}  // namespace palimpsest
