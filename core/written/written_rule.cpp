#include "core/written/written_rule.h"

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <mutex>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/rules/inner_problem.h"
#include "core/rules/walk_rule.h"
#include "core/written/written_parts.h"

namespace palimpsest {

namespace {

/// All that the lines compute for a token. Every result is rounded to Scalar; what is inside a line is
/// computed in f64.
template <class Scalar>
Record computed(const RuleText& rule, const Sequence& sequence, Index token, const NamedStates& memories) {
  const Record given = given_to(rule, sequence, token, 1);
  Record record;
  for (const auto& [name, rows] : given.tensors()) record.set(name, rows.transpose());
  record.set(identity_of_keys, Matrix<double>::Identity(sequence.dk, sequence.dk));
  record.set(identity_of_values, Matrix<double>::Identity(sequence.dv, sequence.dv));
  for (const auto& [name, memory] : memories) record.set(before(name), memory);
  for (const RuleLine& line : rule.lines)
    record.set(line.equation.result,
               evaluate(line.equation.expression, record).template cast<Scalar>().template cast<double>());
  return record;
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

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    stop_if_asked(stop);
    const Record record =
        computed<Scalar>(rule_, this->sequence_, this->block(index).first_token, states(carried));
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
                          .nonlinear =
                              [reason](const Settings&) {
                                return fmt::format("No output is a weighted sum of values: {}.", reason);
                              }});
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
InnerLoss recognised_loss(const RuleText& text, const RowForm& form) {
  const Structure& structure = form.structure;
  const bool decays = structure.decay != Decay::none || structure.value_decay;
  Symbols symbols = written_steps(text).symbols;
  symbols["S"] = {"S", Role::state, "memory"};
  const auto letters = [&](const Expression& x) { return latex(x, symbols); };
  const bool is_alone = form.rows.size() == 1;  // else k and v stand for those of each row
  const Expression returned = transpose(tensor("S")) * (is_alone ? form.rows.front().k : tensor("k"));
  const Expression value = is_alone ? form.rows.front().v.value_or(tensor("v")) : tensor("v");
  const bool is_one_key = !structure.plain_write && structure.writes_value;
  if (is_one_key && structure.erase == Erase::none)
    return {.words = "Make what the memory returns for the key point along the value: one gradient step.",
            .latex = fmt::format("-\\langle {}, {}\\rangle", letters(returned), letters(value)) +
                     (decays ? " + \\tfrac12\\|\\sqrt{1-d_t}\\odot S\\|_F^2" : ""),
            .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
            .problems = dot_problems};
  if (is_one_key && structure.erase == Erase::decayed && !structure.erase_key) {
    const std::string from = decays ? "\\bar S_t" : "S_{t-1}";
    const Expression gradient = tensor("gradient");
    symbols["gradient"] = {fmt::format("\\nabla\\mathcal L({})", from), Role::error, "gradient"};
    symbols["beta"] = {"\\beta_t", Role::strength, "write strength"};
    const Expression beta = is_alone ? form.rows.front().beta.value_or(number_expression(1)) : tensor("beta");
    return {.words = "Make the memory return the value for the key: one gradient step for each write.",
            .latex = fmt::format("\\tfrac12\\|{}\\|^2", letters(returned - value)),
            .step = fmt::format("S_t = {} - {}", from, letters(structure.beta ? beta * gradient : gradient)),
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
  if (rule.text.loss) variant.loss = text_loss(rule);
  if (auto* const row = std::get_if<RowForm>(&rule.form)) {
    for (const std::string& name : row->mixing.names) row->letters += name;
    row->structure.parts = row->letters;
    require_free_names(rule);
    variant.rule = std::make_shared<RowRule>(rows_of(rule));
    if (!rule.text.loss) variant.loss = recognised_loss(rule.text, *row);
  } else {
    if (!rule.text.loss)
      variant.loss = {.words =
                          "A loss is recognised only where a rule has chunks. A line such as loss = 1/2 |S^T "
                          "k - v|^2 says which one is meant."};
    variant.rule = walked_rule(rule);
  }
}

}  // namespace

std::string written_id(std::string_view text) { return std::string(written_prefix) + escaped(text); }

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
      .encoder =
          [rows]<class Scalar>(const Rows<Scalar>& tokens) { return rows().encoder.in<Scalar>()(tokens); },
      .notation = [rows](const Settings& settings) { return rows().notation(settings); }});
}

std::string written_text(const Variant& variant) {
  const std::string_view id = variant.id;
  return id.starts_with(written_prefix) ? unescaped(id.substr(written_prefix.size())) : variant.text;
}

Record token_record(const RuleText& rule, const Sequence& sequence, Index token,
                    const NamedStates& memories) {
  return computed<double>(rule, sequence, token, memories);
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

Output carried_out(const WrittenRule& rule, const Sequence& sequence) {
  const WrittenWalk<double> walk(rule, sequence);
  Carried<double> carried = walk.initial();
  Matrix<double> o(sequence.tokens, sequence.dv);
  for (Index t = 0; t < sequence.tokens; ++t) o.row(t) = walk.advance(t, carried, nullptr, {});
  return {o, walk.states(carried)};
}

}  // namespace palimpsest
