// The formulas on screen are what was computed: every expression of every step, evaluated on the step's own
// operands, gives the tensor that the engine recorded.

#include <fmt/format.h>

#include "core/steps/phase.h"
#include "core/steps/recognised.h"
#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

double error_of(const Equation& equation, const Record& record) {
  return compare(equation.result, evaluate(equation.expression, record), record.at(equation.result)).error;
}

/// Whether `piece` stands in `latex` as a subscript of its own, not as the start of a longer command.
bool has_subscript(const std::string& latex, const std::string& piece) {
  for (std::size_t at = latex.find(piece); at != std::string::npos; at = latex.find(piece, at + 1)) {
    const std::size_t end = at + piece.size();
    if (end == latex.size() || std::isalpha(static_cast<unsigned char>(latex[end])) == 0) return true;
  }
  return false;
}

struct ShownBlock {
  std::string words;
  const Trace& trace;
  const Phase& phase;
  const Record& record;
  const std::string& rule;
};

/// Calls `visit(block)` for every block of every one of these forms of every case of this size.
template <class Visit>
void for_every_block(const RandomCase& random, Index chunk_size, Visit visit,
                     std::span<const Form> forms = all_forms) {
  for (const Case& each : all_cases(random)) {
    for (const Form form : forms) {
      if (each.variant->rule->missing(form, each.sequence.settings)) continue;
      const auto trace = each.trace(form, chunk_size);
      for (Index index = 0; index < trace->block_count(); ++index) {
        const Block block = trace->block(index);
        visit(ShownBlock{fmt::format("{} {} block {}", each.words, name(form), index), *trace,
                         trace->phase(block), trace->record(index), each.variant->id});
      }
    }
  }
}

void check_every_formula(const RandomCase& random, Index chunk_size) {
  for_every_block(random, chunk_size, [](const ShownBlock& at) {
    const auto& [words, trace, phase, record, rule] = at;
    const auto check = [&](const std::string& what, const Equation& equation) {
      INFO(words << " " << what << ": " << equation.result << " = " << to_string(equation.expression));
      CHECK(error_of(equation, record) <= 1e-12);
    };
    for (const Operation& each : phase.operations) check(each.id, each.equation);
    for (const Line& line : phase.lines) check(line.title, line.equation);
  });
}

}  // namespace

TEST_CASE("every formula gives what the engine recorded, also where vectors and matrices shrink to numbers") {
  check_every_formula({.tokens = 9, .dk = 3, .dv = 5, .seed = 11}, 4);
  check_every_formula({.tokens = 37, .dk = 5, .dv = 3, .seed = 12}, 20);
  check_every_formula({.tokens = 5, .dk = 1, .dv = 1, .seed = 13}, 2);
  check_every_formula({.tokens = 3, .dk = 1, .dv = 4, .seed = 14}, 1);
  check_every_formula({.tokens = 1, .dk = 4, .dv = 1, .seed = 15}, 3);
}

TEST_CASE("every cell's own arithmetic gives the recorded number") {
  for_every_block({.tokens = 5, .dk = 3, .dv = 2, .seed = 16}, 3, [](const ShownBlock& at) {
    const auto& [words, trace, phase, record, rule] = at;
    for (const Operation& operation : phase.operations) {
      const Matrix<double>& recorded = record.at(operation.equation.result);
      Matrix<double> explained(recorded.rows(), recorded.cols());
      for (Index row = 0; row < recorded.rows(); ++row) {
        for (Index column = 0; column < recorded.cols(); ++column) {
          explained(row, column) = explain(operation.equation, trace.symbols, record, row, column).value;
        }
      }
      INFO(words << " operation " << operation.id);
      CHECK(compare("", explained, recorded).error <= 1e-12);
    }
  });
}

