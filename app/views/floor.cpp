#include "app/views/floor.h"

#include "app/session/typed_text.h"
#include "app/views/story_page.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float around = 8;  // margin around the transport, in design pixels
constexpr float transport_height = 28;
constexpr std::size_t most_asked = 12;  // tokens that the memory is queried for

FloorView& floor_view() { return context_local<FloorView>(); }

void ask_about_word(Application& application, Index token) {
  SessionState next = application.session.state();
  if (next.words.empty()) next.words = underlined_words(application.session);
  const auto place = std::ranges::lower_bound(next.words, token);
  if (place != next.words.end() && *place == token)
    next.words.erase(place);
  else if (next.words.size() < most_asked)
    next.words.insert(place, token);
  else
    application.refusal = fmt::format("At most {} tokens can be queried", most_asked);
  application.session.change(std::move(next));
}

constexpr double shortest = 0.1;  // half-life in tokens: no bar
constexpr double longest = 1e4;   // half-life of a full bar
constexpr double usual = 0.95;    // share of the norms that are not clipped

// In design pixels.
constexpr float least_numbered_error = 124;  // in wider columns a bar has its numbers beside it
constexpr float numbered_error = 56;
constexpr float least_numbers = 56;  // of a row's height: from here on it shows the ends of its scale

constexpr std::size_t measured_lengths = 8192;

/// The scales for the visible tokens, computed again only when these have changed.
const VisibleScales& kept_scales(const Computation& computed, const FloorColumns& columns) {
  return kept_for(std::tuple(computed.version, columns.begin(), columns.end()),
                  [&] { return visible_scales(computed, columns.begin(), columns.end()); });
}

/// The mark for tokens that share a pixel: the largest of their errors.
FloorMark error_mark(const Computation& computed, Index first, Index end, double full, ImU32 colour) {
  LengthBar before = {.part = -1};
  LengthBar after = {.part = -1};
  bool beyond = false;
  for (Index t = first; t < end; ++t) {
    const Recall* recall = computed.recall(t);
    if (!recall) continue;
    const auto take = [&](LengthBar& most, double loss) {
      const LengthBar bar = length_bar(error_norm(loss), full);
      most = {std::max(most.part, bar.part), most.cut || bar.cut};
    };
    take(before, recall->before);
    take(after, recall->after);
    // The remaining error has the opposite direction, or a larger norm.
    const auto& written = entry(computed.tokens, t).written;
    const bool overshoots = computed.written_by == "beta" && written && *written > 1 + 1e-9;
    beyond = beyond || overshoots || recall->after > recall->before;
  }
  FloorMark mark;
  if (before.part < 0) return mark;
  using Kind = FloorPiece::Kind;
  mark.add({.kind = Kind::outline, .to = before.part, .colour = colour});
  mark.add({.kind = beyond ? Kind::hatch : Kind::fill, .to = after.part, .colour = colour});
  if (beyond) mark.add({.kind = Kind::edge, .to = after.part, .colour = colour});
  if (before.cut) mark.add({.kind = Kind::cut, .from = 0, .colour = colour});
  if (after.cut) mark.add({.kind = Kind::cut, .from = 1, .colour = colour});
  return mark;
}

}  // namespace

void draw_floor_panel(Application& application, const FloorPanel& panel,
                      const std::function<void(Floor& floor, const FloorPlaces& places)>& draw) {
  const Session& session = application.session;
  if (style::begin_panel(fmt::format("##{} panel", panel.name).c_str(), {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse) &&
      session.computed()) {
    const ImVec2 corner = ImGui::GetWindowPos();
    const ImVec2 size = ImGui::GetWindowSize();
    const float padding = px(style::panel_padding);
    const float transport = corner.y + size.y - px(around + transport_height);
    const Rectangle inside = {{corner.x + padding, corner.y + px(panel.top)},
                              {corner.x + size.x - padding, transport - px(panel.gap)}};
    const ImVec2 from = {inside.minimum.x + px(floor_gutter - style::panel_padding),
                         inside.minimum.y + px(panel.head)};
    const float overview = panel.has_overview ? floor_overview_height() : 0;
    const ImVec2 to = {inside.maximum.x - px(panel.beside), inside.maximum.y - overview};
    Floor floor = floor_of(session, panel.name);
    if (to.x - from.x >= px(panel.least.x) && to.y - from.y >= px(panel.least.y) && floor.text.tokens > 0) {
      const FloorColumns columns =
          floor_columns(floor_view(), floor.text, screen_ruler(false), from, {to.x - from.x, to.y - from.y});
      draw(floor, {.columns = columns,
                   .head = {inside.minimum, {inside.maximum.x, from.y}},
                   .beside = {{to.x, inside.minimum.y}, inside.maximum},
                   .left = inside.minimum.x});
      if (panel.has_overview) draw_floor_overview(floor_view(), columns, floor.text.token);
    }
    ImGui::SetCursorScreenPos({inside.minimum.x, std::max(transport, corner.y + px(around))});
    if (application.tells_story())
      scene::show_in(story_buttons(application),  // its width decides alone how much it says
                     {ImGui::GetContentRegionAvail().x, std::numeric_limits<float>::infinity()});
    else
      draw_transport(application, panel.legend);
    ImGui::Dummy({1, 1});  // Dear ImGui needs an item here, even if nothing was drawn
  }
  style::end_panel();
}

WordPlaces word_places(const FloorColumns& columns) {
  return {columns.begin(), columns.end(), static_cast<double>(columns.size.x),
          [&columns](Index token) { return static_cast<double>(columns.left(token) - columns.position.x); }};
}

PlotDone draw_over_words(const Plot& plot, const Rectangle& place) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->PushClipRectFullScreen();  // rows are clipped to the tokens
  PlotDone done = draw_plot(plot, place);
  list->PopClipRect();
  return done;
}

