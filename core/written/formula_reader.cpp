#include "core/written/formula_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/written/rule_text.h"

namespace palimpsest {

namespace {

const std::map<std::string_view, std::string_view> greek = {
    {"α", "alpha"},  {"β", "beta"},  {"γ", "gamma"}, {"δ", "delta"}, {"ε", "epsilon"}, {"ζ", "zeta"},
    {"η", "eta"},    {"θ", "theta"}, {"ι", "iota"},  {"κ", "kappa"}, {"λ", "lambda"},  {"μ", "mu"},
    {"ν", "nu"},     {"ξ", "xi"},    {"ρ", "rho"},   {"σ", "sigma"}, {"τ", "tau"},     {"φ", "phi"},
    {"χ", "chi"},    {"ψ", "psi"},   {"ω", "omega"}, {"Γ", "Gamma"}, {"Δ", "Delta"},   {"Θ", "Theta"},
    {"Λ", "Lambda"}, {"Σ", "Sigma"}, {"Φ", "Phi"},   {"Ψ", "Psi"},   {"Ω", "Omega"}};

constexpr const char* callable[] = {"Diag",     "diag", "norm", "l2norm", "sum",    "softmax",
                                    "exp",      "log",  "silu", "gelu",   "elu",    "relu",
                                    "softplus", "tanh", "sqrt", "abs",    "sigmoid"};
/// Those that are computed element by element, under the names of the table of functions.
constexpr std::span elementwise = std::span(callable).subspan(6);

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The Greek letter at the beginning of a text, and its bytes.
std::pair<std::string_view, std::size_t> greek_letter(std::string_view text) {
  for (const auto& [letter, name] : greek)
    if (text.starts_with(letter)) return {name, letter.size()};
  return {{}, 0};
}

/// A name at the beginning of `text`: its ASCII spelling, and how many bytes it takes.
std::pair<std::string, std::size_t> name_at(std::string_view text) {
  std::string name;
  std::size_t used = text.starts_with('\\') ? 1 : 0;
  while (used < text.size()) {
    const auto [greek_name, bytes] = greek_letter(text.substr(used));
    if (bytes > 0) {
      name += greek_name;
      used += bytes;
    } else if (is_letter(text[used]) || (!name.empty() && (is_digit(text[used]) || text[used] == '_'))) {
      name += text[used++];
    } else {
      break;
    }
  }
  // A subscript t says nothing: everything is of this token.
  if (name.ends_with("_") && text.substr(used).starts_with("{t}")) used += 3, name += "t";
  if (name.ends_with("_t")) name.resize(name.size() - 2);
  while (!name.empty() && used < text.size() && text[used] == '\'') name += text[used++];
  return {name, name.empty() ? 0 : used};
}

struct Value {
  Expression expression;
  Shape shape;
  std::string_view text;     // what it was read from
  bool is_identity = false;  // I, whose size its neighbour says

  bool is_number() const { return shape == Shape{1, 1} && !is_identity; }
  bool is_column() const { return shape.columns == 1 && shape.rows > 1; }
  bool is_row() const { return shape.rows == 1 && shape.columns > 1; }
  bool is_constant() const { return expression.kind() == Expression::Kind::number; }
};

class FormulaReader {
 public:
  FormulaReader(std::string_view text, const Record& specimens,
                const std::map<std::string, std::string, std::less<>>& present, const Complain& complain)
      : rest_(text), specimens_(specimens), present_(present), complain_(complain) {}

  Formula whole() {
    Value value = sum();
    skip_space();
    if (!rest_.empty()) wrong(rest_, fmt::format("\"{}\" was not expected here", first_sign()));
    value = sized(std::move(value), specimen_dk);
    return {value.expression, value.shape};
  }

 private:
  [[noreturn]] void wrong(std::string_view at, const std::string& words) const {
    complain_(at, words);
    throw Error("a complaint returned");
  }

  void skip_space() {
    for (;;) {
      while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
      const auto skipped = [&](std::string_view word) {
        const bool is_here = rest_.starts_with(word);
        if (is_here) rest_.remove_prefix(word.size());
        return is_here;
      };
      if (!skipped("\\left") && !skipped("\\right") && !skipped("\\,")) return;
    }
  }

  std::string first_sign() const {
    return std::string(rest_.substr(0, std::max<std::size_t>(name_at(rest_).second, 1)));
  }

  bool takes(std::string_view sign) {
    skip_space();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }

  bool takes_any(std::initializer_list<std::string_view> signs) {
    return std::ranges::any_of(signs, [&](std::string_view sign) { return takes(sign); });
  }

  void expect(std::string_view sign, std::string_view opened) {
    if (takes(sign)) return;
    wrong(rest_.empty() ? opened : rest_,
          fmt::format("\"{}\" is missing: it was opened here or before", sign));
  }

