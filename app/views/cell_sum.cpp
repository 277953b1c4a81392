#include <numeric>

#include "app/stage/box.h"
#include "app/views/why_words.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

constexpr std::size_t most_parts = 8;

bool reads(const Expression& expression, std::string_view name) {
  return is_among(name, operands(expression));
}

bool is_tensor(const Expression& expression) { return expression.kind() == Kind::tensor; }

/// X Y with one row of Y for every token of the block.
bool runs_over_tokens(const Expression& e, const Block& block, const Record& record) {
  if (e.kind() != Kind::product || !is_tensor(e.arguments()[0]) || !is_tensor(e.arguments()[1])) return false;
  const auto& x = e.arguments()[0].name();
  const auto& y = e.arguments()[1].name();
  if (!record.contains(x) || !record.contains(y)) return false;
  return record.at(x).cols() == block.count && record.at(x).rows() == block.count &&
         record.at(y).rows() == block.count && block.count > 1;
}

void add_tokens(std::vector<CellPart>& parts, const Block& block, std::span<const double> terms,
                double sign) {
  for (Index j = 0; j < std::ssize(terms); ++j) {
    if (const double term = entry(terms, j); term != 0)
      parts.push_back({.words = {}, .token = block.first_token + j, .value = sign * term});
  }
}

/// A row of a solved system: its right-hand side minus what earlier rows contribute.
std::vector<CellPart> solved_parts(const Block& block, const Record& record, const CellFocus& cell) {
  std::vector<CellPart> parts = {{.words = "values − carried-in v̂",
                                  .role = Role::error,
                                  .value = record.at("R")(cell.row, cell.column)}};
  add_tokens(parts, block, product_terms(record.at("N"), record.at("U"), cell.row, cell.column, cell.row),
             -1);
  return parts;
}

/// w . S[:, column] inside an expression: X S or S^T x.
struct Reading {
  std::string state;
  Expression weights;
  bool by_row = false;  // X S: a row of X
};

std::optional<Reading> reading_in(const Expression& e) {
  const auto arguments = e.arguments();
  if (e.kind() == Kind::product) {
    const Expression& x = arguments[0];
    const Expression& y = arguments[1];
    if (x.kind() == Kind::transpose && is_tensor(x.arguments()[0]) &&
        x.arguments()[0].name().starts_with("S_"))
      return Reading{x.arguments()[0].name(), y, false};
    if (is_tensor(y) && y.name() == "S_in") return Reading{y.name(), x, true};
  }
  for (const Expression& argument : arguments) {
    if (auto found = reading_in(argument)) return found;
  }
  return std::nullopt;
}

/// The number of tokens that a state of a record contains.
std::optional<Index> tokens_of(const std::string& state, const Trace& trace, const Block& block) {
  if (is_among(state, {"S_before", "S_decayed", "S_in"})) return block.first_token;
  if (is_among(state, {"S_after", "S_out"})) return block.first_token + block.count;
  if (state == "S_final") return trace.tokens;
  return std::nullopt;
}

/// The read of the memory that a cell is made from, as a read of the memory after a whole number of tokens.
std::optional<WrittenCell> read_cell(const Trace& trace, const Block& block, const Operation& maker,
                                     const Record& record, const CellFocus& cell, const std::string& called) {
  const auto reading = reading_in(maker.equation.expression);
  if (!reading || !record.contains(reading->state)) return std::nullopt;
  const auto tokens = tokens_of(reading->state, trace, block);
  if (!tokens) return std::nullopt;
  const Matrix<double> weights = evaluate(reading->weights, record);
  Vector<double> w;
  if (reading->by_row) {
    if (cell.row >= weights.rows()) return std::nullopt;
    w = weights.row(cell.row).transpose();
  } else {
    w = weights.col(0);
  }
  const Index column = reading->by_row || cell.tensor == "update" ? cell.column : cell.row;
  if (reading->state == "S_decayed") {
    if (record.contains("alpha")) w = before_decay(w, record.at("alpha"));
    if (record.contains("mu")) w = before_decay(w, record.at("mu").row(column));
  }
  std::optional<double> shown;
  if (!reading->by_row && record.contains(called) && record.at(called).cols() == 1)
    shown = record.at(called)(column, 0);
  return WrittenCell{
      .number = {.tokens = *tokens, .column = column, .weights = {w.data(), w.data() + w.size()}},
      .latex = fmt::format("{}[{}]", coloured(named_symbol(trace.symbols, called)), column),
      .words = named_symbol(trace.symbols, called).words,
      .shown = shown};
}

}  // namespace

