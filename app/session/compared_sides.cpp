#include "app/session/compared_sides.h"

#include <fmt/ranges.h>
#include <numeric>

#include "core/base/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// `index`, limited to the last one.
std::size_t within(std::size_t index, std::size_t count) { return std::min(index, count - 1); }

/// The state with its sides and columns written out, so that one of them can be changed.
SessionState with_all(SessionState state) {
  const std::vector<std::size_t> order = column_order(state);
  state.compare.columns.clear();
  for (const std::size_t index : order) state.compare.columns += static_cast<char>('0' + index);
  state.sides = compared_sides(state);
  return state;
}

std::vector<std::size_t> numbers_of(const std::vector<Side>& sides) {
  std::vector<std::size_t> numbers(sides.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

/// The settings of a side, with defaults filled in.
Settings in_full(const Side& side) try {
  return resolve(find_variant(side.variant), side.settings);
} catch (const std::exception&) {
  return side.settings;
}

constexpr double nearly_shown = 0.95;  // of a memory's entries are within the scale of all sides

/// The states after `tokens` tokens in the form and precision of the choice: the final states of a sequence
/// that ends there. Within a batch they are those before it.
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

/// The first state, which every rule with a state has.
const Matrix<double>& first_of(const NamedStates& states) { return states.front().second; }

/// The magnitudes of all numbers, ascending.
std::vector<double> ascending_sizes(const Matrix<double>& numbers) {
  std::vector<double> sizes = sizes_of(numbers);
  std::erase_if(sizes, [](double size) { return std::isnan(size); });
  std::ranges::sort(sizes);
  return sizes;
}

SideMoment::Memory memory_of(const Matrix<double>& S, const Matrix<double>* reference) {
  SideMoment::Memory memory{
      .S = S, .sizes = ascending_sizes(S), .length = S.norm(), .version = next_version()};
  memory.range = quantile(memory.sizes, nearly_shown);
  if (!reference) return memory;
  memory.apart = S - *reference;
  memory.apart_length = memory.apart.norm();
  memory.apart_sizes = ascending_sizes(memory.apart);
  memory.apart_range = quantile(memory.apart_sizes, nearly_shown);
  memory.apart_version = next_version();
  return memory;
}

/// "The other keys return their own values 0.74 to 0.87": for the stored tokens that the sentence does not
/// mention.
std::string others_of(const AnswerTable& table) {
  constexpr double half_a_digit = 0.005;                                // avoids "-0.00"
  if (table.after.size() == 0) return {};                               // nothing is queried
  if (!(table.after.cwiseAbs().maxCoeff() >= half_a_digit)) return {};  // the sentence says it already
  double least = 0;
  double most = 0;
  int count = 0;
  for (Index i = 0; i < table.after.rows(); ++i) {
    const bool is_told = i == table.most_changed && table.change.row(i).cwiseAbs().maxCoeff() >= noticed;
    if (i == table.present || is_told || !entry(table.words, i).is_written) continue;
    const double own = table.after(i, i);
    least = count == 0 ? own : std::min(least, own);
    most = count == 0 ? own : std::max(most, own);
    ++count;
  }
  if (count == 0 || !std::isfinite(most) || !std::isfinite(least)) return {};
  const auto shown = [&](double number) { return std::abs(number) < half_a_digit ? 0.0 : number; };
  const std::string from = fixed_number(shown(least), 2);
  const std::string to = fixed_number(shown(most), 2);
  if (count == 1) return fmt::format("The other key returns its own value {}.", from);
  if (from == to) return fmt::format("The other keys return their own values {}.", from);
  return fmt::format("The other keys return their own values {} to {}.", from, to);
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

}  // namespace

std::vector<Side> compared_sides(const SessionState& state) {
  std::vector<Side> sides = state.sides;
  if (sides.size() > 1) return sides;
  for (const char* usual : {"linear", "retnet", "deltanet", "gated_deltanet"}) {
    if (sides.size() == most_sides || without_strength(sides.front().variant) == usual) continue;
    Side side = sides.front();
    side.variant = usual;
    side.settings = {};
    side.with_beta = true;
    sides.push_back(std::move(side));
  }
  return sides;
}

std::size_t reference_side(const SessionState& state) {
  return within(state.compare.reference, compared_sides(state).size());
}

std::size_t handle_side(const SessionState& state) {
  return within(state.compare.handle, compared_sides(state).size());
}

Choice choice_of(const SessionState& state, const Side& side) {
  Choice choice = state.choice();
  static_cast<Side&>(choice) = side;
  for (const auto& [kind, value] : side.sliders) set_slider(choice.edits, kind, value);
  if (side.with_beta && can_take_beta(state, side)) choice.variant = with_strength(side.variant)->id;
  return choice;
}

bool can_take_beta(const SessionState& state, const Side& side) {
  const Variant& first = find_variant(state.sides.front().variant);
  return row_called(first.inputs, "beta", &Input::name) && with_strength(side.variant);
}

std::vector<std::size_t> side_order(const std::vector<Side>& sides) {
  std::vector<std::size_t> order = numbers_of(sides);
  const auto place = [&](std::size_t index) { return place_on_rail(sides[index]).value_or(1e9); };
  std::ranges::stable_sort(order, {}, place);
  return order;
}

std::vector<std::size_t> column_order(const SessionState& state) {
  const std::vector<Side> sides = compared_sides(state);
  const std::string& columns = state.compare.columns;
  const std::vector<std::size_t> order =
      made_of(columns, [](char column) { return static_cast<std::size_t>(column - '0'); });
  return std::ranges::is_permutation(order, numbers_of(sides)) ? order : side_order(sides);
}

bool is_same_as(const Side& side, const Side& other) {
  const bool has_same_chunks = !has_chunks(side.form) || side.chunk_size == other.chunk_size;
  return side.variant == other.variant && side.form == other.form && side.device == other.device &&
         side.precision == other.precision && has_same_chunks && side.sliders == other.sliders &&
         (side.with_beta == other.with_beta || !with_strength(side.variant)) &&
         in_full(side) == in_full(other);
}

std::optional<std::size_t> same_further_left(const SessionState& state, std::size_t column) {
  const std::vector<Side> sides = compared_sides(state);
  const std::vector<std::size_t> order = column_order(state);
  for (std::size_t left = 0; left < std::min(column, order.size()); ++left) {
    if (is_same_as(sides[order[column]], sides[order[left]])) return left;
  }
  return std::nullopt;
}

SessionState with_side(SessionState state, Side side) {
  state = with_all(std::move(state));
  if (state.sides.size() == most_sides) return state;
  state.compare.columns += static_cast<char>('0' + state.sides.size());
  state.sides.push_back(std::move(side));
  state.compare.handle = state.sides.size() - 1;
  return state;
}

std::string why_it_stays(const SessionState& state, std::size_t index) {
  const std::vector<Side> sides = compared_sides(state);
  if (sides.size() <= 2) return "at least two sides are compared";
  if (index == 0 && !sides[1].sliders.empty())
    return "the next side has sliders of its own: it cannot be the one that is stepped through";
  return {};
}

SessionState without_side(SessionState state, std::size_t index) {
  if (!why_it_stays(state, index).empty()) return state;
  state = with_all(std::move(state));
  state.compare.reference = within(state.compare.reference, state.sides.size());
  state.compare.handle = within(state.compare.handle, state.sides.size());
  state.sides.erase(state.sides.begin() + static_cast<std::ptrdiff_t>(index));
  std::erase(state.compare.columns, static_cast<char>('0' + index));
  for (char& column : state.compare.columns) {
    if (column > static_cast<char>('0' + index)) --column;
  }
  for (std::size_t* kept : {&state.compare.reference, &state.compare.handle}) {
    if (*kept == index)
      *kept = 0;
    else if (*kept > index)
      --*kept;
  }
  return state;
}

SessionState with_reference(SessionState state, std::size_t index) {
  state = with_all(std::move(state));
  state.compare.reference = within(index, state.sides.size());
  return state;
}

SessionState with_side_as(SessionState state, std::size_t index, Side side) {
  state = with_all(std::move(state));
  state.sides[within(index, state.sides.size())] = std::move(side);
  return state;
}

Side moved_on_rail(Side side, double place) {
  const RailRule rule = rule_at(place);
  const Variant& variant = find_variant(rule.variant);
  side.variant = rule.variant;
  std::erase_if(side.settings.options, [&](const auto& option) {
    return !row_called(variant.options, option.first, &Option::name);
  });
  const std::vector<Parameter> parameters = all_parameters(variant);
  std::erase_if(side.settings.parameters, [&](const auto& parameter) {
    return !row_called(parameters, parameter.first, &Parameter::name);
  });
  if (rule.position) side.settings.parameters[rail_parameter] = *rule.position;
  return side;
}

std::optional<double> place_on_rail(const Side& side) {
  return rail_place(without_strength(side.variant), side.settings);
}

Side further_on_rail(const Side& side, int direction) {
  const auto last = static_cast<double>(rail().size() - 1);
  Side moved = side;
  for (std::optional<double> place = place_on_rail(side); place && moved == side;) {
    const double tenths = *place * 10;
    const double next = direction > 0 ? std::floor(tenths + 1e-6) + 1 : std::ceil(tenths - 1e-6) - 1;
    if (next < 0 || next > 10 * last) break;
    place = next / 10;
    moved = moved_on_rail(side, *place);
  }
  return moved;
}

Side next_side(const SessionState& state) {
  const std::vector<Side> sides = compared_sides(state);
  const Side& own = sides[handle_side(state)];
  const double from = place_on_rail(own).value_or(0);
  std::optional<double> nearest;
  for (std::size_t stop = 0; stop < rail().size(); ++stop) {
    const auto place = static_cast<double>(stop);
    const bool is_taken =
        std::ranges::any_of(sides, [&](const Side& side) { return place_on_rail(side) == place; });
    if (!is_taken && (!nearest || std::abs(place - from) < std::abs(*nearest - from))) nearest = place;
  }
  Side side = own;
  if (nearest) return moved_on_rail(side, *nearest);
  side.precision = side.precision == Precision::f64 ? Precision::f32 : Precision::f64;
  return side;
}

std::string otherwise(const Side& side, const Side& than) {
  std::vector<std::string> words;
  if (side.form != than.form || (has_chunks(side.form) && side.chunk_size != than.chunk_size))
    words.push_back(has_chunks(side.form) ? fmt::format("{}, chunks of {}", name(side.form), side.chunk_size)
                                          : name(side.form));
  if (!side.with_beta && with_strength(side.variant)) words.emplace_back("without β");
  if (side.device != than.device) words.push_back(side.device);
  if (side.precision != than.precision) words.push_back(name(side.precision));
  for (const auto& [option, value] : side.settings.options) {
    const std::string* const other = value_at(than.settings.options, option);
    if (!other || *other != value) words.push_back(fmt::format("{}={}", option, value));
  }
  for (const auto& [parameter, value] : side.settings.parameters) {
    const double* const other = value_at(than.settings.parameters, parameter);
    if (parameter != rail_parameter && (!other || *other != value))
      words.push_back(fmt::format("{}={}", parameter, plain_number(value, 4)));
  }
  static const std::map<std::string, const char*, std::less<>> known = {
      {"scale_decay", "α to the power of "}, {"scale_strength", "β × "}, {"scale_keys", "k × "}};
  for (const auto& [kind, value] : side.sliders) {
    const char* const* const slider = value_at(known, kind);
    words.push_back((slider ? *slider : kind + "=") + plain_number(value));
  }
  return fmt::format("{}", fmt::join(words, " · "));
}

static auto parts_of(const SideMoment::Memory& memory) { return std::tie(memory.S, memory.apart); }
static auto parts_of(const SideMoment& moment) { return std::tie(moment.before, moment.after, moment.table); }

bool ComputedSide::operator<(const ComputedSide& other) const {
  return of != other.of ? of < other.of : *choice < *other.choice;
}

Found<Computation> ComputedSide::compute(const Effort& effort) const {
  const std::shared_ptr<const DataSet> known = of.present();
  std::shared_ptr<Computation> computation = begin(known, *choice, effort.stop, {}, devices);
  if (const std::string reason = left_to_cpu(*computation, choice->form); !reason.empty()) {
    Choice on_cpu = *choice;
    std::string note = leave_to_cpu(reason, on_cpu.device, on_cpu.precision);
    computation = begin(known, on_cpu, effort.stop);
    computation->inputs.notes.push_back(std::move(note));
  }
  std::size_t bytes = sizeof(Computation) + held_by(computation->tokens);
  for (const auto& [name, array] : *computation->inputs.arrays)
    bytes += static_cast<std::size_t>(array.size()) * sizeof(double);
  return {std::move(computation), bytes};
}

ComputedSide computed_side(const std::shared_ptr<const DataSet>& data, Choice choice, std::size_t slot,
                           Devices devices) {
  choice.chunk_size = std::clamp<Index>(choice.chunk_size, 1, largest_chunk(data->tokens));
  return {data, std::make_shared<const Choice>(std::move(choice)), slot, devices};
}

Found<SideMoment> SideAtWord::compute(const Foundation& foundation, const Effort& effort) const {
  const std::shared_ptr<const Foundation> other = reference.present();
  SideMoment moment;
  moment.no_memory = foundation.variant->memory.none;
  moment.no_table = "There is no memory to query. Attend shows what it reads.";
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
      moment.no_difference = fmt::format("Here it is {} × {}, in the baseline {} × {}.", one.rows(),
                                         one.cols(), two.rows(), two.cols());
  }
  const bool is_taken = moment.no_difference.empty();
  moment.before = memory_of(first_of(change.before), is_taken ? &first_of(than.before) : nullptr);
  moment.after = memory_of(first_of(change.after), is_taken ? &first_of(than.after) : nullptr);
  moment.range = std::max(moment.before.range, moment.after.range);
  add_table(moment, foundation, change, words_asked(*asking.present(), token, words));
  return moment;
}

std::string side_sentence(const Foundation& foundation) {
  const Choice& choice = foundation.choice;
  const std::optional<double> place = place_on_rail(choice);
  std::string sentence = foundation.variant->words;
  if (place && *place != std::floor(*place)) sentence = rail_sentence(*place);
  for (const std::string& note : foundation.inputs.notes) sentence += " " + note;
  return sentence;
}

}  // namespace palimpsest