  /// The text from the beginning of `first` to where reading is now.
  std::string_view since(std::string_view first) const {
    const std::string_view read(first.data(), static_cast<std::size_t>(rest_.data() - first.data()));
    const std::size_t end = read.find_last_not_of(" \t");
    return read.substr(0, end == std::string_view::npos ? 0 : end + 1);
  }

  /// The identity in the size that fits beside `size` rows or columns.
  Value sized(Value value, Index size) const {
    if (!value.is_identity) return value;
    if (size != specimen_dk && size != specimen_dv)
      wrong(value.text, "I is a matrix: here it stands beside a number or a vector; write 1 for a number");
    const bool of_keys = size == specimen_dk;
    return {tensor(of_keys ? identity_of_keys : identity_of_values), {size, size}, value.text};
  }

  Value joined(std::string_view first, Expression expression, Shape shape) const {
    return {std::move(expression), shape, since(first)};
  }

  Value sum() {
    skip_space();
    if (++depth_ > most_depth) wrong(rest_, "this is nested too deep");
    const std::string_view first = rest_;
    const bool is_negative = takes("-") || takes("−");
    Value all = product();
    if (is_negative) all = negated(std::move(all), first);
    for (;;) {
      skip_space();
      const std::string_view sign = rest_;
      const bool minus = takes_any({"-", "−"});
      if (!minus && !takes("+")) break;
      Value next = product();
      all = sized(std::move(all), next.shape.rows);
      next = sized(std::move(next), all.shape.rows);
      if (all.is_constant() && next.is_constant()) {
        const double a = value_of(all.expression);
        const double b = value_of(next.expression);
        all = joined(first, number_expression(minus ? a - b : a + b), {1, 1});
        continue;
      }
      const bool fits = all.shape == next.shape || (all.is_number() && is_vector(next)) ||
                        (next.is_number() && is_vector(all));
      if (!fits) wrong(sign, cannot(all, next, minus ? "subtracted" : "added"));
      const Shape shape = all.is_number() ? next.shape : all.shape;
      all = joined(first, minus ? all.expression - next.expression : all.expression + next.expression, shape);
    }
    --depth_;
    return all;
  }

  static bool is_vector(const Value& value) { return value.is_column() || value.is_row(); }

  Value negated(Value value, std::string_view first) const {
    if (value.is_constant()) return joined(first, number_expression(-value_of(value.expression)), {1, 1});
    value = sized(std::move(value), specimen_dk);
    return joined(first, call("negative", {value.expression}), value.shape);
  }

  std::string cannot(const Value& a, const Value& b, std::string_view done) const {
    std::string words = fmt::format("{} is {} and {} is {}: they cannot be {}", a.text, in_words(a.shape),
                                    b.text, in_words(b.shape), done);
    if (Shape{b.shape.columns, b.shape.rows} == a.shape)
      words += fmt::format(". Did you mean ({})^T?", b.text);
    return words;
  }

  Value product() {
    skip_space();
    const std::string_view first = rest_;
    Value all = factor();
    for (;;) {
      skip_space();
      const std::string_view sign = rest_;
      if (takes_any({"*", "·", "⊙", "\\cdot", "\\odot"})) {
        all = times(first, std::move(all), factor(), true, sign);
      } else if (takes("/")) {
        all = divided(first, std::move(all), factor(), sign);
      } else if (begins_factor()) {
        all = times(first, std::move(all), factor(), false, sign);
      } else {
        return all;
      }
    }
  }

  bool begins_factor() {
    skip_space();
    if (rest_.empty()) return false;
    const char c = rest_.front();
    return c == '(' || c == '[' || c == '.' || is_digit(c) || name_at(rest_).second > 0 ||
           (c == '|' && !in_bars_) || rest_.starts_with("\\|");
  }

  /// A product; `starred`: one written with a sign, which is one of elements where the shapes say so.
  Value times(std::string_view first, Value a, Value b, bool starred, std::string_view at) const {
    a = sized(std::move(a), b.shape.rows);
    b = sized(std::move(b), a.shape.columns);
    if (a.is_constant() && b.is_constant())
      return joined(first, number_expression(value_of(a.expression) * value_of(b.expression)), {1, 1});
    if (a.is_number()) return joined(first, a.expression * b.expression, b.shape);
    if (b.is_number()) return joined(first, a.expression * b.expression, a.shape);
    if (a.shape.columns == b.shape.rows)
      return joined(first, a.expression * b.expression, {a.shape.rows, b.shape.columns});
    const auto repeats = [](Shape part, Shape over) {
      return (part.rows == over.rows || part.rows == 1) &&
             (part.columns == over.columns || part.columns == 1);
    };
    if (starred && (repeats(a.shape, b.shape) || repeats(b.shape, a.shape)))
      return joined(first, hadamard(a.expression, b.expression),
                    repeats(a.shape, b.shape) ? b.shape : a.shape);
    std::string words = cannot(a, b, "multiplied");
    if (a.is_column() && b.is_column())
      words += fmt::format(". {} {}^T is their outer product{}", a.text, b.text,
                           a.shape == b.shape
                               ? fmt::format(", {} * {} the product of their elements", a.text, b.text)
                               : std::string());
    wrong(at, words);
  }

