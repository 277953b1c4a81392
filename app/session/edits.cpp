#include "app/session/edits.h"

#include <fmt/ranges.h>

#include "app/session/computation.h"
#include "core/base/refuse.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr double most = 1e6;
constexpr double any = 1e300;
constexpr double last = 0x1p53;  // indices up to here are exact

/// The data's own array of this name; null where they have none.
Array* own(EditedHead& head, const std::string& name) {
  return head.made_up.contains(name) ? nullptr : value_at(head.arrays, name);
}

void scale(EditedHead& head, const std::string& name, double factor) {
  if (Array* array = own(head, name)) *array = mapped<double>(*array, [&](double x) { return x * factor; });
}

/// Raises every decay to a power, that is, multiplies its logarithm by it.
void scale_decay(EditedHead& head, double power) {
  const auto scaled = [power](double x) { return power == 0 ? 0.0 : x * power; };  // not 0 * -inf
  if (Array* logs = own(head, "g")) *logs = mapped<double>(*logs, scaled);
  if (Array* decays = own(head, "alpha"))
    *decays = mapped<double>(*decays, [power](double x) { return std::pow(x, power); });
}

/// Whether some variant takes an array of this name.
bool is_taken(std::string_view name) {
  return std::ranges::any_of(
      variants(), [&](const Variant& variant) { return is_among(name, all_inputs(variant), &Input::name); });
}

/// Whether some variant fills in an array of this name if the data lack it.
bool is_made_up_somewhere(std::string_view name) {
  return std::ranges::any_of(variants(), [&](const Variant& variant) {
    const Input* input = row_called(variant.inputs, name, &Input::name);
    return input && !input->absent;
  });
}

/// An array that an edit changes.
struct Edited {
  std::vector<double>* values = nullptr;  // null: the variant takes no such array; nothing to do
  bool in_logs = false;                   // it holds logarithms of the edit's values
  Index rows = 0;
  Index columns = 0;

  double held(double value) const { return in_logs ? std::log(value) : value; }

  /// Sets the rows `from` to `to`, in every column or in one.
  void fill(Index from, Index to, double number, std::optional<Index> column = {}) const {
    for (Index row = from; row <= to; ++row) {
      const auto first = values->begin() + row * columns + column.value_or(0);
      std::fill(first, first + (column ? 1 : columns), number);
    }
  }
};

/// Whether the first axis of an array is tokens, batches, or positions in a batch.
bool is_along_text(const Input& input) {
  return !input.shape.empty() && is_among(input.shape.front(), {"n", "n_batches", "batch"});
}

/// Finds the array that an edit names, filled in first if the data lack it, and checks the values. Data may
/// hold the decay alpha as its logarithm g.
Edited find_edited(EditedHead& head, const std::string& name, std::initializer_list<double> written) {
  const Input* input = row_called(head.inputs, name == "g" ? "alpha" : name, &Input::name);
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
    refuse("\"array\" is \"{}\"; expected one of: {}", shown(name), fmt::join(known, ", "));
  }
  const Range range = name == "g" ? Range::log_decay : input->range;
  for (const double value : written) {
    if (!bounds(range).contain(value))
      refuse("\"value\" is {}; expected a number in {}, as {} has it", value, describe(range), name);
  }
  Array& array = found->second;
  if (array.is_f32()) array = mapped<double>(array, [](double x) { return x; });
  const Index rows = array.shape.empty() ? 1 : array.shape.front();
  return {.values = &std::get<std::vector<double>>(array.own_values()),
          .in_logs = in_logs && name != "g",
          .rows = rows,
          .columns = array.size() / std::max<Index>(rows, 1)};
}

Index require_index(const char* field, double index, const std::string& array, Index count) {
  if (index < static_cast<double>(count)) return static_cast<Index>(index);
  refuse("\"{}\" is {}; expected one of {}, 0 to {}", field, index, array, count - 1);
}

void set_cell(EditedHead& head, const Edit& edit) {
  const double value = edit.numbers[2];
  const Edited edited = find_edited(head, edit.array, {value});
  if (!edited.values) return;
  const Index row = require_index("row", edit.numbers[0], edit.array, edited.rows);
  edited.fill(row, row, edited.held(value),
              require_index("column", edit.numbers[1], edit.array, edited.columns));
}

