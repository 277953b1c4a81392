#include "core/written/written_rule.h"

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <ranges>
#include <set>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/rules/walk_rule.h"

namespace palimpsest {

namespace {

/// LaTeX of a name of the text: a Greek letter by its command, primes as they are; with the token's index or
/// not.
std::string latex_of(std::string_view name, const char* index = "_t") {
  const std::string_view letters = name.substr(0, name.find('\''));
  const std::string_view primes = name.substr(letters.size());
  if (is_greek(letters)) return fmt::format("\\{}{}{}", letters, index, primes);
  if (letters.size() == 1) return fmt::format("{}{}{}", letters, index, primes);
  std::string word;
  for (const char c : letters) word += c == '_' ? "\\_" : std::string(1, c);
  return fmt::format("\\mathrm{{{}}}{}{}", word, index, primes);
}

Role role_of(const Input& input) {
  if (input.range == Range::decay) return Role::gate;
  return input.meaning == "key" ? Role::key : Role::strength;
}

/// Adds the symbols of what data and settings give, but for those that have one already.
void add_symbols(const RuleText& rule, Symbols& symbols) {
  for (const Input& input : rule.inputs)
    symbols.insert({input.name, {latex_of(input.name), role_of(input), input.meaning}});
  for (const Parameter& setting : rule.parameters)
    symbols.insert({setting.name, {latex_of(setting.name, ""), Role::strength, setting.meaning}});
}

/// What a text's rows are called in records: results of lines and what only a row needs get names of their
/// own.
std::string own(std::string_view name) { return fmt::format("own_{}", name); }

/// The expressions of a row as steps show them, once for a token and once for rows of many.
struct Rewriting {
  const WrittenRule& rule;
  const RowForm& row;
  Record specimens;

  std::set<std::string> recorded;        // results of lines that are an array of the rows
  std::vector<std::string> written_out;  // the others

  explicit Rewriting(const WrittenRule& of)
      : rule(of), row(std::get<RowForm>(of.form)), specimens(specimen(of.text)) {
    const auto note = [&](const std::optional<Expression>& x) {
      if (x && x->kind() == Expression::Kind::tensor) recorded.insert(x->name());
    };
    specimens.set(read_of("S"), Matrix<double>::Zero(specimen_dv, 1));
    if (!row.beside.empty()) specimens.set(read_of(row.beside), Matrix<double>::Zero(1, 1));
    note(row.q);
    if (row.rows.size() == 1) {
      const RowArrays& one = row.rows.front();
      for (const auto& x : {one.beta, std::optional(one.k), one.a, one.k_plain, one.v_plain}) note(x);
      if (!one.beside) note(one.v);
    }
    for (const Equation& line : row.definitions)
      if (!recorded.contains(line.result)) written_out.push_back(line.result);
  }

  /// With the lines written out whose results are not recorded.
  Expression expanded(const Expression& x) const { return expand(x, row.definitions, written_out); }

  bool is_definition(const std::string& name) const {
    return row_called(row.definitions, name, &Equation::result) != nullptr;
  }

  /// Whether it is the same for all tokens.
  bool is_fixed(const Expression& x) const {
    return std::ranges::all_of(operands(x), [&](const std::string& name) {
      return row_called(rule.text.parameters, name, &Parameter::name) != nullptr;
    });
  }

  /// Whether a line of the text gives it, but no memory.
  bool is_result(const std::string& name) const {
    const bool is_memory = std::ranges::any_of(
        rule.text.memories, [&](const RuleMemory& memory) { return name == after(memory.name); });
    return !is_memory && std::ranges::any_of(rule.text.lines, [&](const RuleLine& line) {
      return line.equation.result == name;
    });
  }

