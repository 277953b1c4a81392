#include "app/views/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/scene/draw.h"
#include "app/session/compared_sides.h"
#include "app/views/asked_choice.h"
#include "app/views/line_looks.h"
#include "app/views/underlined_words.h"
#include "app/widgets/controls.h"
#include "core/variants/rail.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr float rail_height = 96;  // design pixels

/// The keys of the sides, kept while nothing that they depend on changes.
struct SideKeys {
  std::shared_ptr<const DataSet> data;
  std::vector<Choice> choices;
  std::vector<ComputedSide> keys;
};

const ComputedSide& key_of(const std::shared_ptr<const DataSet>& data, const Choice& choice, std::size_t slot,
                           Devices devices) {
  auto& known = context_local<SideKeys>();
  if (known.data != data) known = {data, {}, {}};
  known.choices.resize(most_sides);
  known.keys.resize(most_sides);
  Choice& last = known.choices[slot];
  const bool is_same = known.keys[slot].choice && static_cast<const Side&>(last) == choice &&
                       last.head == choice.head && last.edits == choice.edits;
  if (is_same) return known.keys[slot];
  last = choice;
  return known.keys[slot] = computed_side(data, choice, slot, devices);
}

/// The side that is stepped through is computed by the session, the others beside it.
void ask_computed(Application& application, ComparedSide& side) {
  Session& session = application.session;
  if (side.index == 0) {
    side.computed = session.computed();
    side.is_old = session.computing() && !(static_cast<const Side&>(side.computed->choice) == side.side);
    return;
  }
  const Choice choice = choice_of(session.state(), side.side);
  const auto answer =
      session.questions().ask(key_of(session.computed()->data, choice, side.index, session.devices()));
  side.computed = answer.value;
  side.is_old = answer.stale;
  side.reason = answer.reason;
}

void ask_moment(Application& application, ComparedSide& side, const std::shared_ptr<const Computation>& of,
                Index token) {
  Session& session = application.session;
  SideAtWord key;
  key.of = side.computed;
  key.reference = of;
  key.asking = session.computed();
  key.token = token;
  key.words = asked_choice(session).words;
  key.slot = side.index;
  const auto answer = session.questions().ask(key);
  side.moment = answer.value;
  side.is_old = side.is_old || answer.stale;
  if (!answer.value && !answer.under_way) side.reason = answer.reason;
  RecallOfTokens recall;
  recall.of = side.computed;
  const auto errors = session.questions().ask(recall);
  // An old line, or one of an old side, is of other words where there are more of them or less.
  const auto tokens = static_cast<std::size_t>(session.computed()->sequence.tokens);
  if (errors.value && (errors.value->tokens.empty() || errors.value->tokens.size() == tokens))
    side.recall = errors.value;
}

}  // namespace

ImU32 side_colour(std::size_t index) { return compared_colour(index); }

std::string side_name(const Side& side) {
  const std::optional<double> place = place_on_rail(side);
  if (place && *place == std::floor(*place)) return rail()[static_cast<std::size_t>(*place)].name;
  return find_variant(side.variant).label;
}

ComparedSides compared(Application& application) {
  const SessionState& state = application.session.state();
  const std::vector<Side> sides = compared_sides(state);
  const std::size_t reference = reference_side(state);
  const std::size_t handle = handle_side(state);
  ComparedSides all;
  for (const std::size_t index : column_order(state)) {
    ComparedSide& side =
        all.sides.emplace_back(ComparedSide{.index = index,
                                            .side = sides[index],
                                            .same_as = same_further_left(state, all.sides.size()),
                                            .is_reference = index == reference,
                                            .has_handle = index == handle});
    ask_computed(application, side);
  }
  const auto of = std::ranges::find(all.sides, true, &ComparedSide::is_reference)->computed;
  const Index token = application.session.token();
  double logarithms = 0;
  int counted = 0;
  for (ComparedSide& side : all.sides) {
    const bool is_there =
        side.computed && of && token < side.computed->sequence.tokens && token < of->sequence.tokens;
    if (is_there) ask_moment(application, side, of, token);
    if (!side.moment || !(side.moment->range > 0)) continue;
    logarithms += std::log(side.moment->range);
    ++counted;
  }
  // Between a memory that only adds up and one that corrects, so that both can be seen.
  if (counted > 0) all.range = std::exp(logarithms / counted);
  for (const ComparedSide& side : all.sides) {
    if (!side.moment || side.moment->table.words.empty()) continue;
    std::vector<Index> asked;
    for (const AskedWord& word : side.moment->table.words) asked.push_back(word.token);
    std::ranges::sort(asked);
    name_words(std::move(asked));
    break;
  }
  return all;
}

namespace {

/// The rail above the sides.
scene::Node side_by_side(Application& application, const ComparedSides& all) {
  scene::Sides rail;
  rail.columns.push_back(scene::column({rail_node(application, all)}));
  return scene::column({scene::Node{std::move(rail)}.named("rail").fixed(rail_height),
                        side_columns(application, all).named("sides").filling()});
}

void draw_compare(Application& application) {
  const auto computed = application.session.computed();
  if (computed && computed->sequence.tokens > 0) {
    const ComparedSides all = compared(application);
    scene::show(side_by_side(application, all));
    return;
  }
  if (style::begin_panel("##side by side")) {
    scene::show(
        scene::paragraph(computed ? "This sequence has no tokens: there is nothing to compare."
                                  : "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures "
                                    "and presets."));
  }
  style::end_panel();
}

}  // namespace

std::span<const Panel> compare_panels() {
  static constexpr Panel list[] = {
      {"Side by side", PanelPlace::center, draw_compare},
      {"What each side misses", PanelPlace::bottom, draw_compare_floor},
  };
  return list;
}

}  // namespace palimpsest
