#pragma once

#include <variant>

#include "core/operator/program.h"
#include "core/written/rule_text.h"

namespace palimpsest {

/// From what the arrays of one row come: expressions over inputs, settings and results that read no memory. A
/// vector is a column.
struct RowArrays {
  std::optional<Expression> gate = {};  // a number, or one per key channel; none: 1
  std::optional<Expression> mu = {};    // none: 1
  std::optional<Expression> beta = {};  // none: 1
  Expression k = tensor("k");
  std::optional<Expression> v = {};  // none: the row writes back only what it has read
  std::optional<Expression> a = {};  // none: k where the row erases
  bool erases = false;
  std::optional<Expression> k_plain = {};
  std::optional<Expression> v_plain = {};
  std::optional<Expression> beside = {};  // the value of a memory of keys, one more column of S
};

/// How memories side by side mix (spec 1.1, eq. U'): numbers of a token.
struct Mixing {
  std::vector<std::string> names = {};       // of the memories, S first; one letter each
  std::vector<Expression> transition = {};   // T, row by row
  std::vector<Expression> inject = {};       // c
  std::vector<Expression> erase_sight = {};  // h of the erase
  std::vector<Expression> read_sight = {};   // h of the read
};

/// A text as a row program (spec 1.1): its structure, with as many rows for a token as it has steps.
struct RowForm {
  Structure structure = {};
  Expression q = tensor("q");
  std::vector<RowArrays> rows = {};
  std::vector<Equation> definitions = {};  // results that those read, in the order of the text
  std::string beside = {};                 // a memory of keys that is one more column of S; empty: none
  Mixing mixing = {};                      // no names: S is the only memory of key x value
  std::string letters = {};                // the names of Mixing, as Structure::parts reads them
  // The output, of what the memories return: read_of("S"), [dv, 1], and read_of(beside), a number. None: it
  // is what S returns, and there is no memory beside it.
  std::optional<Expression> output = {};
  bool is_quotient = false;  // the output is that of S divided by that of the memory beside it, plus eps
};

/// Calls `visit` with every expression of a form but its definitions.
template <class Visit>
void each_expression(RowForm& form, Visit visit) {
  visit(form.q);
  for (RowArrays& row : form.rows) {
    visit(row.k);
    for (auto* x : {&row.gate, &row.mu, &row.beta, &row.v, &row.a, &row.k_plain, &row.v_plain, &row.beside})
      if (*x) visit(**x);
  }
  if (form.output) visit(*form.output);
  Mixing& mixing = form.mixing;
  for (auto* numbers : {&mixing.transition, &mixing.inject, &mixing.erase_sight, &mixing.read_sight})
    std::ranges::for_each(*numbers, visit);
}

/// How an output calls what the memory returned for the query.
std::string read_of(const std::string& memory);

/// Why a text is no row program: in words, and the line that is to blame.
struct NoRowForm {
  std::string reason;
  Index line = 0;
};

/// Brings the memory's update into the form S -> Diag(d) S Diag(m) - b (a^T S) Diag(m) + w x^T, or several of
/// these one after the other, by algebra on the lines: sums are multiplied out, products of matrices are
/// taken apart at their vectors.
std::variant<RowForm, NoRowForm> row_form(const RuleText& rule);

/// x of a gate that is exp(x), or a result defined so; null for another gate.
const Expression* log_of(const Expression& gate, const std::vector<Equation>& definitions);

/// The same expression over rows of many tokens: columns [D, 1] become rows [L, D], numbers of a token [L,
/// 1]. `rows_of` names the rows of a tensor. Settings and numbers stay [1, 1].
Expression over_rows(const Expression& of_token, const std::function<Expression(const std::string&)>& rows_of,
                     const Record& specimens);

}  // namespace palimpsest
