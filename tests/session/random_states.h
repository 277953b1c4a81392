#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "app/session/json_fields.h"
#include "app/session/session.h"
#include "core/proof/faults.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

namespace palimpsest::testing {

/// Whole numbers below a bound, the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  Index below(Index bound) { return static_cast<Index>(bits_() % static_cast<std::uint64_t>(bound)); }
  double share() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  template <class Range>
  const auto& one_of(const Range& range) {
    return *(std::begin(range) + below(std::ssize(range)));
  }

 private:
  std::mt19937_64 bits_;
};

inline constexpr Index least_tokens = 12;  // of the data below

/// Data of two heads that nothing can open again.
inline DataSet in_memory() {
  return data_of(with_arrays(three({least_tokens, 2, 3}, {least_tokens, 2, 3}, {least_tokens, 2, 2}),
                             {{"beta", numbers({least_tokens, 2})}}));
}

inline Edit random_edit(const EditKind& kind, Dice& dice) {
  constexpr const char* gates[] = {"alpha", "beta"};
  Edit edit = {.kind = kind.id};
  if (kind.has_array) edit.array = dice.one_of(gates);
  for (const EditField& field : kind.fields) {
    const bool is_second = std::string_view(field.name) == "to";  // not before "from"
    const bool is_column = std::string_view(field.name) == "column";
    const double index = is_column ? 0 : static_cast<double>(dice.below(5) + (is_second ? 5 : 0));
    edit.numbers.push_back(field.is_index ? index : dice.share());
  }
  return edit;
}

using StateChange = std::function<void(SessionState&, Dice&)>;

/// One field of a state, and how a person may change it: to what small data can be computed with.
struct FieldChange {
  std::string name;
  StateChange change;
};

/// Changes of the fields of which their types do not say enough, by their paths.
inline std::map<std::string, StateChange> special_changes() {
  using State = SessionState;
  return {
      {"data",
       [](State& state, Dice& dice) {
         const std::string ids[] = {"preset:copy?T=12&K=3&V=2&seed=1", "preset:overwrite?T=13&K=2&V=3&seed=2",
                                    "made in a test"};
         state.data = dice.one_of(ids);
         state.head = 0;
         state.edits.clear();
       }},
      {"edits",
       [](State& state, Dice& dice) {
         const EditKind& kind = dice.one_of(edit_kinds());
         const Edit edit = random_edit(kind, dice);
         if (kind.neutral)
           set_slider(state.edits, kind.id, edit.numbers.front());
         else if (state.edits.size() < 5)
           state.edits.push_back(edit);
         else
           state.edits.erase(state.edits.begin() + dice.below(5));
       }},
      {"rule",
       [](State& state, Dice& dice) {
         state.rule = fmt::format("S = {} S + k v^T\no = S^T q # ∂", dice.below(3));
       }},
      {"head", [](State& state, Dice&) { state.head = state.data == "made in a test" ? 1 - state.head : 0; }},
      {"sides",
       [](State& state, Dice& dice) {
         if (state.sides.size() < most_sides)
           state.sides.push_back(state.sides.front());
         else
           state.sides.resize(static_cast<std::size_t>(1 + dice.below(3)));
       }},
      {"sides.variant",
       [](State& state, Dice& dice) { state.sides[0].variant = dice.one_of(variants()).id; }},
      {"sides.variant of the last",
       [](State& state, Dice& dice) {
         if (state.sides.size() > 1) state.sides.back().variant = dice.one_of(variants()).id;
       }},
      {"sides.form of the last",
       [](State& state, Dice& dice) { state.sides.back().form = dice.one_of(all_forms); }},
      {"sides.device",
       [](State& state, Dice& dice) { state.sides.back().device = dice.below(2) == 0 ? "cpu" : "cuda"; }},
      {"sides.options",
       [](State& state, Dice& dice) {
         const std::vector<Option>& options = find_variant(state.sides[0].variant).options;
         if (options.empty()) return;
         const Option& option = dice.one_of(options);
         if (!option.values.empty())
           state.sides[0].settings.options[option.name] = dice.one_of(option.values);
       }},
      {"sides.parameters",
       [](State& state, Dice& dice) { state.sides[0].settings.parameters["scale"] = 0.1 + dice.share(); }},
      {"sides.sliders",
       [](State& state, Dice& dice) {
         if (state.sides.size() > 1) state.sides.back().sliders["scale_strength"] = dice.share();
       }},
      {"place.operation",
       [](State& state, Dice& dice) { state.place.operation = dice.below(2) == 0 ? "write" : "output"; }},
      {"words",
       [](State& state, Dice& dice) {
         state.words.clear();
         for (Index token = 0; token < least_tokens; ++token) {
           if (dice.below(4) == 0) state.words.push_back(token);
         }
       }},
      {"repeated",
       [](State& state, Dice& dice) {
         state.repeated = {dice.below(least_tokens - 1)};
         if (dice.below(2) == 0) state.repeated.push_back(least_tokens - 1);
       }},
      {"workspace",
       [](State& state, Dice& dice) {
         state.workspace = dice.below(2) == 0 ? "step" : "a \"workspace\" · 2";
       }},
      {"learn.around", [](State& state, Dice& dice) { state.learn.around = dice.share(); }},
      {"learn.tilt", [](State& state, Dice& dice) { state.learn.tilt = -dice.share(); }},
      {"compare.columns",
       [](State& state, Dice& dice) { state.compare.columns = dice.below(2) == 0 ? "10" : "2013"; }},
      {"verify.fault",
       [](State& state, Dice& dice) {
         // That can be carried out whatever the sizes are.
         const std::string ids[] = {"", "solve-sign", "write-sign", "strength-forgotten", "edge-lost"};
         state.verify.fault.id = dice.one_of(ids);
       }},
      {"verify.fragile",
       [](State& state, Dice& dice) {
         state.verify.fragile = dice.below(3) == 0 ? std::string() : dice.one_of(fragile_forms()).way.id;
       }},
      {"measure.variants",
       [](State& state, Dice& dice) {
         state.measure.wish.variants = {dice.one_of(variants()).id};
         if (dice.below(2) == 0) state.measure.wish.variants.clear();
       }},
      {"measure.forms",
       [](State& state, Dice& dice) { state.measure.wish.forms = {dice.one_of(all_forms)}; }},
      {"measure.devices",
       [](State& state, Dice& dice) { state.measure.wish.devices = {dice.below(2) == 0 ? "cpu" : "cuda"}; }},
      {"measure.precisions",
       [](State& state, Dice& dice) { state.measure.wish.precisions = {dice.one_of(all_precisions)}; }},
      {"measure.lengths",
       [](State& state, Dice& dice) {
         state.measure.wish.lengths = {1 + dice.below(9), 64};
       }},
      {"measure.reports",
       [](State& state, Dice& dice) {
         state.measure.reports.clear();
         if (dice.below(2) == 0) state.measure.reports = {"/no \"such\"/report.json"};
       }},
      {"measure.away",
       [](State& state, Dice& dice) {
         state.measure.away.clear();
         if (dice.below(2) == 0) state.measure.away = {"h200.json"};
       }},
      {"measure.leading",
       [](State& state, Dice& dice) { state.measure.leading = dice.below(2) == 0 ? "" : "race"; }},
  };
}

