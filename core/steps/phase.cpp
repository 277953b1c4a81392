#include "core/steps/phase.h"

namespace palimpsest {

Symbols usual_symbols(Form form, const char* scale) {
  const bool token = form == Form::recurrent;
  Symbols symbols = {{"scale", {scale, Role::plain, "scale of the query"}}};
  const auto add = [&](const char* column, const char* rows, Role role, const char* words) {
    symbols[token ? column : rows] = {token ? column + std::string("_t") : rows, role, words};
  };
  add("q", "Q", Role::query, "query");
  add("k", "K", Role::key, "key");
  add("v", "V", Role::value, "target v");
  add("o", "O", Role::output, "output");
  return symbols;
}

bool is_scaled(const Settings& settings) {
  const double* scale = value_at(settings.parameters, "scale");
  return scale && *scale != 1;
}

Expression query(bool scaled, const std::string& q) {
  return scaled ? tensor("scale") * tensor(q) : tensor(q);
}

Expression query(const Settings& settings, const std::string& q) { return query(is_scaled(settings), q); }

void PhaseBuilder::add(Operation operation) {
  known_.push_back(operation.equation);
  phase_.operations.push_back(std::move(operation));
}

void PhaseBuilder::add_all(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) add(operation);
}

void PhaseBuilder::line(std::string title, std::string sentence, const std::vector<std::string>& inlined,
                        double weight) {
  const auto& [result, expression] = known_.back();
  Line line{std::move(title), std::move(sentence), {result, expand(expression, known_, inlined)}, {}, weight};
  for (; taken_ < phase_.operations.size(); ++taken_) {
    line.operations.push_back(phase_.operations[taken_].id);
  }
  phase_.lines.push_back(std::move(line));
}

void PhaseBuilder::add_line(Operation operation, const std::vector<std::string>& inlined, double weight) {
  const Operation& added = phase_.operations.emplace_back(std::move(operation));
  known_.push_back(added.equation);
  line(added.title, added.sentence, inlined, weight);
}

}  // namespace palimpsest
