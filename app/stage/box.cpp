#include "app/stage/box.h"

#include <fmt/format.h>

#include <set>

#include "app/widgets/formula.h"
#include "core/base/table.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

/// The unmatched brackets in a piece of LaTeX.
std::vector<std::size_t> open_brackets(const std::string& piece) {
  std::vector<std::size_t> opened;
  std::vector<std::size_t> alone;
  int depth = 0;  // of braces: an index has brackets of its own
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const char c = piece[i];
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (depth != 0) continue;
    if (c == '(' || c == '[') opened.push_back(i);
    if (c != ')' && c != ']') continue;
    if (opened.empty())
      alone.push_back(i);
    else
      opened.pop_back();
  }
  alone.insert(alone.end(), opened.begin(), opened.end());
  return alone;
}

bool blank(const std::string& text) { return text.find_first_not_of(" \\,;!{}") == std::string::npos; }

constexpr int most_pictures = 4;  // of an equation in which a tensor may have two

int pictures_in(const Box& box) {
  int count = box.kind == Box::Kind::picture ? 1 : 0;
  for (const Box& part : box.parts) count += pictures_in(part);
  return count;
}

/// The second picture of a tensor becomes its symbol.
void write_repeated_as_symbols(Box& box, std::set<std::string>& shown) {
  if (box.kind == Box::Kind::picture && !shown.insert(box.tensor).second)
    box = {.kind = Box::Kind::glyph, .latex = box.latex};
  for (Box& part : box.parts) write_repeated_as_symbols(part, shown);
}
struct BoxBuilder {
  const std::string& id;
  const Record& record;
  const Symbols& symbols;
  int pictures = 0;

  static Box glyph(std::string latex) { return {.kind = Box::Kind::glyph, .latex = std::move(latex)}; }

  Box picture(const std::string& name, bool transposed) {
    return picture_of(name, transposed,
                      fmt::format("{}/{}{}/{}", id, name, transposed ? "^T" : "", pictures++), record,
                      symbols);
  }

  bool is_number(const Expression& expression) const { return shape(expression, record) == Shape{1, 1}; }

  static bool is_sum(const Expression& expression) {
    using enum Expression::Kind;
    if (is_among(expression.kind(), {named, transpose})) return is_sum(expression.arguments()[0]);
    return is_among(expression.kind(), {sum, difference});
  }

  static Box row(std::vector<Box> parts) { return {.kind = Box::Kind::row, .parts = std::move(parts)}; }

  static Box in_brackets(Box inner) {
    return row({{.kind = Box::Kind::bracket}, std::move(inner), {.kind = Box::Kind::bracket, .right = true}});
  }

  /// The precedence of an expression in its formula.
  static Precedence binding(const Expression& expression) {
    switch (expression.kind()) {
      case Expression::Kind::sum:
      case Expression::Kind::difference:
        return Precedence::sum;
      case Expression::Kind::hadamard:
        return Precedence::hadamard;
      case Expression::Kind::product:
        return Precedence::product;
      case Expression::Kind::named:
      case Expression::Kind::transpose:  // goes to the pictures inside
        return binding(expression.arguments()[0]);
      case Expression::Kind::function:
        return find_function(expression.name()).binds;
      default:
        return Precedence::atom;
    }
  }

  /// A subexpression, in brackets if its precedence is lower than `needed`.
  Box part(const Expression& expression, bool transposed, Precedence needed) {
    Box box = build(expression, transposed);
    return binding(expression) < needed ? in_brackets(std::move(box)) : box;
  }

  /// A term of a sum or difference: flat vectors are stacked, one above the other.
  Box sum(const Expression& expression, bool transposed) {
    const bool minus = expression.kind() == Expression::Kind::difference;
    const Shape size = shape(expression, record);
    const Index rows = transposed ? size.columns : size.rows;
    const Index columns = transposed ? size.rows : size.columns;
    const bool flat = rows == 1 && columns > 1;
    Box box{.kind = flat ? Box::Kind::stack : Box::Kind::row};
    Box first = build(expression.arguments()[0], transposed);
    if (flat && first.kind == Box::Kind::stack)
      box.parts = std::move(first.parts);
    else
      box.parts.push_back(std::move(first));
    box.parts.push_back(glyph(minus ? "-" : "+"));
    const Expression& second = expression.arguments()[1];
    box.parts.push_back(part(second, transposed, minus ? Precedence::hadamard : Precedence::sum));
    return box;
  }

  Box product(const Expression& expression, bool transposed) {
    Expression first = expression.arguments()[0];
    Expression second = expression.arguments()[1];
    const bool has_number = is_number(first) || is_number(second);
    if (transposed && !has_number) std::swap(first, second);
    Box box{.kind = Box::Kind::row};
    box.parts.push_back(part(first, transposed, Precedence::product));
    if (!has_number) box.parts.push_back(glyph("\\cdot"));
    box.parts.push_back(part(second, transposed, Precedence::product));
    return box;
  }

