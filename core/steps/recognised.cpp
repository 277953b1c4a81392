#include "core/steps/recognised.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

/// The one factor of a product of tensors, turned or not, that a step of `purpose` makes; null if there is
/// none.
const Operation* factor_of(const Phase& phase, const Expression& product, Purpose purpose) {
  if (product.kind() == Kind::tensor) {
    const Operation* maker = maker_of(phase, product.name());
    return maker && maker->purpose == purpose ? maker : nullptr;
  }
  if (!is_among(product.kind(), {Kind::transpose, Kind::product})) return nullptr;
  for (const Expression& factor : product.arguments()) {
    if (const Operation* found = factor_of(phase, factor, purpose)) return found;
  }
  return nullptr;
}

Expression with(const Expression& product, const std::string& factor, const Expression& other) {
  return replaced(product, [&](const Expression& piece) -> std::optional<Expression> {
    if (piece.kind() == Kind::tensor && piece.name() == factor) return other;
    return std::nullopt;
  });
}

/// An update with an error as its factor that is a difference.
std::optional<Overwrite> divided(const Phase& phase, const Operation& update) {
  const Expression& product = update.equation.expression;
  const Operation* error = factor_of(phase, product, Purpose::error);
  if (!error || error->equation.expression.kind() != Kind::difference) return std::nullopt;
  const std::string& name = error->equation.result;
  const std::span<const Expression> parts = error->equation.expression.arguments();
  return Overwrite{.erased = call("negative", {with(product, name, parts[1])}),
                   .written = with(product, name, parts[0]),
                   .update = tensor(update.equation.result)};
}

/// Whether an update only erases: its error is minus the prediction.
bool only_erases(const Phase& phase, const Operation& update) {
  const Operation* error = factor_of(phase, update.equation.expression, Purpose::error);
  return error && error->equation.expression.kind() != Kind::difference;
}

/// The tensors that `expression` adds up, each as it is, turned or times something else.
void collect_addends(const Expression& expression, std::vector<std::string>& names) {
  const Kind kind = expression.kind();
  if (is_among(kind, {Kind::tensor, Kind::named})) names.push_back(expression.name());
  if (!is_among(kind, {Kind::named, Kind::transpose, Kind::sum, Kind::difference})) return;
  for (const Expression& argument : expression.arguments()) collect_addends(argument, names);
}

/// A tensor in a formula, and how it appears there: its symbol, and the kind of factor that it is part of.
struct Appearance {
  std::string tensor;
  std::string looks;
};

void collect(const Expression& expression, const Symbols& symbols, const std::string& factor,
             std::vector<Appearance>& found) {
  if (expression.kind() == Kind::tensor) {
    const Symbol* symbol = value_at(symbols, expression.name());
    found.push_back({expression.name(), factor + (symbol ? symbol->latex : expression.name())});
    return;
  }
  std::string made;
  if (expression.kind() == Kind::diagonal) made = "diagonal ";
  if (expression.kind() == Kind::function) made = expression.name() + " ";
  for (const Expression& argument : expression.arguments()) collect(argument, symbols, made, found);
}

std::vector<Appearance> appearances(const Line& line, const Symbols& symbols) {
  std::vector<Appearance> found;
  collect(line.equation.expression, symbols, {}, found);
  return found;
}

}  // namespace

std::optional<Overwrite> overwrite_of(const Phase& phase, const Operation& operation) {
  if (operation.purpose != Purpose::update) return std::nullopt;
  std::vector<const Operation*> updates;
  for (const Operation& each : phase.operations) {
    if (each.purpose == Purpose::update) updates.push_back(&each);
  }
  if (updates.size() == 2 && only_erases(phase, *updates[0])) {
    const Expression erased = tensor(updates[0]->equation.result);
    const Expression written = tensor(updates[1]->equation.result);
    return Overwrite{erased, written, erased + written, false};
  }
  return divided(phase, operation);
}

std::optional<SubstitutionNames> substitution_of(const Operation& operation) {
  const Expression& solve = operation.equation.expression;
  if (solve.kind() != Kind::function || solve.name() != "solve_unit_lower") return std::nullopt;
  const Expression& overlap = solve.arguments()[0];
  const Expression& missing = solve.arguments()[1];
  const bool are_recorded = overlap.kind() == Kind::tensor && missing.kind() == Kind::tensor;
  if (!are_recorded) return std::nullopt;
  return SubstitutionNames{overlap.name(), missing.name(), operation.equation.result};
}

SubstitutionRow substitution_row(const SubstitutionNames& names, const Record& record, Index row) {
  const Matrix<double>& overlap = record.at(names.overlap);
  const Matrix<double>& solved = record.at(names.solved);
  SubstitutionRow sum{.missing = record.at(names.missing).row(row), .taken = {}, .solved = solved.row(row)};
  for (Index j = 0; j < row; ++j) sum.taken.push_back({j, overlap(row, j), -overlap(row, j) * solved.row(j)});
  return sum;
}

