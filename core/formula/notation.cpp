#include "core/formula/expression.h"

#include <fmt/format.h>

#include "core/base/table.h"

namespace palimpsest {

namespace {

using Replacements = std::map<std::string_view, std::string_view>;

const Replacements commands = {
    {"alpha", "α"}, {"beta", "β"},   {"gamma", "γ"},    {"delta", "δ"}, {"epsilon", "ε"}, {"varepsilon", "ε"},
    {"zeta", "ζ"},  {"eta", "η"},    {"theta", "θ"},    {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},
    {"nu", "ν"},    {"xi", "ξ"},     {"pi", "π"},       {"rho", "ρ"},   {"sigma", "σ"},   {"tau", "τ"},
    {"phi", "φ"},   {"varphi", "φ"}, {"chi", "χ"},      {"psi", "ψ"},   {"omega", "ω"},   {"Gamma", "Γ"},
    {"Delta", "Δ"}, {"Theta", "Θ"},  {"Lambda", "Λ"},   {"Xi", "Ξ"},    {"Pi", "Π"},      {"Sigma", "Σ"},
    {"Phi", "Φ"},   {"Psi", "Ψ"},    {"Omega", "Ω"},    {"ell", "ℓ"},   {"top", "ᵀ"},     {"odot", "⊙"},
    {"cdot", "·"},  {"cdots", "⋯"},  {"times", "×"},    {"le", "≤"},    {"ge", "≥"},      {"sum", "Σ"},
    {"prod", "Π"},  {"infty", "∞"},  {"partial", "∂"},  {"nabla", "∇"}, {"prime", "′"},   {"_", "_"},
    {"|", "‖"},     {",", " "},      {";", " "},        {"left", ""},   {"right", ""},    {"star", "*"},
    {"lVert", "‖"}, {"rVert", "‖"},  {"textstyle", ""}, {"{", "{"},     {"}", "}"},       {"otimes", "⊗"},
};

const Replacements accents = {{"bar", "\u0304"}, {"hat", "\u0302"}, {"tilde", "\u0303"},
                              {"dot", "\u0307"}, {"vec", "\u20d7"}, {"check", "\u030c"}};

const Replacements fonts = {{"mathrm", ""},    {"mathbf", ""},       {"boldsymbol", ""}, {"text", ""},
                            {"underline", ""}, {"operatorname", ""}, {"mathcal", ""}};

const Replacements subscripts = {
    {"0", "₀"}, {"1", "₁"}, {"2", "₂"}, {"3", "₃"}, {"4", "₄"}, {"5", "₅"}, {"6", "₆"},
    {"7", "₇"}, {"8", "₈"}, {"9", "₉"}, {"+", "₊"}, {"−", "₋"}, {"a", "ₐ"}, {"e", "ₑ"},
    {"h", "ₕ"}, {"i", "ᵢ"}, {"j", "ⱼ"}, {"k", "ₖ"}, {"l", "ₗ"}, {"m", "ₘ"}, {"n", "ₙ"},
    {"p", "ₚ"}, {"r", "ᵣ"}, {"s", "ₛ"}, {"t", "ₜ"}, {"u", "ᵤ"}, {"v", "ᵥ"}, {"x", "ₓ"},
};

const Replacements superscripts = {
    {"0", "⁰"}, {"1", "¹"}, {"2", "²"}, {"3", "³"}, {"4", "⁴"}, {"5", "⁵"}, {"6", "⁶"}, {"7", "⁷"},
    {"8", "⁸"}, {"9", "⁹"}, {"+", "⁺"}, {"−", "⁻"}, {"ᵀ", "ᵀ"}, {"′", "′"}, {"n", "ⁿ"}, {"i", "ⁱ"},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The bytes of the first UTF-8 character.
std::size_t first_length(std::string_view text) {
  std::size_t length = text.empty() ? 0 : 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) ++length;
  return length;
}

/// Every character replaced; empty if one has no replacement.
std::string replace_all(std::string_view text, const Replacements& replacements) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = first_length(text);
    const std::string_view* replacement = value_at(replacements, text.substr(0, length));
    if (!replacement) return {};
    result += *replacement;
    text.remove_prefix(length);
  }
  return result;
}

/// Reads LaTeX from left to right; tolerant of anything, since it only serves reading.
class NotationReader {
 public:
  explicit NotationReader(std::string_view latex) : rest_(latex) {}

  /// Everything up to the end, or to the brace that closes the group.
  std::string text() {
    std::string result;
    while (!rest_.empty()) {
      if (rest_.front() == '}') {
        rest_.remove_prefix(1);
        break;
      }
      result += piece();
    }
    return result;
  }

 private:
  std::string piece() {
    const std::string character(rest_.substr(0, first_length(rest_)));
    rest_.remove_prefix(character.size());
    if (character == "\\") return command();
    if (character == "_") return below(argument());
    if (character == "^") return above(argument());
    if (character == "{") return text();
    return character == "-" ? "−" : character;
  }

  std::string argument() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    return rest_.empty() || rest_.front() == '}' ? std::string() : piece();
  }

  std::string command() {
    const auto end = std::ranges::find_if_not(rest_, is_letter);
    const auto letters = static_cast<std::size_t>(end - rest_.begin());
    const std::string_view name = rest_.substr(0, letters > 0 ? letters : first_length(rest_));
    rest_.remove_prefix(name.size());

    if (const auto* accent = value_at(accents, name)) {
      std::string base = argument();
      return base.insert(first_length(base), *accent);
    }
    if (fonts.contains(name)) return argument();
    if (name == "frac") {
      const std::string above_line = argument();
      return fmt::format("({})/({})", above_line, argument());
    }
    if (const auto* replacement = value_at(commands, name)) return std::string(*replacement);
    return std::string(name);
  }

  static std::string below(const std::string& text) {
    if (text.empty() || text == "t") return {};
    std::string small = replace_all(text, subscripts);
    if (!small.empty()) return small;
    const bool is_one = first_length(text) == text.size() || std::ranges::all_of(text, is_letter);
    return is_one ? "_" + text : fmt::format("_{{{}}}", text);
  }

  static std::string above(const std::string& text) {
    std::string small = replace_all(text, superscripts);
    return small.empty() && !text.empty() ? "^" + text : small;
  }

  std::string_view rest_;
};

