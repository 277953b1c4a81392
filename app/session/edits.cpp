#include "app/session/edits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "app/session/computation.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr double most = 1e6;
constexpr double any = 1e300;
constexpr double last = 0x1p53;  // indices up to here are exact

/// The data's own array of this name; null where they have none.
Array* own(EditedHead& head, const std::string& name) {
  const auto found = head.arrays.find(name);
  if (found == head.arrays.end() || head.made_up.contains(name)) return nullptr;
  head.changed = true;
  return &found->second;
}

void scale(EditedHead& head, const std::string& name, double factor) {
  if (Array* array = own(head, name)) *array = mapped(*array, [&](double x) { return x * factor; });
}

/// Every decay to a power: its logarithm times it.
void scale_decay(EditedHead& head, double power) {
  const auto scaled = [power](double x) { return power == 0 ? 0.0 : x * power; };  // not 0 * -inf
  if (Array* logs = own(head, "g")) *logs = mapped(*logs, scaled);
  if (Array* decays = own(head, "alpha"))
    *decays = mapped(*decays, [power](double x) { return std::pow(x, power); });
}

const Input* find_input(std::span<const Input> inputs, std::string_view name) {
  const auto found = std::ranges::find(inputs, name, &Input::name);
  return found == inputs.end() ? nullptr : &*found;
}

/// Whether some variant takes an array of this name.
bool is_taken(std::string_view name) {
  return std::ranges::any_of(variants(), [&](const Variant& variant) {
    const std::vector<Input> inputs = all_inputs(variant);
    return find_input(inputs, name) != nullptr;
  });
}

/// Whether some variant makes an array of this name up where data lack it.
bool is_made_up_somewhere(std::string_view name) {
  return std::ranges::any_of(variants(), [&](const Variant& variant) {
    const Input* input = find_input(variant.inputs, name);
    return input && !input->absent;
  });
}

/// An array that is changed by hand, what it may hold, and how a value is written into it.
struct Edited {
  Array* array = nullptr;  // null: the variant takes no such array, and there is nothing to do
  double value = 0;
  Index rows = 0;
  Index columns = 0;
};

/// Whether an array is given along the tokens, their batches or the places in one.
bool is_along_text(const Input& input) {
  return !input.shape.empty() &&
         (input.shape.front() == "n" || input.shape.front() == "n_batches" || input.shape.front() == "batch");
}

/// Finds the array that an edit names, made up first where the variant takes one that the data lack, and
/// checks the value. Data may hold the decay alpha as its logarithm g.
Edited find_edited(EditedHead& head, const std::string& name, double value) {
  const Input* input = find_input(head.inputs, name == "g" ? "alpha" : name);
  const bool in_logs = input && input->range == Range::decay && head.arrays.contains("g");
  if (name == "g" && !in_logs) input = nullptr;
  if (input && !in_logs && !head.arrays.contains(name) && (!input->absent || is_along_text(*input))) {
    head.make_up(name);
    head.made_up.insert(name);
  }
  const auto found = input ? head.arrays.find(in_logs ? "g" : name) : head.arrays.end();
  if (found == head.arrays.end()) {
    const bool is_elsewhere = (is_taken(name) || name == "g") && head.data.arrays.contains(name);
    if (is_elsewhere || is_made_up_somewhere(name)) return {};
    std::set<std::string> known;
    for (const Input& one : head.inputs) {
      if (!one.absent || head.arrays.contains(one.name)) known.insert(one.name);
    }
    throw InputError(
        fmt::format("\"array\" is \"{}\"; expected one of: {}", shown(name), fmt::join(known, ", ")));
  }
  const Range range = name == "g" ? Range::log_decay : input->range;
  if (!contains(range, value))
    throw InputError(
        fmt::format("\"value\" is {}; expected a number in {}, as {} has it", value, describe(range), name));
  head.changed = true;
  Array& array = found->second;
  if (array.is_f32()) array = mapped(array, [](double x) { return x; });
  const Index rows = array.shape.empty() ? 1 : array.shape.front();
  return {.array = &array,
          .value = in_logs && name != "g" ? std::log(value) : value,
          .rows = rows,
          .columns = array.size() / std::max<Index>(rows, 1)};
}

Index require_index(const char* field, double index, const std::string& array, Index count) {
  if (index < static_cast<double>(count)) return static_cast<Index>(index);
  throw InputError(fmt::format("\"{}\" is {}; expected one of {}, 0 to {}", field, index, array, count - 1));
}

