#include "core/steps/turned.h"

#include "core/formula/expression.h"

namespace palimpsest {

namespace {

/// Rewrites expressions for turned states. Numbers stay in front of what they scale.
class Turner {
 public:
  Turner(const Symbols& symbols, const Record& record) : symbols_(symbols), record_(record) {}

  bool turns(const std::string& name) const { return palimpsest::turns(name, symbols_, record_); }

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
      case Kind::diagonal:
        return kept(x);
      case Kind::function:
        break;
    }
    return transpose(kept(x));
  }

 private:
  using Kind = Expression::Kind;

  bool is_number(const Expression& x) const {
    const Shape size = shape(x, record_);
    return size.rows == 1 && size.columns == 1;
  }

  Expression flipped_product(const Expression& x, const Expression& y) const {
    if (is_number(x)) return kept(x) * flipped(y);
    if (is_number(y)) return flipped(x) * kept(y);
    // (a x) y with a number a: a stays in front.
    const bool is_scaled = x.kind() == Kind::product && is_number(x.arguments()[0]);
    if (!is_scaled) return flipped(y) * flipped(x);
    return kept(x.arguments()[0]) * flipped(y) * flipped(x.arguments()[1]);
  }

  const Symbols& symbols_;
  const Record& record_;
};

}  // namespace

bool turns(std::string_view name, const Symbols& symbols, const Record& record) {
  const auto symbol = symbols.find(name);
  if (symbol == symbols.end() || symbol->second.role != Role::state || !symbol->second.turns) return false;
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
  const Turner turner(symbols, record);
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
