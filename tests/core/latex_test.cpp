#include <algorithm>

#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/random_expression.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("symbols become plain Unicode") {
  const std::pair<const char*, const char*> expected[] = {
      {"k_t", "k"},
      {"S_{t-1}", "Sₜ₋₁"},
      {"\\bar S_t", "S̄"},
      {"\\bar{S}_{t-1}", "S̄ₜ₋₁"},
      {"\\hat v_t", "v̂"},
      {"\\tilde\\alpha", "α̃"},
      {"\\alpha_t", "α"},
      {"\\beta", "β"},
      {"\\Lambda_0", "Λ₀"},
      {"v^{old}_t", "v^old"},
      {"v_t^1", "v¹"},
      {"x_{ab:c}", "x_{ab:c}"},
      {"x_y", "x_y"},
      {"O_{\\mathrm{before}}", "O_before"},
      {"O_\\mathrm{in}", "Oᵢₙ"},
      {"\\phi\\left(k_t\\right)", "φ(k)"},
      {"\\left(I + N\\right)^{-1} R", "(I + N)⁻¹ R"},
      {"Q K^{\\top} \\odot G", "Q Kᵀ ⊙ G"},
      {"\\mathrm{Diag}\\left(\\alpha_t\\right) S", "Diag(α) S"},
      {"X + \\log M", "X + log M"},
      {"\\frac{a}{b+1}", "(a)/(b+1)"},
      {"\\mathrm{initial\\_state}", "initial_state"},
      {"\\unknown", "unknown"},
      {"", ""},
      {"\\", ""},
      {"{a_", "a"},
      {"a}b", "a"},
      {"\\bar", "\u0304"},
  };
  for (const auto& [latex, text] : expected) CHECK(unicode(latex) == text);
}

TEST_CASE("numbers are written for a person") {
  CHECK(number_text(0.987) == "0.987");
  CHECK(number_text(-0.41) == "−0.41");
  CHECK(number_text(1.0 / 3) == "0.3333");
  CHECK(number_text(-1.2345e-5) == "−1.234·10⁻⁵");
  CHECK(number_text(1.5e12) == "1.5·10¹²");
  CHECK(number_text(0) == "0");
  CHECK(number_text(-0.0) == "0");
  CHECK(number_text(-infinity) == "−∞");
  CHECK(number_text(quiet_nan) == "NaN");

  CHECK(number_latex(0.98712) == "0.987");
  CHECK(number_latex(-1.2e-5) == "-1.2\\cdot 10^{-5}");
  CHECK(number_latex(infinity) == "\\infty");
  CHECK(number_latex(quiet_nan) == "\\mathrm{NaN}");
}

namespace {

const Symbols gated_deltanet_symbols = {
    {"alpha", {"\\alpha_t", Role::gate, "decay"}},
    {"beta", {"\\beta_t", Role::strength, "write strength"}},
    {"k", {"k_t", Role::key, "key"}},
    {"v", {"v_t", Role::value, "target v"}},
    {"S_before", {"S_{t-1}", Role::state, "memory before"}},
    {"S_decayed", {"\\bar S_t", Role::state, "memory after decay"}},
    {"S_after", {"S_t", Role::state, "memory after"}},
    {"old", {"\\hat v_t", Role::value, "prediction v̂"}},
    {"error", {"e_t", Role::error, "error e = v − v̂"}},
    {"G", {"G", Role::gate, "decay since the write"}},
    {"power", {"x^{2}", Role::plain, "a symbol with a superscript"}},
};

const std::vector<Equation> gated_deltanet_rule = {
    {"S_decayed", tensor("alpha") * tensor("S_before")},
    {"old", transpose(tensor("S_decayed")) * tensor("k")},
    {"error", tensor("v") - tensor("old")},
    {"S_after", tensor("S_decayed") + tensor("beta") * tensor("k") * transpose(tensor("error"))},
};

std::string plain(const Expression& expression) { return latex(expression, gated_deltanet_symbols); }

/// "P", "K", … in lower case when dim, so that strings stay readable.
std::string letter_of(Role role, bool lit) {
  const char letter = "PQKVGBESO"[static_cast<int>(role)];
  return {lit ? letter : static_cast<char>(std::tolower(letter))};
}

/// Reads LaTeX back: evaluates it by the usual rules of precedence, so that a missing bracket is a wrong
/// value.
class LatexCalculator {
 public:
  LatexCalculator(std::string latex, const Record& record) : rest_(std::move(latex)), record_(record) {}

