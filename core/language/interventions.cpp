#include "core/language/interventions.h"

#include "core/base/refuse.h"
#include "core/base/text.h"
#include "core/io/array_file.h"
#include "core/proof/faults.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// All of `text` parsed as a number from `least` to `most`.
double number_in(std::string_view text, double least, double most) {
  const auto value = parse_all<double>(text);
  if (!value || !(*value >= least && *value <= most))
    refuse("\"{}\" is not a number from {} to {}", shown(text), plain_number(least, 6),
           plain_number(most, 6));
  return *value;
}

Index tokens_of(const HeadInputs& inputs) { return inputs.arrays.find("q")->second.shape.front(); }

/// Multiplies an array, or its row of one token.
void scale(HeadInputs& inputs, const char* name, double factor, std::optional<Index> token = {}) {
  Array* const array = value_at(inputs.arrays, name);
  if (!array) refuse("{} has no {}", find_variant(inputs.rule).label, name);
  const Index columns = array->rank() < 2 ? 1 : array->shape[1];
  std::visit(
      [&]<class Value>(std::vector<Value>& values) {
        const auto own = token ? std::span(values).subspan(static_cast<std::size_t>(*token * columns),
                                                           static_cast<std::size_t>(columns))
                               : std::span(values);
        for (Value& value : own) value = static_cast<Value>(value * factor);
      },
      array->own_values());
}

using RuleTable = std::map<std::string_view, const char*>;

/// For a rule that erases the one that only adds, with the same decay and strength.
const RuleTable adders = {{"deltanet", "linear"}, {"gated_deltanet", "scalar_decay"}, {"kda", "gla"}};

void only_add(HeadInputs& inputs, const ChangedHead&) {
  const auto* const adder = value_at(adders, inputs.rule);
  if (!adder) refuse("{} erases nothing: it only adds already", find_variant(inputs.rule).label);
  inputs.rule = with_strength(*adder)->id;
}

void scale_strength(HeadInputs& inputs, const ChangedHead& head) {
  scale(inputs, "beta", number_in(head.value, 0, 100));
}

/// For a rule without decay, or with a fixed one, the same rule with a decay for every token.
const RuleTable gated = {
    {"deltanet", "gated_deltanet"}, {"linear", "scalar_decay"}, {"retnet", "scalar_decay"}};

/// Puts the same rule with a decay for every token in the place of a rule without; whether there is one.
bool take_decays(HeadInputs& inputs) {
  const std::string plain = without_strength(inputs.rule);
  const auto* const other = value_at(gated, plain);
  if (!other) return false;
  const Variant* const with_beta = plain == inputs.rule ? nullptr : with_strength(*other);
  inputs.rule = with_beta ? with_beta->id : *other;
  return true;
}

/// The same decay for every token.
void set_decays(HeadInputs& inputs, double alpha) {
  inputs.settings.parameters.erase("gamma");
  const Index tokens = tokens_of(inputs);
  inputs.arrays["alpha"] = Array({tokens}, std::vector<double>(static_cast<std::size_t>(tokens), alpha));
}

void fix_decay(HeadInputs& inputs, const ChangedHead& head) {
  const double alpha = number_in(head.value, 0, 1);
  take_decays(inputs);
  if (inputs.rule != "gated_deltanet" && without_strength(inputs.rule) != "scalar_decay")
    refuse("{} does not have one decay for all channels", find_variant(inputs.rule).label);
  inputs.arrays.erase("g");
  set_decays(inputs, alpha);
}

void scale_decay(HeadInputs& inputs, const ChangedHead& head) {
  scale(inputs, "g", number_in(head.value, 0, 1000));
}

void change_rule(HeadInputs& inputs, const ChangedHead& head) {
  inputs.rule = find_variant(head.value).id;
  if (inputs.rule == "retnet") inputs.settings.parameters["gamma"] = retnet_gamma(head.head);
}

void take_out(HeadInputs& inputs, const ChangedHead& head) {
  const Index token = parse_count(head.value, "the token");
  require_token(token, tokens_of(inputs));
  for (const char* const name : {"k", "v"}) scale(inputs, name, 0, token);
}

void clear_memory(HeadInputs& inputs, const ChangedHead& head) {
  const Index token = parse_count(head.value, "the token");
  require_token(token, tokens_of(inputs));
  if (take_decays(inputs)) {
    const double* const kept = value_at(inputs.settings.parameters, "gamma");
    set_decays(inputs, kept ? *kept : 1);
  }
  if (const Array* const g = value_at(inputs.arrays, "g")) {
    inputs.arrays["alpha"] = mapped<double>(*g, [](double log) { return std::exp(log); });
    inputs.arrays.erase("g");
  }
  scale(inputs, "alpha", 0, token);
}