  /// A piece of LaTeX. Brackets around pictures are as high as these.
  static void add_piece(Box& row, const std::string& piece) {
    std::size_t from = 0;
    const auto add_glyph = [&](std::size_t to) {
      const std::string text = piece.substr(from, to - from);
      if (!blank(text)) row.parts.push_back(glyph(text));
    };
    for (const std::size_t at : open_brackets(piece)) {
      add_glyph(at);
      row.parts.push_back({.kind = Box::Kind::bracket,
                           .right = piece[at] == ')' || piece[at] == ']',
                           .square = piece[at] == '[' || piece[at] == ']'});
      from = at + 1;
    }
    add_glyph(piece.size());
  }

  /// The pieces of a function's LaTeX with pictures in place of its arguments. Arguments that the formula
  /// does not contain, such as the begin of a mask, have no picture.
  Box function(const Expression& expression, bool transposed) {
    const Function& definition = find_function(expression.name());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < expression.arguments().size(); ++i) names.push_back(fmt::format("@{}@", i));
    // "\left(" and "\right)" cannot be in different pieces: use plain brackets.
    std::string rest = with_plain_brackets(definition.latex(names));
    Box box{.kind = Box::Kind::row};
    while (true) {
      const auto next =
          std::ranges::min_element(names, {}, [&](const std::string& name) { return rest.find(name); });
      const std::size_t first = next == names.end() ? std::string::npos : rest.find(*next);
      add_piece(box, rest.substr(0, first));
      if (first == std::string::npos) break;
      box.parts.push_back(
          part(entry(expression.arguments(), next - names.begin()), false, definition.arguments_bind));
      rest = rest.substr(first + next->size());
    }
    if (!transposed) return box;
    return row({in_brackets(std::move(box)), glyph("^{\\top}")});
  }

  Box build(const Expression& expression, bool transposed) {
    const auto arguments = expression.arguments();
    switch (expression.kind()) {
      case Expression::Kind::tensor:
        return picture(expression.name(), transposed);
      case Expression::Kind::number:
        return glyph(number_latex(value_of(expression)));
      case Expression::Kind::transpose:
        return build(arguments[0], !transposed);
      case Expression::Kind::product:
        return product(expression, transposed);
      case Expression::Kind::sum:
      case Expression::Kind::difference:
        return sum(expression, transposed);
      case Expression::Kind::hadamard:
        return row({part(arguments[0], transposed, Precedence::hadamard), glyph("\\odot"),
                    part(arguments[1], transposed, Precedence::hadamard)});
      case Expression::Kind::diagonal:
        return row({glyph("\\mathrm{Diag}"), in_brackets(build(arguments[0], false))});
      case Expression::Kind::function:
        return function(expression, transposed);
      case Expression::Kind::named:
        return {.kind = Box::Kind::group,
                .tensor = expression.name(),
                .parts = {build(arguments[0], transposed)}};
    }
    return {};
  }
};

}  // namespace

const Symbol& symbol_in(const Symbols& symbols, const std::string& tensor) {
  static const Symbol blank;
  const auto found = symbols.find(tensor);
  return found == symbols.end() ? blank : found->second;
}

Symbol named_symbol(const Symbols& symbols, const std::string& tensor) {
  const auto found = symbols.find(tensor);
  return found == symbols.end() ? Symbol{.latex = "\\mathrm{" + tensor + "}", .words = tensor}
                                : found->second;
}

Box picture_of(const std::string& name, bool transposed, const std::string& key, const Record& record,
               const Symbols& symbols) {
  const Matrix<double>& value = record.at(name);
  const Symbol& symbol = symbol_in(symbols, name);
  const std::string& latex = symbol.latex.empty() ? name : symbol.latex;
  if (value.rows() == 1 && value.cols() == 1)
    return {.kind = Box::Kind::number,
            .tensor = name,
            .latex = latex,
            .digits = plain_number(value(0, 0)),
            .role = symbol.role,
            .words = symbol.words};
  const bool is_vector = value.cols() == 1 || value.rows() == 1;
  const std::string base = latex.size() > 1 ? "{" + latex + "}" : latex;  // of an exponent
  return {.kind = Box::Kind::picture,
          .tensor = name,
          .key = key,
          .latex = transposed && !is_vector ? fmt::format("{}^{{\\top}}", base) : latex,
          .role = symbol.role,
          .words = symbol.words,
          .transposed = transposed,
          .rows = transposed ? value.cols() : value.rows(),
          .columns = transposed ? value.rows() : value.cols()};
}

Box boxes(const std::string& id, const Equation& equation, const Record& record, const Symbols& symbols) {
  BoxBuilder builder{id, record, symbols};
  // Sums of a token's vectors lie flat, one above the other; products keep the order of the formula.
  const bool lies_flat = BoxBuilder::is_sum(equation.expression) && record.at(equation.result).cols() == 1;
  Box result = builder.picture(equation.result, lies_flat);
  Box operands = builder.build(equation.expression, lies_flat);
  std::set<std::string> shown;
  if (pictures_in(operands) > most_pictures) write_repeated_as_symbols(operands, shown);
  return BoxBuilder::row({std::move(result), BoxBuilder::glyph("="), std::move(operands)});
}

}  // namespace palimpsest
