#include "core/base/table.h"
#include "core/written/written_parts.h"

// The rows of a written rule's program: its arrays are the text's expressions over rows of many tokens.

namespace palimpsest {

namespace {

/// The name of 1 - alpha, which keeps its digits where data give log alpha.
constexpr const char* forgotten_share = "1 - alpha";

/// Every expression over rows of many tokens, under the same names.
RowForm over_rows(RowForm form, Record specimens) {
  specimens.set(read_of("S"), Matrix<double>::Zero(specimen_dv, 1));
  if (!form.beside.empty()) specimens.set(read_of(form.beside), Matrix<double>::Zero(1, 1));
  const auto same = [](const std::string& name) { return tensor(name); };
  const Expression forgotten = number_expression(1) - tensor("alpha");
  const auto replace = [&](Expression& x) {
    x = replaced(over_rows(x, same, specimens), [&](const Expression& piece) {
      return piece == forgotten ? std::optional(tensor(forgotten_share)) : std::nullopt;
    });
  };
  each_expression(form, replace);
  for (Equation& line : form.definitions) replace(line.expression);
  return form;
}

/// All that the rows' expressions read: what is given, and the results of lines.
Record read_by_rows(const RuleText& rule, const RowForm& row, const Sequence& sequence, Index first,
                    Index count) {
  Record record = given_to(rule, sequence, first, count);
  if (record.contains("alpha")) {
    Matrix<double> forgotten = (1 - record.at("alpha").array()).matrix();
    if (sequence.gates_are_logs)
      forgotten = (-Rows<double>{sequence, first, count}("alpha").array().expm1()).matrix();
    record.set(forgotten_share, forgotten);
  }
  for (const Equation& line : row.definitions) record.set(line.result, evaluate(line.expression, record));
  return record;
}

/// Whether the only decay is the input alpha, and the data leave that out.
bool lacks_decay(const RuleText& rule, const RowForm& row, const Sequence& sequence) {
  const bool is_input = is_among("alpha", rule.inputs, &Input::name);
  return is_input && !sequence.has("alpha") && std::ranges::all_of(row.rows, [](const RowArrays& of) {
           return !of.gate || *of.gate == tensor("alpha");
         });
}

/// The rows of tokens: every array is its expression in `row`, evaluated over all of them.
template <class Scalar>
Program<Scalar> encoded(const RuleText& rule, const RowForm& row, const Rows<Scalar>& rows) {
  std::optional<Record> made;  // only where an array is more than what is given
  const auto record = [&]() -> const Record& {
    if (!made) made = read_by_rows(rule, row, rows.sequence, rows.first, rows.count);
    return *made;
  };
  const bool logs = rows.sequence.gates_are_logs || row.structure.gates_are_logs;
  // An array that the data give as it stands keeps its own precision.
  const auto array = [&](const Expression& x, Index columns) -> Matrix<Scalar> {
    if (x == tensor("q")) return rows.scaled_q();
    const bool is_given = x.kind() == Expression::Kind::tensor && rows.sequence.has(x.name()) &&
                          !(x.name() == "alpha" && rows.sequence.gates_are_logs);
    if (is_given) return rows(x.name());
    Matrix<double> value = evaluate(x, record());
    if (value.rows() != rows.count) value = value.replicate(rows.count, 1).eval();
    if (value.cols() != columns && value.cols() == 1) value = value.replicate(1, columns).eval();
    return value.template cast<Scalar>();
  };
  const auto log_gate = [&](const RowArrays& of, Index columns) -> Matrix<Scalar> {
    if (!of.gate) return Matrix<Scalar>::Constant(rows.count, columns, logs ? Scalar(0) : Scalar(1));
    const bool is_given_log = rows.sequence.gates_are_logs && *of.gate == tensor("alpha");
    if (is_given_log && columns == rows("alpha").cols()) return rows("alpha");
    if (const Expression* const g = log_of(*of.gate, row.definitions)) return array(*g, columns);
    const Matrix<Scalar> gate = array(*of.gate, columns);
    return logs ? Matrix<Scalar>(gate.array().log().matrix()) : gate;
  };
  const Structure& structure = row.structure;
  const auto steps = static_cast<Index>(row.rows.size());
  const Index dk = rows.sequence.dk;
  const Index dv = rows.sequence.dv;
  // A table of which the rows of each token lie below each other.
  const auto table = [&](Index columns, auto of_row) -> Matrix<Scalar> {
    if (steps == 1) return of_row(row.rows.front());
    Matrix<Scalar> all(rows.count * steps, columns);
    for (Index step = 0; step < steps; ++step) {
      const Matrix<Scalar> of_step = of_row(entry(row.rows, step));
      for (Index t = 0; t < rows.count; ++t) all.row(t * steps + step) = of_step.row(t);
    }
    return all;
  };
  const auto or_else = [&](const std::optional<Expression>& x, Index columns, double otherwise) {
    return x ? array(*x, columns)
             : Matrix<Scalar>::Constant(rows.count, columns, static_cast<Scalar>(otherwise)).eval();
  };
  const auto erase_key = [&](const RowArrays& of) {
    if (!of.erases) return Matrix<Scalar>::Zero(rows.count, dk).eval();
    return array(of.a ? *of.a : of.k, dk);
  };
  Program<Scalar> program{.q = array(row.q, dk)};
  program.k = table(dk, [&](const RowArrays& of) { return array(of.k, dk); });
  program.v = table(row.beside.empty() ? dv : dv + 1, [&](const RowArrays& of) {
    Matrix<Scalar> v = or_else(of.v, dv, 0);
    if (!of.beside) return v;
    v.conservativeResize(Eigen::NoChange, dv + 1);
    v.col(dv) = array(*of.beside, 1);
    return v;
  });
  const auto numbers = [&](const std::vector<Expression>& all) {
    Matrix<Scalar> side_by_side(rows.count, std::ssize(all));
    for (std::size_t i = 0; i < all.size(); ++i) side_by_side.col(static_cast<Index>(i)) = array(all[i], 1);
    return side_by_side;
  };
  if (!row.mixing.names.empty()) {
    program.transition = numbers(row.mixing.transition);
    program.inject = numbers(row.mixing.inject);
    program.erase_sight = numbers(row.mixing.erase_sight);
    program.read_sight = numbers(row.mixing.read_sight);
  }
  if (structure.erase_key) program.a = table(dk, erase_key);
  const bool decays = structure.decay != Decay::none && !lacks_decay(rule, row, rows.sequence);
  const Index gates = !decays ? 0 : structure.decay == Decay::key ? dk : 1;
  program.gate = gates == 0 ? Matrix<Scalar>(rows.count * steps, 0)
                            : table(gates, [&](const RowArrays& of) { return log_gate(of, gates); });
  if (structure.value_decay)
    program.mu = table(dv, [&](const RowArrays& of) { return or_else(of.mu, dv, 1); });
  if (structure.beta) program.beta = table(1, [&](const RowArrays& of) { return or_else(of.beta, 1, 1); });
  if (structure.plain_write) {
    program.k_plain = table(dk, [&](const RowArrays& of) { return or_else(of.k_plain, dk, 0); });
    program.v_plain = table(dv, [&](const RowArrays& of) { return or_else(of.v_plain, dv, 0); });
  }
  return program;
}

/// The outputs from what is read, as the text makes them.
template <class Scalar>
Matrix<Scalar> finished(const RuleText& rule, const RowForm& row, const Matrix<Scalar>& read,
                        const Rows<Scalar>& rows) {
  const Index dv = rows.sequence.dv;
  Record record = read_by_rows(rule, row, rows.sequence, rows.first, rows.count);
  record.set(read_of("S"), read.leftCols(dv).template cast<double>());
  if (!row.beside.empty()) record.set(read_of(row.beside), read.rightCols(1).template cast<double>());
  Matrix<double> o = evaluate(*row.output, record);
  if (o.rows() != rows.count) o = o.replicate(rows.count, 1).eval();
  return o.template cast<Scalar>();
}

/// Several memories in the state of a program: those of key x value one above the other, one of keys as a
/// column to their right.
StateNames state_names(const WrittenRule& rule) {
  const auto is_column = [](const RuleMemory& memory) { return memory.shape.columns == 1; };
  const auto each_place = [&rule, is_column](const Sequence& sequence, auto visit) {
    Index above = 0;
    for (const RuleMemory& memory : rule.text.memories) {
      visit(memory, is_column(memory) ? 0 : above, is_column(memory) ? sequence.dv : 0);
      if (!is_column(memory)) above += sequence.dk;
    }
  };
  return {[&rule, each_place](const Sequence& sequence) {
            const auto& form = std::get<RowForm>(rule.form);
            Matrix<double> state(sequence.dk * form.structure.part_count(),
                                 sequence.dv + (form.beside.empty() ? 0 : 1));
            each_place(sequence, [&](const RuleMemory& memory, Index row, Index column) {
              const Matrix<double> initial = initial_memory(rule.variant, memory, sequence);
              state.block(row, column, initial.rows(), initial.cols()) = initial;
            });
            return state;
          },
          [each_place](const Matrix<double>& state, const Sequence& sequence) {
            NamedStates named;
            each_place(sequence, [&](const RuleMemory& memory, Index row, Index column) {
              named.emplace_back(memory.name,
                                 state.block(row, column, sequence.dk, columns_of(memory, sequence)));
            });
            return named;
          }};
}

}  // namespace

Record given_to(const RuleText& rule, const Sequence& sequence, Index first, Index count) {
  const Rows<double> rows{sequence, first, count};
  Record record;
  if (sequence.has("q")) record.set("q", rows.scaled_q());
  for (const char* name : {"k", "v"})
    if (sequence.has(name)) record.set(name, rows(name));
  for (const Input& input : rule.inputs) {
    if (!sequence.has(input.name)) continue;  // optional where the rule is one of the table
    const bool is_log = input.name == "alpha" && sequence.gates_are_logs;
    record.set(input.name, is_log ? exponential(rows(input.name).array()).matrix() : rows(input.name));
  }
  for (const Parameter& setting : rule.parameters)
    record.set(setting.name, Matrix<double>::Constant(1, 1, sequence.parameter(setting.name)));
  return record;
}

Index columns_of(const RuleMemory& memory, const Sequence& sequence) {
  return memory.shape.columns == 1 ? 1 : sequence.dv;
}

Matrix<double> initial_memory(const Variant& variant, const RuleMemory& memory, const Sequence& sequence) {
  return given_or_zero(sequence, initial_name(variant, sequence.settings, memory.name), sequence.dk,
                       columns_of(memory, sequence));
}

RowDeclaration rows_of(const WrittenRule& rule) {
  const auto& form = std::get<RowForm>(rule.form);
  const auto of_rows = std::make_shared<const RowForm>(over_rows(form, specimen(rule.text)));
  RowDeclaration declaration = {
      .structure = [structure = form.structure](const Settings&) { return structure; },
      .encoder = [&rule, of_rows]<class Scalar>(
                     const Rows<Scalar>& rows) { return encoded<Scalar>(rule.text, *of_rows, rows); },
      .notation = [&rule](const Settings& settings) { return notation_of(rule, settings); },
      .normalised = form.is_quotient};
  if (form.output && !form.is_quotient) {
    declaration.finish = [&rule, of_rows]<class Scalar>(const Matrix<Scalar>& read,
                                                        const Rows<Scalar>& tokens) {
      return finished<Scalar>(rule.text, *of_rows, read, tokens);
    };
  }
  if (rule.text.memories.size() > 1) declaration.states = state_names(rule);
  return declaration;
}

}  // namespace palimpsest