  Value divided(std::string_view first, Value a, Value b, std::string_view at) const {
    if (a.is_constant() && b.is_constant())
      return joined(first, number_expression(value_of(a.expression) / value_of(b.expression)), {1, 1});
    if (a.is_identity || b.is_identity || (!b.is_number() && !is_vector(b)))
      wrong(at, fmt::format("{} is {}: only a number or a vector divides", b.text, in_words(b.shape)));
    Value inverse = b;
    inverse.expression =
        b.is_constant() ? number_expression(1 / value_of(b.expression)) : call("reciprocal", {b.expression});
    if (a.is_constant() && value_of(a.expression) == 1)
      return joined(first, inverse.expression, inverse.shape);
    if (!b.is_number() && a.shape != b.shape && !a.is_number()) wrong(at, cannot(a, b, "divided"));
    return times(first, std::move(a), std::move(inverse), true, at);
  }

  Value factor() {
    Value value = primary();
    for (;;) {
      skip_space();
      const std::string_view sign = rest_;
      if (!takes("^")) return value;
      if (takes_any({"{\\top}", "\\top", "{T}", "T"})) {
        value = joined(value.text, transpose(value.expression), {value.shape.columns, value.shape.rows});
        continue;
      }
      const bool braced = takes("{");
      const Value power = braced ? sum() : primary();
      if (braced) expect("}", sign);
      value = raised(std::move(value), power, sign);
    }
  }

  Value raised(Value value, const Value& power, std::string_view at) const {
    const double n = power.is_constant() ? value_of(power.expression) : 0;
    if (n == 0.5) return joined(value.text, call("sqrt", {value.expression}), value.shape);
    if (value.is_constant() && power.is_constant())
      return joined(value.text, number_expression(std::pow(value_of(value.expression), n)), {1, 1});
    const bool is_root = value.is_number() && value.expression.name() == "sqrt";
    if (n == 2 && is_root) return joined(value.text, value.expression.arguments()[0], value.shape);
    if (n != std::floor(n) || std::abs(n) < 1 || std::abs(n) > 8)
      wrong(at, "a power is a whole number from 1 to 8, its negative, or 0.5");
    if (!value.is_number() && !is_vector(value)) wrong(at, "only numbers and vectors have powers");
    Expression all = value.expression;
    for (int i = 1; i < static_cast<int>(std::abs(n)); ++i)
      all = value.is_number() ? all * value.expression : hadamard(all, value.expression);
    if (n < 0) all = call("reciprocal", {all});
    return joined(value.text, all, value.shape);
  }

  Value primary() {
    skip_space();
    if (++depth_ > most_depth) wrong(rest_, "this is nested too deep");
    const std::string_view first = rest_;
    Value value = primary_at(first);
    --depth_;
    return value;
  }

  Value primary_at(std::string_view first) {
    if (rest_.empty()) wrong(first, "the formula ends here: something is missing");
    for (const auto& [open, close] : {std::pair("(", ")"), std::pair("[", "]")}) {
      if (!takes(open)) continue;
      const bool outer = std::exchange(in_bars_, false);
      Value inner = sum();
      in_bars_ = outer;
      expect(close, first);
      inner.text = since(first);
      return inner;
    }
    for (const std::string_view bar : {"\\|", "||", "|"}) {
      if (!takes(bar)) continue;
      in_bars_ = true;
      const Value inner = sum();
      in_bars_ = false;
      expect(bar, first);
      return norm(first, inner);
    }
    if (is_digit(rest_.front()) || rest_.front() == '.') return constant(first);
    const auto [name, length] = name_at(rest_);
    if (length == 0) wrong(rest_, fmt::format("\"{}\" was not expected here", first_sign()));
    rest_.remove_prefix(length);
    if (is_among(name, callable)) return called(first, name);
    return variable(first, name);
  }

