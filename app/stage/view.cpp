#include "app/stage/view.h"

#include <fmt/format.h>

#include <algorithm>

namespace palimpsest {

namespace {

using Operations = std::vector<const Operation*>;

/// What a step asks, with the token's label in its place.
std::string with_label(std::string text, const std::string& label) {
  const std::string slot = "{token}";
  const auto first = label.find_first_not_of(" \n");
  const std::string shown = first == std::string::npos ? "␣" : label.substr(first);
  if (const auto at = text.find(slot); at != std::string::npos) text.replace(at, slot.size(), shown);
  return text;
}

/// Position of the line that `operation` belongs to.
std::size_t line_of(const Phase& phase, const Operation& operation) {
  const auto found = std::ranges::find_if(phase.lines, [&](const Line& candidate) {
    return std::ranges::find(candidate.operations, operation.id) != candidate.operations.end();
  });
  return found == phase.lines.end() ? phase.lines.size() - 1
                                    : static_cast<std::size_t>(found - phase.lines.begin());
}

/// The operations of a line, in order.
Operations operations_of(const Phase& phase, const Line& line) {
  Operations found;
  for (const Operation& candidate : phase.operations) {
    if (std::ranges::find(line.operations, candidate.id) != line.operations.end())
      found.push_back(&candidate);
  }
  return found;
}

/// Whether `result` is made inside `expression`.
bool contains(const Expression& expression, const std::string& result) {
  if (expression.kind() == Expression::Kind::named && expression.name() == result) return true;
  return std::ranges::any_of(expression.arguments(),
                             [&](const Expression& part) { return contains(part, result); });
}

bool writes_out(const Expression& expression) {
  return expression.kind() == Expression::Kind::named ||
         std::ranges::any_of(expression.arguments(), writes_out);
}

/// Whether a line and a step are the same pictures. Where the line writes out what the step takes as made,
/// they are not.
bool same(const Equation& line, const Equation& step) {
  return line.result == step.result && !writes_out(line.expression) &&
         to_string(line.expression) == to_string(step.expression);
}

/// The equation to write large: the whole line, or the operation alone if the line does not write it out.
const Equation& written(const Line& line, const Operation& operation) {
  const std::string& result = operation.equation.result;
  return line.equation.result == result || contains(line.equation.expression, result) ? line.equation
                                                                                      : operation.equation;
}

/// The rows that are there of what the operation at the cursor and those after it make.
std::map<std::string, Index, std::less<>> rows_there(const Phase& phase, const Cursor& cursor) {
  std::map<std::string, Index, std::less<>> rows;
  for (std::size_t i = 0; i < phase.operations.size(); ++i) {
    const Operation& operation = phase.operations[i];
    const auto position = static_cast<Index>(i);
    const bool goes_on = position == cursor.operation && operation.by_row;
    const Index there = position > cursor.operation ? 0 : goes_on ? cursor.row + 1 : -1;
    rows.try_emplace(operation.equation.result, there);
  }
  std::erase_if(rows, [](const auto& entry) { return entry.second < 0; });
  return rows;
}

}  // namespace

Index StageView::finished_rows(const std::string& tensor) const {
  const auto found = waiting.find(tensor);
  return found == waiting.end() ? -1 : found->second;
}

StageView stage_view(const Trace& trace, const Phase& phase, const Record& record, const Cursor& cursor,
                     const std::string& label) {
  const Operation& operation = phase.operations[static_cast<std::size_t>(cursor.operation)];
  const std::size_t present = line_of(phase, operation);
  const Line& here = phase.lines[present];
  const auto pictures = [&](const std::string& id, const Equation& equation) {
    return boxes(id, equation, record, trace.symbols);
  };
  const Equation& large = written(here, operation);
  const std::string& result = operation.equation.result;
  StageView view{.one_token = trace.form == Form::recurrent,
                 .present = present,
                 .written = large,
                 .written_part = large.result == result ? "" : result,
                 .sentence = with_label(operation.sentence, label),
                 .lit = result,
                 .waiting = rows_there(phase, cursor)};
  for (std::size_t i = 0; i < phase.lines.size(); ++i) {
    const Line& line = phase.lines[i];
    // Of a chunk, the line at the cursor is the step; what it asks stands below the formula.
    const bool is_step = i == present && !view.one_token;
    const bool is_large = i == present && view.one_token;
    const bool is_numbered = !view.one_token || phase.lines.size() > 1;
    const std::string& title = is_step ? operation.title : line.title;
    view.lines.push_back({is_numbered ? fmt::format("{}  {}", i + 1, title) : title,
                          i == present ? "" : with_label(line.sentence, label), line.weight,
                          pictures(is_large ? "large" : fmt::format("line {}", i),
                                   is_step ? operation.equation : line.equation)});
    const Operations steps = operations_of(phase, line);
    view.starts.push_back(steps.empty() ? -1 : steps.front() - phase.operations.data());
  }
  for (const Operation* step : operations_of(phase, here)) {
    if (!view.one_token || !same(here.equation, step->equation))
      view.steps.push_back(pictures("", step->equation));
  }
  if (view.one_token && !same(here.equation, operation.equation)) {
    view.step = StageLine{.title = fmt::format("This step: {}", operation.title),
                          .equation = pictures("step", operation.equation)};
  }
  return view;
}

std::string stage_title(const Computation& computed, const Trace& trace, const Phase& phase,
                        const Cursor& cursor) {
  const Block block = trace.block(cursor.block);
  const Operation& operation = phase.operations[static_cast<std::size_t>(cursor.operation)];
  const Index first = block.first_token;
  const Groups& groups = trace.groups;
  const bool in_batch = groups.kind == Groups::Kind::batches && trace.form != Form::parallel;
  std::string where;
  if (in_batch || has_chunks(trace.form)) {
    where = fmt::format(" · {} {}", in_batch ? "batch" : "chunk", first / groups.size);
    if (has_chunks(trace.form) || block.count > 1)
      where += fmt::format(", tokens {}–{}", first, first + block.count - 1);
  }
  const std::string row =
      operation.by_row ? fmt::format(", row {} of 0–{}", cursor.row, block.count - 1) : "";
  const std::string form = trace.form == Form::two_pass
                               ? fmt::format("pass {} of {}", block.phase + 1, trace.phases.size())
                               : name(trace.form);
  return fmt::format("Stage · {}, {}{} · {}{}", computed.variant->label, form, where, operation.title, row);
}

}  // namespace palimpsest
