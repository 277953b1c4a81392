#include "app/stage/view.h"

#include <fmt/format.h>

#include "app/stage/cell_words.h"
#include "app/stage/equation_layout.h"

namespace palimpsest {

namespace {

using Operations = std::vector<const Operation*>;

/// What a step asks, with the token in its place, as quoted_label() names it.
std::string with_label(std::string text, const std::string& quoted) {
  const std::string slot = "“{token}”";
  if (const auto at = text.find(slot); at != std::string::npos) text.replace(at, slot.size(), quoted);
  return text;
}

/// Position of the line that `operation` belongs to.
std::size_t line_of(const Phase& phase, const Operation& operation) {
  const auto found = std::ranges::find_if(
      phase.lines, [&](const Line& candidate) { return is_among(operation.id, candidate.operations); });
  return found == phase.lines.end() ? phase.lines.size() - 1
                                    : static_cast<std::size_t>(found - phase.lines.begin());
}

/// The operations of a line, in order.
Operations operations_of(const Phase& phase, const Line& line) {
  Operations found;
  for (const Operation& candidate : phase.operations) {
    if (is_among(candidate.id, line.operations)) found.push_back(&candidate);
  }
  return found;
}

/// How often `result` is made inside `expression`.
int count_of(const Expression& expression, const std::string& result) {
  int count = expression.kind() == Expression::Kind::named && expression.name() == result ? 1 : 0;
  for (const Expression& part : expression.arguments()) count += count_of(part, result);
  return count;
}

/// A line's equation in which what would be written out more than once stands as its symbol.
Equation shortened_line(const Line& line) {
  const Expression& whole = line.equation.expression;
  return {line.equation.result, replaced(whole, [&](const Expression& piece) -> std::optional<Expression> {
            const bool repeats = piece.kind() == Expression::Kind::named && count_of(whole, piece.name()) > 1;
            return repeats ? std::optional(tensor(piece.name())) : std::nullopt;
          })};
}

/// The formulas of a phase: every line's equation, and the steps that no line writes out, in order. The one
/// of `present` is lit, or its part of a line.
std::vector<StageFormula> rule_of(const Phase& phase, const Operation& present) {
  std::vector<StageFormula> rule;
  for (const Line& line : phase.lines) {
    std::vector<StageFormula> others;
    StageFormula whole{.equation = shortened_line(line)};
    for (const Operation* operation : operations_of(phase, line)) {
      const std::string& result = operation->equation.result;
      const bool is_present = operation == &present;
      if (result == line.equation.result || count_of(whole.equation.expression, result) > 0) {
        if (!is_present) continue;
        whole.is_lit = true;
        whole.part = result == line.equation.result ? "" : result;
      } else {
        others.push_back({.equation = operation->equation, .is_lit = is_present});
      }
    }
    std::ranges::move(others, std::back_inserter(rule));
    rule.push_back(std::move(whole));
  }
  return rule;
}

/// The number of computed rows in the results of the operation at the cursor and later ones.
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

/// Tells pictures which tokens their rows and columns are. The first one of a line with words for its rows
/// gets them.
struct TokenNames {
  const Trace& trace;
  const Cursor& cursor;
  const Record& record;
  const std::vector<std::string>& labels;
  const Block block = trace.block(cursor.block);
  const Index token_at_cursor = trace.token(cursor);

  /// `tensor`: whose cells the picture shows.
  void name(Box& picture, const std::string& tensor, bool& has_words) const {
    if (picture.kind != Box::Kind::picture || !record.contains(tensor)) return;
    Axes axes = axes_of(trace, block, record.at(tensor), tensor);
    if (picture.transposed) std::swap(axes.rows, axes.columns);
    picture.first_row_token = picture.rows > 1 ? axes.rows.first_token.value_or(-1) : -1;
    picture.first_column_token = picture.columns > 1 ? axes.columns.first_token.value_or(-1) : -1;
    if (picture.first_row_token < 0 || has_words) return;
    has_words = true;
    const Index present = token_at_cursor - picture.first_row_token;
    if (present >= 0 && present < picture.rows) {
      picture.present_row = present;
      picture.present_word = word(token_at_cursor);
    }
    if (picture.rows > most_words) return;
    for (Index row = 0; row < picture.rows; ++row)
      picture.row_words.push_back(word(picture.first_row_token + row));
  }

  void name_all(Box& box, bool& has_words) const {
    name(box, box.tensor, has_words);
    for (Box& part : box.parts) {
      if (box.kind == Box::Kind::stack) has_words = false;  // each is a line
      name_all(part, has_words);
    }
  }

