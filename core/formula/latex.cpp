#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/formula/expression.h"
#include "core/formula/notation.h"

namespace palimpsest {

namespace {

/// LaTeX of a part, and what decides how it can stand inside another.
struct Part {
  std::string latex;
  Precedence binds = Precedence::atom;
  bool begins_with_digit = false;  // a factor before it needs a \cdot
  bool has_superscript = false;    // another one would be an error
  bool begins_with_minus = false;  // right of a plus it needs brackets
  bool is_product = false;         // two factors side by side
};

class Writer {
 public:
  Writer(const Symbols& symbols, const LatexStyle& style) : symbols_(symbols), style_(style) {}

  /// The whole formula. Operators and brackets take the colour of the group that they stand in.
  std::string whole(const std::string& latex) const { return coloured(latex, Role::plain, all_lit()); }

  std::string result(const std::string& name) const { return symbol(name, all_lit(), {}).latex; }

  std::string right_hand_side(const Expression& expression) const {
    return write(expression, all_lit()).latex;
  }

 private:
  bool all_lit() const { return style_.lit.empty(); }

  std::string coloured(const std::string& latex, Role role, bool lit) const {
    const std::string colour = style_.colour ? style_.colour(role, lit) : std::string();
    return colour.empty() ? latex : fmt::format(R"(\fgcolor{{{}}}{{{}}})", colour, latex);
  }

  static std::string bracketed(const Part& part, bool needed) {
    return needed ? fmt::format(R"(\left({}\right))", part.latex) : part.latex;
  }

  static std::string within(const Part& part, Precedence precedence) {
    return bracketed(part, part.binds < precedence);
  }

  Symbol symbol_of(const std::string& name) const {
    if (const auto found = symbols_.find(name); found != symbols_.end()) return found->second;
    std::string escaped;
    for (const char c : name) escaped += c == '_' ? std::string(R"(\_)") : std::string(1, c);
    return {fmt::format(R"(\mathrm{{{}}})", escaped), Role::plain, {}};
  }

  /// The symbol of a tensor, with a superscript set in its own colour.
  Part symbol(const std::string& name, bool lit, const std::string& superscript) const {
    const Symbol symbol = symbol_of(name);
    const bool chosen = !all_lit() && name == style_.lit;
    const std::string body = chosen ? fmt::format(R"(\underline{{{}}})", symbol.latex) : symbol.latex;
    const bool has_superscript = !chosen && symbol.latex.find('^') != std::string::npos;
    return {.latex = coloured(body + superscript, symbol.role, lit || chosen),
            .has_superscript = has_superscript || !superscript.empty()};
  }

  const double* number_of(const Expression& expression) const {
    if (expression.kind() != Expression::Kind::tensor || !style_.numbers) return nullptr;
    if (!style_.numbers->contains(expression.name())) return nullptr;
    const Matrix<double>& value = style_.numbers->at(expression.name());
    return value.size() == 1 ? value.data() : nullptr;
  }

  Part number(const Expression& tensor, double value, bool lit) const {
    const bool chosen = !all_lit() && tensor.name() == style_.lit;
    const std::string digits = number_latex(value);
    const std::string body = chosen ? fmt::format(R"(\underline{{{}}})", digits) : digits;
    const bool negative = digits.starts_with('-');
    const Precedence unsigned_binds =
        digits.find('^') == std::string::npos ? Precedence::atom : Precedence::product;
    return {.latex = coloured(body, symbol_of(tensor.name()).role, lit || chosen),
            .binds = negative ? Precedence::sum : unsigned_binds,
            .begins_with_digit = !negative,
            .begins_with_minus = negative};
  }

  Part write(const Expression& expression, bool lit) const {
    const auto argument = [&](std::size_t i) { return write(expression.arguments()[i], lit); };
    switch (expression.kind()) {
      case Expression::Kind::tensor:
        if (const double* value = number_of(expression)) return number(expression, *value, lit);
        return symbol(expression.name(), lit, {});
      case Expression::Kind::transpose:
        return write_transpose(expression.arguments()[0], lit);
      case Expression::Kind::product:
        return write_product(argument(0), argument(1));
      case Expression::Kind::hadamard:
        return {within(argument(0), Precedence::hadamard) + R"( \odot )" +
                    within(argument(1), Precedence::product),
                Precedence::hadamard};
      case Expression::Kind::sum:
      case Expression::Kind::difference:
        return write_sum(expression, lit, false);
      case Expression::Kind::diagonal:
        return {fmt::format(R"(\mathrm{{Diag}}\left({}\right))", argument(0).latex)};
      case Expression::Kind::function:
        return write_call(expression, lit);
      case Expression::Kind::named:
        return write_named(expression, lit);
    }
    return {};
  }

