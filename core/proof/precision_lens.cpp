#include "core/proof/precision_lens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>

#include "core/base/error.h"
#include "core/contract/sequence.h"
#include "core/proof/reference_run.h"
#include "core/rules/rule.h"
#include "core/steps/interpreted.h"

namespace palimpsest {

namespace {

/// Below it numbers of a format are 0 or it.
double smallest(Arithmetic arithmetic) {
  const NumberFormat& format = format_of(arithmetic);
  return std::ldexp(1, format.min_exponent - (format.precision - 1));
}

/// Whether `value` is 0 and is not so in f64.
bool is_lost_zero(double value, double expected) {
  return value == 0 && expected != 0 && !std::isnan(expected);
}

/// An operation that is carried out, of a record; nothing where a tensor comes in.
struct Made {
  const Operation& operation;
  const Matrix<double>& unrounded;
};

/// Notes what is lost, block after block.
class Losses {
 public:
  /// `others` are further tensors in f64, block by block, that only edited equations make.
  Losses(Trace& exact, const std::vector<Record>& others, Arithmetic arithmetic)
      : exact_(exact), others_(others), smallest_(smallest(arithmetic)) {}

  /// `unrounded` are the results of the phase's operations, before rounding.
  void visit(Index index, const Phase& phase, const Record& record,
             std::span<const Matrix<double>> unrounded) {
    const Block block = exact_.block(index);
    Record expected = exact_.record(index);
    if (!others_.empty()) {
      for (const auto& [name, value] : others_[static_cast<std::size_t>(index)].tensors())
        expected.set(name, value);
    }
    const auto is_carried = [&](const std::string& name) {
      return std::ranges::any_of(phase.carries, [&](const Carry& carry) {
        return carry.to == name && brought_.contains(carry.from);
      });
    };
    for (const auto& name : record.tensors() | std::views::keys) {
      const auto makes = [&](const Operation& operation) { return operation.equation.result == name; };
      if (std::ranges::none_of(phase.operations, makes) && !is_carried(name))
        compare(index, block, std::nullopt, name, record, expected);
    }
    for (std::size_t i = 0; i < phase.operations.size(); ++i) {
      const Operation& operation = phase.operations[i];
      compare(index, block, Made{operation, unrounded[i]}, operation.equation.result, record, expected);
    }
    for (const auto& name : record.tensors() | std::views::keys) brought_.insert(name);
  }

  std::vector<LostNumber> take() { return std::move(lost_); }

 private:
  void compare(Index index, const Block& block, const std::optional<Made>& made, const std::string& name,
               const Record& record, const Record& all_expected) {
    if (!all_expected.contains(name)) return;
    const Matrix<double>& value = record.at(name);
    const Matrix<double>& expected = all_expected.at(name);
    if (expected.rows() != value.rows() || expected.cols() != value.cols()) return;
    std::optional<Matrix<double>> restored;
    for (Index i = 0; i < value.rows(); ++i) {
      for (Index j = 0; j < value.cols(); ++j) {
        std::optional<LostNumber::As> as = not_finite(value(i, j), expected(i, j));
        if (is_lost_zero(value(i, j), expected(i, j))) {
          if (made && !restored) restored = made_of_restored(made->operation, record, all_expected);
          const bool is_small = std::abs(expected(i, j)) < smallest_;
          const bool is_rounded_away = !made || made->unrounded(i, j) != 0;
          as = is_small && is_rounded_away          ? LostNumber::As::underflow
               : restored && (*restored)(i, j) != 0 ? LostNumber::As::made_of_lost
                                                    : LostNumber::As::cancelled;
        }
        if (!as) continue;
        const auto [known, is_new] = places_.try_emplace({name, *as}, lost_.size());
        if (is_new) {
          const bool by_token = value.rows() == block.count;
          const auto symbol = exact_.symbols.find(name);
          lost_.push_back({.as = *as,
                           .tensor = name,
                           .operation = made ? made->operation.id : "",
                           .title = made ? made->operation.title : "",
                           .is_gate = symbol != exact_.symbols.end() && symbol->second.role == Role::gate,
                           .block = index,
                           .token = block.first_token + (by_token ? i : block.count - 1),
                           .row = i,
                           .column = j,
                           .expected = expected(i, j)});
        }
        ++lost_[known->second].count;
      }
    }
  }

  static std::optional<LostNumber::As> not_finite(double value, double expected) {
    if (std::isnan(expected)) return std::nullopt;
    if (std::isnan(value)) return LostNumber::As::not_a_number;
    if (std::isinf(value) && !std::isinf(expected)) return LostNumber::As::infinite;
    return std::nullopt;
  }

  /// What `operation` would make if of its operands no number were lost as 0; where that is not 0 any more,
  /// the 0 is an earlier one's. 0 if none of them is lost.
  static Matrix<double> made_of_restored(const Operation& operation, const Record& record,
                                         const Record& expected) {
    const Expression& expression = operation.equation.expression;
    Record restored = record;
    bool is_other = false;
    for (const std::string& name : operands(expression)) {
      if (!record.contains(name) || !expected.contains(name)) continue;
      Matrix<double> value = record.at(name);
      const Matrix<double>& exact = expected.at(name);
      if (exact.rows() != value.rows() || exact.cols() != value.cols()) continue;
      for (Index i = 0; i < value.size(); ++i) {
        if (!is_lost_zero(value.data()[i], exact.data()[i])) continue;
        value.data()[i] = exact.data()[i];
        is_other = true;
      }
      restored.set(name, std::move(value));
    }
    const Matrix<double>& made = record.at(operation.equation.result);
    return is_other ? evaluate(expression, restored) : Matrix<double>::Zero(made.rows(), made.cols());
  }