Floor floor_of(const Session& session, const char* id) {
  const Computation& computed = *session.computed();
  const Form form = session.choice().form;
  const Trace* trace = computed.form(form).trace;
  const Groups groups = trace ? trace->groups : Groups{.size = computed.choice.chunk_size};
  const bool are_batches = groups.kind == Groups::Kind::batches;
  Floor floor{.id = id,
              .text = {.id = session.data().id,
                       .labels = session.data().labels,
                       .tokens = static_cast<Index>(computed.tokens.size()),
                       .token = session.token()},
              .reached = session.token() + 1};
  floor.groups = {.size = groups.size,
                  .is_whole = groups.kind == Groups::Kind::whole,
                  .is_together = are_batches || has_chunks(form),
                  .word = are_batches ? "batch" : "chunk"};
  if (floor.groups.is_whole) floor.groups.word = "the whole sequence";
  if (trace && trace->form != Form::recurrent && trace->block_count() > 0) {
    const Block block = trace->block(session.cursor().block);
    floor.reached = block.first_token + block.count;
  }
  floor.underlined = underlined_words(session);
  floor.repeated = session.state().repeated;
  return floor;
}

FloorRow words_row(float height, float above) {
  return {.name = "words", .kind = FloorRow::Kind::words, .height = height, .above = above};
}

FloorRow captions_row(float height) {
  return {.name = "captions", .kind = FloorRow::Kind::captions, .height = height};
}

void show_floor(Application& application, const Floor& floor, const FloorColumns& columns) {
  FloorView& view = floor_view();
  const FloorActs acts = draw_floor(floor, view, columns);
  if (!acts.refusal.empty()) application.refusal = acts.refusal;
  if (acts.followed) application.go_to(*acts.followed);
  if (!acts.pressed) return;
  if (ImGui::GetIO().KeyCtrl) {
    if (acts.begins) ask_about_word(application, *acts.pressed);
    return;
  }
  application.go_to(*acts.pressed);
  view.followed = application.session.token();  // do not scroll: the clicked token stays under the pointer
}

float half_life_part(double kept) {
  const double words = half_life(std::clamp(kept, 0.0, 1.0));
  const double part = std::log(std::max(words, shortest) / shortest) / std::log(longest / shortest);
  return static_cast<float>(std::min(part, 1.0));
}

LengthScale length_scale(std::vector<double> lengths) {
  std::erase_if(lengths, [](double length) { return !std::isfinite(length); });
  if (lengths.empty()) return {};
  const double largest = std::ranges::max(lengths);
  const double most = quantile(std::move(lengths), usual);
  return {.full = most > 0 ? most : largest, .largest = largest};
}

LengthBar length_bar(double length, double full) {
  if (length == 0) return {};
  if (!(length <= full)) return {.part = 1, .cut = true};
  return {.part = static_cast<float>(length / full)};
}

VisibleScales visible_scales(const Computation& computed, Index begin, Index end) {
  const Index stride = std::max<Index>((end - begin) / static_cast<Index>(measured_lengths), 1);
  std::vector<double> errors;
  std::vector<double> written;
  double largest = 0;
  for (Index t = begin; t < end; ++t) {
    const TokenFacts& facts = entry(computed.tokens, t);
    const bool is_sampled = (t - begin) % stride == 0;
    if (facts.written && is_sampled) written.push_back(*facts.written);
    const Recall* recall = computed.recall(t);
    if (!recall) continue;
    for (const double loss : {recall->before, recall->after}) {
      const double length = error_norm(loss);
      if (std::isfinite(length)) largest = std::max(largest, length);
      if (is_sampled) errors.push_back(length);
    }
  }
  VisibleScales scales;
  scales.errors = length_scale(std::move(errors));
  scales.errors.largest = largest;
  // β = 1 replaces a value completely; norms have no such reference.
  const double most = length_scale(std::move(written)).full;
  scales.written = computed.written_by == "beta" ? std::max(1.0, most) : most;
  return scales;
}

