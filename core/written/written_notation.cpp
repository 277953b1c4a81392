#include <fmt/format.h>

#include <set>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/written/formula_reader.h"
#include "core/written/written_parts.h"

// How the steps of a written rule are named: those of the engines, and the lines of its text.

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

/// Adds the symbols of the memories before a token and after it, and what goes on from token to token.
void add_memories(const RuleText& rule, Symbols& symbols, std::vector<Carry>& carries) {
  for (const RuleMemory& memory : rule.memories) {
    symbols[before(memory.name)] = {fmt::format("{}_{{t-1}}", memory.name), Role::state, "memory before"};
    symbols[after(memory.name)] = {fmt::format("{}_t", memory.name), Role::state, "memory after"};
    carries.push_back({after(memory.name), before(memory.name)});
  }
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
  Expression expanded(const Expression& x) const {
    return replaced(
        expand(x, row.definitions, written_out), [](const Expression& piece) -> std::optional<Expression> {
          const bool is_rest = piece.kind() == Expression::Kind::difference &&
                               piece.arguments()[0] == number_expression(1) &&
                               piece.arguments()[1].kind() == Expression::Kind::tensor;
          return is_rest ? std::optional(call("one_minus", {piece.arguments()[1]})) : std::nullopt;
        });
  }

  bool is_definition(const std::string& name) const {
    return row_called(row.definitions, name, &Equation::result) != nullptr;
  }

  /// Whether a line of the text gives it, but no memory.
  bool is_result(const std::string& name) const {
    return line_of(rule.text, name) != nullptr && !is_memory_after(rule.text, name);
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
  const RuleLine& line = *line_of(rule, result);
  const char* const usual = result == "o"                   ? "Output"
                            : is_memory_after(rule, result) ? "Memory after the write"
                                                            : result.c_str();
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
  add_memories(rule.text, notation.symbols, notation.token_carries);
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
  const auto last = std::ranges::find(steps, after("S"), &Operation::id);
  std::rotate(last, last + 1, steps.end());
  notation.token_read =
      sum(mixing.read_sight, rewriting.row.structure.read_at == ReadAt::before_row ? before : after);
}

}  // namespace

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
  using Operations = std::vector<Operation> Notation::*;
  const auto add = [&](std::pair<Operations, Operations> where, Operation of_token, Equation of_rows) {
    (notation.*where.first).push_back(of_token);
    of_token.equation = std::move(of_rows);
    (notation.*where.second).push_back(std::move(of_token));
  };
  constexpr std::pair<Operations, Operations> before_rows = {&Notation::token_before, &Notation::rows_before};
  constexpr std::pair<Operations, Operations> of_queries = {&Notation::token_query, &Notation::rows_query};
  constexpr std::pair<Operations, Operations> after_rows = {&Notation::token_after, &Notation::rows_after};
  const auto prepare = [&](const std::string& result, const std::string& title, const std::string& sentence,
                           Purpose purpose, const Expression& x, bool of_query) {
    add(of_query ? of_queries : before_rows,
        {result, purpose, title, sentence, {result, rewriting.for_token(x, scaled)}},
        {result, rewriting.for_rows(x, scaled)});
  };
  for (const Equation& line : row.definitions) {
    if (!rewriting.recorded.contains(line.result)) continue;
    const std::string name = own(line.result);
    const auto [title, sentence] = words_of(rule.text, line.result);
    symbol(name, latex_of(line.result), Role::plain, title);
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
  if (row.output) {
    symbol(own("read"), "r_t", Role::output,
           row.beside.empty() ? "what the memory returns" : "what the memories return");
    both(&ProgramNames::o, own("read"), own("read"));
    const auto [title, sentence] = words_of(rule.text, "o");
    const Purpose purpose = row.is_quotient ? Purpose::normalise : Purpose::output;
    add(after_rows, {"made", purpose, title, sentence, {"o", rewriting.for_token(*row.output, scaled)}},
        {"O", rewriting.for_rows(*row.output, scaled)});
  }
  if (row.rows.size() > 1) {  // of the rows of a token each has its own: they have names, and no equation
    const auto made = [&](std::string ProgramNames::*which, const char* field, const char* latex, Role role,
                          const char* words) {
      symbol(own(field), latex, role, words);
      both(which, own(field), own(field));
    };
    made(&ProgramNames::k, "key", "\\hat k_t", Role::key, "key");
    made(&ProgramNames::v, "value", "\\tilde v_t", Role::value, "value");
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
    symbol(name, "\\tilde v_t", Role::value, words);
    const bool is_one = *one.beside == number_expression(1);
    const auto made = [&](Expression v, Expression x, const char* one_more, const char* more) {
      return is_one ? call(one_more, {std::move(v)}) : call(more, {std::move(v), std::move(x)});
    };
    const std::string sentence = fmt::format("What {} adds up is one more value channel.", row.beside);
    add(before_rows,
        {name,
         Purpose::prepare,
         words,
         sentence,
         {name, made(rewriting.for_token(*one.v, scaled), rewriting.for_token(*one.beside, scaled),
                     "append_one", "append")}},
        {name, made(rewriting.for_rows(*one.v, scaled), rewriting.for_rows(*one.beside, scaled),
                    "append_ones", "row_append")});
    both(&ProgramNames::v, name, name);
  } else {
    name_field(&ProgramNames::v, "v", "value", one.v, "\\tilde v_t", Role::value, "value");
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
    if (x->kind() == Expression::Kind::tensor) {
      const Symbol* const known = value_at(notation.symbols, x->name());
      symbol(engine_name, known ? known->latex : latex_of(x->name()), Role::gate, words);
    } else if (!is_fixed(rule.text, *x))  // a number of no token has no rows
      prepare(engine_name, words, fmt::format("The {}, from the rule's text.", words), Purpose::gates, *x,
              false);
  }
  return notation;
}

Steps written_steps(const RuleText& rule) {
  PhaseBuilder steps("token by token");
  Symbols symbols = usual_symbols(Form::recurrent, "\\sigma");
  add_symbols(rule, symbols);
  symbols[identity_of_keys] = symbols[identity_of_values] = {"I", Role::plain, "identity"};
  std::vector<Carry> carries;
  add_memories(rule, symbols, carries);
  for (const RuleLine& line : rule.lines) {
    const std::string& result = line.equation.result;
    const bool is_output = result == "o";
    const bool is_memory = is_memory_after(rule, result);
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

}  // namespace palimpsest