  Trace& exact_;
  const std::vector<Record>& others_;
  double smallest_;
  std::vector<LostNumber> lost_;
  std::set<std::string> brought_;  // what blocks before have
  std::map<std::pair<std::string, LostNumber::As>, std::size_t> places_;
};

std::vector<Phase> edited_phases(const Trace& trace, const Fault* edit) {
  if (!edit) return trace.phases;
  const auto edited = with_fault(*edit, {trace.phases, trace.symbols});
  if (!edited)
    throw InputError(fmt::format("{} changes nothing in the {} form: it needs {}", edit->label,
                                 name(trace.form), edit->needs));
  return edited->phases;
}

/// What edited equations make in f64 that those of the trace do not, block by block.
std::vector<Record> others_in_f64(Trace& trace, const std::vector<Phase>& phases,
                                  const std::stop_token& stop) {
  std::vector<Record> others;
  interpret(trace, phases,
            {.visit =
                 [&](Index index, const Record& record) {
                   Record other;
                   const Record& known = trace.record(index);
                   for (const auto& [name, value] : record.tensors()) {
                     if (!known.contains(name)) other.set(name, value);
                   }
                   others.push_back(std::move(other));
                 },
             .stop = stop});
  return others;
}

Seen look(const Variant& variant, const Sequence& sequence, const Sequence& coarse, const Output& expected,
          const Lens& lens, const std::stop_token& stop) {
  const Rule& rule = *variant.rule;
  const auto exact = rule.trace(sequence, lens.form, Precision::f64, lens.chunk_size);
  const auto trace = rule.trace(coarse, lens.form, Precision::f64, lens.chunk_size);
  const std::vector<Phase> phases = edited_phases(*trace, lens.edited);
  std::vector<Record> others;
  Losses losses(*exact, others, lens.arithmetic);
  std::vector<Matrix<double>> unrounded;  // of the present block
  Seen seen{.lens = lens};
  const Interpreting how{.rounded =
                             [&](const Matrix<double>& value) {
                               unrounded.push_back(value);
                               return rounded(value, lens.arithmetic);
                             },
                         .visit =
                             [&](Index index, const Record& record) {
                               losses.visit(index,
                                            phases[static_cast<std::size_t>(exact->block(index).phase)],
                                            record, unrounded);
                               unrounded.clear();
                             },
                         .stop = stop};
  try {
    if (lens.edited) others = others_in_f64(*exact, phases, stop);
    const Output output = interpret(*trace, phases, how);
    if (sequence.tokens > 0) {
      seen.errors = errors_by_row("o", output.o, expected.o);
      seen.worst = compare(output, expected);
    }
  } catch (const StepError& error) {
    seen.message = error.what();
  }
  seen.lost = losses.take();
  return seen;
}

/// A head of these arrays; throws InputError if there is none.
Sequence head_of(const Variant& variant, const std::shared_ptr<const Arrays>& arrays, const Settings& given,
                 std::size_t head) {
  const SequenceBatch batch = palimpsest::bind(variant, arrays, given);
  if (head >= batch.heads.size())
    throw InputError(fmt::format("head {}: there are {}", head, batch.heads.size()));
  return batch.heads[head];
}

Sequence coarse_head(const Variant& variant, const std::shared_ptr<const Arrays>& arrays,
                     const Settings& given, std::size_t head, Arithmetic arithmetic) {
  return head_of(variant, std::make_shared<const Arrays>(rounded(*arrays, arithmetic)), given, head);
}

}  // namespace

const char* in_words(LostNumber::As as) {
  switch (as) {
    case LostNumber::As::underflow:
      return "underflows to 0";
    case LostNumber::As::cancelled:
      return "cancels to 0";
    case LostNumber::As::made_of_lost:
      return "is 0, as numbers in it were lost before,";
    case LostNumber::As::infinite:
      return "overflows";
    case LostNumber::As::not_a_number:
      break;
  }
  return "is no number";
}

Seen look(const Variant& variant, const std::shared_ptr<const Arrays>& arrays, const Settings& given,
          const Lens& lens, std::size_t head, std::stop_token stop) {
  const Sequence sequence = head_of(variant, arrays, given, head);
  if (const auto reason = variant.rule->missing(lens.form, sequence.settings)) throw Unsupported(*reason);
  return look(variant, sequence, coarse_head(variant, arrays, given, head, lens.arithmetic),
              reference(variant, sequence, stop), lens, stop);
}

std::vector<Seen> look_at_all(const Variant& variant, const std::shared_ptr<const Arrays>& arrays,
                              const Settings& given, Index chunk_size, std::size_t head,
                              std::stop_token stop) {
  const Sequence sequence = head_of(variant, arrays, given, head);
  const Output expected = reference(variant, sequence, stop);
  std::vector<Seen> all;
  for (const Arithmetic arithmetic : all_arithmetics) {
    const Sequence coarse = coarse_head(variant, arrays, given, head, arithmetic);
    for (const Form form : all_forms) {
      if (variant.rule->missing(form, sequence.settings)) continue;
      const Lens lens{.form = form, .arithmetic = arithmetic, .chunk_size = chunk_size};
      all.push_back(look(variant, sequence, coarse, expected, lens, stop));
    }
  }
  return all;
}

}  // namespace palimpsest
