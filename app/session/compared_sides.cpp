#include "app/session/compared_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/variants/rail.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// The last of them where there are fewer.
std::size_t within(std::size_t index, std::size_t count) { return std::min(index, count - 1); }

/// The sides and their columns as fields of the state, so that one of them can be changed.
SessionState with_all(SessionState state) {
  const std::vector<std::size_t> order = column_order(state);
  state.compare.columns.clear();
  for (const std::size_t index : order) state.compare.columns += static_cast<char>('0' + index);
  state.sides = compared_sides(state);
  return state;
}

/// What an option or a parameter is where nobody gave it.
Settings in_full(const Side& side) try {
  return resolve(find_variant(side.variant), side.settings);
} catch (const std::exception&) {
  return side.settings;
}

}  // namespace

std::vector<Side> compared_sides(const SessionState& state) {
  std::vector<Side> sides = state.sides;
  if (sides.size() > 1) return sides;
  for (const char* usual : {"linear", "retnet", "deltanet", "gated_deltanet"}) {
    if (sides.size() == most_sides || sides.front().variant == usual) continue;
    Side side = sides.front();
    side.variant = usual;
    side.settings = {};
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
  return choice;
}

std::vector<std::size_t> side_order(const std::vector<Side>& sides) {
  std::vector<std::size_t> order(sides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t index) { return place_on_rail(sides[index]).value_or(1e9); };
  std::ranges::stable_sort(order, {}, place);
  return order;
}

std::vector<std::size_t> column_order(const SessionState& state) {
  const std::vector<Side> sides = compared_sides(state);
  const std::string& columns = state.compare.columns;
  std::vector<std::size_t> order;
  for (const char column : columns) order.push_back(static_cast<std::size_t>(column - '0'));
  std::vector<std::size_t> all(sides.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return std::ranges::is_permutation(order, all) ? order : side_order(sides);
}

bool is_same_as(const Side& side, const Side& other) {
  const bool has_same_chunks = !has_chunks(side.form) || side.chunk_size == other.chunk_size;
  return side.variant == other.variant && side.form == other.form && side.device == other.device &&
         side.precision == other.precision && has_same_chunks && side.sliders == other.sliders &&
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
  if (sides.size() <= 2) return "two sides are the least to compare";
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
    return std::ranges::find(variant.options, option.first, &Option::name) == variant.options.end();
  });
  const std::vector<Parameter> parameters = all_parameters(variant);
  std::erase_if(side.settings.parameters, [&](const auto& parameter) {
    return std::ranges::find(parameters, parameter.first, &Parameter::name) == parameters.end();
  });
  if (rule.position) side.settings.parameters[rail_parameter] = *rule.position;
  return side;
}

std::optional<double> place_on_rail(const Side& side) { return rail_place(side.variant, side.settings); }

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
  if (side.device != than.device) words.push_back(side.device);
  if (side.precision != than.precision) words.push_back(name(side.precision));
  for (const auto& [option, value] : side.settings.options) {
    const auto other = than.settings.options.find(option);
    if (other == than.settings.options.end() || other->second != value)
      words.push_back(fmt::format("{}={}", option, value));
  }
  for (const auto& [parameter, value] : side.settings.parameters) {
    const auto other = than.settings.parameters.find(parameter);
    if (parameter != rail_parameter && (other == than.settings.parameters.end() || other->second != value))
      words.push_back(fmt::format("{}={:.4g}", parameter, value));
  }
  for (const auto& [kind, value] : side.sliders) {
    if (kind == "scale_decay")
      words.push_back(fmt::format("α to the power of {:.3g}", value));
    else if (kind == "scale_strength")
      words.push_back(fmt::format("β × {:.3g}", value));
    else if (kind == "scale_keys")
      words.push_back(fmt::format("k × {:.3g}", value));
    else
      words.push_back(fmt::format("{}={:.3g}", kind, value));
  }
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " · ") + word;
  return all;
}

}  // namespace palimpsest