  /// What was read, cut out of the program's read, which has a column more for a memory of keys.
  std::optional<Expression> cut_from_read(const std::string& name, const std::string& prefix) const {
    const Expression read = tensor(own("read"));
    if (name == read_of("S")) return row.beside.empty() ? read : call(prefix + "without_last", {read});
    if (!row.beside.empty() && name == read_of(row.beside)) return call(prefix + "last", {read});
    return std::nullopt;
  }

  /// q is always read with its scale.
  Expression for_token(const Expression& x, bool scaled) const {
    return replaced(expanded(x), [&](const Expression& piece) -> std::optional<Expression> {
      if (piece.kind() != Expression::Kind::tensor) return std::nullopt;
      if (piece.name() == "q") return query(scaled, "q");
      if (const auto cut = cut_from_read(piece.name(), "")) return cut;
      return is_result(piece.name()) ? tensor(own(piece.name())) : piece;
    });
  }

  Expression for_rows(const Expression& x, bool scaled) const {
    const auto rows_of = [&](const std::string& name) {
      if (name == "q") return query(scaled, "Q");
      if (name == "k" || name == "v") return tensor(capitalised(name));
      if (const auto cut = cut_from_read(name, "row_")) return *cut;
      return tensor(is_result(name) ? own(name) : name);
    };
    return over_rows(expanded(x), rows_of, specimens);
  }
};

/// What the step of the line that gives `result` is called, and what it does.
std::pair<std::string, std::string> words_of(const RuleText& rule, const std::string& result) {
  const RuleLine& line =
      *std::ranges::find_if(rule.lines, [&](const RuleLine& each) { return each.equation.result == result; });
  const bool is_output = result == "o";
  const bool is_memory = std::ranges::any_of(
      rule.memories, [&](const RuleMemory& memory) { return result == after(memory.name); });
  const char* const usual = is_output ? "Output" : is_memory ? "Memory after the write" : result.c_str();
  return {line.title.empty() ? usual : line.title,
          line.sentence.empty() ? fmt::format("Line {} of the rule's text.", line.line) : line.sentence};
}

/// The steps of memories side by side, from those before a token to those after it.
void add_mixing_steps(const WrittenRule& rule, const Rewriting& rewriting, bool scaled, Notation& notation) {
  const Mixing& mixing = rewriting.row.mixing;
  const std::size_t count = mixing.names.size();
  const auto sum = [&](std::span<const Expression> numbers, std::string (*state)(std::string_view)) {
    std::optional<Expression> all;
    for (std::size_t i = 0; i < count; ++i) {
      if (numbers[i] == number_expression(0)) continue;
      const Expression memory = tensor(state(mixing.names[i]));
      const Expression part =
          numbers[i] == number_expression(1) ? memory : rewriting.for_token(numbers[i], scaled) * memory;
      all = all ? *all + part : part;
    }
    return all;
  };
  auto& steps = notation.token_write;
  const bool erases = rewriting.row.structure.erase != Erase::none;
  const ProgramNames& names = notation.token;
  if (erases) {
    const Expression a = tensor(rewriting.row.structure.erase_key ? names.a : names.k);
    steps.push_back({"read",
                     Purpose::read,
                     "Prediction v̂",
                     "What do the memories already return for the key of “{token}”?",
                     {"old", transpose(*sum(mixing.erase_sight, before)) * a}});
    steps.push_back({"error",
                     Purpose::error,
                     "Error e = v − v̂",
                     "How large is the error of the prediction, given the target v?",
                     {"error", tensor(names.v) - tensor("old")}});
  }
  steps.push_back({"update",
                   Purpose::update,
                   "Rank-one update",
                   "The outer product that all memories take.",
                   {"update", tensor(names.k) * transpose(tensor(erases ? "error" : names.v))}});
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = mixing.names[i];
    notation.symbols[before(name)] = {fmt::format("{}_{{t-1}}", name), Role::state, "memory before"};
    notation.symbols[after(name)] = {fmt::format("{}_t", name), Role::state, "memory after"};
    notation.token_carries.push_back({after(name), before(name)});
    std::optional<Expression> value = sum(std::span(mixing.transition).subspan(i * count, count), before);
    if (mixing.inject[i] != number_expression(0)) {
      Expression update = tensor("update");
      if (mixing.inject[i] != number_expression(1))
        update = rewriting.for_token(mixing.inject[i], scaled) * update;
      value = value ? *value + update : update;
    }
    const auto [title, sentence] = words_of(rule.text, after(name));
    steps.push_back({after(name),
                     Purpose::write,
                     title,
                     sentence,
                     {after(name), value ? *value : number_expression(0) * tensor(before(name))}});
  }
  std::ranges::rotate(steps, std::ranges::find(steps, after("S"), &Operation::id) + 1);  // S last
  notation.token_read =
      sum(mixing.read_sight, rewriting.row.structure.read_at == ReadAt::before_row ? before : after);
}

/// How the steps of the engines are named and what stands before them.
Notation notation_of(const WrittenRule& rule, const Settings& settings) {
  const Rewriting rewriting(rule);
  const RowForm& row = rewriting.row;
  const bool scaled = is_scaled(settings);
  Notation notation;
  const auto symbol = [&](const std::string& name, const std::string& latex, Role role,
                          const std::string& words) {
    notation.symbols[name] = {latex, role, words};
  };
  add_symbols(rule.text, notation.symbols);
  for (const char* usual : {"alpha", "beta", "mu"}) notation.symbols.erase(usual);
  for (const Parameter& setting : rule.text.parameters) notation.parameters.push_back(setting.name);
  const auto prepare = [&](const std::string& result, const std::string& title, const std::string& sentence,
                           Purpose purpose, const Expression& x, bool of_query) {
    auto& token = of_query ? notation.token_query : notation.token_before;
    auto& rows = of_query ? notation.rows_query : notation.rows_before;
    token.push_back({result, purpose, title, sentence, {result, rewriting.for_token(x, scaled)}});
    rows.push_back({result, purpose, title, sentence, {result, rewriting.for_rows(x, scaled)}});
  };
  for (const Equation& line : row.definitions) {
    if (!rewriting.recorded.contains(line.result)) continue;
    const std::string name = own(line.result);
    symbol(name, latex_of(line.result), Role::plain, line.result);
    const auto [title, sentence] = words_of(rule.text, line.result);
    prepare(name, title, sentence, Purpose::prepare, line.expression, false);
  }
  /// The recorded name of an array of the rows: its tensor's own, or one with an equation.
  const auto named_as = [&](const char* field, const Expression& x, const char* latex, Role role,
                            const char* words, bool of_query = false) {
    if (x.kind() == Expression::Kind::tensor && x.name() != "q" && x.name() != "k" && x.name() != "v")
      return rewriting.is_definition(x.name()) ? own(x.name()) : x.name();
    symbol(own(field), latex, role, words);
    prepare(own(field), words, fmt::format("The {} of this token, from the rule's text.", words),
            Purpose::prepare, x, of_query);
    return own(field);
  };
  const auto both = [&](std::string ProgramNames::*which, const std::string& token, const std::string& rows) {
    notation.token.*which = token;
    notation.rows.*which = rows;
  };
  const auto name_field = [&](std::string ProgramNames::*which, const char* plain, const char* field,
                              const std::optional<Expression>& x, const char* latex, Role role,
                              const char* words) {
    if (!x) return both(which, "", "");
    if (*x == tensor(plain)) return both(which, plain, capitalised(plain));
    const std::string name = named_as(field, *x, latex, role, words, plain == std::string_view("q"));
    both(which, name, name);
  };
  name_field(&ProgramNames::q, "q", "query", row.q, "\\hat q_t", Role::query, "query");
  if (row.output || !row.beside.empty()) {
    symbol(own("read"), "r_t", Role::output,
           row.beside.empty() ? "what the memory returns" : "what the memories return");
    both(&ProgramNames::o, own("read"), own("read"));
    const Expression output = row.output ? *row.output : tensor(read_of("S"));
    const auto [title, sentence] = words_of(rule.text, "o");
    const Purpose purpose = row.is_quotient ? Purpose::normalise : Purpose::output;
    notation.token_after = {{"made", purpose, title, sentence, {"o", rewriting.for_token(output, scaled)}}};
    notation.rows_after = {{"made", purpose, title, sentence, {"O", rewriting.for_rows(output, scaled)}}};
  }
  if (row.rows.size() > 1) {  // of the rows of a token each has its own: they have names, and no equation
    const auto made = [&](std::string ProgramNames::*which, const char* field, const char* latex, Role role,
                          const char* words) {
      symbol(own(field), latex, role, words);
      both(which, own(field), own(field));
    };
    made(&ProgramNames::k, "key", "\\hat k_t", Role::key, "key");
    made(&ProgramNames::v, "value", "\\hat v_t", Role::value, "value");
    made(&ProgramNames::a, "erase_key", "\\hat a_t", Role::key, "erase key");
    made(&ProgramNames::k_plain, "second_key", "k^{+}_t", Role::key, "second key");
    made(&ProgramNames::v_plain, "second_value", "v^{+}_t", Role::value, "second value");
    made(&ProgramNames::beta, "strength", "b_t", Role::strength, "write strength");
    return notation;
  }
  const RowArrays& one = row.rows.front();
  name_field(&ProgramNames::k, "k", "key", one.k, "\\hat k_t", Role::key, "key");
  if (one.beside) {
    const std::string name = own("values");
    const char* const words = "value, and that of the memory beside S";
    symbol(name, "\\hat v_t", Role::value, words);
    const bool is_one = *one.beside == number_expression(1);
    const auto made = [&](Expression v, Expression x, const char* one_more, const char* more) {
      return is_one ? call(one_more, {std::move(v)}) : call(more, {std::move(v), std::move(x)});
    };
    const std::string sentence = fmt::format("What {} adds up is one more value channel.", row.beside);
    notation.token_before.push_back(
        {name,
         Purpose::prepare,
         words,
         sentence,
         {name, made(rewriting.for_token(*one.v, scaled), rewriting.for_token(*one.beside, scaled),
                     "append_one", "append")}});
    notation.rows_before.push_back(
        {name,
         Purpose::prepare,
         words,
         sentence,
         {name, made(rewriting.for_rows(*one.v, scaled), rewriting.for_rows(*one.beside, scaled),
                     "append_ones", "row_append")}});
    both(&ProgramNames::v, name, name);
  } else {
    name_field(&ProgramNames::v, "v", "value", one.v, "\\hat v_t", Role::value, "value");
  }
  if (one.a) name_field(&ProgramNames::a, "k", "erase_key", one.a, "a_t", Role::key, "erase key");
  if (row.structure.plain_write) {
    name_field(&ProgramNames::k_plain, "k", "second_key", one.k_plain, "k^{+}_t", Role::key, "second key");
    name_field(&ProgramNames::v_plain, "v", "second_value", one.v_plain, "v^{+}_t", Role::value,
               "second value");
  }
  if (one.beta) {
    const std::string name = named_as("strength", *one.beta, "b_t", Role::strength, "write strength");
    both(&ProgramNames::beta, name, name);
  }
  if (!row.mixing.names.empty()) add_mixing_steps(rule, rewriting, scaled, notation);
  for (const auto& [engine_name, x, words] :
       {std::tuple("alpha", one.gate, "decay"), std::tuple("mu", one.mu, "decay per value channel")}) {
    if (!x || *x == tensor(engine_name)) continue;
    if (x->kind() == Expression::Kind::tensor || rewriting.is_fixed(*x))
      symbol(engine_name, latex(*x, notation.symbols), Role::gate, words);
    else
      prepare(engine_name, words, fmt::format("The {}, from the rule's text.", words), Purpose::gates, *x,
              false);
  }
  return notation;
}

/// Every expression over rows of many tokens, under the same names.
RowForm over_rows(RowForm form, Record specimens) {
  specimens.set(read_of("S"), Matrix<double>::Zero(specimen_dv, 1));
  if (!form.beside.empty()) specimens.set(read_of(form.beside), Matrix<double>::Zero(1, 1));
  const auto same = [](const std::string& name) { return tensor(name); };
  const auto replace = [&](Expression& x) { x = over_rows(x, same, specimens); };
  replace(form.q);
  for (RowArrays& row : form.rows) {
    replace(row.k);
    for (auto* x : {&row.gate, &row.mu, &row.beta, &row.v, &row.a, &row.k_plain, &row.v_plain, &row.beside})
      if (*x) replace(**x);
  }
  if (form.output) replace(*form.output);
  Mixing& mixing = form.mixing;
  for (auto* numbers : {&mixing.transition, &mixing.inject, &mixing.erase_sight, &mixing.read_sight})
    std::ranges::for_each(*numbers, replace);
  for (Equation& line : form.definitions) replace(line.expression);
  return form;
}

/// What data and settings give to `count` tokens, one row each: q with its scale, alpha itself whatever was
/// given.
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

/// Whether the only decay is the input alpha, and the data leave that out.
bool lacks_decay(const RowForm& row, const Sequence& sequence) {
  return !sequence.has("alpha") && std::ranges::all_of(row.rows, [](const RowArrays& of) {
    return !of.gate || *of.gate == tensor("alpha");
  });
}

/// The rows of tokens: every array is its expression in `row`, evaluated over all of them.
template <class Scalar>
Program<Scalar> encoded(const RuleText& rule, const RowForm& row, const Rows<Scalar>& rows) {
  std::optional<Record> made;  // only where an array is more than what is given
  const auto record = [&]() -> const Record& {
    if (made) return *made;
    made = given_to(rule, rows.sequence, rows.first, rows.count);
    for (const Equation& line : row.definitions) made->set(line.result, evaluate(line.expression, *made));
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
  const bool decays = structure.decay != Decay::none && !lacks_decay(row, rows.sequence);
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
  Record record = given_to(rule, rows.sequence, rows.first, rows.count);
  for (const Equation& line : row.definitions) record.set(line.result, evaluate(line.expression, record));
  record.set(read_of("S"), read.leftCols(dv).template cast<double>());
  if (!row.beside.empty()) record.set(read_of(row.beside), read.rightCols(1).template cast<double>());
  Matrix<double> o = evaluate(row.output ? *row.output : tensor(read_of("S")), record);
  if (o.rows() != rows.count) o = o.replicate(rows.count, 1).eval();
  return o.template cast<Scalar>();
}

Index columns_of(const RuleMemory& memory, const Sequence& sequence) {
  return memory.shape.columns == 1 ? 1 : sequence.dv;
}

/// The memory before the first token.
Matrix<double> initial_memory(const Variant& variant, const RuleMemory& memory, const Sequence& sequence) {
  return given_or_zero(sequence, initial_name(variant, sequence.settings, memory.name), sequence.dk,
                       columns_of(memory, sequence));
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

template <class Scalar>
class WrittenWalk : public Walk<Scalar> {
 public:
  WrittenWalk(const WrittenRule& rule, const Sequence& sequence)
      : Walk<Scalar>(sequence, Form::recurrent, 1), variant_(rule.variant), rule_(rule.text) {}

  Carried<Scalar> initial() const override {
    Carried<Scalar> carried;
    for (const RuleMemory& memory : rule_.memories)
      carried.push_back(initial_memory(variant_, memory, this->sequence_).template cast<Scalar>());
    return carried;
  }

  /// Every result is rounded to Scalar; what is inside a line is computed in f64.
  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token&) const override {
    const Block block = this->block(index);
    const Sequence& sequence = this->sequence_;
    const Record given = given_to(rule_, sequence, block.first_token, 1);
    Record record;
    for (const auto& [name, rows] : given.tensors()) record.set(name, rows.transpose());
    record.set(identity_of_keys, Matrix<double>::Identity(sequence.dk, sequence.dk));
    record.set(identity_of_values, Matrix<double>::Identity(sequence.dv, sequence.dv));
    for (std::size_t m = 0; m < rule_.memories.size(); ++m)
      record.set(before(rule_.memories[m].name), carried[m].template cast<double>());
    for (const RuleLine& line : rule_.lines)
      record.set(line.equation.result,
                 evaluate(line.equation.expression, record).template cast<Scalar>().template cast<double>());
    for (std::size_t m = 0; m < rule_.memories.size(); ++m)
      carried[m] = record.at(after(rule_.memories[m].name)).template cast<Scalar>();
    if (recorder) {
      for (const auto& [name, value] : record.tensors()) (*recorder)(name, value);
    }
    return record.at("o").transpose().template cast<Scalar>();
  }

  NamedStates states(const Carried<Scalar>& carried) const override {
    NamedStates states;
    for (std::size_t m = 0; m < rule_.memories.size(); ++m)
      states.emplace_back(rule_.memories[m].name, carried[m].template cast<double>());
    return states;
  }

 private:
  const Variant& variant_;
  const RuleText& rule_;
};

std::shared_ptr<const Rule> walked_rule(const WrittenRule& rule) {
  const auto walk = [&rule]<class Scalar>(const Sequence& sequence, Form, Index,
                                          const Engines<Scalar>&) -> std::unique_ptr<const Walk<Scalar>> {
    return std::make_unique<WrittenWalk<Scalar>>(rule, sequence);
  };
  const auto& why_not = std::get<NoRowForm>(rule.form);
  const std::string reason = fmt::format("{} (line {})", why_not.reason, why_not.line);
  return walk_rule(walk, {.steps = [&rule](const Sequence&, Form, Index) { return written_steps(rule.text); },
                          .cost = {},
                          .missing = [reason](Form form, const Settings&) -> std::optional<std::string> {
                            if (form == Form::recurrent) return std::nullopt;
                            return fmt::format("no {} form: {}", name(form), reason);
                          },
                          .nonlinear = [reason](const Settings&) { return reason; }});
}

/// Throws RuleTextError where an input has the name of another tensor of the steps.
void require_free_names(const WrittenRule& rule) {
  const auto& form = std::get<RowForm>(rule.form);
  const auto refuse_input = [&](const std::string& words) {
    for (const RuleLine& line : rule.text.lines)
      if (line.equation.result == after("S"))
        throw RuleTextError(line.line, 1, words + ": call the input otherwise");
  };
  for (const Input& input : rule.text.inputs) {
    for (const RowArrays& row : form.rows) {
      if (input.name == "alpha" && row.gate && *row.gate != tensor("alpha"))
        refuse_input("alpha is the name of the whole decay, which is another here");
      if (input.name == "mu" && row.mu && *row.mu != tensor("mu"))
        refuse_input("mu is the name of the decay per value channel, which is another here");
    }
    for (const Form each : all_forms) {
      if (each == Form::recurrent && !form.mixing.names.empty()) continue;  // steps of the text alone
      for (const Phase& phase : row_phases(form.structure, {}, each, false))
        if (maker_of(phase, input.name))
          refuse_input(fmt::format("{} is a tensor of the {} form", input.name, name(each)));
    }
  }
}

/// The known loss of which the update of a row program is a gradient step, by what its rows do.
InnerLoss recognised_loss(const Structure& structure) {
  const bool decays = structure.decay != Decay::none || structure.value_decay;
  const bool is_one_key = !structure.plain_write && structure.writes_value;
  if (is_one_key && structure.erase == Erase::none)
    return {.words = "Make what the memory returns for the key point along the value: one gradient step.",
            .latex = std::string("-\\langle S^{\\top}k_t, v_t\\rangle") +
                     (decays ? " + \\tfrac12\\|\\sqrt{1-d_t}\\odot S\\|_F^2" : ""),
            .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
            .problems = dot_problems};
  if (is_one_key && structure.erase == Erase::decayed && !structure.erase_key) {
    const std::string from = decays ? "\\bar S_t" : "S_{t-1}";
    return {
        .words = "Make the memory return the value for the key: one gradient step for each write.",
        .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
        .step = fmt::format("S_t = {0} - {1}\\nabla\\mathcal L({0})", from, structure.beta ? "\\beta_t" : ""),
        .problems = squared_problems};
  }
  if (is_one_key && structure.erase_key)
    return {.words = "There is a loss where the key of the erase is a multiple of the key of the write.",
            .problems = erase_key_problems};
  return {.words = "The update is no gradient step on a loss that the program knows."};
}

void make_variant(WrittenRule& rule, std::string_view text) {
  Variant& variant = rule.variant;
  variant.id = written_id(text);
  variant.label = rule.text.title.empty() ? "My rule" : rule.text.title;
  variant.words = rule.text.words.empty() ? "A rule from a text." : rule.text.words;
  variant.paper = rule.text.paper;
  const auto reads_key = [](const RuleLine& line) {
    return is_among("k", operands(line.equation.expression));
  };
  if (std::ranges::none_of(rule.text.lines, reads_key)) variant.makes = {"k"};
  variant.inputs = rule.text.inputs;
  variant.parameters = rule.text.parameters;
  variant.states.clear();
  for (const RuleMemory& memory : rule.text.memories) variant.states.push_back({memory.name});
  for (const RuleMemory& memory : rule.text.memories) {
    Input initial = initial_state_input();
    initial.name = initial_name(variant, {}, memory.name);
    if (memory.shape.columns == 1) initial.shape = {"dk"};
    variant.inputs.push_back(std::move(initial));
  }
  variant.carried_out = [&rule](const Sequence& sequence) { return carried_out(rule, sequence); };
  if (auto* const row = std::get_if<RowForm>(&rule.form)) {
    for (const std::string& name : row->mixing.names) row->letters += name;
    row->structure.parts = row->letters;
    require_free_names(rule);
    variant.rule = std::make_shared<RowRule>(rows_of(rule));
    variant.loss = recognised_loss(row->structure);
  } else {
    variant.loss = {.words = "The text is no row program, and a loss is recognised for these alone."};
    variant.rule = walked_rule(rule);
  }
}

}  // namespace

std::string written_id(std::string_view text) { return std::string(written_prefix) + escaped(text); }

RowDeclaration rows_of(const WrittenRule& rule) {
  const auto& form = std::get<RowForm>(rule.form);
  const auto of_rows = std::make_shared<const RowForm>(over_rows(form, specimen(rule.text)));
  RowDeclaration declaration = {
      .structure = [structure = form.structure](const Settings&) { return structure; },
      .encoder = [&rule, of_rows]<class Scalar>(
                     const Rows<Scalar>& rows) { return encoded<Scalar>(rule.text, *of_rows, rows); },
      .notation = [&rule](const Settings& settings) { return notation_of(rule, settings); },
      .normalised = form.is_quotient};
  if (!form.is_quotient && (form.output || !form.beside.empty())) {
    declaration.finish = [&rule, of_rows]<class Scalar>(const Matrix<Scalar>& read,
                                                        const Rows<Scalar>& tokens) {
      return finished<Scalar>(rule.text, *of_rows, read, tokens);
    };
  }
  if (rule.text.memories.size() > 1) declaration.states = state_names(rule);
  return declaration;
}

std::shared_ptr<const Rule> rule_of_text(const Variant& variant) {
  using Known = std::atomic<const RowDeclaration*>;
  const Input* const decay = row_called(variant.inputs, "alpha", &Input::name);
  const auto rows = [text = variant.text, known = std::make_shared<Known>()]() -> const RowDeclaration& {
    const RowDeclaration* declared = known->load();
    if (!declared) *known = declared = &written_rule(text).variant.rule->row_program()->declaration();
    return *declared;
  };
  return std::make_shared<RowRule>(RowDeclaration{
      .structure = [rows](const Settings& settings) { return rows().structure(settings); },
      .said_by_data = {.decay = decay && decay->absent ? "alpha" : ""},
      .encoder = [rows]<class Scalar>(const Rows<Scalar>& tokens) { return rows().encoder(tokens); },
      .notation = [rows](const Settings& settings) { return rows().notation(settings); }});
}

std::string written_text(const Variant& variant) {
  const std::string_view id = variant.id;
  return id.starts_with(written_prefix) ? unescaped(id.substr(written_prefix.size())) : variant.text;
}

const WrittenRule& written_rule(std::string_view text) {
  static std::mutex mutex;
  static std::deque<WrittenRule> made;
  static std::map<std::string, const WrittenRule*, std::less<>> by_text;
  const std::string plain =
      text.starts_with(written_prefix) ? unescaped(text.substr(written_prefix.size())) : std::string(text);
  const std::scoped_lock lock(mutex);
  if (const auto known = by_text.find(plain); known != by_text.end()) return *known->second;
  RuleText parsed = parse_rule_text(plain);
  std::variant<RowForm, NoRowForm> form = row_form(parsed);
  WrittenRule& rule = made.emplace_back(WrittenRule{std::move(parsed), std::move(form), {}});
  try {
    make_variant(rule, plain);
  } catch (...) {
    made.pop_back();
    throw;
  }
  by_text.emplace(plain, &rule);
  return rule;
}

Steps written_steps(const RuleText& rule) {
  PhaseBuilder steps("token by token");
  Symbols symbols = usual_symbols(Form::recurrent, "\\sigma");
  add_symbols(rule, symbols);
  symbols[identity_of_keys] = symbols[identity_of_values] = {"I", Role::plain, "identity"};
  std::vector<Carry> carries;
  for (const RuleMemory& memory : rule.memories) {
    symbols[before(memory.name)] = {fmt::format("{}_{{t-1}}", memory.name), Role::state, "memory before"};
    symbols[after(memory.name)] = {fmt::format("{}_t", memory.name), Role::state, "memory after"};
    carries.push_back({after(memory.name), before(memory.name)});
  }
  for (const RuleLine& line : rule.lines) {
    const std::string& result = line.equation.result;
    const bool is_output = result == "o";
    const bool is_memory = std::ranges::any_of(
        rule.memories, [&](const RuleMemory& memory) { return result == after(memory.name); });
    if (!is_output && !is_memory)
      symbols[result] = {latex_of(result),
                         line.shape == Shape{specimen_dk, specimen_dv} ? Role::state : Role::plain, result};
    const Purpose purpose = is_output ? Purpose::output : is_memory ? Purpose::write : Purpose::prepare;
    const auto [title, sentence] = words_of(rule, result);
    steps.add_line({result, purpose, title, sentence, line.equation});
  }
  steps.carry(std::move(carries));
  return {{steps.take()}, symbols};
}

Output carried_out(const WrittenRule& rule, const Sequence& sequence) {
  const WrittenWalk<double> walk(rule, sequence);
  Carried<double> carried = walk.initial();
  Matrix<double> o(sequence.tokens, sequence.dv);
  for (Index t = 0; t < sequence.tokens; ++t) o.row(t) = walk.advance(t, carried, nullptr, {});
  return {o, walk.states(carried)};
}

}  // namespace palimpsest
