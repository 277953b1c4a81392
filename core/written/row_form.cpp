#include "core/written/row_form.h"

#include <fmt/format.h>

#include <ranges>
#include <set>

#include "core/base/table.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

/// A product of matrices, vectors and diagonals, in order, times numbers. At most one of the factors is a
/// memory.
struct Chain {
  double sign = 1;
  std::vector<Expression> numbers = {};
  std::vector<Expression> factors = {};
};

/// What stops the algebra.
struct Stop {
  std::string reason;
};

Expression multiplied(const std::vector<Expression>& numbers) {
  Expression all = numbers.front();
  for (std::size_t i = 1; i < numbers.size(); ++i) all = all * numbers[i];
  return all;
}

Expression signed_with(double sign, Expression x) {
  return sign < 0 ? call("negative", {std::move(x)}) : std::move(x);
}

/// A vector times numbers.
Expression scaled(double sign, const std::vector<Expression>& numbers, Expression x) {
  if (!numbers.empty()) x = multiplied(numbers) * x;
  return signed_with(sign, std::move(x));
}

bool same_numbers(std::vector<Expression> a, std::vector<Expression> b) {
  return std::ranges::is_permutation(a, b);
}

class Algebra {
 public:
  explicit Algebra(const RuleText& rule) : rule_(rule), specimens_(specimen(rule)) {
    for (const RuleLine& line : rule.lines) {
      const Equation& equation = line.equation;
      if (reads_memory(equation.expression)) with_memory_.push_back(equation);
    }
  }

  /// The line's value as a sum of chains, with everything that reads a memory written out down to `base`.
  std::vector<Chain> chains_of(const Expression& expression, const std::string& base) {
    base_ = base;
    return chains(expression, false);
  }

  bool reads_memory(const Expression& expression) const {
    const auto names = operands(expression);
    return std::ranges::any_of(names, [&](const std::string& name) { return is_memory(name); });
  }

  /// A memory, or a result that reads one.
  bool is_memory(const std::string& name) const {
    const bool of_text = std::ranges::any_of(
        rule_.memories, [&](const RuleMemory& memory) { return name == before(memory.name); });
    return of_text || row_called(with_memory_, name, &Equation::result) != nullptr;
  }

  Shape shape(const Expression& expression) const { return palimpsest::shape(expression, specimens_); }
  bool is_vector(const Expression& x, bool column) const {
    const Shape size = shape(x);
    return x.kind() != Kind::diagonal && (column ? size.columns == 1 : size.rows == 1);
  }

  /// Where in `factors` the first column stands; their number where there is none.
  std::size_t first_column(std::span<const Expression> factors) const {
    std::size_t i = 0;
    while (i < factors.size() && !is_vector(factors[i], true)) ++i;
    return i;
  }

 private:
  static bool is_number(Shape shape) { return shape == Shape{1, 1}; }