void require_gate(const Edit& edit, bool is_gate) {
  const bool is_text = is_among(edit.array, {"q", "k", "v"});
  if (is_gate && !is_text) return;
  refuse("\"array\" is \"{}\"; expected a gate, one row per token, such as alpha or beta", shown(edit.array));
}

/// Sets a gate between two tokens, an edit's first two numbers, to one value or to a linear ramp up to `end`,
/// in every channel or in one.
void change_gate(EditedHead& head, const Edit& edit, double value, std::optional<double> end = {},
                 std::optional<double> channel = {}) {
  const Index tokens = head.arrays.at("q").shape.front();
  require_gate(edit, true);
  const Edited gate = find_edited(head, edit.array, {value, end.value_or(value)});
  require_gate(edit, !gate.values || gate.rows == tokens);
  if (!gate.values) return;
  const Index from = require_index("from", edit.numbers[0], "the tokens", tokens);
  const Index to = require_index("to", edit.numbers[1], "the tokens", tokens);
  if (from > to) refuse("\"to\" is {}; expected a token from \"from\", {}, on", to, from);
  std::optional<Index> column;
  if (channel)  // a rule with fewer channels has one for all of them
    column = gate.columns == 1 ? 0 : require_index("channel", *channel, edit.array, gate.columns);
  const double first = gate.held(value);
  gate.fill(from, to, first, column);
  if (!end || from == to) return;
  const double rise = gate.held(*end) - first;
  for (Index t = from + 1; t < to; ++t) {
    const double part = static_cast<double>(t - from) / static_cast<double>(to - from);
    gate.fill(t, t, first + rise * part, column);
  }
  gate.fill(to, to, gate.held(*end), column);
}

void set_everywhere(EditedHead& head, const Edit& edit) {
  require_gate(edit, true);
  const Edited edited = find_edited(head, edit.array, {edit.numbers[0]});
  if (edited.values) std::ranges::fill(*edited.values, edited.held(edit.numbers[0]));
}

/// Refuses an edit whose numbers are not those of its kind.
void require_numbers(const Edit& edit, const EditKind& kind) {
  if (edit.numbers.size() != kind.fields.size())
    refuse("it has {} numbers; expected {}", edit.numbers.size(), kind.fields.size());
  for (std::size_t i = 0; i < kind.fields.size(); ++i) {
    const EditField& field = kind.fields[i];
    const double number = edit.numbers[i];
    const std::string name = kind.neutral ? "it" : fmt::format("\"{}\"", field.name);
    const bool is_good = number >= field.minimum && number <= field.maximum;  // not NaN
    if (is_good && (!field.is_index || number == std::floor(number))) continue;
    if (field.is_index) refuse("{} is {}; expected a whole number from 0", name, number);
    refuse("{} is {}; expected a number from {:g} to {:g}", name, number, field.minimum, field.maximum);
  }
}

double neutral(std::string_view kind) {
  const EditKind* found = row_called(edit_kinds(), kind, &EditKind::id);
  if (found && found->neutral) return *found->neutral;
  throw Error(fmt::format("there is no slider \"{}\" among the edits", kind));
}

constexpr double beyond_stable = 1.25;  // times the largest stable rate for the key of largest norm

bool is_gate(const Input& input) {
  const bool is_bounded = is_among(input.range, {Range::unit, Range::positive_unit, Range::up_to_two,
                                                 Range::non_negative, Range::decay, Range::strength});
  return is_bounded && is_along_text(input) && !is_among(input.name, {"alpha", "beta"});
}

double longest_square(const Sequence& sequence) {
  double longest = 0;
  for (Index t = 0; t < sequence.tokens && sequence.has("k"); ++t)
    longest = std::max(longest, sequence.at("k").rows<double>(t, 1).squaredNorm());
  return longest;
}

/// The end of a slider.
double largest_of(Range range, const Sequence& sequence) {
  if (range == Range::up_to_two) return 2;
  if (!is_among(range, {Range::non_negative, Range::strength})) return 1;
  return beyond_stable * 2 / std::max(longest_square(sequence), 1e-12);
}

}  // namespace

