#include <cmath>

#include "core/base/error.h"
#include "core/formula/functions.h"
#include "tests/catch.h"
#include "tests/core/random_expression.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const Symbols symbols = {
    {"alpha", {"\\alpha_t", Role::gate, ""}},
    {"beta", {"\\beta_t", Role::strength, ""}},
    {"k", {"k_t", Role::key, ""}},
    {"v", {"v_t", Role::value, ""}},
    {"S_before", {"S_{t-1}", Role::state, ""}},
    {"S_decayed", {"\\bar S_t", Role::state, ""}},
    {"old", {"\\hat v_t", Role::value, ""}},
    {"error", {"e_t", Role::error, ""}},
};

/// Numbers that are easy to recognise: row + column / 10 + 1.
Matrix<double> counting(Index rows, Index columns) {
  Matrix<double> result(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j)
      result(i, j) = 1 + static_cast<double>(i) + static_cast<double>(j) / 10;
  }
  return result;
}

Record token_record() {
  Record record;
  record.set("alpha", Matrix<double>::Constant(1, 1, 0.5));
  record.set("beta", Matrix<double>::Constant(1, 1, 0.25));
  record.set("gate", counting(6, 1));
  record.set("S_before", counting(6, 3));
  record.set("S_decayed", 0.5 * counting(6, 3));
  record.set("k", counting(6, 1));
  record.set("v", -counting(3, 1));
  record.set("old", counting(3, 1));
  record.set("error", counting(3, 1));
  return record;
}

Explanation why(const Expression& expression, const Record& record, Index row, Index column) {
  return explain({"result", expression}, symbols, record, row, column);
}

bool reads(const Explanation& explanation, const Cells& cells) {
  const auto place = [](const Cells& of) {
    return std::tie(of.tensor, of.first_row, of.first_column, of.rows, of.columns);
  };
  return is_among(place(cells), explanation.sources, place);
}

/// Works out "0.5·(−2) + 1.2 / (3 − 1)": proves that no bracket is missing.
class Calculator {
 public:
  explicit Calculator(std::string text) : rest_(std::move(text)) {}

  double value() {
    double result = product();
    while (true) {
      if (took(" + "))
        result += product();
      else if (took(" − "))
        result -= product();
      else
        return result;
    }
  }

  bool at_end() const { return rest_.empty(); }

 private:
  bool took(const std::string& token) {
    if (!rest_.starts_with(token)) return false;
    rest_.erase(0, token.size());
    return true;
  }

  double product() {
    if (took("−")) return -product();
    double result = factor();
    while (true) {
      if (took("·"))
        result *= factor();
      else if (took(" / "))
        result /= factor();
      else
        return result;
    }
  }

  double factor() {
    if (took("(")) {
      const double result = value();
      took(")");
      return result;
    }
    std::size_t used = 0;
    const double number = std::stod(rest_, &used);
    rest_.erase(0, used);
    return number;
  }

  std::string rest_;
};

bool brackets_match(const std::string& text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

void require_agreement(const Expression& x, const Record& record, Index row, Index column) {
  const double expected = evaluate(x, record)(row, column);
  const Explanation explanation = why(x, record, row, column);
  INFO(to_string(x) << "\n" << explanation.formula << "\n= " << explanation.numbers);
  const bool both_nan = std::isnan(expected) && std::isnan(explanation.value);
  REQUIRE((both_nan || explanation.value == expected ||
           std::abs(explanation.value - expected) <= 1e-12 * (1 + std::abs(expected))));
  REQUIRE(brackets_match(explanation.formula));
  REQUIRE(brackets_match(explanation.numbers));
  REQUIRE_FALSE(explanation.formula.empty());
  REQUIRE_FALSE(explanation.numbers.empty());
  for (const Cells& cells : explanation.sources) {
    const Matrix<double>& source = record.at(cells.tensor);
    REQUIRE(cells.rows > 0);
    REQUIRE(cells.columns > 0);
    REQUIRE(cells.first_row >= 0);
    REQUIRE(cells.first_column >= 0);
    REQUIRE(cells.first_row + cells.rows <= source.rows());
    REQUIRE(cells.first_column + cells.columns <= source.cols());
  }
}

}  // namespace

