#pragma once

#include <optional>
#include <span>

#include "core/base/record.h"

namespace palimpsest {

/// What a tensor means; decides its colour everywhere (formula, slider, picture frame, timeline).
enum class Role { plain, query, key, value, gate, strength, error, state, output };

/// The symbol and the name of a tensor of a record.
struct Symbol {
  std::string latex;  // "\\bar S_t"
  Role role = Role::plain;
  std::string words;  // what it is, "decay since the write"
  bool turns = true;  // of a state: key x value, it may be shown value x key (core/steps/recognised.h)
};

using Symbols = std::map<std::string, Symbol, std::less<>>;

/// A formula over named tensors: one tree from which its LaTeX, its pictures, the arithmetic of a cell and
/// its value come. Cheap to copy (shared, immutable).
class Expression {
 public:
  enum class Kind {
    tensor,      // a tensor of the record, by name
    number,      // a number that stands in the formula: name() has its digits
    transpose,   // X^T
    product,     // X Y; a [1, 1] factor scales the other
    hadamard,    // X o Y; a [L, 1] or [1, D] factor is repeated over the other's columns or rows
    sum,         // X + Y; a [L, 1], [1, D] or [1, 1] part is repeated as a factor is
    difference,  // X - Y, likewise
    diagonal,    // Diag(x) of a column [D, 1]
    function,    // a named function of core/formula/functions.cpp
    named,       // a subexpression whose value is itself recorded, under name()
  };

  Expression(Kind kind, std::string name, std::vector<Expression> arguments);
  Kind kind() const { return node_->kind; }
  /// The tensor, the function, the digits or the recorded result of a named subexpression.
  const std::string& name() const { return node_->name; }
  std::span<const Expression> arguments() const { return node_->arguments; }

 private:
  struct Node {
    Kind kind;
    std::string name;
    std::vector<Expression> arguments;
  };

  std::shared_ptr<const Node> node_;
};

Expression tensor(std::string name);
Expression number_expression(double value);
Expression transpose(Expression x);
Expression operator*(Expression x, Expression y);
Expression hadamard(Expression x, Expression y);
Expression operator+(Expression x, Expression y);
Expression operator-(Expression x, Expression y);
Expression diagonal(Expression x);
Expression call(std::string function, std::vector<Expression> arguments);
Expression named(std::string result, Expression definition);

double value_of(const Expression& number);

/// One definition: result := expression.
struct Equation {
  std::string result;
  Expression expression;
};

/// "(alpha * S_prev)^T": the tree in plain text under its recorded names, for messages.
std::string to_string(const Expression& expression);

/// The names of all pieces of this kind, each once, in order of appearance (inside named ones too): by
/// default of the tensors that `expression` reads.
std::vector<std::string> operands(const Expression& expression,
                                  Expression::Kind kind = Expression::Kind::tensor);

/// The fraction of the largest operand up to which a result counts as rounding alone.
inline constexpr double dust_share = 1e-12;

/// The magnitude up to which values of `expression` on `record` are rounding: dust_share times the largest
/// number that it reads.
double dust_of(const Expression& expression, const Record& record);

/// `expression` with every tensor that `definitions` define replaced by its definition, as a named
/// subexpression, recursively. Definitions not listed in `inlined` stay tensors. Throws Error if a definition
/// reads its own result.
Expression expand(const Expression& expression, std::span<const Equation> definitions,
                  std::span<const std::string> inlined);

/// The replacement of a piece of a formula; nothing: it stays, and its arguments are visited.
using Replacement = std::function<std::optional<Expression>(const Expression&)>;

/// `expression` with every piece replaced for which `replacement` returns one, from the outside in. Replaced
/// pieces are not visited again.
Expression replaced(const Expression& expression, const Replacement& replacement);

/// Whether two expressions are the same formula.
bool operator==(const Expression& a, const Expression& b);

/// One of the pieces that add up to an expression.
struct AdditivePart {
  double sign = 1;
  Expression expression;
};

/// An expression as a sum, with products and transposes of sums multiplied out: beta k (v - old)^T is beta k
/// v^T minus beta k old^T. One part where there is nothing to add. Named pieces are expanded.
std::vector<AdditivePart> additive_parts(const Expression& expression);

/// The value in f64, by the plain definition of every operation: the interpreter that checks the engines.
/// A named subexpression is computed from its definition, not looked up. A Diag(x) factor scales rows or
/// columns, so its zeros off the diagonal never meet an inf or a NaN. Throws Error if a tensor is missing or
/// shapes do not fit.
Matrix<double> evaluate(const Expression& expression, const Record& record);

/// The row- and column count of the value, without computing it.
struct Shape {
  Index rows = 0;
  Index columns = 0;