TEST_CASE("every tensor of every formula has a symbol, every formula its LaTeX") {
  for_every_block({.tokens = 3, .dk = 3, .dv = 2, .seed = 17}, 2, [](const ShownBlock& at) {
    const auto& [words, trace, phase, record, rule] = at;
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
  for_every_block({.tokens = 7, .dk = 3, .dv = 2, .seed = 20}, 4, [](const ShownBlock& at) {
    const auto& [words, trace, phase, record, rule] = at;
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
  for_every_block({.tokens = 2, .dk = 3, .dv = 2, .seed = 18}, 2, [](const ShownBlock& at) {
    const auto& [words, trace, phase, record, rule] = at;
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

// Phases: which operations a line takes, and what it shows of them.

namespace {

Operation operation(const std::string& id, Equation equation) {
  return {id, Purpose::write, id, id, equation.result, equation.expression};
}

}  // namespace

TEST_CASE("a line takes the operations added since the last line and writes out what it is told to") {
  PhaseBuilder steps("token by token");
  steps.add_all({operation("first", {"a", tensor("x") + tensor("y")}),
                 operation("second", {"b", transpose(tensor("a"))})});
  steps.line("One", "", {"a"});
  steps.add(operation("third", {"c", tensor("a") * tensor("b")}));
  steps.line("Two", "", {"a"}, 2);
  const Phase phase = steps.take();
  CHECK(phase.title == "token by token");
  REQUIRE(phase.operations.size() == 3);
  REQUIRE(phase.lines.size() == 2);
  CHECK(phase.lines[0].operations == std::vector<std::string>{"first", "second"});
  CHECK(phase.lines[1].operations == std::vector<std::string>{"third"});
  CHECK(phase.lines[1].weight == 2);
  CHECK(operands(phase.lines[0].equation.expression) == std::vector<std::string>{"x", "y"});
  CHECK(operands(phase.lines[1].equation.expression) == std::vector<std::string>{"x", "y", "b"});
}

TEST_CASE("what a state is moved by is found through sums, signs and blocks") {
  for (const char* optimizer : {"sgd", "muon"}) {
    const Case lact = random_case(find_variant("lact"), {.options = {{"optimizer", optimizer}}}, {});
    INFO(optimizer);
    CHECK(state_steps(*lact.trace(Form::recurrent, 1)) ==
          std::set<std::string>{"G", "G_after", "G_before", "update"});
    CHECK(state_steps(*lact.trace(Form::chunkwise, 2)) ==
          std::set<std::string>{"G", "G_in", "G_out", "update"});
  }
  // An error is made of values: it is laid down along a key before it moves anything.
  const Case delta = random_case("deltanet", {});
  for (const Form form : delta.forms()) CHECK(state_steps(*delta.trace(form, 4)).empty());
}

// Which is what the recurrence writes: trace_test.cpp compares all that chunks solve for.
TEST_CASE("what is missing, less what earlier rows wrote, is what a row writes", "[substitution]") {
  int rows = 0;
  const auto check = [&](const ShownBlock& at) {
    const auto& [words, trace, phase, record, rule] = at;
    for (const Operation& operation : phase.operations) {
      const auto names = substitution_of(operation);
      if (!names) continue;
      INFO(words);
      CHECK(operation.purpose == Purpose::solve);
      for (Index row = 0; row < record.at(names->solved).rows(); ++row) {
        const SubstitutionRow sum = substitution_row(*names, record, row);
        REQUIRE(static_cast<Index>(sum.taken.size()) == row);
        Matrix<double> total = sum.missing;
        for (const SubstitutionRow::Taken& taken : sum.taken) {
          CHECK(taken.coefficient == record.at(names->overlap)(row, taken.row));
          total += taken.part;
        }
        // The engine adds the same terms in another order.
        CHECK(deviation(total, sum.solved) <= 1e-13);
        ++rows;
      }
    }
  };
  for_every_block({.tokens = 11, .dk = 4, .dv = 3, .seed = 5}, 4, check, std::array{Form::chunkwise});
  CHECK(rows > 100);
}

namespace {

/// Each entry of the update is a product of at most four factors, rounded in another order.
constexpr double most_lost = 1e-15;

}  // namespace

TEST_CASE("what a write erases and what it writes add up to its update", "[overwrite]") {
  std::set<std::string> variants_with;
  const auto check = [&](const ShownBlock& at) {
    for (const bool is_turned : {false, true}) {
      const Record record = is_turned ? turned(at.record, at.trace.symbols) : at.record;
      const Phase steps = is_turned ? turned(at.phase, at.trace.symbols, at.record) : at.phase;
      for (const Operation& operation : steps.operations) {
        const auto overwrite = overwrite_of(steps, operation);
        if (!overwrite) continue;
        INFO(at.words << ", " << operation.id << ", turned: " << is_turned);
        variants_with.insert(at.rule);
        const Matrix<double> erased = evaluate(overwrite->erased, record);
        const Matrix<double> written = evaluate(overwrite->written, record);
        const Matrix<double> update = evaluate(overwrite->update, record);
        const double scale = std::max(largest(erased), largest(written));
        CHECK(furthest_apart(erased + written, update) <= most_lost * scale);
        if (overwrite->is_one_step) CHECK(update == record.at(operation.equation.result));
      }
    }
  };
  for_every_block({.tokens = 9, .dk = 4, .dv = 3, .seed = 8}, 4, check, std::array{Form::recurrent});
  for (const char* id : {"deltanet", "gated_deltanet", "kda", "comba", "titans", "rls", "rwkv7"}) {
    CAPTURE(id);
    CHECK(variants_with.contains(id));
  }
  for (const char* id : {"linear", "retnet", "gla", "mamba2", "softmax", "mesanet"}) {
    CAPTURE(id);
    CHECK_FALSE(variants_with.contains(id));
  }
}

TEST_CASE("what is erased lies along what was there, what is written along what should be", "[overwrite]") {
  const Case each = random_case("gated_deltanet", {.tokens = 3, .dk = 4, .dv = 3});
  const auto trace = each.trace(Form::recurrent, 1);
  const Phase& phase = trace->phases[0];
  for (const Operation& operation : phase.operations) {
    const auto overwrite = overwrite_of(phase, operation);
    CHECK(overwrite.has_value() == (operation.id == "update"));
    if (!overwrite) continue;
    CHECK(to_string(overwrite->erased) == "negative(((beta * k) * old^T))");
    CHECK(to_string(overwrite->written) == "((beta * k) * v^T)");
  }
}

namespace {

/// How many turned states `expression` still reads the other way round.
int turned_back(const Expression& expression, const Symbols& symbols, const Record& record) {
  const bool is_transpose = expression.kind() == Expression::Kind::transpose;
  int count = is_transpose && turns(expression.arguments()[0].name(), symbols, record) ? 1 : 0;
  for (const Expression& argument : expression.arguments()) count += turned_back(argument, symbols, record);
  return count;
}

}  // namespace

TEST_CASE("turned equations give the turned states from turned operands, in shapes that fit", "[turned]") {
  int turned_results = 0;
  for_every_block({.tokens = 9, .dk = 4, .dv = 3, .seed = 31}, 4, [&](const ShownBlock& at) {
    const auto& [words, trace, phase, record, rule] = at;
    const Record operands = turned(record, trace.symbols);
    const Phase steps = turned(phase, trace.symbols, record);
    const auto check = [&](const Equation& plain, const Equation& equation) {
      INFO(words << ": " << plain.result << " = " << to_string(plain.expression) << " became "
                 << to_string(equation.expression));
      REQUIRE(plain.result == equation.result);
      const Matrix<double>& recorded = record.at(plain.result);
      const bool is_turned = turns(plain.result, trace.symbols, record);
      CHECK(operands.at(plain.result) == (is_turned ? Matrix<double>(recorded.transpose()) : recorded));
      CHECK(error_of(equation, operands) <= 1e-12);
      turned_results += is_turned ? 1 : 0;
    };
    REQUIRE(steps.operations.size() == phase.operations.size());
    REQUIRE(steps.lines.size() == phase.lines.size());
    for (std::size_t i = 0; i < phase.operations.size(); ++i)
      check(phase.operations[i].equation, steps.operations[i].equation);
    for (std::size_t i = 0; i < phase.lines.size(); ++i)
      check(phase.lines[i].equation, steps.lines[i].equation);
  });
  CHECK(turned_results > 1000);
}

TEST_CASE("turned equations are those of the papers that write states value x key", "[turned]") {
  const Case each = random_case("gated_deltanet", {.tokens = 3, .dk = 4, .dv = 3});
  const auto trace = each.trace(Form::recurrent, 1);
  const Record& record = trace->record(1);
  const Phase steps = turned(trace->phases[0], trace->symbols, record);
  const auto written = [&](const std::string& id) {
    const auto found = std::ranges::find(steps.operations, id, &Operation::id);
    REQUIRE(found != steps.operations.end());
    return to_string(found->equation.expression);
  };
  CHECK(written("decay") == "(alpha * S_before)");
  CHECK(written("read") == "(S_decayed * k)");
  CHECK(written("update") == "((beta * error) * k^T)");
  CHECK(written("write") == "(S_decayed + update)");
  CHECK(written("output") == "(S_after * q)");
  for (const Line& line : steps.lines)
    CHECK(turned_back(line.equation.expression, trace->symbols, record) == 0);
}

TEST_CASE("what is no matrix of keys and values does not turn", "[turned]") {
  const Symbols symbols = {{"S", {"S", Role::state, "a state"}},
                           {"b", {"b", Role::state, "a bias"}},
                           {"B", {"B", Role::state, "one row per token", false}},
                           {"G", {"G", Role::error, "a gradient"}}};
  Record record;
  for (const char* name : {"S", "B", "G"}) record.set(name, Matrix<double>::Random(4, 3));
  record.set("b", Matrix<double>::Random(3, 1));
  const Record other = turned(record, symbols);
  CHECK(other.at("S") == Matrix<double>(record.at("S").transpose()));
  for (const char* name : {"b", "B", "G"}) CHECK(other.at(name) == record.at(name));
  CHECK_FALSE(turns("nothing", symbols, record));
  // A gradient beside a turned state is turned where it is read; a function takes its state back.
  const Equation step = turned({"S", tensor("S") + tensor("G")}, symbols, record);
  CHECK(to_string(step.expression) == "(S + G^T)");
  const Equation mixed = turned({"G", call("negative", {tensor("S")})}, symbols, record);
  CHECK(to_string(mixed.expression) == "negative(S^T)");
}