TEST_CASE("why: a scaled, a subtracted and an outer-product cell") {
  const Record record = token_record();
  Explanation e = why(tensor("alpha") * tensor("S_before"), record, 3, 2);
  CHECK(e.formula == "α·Sₜ₋₁[3,2]");
  CHECK(e.numbers == "0.5·4.2");
  CHECK(e.value == Approx(2.1));
  CHECK(reads(e, {"alpha", 0, 0}));
  CHECK(reads(e, {"S_before", 3, 2}));

  e = why(tensor("v") - tensor("old"), record, 1, 0);
  CHECK(e.formula == "v[1] − v̂[1]");
  CHECK(e.numbers == "−2 − 2");
  CHECK(why(tensor("old") - tensor("v"), record, 1, 0).numbers == "2 − (−2)");
  CHECK(why(tensor("old") + tensor("v"), record, 1, 0).numbers == "2 − 2");

  e = why(tensor("S_decayed") + tensor("beta") * tensor("k") * transpose(tensor("error")), record, 3, 1);
  CHECK(e.formula == "S̄[3,1] + β·k[3]·e[1]");
  CHECK(e.numbers == "2.05 + 0.25·4·2");
  CHECK(e.sources.size() == 4);
}

TEST_CASE("why: what has the opposite sign is written with one, not taken from 0") {
  const Record record = token_record();
  const Explanation e = why(call("negative", {tensor("v")}), record, 1, 0);
  CHECK(e.formula == "−v[1]");
  CHECK(e.numbers == "−(−2)");
  CHECK(e.value == 2);
  CHECK(why(call("negative", {tensor("v") + tensor("old")}), record, 1, 0).numbers == "−(−2 + 2)");
}

TEST_CASE("why: a sum shows its largest terms first") {
  const Record record = token_record();
  const Explanation e = why(transpose(tensor("S_decayed")) * tensor("k"), record, 2, 0);
  CHECK(e.formula == "Σᵢ S̄[i,2]·k[i]");
  CHECK(e.latex == R"(\sum _i \bar S_t[i,2]\,k_t[i])");
  CHECK(e.numbers == "3.1·6 + 2.6·5 + 2.1·4 + 1.6·3 + …");
  CHECK(reads(e, {"S_decayed", 0, 2, 6, 1}));
  CHECK(reads(e, {"k", 0, 0, 6, 1}));
  CHECK(e.sources.size() == 2);

  Record few;
  few.set("x", counting(1, 3));
  few.set("y", counting(3, 2));
  CHECK(why(tensor("x") * tensor("y"), few, 0, 1).numbers == "1·1.1 + 1.1·2.1 + 1.2·3.1");
}

TEST_CASE("why: named parts are read from the record, unrecorded ones are written out") {
  Record record = token_record();
  const Expression bar = tensor("alpha") * tensor("S_before");
  const Expression update = tensor("beta") * tensor("k") * transpose(tensor("error"));
  CHECK(why(named("S_decayed", bar) + update, record, 3, 1).formula == "S̄[3,1] + β·k[3]·e[1]");
  CHECK(why(named("unrecorded", bar) + update, record, 3, 1).formula == "α·Sₜ₋₁[3,1] + β·k[3]·e[1]");
  CHECK(explain({"S_decayed", named("S_decayed", bar)}, symbols, record, 0, 0).formula == "α·Sₜ₋₁[0,0]");
  const Expression nested = tensor("v") - transpose(named("unrecorded", bar)) * tensor("k");
  CHECK(why(nested, record, 1, 0).formula == "v[1] − Σᵢ α·Sₜ₋₁[i,1]·k[i]");
  CHECK(why(nested, record, 1, 0).latex == R"(v_t[1] - \sum _i \alpha_t\,S_{t-1}[i,1]\,k_t[i])");
  CHECK(why(tensor("beta") * nested, record, 1, 0).formula == "β·(v[1] − Σᵢ α·Sₜ₋₁[i,1]·k[i])");
  CHECK(why(transpose(tensor("S_before")) * tensor("k") + tensor("v"), record, 1, 0).formula ==
        "(Σᵢ Sₜ₋₁[i,1]·k[i]) + v[1]");
}