/// The memory before the first token, [K, V], the array initial_state of a file.
void begin_with(HeadInputs& inputs, const ChangedHead& head) {
  constexpr const char* name = "initial_state";
  const std::filesystem::path path = std::string(head.value);
  Npz file = read_array_file(path, {}, [](std::string_view wanted) { return wanted == name; });
  require_readable(file.unreadable, name);
  require_arrays(path, {name}, file.arrays, file.unread);
  inputs.arrays[name] = std::move(file.arrays.find(name)->second);
}

void put_fault_in(HeadInputs& inputs, const ChangedHead& head) { inputs.fault = find_fault(head.value).id; }

void silence(HeadInputs& inputs, const ChangedHead&) { scale(inputs, "q", 0); }

constexpr InterventionKind kinds[] = {
    {"only-add", "nothing is erased before a write", "only adds", "", only_add},
    {"beta", "every strength times a number", "strength ×", "a number from 0 to 100", scale_strength},
    {"decay", "every decay is this number", "decay", "a number from 0 to 1", fix_decay},
    {"fade", "every log decay times a number", "log decay ×", "a number from 0 to 1000", scale_decay},
    {"rule", "another rule in the place of the trained one", "runs", "the id of a variant", change_rule},
    {"take-out", "what a token stored is removed", "without t =", "the index of a token, from 0", take_out},
    {"clear", "the memory is emptied before a token", "empty before t =", "the index of a token, from 0",
     clear_memory},
    {"start", "the memory begins with a state", "begins with", "a file with initial_state [K, V]",
     begin_with},
    {"fault", "a fault in the equations of the form", "fault", "the id of a fault", put_fault_in},
    {"silent", "the output is 0", "silent", "", silence},
};

}  // namespace

std::span<const InterventionKind> intervention_kinds() { return kinds; }

const InterventionKind& kind_of(const Intervention& intervention) {
  return find_row(kinds, intervention.kind, &InterventionKind::id,
                  fmt::format("there is no intervention \"{}\"; known", shown(intervention.kind)));
}

Intervention parse_intervention(std::string_view text) {
  const bool has_value = text.find('=') != std::string_view::npos;
  std::string_view value = text;
  std::string_view place = take_until(value, '=');
  const bool has_place = place.find(':') != std::string_view::npos;
  Intervention found{.kind = std::string(take_until(place, ':')), .value = std::string(value)};
  const InterventionKind& row = kind_of(found);
  const std::string_view wanted = row.value;
  if (has_value && wanted.empty()) refuse("\"{}\": {} takes no value", shown(text), row.id);
  if (!has_value && !wanted.empty()) refuse("\"{}\": {} needs =VALUE, {}", shown(text), row.id, wanted);
  if (has_place) {
    const bool has_head = place.find('.') != std::string_view::npos;
    found.layer = parse_count(take_until(place, '.'), "the layer");
    if (has_head) found.head = parse_count(place, "the head");
  }
  return found;
}

bool erases(std::string_view rule) { return adders.contains(rule); }

std::vector<std::string> fitting_rules(const HeadInputs& inputs, Index head) {
  std::vector<std::string> fitting;
  for (const Variant& variant : variants()) {
    if (variant.id == inputs.rule) continue;
    HeadInputs changed = inputs;
    change_rule(changed, {variant.id, head});
    try {
      palimpsest::bind(variant, std::make_shared<const Arrays>(std::move(changed.arrays)), changed.settings);
      fitting.push_back(variant.id);
    } catch (const InputError&) {  // it lacks something, or takes it in another shape
    }
  }
  return fitting;
}

std::string to_string(const Intervention& intervention) {
  std::string text = intervention.kind;
  if (intervention.layer) text += fmt::format(":{}", *intervention.layer);
  if (intervention.head) text += fmt::format(".{}", *intervention.head);
  if (*kind_of(intervention).value) text += "=" + intervention.value;
  return text;
}

void require_place(const std::optional<Index>& layer, const std::optional<Index>& head, Index layers,
                   Index heads) {
  const auto require = [](const std::optional<Index>& given, Index count, const char* what) {
    if (given && *given >= count)
      refuse("there is no {} {}; the model has {}, counted from 0", what, *given, count);
  };
  require(layer, layers, "layer");
  require(head, heads, "head");
}

void require_place(const Intervention& intervention, Index layers, Index heads) {
  naming_input(intervention.kind,
               [&] { require_place(intervention.layer, intervention.head, layers, heads); });
}

RunHead with(std::vector<Intervention> interventions, RunHead run) {
  return [all = std::move(interventions), run = std::move(run)](Index layer, Index head,
                                                                const HeadInputs& inputs) {
    HeadInputs changed = inputs;
    for (const Intervention& each : all) {
      if (each.layer.value_or(layer) != layer || each.head.value_or(head) != head) continue;
      naming_input(fmt::format("{} in layer {}", each.kind, layer), [&] {
        kind_of(each).change(changed, {each.value, head});
      });
    }
    return run(layer, head, changed);
  };
}

}  // namespace palimpsest