  Matrix<double> value() {
    Matrix<double> result = hadamards();
    while (!rest_.empty() && (rest_[0] == '+' || rest_[0] == '-')) {
      const double sign = rest_[0] == '+' ? 1 : -1;
      skip(1);
      result += sign * hadamards();
    }
    return result;
  }

 private:
  void skip(std::size_t count) {
    rest_.erase(0, count);
    while (rest_.starts_with(' ')) rest_.erase(0, 1);
  }

  bool took(const std::string& token) {
    if (!rest_.starts_with(token)) return false;
    skip(token.size());
    return true;
  }

  static Matrix<double> joined(const Expression& by, const Matrix<double>& x, const Matrix<double>& y) {
    Record both;
    both.set("x", x);
    both.set("y", y);
    return evaluate(by, both);
  }

  Matrix<double> hadamards() {
    Matrix<double> result = products();
    while (took("\\odot")) {
      result = joined(hadamard(tensor("x"), tensor("y")), result, products());
    }
    return result;
  }

  bool at_factor() const {
    return rest_.starts_with("\\mathrm") || rest_.starts_with("\\left") || rest_.starts_with("\\underline");
  }

  Matrix<double> products() {
    Matrix<double> result = factor();
    while (at_factor()) {
      result = joined(tensor("x") * tensor("y"), result, factor());
    }
    return result;
  }

  Matrix<double> factor() {
    Matrix<double> result = base();
    while (took("^{\\top}")) result = Matrix<double>(result.transpose());
    return result;
  }

  Matrix<double> bracketed() {
    REQUIRE(took("\\left("));
    Matrix<double> result = value();
    REQUIRE(took("\\right)"));
    return result;
  }

  Matrix<double> base() {
    if (rest_.starts_with("\\left(")) return bracketed();
    if (took("\\mathrm{Diag}")) return bracketed().col(0).asDiagonal();
    REQUIRE(took("\\mathrm{"));
    const std::string name = rest_.substr(0, rest_.find('}'));
    skip(name.size() + 1);
    return record_.at(name);
  }