  void name_all(Box& equation) const {
    lay_down(equation);
    bool has_words = false;
    name_all(equation, has_words);
  }

  void name_all(Hero& hero) const {
    bool has_words = false;
    name_all(hero.equation, has_words);
    name_all(hero.broken);
    for (Plate& plate : hero.plates) {
      const auto other = hero.stands_for.find(plate.picture.tensor);
      name(plate.picture, other == hero.stands_for.end() ? plate.picture.tensor : other->second, has_words);
    }
    if (hero.kind == Hero::Kind::strips) name_columns(hero);
  }

  std::string word(Index token) const {
    const auto position = static_cast<std::size_t>(token);
    return position < labels.size() ? visible_label(labels[position]) : "";
  }

  /// Whether what the picture shows turned has a row for each word.
  bool has_turned_rows(const Box& picture) const {
    if (!picture.transposed || !record.contains(picture.tensor)) return false;
    const Axes axes = axes_of(trace, block, record.at(picture.tensor), picture.tensor);
    return axes.rows.first_token && !axes.columns.first_token;
  }

  /// Transposed, few tokens would be tall narrow columns: draws them as rows, with the vectors that they are
  /// multiplied by.
  void lay_down(Box& box) const {
    const auto lay = [](Box& picture) {
      picture.transposed = false;
      picture.words = "transposed: one row per token";
      std::swap(picture.rows, picture.columns);
    };
    bool is_any_laid = false;
    for (Box& part : box.parts) {
      lay_down(part);
      if (part.columns >= part.rows || !has_turned_rows(part)) continue;
      lay(part);
      is_any_laid = true;
    }
    if (!is_any_laid) return;
    for (Box& part : box.parts) {
      if (part.rows == 1 && part.columns > 1 && has_turned_rows(part)) lay(part);
    }
  }

  /// Labels below the last strip, if it has one number for each token: first the current one, then the
  /// largest. Its result may be one number.
  void name_columns(Hero& hero) const {
    const auto strip = std::ranges::find_if(hero.plates.rbegin(), hero.plates.rend(), [](const Plate& plate) {
      return plate.picture.kind == Box::Kind::picture;
    });
    if (strip == hero.plates.rend()) return;
    Box& picture = strip->picture;
    if (picture.first_column_token < 0 || !record.contains(picture.tensor)) return;
    const Matrix<double>& result = record.at(picture.tensor);
    for (Index column = 0; column < picture.columns; ++column) {
      picture.column_words.push_back(word(picture.first_column_token + column));
      picture.column_order.push_back(column);
    }
    const Index present = token_at_cursor - picture.first_column_token;
    std::ranges::stable_sort(picture.column_order, std::greater(), [&](Index column) {
      return std::pair(column == present, std::abs(result.data()[column]));
    });
  }

