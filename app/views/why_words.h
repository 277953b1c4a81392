#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The LaTeX of a symbol in its colour.
std::string coloured(const Symbol& symbol);

/// One of the numbers that add up to a cell.
struct CellPart {
  std::string words;       // "erased", a word; empty: the formula says it
  std::string latex = {};  // of what is added
  Role role = Role::plain;
  Index token = -1;  // the token that it is due to; -1: of none alone
  double value = 0;
};

/// What the step at the cursor adds up in `cell` of `record`: the parts of its formula, or one number for
/// every word where a sum runs over the words of a block. Empty where there is nothing to add.
std::vector<CellPart> cell_parts(const Phase& phase, const Block& block, const Symbols& symbols,
                                 const Record& record, const CellFocus& cell);

/// The parts of a sum that are told one by one, and the rest.
struct NamedParts {
  std::vector<CellPart> named;  // in their order
  double rest = 0;              // the sum of the others, and
  Index others = 0;             // how many they are
};

/// The `most` parts of largest magnitude, before all others those that are no finite numbers.
NamedParts named_parts(const std::vector<CellPart>& parts, std::size_t most);

/// A number that earlier words wrote and that `cell` is, or is made from.
struct WrittenCell {
  WrittenNumber number;
  std::string latex;                 // how it is called: "\\hat v_t[2]"
  std::string words;                 // "prediction v̂"
  std::optional<double> shown = {};  // its value, where the record has it
};

/// Nothing where a cell has no such number. `is_turned`: the picture shows the state value × key.
std::optional<WrittenCell> written_cell(const Trace& trace, const Block& block, const Phase& phase,
                                        const Record& record, const CellFocus& cell, bool is_turned = false);

/// What a step of one word comes to, in one number: "half-life 954 tokens", "β = 0.856, norm 0.75",
/// "‖e‖ = 0.13" from the word's `recall`, if it is known. Empty where nothing is recorded.
std::string line_number(const Operation& operation, const Record& record, const Symbols& symbols,
                        const Recall* recall);

/// The place in `writers` of the one with the largest share; -1 where there is none.
int largest_share(const std::vector<WriterShare>& writers);

/// The products that add up to a cell which is an inner product, with what the sum is multiplied by: one for
/// every channel, or for every word where the sum runs over words. Empty where the cell is none.
std::vector<CellPart> inner_terms(const Trace& trace, const Block& block, const Record& record,
                                  const CellFocus& cell);

}  // namespace palimpsest