  Value constant(std::string_view first) {
    std::size_t length = 0;
    while (length < rest_.size() && (is_digit(rest_[length]) || rest_[length] == '.')) ++length;
    const std::string_view exponent = rest_.substr(length);
    if (exponent.size() > 1 && (exponent[0] == 'e' || exponent[0] == 'E')) {
      std::size_t more = exponent[1] == '-' || exponent[1] == '+' ? 2 : 1;
      if (more < exponent.size() && is_digit(exponent[more])) {
        while (more < exponent.size() && is_digit(exponent[more])) ++more;
        length += more;
      }
    }
    const std::optional<double> value = parse_all<double>(rest_.substr(0, length));
    if (!value || !std::isfinite(*value))
      wrong(first, fmt::format("\"{}\" is no number", rest_.substr(0, length)));
    rest_.remove_prefix(length);
    return joined(first, number_expression(*value), {1, 1});
  }

  Value variable(std::string_view first, std::string name) {
    if (name == "I") return {tensor(identity_of_keys), {0, 0}, since(first), true};
    const bool is_before = name.ends_with('_') && takes_any({"{t-1}", "{t - 1}"});
    if (is_before) name.pop_back();
    const std::string* const now = is_before ? nullptr : value_at(present_, name);
    const std::string as_memory = before(name);
    const std::string read = now ? *now : specimens_.contains(as_memory) ? as_memory : name;
    if (is_before && read != as_memory)
      wrong(first, fmt::format("{} is no memory: of the token before only memories are known", name));
    if (!specimens_.contains(read) || read == identity_of_keys || read == identity_of_values)
      wrong(first, unknown(name));
    const Matrix<double>& value = specimens_.at(read);
    return joined(first, tensor(read), {value.rows(), value.cols()});
  }

  /// What to do about a name that nothing has, by what follows it.
  std::string unknown(const std::string& name) const {
    if (rest_.starts_with('('))
      return fmt::format(
          "{0} is no function; there are {1}. A number of this name has to be declared, as in "
          "\"inputs {0}: strength per token\"",
          name, fmt::join(callable, ", "));
    if (name.ends_with('_'))
      return fmt::format("{}{{...}} is not known here: of subscripts there are t, and t-1 of a memory", name);
    const bool is_capital = name.size() == 1 && std::isupper(static_cast<unsigned char>(name.front())) != 0;
    return fmt::format("{0} is not known here. Declare it, as in \"{1}\", or assign it in a line before",
                       name,
                       is_capital ? fmt::format("memory {}: key x value", name)
                                  : fmt::format("inputs {}: strength per token", name));
  }

  /// |x|, the square root of x^T x.
  Value norm(std::string_view first, const Value& x) const {
    if (x.is_number()) return joined(first, call("abs", {x.expression}), {1, 1});
    if (!is_vector(x))
      wrong(x.text, fmt::format("{} is {}: only vectors have a norm here", x.text, in_words(x.shape)));
    return joined(first, call("sqrt", {dot(x)}), {1, 1});
  }

  static Expression dot(const Value& x) {
    return x.is_column() ? transpose(x.expression) * x.expression : x.expression * transpose(x.expression);
  }

  Value called(std::string_view first, const std::string& name) {
    if (!takes("(")) wrong(first, fmt::format("{} is a function: it needs brackets", name));
    const Value x = sized(sum(), specimen_dk);
    expect(")", first);
    if (is_among(name, elementwise)) return joined(first, call(name, {x.expression}), x.shape);
    if (name == "norm") return norm(first, x);
    if (!is_vector(x))
      wrong(x.text, fmt::format("{} is {}: {} takes a vector", x.text, in_words(x.shape), name));
    if (name == "l2norm")
      return joined(first, x.expression * call("reciprocal", {call("sqrt", {dot(x)})}), x.shape);
    if (!x.is_column())
      wrong(x.text, fmt::format("{} is a row: {} takes a column; transpose it", x.text, name));
    if (name == "sum") return joined(first, call("row_sum", {transpose(x.expression)}), {1, 1});
    if (name == "softmax")
      return joined(first, transpose(call("row_softmax", {transpose(x.expression)})), x.shape);
    return joined(first, diagonal(x.expression), {x.shape.rows, x.shape.rows});
  }

  static constexpr int most_depth = 40;

  std::string_view rest_;
  const Record& specimens_;
  const std::map<std::string, std::string, std::less<>>& present_;
  const Complain& complain_;
  int depth_ = 0;
  bool in_bars_ = false;
};

}  // namespace

std::string plain_name(std::string_view written) {
  const auto [name, length] = name_at(written);
  return length == written.size() ? name : std::string();
}

bool is_greek(std::string_view name) {
  return std::ranges::any_of(greek, [&](const auto& letter) { return letter.second == name; });
}

std::span<const char* const> formula_functions() { return callable; }

Formula read_formula(std::string_view text, const Record& specimens,
                     const std::map<std::string, std::string, std::less<>>& present,
                     const Complain& complain) {
  return FormulaReader(text, specimens, present, complain).whole();
}

}  // namespace palimpsest
