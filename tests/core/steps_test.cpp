// The formulas on screen are what was computed: every expression of every step, evaluated on the step's own
// operands, gives the tensor that the engine recorded.

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/formula/expression.h"
#include "core/steps/trace.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// max|X - Y| / max|Y|; equal infinities agree, anything else that is not finite does not.
double difference(const Matrix<double>& value, const Matrix<double>& recorded) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value.rows() != recorded.rows() || value.cols() != recorded.cols()) return infinity;
  double largest = 0;
  double furthest = 0;
  for (Index i = 0; i < value.size(); ++i) {
    const double x = value.data()[i];
    const double y = recorded.data()[i];
    if (x == y && std::isinf(x)) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return infinity;
    largest = std::max(largest, std::abs(y));
    furthest = std::max(furthest, std::abs(x - y));
  }
  return furthest == 0 ? 0 : furthest / largest;
}

double error_of(const Equation& equation, const Record& record) {
  return difference(evaluate(equation.expression, record), record.at(equation.result));
}

/// Whether `piece` stands in `latex` as a subscript of its own, not as the start of a longer command.
bool has_subscript(const std::string& latex, const std::string& piece) {
  for (std::size_t at = latex.find(piece); at != std::string::npos; at = latex.find(piece, at + 1)) {
    const std::size_t end = at + piece.size();
    if (end == latex.size() || std::isalpha(static_cast<unsigned char>(latex[end])) == 0) return true;
  }
  return false;
}

/// Calls `visit(each, trace, phase, record)` for every block of every form of every case of this size.
template <class Visit>
void for_every_block(const RandomCase& random, Index chunk_size, Visit visit) {
  for (const Case& each : all_cases(random)) {
    for (const Form form : each.forms()) {
      const auto trace = each.trace(form, chunk_size);
      for (Index index = 0; index < trace->block_count(); ++index) {
        const Phase& phase = trace->phase(trace->block(index));
        visit(fmt::format("{} {} block {}", each.words, name(form), index), *trace, phase,
              trace->record(index));
      }
    }
  }
}

void check_every_formula(const RandomCase& random, Index chunk_size) {
  for_every_block(random, chunk_size,
                  [](const std::string& words, const Trace&, const Phase& phase, const Record& record) {
                    for (const Operation& operation : phase.operations) {
                      INFO(words << " operation " << operation.id << ": " << operation.equation.result
                                 << " = " << to_string(operation.equation.expression));
                      CHECK(error_of(operation.equation, record) <= 1e-12);
                    }
                    for (const Line& line : phase.lines) {
                      INFO(words << " line " << line.title << ": " << line.equation.result << " = "
                                 << to_string(line.equation.expression));
                      CHECK(error_of(line.equation, record) <= 1e-12);
                    }
                  });
}

}  // namespace

TEST_CASE("every formula gives what the engine recorded") {
  check_every_formula({.tokens = 9, .dk = 3, .dv = 5, .seed = 11}, 4);
  check_every_formula({.tokens = 37, .dk = 5, .dv = 3, .seed = 12}, 20);
}

TEST_CASE("every formula holds where vectors and matrices shrink to numbers") {
  check_every_formula({.tokens = 5, .dk = 1, .dv = 1, .seed = 13}, 2);
  check_every_formula({.tokens = 3, .dk = 1, .dv = 4, .seed = 14}, 1);
  check_every_formula({.tokens = 1, .dk = 4, .dv = 1, .seed = 15}, 3);
}

TEST_CASE("every cell's own arithmetic gives the recorded number") {
  for_every_block({.tokens = 5, .dk = 3, .dv = 2, .seed = 16}, 3,
                  [](const std::string& words, const Trace& trace, const Phase& phase, const Record& record) {
                    for (const Operation& operation : phase.operations) {
                      const Matrix<double>& recorded = record.at(operation.equation.result);
                      Matrix<double> explained(recorded.rows(), recorded.cols());
                      for (Index row = 0; row < recorded.rows(); ++row) {
                        for (Index column = 0; column < recorded.cols(); ++column) {
                          explained(row, column) =
                              explain(operation.equation, trace.symbols, record, row, column).value;
                        }
                      }
                      INFO(words << " operation " << operation.id);
                      CHECK(difference(explained, recorded) <= 1e-12);
                    }
                  });
}

