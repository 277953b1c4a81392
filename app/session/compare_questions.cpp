#include "app/session/compare_questions.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>

#include "app/session/found.h"
#include "app/session/scales.h"
#include "app/session/words.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/insight/answers.h"
#include "core/insight/memory_change.h"
#include "core/variants/rail.h"

namespace palimpsest {

static auto parts_of(const SideMoment::Memory& memory) { return std::tie(memory.S, memory.apart); }
static auto parts_of(const SideMoment& moment) { return std::tie(moment.before, moment.after, moment.table); }

namespace {

constexpr double nearly_shown = 0.95;  // of a memory's numbers lie within the scale of all sides

/// The states after so many tokens as the form and the precision of the choice make them: those of a sequence
/// that ends there; of a batch that has not ended, of what was written before it.
NamedStates states_after(const Foundation& foundation, Index tokens, const std::stop_token& stop) {
  const Variant& variant = *foundation.variant;
  const Choice& choice = foundation.choice;
  const auto& recurrence =
      choice.form == Form::recurrent ? foundation.trace(Form::recurrent) : foundation.recurrence;
  if (!recurrence) throw Unsupported("this rule has no recurrence with these settings");
  const RecurrentMemory memory(variant, foundation.sequence, *recurrence, stop);
  if (choice.form == Form::recurrent || tokens == 0) return memory.after(tokens);
  Sequence first = foundation.sequence;
  first.tokens = tokens;
  if (const auto together = written_together(variant, foundation.sequence, tokens - 1);
      together && tokens - 1 < together->last)
    first.tokens = together->first;
  if (first.tokens == 0) return memory.after(0);
  return foundation.device->run(variant, first, choice.form, choice.precision, choice.chunk_size, stop)
      .states;
}

MemoryChange change_of(const Foundation& foundation, Index token, const std::stop_token& stop) {
  return {states_after(foundation, token, stop), states_after(foundation, token + 1, stop)};
}

/// The first state: what all rules have that have one.
const Matrix<double>& first_of(const NamedStates& states) { return states.front().second; }

std::vector<double> all_of(const Matrix<double>& numbers) {
  std::vector<double> sizes;
  for (const double number : numbers.reshaped()) sizes.push_back(std::abs(number));
  return sizes;
}

SideMoment::Memory memory_of(const Matrix<double>& S, const Matrix<double>* reference) {
  SideMoment::Memory memory{.S = S, .length = S.norm(), .version = next_version()};
  memory.range = quantile(all_of(S), nearly_shown);
  if (!reference) return memory;
  memory.apart = S - *reference;
  memory.apart_length = memory.apart.norm();
  memory.apart_range = quantile(all_of(memory.apart), nearly_shown);
  memory.apart_version = next_version();
  return memory;
}

/// "The others stand at 0.74 to 0.87": what the words answer themselves that are written, and that the
/// sentence tells nothing of.
std::string others_of(const AnswerTable& table) {
  constexpr double half_a_digit = 0.005;                                // "-0.00" says less than nothing
  if (table.after.size() == 0) return {};                               // nothing is asked
  if (!(table.after.cwiseAbs().maxCoeff() >= half_a_digit)) return {};  // none answers: that is said already
  double least = 0;
  double most = 0;
  int count = 0;
  for (Index i = 0; i < table.after.rows(); ++i) {
    const bool is_told = i == table.most_changed && table.change.row(i).cwiseAbs().maxCoeff() >= noticed;
    if (i == table.present || is_told || !table.words[static_cast<std::size_t>(i)].is_written) continue;
    const double own = table.after(i, i);
    least = count == 0 ? own : std::min(least, own);
    most = count == 0 ? own : std::max(most, own);
    ++count;
  }
  if (count == 0 || !std::isfinite(most) || !std::isfinite(least)) return {};
  const auto shown = [&](double number) { return std::abs(number) < half_a_digit ? 0.0 : number; };
  const std::string from = fixed_number(shown(least), 2);
  const std::string to = fixed_number(shown(most), 2);
  if (count == 1) return fmt::format("The other stands at {}.", from);
  if (from == to) return fmt::format("The others all stand at {}.", from);
  return fmt::format("The others stand at {} to {}.", from, to);
}

void add_table(SideMoment& moment, const Foundation& foundation, const MemoryChange& change,
               std::vector<AskedWord> words) try {
  moment.table = answer_table(*foundation.variant, foundation.sequence, change, std::move(words));
  moment.sentence = answer_sentence(moment.table);
  moment.others = others_of(moment.table);
} catch (const Cancelled&) {
  throw;
} catch (const std::exception&) {
  moment.no_table = problem_in_words();
}

std::shared_ptr<const Foundation> present_of(const std::weak_ptr<const Foundation>& of) {
  std::shared_ptr<const Foundation> foundation = of.lock();
  if (!foundation) throw Cancelled();
  return foundation;
}

}  // namespace

std::string ComputedSide::subject() const {
  const auto known = of.lock();
  return known ? fmt::format("{} {}", slot, text_of(*known)) : std::string();
}

bool ComputedSide::operator<(const ComputedSide& other) const {
  return of != other.of ? of < other.of : *choice < *other.choice;
}

Found<Computation> ComputedSide::compute(const Effort& effort) const {
  const auto known = of.lock();
  if (!known) throw Cancelled();
  std::shared_ptr<Computation> computation = begin(known, *choice, effort.stop, {}, devices);
  if (const std::string reason = left_to_cpu(*computation, choice->form); !reason.empty()) {
    Choice on_cpu = *choice;
    std::string note = leave_to_cpu(reason, on_cpu.device, on_cpu.precision);
    computation = begin(known, on_cpu, effort.stop);
    computation->inputs.notes.push_back(std::move(note));
  }
  std::size_t bytes = sizeof(Value) + held_by(computation->tokens);
  for (const auto& [name, array] : *computation->inputs.arrays)
    bytes += static_cast<std::size_t>(array.size()) * sizeof(double);
  return {std::move(computation), bytes};
}

ComputedSide computed_side(const std::shared_ptr<const DataSet>& data, Choice choice, std::size_t slot,
                           Devices devices) {
  choice.chunk_size = std::clamp<Index>(choice.chunk_size, 1, largest_chunk(data->tokens));
  return {data, std::make_shared<const Choice>(std::move(choice)), slot, devices};
}

std::string SideAtWord::subject() const { return fmt::format("{} {}", slot, subject_of_data(of)); }

Found<SideAtWord::Value> SideAtWord::compute(const Foundation& foundation, const Effort& effort) const {
  const std::shared_ptr<const Foundation> other = present_of(reference);
  SideMoment moment;
  moment.no_memory = foundation.variant->memory.none;
  moment.no_table = "There is no memory to ask. Attend shows what it reads.";
  if (!moment.no_memory.empty()) return moment;
  moment.no_table.clear();
  const MemoryChange change = change_of(foundation, token, effort.stop);
  moment.state = change.after.front().first;
  moment.no_difference = other->variant->memory.none;
  MemoryChange than;
  if (moment.no_difference.empty()) {
    than = &foundation == other.get() ? change : change_of(*other, token, effort.stop);
    const Matrix<double>& one = first_of(change.after);
    const Matrix<double>& two = first_of(than.after);
    if (one.rows() != two.rows() || one.cols() != two.cols())
      moment.no_difference = fmt::format("It is {} × {} here and {} × {} there.", one.rows(), one.cols(),
                                         two.rows(), two.cols());
  }
  const bool is_taken = moment.no_difference.empty();
  moment.before = memory_of(first_of(change.before), is_taken ? &first_of(than.before) : nullptr);
  moment.after = memory_of(first_of(change.after), is_taken ? &first_of(than.after) : nullptr);
  moment.range = std::max(moment.before.range, moment.after.range);
  add_table(moment, foundation, change, words_asked(*present_of(asking), token, words));
  return moment;
}

std::string side_sentence(const Foundation& foundation) {
  const Choice& choice = foundation.choice;
  const std::optional<double> place = rail_place(choice.variant, choice.settings);
  std::string sentence = foundation.variant->words;
  if (place && *place != std::floor(*place)) sentence = rail_sentence(*place);
  for (const std::string& note : foundation.inputs.notes) sentence += " " + note;
  return sentence;
}

}  // namespace palimpsest