void set_cell(EditedHead& head, const Edit& edit) {
  const Edited edited = find_edited(head, edit.array, edit.numbers[2]);
  if (!edited.array) return;
  const Index row = require_index("row", edit.numbers[0], edit.array, edited.rows);
  const Index column = require_index("column", edit.numbers[1], edit.array, edited.columns);
  std::get<std::vector<double>>(
      edited.array->values)[static_cast<std::size_t>(row * edited.columns + column)] = edited.value;
}

bool is_text(const Edit& edit) { return edit.array == "q" || edit.array == "k" || edit.array == "v"; }

[[noreturn]] void refuse_gate(const Edit& edit) {
  throw InputError(fmt::format(
      "\"array\" is \"{}\"; expected a gate, one row per token, such as alpha or beta", shown(edit.array)));
}

/// The tokens of an edit, its first two numbers, in a gate of `rows`.
std::pair<Index, Index> require_tokens(const Edit& edit, Index rows) {
  const Index from = require_index("from", edit.numbers[0], "the tokens", rows);
  const Index to = require_index("to", edit.numbers[1], "the tokens", rows);
  if (from > to)
    throw InputError(fmt::format("\"to\" is {}; expected a token from \"from\", {}, on", to, from));
  return {from, to};
}

void paint_gate(EditedHead& head, const Edit& edit) {
  const Index tokens = head.arrays.at("q").shape.front();
  const Edited edited = is_text(edit) ? Edited{} : find_edited(head, edit.array, edit.numbers[2]);
  if (is_text(edit) || (edited.array && edited.rows != tokens)) refuse_gate(edit);
  if (!edited.array) return;
  const auto [from, to] = require_tokens(edit, tokens);
  auto& values = std::get<std::vector<double>>(edited.array->values);
  std::fill(values.begin() + from * edited.columns, values.begin() + (to + 1) * edited.columns, edited.value);
}

void paint_channel(EditedHead& head, const Edit& edit) {
  const Index tokens = head.arrays.at("q").shape.front();
  const Edited edited = is_text(edit) ? Edited{} : find_edited(head, edit.array, edit.numbers[3]);
  if (is_text(edit) || (edited.array && edited.rows != tokens)) refuse_gate(edit);
  if (!edited.array) return;
  const auto [from, to] = require_tokens(edit, tokens);
  // A rule with fewer channels has one for all of them.
  const Index channel =
      edited.columns == 1 ? 0 : require_index("channel", edit.numbers[2], edit.array, edited.columns);
  auto& values = std::get<std::vector<double>>(edited.array->values);
  for (Index t = from; t <= to; ++t)
    values[static_cast<std::size_t>(t * edited.columns + channel)] = edited.value;
}

/// The gate runs evenly from one value to another.
void ramp_gate(EditedHead& head, const Edit& edit) {
  const Index tokens = head.arrays.at("q").shape.front();
  const Edited first = is_text(edit) ? Edited{} : find_edited(head, edit.array, edit.numbers[2]);
  const Edited end = is_text(edit) ? Edited{} : find_edited(head, edit.array, edit.numbers[3]);
  if (is_text(edit) || (first.array && first.rows != tokens)) refuse_gate(edit);
  if (!first.array) return;
  const auto [from, to] = require_tokens(edit, tokens);
  auto& values = std::get<std::vector<double>>(first.array->values);
  for (Index t = from; t <= to; ++t) {
    const double part = to > from ? static_cast<double>(t - from) / static_cast<double>(to - from) : 0;
    const double value = t == to ? end.value : first.value + (end.value - first.value) * part;
    const auto row = values.begin() + t * first.columns;
    std::fill(row, row + first.columns, t == from ? first.value : value);
  }
}

void set_everywhere(EditedHead& head, const Edit& edit) {
  if (is_text(edit)) refuse_gate(edit);
  const Edited edited = find_edited(head, edit.array, edit.numbers[0]);
  if (!edited.array) return;
  auto& values = std::get<std::vector<double>>(edited.array->values);
  std::ranges::fill(values, edited.value);
}

/// Refuses an edit whose numbers are not those of its kind.
void require_numbers(const Edit& edit, const EditKind& kind) {
  if (edit.numbers.size() != kind.fields.size()) {
    throw InputError(fmt::format("it has {} numbers; expected {}", edit.numbers.size(), kind.fields.size()));
  }
  for (std::size_t i = 0; i < kind.fields.size(); ++i) {
    const EditField& field = kind.fields[i];
    const double number = edit.numbers[i];
    const std::string name = kind.neutral ? "it" : fmt::format("\"{}\"", field.name);
    const bool is_good = number >= field.minimum && number <= field.maximum;  // not NaN
    if (is_good && (!field.is_index || number == std::floor(number))) continue;
    throw InputError(field.is_index ? fmt::format("{} is {}; expected a whole number from 0", name, number)
                                    : fmt::format("{} is {}; expected a number from {:g} to {:g}", name,
                                                  number, field.minimum, field.maximum));
  }
}