TEST_CASE("every tensor of every formula has a symbol, every formula its LaTeX") {
  for_every_block({.tokens = 3, .dk = 3, .dv = 2, .seed = 17}, 2,
                  [](const std::string& words, const Trace& trace, const Phase& phase, const Record&) {
                    for (const Operation& operation : phase.operations) {
                      INFO(words << " operation " << operation.id);
                      CHECK(trace.symbols.contains(operation.equation.result));
                      for (const std::string& operand : operands(operation.equation.expression)) {
                        INFO(operand);
                        CHECK(trace.symbols.contains(operand));
                      }
                      CHECK_FALSE(latex(operation.equation, trace.symbols).empty());
                      CHECK_FALSE(operation.title.empty());
                      CHECK_FALSE(operation.sentence.empty());
                    }
                  });
}

TEST_CASE("what stands for many tokens has no time of its own, and different tensors look different") {
  for_every_block({.tokens = 7, .dk = 3, .dv = 2, .seed = 20}, 4,
                  [](const std::string& words, const Trace& trace, const Phase& phase, const Record& record) {
                    std::map<std::string, std::string> called;  // by their LaTeX
                    for (const Operation& operation : phase.operations) {
                      std::vector<std::string> shown = operands(operation.equation.expression);
                      shown.push_back(operation.equation.result);
                      for (const std::string& tensor : shown) {
                        const std::string& latex = trace.symbols.at(tensor).latex;
                        INFO(words << ": " << tensor << " is written " << latex);
                        if (trace.form != Form::recurrent && record.at(tensor).rows() > 1) {
                          CHECK_FALSE(has_subscript(latex, "_t"));
                          CHECK_FALSE(has_subscript(latex, "_{t-1}"));
                        }
                        CHECK(called.emplace(latex, tensor).first->second == tensor);
                      }
                    }
                  });
}

TEST_CASE("the lines of a phase take its operations in order, each once") {
  for_every_block({.tokens = 2, .dk = 3, .dv = 2, .seed = 18}, 2,
                  [](const std::string& words, const Trace&, const Phase& phase, const Record&) {
                    std::vector<std::string> operations;
                    std::vector<std::string> shown;
                    for (const Operation& operation : phase.operations) operations.push_back(operation.id);
                    for (const Line& line : phase.lines) {
                      shown.insert(shown.end(), line.operations.begin(), line.operations.end());
                    }
                    INFO(words);
                    CHECK(shown == operations);
                    CHECK(std::set(operations.begin(), operations.end()).size() == operations.size());
                  });
}

TEST_CASE("a formula that is not what was computed is noticed") {
  const RandomCase random{.tokens = 9, .dk = 3, .dv = 5, .initial_state = true, .seed = 19};
  const Case each = random_case(find_variant("kda"), {.parameters = {{"scale", 0.5}}}, random);

  const auto recurrent = each.trace(Form::recurrent, 1);
  const Record& token = recurrent->record(6);
  const Expression S = tensor("S_before");
  CHECK(error_of({"S_decayed", diagonal(tensor("alpha")) * S}, token) <= 1e-12);
  CHECK(error_of({"S_decayed", S}, token) > 1e-3);
  CHECK(error_of({"old", transpose(S) * tensor("k")}, token) > 1e-3);
  CHECK(error_of({"error", tensor("old") - tensor("v")}, token) > 1e-3);
  CHECK(error_of({"update", tensor("k") * transpose(tensor("error"))}, token) > 1e-3);
  CHECK(error_of({"o", transpose(tensor("S_after")) * tensor("q")}, token) > 1e-3);

  const auto chunkwise = each.trace(Form::chunkwise, 4);
  const Record& chunk = chunkwise->record(1);
  const Expression B = hadamard(tensor("beta"), tensor("K"));
  CHECK(error_of({"N", call("decay_scores", {tensor("K"), B, tensor("alpha")})}, chunk) > 1e-3);
  CHECK(error_of({"U", tensor("R")}, chunk) > 1e-3);
  CHECK(error_of({"S_out", tensor("S_in") + tensor("S_written")}, chunk) > 1e-3);
}
