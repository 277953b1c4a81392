#include "app/views/symbol_tip.h"

#include "app/words/glossary.h"

namespace palimpsest {

namespace {

/// The first of `rows` that is this symbol, else the first with its letter.
template <class Rows, class Latex>
auto find(const Rows& rows, const PointedSymbol& symbol, Latex latex) {
  auto same_letter = std::end(rows);
  for (auto row = std::begin(rows); row != std::end(rows); ++row) {
    const PointedSymbol first = first_symbol(std::string(latex(*row)));
    if (first.symbol.empty()) continue;
    if (first.symbol == symbol.symbol) return row;
    if (same_letter == std::end(rows) && first.letter == symbol.letter) same_letter = row;
  }
  return same_letter;
}

constexpr double rest = 0.35;  // seconds until the pointer counts as resting

struct Resting {
  std::optional<PointedSymbol> symbol;
  double since = 0;
  SymbolMeaning meaning;
};

}  // namespace

SymbolMeaning meaning(const PointedSymbol& symbol, const Symbols& symbols) {
  SymbolMeaning known;
  const auto entries = glossary();
  const auto shared = find(entries, symbol, std::mem_fn(&GlossaryEntry::latex));
  if (shared != entries.end())
    known = {std::string(shared->latex), in_full(*shared), std::string(shared->papers)};
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
  const SymbolMeaning& known = resting.meaning;
  if (scene::now() - resting.since >= rest && !known.latex.empty())
    scene::explain(known.latex, known.words, known.papers);
}

}  // namespace palimpsest