std::set<std::string> state_steps(const Trace& trace) {
  std::vector<std::vector<std::string>> together;
  for (const Phase& phase : trace.phases) {
    for (const Operation& operation : phase.operations) {
      together.push_back({operation.equation.result});
      collect_addends(operation.equation.expression, together.back());
    }
    for (const Carry& carry : phase.carries) together.push_back({carry.from, carry.to});
  }
  const auto has_role = [&](const std::string& name, Role role) {
    const Symbol* symbol = value_at(trace.symbols, name);
    return symbol && symbol->role == role;
  };
  std::set<std::string> found;
  const auto belongs = [&](const std::string& name) {
    return has_role(name, Role::state) || found.contains(name);
  };
  std::size_t known = 0;
  do {
    known = found.size();
    for (const std::vector<std::string>& names : together) {
      if (std::ranges::none_of(names, belongs)) continue;
      for (const std::string& name : names) {
        if (has_role(name, Role::error)) found.insert(name);
      }
    }
  } while (found.size() > known);
  return found;
}

const Line* rewriting_line(const Trace& trace) {
  for (const Phase& phase : trace.phases) {
    const Operation* write = row_called(phase.operations, Purpose::write, &Operation::purpose);
    if (!write) continue;
    for (const Line& line : phase.lines) {
      if (is_among(write->id, line.operations)) return &line;
    }
  }
  return nullptr;
}

std::vector<std::string> lacking(const Line& line, const Symbols& symbols, const Line& other,
                                 const Symbols& other_symbols) {
  std::set<std::string> known;
  for (const Appearance& each : appearances(other, other_symbols)) known.insert(each.looks);
  std::vector<std::string> tensors;
  for (const Appearance& each : appearances(line, symbols)) {
    if (!known.contains(each.looks) && !is_among(each.tensor, tensors)) tensors.push_back(each.tensor);
  }
  return tensors;
}

namespace {

/// Rewrites expressions for turned states. Numbers stay in front of what they scale.
struct Turner {
  const Symbols& symbols;
  const Record& record;

  bool turns(const std::string& name) const { return palimpsest::turns(name, symbols, record); }

  /// The value of `x`.
  Expression kept(const Expression& x) const {
    return replaced(x, [this](const Expression& piece) -> std::optional<Expression> {
      if (piece.kind() == Kind::transpose) return flipped(piece.arguments()[0]);
      const bool has_name = piece.kind() == Kind::tensor || piece.kind() == Kind::named;
      if (has_name && turns(piece.name())) return transpose(flipped(piece));
      return std::nullopt;
    });
  }

  /// The transpose of `x`.
  Expression flipped(const Expression& x) const {
    if (is_number(x)) return kept(x);
    const std::span<const Expression> arguments = x.arguments();
    switch (x.kind()) {
      case Kind::tensor:
        return turns(x.name()) ? x : transpose(x);
      case Kind::named:
        return turns(x.name()) ? named(x.name(), flipped(arguments[0])) : transpose(kept(x));
      case Kind::transpose:
        return kept(arguments[0]);
      case Kind::product:
        return flipped_product(arguments[0], arguments[1]);
      case Kind::hadamard:
        return hadamard(flipped(arguments[0]), flipped(arguments[1]));
      case Kind::sum:
        return flipped(arguments[0]) + flipped(arguments[1]);
      case Kind::difference:
        return flipped(arguments[0]) - flipped(arguments[1]);
      default:
        return x.kind() == Kind::diagonal ? kept(x) : transpose(kept(x));
    }
  }

  bool is_number(const Expression& x) const { return shape(x, record) == Shape{1, 1}; }

  Expression flipped_product(const Expression& x, const Expression& y) const {
    if (is_number(x)) return kept(x) * flipped(y);
    if (is_number(y)) return flipped(x) * kept(y);
    // (a x) y with a number a: a stays in front.
    const bool is_scaled = x.kind() == Kind::product && is_number(x.arguments()[0]);
    if (!is_scaled) return flipped(y) * flipped(x);
    return kept(x.arguments()[0]) * flipped(y) * flipped(x.arguments()[1]);
  }
};

}  // namespace

bool turns(std::string_view name, const Symbols& symbols, const Record& record) {
  const Symbol* symbol = value_at(symbols, name);
  if (!symbol || symbol->role != Role::state || !symbol->turns) return false;
  if (!record.contains(name)) return false;
  const Matrix<double>& value = record.at(name);
  return value.rows() > 1 && value.cols() > 1;
}

Record turned(const Record& record, const Symbols& symbols) {
  Record result = record;
  for (const auto& [name, value] : record.tensors()) {
    if (turns(name, symbols, record)) result.set(name, value.transpose());
  }
  return result;
}

Equation turned(const Equation& equation, const Symbols& symbols, const Record& record) {
  const Turner turner{symbols, record};
  const bool turns = turner.turns(equation.result);
  return {equation.result, turns ? turner.flipped(equation.expression) : turner.kept(equation.expression)};
}

Phase turned(Phase phase, const Symbols& symbols, const Record& record) {
  for (Operation& operation : phase.operations)
    operation.equation = turned(operation.equation, symbols, record);
  for (Line& line : phase.lines) line.equation = turned(line.equation, symbols, record);
  return phase;
}

}  // namespace palimpsest