TEST_CASE("why: a diagonal factor takes one entry") {
  const Record record = token_record();
  Explanation e = why(diagonal(tensor("gate")) * tensor("S_before"), record, 3, 2);
  CHECK(e.formula == "gate[3]·Sₜ₋₁[3,2]");
  CHECK(e.sources.size() == 2);
  e = why(tensor("S_before") * diagonal(tensor("v")), record, 3, 2);
  CHECK(e.formula == "Sₜ₋₁[3,2]·v[2]");
  CHECK(e.numbers == "4.2·(−3)");
  CHECK(why(diagonal(tensor("v")), record, 1, 1).formula == "v[1]");
  CHECK(why(diagonal(tensor("v")), record, 1, 2).formula == "0");
}

TEST_CASE("why: products inside a sum stay one symbol") {
  Record record;
  for (const char* name : {"Q", "K", "G", "U"}) record.set(name, counting(3, 3));
  const Explanation e =
      why(hadamard(tensor("Q") * transpose(tensor("K")), tensor("G")) * tensor("U"), record, 2, 1);
  CHECK(e.formula == "Σᵢ (Q Kᵀ)[2,i]·G[2,i]·U[i,1]");
  CHECK(reads(e, {"Q", 2, 0, 1, 3}));
  CHECK(reads(e, {"K", 0, 0, 3, 3}));
  CHECK(reads(e, {"G", 2, 0, 1, 3}));
  CHECK(reads(e, {"U", 0, 1, 3, 1}));
  const Symbols none;
  Record masked = record;
  CHECK(
      explain({"O", call("lower", {tensor("Q") * tensor("K")}) * tensor("U")}, none, masked, 2, 1).formula ==
      "Σᵢ tril(Q K)[2,i]·U[i,1]");
}

TEST_CASE("why: decays") {
  Record record;
  record.set("alpha", 0.5 * Matrix<double>::Ones(7, 1));
  record.set("A", 0.5 * Matrix<double>::Ones(7, 2));
  record.set("Q", counting(7, 2));
  record.set("K", counting(7, 2));
  const Expression mask = call("decay_mask", {tensor("alpha")});
  CHECK(why(mask, record, 3, 1).formula == "α[2]·α[3]");
  CHECK(why(mask, record, 3, 1).numbers == "0.5·0.5");
  CHECK(reads(why(mask, record, 3, 1), {"alpha", 2, 0, 2, 1}));
  CHECK(why(mask, record, 3, 3).formula == "1");
  CHECK(why(mask, record, 1, 3).formula == "0");
  CHECK(why(mask, record, 6, 0).formula == "α[1]·…·α[6]");
  CHECK(why(mask, record, 6, 0).numbers == "0.5·0.5·0.5·…·0.5");
  CHECK(why(mask, record, 6, 0).value == std::pow(0.5, 6));

  CHECK(why(call("cumulative_decay", {tensor("A")}), record, 1, 1).formula == "A[0,1]·A[1,1]");
  CHECK(why(call("remaining_decay", {tensor("A")}), record, 4, 1).formula == "A[5,1]·A[6,1]");
  CHECK(why(call("remaining_decay", {tensor("A")}), record, 6, 1).formula == "1");
  CHECK(why(call("total_decay", {tensor("A")}), record, 1, 0).formula == "A[0,1]·…·A[6,1]");
  CHECK(reads(why(call("total_decay", {tensor("A")}), record, 1, 0), {"A", 0, 1, 7, 1}));

  const Expression scores = call("decay_scores", {tensor("Q"), tensor("K"), tensor("A")});
  const Explanation e = why(scores, record, 3, 1);
  CHECK(e.formula == "Σᵢ Q[3,i]·K[1,i]·A[2,i]·A[3,i]");
  CHECK(e.numbers == "4·2·0.25 + 4.1·2.1·0.25");
  CHECK(e.sources.size() == 3);
  CHECK(why(scores, record, 1, 1).formula == "Σᵢ Q[1,i]·K[1,i]");
}