  std::string boxed(const std::string& latex) const {
    return style_.box_colour.empty()
               ? fmt::format(R"(\,\boxed{{{}}}\,)", latex)
               : fmt::format(R"(\,\fgcolor{{{}}}{{\boxed{{{}}}}}\,)", style_.box_colour, latex);
  }

  /// a + (b + c) needs no brackets, but a negative number does.
  Part write_sum(const Expression& expression, bool lit, bool boxes_sign) const {
    const Part left = write(expression.arguments()[0], lit);
    const Part right = write(expression.arguments()[1], lit);
    const bool adds = expression.kind() == Expression::Kind::sum;
    const std::string sign = adds ? "+" : "-";
    return {.latex = left.latex + " " + (boxes_sign ? "{" + boxed(sign) + "}" : sign) + " " +
                     (adds ? bracketed(right, right.begins_with_minus) : within(right, Precedence::hadamard)),
            .binds = Precedence::sum,
            .begins_with_minus = left.begins_with_minus};
  }

  /// The transpose of a number is the number.
  Part write_transpose(const Expression& argument, bool lit) const {
    Part part = write(argument, lit);
    if (number_of(argument)) return part;
    if (part.binds < Precedence::atom || part.has_superscript) {
      return {.latex = fmt::format(R"(\left({}\right)^{{\top}})", part.latex), .has_superscript = true};
    }
    const bool chosen = argument.name() == style_.lit;
    if (argument.kind() == Expression::Kind::tensor && !chosen)
      return symbol(argument.name(), lit, R"(^{\top})");
    return {.latex = part.latex + R"(^{\top})", .has_superscript = true};
  }

  /// a (b c) keeps its brackets: they say what is multiplied first, and c a number would not fit after b.
  static Part write_product(const Part& left, const Part& right) {
    const bool bracketed_right = right.binds < Precedence::product || right.is_product;
    const std::string join = right.begins_with_digit && !bracketed_right ? R"( \cdot )" : " ";
    return {.latex = within(left, Precedence::product) + join + bracketed(right, bracketed_right),
            .binds = Precedence::product,
            .begins_with_digit = left.begins_with_digit && left.binds >= Precedence::product,
            .is_product = true};
  }

  Part write_call(const Expression& expression, bool lit) const {
    const Function& function = find_function(expression.name());
    std::vector<std::string> arguments;
    for (const Expression& argument : expression.arguments()) {
      const std::string written = within(write(argument, lit), function.arguments_bind);
      // Braces, because a second subscript would be an error.
      arguments.push_back(function.arguments_bind == Precedence::atom ? "{" + written + "}" : written);
    }
    return {function.latex(arguments), function.binds};
  }

  Part write_named(const Expression& expression, bool lit) const {
    if (!style_.boxed.empty() && expression.name() == style_.boxed) {
      const Expression& piece = expression.arguments()[0];
      if (style_.boxes_sign) return write_sum(piece, lit, true);
      return {.latex = boxed(write(piece, lit).latex)};
    }
    const bool chosen = !all_lit() && expression.name() == style_.lit;
    Part part = write(expression.arguments()[0], lit || chosen);
    if (chosen) {
      part.latex = coloured(fmt::format(R"(\underline{{{}}})", part.latex), Role::plain, true);
      part.has_superscript = false;
    }
    return part;
  }

  const Symbols& symbols_;
  const LatexStyle& style_;
};

}  // namespace

std::string latex(const Expression& expression, const Symbols& symbols, const LatexStyle& style) {
  const Writer writer(symbols, style);
  return writer.whole(writer.right_hand_side(expression));
}

std::string latex(const Equation& equation, const Symbols& symbols, const LatexStyle& style) {
  const Writer writer(symbols, style);
  return writer.whole(writer.result(equation.result) + " = " + writer.right_hand_side(equation.expression));
}

}  // namespace palimpsest
