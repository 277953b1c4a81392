#include "core/written/memory_algebra.h"

#include <fmt/format.h>

#include "core/base/table.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

bool is_number(Shape shape) { return shape == Shape{1, 1}; }

}  // namespace

Expression turn(const Expression& x) {
  if (x.kind() == Kind::diagonal) return x;
  return x.kind() == Kind::transpose ? x.arguments()[0] : transpose(x);
}

Algebra::Algebra(const RuleText& rule) : rule_(rule), specimens_(specimen(rule)) {
  for (const RuleLine& line : rule.lines) {
    const Equation& equation = line.equation;
    if (reads_memory(equation.expression))
      with_memory_.push_back(equation);
    else if (is_scaled_vector(equation.expression))
      scaled_.push_back(equation);
  }
}

bool Algebra::is_scaled_vector(const Expression& x) const {
  return x.kind() == Kind::product && is_number(shape(x.arguments()[0])) &&
         x.arguments()[1].kind() == Kind::tensor && is_vector(x.arguments()[1], true);
}

std::vector<Chain> Algebra::chains_of(const Expression& expression, std::vector<std::string> bases) {
  bases_ = std::move(bases);
  return chains(expression, false);
}

bool Algebra::reads_memory(const Expression& expression) const {
  const auto names = operands(expression);
  return std::ranges::any_of(names, [&](const std::string& name) { return is_memory(name); });
}

bool Algebra::is_memory(const std::string& name) const {
  const bool of_text = std::ranges::any_of(
      rule_.memories, [&](const RuleMemory& memory) { return name == before(memory.name); });
  return of_text || defining(name) != nullptr;
}

const Expression* Algebra::defining(const std::string& name) const {
  const Equation* const line = row_called(with_memory_, name, &Equation::result);
  return line ? &line->expression : nullptr;
}

Shape Algebra::shape(const Expression& expression) const { return palimpsest::shape(expression, specimens_); }

bool Algebra::is_vector(const Expression& x, bool column) const {
  const Shape size = shape(x);
  return x.kind() != Kind::diagonal && (column ? size.columns == 1 : size.rows == 1);
}

std::size_t Algebra::first_column(std::span<const Expression> factors) const {
  std::size_t i = 0;
  while (i < factors.size() && !is_vector(factors[i], true)) ++i;
  return i;
}

std::vector<Chain> Algebra::chains(const Expression& x, bool turned) const {
  const Shape size = shape(x);
  if (!reads_memory(x)) {
    if (is_number(size) && x.kind() == Kind::number) {
      const double value = value_of(x);
      if (value == 1) return {{}};
      if (value == -1) return {{.sign = -1}};
    }
    if (is_number(size)) return {{.numbers = {x}}};
    const bool may_hold_numbers = is_among(x.kind(), {Kind::transpose, Kind::product}) ||
                                  x.name() == "negative" || row_called(scaled_, x.name(), &Equation::result);
    if ((size.rows == 1 || size.columns == 1) && !may_hold_numbers)
      return {{.factors = {turned ? turn(x) : x}}};
  }
  const auto arguments = x.arguments();
  switch (x.kind()) {
    case Kind::tensor:
      return of_tensor(x, turned);
    case Kind::transpose:
      return chains(arguments[0], !turned);
    case Kind::sum:
    case Kind::difference: {
      if (shape(arguments[0]) != shape(arguments[1]))
        throw Stop{fmt::format("a number is added to every entry in {}", to_string(x))};
      std::vector<Chain> all = chains(arguments[0], turned);
      for (Chain& each : chains(arguments[1], turned)) {
        if (x.kind() == Kind::difference) each.sign = -each.sign;
        all.push_back(std::move(each));
      }
      return all;
    }
    case Kind::product:
      return products(arguments[0], arguments[1], turned);
    case Kind::hadamard:
      return elementwise(x, arguments[0], arguments[1], turned);
    case Kind::diagonal:
      if (reads_memory(x)) throw Stop{"a memory stands in Diag()"};
      return {{.factors = {x}}};
    case Kind::function:
      if (x.name() == "negative") {
        std::vector<Chain> all = chains(arguments[0], turned);
        for (Chain& each : all) each.sign = -each.sign;
        return all;
      }
      throw Stop{x.name() == "reciprocal" ? "it divides by what a memory returns"
                                          : fmt::format("the memory enters through {}",
                                                        x.name() == "row_softmax" ? "softmax" : x.name())};
    default:
      throw Stop{fmt::format("{} is not understood", to_string(x))};
  }
}

std::vector<Chain> Algebra::of_tensor(const Expression& x, bool turned) const {
  if (is_among(x.name(), {identity_of_keys, identity_of_values})) return {{}};
  const Equation* const scaled = row_called(scaled_, x.name(), &Equation::result);
  if (scaled) return chains(scaled->expression, turned);
  const Expression* const definition = defining(x.name());
  if (definition && !is_among(x.name(), bases_)) return chains(*definition, turned);
  return {{.factors = {turned ? transpose(x) : x}}};
}

std::vector<Chain> Algebra::products(const Expression& x, const Expression& y, bool turned) const {
  const Shape size_x = shape(x);
  const Shape size_y = shape(y);
  std::vector<Chain> all;
  for (const Chain& a : chains(x, turned)) {
    for (const Chain& b : chains(y, turned)) all.push_back(joined(a, size_x, b, size_y, turned));
  }
  if (all.size() > 64) throw Stop{"multiplied out it has more than 64 terms"};
  return all;
}

Chain Algebra::joined(const Chain& a, Shape size_a, const Chain& b, Shape size_b, bool turned) const {
  Chain all = {.sign = a.sign * b.sign, .numbers = a.numbers};
  all.numbers.insert(all.numbers.end(), b.numbers.begin(), b.numbers.end());
  const Chain* left = turned ? &b : &a;
  const Chain* right = turned ? &a : &b;
  const bool left_is_number = is_number(turned ? size_b : size_a);
  const bool right_is_number = is_number(turned ? size_a : size_b);
  if (left_is_number != right_is_number && !left->factors.empty() && !right->factors.empty()) {
    const Shape other = left_is_number ? (turned ? size_a : size_b) : (turned ? size_b : size_a);
    const Shape seen = turned ? Shape{other.columns, other.rows} : other;
    if (seen.rows > 1 && seen.columns > 1)
      throw Stop{"a number that reads the memory multiplies a whole matrix"};
    const Chain* number = left_is_number ? left : right;
    const Chain* vector = left_is_number ? right : left;
    left = seen.columns == 1 ? vector : number;
    right = seen.columns == 1 ? number : vector;
  }
  all.factors = left->factors;
  all.factors.insert(all.factors.end(), right->factors.begin(), right->factors.end());
  if (std::ranges::count_if(all.factors, [&](const Expression& each) { return reads_memory(each); }) > 1)
    throw Stop{"memories are multiplied with each other"};
  return all;
}

std::vector<Chain> Algebra::elementwise(const Expression& whole, const Expression& x, const Expression& y,
                                        bool turned) const {
  for (const auto& [vector, other] : {std::pair(x, y), std::pair(y, x)}) {
    const Shape size = shape(vector);
    if (reads_memory(vector) || (size.rows > 1 && size.columns > 1)) continue;
    const bool left = size.columns == 1;
    if (!left && shape(other).rows == 1 && !reads_memory(other)) continue;
    const Expression scaling = diagonal(left ? vector : turn(vector));
    return left ? products(scaling, other, turned) : products(other, scaling, turned);
  }
  throw Stop{fmt::format("whole matrices are multiplied element by element in {}", to_string(whole))};
}

}  // namespace palimpsest