TEST_CASE("why: the solve reads the rows of its own result") {
  Record record;
  record.set("N", counting(4, 4).triangularView<Eigen::StrictlyLower>());
  record.set("R", counting(4, 2));
  const Equation solve = {"U", call("solve_unit_lower", {tensor("N"), tensor("R")})};
  Explanation e = explain(solve, {}, record, 3, 1);
  CHECK(e.formula == "R[3,1] − Σ_{j<3} N[3,j]·((I + N)⁻¹ R)[j,1]");
  CHECK(e.value == Approx(evaluate(solve.expression, record)(3, 1)));
  CHECK(e.sources.size() == 2);

  record.set("U", evaluate(solve.expression, record));
  e = explain(solve, {}, record, 3, 1);
  CHECK(e.formula == "R[3,1] − Σ_{j<3} N[3,j]·U[j,1]");
  CHECK(reads(e, {"U", 0, 1, 3, 1}));
  CHECK(reads(e, {"N", 3, 0, 1, 3}));
  CHECK(reads(e, {"R", 3, 1}));
  CHECK(explain(solve, {}, record, 1, 0).formula == "R[1,0] − N[1,0]·U[0,0]");
  CHECK(explain(solve, {}, record, 0, 0).formula == "R[0,0]");
}

TEST_CASE("why: softmax and features") {
  Record record;
  record.set("X", counting(2, 3));
  record.set("m", counting(2, 1));
  record.set("k", counting(3, 1));
  record.set("eps", Matrix<double>::Constant(1, 1, 1e-6));
  record.set("zero", Matrix<double>::Zero(1, 1));
  const auto formula = [&](const Expression& x, Index row, Index column) {
    return why(x, record, row, column).formula;
  };
  CHECK(formula(call("row_softmax", {tensor("X")}), 1, 2) == "exp(X[1,2] − max) / (Σⱼ exp(X[1,j] − max))");
  CHECK(formula(call("exp", {tensor("X")}), 1, 2) == "exp(X[1,2])");
  CHECK(formula(call("row_max", {tensor("X")}), 1, 0) == "maxⱼ X[1,j]");
  CHECK(formula(call("row_sum", {tensor("X")}), 1, 0) == "Σⱼ X[1,j]");
  CHECK(formula(call("exp_difference", {tensor("X"), tensor("m")}), 1, 2) == "exp(X[1,2] − m[1])");
  CHECK(formula(call("divide_rows", {tensor("X"), tensor("m")}), 1, 2) == "X[1,2] / m[1]");
  CHECK(formula(call("causal", {tensor("X"), tensor("zero"), tensor("zero")}), 0, 1) == "−∞");
  CHECK(formula(call("causal", {tensor("X"), tensor("zero"), tensor("zero")}), 1, 1) == "X[1,1]");
  CHECK(formula(call("features/elu1", {tensor("k")}), 1, 0) == "k[1] + 1");
  CHECK(formula(call("features/relu", {tensor("k")}), 1, 0) == "max(k[1], 0)");
  CHECK(formula(call("features/squared", {tensor("k")}), 1, 0) == "√2·k[0]·k[1]");
  CHECK(why(call("features/squared", {tensor("k")}), record, 1, 0).latex == R"(\sqrt{2}\,k_t[0]\,k_t[1])");
  CHECK(formula(call("features/squared", {tensor("k")}), 3, 0) == "k[1]·k[1]");
  CHECK(formula(call("features/taylor1", {tensor("k")}), 1, 0) == "k[0] / ‖k‖");
  CHECK(formula(call("row_features/taylor1", {tensor("X")}), 1, 1) == "X[1,0] / ‖X[1]‖");
  CHECK(formula(call("features/taylor2", {tensor("k")}), 4, 0) == "k[0]·k[0] / √2");
  CHECK(formula(call("append_one", {tensor("k")}), 3, 0) == "1");
  CHECK(formula(call("append_ones", {tensor("X")}), 1, 2) == "X[1,2]");
  CHECK(formula(call("normalise", {tensor("k"), tensor("eps")}), 1, 0) == "k[1] / (k[2] + eps)");
  CHECK(why(call("normalise", {tensor("k"), tensor("eps")}), record, 1, 0).numbers == "2 / (3 + 1·10⁻⁶)");
  CHECK(why(call("log_add_exp", {tensor("X"), tensor("X")}), record, 1, 0).numbers == "log(exp(2) + exp(2))");
  CHECK(formula(call("row_normalise", {tensor("X"), tensor("eps")}), 1, 0) == "X[1,0] / (X[1,2] + eps)");
}

