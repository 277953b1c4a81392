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
};

/// A text as a row program (spec 1.1): its structure, with as many rows for a token as it has steps.
struct RowForm {
  Structure structure = {};
  Expression q = tensor("q");
  std::vector<RowArrays> rows = {};
  std::vector<Equation> definitions = {};  // results that those read, in the order of the text
};

/// Why a text is no row program: in words, and the line that is to blame.
struct NoRowForm {
  std::string reason;
  Index line = 0;
};

/// Brings the memory's update into the form S -> Diag(d) S Diag(m) - b (a^T S) Diag(m) + w x^T, or several of
/// these one after the other, by algebra on the lines: sums are multiplied out, products of matrices are
/// taken apart at their vectors.
std::variant<RowForm, NoRowForm> row_form(const RuleText& rule);

/// The same expression over rows of many tokens: columns [D, 1] become rows [L, D], numbers of a token [L,
/// 1]. `rows_of` names the rows of a tensor. Settings and numbers stay [1, 1].
Expression over_rows(const Expression& of_token, const std::function<Expression(const std::string&)>& rows_of,
                     const Record& specimens);

}  // namespace palimpsest