  std::string rest_;
  const Record& record_;
};

bool is_balanced(const std::string& latex) {
  int depth = 0;
  for (const char c : latex) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("LaTeX of Gated DeltaNet's equations") {
  CHECK(latex(gated_deltanet_rule[0], gated_deltanet_symbols) == "\\bar S_t = \\alpha_t S_{t-1}");
  CHECK(latex(gated_deltanet_rule[1], gated_deltanet_symbols) == "\\hat v_t = \\bar S_t^{\\top} k_t");
  CHECK(latex(gated_deltanet_rule[3], gated_deltanet_symbols) ==
        "S_t = \\bar S_t + \\beta_t k_t e_t^{\\top}");

  const std::vector<std::string> error_parts = {"error", "old"};
  CHECK(latex({"S_after", expand(gated_deltanet_rule[3].expression, gated_deltanet_rule, error_parts)},
              gated_deltanet_symbols) ==
        "S_t = \\bar S_t + \\beta_t k_t \\left(v_t - \\bar S_t^{\\top} k_t\\right)^{\\top}");

  const std::vector<std::string> all = {"error", "old", "S_decayed"};
  CHECK(plain(expand(gated_deltanet_rule[3].expression, gated_deltanet_rule, all)) ==
        "\\alpha_t S_{t-1} + \\beta_t k_t \\left(v_t - \\left(\\alpha_t S_{t-1}\\right)^{\\top} "
        "k_t\\right)^{\\top}");
}

TEST_CASE("the lit part is at full strength and underlined, the rest is dim") {
  const std::vector<std::string> parts = {"error", "old"};
  const Equation after = {"S_after", expand(gated_deltanet_rule[3].expression, gated_deltanet_rule, parts)};
  LatexStyle style;
  style.lit = "old";
  CHECK(latex(after, gated_deltanet_symbols, style) ==
        "S_t = \\bar S_t + \\beta_t k_t \\left(v_t - \\underline{\\bar S_t^{\\top} k_t}\\right)^{\\top}");

  style.colour = letter_of;
  CHECK(latex(after, gated_deltanet_symbols, style) ==
        "\\fgcolor{p}{\\fgcolor{s}{S_t} = \\fgcolor{s}{\\bar S_t} + \\fgcolor{b}{\\beta_t} \\fgcolor{k}{k_t} "
        "\\left(\\fgcolor{v}{v_t} - \\fgcolor{P}{\\underline{\\fgcolor{S}{\\bar S_t^{\\top}} "
        "\\fgcolor{K}{k_t}}}\\right)^{\\top}}");

  style.lit = "S_decayed";
  CHECK(latex(gated_deltanet_rule[1], gated_deltanet_symbols, style) ==
        "\\fgcolor{p}{\\fgcolor{v}{\\hat v_t} = \\fgcolor{S}{\\underline{\\bar S_t}}^{\\top} "
        "\\fgcolor{k}{k_t}}");
  CHECK(latex(gated_deltanet_rule[0], gated_deltanet_symbols, style) ==
        "\\fgcolor{p}{\\fgcolor{S}{\\underline{\\bar S_t}} = \\fgcolor{g}{\\alpha_t} \\fgcolor{s}{S_{t-1}}}");

  style.lit.clear();
  CHECK(latex(gated_deltanet_rule[0], gated_deltanet_symbols, style) ==
        "\\fgcolor{P}{\\fgcolor{S}{\\bar S_t} = \\fgcolor{G}{\\alpha_t} \\fgcolor{S}{S_{t-1}}}");
}

TEST_CASE("numbers stand in for [1, 1] tensors") {
  Record record;
  record.set("alpha", Matrix<double>::Constant(1, 1, 0.98712));
  record.set("beta", Matrix<double>::Constant(1, 1, -1.2e-5));
  record.set("v", Matrix<double>::Constant(1, 1, -0.5));
  record.set("k", Matrix<double>::Constant(2, 1, 1));
  LatexStyle style;
  style.numbers = &record;
  const auto with_numbers = [&](const Expression& x) { return latex(x, gated_deltanet_symbols, style); };
  CHECK(latex(gated_deltanet_rule[0], gated_deltanet_symbols, style) == "\\bar S_t = 0.987 S_{t-1}");
  CHECK(with_numbers(tensor("beta") * tensor("k")) == "\\left(-1.2\\cdot 10^{-5}\\right) k_t");
  CHECK(with_numbers(tensor("alpha") * tensor("alpha") * tensor("k")) == "0.987 \\cdot 0.987 k_t");
  CHECK(with_numbers(tensor("k") * transpose(tensor("alpha"))) == "k_t \\cdot 0.987");
  CHECK(with_numbers(tensor("alpha") + tensor("v")) == "0.987 + \\left(-0.5\\right)");
  CHECK(with_numbers(tensor("v") - tensor("v")) == "-0.5 - \\left(-0.5\\right)");
  style.lit = "alpha";
  CHECK(with_numbers(tensor("alpha") * tensor("k")) == "\\underline{0.987} k_t");
}

TEST_CASE("brackets stand where precedence needs them, and nowhere else") {
  const Expression a = tensor("alpha"), k = tensor("k"), v = tensor("v"), S = tensor("S_before"),
                   G = tensor("G");
  CHECK(plain(a + (k + v)) == "\\alpha_t + k_t + v_t");
  CHECK(plain(a - (k - v)) == "\\alpha_t - \\left(k_t - v_t\\right)");
  CHECK(plain((a - k) - v) == "\\alpha_t - k_t - v_t");
  CHECK(plain(hadamard(S * transpose(k), G)) == "S_{t-1} k_t^{\\top} \\odot G");
  CHECK(plain(hadamard(G, S) * k) == "\\left(G \\odot S_{t-1}\\right) k_t");
  CHECK(plain(k - hadamard(G, S)) == "k_t - G \\odot S_{t-1}");
  CHECK(plain(S * (transpose(k) * v)) == "S_{t-1} \\left(k_t^{\\top} v_t\\right)");
  CHECK(plain(transpose(transpose(S))) == "\\left(S_{t-1}^{\\top}\\right)^{\\top}");
  CHECK(plain(transpose(tensor("power"))) == "\\left(x^{2}\\right)^{\\top}");
  CHECK(plain(diagonal(a + k) * S) == "\\mathrm{Diag}\\left(\\alpha_t + k_t\\right) S_{t-1}");
  CHECK(plain(tensor("not_there")) == "\\mathrm{not\\_there}");
}

TEST_CASE("LaTeX of function calls") {
  const Expression k = tensor("k"), v = tensor("v"), G = tensor("G"), S = tensor("S_before");
  CHECK(plain(call("features/elu1", {k})) == "\\phi\\left(k_t\\right)");
  CHECK(plain(transpose(call("features/elu1", {k}))) == "\\phi\\left(k_t\\right)^{\\top}");
  CHECK(plain(call("solve_unit_lower", {G, v - k})) == "\\left(I + G\\right)^{-1} \\left(v_t - k_t\\right)");
  CHECK(plain(S * call("solve_unit_lower", {G, v})) == "S_{t-1} \\left(I + G\\right)^{-1} v_t");
  CHECK(plain(transpose(call("solve_unit_lower", {G, v}))) ==
        "\\left(\\left(I + G\\right)^{-1} v_t\\right)^{\\top}");
  CHECK(plain(call("causal", {S * k, v, v}) * k) == "\\left(S_{t-1} k_t + \\log M\\right) k_t");
  CHECK(plain(call("lower", {S * k})) == "\\mathrm{tril}\\left(S_{t-1} k_t\\right)");
  CHECK(plain(call("decay_mask", {tensor("alpha")})) == "\\left[{\\alpha_t}_{j+1:i}\\right]_{j \\le i}");
  CHECK(plain(call("normalise", {v, tensor("alpha")})) ==
        "{v_t}_{1:V} / \\left({v_t}_{V+1} + {\\alpha_t}\\right)");
  CHECK(plain(call("maximum", {k})) == "\\max\\left(k_t, ?\\right)");
}

TEST_CASE("the pieces of a call's LaTeX between its arguments are complete by themselves") {
  for (const Function& function : functions()) {
    std::string rest = function.latex(std::vector<std::string>{"@", "@", "@"});
    INFO(function.name << ": " << rest);
    CHECK(count(rest, "@") >= 1);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('@'), rest.size());
      CHECK(is_balanced(rest.substr(0, end)));
      rest.erase(0, end + 1);
    }
  }
}