const EditKind* find_kind(std::string_view id, std::span<const EditKind> table) {
  const auto found =
      std::ranges::find(table, id, [](const EditKind& kind) { return std::string_view(kind.id); });
  return found == table.end() ? nullptr : &*found;
}

/// What a slider does, without what its numbers mean: there is one of a kind, and a person knows it by that.
std::string_view slider_words(const EditKind& kind) {
  const std::string_view words = kind.words;
  return words.substr(0, words.find_first_of(":;"));
}

double neutral(std::string_view kind) {
  const EditKind* found = find_kind(kind, edit_kinds());
  if (found && found->neutral) return *found->neutral;
  throw Error(fmt::format("there is no slider \"{}\" among the edits", kind));
}

}  // namespace

std::span<const EditKind> edit_kinds() {
  static const EditKind table[] = {
      {.id = "scale_decay",
       .words = "every decay to this power: 2 forgets twice as fast, 0 not at all",
       .fields = {{"power", 0, most}},
       .neutral = 1,
       .apply = [](EditedHead& head, const Edit& edit) { scale_decay(head, edit.numbers[0]); }},
      {.id = "scale_strength",
       .words = "every strength beta times this",
       .fields = {{"factor", 0, most}},
       .neutral = 1,
       .apply = [](EditedHead& head, const Edit& edit) { scale(head, "beta", edit.numbers[0]); }},
      {.id = "scale_keys",
       .words = "every key times this",
       .fields = {{"factor", 0, most}},
       .neutral = 1,
       .apply = [](EditedHead& head, const Edit& edit) { scale(head, "k", edit.numbers[0]); }},
      {.id = "missing_decay",
       .words = "the decay at every token where the data have none",
       .fields = {{"value", 0, 1}},
       .neutral = 0.98},
      {.id = "missing_strength",
       .words =
           "the strength at every token where the data have none; 0: the largest that is stable everywhere",
       .fields = {{"value", 0, most}},
       .neutral = 0},
      {.id = "set_cell",
       .words = "one number of an array",
       .fields = {{"row", 0, last, true}, {"column", 0, last, true}, {"value", -any, any}},
       .has_array = true,
       .apply = set_cell},
      {.id = "paint_gate",
       .words = "a gate from one token to another, in every channel",
       .fields = {{"from", 0, last, true}, {"to", 0, last, true}, {"value", -any, any}},
       .has_array = true,
       .apply = paint_gate},
      {.id = "paint_channel",
       .words = "one channel of a gate from one token to another",
       .fields =
           {{"from", 0, last, true}, {"to", 0, last, true}, {"channel", 0, last, true}, {"value", -any, any}},
       .has_array = true,
       .apply = paint_channel},
      {.id = "ramp_gate",
       .words = "a gate from one token to another, running evenly from one value to the other",
       .fields = {{"from", 0, last, true}, {"to", 0, last, true}, {"first", -any, any}, {"last", -any, any}},
       .has_array = true,
       .apply = ramp_gate},
      {.id = "set_everywhere",
       .words = "every number of a gate",
       .fields = {{"value", -any, any}},
       .has_array = true,
       .apply = set_everywhere},
  };
  return table;
}

void apply(const Edits& edits, EditedHead& head, std::span<const EditKind> table) {
  if (edits.size() > most_edits)
    throw InputError(fmt::format("there are {} edits; expected at most {}", edits.size(), most_edits));
  std::set<std::string_view> sliders;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    try {
      const EditKind* kind = find_kind(edit.kind, table);
      if (!kind) {
        std::vector<std::string_view> known;
        for (const EditKind& one : table) known.emplace_back(one.id);
        throw InputError(fmt::format("there is no such edit; expected one of: {}", fmt::join(known, ", ")));
      }
      require_numbers(edit, *kind);
      if (kind->neutral && !sliders.insert(kind->id).second)
        throw InputError("there is one before it; expected one of this kind");
      if (kind->apply) kind->apply(head, edit);
    } catch (const InputError& error) {
      const EditKind* kind = find_kind(edit.kind, table);
      throw InputError(kind && kind->neutral
                           ? fmt::format("{}: {}", slider_words(*kind), error.what())
                           : fmt::format("edit {} ({}): {}", i + 1, shown(edit.kind), error.what()));
    }
  }
}

