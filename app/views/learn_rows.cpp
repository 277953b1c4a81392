#include "app/views/answers.h"
#include "app/views/floor.h"
#include "app/views/learn.h"
#include "app/words/stories.h"

namespace palimpsest {

namespace {

using PieceKind = FloorPiece::Kind;

constexpr double reach_top = 2.4;      // the axis of beta |k|^2: a little beyond the limit 2
constexpr double longest_life = 3000;  // tokens
constexpr double shortest_life = 0.5;
constexpr double seen_change = 0.02;  // of a share: smaller damage is not visible

// In design pixels.
constexpr float channel_line = 20;  // the line with the choice of the channel
constexpr float low_lane = 15;
constexpr float row_above = 2;
constexpr float row_below = 4;

/// The largest of a row's numbers over tokens that share a column; infinite if one is not finite.
double largest(const Vector<double>& numbers, Index first, Index end) {
  double most = 0;
  for (Index t = first; t < end; ++t)
    most = std::max(most, std::isfinite(numbers[t]) ? numbers[t] : HUGE_VAL);
  return most;
}

double smallest(const Vector<double>& numbers, Index first, Index end) {
  return numbers.segment(first, end - first).minCoeff();
}

/// The symbol of a rule's decay as text and as LaTeX; "f" is the share that is forgotten.
std::pair<const char*, const char*> gate_letter(const Computation& computed, const Keeping& keeping) {
  if (keeping.forgets) return {"f", "f"};
  if (keeping.array == "mu") return {"μ", "\\mu"};
  const bool is_gamma = keeping.array == "gamma" || computed.sequence.settings.parameters.contains("gamma");
  return is_gamma ? std::pair("γ", "\\gamma") : std::pair("α", "\\alpha");
}

/// A row of bars with its symbol and text at the panel's edge.
FloorRow symbol_row(std::string name, float share, std::string symbol, ImU32 colour, std::string words) {
  return {.name = std::move(name),
          .share = share,
          .above = row_above,
          .below = row_below,
          .label = {.lines = {{.words = std::move(words), .colour = style::colours().dim}},
                    .symbol = std::move(symbol),
                    .symbol_colour = colour,
                    .left = true},
          .width = FloorWidth::narrow};
}

FloorScale half_life_scale() { return {.bottom = shortest_life, .top = longest_life, .logarithmic = true}; }

}  // namespace

LaneState lane_state(const Remembered& remembered, Index word, Index first, Index end, Index batch) {
  const Index token = entry(remembered.tokens, word);
  const auto share_after = [&](Index count) {
    const auto at = std::ranges::upper_bound(remembered.moments, count);
    const auto index = std::max<std::ptrdiff_t>(at - remembered.moments.begin() - 1, 0);
    return remembered.shares(word, static_cast<Index>(index));
  };
  LaneState state{.before = share_after(first), .now = share_after(end)};
  const bool waits = batch > 1 && first >= token && end <= (token / batch + 1) * batch &&
                     state.now == state.before && share_after(token) == state.now;
  state.is_there = end > token && !waits;
  state.is_own = state.is_there && first <= token;
  return state;
}

FloorMark lane_mark(const LaneState& state) {
  const style::Palette& c = style::colours();
  FloorMark mark;
  if (!state.is_there) {
    mark.add({.kind = PieceKind::hatch, .to = 1, .colour = style::mix(c.panel, c.edge, 0.8F)});
    return mark;
  }
  const auto [right, excess] = recalled_part(state.now);
  const auto share = static_cast<float>(right);
  const auto before = static_cast<float>(recalled_part(state.before).right);
  if (excess > 0) {
    const auto beyond = static_cast<float>(std::min(right + excess, 1.0));
    mark.add({.from = share, .to = beyond, .colour = style::mix(c.panel, c.alarm, 0.15F)});
    mark.add({.kind = PieceKind::hatch, .from = share, .to = beyond, .colour = c.alarm});
  }
  mark.bar(share, style::mix(c.panel, c.good, 0.5F));
  const bool has_changed = !state.is_own && std::abs(static_cast<double>(before - share)) > seen_change;
  if (has_changed)
    mark.add({.kind = PieceKind::inset,
              .from = std::min(share, before),
              .to = std::max(share, before),
              .colour = before > share ? c.alarm : c.gate});
  mark.add({.kind = PieceKind::edge, .to = share, .colour = c.good});
  if (state.is_own) mark.add({.kind = PieceKind::side, .to = 1, .colour = c.good});
  return mark;
}

FloorRow lane_row(const Computation& computed, const Remembered& remembered, Index word, Index batch,
                  bool is_present, float height) {
  const Index token = entry(remembered.tokens, word);
  const std::string label = word_at(computed, token);
  const style::Text text = is_present          ? style::Text::strong
                           : height < low_lane ? style::Text::caption
                                               : style::Text::body;
  return {.name = fmt::format("lane/{}", token),
          .height = height,
          .above = std::min(2.0F, height / 4),
          .below = 1,
          .label = {.lines = {{.words = label, .colour = style::colours().text, .text = text}},
                    .brief = {asked_part(label)},
                    .number = std::to_string(token + 1)},
          .mark = [&remembered, word, batch](
                      Index first,
                      Index end) { return lane_mark(lane_state(remembered, word, first, end, batch)); },
          .width = FloorWidth::whole,
          .tip =
              [&computed, &remembered, word, batch, token](Index present) {
                return recalled_words(
                    {.word = quoted_and_numbered(computed, token),
                     .present = quoted_and_numbered(computed, present),
                     .state = lane_state(remembered, word, present, present + 1, batch),
                     .is_alignment = remembered.is_alignment,
                     .beside = remembered.is_alignment ? 0 : std::ssize(remembered.tokens) - 1});
              }};
}

FloorScale strength_scale(const StepReach& strengths, const FloorColumns& columns) {
  if (strengths.has_edge) return {.top = reach_top};
  double top = 0;
  for (Index t = columns.begin(); t < columns.end(); ++t)
    if (std::isfinite(strengths.reach[t])) top = std::max(top, strengths.reach[t]);
  return {.top = top > 0 ? 1.1 * top : 1};
}

FloorRow strength_row(const Computation& computed, const StepReach& strengths, const FloorScale& scale) {
  const style::Palette& c = style::colours();
  std::string symbol = strengths.array.empty() ? std::string()
                                               : fmt::format("\\fgcolor{{{}}}{{{}\\,}}",
                                                             style::hex(c.strength), strengths.symbol);
  if (!strengths.is_network) symbol += fmt::format("\\lVert\\fgcolor{{{}}}{{k}}\\rVert^2", style::hex(c.key));
  FloorRow row =
      symbol_row("strength", 56, symbol, c.text, strengths.is_network ? "× curvature" : "step size");
  row.mark = [&strengths, scale, &c](Index first, Index end) {
    const double reach = largest(strengths.reach, first, end);
    const float part = std::min(scale.part(reach), 1.0F);
    const float edge = strengths.has_edge ? scale.part(2) : 1;
    FloorMark mark;
    mark.bar(std::min(part, edge), c.strength);
    if (part > edge) {
      mark.add({.kind = PieceKind::hatch, .from = edge, .to = part, .colour = c.alarm});
      mark.add({.kind = PieceKind::outline, .from = edge, .to = part, .colour = c.alarm});
    }
    if (reach > scale.top) mark.add({.kind = PieceKind::cut, .colour = c.panel});
    return mark;
  };
  if (strengths.has_edge) {
    // With momentum it is not the rule's limit.
    const ImU32 edge = strengths.has_momentum ? c.dim : c.alarm;
    row.levels = {{.part = scale.part(2), .words = "2", .ink = edge, .colour = edge, .width = 1.5F},
                  {.part = scale.part(1),
                   .words = "1",
                   .ink = c.dim,
                   .colour = c.faint,
                   .dashed = true,
                   .least_row = 40}};
  } else {
    const double most = scale.top / 1.1;
    row.levels = {{.part = scale.part(most), .words = plain_number(most, 2), .ink = c.dim}};
  }
  row.tip = [&](Index token) {
    return quoted_and_numbered(computed, token) + "\n" + step_size_words(strengths, token);
  };
  return row;
}

std::vector<FloorRow::Link> edge_links(const Computation& computed, const TokenCourses& courses) {
  const ReachEdges& edges = courses.edges;
  std::vector<FloorRow::Link> links;
  if (!courses.strengths) return links;
  const auto add = [&](int limit, ImU32 colour, Index token) {
    links.push_back({fmt::format("{} > {} first at {}", reach_symbol(*courses.strengths), limit,
                                 counted_token(computed, token)),
                     colour, token});
  };
  if (edges.overshoots && edges.overshoots != edges.diverges)
    add(1, style::colours().text, *edges.overshoots);
  if (edges.diverges) add(2, style::colours().alarm, *edges.diverges);
  return links;
}

FloorRow half_life_row(const Computation& computed, const Keeping& keeping, Index channel) {
  const style::Palette& c = style::colours();
  const bool are_many = keeping.channels > 1;
  FloorRow row = symbol_row("gate", 46, gate_letter(computed, keeping).second, c.gate, "half-life");
  if (are_many) row.label.room_below = channel_line;
  row.mark = [&keeping, &c, is_mean = are_many && channel < 0](Index first, Index end) {
    const FloorScale scale = half_life_scale();
    const auto part = [&](double kept) { return std::clamp(scale.part(half_life(kept)), 1e-3F, 1.0F); };
    FloorMark mark;
    mark.bar(part(smallest(keeping.mean, first, end)), is_mean ? style::mix(c.panel, c.gate, 0.75F) : c.gate);
    if (is_mean)
      mark.add({.kind = PieceKind::whisker,
                .from = part(smallest(keeping.least, first, end)),
                .to = part(keeping.most.segment(first, end - first).maxCoeff()),
                .colour = c.text});
    return mark;
  };
  for (const auto& [words, value] : {std::pair("1k", 1000.0), std::pair("10", 10.0)})
    row.levels.push_back({.part = half_life_scale().part(value),
                          .words = words,
                          .ink = c.dim,
                          .colour = style::with_alpha(c.panel, 0.6F),
                          .least_row = value < 100 ? 38.0F : 0});
  row.tip = [&computed, &keeping, channel](Index token) {
    return quoted_and_numbered(computed, token) + "\n" +
           keeping_words(keeping, channel, token, gate_letter(computed, keeping).first,
                         half_life_words(keeping.mean[token]));
  };
  return row;
}

double painted_gate(const Keeping& keeping, float part) {
  const double tokens = half_life_scale().value(part);
  const double kept = tokens >= 0.95 * longest_life    ? 1
                      : tokens <= 1.05 * shortest_life ? 0
                                                       : kept_for(tokens);
  return keeping.forgets ? 1 - kept : kept;
}

FloorRow growth_row(const Computation& computed, const FloorColumns& columns) {
  const style::Palette& c = style::colours();
  FloorRow row = symbol_row("growth", 46, "|S|", c.text, "on a log axis");
  row.width = FloorWidth::usual;
  row.tip = [&](Index token) {
    const Recall* recall = computed.recall(token);
    return recall ? quoted_and_numbered(computed, token) + "\n" + growth_words(recall->root_mean_square)
                  : std::string();
  };
  const auto size_of = [&computed](Index token) {
    const Recall* recall = computed.recall(token);
    return recall ? recall->root_mean_square : 0;
  };
  FloorScale scale{.bottom = 1e300, .top = 0, .logarithmic = true};
  columns.each([&](Index, Index end, float, float) {
    const double size = size_of(end - 1);
    if (!(size > 0) || !std::isfinite(size)) return;
    scale.bottom = std::min(scale.bottom, size);
    scale.top = std::max(scale.top, size);
  });
  if (!(scale.top > scale.bottom)) return row;
  scale.bottom /= 2;
  row.mark = [&computed, &c, scale, size_of](Index, Index end) {
    const double size = size_of(end - 1);
    const bool ran_away = computed.divergence && end - 1 >= computed.divergence->token;
    FloorMark mark;
    mark.bar(std::isfinite(size) ? std::clamp(scale.part(size), 0.0F, 1.0F) : 1, ran_away ? c.alarm : c.dim);
    return mark;
  };
  row.levels = {{.part = 1, .words = fmt::format("{:.0e}", scale.top), .ink = c.dim}};
  return row;
}

}  // namespace palimpsest
