#include "core/proof/precision_lens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/contract/sequence.h"
#include "core/proof/reference_run.h"
#include "core/rules/rule.h"
#include "core/steps/interpreted.h"

namespace palimpsest {

namespace {

/// What has become of `value` that is not so in f64.
std::optional<LostNumber::As> lost_as(double value, double expected) {
  if (std::isnan(expected)) return std::nullopt;
  if (std::isnan(value)) return LostNumber::As::not_a_number;
  if (std::isinf(value) && !std::isinf(expected)) return LostNumber::As::infinite;
  if (value == 0 && expected != 0) return LostNumber::As::zero;
  return std::nullopt;
}

/// Notes what is lost, block after block.
class Losses {
 public:
  /// `others` are further tensors in f64, block by block, that only edited equations make.
  Losses(Trace& exact, const std::vector<Record>& others) : exact_(exact), others_(others) {}

  void visit(Index index, const Phase& phase, const Record& record) {
    const Block block = exact_.block(index);
    Record expected = exact_.record(index);
    if (!others_.empty()) {
      for (const auto& [name, value] : others_[static_cast<std::size_t>(index)].tensors())
        expected.set(name, value);
    }
    const Operation* const comes_in = nullptr;
    for (const auto& [name, value] : record.tensors()) {
      const auto makes = [&](const Operation& operation) { return operation.equation.result == name; };
      if (std::ranges::none_of(phase.operations, makes))
        compare(index, block, comes_in, name, value, expected);
    }
    for (const Operation& operation : phase.operations) {
      const std::string& name = operation.equation.result;
      compare(index, block, &operation, name, record.at(name), expected);
    }
  }

  std::vector<LostNumber> take() { return std::move(lost_); }

 private:
  void compare(Index index, const Block& block, const Operation* operation, const std::string& name,
               const Matrix<double>& value, const Record& record) {
    if (!record.contains(name)) return;
    const Matrix<double>& expected = record.at(name);
    if (expected.rows() != value.rows() || expected.cols() != value.cols()) return;
    for (Index i = 0; i < value.rows(); ++i) {
      for (Index j = 0; j < value.cols(); ++j) {
        const auto as = lost_as(value(i, j), expected(i, j));
        if (!as) continue;
        const auto [known, is_new] = places_.try_emplace({name, *as}, lost_.size());
        if (is_new) {
          const bool by_token = value.rows() == block.count;
          const auto symbol = exact_.symbols.find(name);
          lost_.push_back({.as = *as,
                           .tensor = name,
                           .operation = operation ? operation->id : "",
                           .title = operation ? operation->title : "",
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

  Trace& exact_;
  const std::vector<Record>& others_;
  std::vector<LostNumber> lost_;
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
  Losses losses(*exact, others);
  Seen seen{.lens = lens};
  const Interpreting how{
      .rounded = [&](const Matrix<double>& value) { return rounded(value, lens.arithmetic); },
      .visit =
          [&](Index index, const Record& record) {
            losses.visit(index, phases[static_cast<std::size_t>(exact->block(index).phase)], record);
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