/// Adds changes of the fields of a part of the state that their types say.
template <class Struct, class Reach>
void add_changes(std::map<std::string, StateChange>& all, const std::string& path, Reach reach) {
  visit_fields<Struct>([&]<class Value>(const Field<Struct, Value>& field) {
    const auto value = [reach, member = field.member](SessionState& state) -> Value& {
      return reach(state).*member;
    };
    const std::string name = path + field.name;
    if constexpr (HasFields<Value>)
      return add_changes<Value>(all, *field.name == '\0' ? path : name + ".", value);
    if (all.contains(name)) return;
    if constexpr (std::same_as<Value, bool>) {
      all[name] = [value](SessionState& state, Dice&) { value(state) = !value(state); };
    } else if constexpr (Enumeration<Value>) {
      all[name] = [value](SessionState& state, Dice& dice) {
        value(state) = dice.one_of(all_values(std::type_identity<Value>{}));
      };
    } else if constexpr (std::same_as<Value, double>) {
      all[name] = [value, most = field.traits.most](SessionState& state, Dice& dice) {
        value(state) = most * dice.share();
      };
    } else if constexpr (std::integral<Value>) {
      all[name] = [value](SessionState& state, Dice& dice) {
        value(state) = static_cast<Value>(1 + dice.below(3));
      };
    } else {
      throw std::logic_error(name + " has no row among the special changes");
    }
  });
}

/// Of every field that a state declares.
inline std::vector<FieldChange> field_changes() {
  std::map<std::string, StateChange> all = special_changes();
  add_changes<SessionState>(all, "", [](SessionState& state) -> SessionState& { return state; });
  add_changes<Side>(all, "sides.", [](SessionState& state) -> Side& { return state.sides.front(); });
  std::vector<FieldChange> changes;
  for (const auto& [name, change] : all) changes.push_back({name, change});
  return changes;
}

}  // namespace palimpsest::testing
