#include "core/written/written_rule.h"

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <mutex>
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
    note(row.q);
    if (row.rows.size() == 1) {
      const RowArrays& one = row.rows.front();
      for (const auto& x : {one.beta, std::optional(one.k), one.v, one.a, one.k_plain, one.v_plain}) note(x);
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

  /// q is always read with its scale.
  Expression for_token(const Expression& x, bool scaled) const {
    return replaced(expanded(x), [&](const Expression& piece) -> std::optional<Expression> {
      if (piece.kind() != Expression::Kind::tensor) return std::nullopt;
      if (piece.name() == "q") return query(scaled, "q");
      return is_definition(piece.name()) ? tensor(own(piece.name())) : piece;
    });
  }

  Expression for_rows(const Expression& x, bool scaled) const {
    const auto rows_of = [&](const std::string& name) {
      if (name == "q") return query(scaled, "Q");
      if (name == "k" || name == "v") return tensor(capitalised(name));
      return tensor(is_definition(name) ? own(name) : name);
    };
    return over_rows(expanded(x), rows_of, specimens);
  }
};

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
    prepare(name, line.result, fmt::format("{}, as the rule's text defines it.", line.result),
            Purpose::prepare, line.expression, false);
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
  if (row.rows.size() > 1) {  // of the rows of a token each has its own: they have names, and no equation
    const auto made = [&](std::string ProgramNames::*which, const char* field, const char* latex, Role role,
                          const char* words) {
      symbol(own(field), latex, role, words);
      both(which, own(field), own(field));
    };
    made(&ProgramNames::k, "key", "\\hat k_t", Role::key, "key");
    made(&ProgramNames::v, "value", "\\hat v_t", Role::value, "value");
    made(&ProgramNames::a, "erase_key", "a_t", Role::key, "erase key");
    made(&ProgramNames::k_plain, "second_key", "k^{+}_t", Role::key, "second key");
    made(&ProgramNames::v_plain, "second_value", "v^{+}_t", Role::value, "second value");
    made(&ProgramNames::beta, "strength", "b_t", Role::strength, "write strength");
    return notation;
  }
  const RowArrays& one = row.rows.front();
  name_field(&ProgramNames::k, "k", "key", one.k, "\\hat k_t", Role::key, "key");
  name_field(&ProgramNames::v, "v", "value", one.v, "\\hat v_t", Role::value, "value");
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
RowForm over_rows(RowForm form, const Record& specimens) {
  const auto same = [](const std::string& name) { return tensor(name); };
  const auto replace = [&](Expression& x) { x = over_rows(x, same, specimens); };
  replace(form.q);
  for (RowArrays& row : form.rows) {
    replace(row.k);
    for (auto* x : {&row.gate, &row.mu, &row.beta, &row.v, &row.a, &row.k_plain, &row.v_plain})
      if (*x) replace(**x);
  }
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
    const bool is_log = input.name == "alpha" && sequence.gates_are_logs;
    record.set(input.name, is_log ? exponential(rows(input.name).array()).matrix() : rows(input.name));
  }
  for (const Parameter& setting : rule.parameters)
    record.set(setting.name, Matrix<double>::Constant(1, 1, sequence.parameter(setting.name)));
  return record;
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
  const bool logs = rows.sequence.gates_are_logs;
  // An array that the data give as it stands keeps its own precision.
  const auto array = [&](const Expression& x, Index columns) -> Matrix<Scalar> {
    if (x == tensor("q")) return rows.scaled_q();
    const bool is_given =
        x.kind() == Expression::Kind::tensor && rows.sequence.has(x.name()) && !(x.name() == "alpha" && logs);
    if (is_given) return rows(x.name());
    Matrix<double> value = evaluate(x, record());
    if (value.rows() != rows.count) value = value.replicate(rows.count, 1).eval();
    if (value.cols() != columns && value.cols() == 1) value = value.replicate(1, columns).eval();
    return value.template cast<Scalar>();
  };
  const auto log_gate = [&](const RowArrays& of, Index columns) -> Matrix<Scalar> {
    if (!of.gate) return Matrix<Scalar>::Constant(rows.count, columns, logs ? Scalar(0) : Scalar(1));
    if (logs && *of.gate == tensor("alpha") && columns == rows("alpha").cols()) return rows("alpha");
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
  program.v = table(dv, [&](const RowArrays& of) { return or_else(of.v, dv, 0); });
  if (structure.erase_key) program.a = table(dk, erase_key);
  const Index gates = structure.decay == Decay::none ? 0 : structure.decay == Decay::key ? dk : 1;
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

Index columns_of(const RuleMemory& memory, const Sequence& sequence) {
  return memory.shape.columns == 1 ? 1 : sequence.dv;
}

template <class Scalar>
class WrittenWalk : public Walk<Scalar> {
 public:
  WrittenWalk(const WrittenRule& rule, const Sequence& sequence)
      : Walk<Scalar>(sequence, Form::recurrent, 1), variant_(rule.variant), rule_(rule.text) {}

  Carried<Scalar> initial() const override {
    Carried<Scalar> carried;
    for (const RuleMemory& memory : rule_.memories)
      carried.push_back(given_or_zero(this->sequence_,
                                      initial_name(variant_, this->sequence_.settings, memory.name),
                                      this->sequence_.dk, columns_of(memory, this->sequence_))
                            .template cast<Scalar>());
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
    for (const Form each : all_forms)
      for (const Phase& phase : row_phases(form.structure, {}, each, false))
        if (maker_of(phase, input.name))
          refuse_input(fmt::format("{} is a tensor of the {} form", input.name, name(each)));
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
  if (const auto* const row = std::get_if<RowForm>(&rule.form)) {
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
  return {.structure = [structure = form.structure](const Settings&) { return structure; },
          .encoder = [&rule, of_rows = over_rows(form, specimen(rule.text))]<class Scalar>(
                         const Rows<Scalar>& rows) { return encoded<Scalar>(rule.text, of_rows, rows); },
          .notation = [&rule](const Settings& settings) { return notation_of(rule, settings); }};
}

std::shared_ptr<const Rule> rule_of_text(std::string text) {
  using Known = std::atomic<const RowDeclaration*>;
  const auto rows = [text = std::move(text), known = std::make_shared<Known>()]() -> const RowDeclaration& {
    const RowDeclaration* declared = known->load();
    if (!declared) *known = declared = &written_rule(text).variant.rule->row_program()->declaration();
    return *declared;
  };
  return std::make_shared<RowRule>(RowDeclaration{
      .structure = [rows](const Settings& settings) { return rows().structure(settings); },
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
    const std::string title = is_output ? "Output" : is_memory ? "Memory after the write" : result;
    steps.add_line(
        {result, purpose, title, fmt::format("Line {} of the rule's text.", line.line), line.equation});
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