void add_fact_rows(Floor& floor, const Computation& computed, const FloorColumns& columns) {
  if (computed.tokens.empty()) return;
  const style::Palette& c = style::colours();
  // Of tokens that share a pixel, the strongest decay and the strongest write are shown.
  const auto add = [&](const char* name, ImU32 colour, const auto& part_of) {
    const auto mark_of = [&computed, colour, part_of](Index first, Index end) {
      FloorMark mark;
      std::optional<float> part;
      for (Index t = first; t < end; ++t) part_of(entry(computed.tokens, t), part);
      if (part) mark.bar(*part, colour);
      return mark;
    };
    floor.rows.push_back({.name = name,
                          .kind = FloorRow::Kind::lane,
                          .height = 13,
                          .below = 4,
                          .label = {.lines = {{.words = name, .colour = colour}}},
                          .mark = mark_of,
                          .version = computed.version});
  };
  if (computed.tokens.front().kept)
    add("half-life", c.gate, [](const TokenFacts& facts, std::optional<float>& least) {
      if (facts.kept) least = std::min(half_life_part(*facts.kept), least.value_or(1));
    });
  if (computed.tokens.front().written)
    add("write", c.strength,
        [full = kept_scales(computed, columns).written](const TokenFacts& facts, std::optional<float>& most) {
          if (facts.written) most = std::max(length_bar(*facts.written, full).part, most.value_or(0));
        });
}

void add_error_row(Floor& floor, const Computation& computed, const FloorColumns& columns, float height) {
  if (computed.tokens.empty() || !computed.recall(0)) return;
  const style::Palette& c = style::colours();
  const LengthScale& scale = kept_scales(computed, columns).errors;
  const std::string largest = "max " + plain_number(scale.largest, 3);
  const std::string name = computed.edited ? "‖e‖ without fault" : "‖e‖";  // not known for a faulty run
  floor.rows.push_back(
      {.name = "error",
       .height = height,
       .above = 4,
       .below = 3,
       .label = {.lines = {{.words = name, .colour = c.error},
                           {.words = largest, .colour = c.error, .text = style::Text::number_small}},
                 .brief = {computed.edited ? name : "‖e‖, " + largest,
                           "‖e‖ " + plain_number(scale.largest, 2)}},
       .mark = [&computed, full = scale.full, colour = c.error](
                   Index first, Index end) { return error_mark(computed, first, end, full, colour); },
       .version = computed.version,
       .levels = {{.part = 1,
                   .words = plain_number(scale.full, scale.full < 999.5 ? 3 : 1),
                   .ink = c.dim,
                   .least_row = least_numbers},
                  {.part = 0, .words = "0", .ink = c.dim, .least_row = least_numbers}},
       .number =
           [&computed](Index token) {
             const Recall* recall = computed.recall(token);
             return recall ? fmt::format("{} → {}", fixed_number(error_norm(recall->before), 2),
                                         fixed_number(error_norm(recall->after), 2))
                           : std::string();
           },
       .least_numbered = least_numbered_error,
       .numbered_bar = numbered_error});
}

void add_loss_row(Floor& floor, const Session& session) {
  const auto text = session.data().read;
  if (!text || text->said->losses.empty()) return;
  const style::Palette& c = style::colours();
  const double full = std::max(std::ranges::max(text->said->losses), std::ranges::max(text->trained->losses));
  const auto loss_of = [](const TextReading& reading, Index first, Index end) {
    double most = 0;
    for (Index t = std::max<Index>(first, 1); t < end; ++t)
      most = std::max(most, entry(reading.losses, t - 1));
    return most;
  };
  floor.rows.push_back(
      {.name = "loss",
       .above = 4,
       .below = 3,
       .label = {.lines = {{.words = "loss", .colour = c.text}},
                 .brief = {fmt::format("loss, max {}", plain_number(full, 2)), "loss"}},
       .mark =
           [text, full, loss_of, colour = c.text](Index first, Index end) {
             FloorMark mark;
             const auto part = [&](const TextReading& reading) {
               return length_bar(loss_of(reading, first, end), full).part;
             };
             if (text->is_changed())
               mark.add({.kind = FloorPiece::Kind::outline, .to = part(*text->trained), .colour = colour});
             mark.bar(part(*text->said), colour);
             return mark;
           },
       .version = session.computed()->version});
}

std::string error_bar_words(const Computation& computed, Index token) {
  const Recall* recall = computed.recall(token);
  if (!recall) return {};
  return fmt::format("{}\n{}{}", quoted_and_numbered(computed, token), error_norm_words(*recall),
                     computed.edited ? " in the run without the fault" : "");
}

}  // namespace palimpsest