double slider_value(const Edits& edits, std::string_view kind) {
  const double usual = neutral(kind);
  const auto found = std::ranges::find(edits, kind, &Edit::kind);
  return found != edits.end() && found->numbers.size() == 1 ? found->numbers.front() : usual;
}

void paint(Edits& edits, const std::string& array, Index from, Index to, double value,
           std::optional<Index> channel) {
  const auto is_covered = [&](const Edit& edit) {
    const bool same_kind = edit.kind == (channel ? "paint_channel" : "paint_gate") ||
                           (!channel && (edit.kind == "paint_channel" || edit.kind == "ramp_gate"));
    if (!same_kind || edit.array != array || edit.numbers.size() < 3) return false;
    if (channel && edit.numbers[2] != static_cast<double>(*channel)) return false;
    return edit.numbers[0] >= static_cast<double>(from) && edit.numbers[1] <= static_cast<double>(to);
  };
  std::erase_if(edits, is_covered);
  std::vector<double> numbers = {static_cast<double>(from), static_cast<double>(to)};
  if (channel) numbers.push_back(static_cast<double>(*channel));
  numbers.push_back(value);
  edits.push_back({.kind = channel ? "paint_channel" : "paint_gate", .array = array, .numbers = numbers});
}

void ramp(Edits& edits, const std::string& array, Index from, Index to, double first, double last) {
  paint(edits, array, from, to, first);
  edits.back() = {.kind = "ramp_gate",
                  .array = array,
                  .numbers = {static_cast<double>(from), static_cast<double>(to), first, last}};
}

void set_constant(Edits& edits, const std::string& array, double value) {
  std::erase_if(edits, [&](const Edit& edit) { return edit.array == array && edit.kind != "set_cell"; });
  edits.push_back({.kind = "set_everywhere", .array = array, .numbers = {value}});
}

void set_slider(Edits& edits, std::string_view kind, double value) {
  const auto found = std::ranges::find(edits, kind, &Edit::kind);
  if (value == neutral(kind)) {
    if (found != edits.end()) edits.erase(found);
  } else if (found != edits.end()) {
    found->numbers = {value};
  } else {
    edits.push_back({.kind = std::string(kind), .numbers = {value}});
  }
}

namespace {

constexpr double beyond_stable = 1.25;  // of the largest rate that is stable for the longest key

bool is_gate(const Input& input) {
  const bool is_bounded = input.range == Range::unit || input.range == Range::positive_unit ||
                          input.range == Range::up_to_two || input.range == Range::non_negative ||
                          input.range == Range::decay;
  const bool is_along_text =
      !input.shape.empty() &&
      (input.shape.front() == "n" || input.shape.front() == "n_batches" || input.shape.front() == "batch");
  return is_bounded && is_along_text && input.name != "alpha" && input.name != "beta";
}

double longest_square(const Sequence& sequence) {
  double longest = 0;
  for (Index t = 0; t < sequence.tokens && sequence.has("k"); ++t)
    longest = std::max(longest, sequence.at("k").rows<double>(t, 1).squaredNorm());
  return longest;
}

/// The end of a slider.
double largest_of(Range range, const Sequence& sequence) {
  switch (range) {
    case Range::up_to_two:
      return 2;
    case Range::non_negative:
      return beyond_stable * 2 / std::max(longest_square(sequence), 1e-12);
    default:
      return 1;
  }
}

}  // namespace

std::vector<PlainGate> plain_gates(const Foundation& foundation) {
  std::vector<PlainGate> gates;
  const Sequence& sequence = foundation.sequence;
  for (const Input& input : inputs_of(*foundation.variant, sequence.settings)) {
    if (!is_gate(input)) continue;
    PlainGate gate{.array = input.name,
                   .meaning = input.meaning,
                   .value = input.absent == "1" ? 1.0 : 0.0,
                   .maximum = largest_of(input.range, sequence)};
    if (sequence.has(input.name)) {
      const Matrix<double> values = sequence.at(input.name).all<double>();
      if (values.size() == 0) continue;
      gate.value = values.mean();
      gate.is_constant = (values.array() == values(0, 0)).all();
      if (gate.is_constant) gate.value = values(0, 0);
    }
    if (input.range == Range::non_negative) gate.maximum = std::max(gate.maximum, gate.value);
    gates.push_back(std::move(gate));
  }
  return gates;
}

}  // namespace palimpsest
