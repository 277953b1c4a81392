#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The LaTeX of a symbol in its colour.
std::string coloured(const Symbol& symbol);

/// One of the numbers that add up to a cell.
struct CellPart {
  std::string words;       // "erased", a token; empty: the formula names it
  std::string latex = {};  // of the term
  Role role = Role::plain;
  Index token = -1;  // the token that it comes from; -1: not from a single one
  double value = 0;
};

/// The terms that the step at the cursor adds in `cell` of `record`: those of its formula, or one for every
/// token if a sum runs over the tokens of a block. Empty if the cell is no sum.
std::vector<CellPart> cell_parts(const Phase& phase, const Block& block, const Symbols& symbols,
                                 const Record& record, const CellFocus& cell);

/// The terms of a sum that are listed, and the rest.
struct NamedParts {
  std::vector<CellPart> named;  // in their order
  double rest = 0;              // the sum of the others
  Index others = 0;             // their number
};

/// The `most` parts of largest magnitude; numbers that are not finite come before all others.
NamedParts named_parts(const std::vector<CellPart>& parts, std::size_t most);

/// A number that earlier tokens wrote: that of a cell, or one from which the cell is computed.
struct WrittenCell {
  WrittenNumber number;
  std::string latex;                 // its symbol: "\\hat v_t[2]"
  std::string words;                 // "prediction v̂"
  std::optional<double> shown = {};  // its value, where the record has it
};

/// Nothing if a cell has no such number. `is_turned`: the picture shows the state value × key.
std::optional<WrittenCell> written_cell(const Trace& trace, const Block& block, const Phase& phase,
                                        const Record& record, const CellFocus& cell, bool is_turned = false);

/// The result of a step of one token as one number: "half-life 954 tokens", "β = 0.856, norm 0.75",
/// "‖e‖ = 0.13" from the token's `recall`, if it is known. Empty if nothing is recorded.
std::string line_number(const Operation& operation, const Record& record, const Symbols& symbols,
                        const Recall* recall);

/// The place in `writers` of the one with the largest share; -1 where there is none.
int largest_share(const std::vector<WriterShare>& writers);

/// The products that add up to a cell that is an inner product, including factors of the sum: one for every
/// channel, or for every token if the sum runs over tokens. Empty if the cell is no inner product.
std::vector<CellPart> inner_terms(const Trace& trace, const Block& block, const Record& record,
                                  const CellFocus& cell);

}  // namespace palimpsest