  static constexpr Index most_words = 40;  // of a picture: the rows of more are never so high
};

/// The difference of the current token's row of an output from the recurrence.
std::string recurrence_words(const Block& block, const Operation& operation, Index token,
                             const Record& record, const std::string& quoted, const Record* recurrence) {
  if (!recurrence || operation.purpose != Purpose::output || operation.equation.result != "O") return {};
  if (!recurrence->contains("o") || !record.contains("O_inter")) return {};
  const Matrix<double>& rows = record.at("O");
  const Matrix<double>& given = recurrence->at("o");
  const Index row = token - block.first_token;
  if (row < 0 || row >= rows.rows() || given.cols() != 1 || given.rows() != rows.cols()) return {};
  const double difference = (rows.row(row).transpose() - given).cwiseAbs().maxCoeff();
  return fmt::format(
      " For {} {}.", quoted,
      difference == 0 ? "both agree exactly" : fmt::format("both agree to {:.0e}", difference));
}

}  // namespace

Index StageView::finished_rows(const std::string& tensor) const {
  const auto found = waiting.find(tensor);
  return found == waiting.end() ? -1 : found->second;
}

const std::string& StageView::recorded(const std::string& tensor) const {
  const auto found = hero.stands_for.find(tensor);
  return found == hero.stands_for.end() ? tensor : found->second;
}

StageView stage_view(const Trace& trace, const Phase& phase, const Record& record, const Cursor& cursor,
                     const std::vector<std::string>& labels, const LatexStyle& style,
                     const Record* recurrence) {
  const Index token = trace.token(cursor);
  const std::string label = quoted_label(entry(labels, token), token);
  const Operation& operation = entry(phase.operations, cursor.operation);
  const std::size_t present = line_of(phase, operation);
  const auto pictures = [&](const std::string& id, const Equation& equation) {
    return boxes(id, equation, record, trace.symbols);
  };
  StageView view{.one_token = trace.form == Form::recurrent,
                 .token = token,
                 .present = present,
                 .present_operation = cursor.operation,
                 .rule = rule_of(phase, operation),
                 .sentence = with_label(operation.sentence, label),
                 .lit = operation.equation.result,
                 .waiting = rows_there(phase, cursor)};
  const TokenNames names{trace, cursor, record, labels};
  if (view.one_token) {
    for (const Operation& each : phase.operations) {
      const std::string& result = each.equation.result;
      const std::string& words = symbol_in(trace.symbols, result).words;
      const auto position = static_cast<Index>(view.tiles.size());
      view.tiles.push_back({.operation = position,
                            .picture = picture_of(result, record.at(result).cols() == 1,
                                                  fmt::format("tile/{}", position), record, trace.symbols),
                            .latex = latex(each.equation, trace.symbols, style),
                            .symbol = latex(tensor(result), trace.symbols, style),
                            .words = words.empty() ? each.title : words,
                            .sentence = with_label(each.sentence, label)});
    }
    view.hero = hero_of(phase, operation, record, trace.symbols, style);
    names.name_all(view.hero);
    return view;
  }
  for (std::size_t i = 0; i < phase.lines.size(); ++i) {
    const Line& line = phase.lines[i];
    // The line at the cursor is the step; what it asks stands beside it.
    const bool is_step = i == present;
    view.lines.push_back(
        {fmt::format("{}  {}", i + 1, is_step ? operation.title : line.title),
         with_label(is_step ? operation.sentence : line.sentence, label), line.weight,
         pictures(fmt::format("line {}", i), is_step ? operation.equation : shortened_line(line))});
    const Operations steps = operations_of(phase, line);
    view.starts.push_back(steps.empty() ? -1 : steps.front() - phase.operations.data());
    // A pass of one line waits for what it is to make, as others wait for their next line.
    const bool is_alone = phase.lines.size() == 1 && operation.equation.result != line.equation.result;
    if (!is_alone || steps.empty()) continue;
    view.lines.push_back({"2  " + line.title, with_label(line.sentence, label), line.weight,
                          pictures("line 1", shortened_line(line))});
    view.starts.push_back(steps.back() - phase.operations.data());
  }
  view.substitution = substitution_view(trace, phase, record, cursor, labels, recurrence);
  if (view.substitution) view.lines[present].sentence += "\n" + view.substitution->sentence;
  view.lines[present].sentence +=
      recurrence_words(trace.block(cursor.block), operation, view.token, record, label, recurrence);
  for (const Operation* step : operations_of(phase, phase.lines[present])) {
    view.steps.push_back(pictures("", step->equation));
    view.broken_steps.push_back(broken(view.steps.back()));
  }
  view.broken = broken(view.lines[present].equation);
  for (StageLine& line : view.lines) names.name_all(line.equation);
  for (std::vector<Box>* steps : {&view.steps, &view.broken_steps}) {
    for (Box& step : *steps) names.name_all(step);
  }
  names.name_all(view.broken);
  if (view.substitution) {
    for (Box* picture :
         {&view.substitution->overlap, &view.substitution->solved, &view.substitution->missing})
      names.name_all(*picture);
  }
  return view;
}

void name_tokens(Hero& hero, const Trace& trace, const Cursor& cursor, const Record& record,
                 const std::vector<std::string>& labels) {
  TokenNames{trace, cursor, record, labels}.name_all(hero);
}

std::string stage_place(const Trace& trace, const Phase& phase, const Cursor& cursor) {
  const Block block = trace.block(cursor.block);
  const Operation& operation = entry(phase.operations, cursor.operation);
  const Index first = block.first_token;
  const Groups& groups = trace.groups;
  const bool in_batch = groups.kind == Groups::Kind::batches && trace.form != Form::parallel;
  std::string words;
  if (trace.form == Form::two_pass)
    words += fmt::format("pass {} of {} · ", block.phase + 1, trace.phases.size());
  if (in_batch || has_chunks(trace.form)) {
    words += fmt::format("{} {}", in_batch ? "batch" : "chunk", first / groups.size + 1);
    if (has_chunks(trace.form) || block.count > 1)
      words += fmt::format(", tokens {}–{}", first + 1, first + block.count);
    words += " · ";
  }
  words += fmt::format("step {} of {}", cursor.operation + 1, phase.operations.size());
  if (operation.by_row) words += fmt::format(", row {} of {}", cursor.row + 1, block.count);
  return words;
}

}  // namespace palimpsest
