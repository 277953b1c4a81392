#pragma once

#include <fmt/format.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "core/proof/fragile_forms.h"
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
  return data_of({{"q", numbers({least_tokens, 2, 3})},
                  {"k", numbers({least_tokens, 2, 3})},
                  {"v", numbers({least_tokens, 2, 2})},
                  {"beta", numbers({least_tokens, 2})}});
}

/// Opens something and waits until it is there.
inline void open(Session& session, const std::string& id) {
  session.open_named(id);
  session.wait();
  REQUIRE(session.message().empty());
}
inline void open(Session& session, DataSet data) {
  session.open(std::move(data));
  session.wait();
  REQUIRE(session.message().empty());
}

/// One field of a state, and how a person may change it: to what small data can be computed with.
struct FieldChange {
  std::string name;
  void (*change)(SessionState&, Dice&);
};

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

inline std::vector<FieldChange> field_changes() {
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
      {"head", [](State& state, Dice&) { state.head = state.data == "made in a test" ? 1 - state.head : 0; }},
      {"sides",
       [](State& state, Dice& dice) {
         if (state.sides.size() < most_sides)
           state.sides.push_back(state.sides.front());
         else
           state.sides.resize(static_cast<std::size_t>(1 + dice.below(3)));
       }},
      {"variant", [](State& state, Dice& dice) { state.sides[0].variant = dice.one_of(variants()).id; }},
      {"variant of the last side",
       [](State& state, Dice& dice) {
         if (state.sides.size() > 1) state.sides.back().variant = dice.one_of(variants()).id;
       }},
      {"form", [](State& state, Dice& dice) { state.sides[0].form = dice.one_of(all_forms); }},
      {"form of the last side",
       [](State& state, Dice& dice) { state.sides.back().form = dice.one_of(all_forms); }},
      {"device",
       [](State& state, Dice& dice) { state.sides.back().device = dice.below(2) == 0 ? "cpu" : "cuda"; }},
      {"precision", [](State& state, Dice& dice) { state.sides[0].precision = dice.one_of(all_precisions); }},
      {"chunk_size",
       [](State& state, Dice& dice) { state.sides[0].chunk_size = 1 + dice.below(least_tokens); }},
      {"options",
       [](State& state, Dice& dice) {
         const std::vector<Option>& options = find_variant(state.sides[0].variant).options;
         if (options.empty()) return;
         const Option& option = dice.one_of(options);
         if (!option.values.empty())
           state.sides[0].settings.options[option.name] = dice.one_of(option.values);
       }},
      {"parameters",
       [](State& state, Dice& dice) { state.sides[0].settings.parameters["scale"] = 0.1 + dice.share(); }},
      {"sliders of the last side",
       [](State& state, Dice& dice) {
         if (state.sides.size() > 1) state.sides.back().sliders["scale_strength"] = dice.share();
       }},
      {"token", [](State& state, Dice& dice) { state.place.token = dice.below(least_tokens); }},
      {"operation",
       [](State& state, Dice& dice) { state.place.operation = dice.below(2) == 0 ? "write" : "output"; }},
      {"phase", [](State& state, Dice& dice) { state.place.phase = dice.below(2); }},
      {"tile", [](State& state, Dice& dice) { state.place.tile = dice.below(3); }},
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
      {"theme", [](State& state, Dice& dice) { state.view.theme = dice.one_of(all_themes); }},
      {"shared_scale", [](State& state, Dice&) { state.view.shared_scale = !state.view.shared_scale; }},
      {"state_value_by_key",
       [](State& state, Dice&) { state.view.state_value_by_key = !state.view.state_value_by_key; }},
      {"numbers", [](State& state, Dice&) { state.view.numbers = !state.view.numbers; }},
      {"growth", [](State& state, Dice&) { state.view.growth = !state.view.growth; }},
      {"shares", [](State& state, Dice&) { state.attention.shares = !state.attention.shares; }},
      {"diagonal", [](State& state, Dice&) { state.attention.diagonal = !state.attention.diagonal; }},
      {"mask", [](State& state, Dice&) { state.attention.mask = !state.attention.mask; }},
      {"gates", [](State& state, Dice&) { state.attention.gates = !state.attention.gates; }},
      {"chunks", [](State& state, Dice&) { state.attention.chunks = !state.attention.chunks; }},
      {"sharpness",
       [](State& state, Dice& dice) { state.attention.sharpness = most_sharpness * dice.share(); }},
      {"channel", [](State& state, Dice& dice) { state.attention.channel = dice.below(2); }},
      {"reference",
       [](State& state, Dice& dice) { state.compare.reference = static_cast<std::size_t>(dice.below(4)); }},
      {"handle",
       [](State& state, Dice& dice) { state.compare.handle = static_cast<std::size_t>(dice.below(4)); }},
      {"before", [](State& state, Dice&) { state.compare.before = !state.compare.before; }},
      {"columns",
       [](State& state, Dice& dice) { state.compare.columns = dice.below(2) == 0 ? "10" : "2013"; }},
      {"fault",
       [](State& state, Dice& dice) {
         // That can be carried out whatever the sizes are.
         const std::string ids[] = {"", "solve-sign", "write-sign", "strength-forgotten", "edge-lost"};
         state.prove.fault.id = dice.one_of(ids);
       }},
      {"form of the fault",
       [](State& state, Dice& dice) { state.prove.fault.form = dice.one_of(all_forms); }},
      {"lens", [](State& state, Dice& dice) { state.prove.lens = dice.one_of(all_proof_lenses); }},
      {"fragile",
       [](State& state, Dice& dice) {
         state.prove.fragile = dice.below(3) == 0 ? std::string() : dice.one_of(fragile_forms()).way.id;
       }},
      {"breaks", [](State& state, Dice&) { state.prove.breaks = !state.prove.breaks; }},
      {"raced variants",
       [](State& state, Dice& dice) {
         state.measure.wish.variants = {dice.one_of(variants()).id};
         if (dice.below(2) == 0) state.measure.wish.variants.clear();
       }},
      {"peer", [](State& state, Dice&) { state.measure.wish.peer = !state.measure.wish.peer; }},
      {"raced forms", [](State& state, Dice& dice) { state.measure.wish.forms = {dice.one_of(all_forms)}; }},
      {"raced devices",
       [](State& state, Dice& dice) { state.measure.wish.devices = {dice.below(2) == 0 ? "cpu" : "cuda"}; }},
      {"raced precisions",
       [](State& state, Dice& dice) { state.measure.wish.precisions = {dice.one_of(all_precisions)}; }},
      {"raced lengths",
       [](State& state, Dice& dice) {
         state.measure.wish.lengths = {1 + dice.below(9), 64};
       }},
      {"raced shape",
       [](State& state, Dice& dice) {
         state.measure.wish.shape = {1 + dice.below(3), 1 + dice.below(3), 1 + dice.below(9),
                                     1 + dice.below(9)};
       }},
      {"raced chunk", [](State& state, Dice& dice) { state.measure.wish.chunk_size = 1 + dice.below(99); }},
      {"reports",
       [](State& state, Dice& dice) {
         state.measure.reports.clear();
         if (dice.below(2) == 0) state.measure.reports = {"/no \"such\"/report.json"};
       }},
      {"away",
       [](State& state, Dice& dice) {
         state.measure.away.clear();
         if (dice.below(2) == 0) state.measure.away = {"h200.json"};
       }},
      {"leading", [](State& state, Dice& dice) { state.measure.leading = dice.below(2) == 0 ? "" : "race"; }},
      {"per_token", [](State& state, Dice&) { state.measure.per_token = !state.measure.per_token; }},
      {"whole", [](State& state, Dice&) { state.measure.whole = !state.measure.whole; }},
  };
}