  std::vector<Chain> chains(const Expression& x, bool turned) const {
    const Shape size = shape(x);
    if (!reads_memory(x)) {
      if (is_number(size) && x.kind() == Kind::number) {
        const double value = value_of(x);
        if (value == 1) return {{}};
        if (value == -1) return {{.sign = -1}};
      }
      if (is_number(size)) return {{.numbers = {x}}};
      const bool may_hold_numbers =
          is_among(x.kind(), {Kind::transpose, Kind::product}) || x.name() == "negative";
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

  std::vector<Chain> of_tensor(const Expression& x, bool turned) const {
    if (is_among(x.name(), {identity_of_keys, identity_of_values})) return {{}};
    const Equation* const definition = row_called(with_memory_, x.name(), &Equation::result);
    if (definition && x.name() != base_) return chains(definition->expression, turned);
    return {{.factors = {turned ? transpose(x) : x}}};
  }

  static Expression turn(const Expression& x) {
    return x.kind() == Kind::transpose ? x.arguments()[0] : transpose(x);
  }

  std::vector<Chain> products(const Expression& x, const Expression& y, bool turned) const {
    const Shape size_x = shape(x);
    const Shape size_y = shape(y);
    std::vector<Chain> all;
    for (const Chain& a : chains(x, turned)) {
      for (const Chain& b : chains(y, turned)) all.push_back(joined(a, size_x, b, size_y, turned));
    }
    if (all.size() > 64) throw Stop{"multiplied out it has more than 64 terms"};
    return all;
  }

  /// One chain after the other. A number that reads a memory, k^T S q, is a chain too: it stands where its
  /// neighbour ends in a vector.
  Chain joined(const Chain& a, Shape size_a, const Chain& b, Shape size_b, bool turned) const {
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

  /// x o y with a vector is a product with a diagonal.
  std::vector<Chain> elementwise(const Expression& whole, const Expression& x, const Expression& y,
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

  const RuleText& rule_;
  Record specimens_;
  std::vector<Equation> with_memory_;
  std::string base_;  // the memory that is not written out
};

/// The product of diagonals, and perhaps a column at its end, as one column; nothing for an empty one.
std::optional<Expression> column_of(std::span<const Expression> factors) {
  std::optional<Expression> all;
  for (const Expression& each : factors) {
    const Expression column = each.kind() == Kind::diagonal ? each.arguments()[0] : each;
    all = all ? hadamard(*all, column) : column;
  }
  return all;
}

/// w x^T, times numbers; for an erase b (a^T S), with a.
struct Outer {
  double sign = 1;
  std::vector<Expression> numbers = {};
  Expression column;
  std::vector<Expression> row = {};  // the factors of x^T or a^T, from the row vector on
};

/// One step of the memory as a row.
class StepReader {
 public:
  explicit StepReader(Algebra& algebra) : algebra_(algebra) {}

  /// Of `step`, written out down to the memory `base`.
  void read(const Expression& step, const std::string& base) {
    for (const Chain& chain : algebra_.chains_of(step, base)) sort(chain, base);
    assemble();
  }

  RowArrays row;
  Structure structure;  // of this row alone

 private:
  /// Takes rows and columns apart: D c r c r D becomes the column D c, numbers r c, and the rest from the
  /// last row.
  Outer outer(const Chain& chain, std::span<const Expression> factors) const {
    const std::size_t column = algebra_.first_column(factors);
    if (column == factors.size()) throw Stop{"a matrix is added that is no outer product of two vectors"};
    Outer result = {chain.sign, chain.numbers, *column_of(factors.first(column + 1))};
    std::vector<Expression> rest;
    for (const Expression& each : factors.subspan(column + 1)) {
      if (!rest.empty() && algebra_.is_vector(each, true)) {
        Expression number = rest.front();
        for (std::size_t i = 1; i < rest.size(); ++i) number = number * rest[i];
        result.numbers.push_back(number * each);
        rest.clear();
      } else {
        rest.push_back(each);
      }
    }
    result.row = std::move(rest);
    return result;
  }

  /// The row x^T with the diagonals after it, as the column x.
  std::optional<Expression> turned_row(std::span<const Expression> row) const {
    if (row.empty()) return std::nullopt;
    const Expression& first = row.front();
    Expression column = first.kind() == Kind::transpose ? first.arguments()[0] : transpose(first);
    for (const Expression& each : row.subspan(1)) column = hadamard(each.arguments()[0], column);
    return column;
  }

  void sort(const Chain& chain, const std::string& base) {
    const auto memory =
        std::ranges::find_if(chain.factors, [&](const Expression& x) { return algebra_.reads_memory(x); });
    if (memory == chain.factors.end()) {
      writes_.push_back(outer(chain, chain.factors));
      if (writes_.back().row.empty()) throw Stop{"a matrix is added that is no outer product of two vectors"};
      return;
    }
    if (memory->kind() == Kind::transpose) throw Stop{"the memory enters transposed: it reads with values"};
    if (memory->name() != base) throw Stop{"it reads an earlier memory"};
    const std::span<const Expression> left(chain.factors.begin(), memory);
    const std::span<const Expression> right(memory + 1, chain.factors.end());
    const auto all_diagonal = [](std::span<const Expression> factors) {
      return std::ranges::all_of(factors, [](const Expression& x) { return x.kind() == Kind::diagonal; });
    };
    if (!all_diagonal(right)) throw Stop{"the memory is multiplied from the right by more than a diagonal"};
    const std::vector<Expression> scaling(right.begin(), right.end());
    if (right_ && *right_ != scaling) throw Stop{"parts of the memory decay differently on the value side"};
    right_ = scaling;
    if (all_diagonal(left)) {
      decays_.push_back({chain.sign, chain.numbers, {left.begin(), left.end()}});
    } else {
      erases_.push_back(outer(chain, left));
      if (erases_.back().row.empty()) throw Stop{"the memory is multiplied by a column alone"};
    }
  }

  void set_decay() {
    if (right_ && !right_->empty()) {
      row.mu = column_of(*right_);
      structure.value_decay = true;
    }
    const bool keeps_all = decays_.size() == 1 && decays_[0].sign > 0 && decays_[0].numbers.empty() &&
                           decays_[0].factors.empty();
    if (keeps_all) return;
    std::optional<Expression> gate;
    bool per_channel = false;
    for (const Chain& each : decays_) {
      std::optional<Expression> column = column_of(each.factors);
      per_channel = per_channel || column;
      Expression part = column && each.numbers.empty() ? *column
                        : column                       ? multiplied(each.numbers) * *column
                        : each.numbers.empty()         ? number_expression(1)
                                                       : multiplied(each.numbers);
      if (!gate)
        gate = signed_with(each.sign, part);
      else
        gate = each.sign < 0 ? *gate - part : *gate + part;
    }
    row.gate = gate ? *gate : number_expression(0);
    structure.decay = per_channel ? Decay::key : Decay::scalar;
  }

  /// Takes the decay out of an erase, a = D a', where it stands there as it decays the memory: the erase then
  /// reads the decayed memory with a'.
  bool take_decay_out(Outer& erase) const {
    if (structure.decay == Decay::none) return true;
    if (decays_.size() != 1 || decays_[0].sign < 0) return false;
    Outer taken = erase;
    for (const Expression& number : decays_[0].numbers) {
      const auto found = std::ranges::find(taken.numbers, number);
      if (found == taken.numbers.end()) return false;
      taken.numbers.erase(found);
    }
    const std::vector<Expression>& diagonals = decays_[0].factors;
    if (taken.row.size() <= diagonals.size()) return false;
    const std::size_t begin = taken.row.size() - diagonals.size();
    if (!std::ranges::equal(std::span(taken.row).subspan(begin), diagonals)) return false;
    taken.row.erase(taken.row.begin() + static_cast<std::ptrdiff_t>(begin), taken.row.end());
    erase = std::move(taken);
    return true;
  }

  void assemble() {
    set_decay();
    if (erases_.size() > 1) throw Stop{"it erases with more than one key at once"};
    if (writes_.size() > 2) throw Stop{"it writes more than two pairs at once"};
    if (erases_.empty()) {
      if (writes_.empty()) throw Stop{"nothing is written"};
      set_write(writes_[0]);
      if (writes_.size() > 1) set_plain(writes_[1]);
      return;
    }
    Outer erase = erases_[0];
    row.erases = true;
    const bool reads_decayed = take_decay_out(erase);
    structure.erase = reads_decayed ? Erase::decayed : Erase::undecayed;
    if (structure.value_decay && !reads_decayed) throw Stop{"it erases before the decay on the value side"};
    const auto same_key =
        std::ranges::find_if(writes_, [&](const Outer& write) { return write.column == erase.column; });
    const Expression a = *turned_row(erase.row);
    row.k = erase.column;
    if (same_key != writes_.end()) {
      const Outer write = *same_key;
      writes_.erase(same_key);
      const Expression x = *turned_row(write.row);
      if (erase.sign < 0 && write.sign > 0 && same_numbers(erase.numbers, write.numbers)) {
        set_strength(write.numbers);
        row.v = x;
        set_erase_key(a);
      } else {
        row.v = scaled(write.sign, write.numbers, x);
        set_erase_key(scaled(-erase.sign, erase.numbers, a));
      }
    } else {
      structure.writes_value = false;
      if (erase.sign < 0) {
        set_strength(erase.numbers);
        set_erase_key(a);
      } else {
        set_erase_key(scaled(-1, erase.numbers, a));
      }
    }
    if (writes_.size() > 1) throw Stop{"it writes more than two pairs at once"};
    if (!writes_.empty()) set_plain(writes_[0]);
  }

  void set_erase_key(const Expression& a) {
    if (a == row.k) return;
    row.a = a;
    structure.erase_key = true;
  }

  void set_strength(const std::vector<Expression>& numbers) {
    if (numbers.empty()) return;
    row.beta = multiplied(numbers);
    structure.beta = true;
  }

  void set_write(const Outer& write) {
    row.k = write.column;
    set_strength(write.numbers);
    row.v = signed_with(write.sign, *turned_row(write.row));
  }

  void set_plain(const Outer& write) {
    structure.plain_write = true;
    row.k_plain = write.column;
    row.v_plain = scaled(write.sign, write.numbers, *turned_row(write.row));
  }

  Algebra& algebra_;
  std::vector<Chain> decays_;
  std::vector<Outer> erases_;
  std::vector<Outer> writes_;
  std::optional<std::vector<Expression>> right_;
};

class RowReader {
 public:
  explicit RowReader(const RuleText& rule) : rule_(rule), algebra_(rule) {}

  RowForm read() {
    if (rule_.memories.size() > 1) {
      line_of(after(rule_.memories[1].name));
      throw Stop{fmt::format("it has a second memory, {}", rule_.memories[1].name)};
    }
    read_steps();
    read_output();
    collect_definitions();
    return std::move(form_);
  }

  Index line() const { return line_; }

 private:
  /// The memory's update as one row, or where that cannot be as several: each as long as it can be.
  void read_steps() {
    std::vector<std::string> memories;
    for (const RuleLine& line : rule_.lines) {
      const bool is_memory =
          line.shape == Shape{specimen_dk, specimen_dv} && algebra_.is_memory(line.equation.result);
      if (is_memory) memories.push_back(line.equation.result);
      if (line.equation.result == after("S")) break;
    }
    std::vector<StepReader> steps;
    std::optional<Stop> reason;  // why it is no single row
    for (std::string base = before("S"); base != after("S");) {
      bool found = false;
      for (auto target = memories.rbegin(); target != memories.rend() && *target != base && !found;
           ++target) {
        StepReader step(algebra_);
        try {
          step.read(line_of(*target), base);
        } catch (const Stop& stop) {
          if (!reason) reason = stop;
          continue;
        }
        steps.push_back(std::move(step));
        base = *target;
        found = true;
      }
      if (!found) {
        line_of(after("S"));
        throw *reason;
      }
    }
    join(steps);
  }

  /// Several rows have one structure: what a row lacks changes nothing there.
  void join(std::vector<StepReader>& steps) {
    Structure& all = form_.structure;
    all = steps.front().structure;
    all.rows_per_read = std::ssize(steps);
    const bool is_one = steps.size() == 1;
    for (const StepReader& step : steps) {
      all.decay = std::max(all.decay, step.structure.decay);
      all.value_decay = all.value_decay || step.structure.value_decay;
      all.erase = std::max(all.erase, step.structure.erase);
      all.beta = all.beta || step.structure.beta;
      all.writes_value = all.writes_value || step.structure.writes_value;
      all.plain_write = all.plain_write || step.structure.plain_write;
      all.erase_key = all.erase_key || step.structure.erase_key || (!is_one && !step.row.erases);
    }
    for (StepReader& step : steps) {
      // An erase that reads the decayed memory, in a program whose erases read it before: a = D a'.
      const bool reads_earlier = step.structure.erase == Erase::decayed && all.erase == Erase::undecayed;
      if (reads_earlier && step.row.gate) {
        const Expression a = step.row.a ? *step.row.a : step.row.k;
        step.row.a = step.structure.decay == Decay::key ? hadamard(*step.row.gate, a) : *step.row.gate * a;
        all.erase_key = true;
      }
      form_.rows.push_back(std::move(step.row));
    }
    if (all.erase == Erase::none) all.erase_key = false;
  }

  /// o = S^T q: one read of the memory before the token or after it.
  void read_output() {
    const std::string before_token = before("S");
    const std::vector<Chain> chains = algebra_.chains_of(line_of("o"), after("S"));
    if (chains.size() != 1) throw Stop{"the output is more than one read of the memory"};
    const Chain& chain = chains[0];
    if (chain.factors.empty() || chain.factors[0].kind() != Kind::transpose ||
        !is_among(chain.factors[0].arguments()[0].name(), {before_token, after("S")}))
      throw Stop{"the output is no read S^T q"};
    const std::span<const Expression> query = std::span(chain.factors).subspan(1);
    if (query.empty() || algebra_.first_column(query) != query.size() - 1)
      throw Stop{"the output is no read S^T q"};
    form_.q = scaled(chain.sign, chain.numbers, *column_of(query));
    if (chain.factors[0].arguments()[0].name() == before_token) form_.structure.read_at = ReadAt::before_row;
  }

  /// The lines that the arrays of the rows read, in the order of the text.
  void collect_definitions() {
    std::set<std::string> needed;
    const auto need = [&](const std::optional<Expression>& x) {
      if (!x) return;
      for (const std::string& name : operands(*x)) needed.insert(name);
    };
    need(form_.q);
    for (const RowArrays& row : form_.rows) {
      for (const auto& x :
           {row.gate, row.mu, row.beta, std::optional(row.k), row.v, row.a, row.k_plain, row.v_plain})
        need(x);
    }
    for (const RuleLine& line : std::views::reverse(rule_.lines)) {
      if (!needed.contains(line.equation.result)) continue;
      need(line.equation.expression);
      form_.definitions.insert(form_.definitions.begin(), line.equation);
    }
  }

  /// The expression of the line that gives `result`, which is to blame from now on.
  const Expression& line_of(const std::string& result) {
    const RuleLine& line = *std::ranges::find_if(
        rule_.lines, [&](const RuleLine& each) { return each.equation.result == result; });
    line_ = line.line;
    return line.equation.expression;
  }

  const RuleText& rule_;
  Algebra algebra_;
  Index line_ = 0;
  RowForm form_;
};

}  // namespace

std::variant<RowForm, NoRowForm> row_form(const RuleText& rule) {
  RowReader reader(rule);
  try {
    return reader.read();
  } catch (const Stop& stop) {
    return NoRowForm{stop.reason, reader.line()};
  }
}

Expression over_rows(const Expression& of_token, const std::function<Expression(const std::string&)>& rows_of,
                     const Record& specimens) {
  const auto rows = [&](const Expression& x) { return over_rows(x, rows_of, specimens); };
  const auto is_constant = [](const Expression& x) { return x.kind() == Kind::number; };
  const auto arguments = of_token.arguments();
  switch (of_token.kind()) {
    case Kind::tensor:
      return rows_of(of_token.name());
    case Kind::number:
      return of_token;
    case Kind::transpose:
    case Kind::diagonal:
      return rows(arguments[0]);
    case Kind::product: {
      const Shape left = shape(arguments[0], specimens);
      const Shape right = shape(arguments[1], specimens);
      if (is_constant(arguments[0]) || is_constant(arguments[1]))
        return rows(arguments[0]) * rows(arguments[1]);
      const Expression elements = hadamard(rows(arguments[0]), rows(arguments[1]));
      const bool is_dot = left.rows == 1 && left.columns > 1 && right.columns == 1;
      return is_dot ? call("row_sum", {elements}) : elements;
    }
    default: {
      std::vector<Expression> all;
      for (const Expression& each : arguments) all.push_back(rows(each));
      return {of_token.kind(), of_token.name(), std::move(all)};
    }
  }
}

}  // namespace palimpsest