/// LaTeX of a number with `digits` digits; `times` is put before its power of ten.
std::string number_in_latex(double value, int digits, std::string_view times) {
  if (std::isnan(value)) return R"(\mathrm{NaN})";
  const std::string sign = std::signbit(value) && value != 0 ? "-" : "";
  if (std::isinf(value)) return sign + R"(\infty)";
  const std::string text = fmt::format("{:.{}g}", std::abs(value), digits);  // "1.5e-05"
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return sign + text;
  return fmt::format("{}{}{}10^{{{}}}", sign, text.substr(0, e), times, std::stoi(text.substr(e + 1)));
}

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
  /// The whole formula. Operators and brackets take the colour of the group that contains them.
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
    if (const Symbol* const known = value_at(symbols_, name)) return *known;
    std::string escaped;
    for (const char c : name) escaped += c == '_' ? std::string(R"(\_)") : std::string(1, c);
    return {fmt::format(R"(\mathrm{{{}}})", escaped), Role::plain, {}};
  }

  /// The symbol of a tensor, with a superscript set in its own colour.
  Part symbol(const std::string& name, bool lit, const std::string& superscript) const {
    const Symbol symbol = symbol_of(name);
    const bool has_superscript = !is_chosen(name) && symbol.latex.find('^') != std::string::npos;
    return {.latex = of_name(name, symbol.latex, superscript, lit),
            .has_superscript = has_superscript || !superscript.empty()};
  }

  bool is_chosen(const std::string& name) const { return !all_lit() && name == style_.lit; }

  static std::string underlined(const std::string& latex) {
    return fmt::format(R"(\underline{{{}}})", latex);
  }

  /// `body` stands for a tensor, in its colour; underlined if it is chosen.
  std::string of_name(const std::string& name, const std::string& body, const std::string& superscript,
                      bool lit) const {
    const bool chosen = is_chosen(name);
    return coloured((chosen ? underlined(body) : body) + superscript, symbol_of(name).role, lit || chosen);
  }

  const double* number_of(const Expression& expression) const {
    if (expression.kind() != Expression::Kind::tensor || !style_.numbers) return nullptr;
    if (!style_.numbers->contains(expression.name())) return nullptr;
    const Matrix<double>& value = style_.numbers->at(expression.name());
    return value.size() == 1 ? value.data() : nullptr;
  }

  Part number(const Expression& tensor, double value, bool lit) const {
    const std::string digits = number_latex(value);
    const bool negative = digits.starts_with('-');
    const Precedence unsigned_binds =
        digits.find('^') == std::string::npos ? Precedence::atom : Precedence::product;
    return {.latex = of_name(tensor.name(), digits, {}, lit),
            .binds = negative ? Precedence::sum : unsigned_binds,
            .begins_with_digit = !negative,
            .begins_with_minus = negative};
  }

  Part write(const Expression& expression, bool lit) const {
    using enum Expression::Kind;
    const Expression::Kind kind = expression.kind();
    const double* const value = number_of(expression);
    if (value) return this->number(expression, *value, lit);
    if (kind == Expression::Kind::number) return this->number(expression, value_of(expression), lit);
    if (kind == tensor) return symbol(expression.name(), lit, {});
    if (kind == function) return write_call(expression, lit);
    if (kind == named) return write_named(expression, lit);
    if (kind == sum || kind == difference) return write_sum(expression, lit, false);
    if (kind == transpose) return write_transpose(expression.arguments()[0], lit);
    const Part left = write(expression.arguments()[0], lit);
    if (kind == diagonal) return {fmt::format(R"(\mathrm{{Diag}}\left({}\right))", left.latex)};
    const Part right = write(expression.arguments()[1], lit);
    if (kind == product) return write_product(left, right);
    return {within(left, Precedence::hadamard) + R"( \odot )" + within(right, Precedence::product),
            Precedence::hadamard};
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
    if (argument.kind() == Expression::Kind::tensor && argument.name() != style_.lit)
      return symbol(argument.name(), lit, R"(^{\top})");
    return {.latex = part.latex + R"(^{\top})", .has_superscript = true};
  }

  /// a (b c) keeps its brackets: they say what is multiplied first.
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
    const bool chosen = is_chosen(expression.name());
    Part part = write(expression.arguments()[0], lit || chosen);
    if (chosen) {
      part.latex = coloured(underlined(part.latex), Role::plain, true);
      part.has_superscript = false;
    }
    return part;
  }

  const Symbols& symbols_;
  const LatexStyle& style_;
};

}  // namespace

std::string unicode(std::string_view latex) { return NotationReader(latex).text(); }

std::string number_text(double value) { return unicode(number_in_latex(value, 4, "·")); }

std::string number_latex(double value) { return number_in_latex(value, 3, R"(\cdot )"); }

std::string latex(const Expression& expression, const Symbols& symbols, const LatexStyle& style) {
  const Writer writer(symbols, style);
  return writer.whole(writer.right_hand_side(expression));
}

std::string latex(const Equation& equation, const Symbols& symbols, const LatexStyle& style) {
  const Writer writer(symbols, style);
  return writer.whole(writer.result(equation.result) + " = " + writer.right_hand_side(equation.expression));
}

}  // namespace palimpsest