TEST_CASE("why: a cell that does not exist is an error") {
  const Record record = token_record();
  CHECK_THROWS_AS(why(tensor("v"), record, 3, 0), Error);
  CHECK_THROWS_AS(why(tensor("v"), record, -1, 0), Error);
  CHECK_THROWS_WITH(why(tensor("v"), record, 0, 1), says("\"result\"") && says("[3, 1]"));
  CHECK_THROWS_AS(why(tensor("none"), record, 0, 0), Error);
}

TEST_CASE("why: infinities and NaN are shown, not stumbled over") {
  Record record;
  Matrix<double> x = counting(1, 6);
  x(0, 2) = quiet_nan;
  x(0, 4) = -infinity;
  record.set("x", x);
  record.set("y", counting(6, 1));
  const Explanation e = why(tensor("x") * tensor("y"), record, 0, 0);
  CHECK(std::isnan(e.value));
  CHECK(e.numbers == "NaN·3 − ∞·5 + 1.5·6 + 1.3·4 + …");
}

TEST_CASE("the value explained is the value computed, for random expressions and every function") {
  std::map<std::string, int> grown;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomExpressions random(seed);
    const Index rows = 1 + random.upto(5);
    const Index columns = random.upto(2) == 0 ? 1 : 1 + random.upto(5);
    const Expression x = random.grow(rows, columns, 3);
    for (int i = 0; i < 3; ++i) {
      require_agreement(x, random.record, random.upto(rows - 1), random.upto(columns - 1));
    }
    for (const auto& [name, times] : random.grown) grown[name] += times;
  }
  for (const Function& function : functions()) {
    INFO(function.name);
    CHECK(grown[function.name] >= 5);
  }
  CHECK(grown.size() == functions().size() + 13);
}

TEST_CASE("the numbers shown work out to the value") {
  int worked_out = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomExpressions random(seed);
    random.with_functions = false;
    random.whole_numbers = true;
    const Expression x = random.grow(2, 3, 3);
    const Explanation e = why(x, random.record, 1, 2);
    if (e.numbers.find("…") != std::string::npos || e.numbers.find("10") != std::string::npos) continue;
    INFO(e.formula << "\n= " << e.numbers << "\n= " << e.value);
    Calculator calculator(e.numbers);
    REQUIRE(calculator.value() == Approx(e.value).margin(1e-9));
    REQUIRE(calculator.at_end());
    ++worked_out;
  }
  CHECK(worked_out > 500);
}
