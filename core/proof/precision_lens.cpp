#include "core/proof/precision_lens.h"

#include <ranges>
#include <set>

#include "core/base/refuse.h"
#include "core/proof/reference_run.h"
#include "core/steps/interpreted.h"

namespace palimpsest {

namespace {

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
  Losses(Trace& exact, Arithmetic arithmetic) : exact_(exact), smallest_(smallest(arithmetic)) {}

  /// `unrounded` are the results of the phase's operations, before rounding.
  void visit(Index index, const Phase& phase, const Record& record,
             std::span<const Matrix<double>> unrounded) {
    const Block block = exact_.block(index);
    const Record& expected = exact_.record(index);
    const auto is_carried = [&](const std::string& name) {
      return std::ranges::any_of(phase.carries, [&](const Carry& carry) {
        return carry.to == name && brought_.contains(carry.from);
      });
    };
    for (const auto& name : record.tensors() | std::views::keys) {
      if (!maker_of(phase, name) && !is_carried(name))
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
          const Symbol* const symbol = value_at(exact_.symbols, name);
          lost_.push_back({.as = *as,
                           .tensor = name,
                           .operation = made ? made->operation.id : "",
                           .title = made ? made->operation.title : "",
                           .is_gate = symbol && symbol->role == Role::gate,
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

  /// The result of `operation` if none of its operands had numbers lost as 0; where it is not 0, the loss
  /// happened earlier. 0 if none is lost.
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
  double smallest_;
  std::vector<LostNumber> lost_;
  std::set<std::string> brought_;  // what blocks before have
  std::map<std::pair<std::string, LostNumber::As>, std::size_t> places_;
};

/// A head of these arrays; throws InputError if there is none.
Sequence head_of(const Variant& variant, const std::shared_ptr<const Arrays>& arrays, const Settings& given,
                 std::size_t head) {
  const SequenceBatch batch = palimpsest::bind(variant, arrays, given);
  if (head >= batch.heads.size()) refuse("head {}: there are {}", head, batch.heads.size());
  return batch.heads[head];
}

}  // namespace

const char* in_words(LostNumber::As as) {
  static constexpr const char* words[] = {"underflows to 0", "cancels to 0",
                                          "is 0, because earlier numbers were lost,", "overflows",
                                          "is no number"};
  return entry(words, as);
}

Seen look(const Variant& variant, const std::shared_ptr<const Arrays>& arrays, const Settings& given,
          const Lens& lens, std::size_t head, std::stop_token stop) {
  const Sequence sequence = head_of(variant, arrays, given, head);
  const Rule& rule = *variant.rule;
  if (const auto reason = rule.missing(lens.form, sequence.settings)) throw Unsupported(*reason);
  const auto rounded_arrays = std::make_shared<const Arrays>(rounded(*arrays, lens.arithmetic));
  const Sequence coarse = head_of(variant, rounded_arrays, given, head);
  const Output expected = reference(variant, sequence, stop);
  const auto exact = rule.trace(sequence, lens.form, Precision::f64, lens.chunk_size);
  const auto trace = rule.trace(coarse, lens.form, Precision::f64, lens.chunk_size);
  Losses losses(*exact, lens.arithmetic);
  std::vector<Matrix<double>> unrounded;  // of the present block
  const auto round = [&](const Matrix<double>& value) {
    unrounded.push_back(value);
    return rounded(value, lens.arithmetic);
  };
  const auto visit = [&](Index index, const Record& record) {
    losses.visit(index, trace->phase(exact->block(index)), record, unrounded);
    unrounded.clear();
  };
  Seen seen{.lens = lens};
  try {
    const Output output = interpret(*trace, trace->phases, {.rounded = round, .visit = visit, .stop = stop});
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

}  // namespace palimpsest