TEST_CASE("LaTeX read back by the rules of precedence has the value of the expression") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomExpressions random(seed);
    random.with_functions = false;
    const Expression x = random.grow(1 + random.upto(3), 1 + random.upto(3), 4);
    const std::string written = latex(x, {});
    INFO(written);
    const Matrix<double> expected = evaluate(x, random.record);
    const Matrix<double> read = LatexCalculator(written, random.record).value();
    REQUIRE(furthest_apart(read, expected) <= 1e-12 * (1 + largest(expected)));
  }
}

TEST_CASE("LaTeX of random expressions is balanced, in every style") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomExpressions random(seed);
    const Expression x = random.grow(random.upto(4), random.upto(4), 4);
    for (const bool coloured : {false, true}) {
      for (const bool numbers : {false, true}) {
        for (const char* lit : {"", "t0", "t1", "named1", "named2", "nowhere"}) {
          LatexStyle style;
          if (coloured) style.colour = letter_of;
          if (numbers) style.numbers = &random.record;
          style.lit = lit;
          const std::string written = latex({"result", x}, {}, style);
          INFO(written);
          REQUIRE(is_balanced(written));
          REQUIRE(count(written, "\\left(") == count(written, "\\right)"));
          REQUIRE(count(written, "\\left[") == count(written, "\\right]"));
          REQUIRE(count(written, "^{\\top}^") == 0);
          REQUIRE(count(written, "^{-1}^") == 0);
        }
      }
    }
  }
}