  bool operator==(const Shape&) const = default;
};
Shape shape(const Expression& expression, const Record& record);

/// "[3, 4]", as messages write it.
std::string to_string(Shape shape);

/// How the two factors of a product are multiplied.
enum class ProductKind {
  number_left,  // a [1, 1] factor scales the other
  number_right,
  diagonal_left,   // Diag(x) scales the other's rows
  diagonal_right,  // Diag(x) scales the other's columns
  matrices,        // a sum over the inner index
};

/// How the factors of `product`, of these shapes, are multiplied.
ProductKind product_kind(const Expression& product, Shape left, Shape right);

/// A part of a Hadamard product or a sum with one row or column is repeated: the index to read instead of
/// `index`.
inline Index repeated(Index index, Index size) { return size == 1 ? 0 : index; }

/// How tightly a piece of a formula binds, loosest first; a looser piece inside a tighter one is put in
/// parentheses.
enum class Precedence { sum, hadamard, product, atom };

/// How LaTeX is coloured and which part is highlighted.
struct LatexStyle {
  /// The colour of a role as "#rrggbb"; empty: no colour commands at all.
  std::function<std::string(Role role, bool lit)> colour;
  /// Recorded name whose symbol or subexpression is highlighted, the rest dimmed. Empty: nothing is dimmed.
  std::string lit;
  /// If set, [1, 1] tensors are written as their numbers from this record.
  const Record* numbers = nullptr;
  /// The name of a subexpression that is boxed in `box_colour`; with `boxes_sign` only the sign in the middle
  /// of that sum or difference.
  std::string boxed = {};
  std::string box_colour = {};
  bool boxes_sign = false;
};

/// LaTeX of the right-hand side alone.
std::string latex(const Expression& expression, const Symbols& symbols, const LatexStyle& style = {});

/// LaTeX of "result = expression".
std::string latex(const Equation& equation, const Symbols& symbols, const LatexStyle& style = {});

/// A block of cells of a recorded tensor.
struct Cells {
  std::string tensor;
  Index first_row = 0;
  Index first_column = 0;
  Index rows = 1;
  Index columns = 1;
};

/// The arithmetic of one cell: "why this number?". Indices count from 0, like everything in an exported
/// array.
struct Explanation {
  std::string formula;  // with indices: "sum_i S[i, 5] k[i]", in plain Unicode: "Σᵢ S̄[i,5]·k[i]"
  std::string latex;    // the same, typeset
  std::string numbers;  // the same with numbers, the largest terms first when there are many, then "…"
  double value = 0;     // the value of the formula
  std::vector<Cells> sources;  // the cells that it reads
};

/// The arithmetic of cell (row, column) of result := expression; throws Error if the cell does not exist. A
/// named subexpression that is recorded is read from the record and written by its symbol.
Explanation explain(const Equation& equation, const Symbols& symbols, const Record& record, Index row,
                    Index column);

struct Term;
class CallCell;

/// A named function that expressions may call.
struct Function {
  std::string name;
  std::string signature = {};  // the shapes that it takes and gives: "[L, K], [L, 1] -> [L, K]"
  /// LaTeX of the call, from the LaTeX of the arguments. Every piece between two arguments is complete by
  /// itself, so that pictures can replace the arguments.
  std::function<std::string(std::span<const std::string> arguments)> latex;
  /// How tightly that LaTeX binds, and how tightly it needs every argument to bind: atoms may get subscripts.
  Precedence binds = Precedence::atom;
  Precedence arguments_bind = Precedence::sum;
  /// The shape of the value; throws Error naming the function and the shapes if they do not fit.
  std::function<Shape(std::span<const Shape> arguments)> shape;
  /// The value; the arguments have shapes that fit.
  std::function<Matrix<double>(std::span<const Matrix<double>> arguments)> evaluate;
  /// The arithmetic of one cell (core/formula/functions.h).
  std::function<Term(CallCell& cell)> explain;
};

/// The one table of functions (core/formula/functions.cpp): the common ones, then those of single variants.
std::span<const Function> functions();

/// The function called `name`; throws Error listing the known ones.
const Function& find_function(std::string_view name);

/// Plain Unicode for the LaTeX that symbols and functions use: "\\bar S_{t-1}" is "S̄ₜ₋₁". The subscript t
/// alone means "of this token" and is dropped.
std::string unicode(std::string_view latex);

/// A number for display: 4 significant digits, a real minus sign, powers of ten: "−1.235·10⁻⁵".
std::string number_text(double value);

/// The same for LaTeX, with 3 significant digits: "-1.23\\cdot 10^{-5}".
std::string number_latex(double value);

}  // namespace palimpsest
