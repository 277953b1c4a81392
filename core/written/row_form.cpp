#include "core/written/row_form.h"

#include <fmt/format.h>

#include <ranges>
#include <set>

#include "core/base/table.h"
#include "core/written/memory_algebra.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

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

/// Takes rows and columns apart: D c r c r D becomes the column D c, numbers r c, and the rest from the last
/// row.
Outer outer(const Algebra& algebra, const Chain& chain, std::span<const Expression> factors) {
  const std::size_t column = algebra.first_column(factors);
  if (column == factors.size()) throw Stop{"a matrix is added that is no outer product of two vectors"};
  Outer result = {chain.sign, chain.numbers, *column_of(factors.first(column + 1))};
  std::vector<Expression> rest;
  for (const Expression& each : factors.subspan(column + 1)) {
    if (!rest.empty() && algebra.is_vector(each, true)) {
      result.numbers.push_back(multiplied(rest) * each);
      rest.clear();
    } else {
      rest.push_back(each);
    }
  }
  result.row = std::move(rest);
  return result;
}

/// The row x^T with the diagonals after it, as the column x; 1 where a memory of keys has no number there.
Expression turned_row(std::span<const Expression> row) {
  if (row.empty()) return number_expression(1);
  Expression column = turn(row.front());
  for (const Expression& each : row.subspan(1)) column = hadamard(each.arguments()[0], column);
  return column;
}

/// The numbers' product.
Expression number_of(double sign, const std::vector<Expression>& numbers) {
  return signed_with(sign, numbers.empty() ? number_expression(1) : multiplied(numbers));
}

/// The factors of `numbers` besides those of `taken`; nothing where these are not all among them.
std::optional<std::vector<Expression>> without(std::vector<Expression> numbers,
                                               std::span<const Expression> taken) {
  for (const Expression& each : taken) {
    const auto same = std::ranges::find(numbers, each);
    if (same == numbers.end()) return std::nullopt;
    numbers.erase(same);
  }
  return numbers;
}

/// One step of the memory as a row.
class StepReader {
 public:
  explicit StepReader(Algebra& algebra) : algebra_(algebra) {}
  /// That writes no more than this.
  StepReader(Algebra& algebra, const Outer& write) : algebra_(algebra) { set_write(write); }

  /// Of `step`, written out down to the memory `base`. A memory of keys is a column: its value is a number.
  void read(const Expression& step, const std::string& base) {
    is_column_ = algebra_.is_vector(step, true);
    for (const Chain& chain : algebra_.chains_of(step, {base})) sort(chain, base);
    assemble();
  }

  RowArrays row;
  Structure structure;           // of this row alone
  std::vector<Outer> more = {};  // further writes, each a row after this one