std::span<const EditKind> edit_kinds() {
  static const EditKind table[] = {
      {.id = "scale_decay",
       .words = "every decay to this power",  // 2 forgets twice as fast, 0 not at all
       .fields = {{"power", 0, most}},
       .neutral = 1,
       .apply = [](EditedHead& head, const Edit& edit) { scale_decay(head, edit.numbers[0]); }},
      {.id = "scale_strength",
       .words = "every write strength beta times this",
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
           "the write strength at every token where the data have none",  // 0: the largest that is stable
       .fields = {{"value", 0, most}},
       .neutral = 0},
      {.id = "set_cell",
       .words = "one entry of an array",
       .fields = {{"row", 0, last, true}, {"column", 0, last, true}, {"value", -any, any}},
       .has_array = true,
       .apply = set_cell},
      {.id = "paint_gate",
       .words = "a gate from one token to another, in every channel",
       .fields = {{"from", 0, last, true}, {"to", 0, last, true}, {"value", -any, any}},
       .has_array = true,
       .apply = [](EditedHead& head, const Edit& edit) { change_gate(head, edit, edit.numbers[2]); }},
      {.id = "paint_channel",
       .words = "one channel of a gate from one token to another",
       .fields =
           {{"from", 0, last, true}, {"to", 0, last, true}, {"channel", 0, last, true}, {"value", -any, any}},
       .has_array = true,
       .apply = [](EditedHead& head,
                   const Edit& edit) { change_gate(head, edit, edit.numbers[3], {}, edit.numbers[2]); }},
      {.id = "ramp_gate",
       .words = "a gate from one token to another, as a linear ramp between two values",
       .fields = {{"from", 0, last, true}, {"to", 0, last, true}, {"first", -any, any}, {"last", -any, any}},
       .has_array = true,
       .apply = [](EditedHead& head,
                   const Edit& edit) { change_gate(head, edit, edit.numbers[2], edit.numbers[3]); }},
      {.id = "set_everywhere",
       .words = "every entry of a gate",
       .fields = {{"value", -any, any}},
       .has_array = true,
       .apply = set_everywhere},
  };
  return table;
}

void apply(const Edits& edits, EditedHead& head) {
  if (edits.size() > most_edits) refuse("there are {} edits; expected at most {}", edits.size(), most_edits);
  std::set<std::string_view> sliders;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    const EditKind* const slider = row_called(edit_kinds(), edit.kind, &EditKind::id);
    const std::string name =
        slider && slider->neutral ? slider->words : fmt::format("edit {} ({})", i + 1, shown(edit.kind));
    naming_input(name, [&] {
      const EditKind& kind =
          find_row(edit_kinds(), edit.kind, &EditKind::id, "there is no such edit; expected one of");
      require_numbers(edit, kind);
      if (kind.neutral && !sliders.insert(kind.id).second)
        refuse("it is given twice; expected one edit of this kind");
      if (kind.apply) kind.apply(head, edit);
    });
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

std::vector<PlainGate> plain_gates(const Foundation& foundation) {
  std::vector<PlainGate> gates;
  const Sequence& sequence = foundation.sequence;
  for (const Input& input : inputs_of(*foundation.variant, sequence.settings)) {
    if (!is_gate(input)) continue;
    PlainGate gate{.array = input.name,
                   .meaning = input.meaning,
                   .value = input.absent == "1" ? 1.0 : 0.0,
                   .makes_decay = input.keeps.has_value(),
                   .maximum = largest_of(input.range, sequence)};
    if (sequence.has(input.name)) {
      const Matrix<double> values = sequence.at(input.name).all<double>();
      if (values.size() == 0) continue;
      gate.value = values.mean();
      gate.is_constant = (values.array() == values(0, 0)).all();
      if (gate.is_constant) gate.value = values(0, 0);
    }
    if (is_among(input.range, {Range::non_negative, Range::strength}))
      gate.maximum = std::max(gate.maximum, gate.value);
    gates.push_back(std::move(gate));
  }
  return gates;
}

}  // namespace palimpsest