std::string coloured(const Symbol& symbol) {
  return fmt::format("\\fgcolor{{{}}}{{{}}}", style::hex(style::colours().role(symbol.role)), symbol.latex);
}

std::vector<CellPart> cell_parts(const Phase& phase, const Block& block, const Symbols& symbols,
                                 const Record& record, const CellFocus& cell) {
  const Operation* maker = maker_of(phase, cell.tensor);
  if (!maker) return {};
  const Expression& solved = maker->equation.expression;
  const bool is_solved = cell.tensor == "U" && solved.kind() == Kind::function &&
                         solved.name() == "solve_unit_lower" && record.contains("N") && record.contains("R");
  if (is_solved) return solved_parts(block, record, cell);
  Expression whole = maker->equation.expression;
  std::vector<CellPart> parts;
  if (runs_over_tokens(whole, block, record)) {
    const Matrix<double>& x = record.at(whole.arguments()[0].name());
    add_tokens(parts, block,
               product_terms(x, record.at(whole.arguments()[1].name()), cell.row, cell.column, x.cols()), 1);
    return parts;
  }
  const bool is_update = maker->purpose == Purpose::update && reads(whole, "error");
  if (is_update) {
    whole = expand(whole, made_of(phase.operations, &Operation::equation), std::vector<std::string>{"error"});
  }
  const std::vector<AdditivePart> pieces = additive_parts(whole);
  if (pieces.size() < 2 || pieces.size() > most_parts) return {};
  const auto colour = [](Role role, bool) { return style::hex(style::colours().role(role)); };
  for (const AdditivePart& piece : pieces) {
    const double value =
        explain({cell.tensor, piece.expression}, symbols, record, cell.row, cell.column).value;
    CellPart part{.words = {},
                  .latex = (piece.sign < 0 ? "-" : "") +
                           latex(piece.expression, symbols, {.colour = colour, .lit = {}}),
                  .value = piece.sign * value};
    if (is_update) {
      const bool erases = reads(piece.expression, "old");
      part.words = erases ? "erased" : "written";
      part.role = erases ? Role::error : Role::value;
    } else if (is_tensor(piece.expression)) {
      part.words = named_symbol(symbols, piece.expression.name()).words;
    }
    parts.push_back(std::move(part));
  }
  // What is erased comes before what is written.
  if (is_update)
    std::ranges::stable_partition(parts, [](const CellPart& part) { return part.words == "erased"; });
  return parts;
}

NamedParts named_parts(const std::vector<CellPart>& parts, std::size_t most) {
  const auto size_of = [&](std::size_t part) {
    const double size = std::abs(parts[part].value);
    return std::isfinite(size) ? size : std::numeric_limits<double>::infinity();
  };
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), size_of);
  const auto others = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  NamedParts result;
  std::sort(order.begin(), others);
  for (auto part = order.begin(); part != others; ++part) result.named.push_back(parts[*part]);
  for (auto part = others; part != order.end(); ++part) result.rest += parts[*part].value;
  result.others = order.end() - others;
  return result;
}

std::optional<WrittenCell> written_cell(const Trace& trace, const Block& block, const Phase& phase,
                                        const Record& record, const CellFocus& cell, bool is_turned) {
  const Operation* maker = maker_of(phase, cell.tensor);
  if (const auto tokens = tokens_of(cell.tensor, trace, block)) {
    const bool fades = cell.tensor == "S_decayed";
    const std::string tensor = fades ? "S_before" : cell.tensor;
    return WrittenCell{
        .number = {.tokens = *tokens, .row = cell.row, .column = cell.column},
        .latex = fmt::format("{}[{}, {}]", coloured(named_symbol(trace.symbols, tensor)),
                             is_turned ? cell.column : cell.row, is_turned ? cell.row : cell.column),
        .words = named_symbol(trace.symbols, tensor).words,
        .shown = record.at(tensor)(cell.row, cell.column)};
  }
  if (!maker) return std::nullopt;
  if (trace.form == Form::recurrent) {
    const bool is_of_read = maker->purpose == Purpose::update || maker->purpose == Purpose::error;
    const Operation* read =
        is_of_read ? row_called(phase.operations, Purpose::read, &Operation::purpose) : maker;
    if (!read) return std::nullopt;
    return read_cell(trace, block, *read, record, cell, read->equation.result);
  }
  const bool is_solved = maker->purpose == Purpose::solve;
  const Operation* read =
      is_solved ? row_called(phase.operations, Purpose::rest, &Operation::purpose) : maker;
  if (!read) return std::nullopt;
  auto found = read_cell(trace, block, *read, record, cell, "S_in");
  if (found) found->words = "what the carried-in memory returns";
  if (found) found->latex.clear();
  return found;
}

}  // namespace palimpsest