 private:
  void sort(Chain chain, const std::string& base) {
    const auto find = [&] {
      return std::ranges::find_if(chain.factors,
                                  [&](const Expression& x) { return algebra_.reads_memory(x); });
    };
    auto memory = find();
    if (memory == chain.factors.end()) {
      writes_.push_back(outer(algebra_, chain, chain.factors));
      if (writes_.back().row.empty() && !is_column_)
        throw Stop{"a matrix is added that is no outer product of two vectors"};
      return;
    }
    if (is_column_ && memory->kind() == Kind::transpose) {  // the number z^T a is a^T z
      std::transform(memory, chain.factors.end(), memory, turn);
      std::reverse(memory, chain.factors.end());
      memory = find();
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
      erases_.push_back(outer(algebra_, chain, left));
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
    const auto numbers = without(taken.numbers, decays_[0].numbers);
    if (!numbers) return false;
    taken.numbers = *numbers;
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
    if (erases_.empty()) {
      if (writes_.empty()) throw Stop{"nothing is written"};
      set_write(writes_[0]);
      writes_.erase(writes_.begin());
      return set_further_writes();
    }
    Outer erase = erases_[0];
    row.erases = true;
    const bool reads_decayed = take_decay_out(erase);
    structure.erase = reads_decayed ? Erase::decayed : Erase::undecayed;
    if (structure.value_decay && !reads_decayed) throw Stop{"it erases before the decay on the value side"};
    const auto same_key =
        std::ranges::find_if(writes_, [&](const Outer& write) { return write.column == erase.column; });
    const Expression a = turned_row(erase.row);
    row.k = erase.column;
    if (same_key != writes_.end()) {
      Outer write = *same_key;
      writes_.erase(same_key);
      Expression x = turned_row(write.row);
      // What its numbers are more than those of the erase belongs to the value.
      if (const auto more = without(write.numbers, erase.numbers)) {
        x = is_column_ ? number_of(1, *more) : scaled(1, *more, x);
        write.numbers = erase.numbers;
      }
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
    set_further_writes();
  }

  /// What is written besides: in this row if it is one pair.
  void set_further_writes() {
    if (writes_.size() == 1)
      set_plain(writes_[0]);
    else
      more = writes_;
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
    row.v = signed_with(write.sign, turned_row(write.row));
  }

  void set_plain(const Outer& write) {
    structure.plain_write = true;
    row.k_plain = write.column;
    row.v_plain = scaled(write.sign, write.numbers, turned_row(write.row));
  }

  Algebra& algebra_;
  bool is_column_ = false;
  std::vector<Chain> decays_;
  std::vector<Outer> erases_;
  std::vector<Outer> writes_;
  std::optional<std::vector<Expression>> right_;
};

class RowReader {
 public:
  explicit RowReader(const RuleText& rule) : rule_(rule), algebra_(rule) {}

  RowForm read() {
    std::vector<std::string> of_keys;
    for (const RuleMemory& memory : rule_.memories)
      (memory.shape.columns == 1 ? of_keys : memories_).push_back(memory.name);
    if (memories_.size() == 1)
      read_steps();
    else
      read_mixing();
    for (const std::string& name : of_keys) read_beside(name);
    read_output();
    collect_definitions();
    form_.structure.gates_are_logs =
        form_.structure.decay != Decay::none && std::ranges::all_of(form_.rows, [&](const RowArrays& row) {
          return !row.gate || log_of(*row.gate, form_.definitions);
        });
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
    for (std::string base = before("S"); base != after("S");) {
      // More rows than lines only where nothing else is possible.
      if (add_step(memories, base, false) || add_step(memories, base, true)) continue;
      line_of(after("S"));
      throw *no_step_;
    }
    join(steps_);
  }

  /// Adds the longest step from the memory `base`, and goes on to where it leads; false if there is none.
  bool add_step(const std::vector<std::string>& memories, std::string& base, bool takes_more) {
    for (const std::string& target : memories | std::views::reverse) {
      if (target == base) break;
      StepReader step(algebra_);
      try {
        step.read(line_of(target), base);
      } catch (const Stop& stop) {
        if (!no_step_) no_step_ = stop;
        continue;
      }
      if (!takes_more && !step.more.empty()) continue;
      const std::vector<Outer> more = step.more;
      steps_.push_back(std::move(step));
      for (const Outer& write : more) steps_.emplace_back(algebra_, write);
      base = target;
      return true;
    }
    return false;
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

  /// A memory of keys whose update is that of S for another value: one more column of S.
  void read_beside(const std::string& name) {
    const Expression& update = line_of(after(name));
    if (!form_.beside.empty()) throw Stop{"it has more than one memory of keys"};
    if (form_.rows.size() != 1) throw Stop{fmt::format("{} stands beside several memories or writes", name)};
    StepReader step(algebra_);
    step.read(update, before(name));
    RowArrays& one = form_.rows.front();
    RowArrays& other = step.row;
    if (one.gate != other.gate || one.mu || other.mu)
      throw Stop{fmt::format("{} and S decay differently", name)};
    if (one.k != other.k || !one.v || !other.v || one.v_plain || other.v_plain || !step.more.empty())
      throw Stop{fmt::format("{} and S are written with different keys", name)};
    if (form_.structure.erase != step.structure.erase || one.a != other.a)
      throw Stop{fmt::format("{} and S are erased differently", name)};
    if (one.beta != other.beta) {
      if (one.erases) throw Stop{fmt::format("{} and S are written with different strengths", name)};
      for (RowArrays* row : {&one, &other})
        if (row->beta) row->v = *std::exchange(row->beta, {}) * *row->v;
      form_.structure.beta = false;
    }
    if (is_fixed(rule_, *other.v) && *other.v != number_expression(1))
      throw Stop{fmt::format("{} adds up keys times a fixed number other than 1", name)};
    one.beside = other.v;
    form_.beside = name;
  }

  /// Memories side by side: each is a sum of the earlier ones times numbers, and of a write common to all.
  void read_mixing() {
    Mixing& mixing = form_.mixing;
    mixing.names = memories_;
    std::vector<std::string> bases;
    for (const std::string& name : memories_) {
      line_of(after(name));
      if (name.size() > 1) throw Stop{fmt::format("{} needs a name of one letter beside S", name)};
      bases.push_back(before(name));
    }
    for (const std::string& name : memories_) {
      std::vector<std::optional<Expression>> kept(bases.size());
      std::vector<std::optional<Outer>> erased(bases.size());
      std::optional<Outer> written;
      for (const Chain& chain : algebra_.chains_of(line_of(after(name)), bases)) {
        const auto reads = [&](const Expression& x) { return algebra_.reads_memory(x); };
        const auto memory = std::ranges::find_if(chain.factors, reads);
        if (memory == chain.factors.end()) {
          if (written) throw Stop{fmt::format("{} is written with more than one pair", name)};
          written = outer(algebra_, chain, chain.factors);
          if (written->row.empty()) throw Stop{"a matrix is added that is no outer product of two vectors"};
          continue;
        }
        const auto base = std::ranges::find(bases, memory->name());
        if (memory + 1 != chain.factors.end() || base == bases.end())
          throw Stop{fmt::format("beside another memory {} takes only numbers times a memory", name)};
        const auto source = static_cast<std::size_t>(base - bases.begin());
        const std::span<const Expression> left(chain.factors.begin(), memory);
        if (left.empty()) {
          const Expression part = number_of(chain.sign, chain.numbers);
          kept[source] = kept[source] ? *kept[source] + part : part;
        } else if (left.front().kind() == Kind::diagonal || erased[source]) {
          throw Stop{fmt::format("beside another memory {} takes only numbers times a memory", name)};
        } else {
          erased[source] = outer(algebra_, chain, left);
          if (erased[source]->row.empty()) throw Stop{"the memory is multiplied by a column alone"};
        }
      }
      for (const auto& each : kept) mixing.transition.push_back(each ? *each : number_expression(0));
      add_write(name, written, erased);
    }
    if (form_.rows.empty()) throw Stop{"nothing is written"};
    form_.structure.erase = form_.rows.front().erases ? Erase::undecayed : Erase::none;
    form_.structure.erase_key = form_.rows.front().a.has_value();
  }

  /// What is written to the memory `name`: a number times the write of all, k (v - sum_i h_i M_i^T a)^T.
  void add_write(const std::string& name, const std::optional<Outer>& written,
                 const std::vector<std::optional<Outer>>& erased) {
    Mixing& mixing = form_.mixing;
    const bool erases = std::ranges::any_of(erased, [](const auto& each) { return each.has_value(); });
    if (!written) {
      if (erases) throw Stop{fmt::format("{} is erased but not written", name)};
      mixing.inject.push_back(number_expression(0));
      return;
    }
    mixing.inject.push_back(number_of(written->sign, written->numbers));
    RowArrays one = {.k = written->column, .v = turned_row(written->row), .erases = erases};
    std::vector<Expression> sight(erased.size(), number_expression(0));
    std::optional<Expression> a;
    for (std::size_t i = 0; i < erased.size(); ++i) {
      if (!erased[i]) continue;
      const auto numbers = without(erased[i]->numbers, written->numbers);
      const Expression key = turned_row(erased[i]->row);
      const bool is_opposite = erased[i]->column == one.k && erased[i]->sign == -written->sign;
      if (!numbers || !is_opposite || (a && *a != key))
        throw Stop{fmt::format("{} is erased otherwise than it is written", name)};
      a = key;
      sight[i] = number_of(1, *numbers);
    }
    if (a && *a != one.k) one.a = a;
    if (form_.rows.empty()) {
      form_.rows.push_back(std::move(one));
      mixing.erase_sight = std::move(sight);
      return;
    }
    const RowArrays& first = form_.rows.front();
    if (first.k != one.k || first.v != one.v || first.a != one.a || mixing.erase_sight != sight)
      throw Stop{"the memories are written with different pairs"};
  }

  /// A read of a memory with a query, in a chain: Diag(left) M^T query.
  struct Read {
    std::string memory;
    bool is_early = false;
    std::vector<Expression> left = {};
    Expression query;
  };

  std::optional<Read> read_in(const Chain& chain) const {
    std::vector<Expression> factors = chain.factors;
    if (!factors.empty() && factors.back().kind() == Kind::tensor &&
        algebra_.is_memory(factors.back().name())) {
      std::ranges::transform(factors, factors.begin(), turn);  // the number q^T z is z^T q
      std::ranges::reverse(factors);
    }
    const auto is_diagonal = [](const Expression& x) { return x.kind() == Kind::diagonal; };
    const auto at = std::ranges::find_if_not(factors, is_diagonal);
    if (at == factors.end() || at->kind() != Kind::transpose) return std::nullopt;
    const std::span<const Expression> query(at + 1, factors.end());
    if (query.empty() || algebra_.first_column(query) != query.size() - 1) return std::nullopt;
    const std::string& name = at->arguments()[0].name();
    for (const RuleMemory& memory : rule_.memories) {
      const bool is_early = name == before(memory.name);
      if (is_early || name == after(memory.name))
        return Read{memory.name, is_early, {factors.begin(), at}, *column_of(query)};
    }
    return std::nullopt;
  }

  /// All reads have one query, at one time.
  void note_read(const Expression& query, bool is_early, std::vector<Expression> sight) {
    const ReadAt at = is_early ? ReadAt::before_row : ReadAt::after_row;
    if (has_read_ && (form_.q != query || form_.structure.read_at != at))
      throw Stop{"the output reads the memory more than once"};
    if (!form_.mixing.read_sight.empty() && !sight.empty() && form_.mixing.read_sight != sight)
      throw Stop{"the output reads the memories more than once"};
    has_read_ = true;
    form_.q = query;
    form_.structure.read_at = at;
    if (!sight.empty()) form_.mixing.read_sight = std::move(sight);
  }

  std::vector<Chain> chains_to_the_end(const Expression& x) {
    std::vector<std::string> ends;
    for (const RuleMemory& memory : rule_.memories) ends.push_back(after(memory.name));
    try {
      return algebra_.chains_of(x, ends);
    } catch (const Stop&) {
      return {};
    }
  }

  /// `x` as numbers times what is read; nothing where it is more than that.
  std::optional<Expression> as_read(const Expression& x) {
    if (!algebra_.is_vector(x, true)) return std::nullopt;
    const std::vector<Chain> chains = chains_to_the_end(x);
    std::vector<Expression> sight(form_.mixing.names.size(), number_expression(0));
    std::optional<Read> first;
    for (const Chain& chain : chains) {
      const std::optional<Read> read = read_in(chain);
      if (!read || (first && (sight.empty() || read->memory == first->memory))) return std::nullopt;
      const auto part = std::ranges::find(form_.mixing.names, read->memory) - form_.mixing.names.begin();
      if (!sight.empty()) {
        const bool is_other = first && (first->query != read->query || first->is_early != read->is_early);
        if (!read->left.empty() || is_other) return std::nullopt;
        sight[static_cast<std::size_t>(part)] = number_of(chain.sign, chain.numbers);
      }
      first = read;
    }
    if (!first) return std::nullopt;
    note_read(first->query, first->is_early, sight);
    if (!sight.empty()) return tensor(read_of("S"));
    Expression read = tensor(read_of(first->memory));
    if (const auto left = column_of(first->left)) read = hadamard(*left, read);
    return scaled(chains.front().sign, chains.front().numbers, read);
  }

  /// `x` of what is read of the memories.
  Expression of_reads(const Expression& x) {
    if (!algebra_.reads_memory(x)) return x;
    if (const std::optional<Expression> read = as_read(x)) return *read;
    if (x.kind() == Kind::tensor) {
      const Expression* const line = algebra_.defining(x.name());
      if (!line || is_memory_after(rule_, x.name())) throw Stop{"the output is no read S^T q"};
      return of_reads(*line);
    }
    std::vector<Expression> arguments;
    for (const Expression& each : x.arguments()) arguments.push_back(of_reads(each));
    return {x.kind(), x.name(), std::move(arguments)};
  }

  /// o = S^T q, times numbers that the query takes, or what the text makes of such reads.
  void read_output() {
    const Expression& o = line_of("o");
    const Expression read = tensor(read_of("S"));
    Expression output = read;
    const auto chains = chains_to_the_end(o);
    const std::optional<Read> only = chains.size() == 1 ? read_in(chains[0]) : std::nullopt;
    if (only && form_.mixing.names.empty() && only->memory == "S" && only->left.empty())
      note_read(scaled(chains[0].sign, chains[0].numbers, only->query), only->is_early, {});
    else
      output = of_reads(o);
    if (!has_read_) throw Stop{"the output reads no memory"};
    if (output != read || !form_.beside.empty()) form_.output = output;
    form_.is_quotient = !form_.beside.empty() && is_quotient(output, read, tensor(read_of(form_.beside)));
  }

  /// Whether it is what S returns, divided by what the memory beside it returns, plus the setting eps if the
  /// rule has one.
  bool is_quotient(const Expression& output, const Expression& read, const Expression& sum) const {
    const bool has_eps = row_called(rule_.parameters, "eps", &Parameter::name) != nullptr;
    const Expression eps = tensor("eps");
    const std::vector<Expression> divisors = has_eps ? std::vector{sum + eps, eps + sum} : std::vector{sum};
    return std::ranges::any_of(divisors, [&](const Expression& divisor) {
      const Expression inverse = call("reciprocal", {divisor});
      return output == read * inverse || output == inverse * read || output == hadamard(read, inverse);
    });
  }

  /// The lines that the arrays of the rows read, in the order of the text.
  void collect_definitions() {
    std::set<std::string> needed;
    const auto need = [&](const Expression& x) {
      for (const std::string& name : operands(x)) needed.insert(name);
    };
    each_expression(form_, need);
    for (const RuleLine& line : std::views::reverse(rule_.lines)) {
      if (!needed.contains(line.equation.result)) continue;
      need(line.equation.expression);
      form_.definitions.insert(form_.definitions.begin(), line.equation);
    }
  }

  /// The expression of the line that gives `result`, which is to blame from now on.
  const Expression& line_of(const std::string& result) {
    const RuleLine& line = *palimpsest::line_of(rule_, result);
    line_ = line.line;
    return line.equation.expression;
  }

  const RuleText& rule_;
  Algebra algebra_;
  std::vector<StepReader> steps_;
  std::optional<Stop> no_step_;        // the first reason why one is none
  std::vector<std::string> memories_;  // those of key x value
  bool has_read_ = false;
  Index line_ = 0;
  RowForm form_;
};

}  // namespace

std::string read_of(const std::string& memory) { return memory + " read"; }

std::variant<RowForm, NoRowForm> row_form(const RuleText& rule) {
  RowReader reader(rule);
  try {
    return reader.read();
  } catch (const Stop& stop) {
    return NoRowForm{stop.reason, reader.line()};
  }
}

const Expression* log_of(const Expression& gate, const std::vector<Equation>& definitions) {
  if (gate.kind() == Kind::function && gate.name() == "exp") return &gate.arguments()[0];
  if (gate.kind() != Kind::tensor) return nullptr;
  const Equation* const made = row_called(definitions, gate.name(), &Equation::result);
  return made ? log_of(made->expression, definitions) : nullptr;
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