/// Fails to compile when a field is added that field_changes() might not know.
inline void know_every_field(const SessionState& state) {
  [[maybe_unused]] const auto& [data, edits, head, sides, place, words, repeated, workspace, view, attention,
                                compare, prove, measure] = state;
  [[maybe_unused]] const auto& [variant, form, device, precision, chunk_size, settings, sliders] =
      sides.front();
  [[maybe_unused]] const auto& [options, parameters] = settings;
  [[maybe_unused]] const auto& [token, operation, phase, tile] = place;
  [[maybe_unused]] const auto& [theme, shared_scale, state_value_by_key, in_numbers, growth] = view;
  [[maybe_unused]] const auto& [shares, diagonal, mask, gates, chunks, sharpness, channel] = attention;
  [[maybe_unused]] const auto& [reference, handle, before, columns] = compare;
  [[maybe_unused]] const auto& [fault, lens, fragile, breaks] = prove;
  [[maybe_unused]] const auto& [fault_id, fault_form] = fault;
  [[maybe_unused]] const auto& [wish, reports, away, leading, per_token, whole] = measure;
  [[maybe_unused]] const auto& [raced, peer, forms, devices, precisions, lengths, shape, chunk] = wish;
  [[maybe_unused]] const auto& [batches, heads, dk, dv] = shape;
}

}  // namespace palimpsest::testing
