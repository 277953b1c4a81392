#include "app/views/answers.h"
#include "app/views/floor.h"
#include "app/views/learn.h"
#include "app/words/stories.h"

namespace palimpsest {

namespace {

constexpr double seen = 0.005;  // of a share: what two digits show

std::string found(double share, bool is_alignment) {
  if (!std::isfinite(share)) return "The answer is no number any more.";
  if (is_alignment) {
    const char* way = share < -seen ? ": it points the other way" : "";
    return fmt::format("The answer to its key points along its value by {:.0f} %{}.", 100 * share, way);
  }
  std::string off;
  if (share > 1 + seen) off = fmt::format(", {} too much", fixed_number(share - 1, 2));
  if (share < -seen) off = ": it points the other way";
  return fmt::format("Its key finds {} of its value{}.", fixed_number(share, 2), off);
}

using PieceKind = FloorPiece::Kind;

constexpr double reach_top = 2.4;      // the axis of beta |k|^2: a little beyond its edge
constexpr double longest_life = 3000;  // words
constexpr double shortest_life = 0.5;
constexpr double seen_change = 0.02;  // of a share: less is no damage that one could see

// In design pixels.
constexpr float channel_line = 20;  // on which one chooses the channel
constexpr float low_lane = 15;
constexpr float row_above = 2;
constexpr float row_below = 4;

/// The largest of a row's numbers over tokens that share a column; infinite where one is no number.
double largest(const Vector<double>& numbers, Index first, Index end) {
  double most = 0;
  for (Index t = first; t < end; ++t)
    most = std::max(most, std::isfinite(numbers[t]) ? numbers[t] : HUGE_VAL);
  return most;
}

double smallest(const Vector<double>& numbers, Index first, Index end) {
  return numbers.segment(first, end - first).minCoeff();
}

/// The symbol of what a rule keeps, in letters and in LaTeX; "f" is the share that goes.
std::pair<const char*, const char*> gate_letter(const Computation& computed, const Keeping& keeping) {
  if (keeping.forgets) return {"f", "f"};
  if (keeping.array == "mu") return {"μ", "\\mu"};
  const bool is_gamma = keeping.array == "gamma" || computed.sequence.settings.parameters.contains("gamma");
  return is_gamma ? std::pair("γ", "\\gamma") : std::pair("α", "\\alpha");
}

/// A row of bars with its symbol and words at the panel's edge.
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

/// "“drum” (42)\nβ‖k‖² = 0.856: how far it steps …\nβ = 0.856".
std::string strength_bar_words(const Computation& computed, const StepReach& strengths, Index token) {
  const std::string letter = unicode(strengths.symbol);
  const std::string what = strengths.is_network ? letter + " × curvature" : letter + "‖k‖²";
  const double reach = strengths.reach[token];
  std::string words =
      fmt::format("{}\n{} = {:.3g}: how far it steps", quoted_and_numbered(computed, token), what, reach);
  if (strengths.has_edge) words += "; at 1 it lands on its value, beyond 2 it ends farther away";
  if (strengths.has_edge && strengths.has_momentum) words += " by itself: momentum moves that edge";
  const double squares = strengths.squares[token];
  if (!letter.empty() && squares > 0) words += fmt::format("\n{} = {:.3g}", letter, reach / squares);
  return words;
}

/// "“drum” (42)\nα = 0.9993: half-life 954 words", of all channels together or of `channel`; -1: all.
std::string keeping_bar_words(const Computation& computed, const Keeping& keeping, Index channel,
                              Index token) {
  const double kept = keeping.mean[token];
  std::string words = quoted_and_numbered(computed, token) + "\n";
  if (keeping.forgets)
    words += fmt::format("f = {:.4g}, so {:.4g} of the memory stays", 1 - kept, kept);
  else
    words += fmt::format("{} = {:.4g}", gate_letter(computed, keeping).first, kept);
  if (keeping.channels > 1 && channel < 0) {
    words += fmt::format(" on average, {:.4g} to {:.4g} over its {} channels", keeping.least[token],
                         keeping.most[token], keeping.channels);
  } else if (keeping.channels > 1) {
    words += fmt::format(" in {} {}", keeping.array == "mu" ? "column" : "row", channel);
  }
  return words + ": " + half_life_words(kept);
}

/// "“drum” (42)\nthe numbers of S after it: 0.0545 (root mean square)"; nothing where it is not known.
std::string growth_bar_words(const Computation& computed, Index token) {
  const Recall* recall = computed.recall(token);
  if (!recall) return {};
  return fmt::format("{}\nthe numbers of S after it: {:.3g} (root mean square)",
                     quoted_and_numbered(computed, token), recall->root_mean_square);
}

}  // namespace

std::string recalled_words(const RecalledAt& at) {
  if (!at.state.is_there) return fmt::format("{} is not in the memory yet.", at.word);
  std::string words =
      fmt::format("{} after {}.\n{}\n", at.word, at.present, found(at.state.now, at.is_alignment));
  if (at.beside > 0) words += fmt::format("Fitted together with the other {} shown here.\n", at.beside);
  const double change = recalled_part(at.state.now).right - recalled_part(at.state.before).right;
  const char* verb = at.state.is_own ? "writes it" : change < 0 ? "damages it" : "repairs it";
  if (!(std::abs(at.state.now - at.state.before) > seen))
    return words + fmt::format("{} leaves it as it is.", at.present);
  return words + fmt::format("{} {}: {} before, {} now.", at.present, verb, fixed_number(at.state.before, 2),
                             fixed_number(at.state.now, 2));
}

const RecalledLegend& recalled_legend(bool is_alignment) {
  static constexpr RecalledLegend shares = {
      "What each stored word still answers", "recalled, 0 to 100 %", "too much",
      "Asked with the key of a stored word, how much of that word's own value is in the answer, beside the "
      "values of the other words shown. Step and Compare fit the answer to all words asked about at their "
      "token: beside other words a share comes out a little different. 100 % is the value itself; what is "
      "beyond it is as wrong as what is missing."};
  static constexpr RecalledLegend directions = {
      "Which way each stored word's answer points", "along its value, 0 to 100 %", "the other way",
      "Asked with the key of a stored word, the cosine between the answer and that word's value: 100 % "
      "where it points the same way, however short it is. Step measures how much of the value is in the "
      "answer, which can be little where the direction is right."};
  return is_alignment ? directions : shares;
}

std::string recalled_measure(bool is_alignment, const Variant& variant) {
  std::string words(recalled_legend(is_alignment).measure);
  if (is_alignment) words += " " + compared_by_direction(variant);
  return words;
}

LaneState lane_state(const Remembered& remembered, Index word, Index first, Index end, Index batch) {
  const Index token = remembered.tokens[static_cast<std::size_t>(word)];
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
  const Index token = remembered.tokens[static_cast<std::size_t>(word)];
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
                    .number = std::to_string(token)},
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
  FloorRow row = symbol_row("strength", 56, symbol, c.text, strengths.is_network ? "× curvature" : "how far");
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
    // With momentum it is no edge of the rule's.
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
  row.tip = [&](Index token) { return strength_bar_words(computed, strengths, token); };
  return row;
}

std::vector<FloorRow::Link> edge_links(const Computation& computed, const TokenCourses& courses) {
  const ReachEdges& edges = courses.edges;
  std::vector<FloorRow::Link> links;
  const auto add = [&](const char* what, ImU32 colour, Index token) {
    links.push_back({fmt::format("{} from {}", what, number_and_word(computed, token)), colour, token});
  };
  if (edges.overshoots && edges.overshoots != edges.diverges)
    add("overshoots", style::colours().text, *edges.overshoots);
  if (edges.diverges) {
    const bool goes_on = courses.strengths && courses.strengths->has_momentum;
    add(goes_on ? "by itself lands farther off," : "diverges", style::colours().alarm, *edges.diverges);
  }
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
    return keeping_bar_words(computed, keeping, channel, token);
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
  row.tip = [&](Index token) { return growth_bar_words(computed, token); };
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
