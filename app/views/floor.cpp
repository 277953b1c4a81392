#include "app/views/floor.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/views/underlined_words.h"
#include "app/widgets/controls.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float around = 8;  // the transport, in design pixels
constexpr float transport_height = 28;
constexpr std::size_t most_asked = 12;  // words that one asks about

/// The memory is asked about a word as well, or no more.
void ask_about_word(Application& application, Index token) {
  SessionState next = application.session.state();
  if (next.words.empty()) next.words = underlined_words(application.session);
  const auto place = std::ranges::lower_bound(next.words, token);
  if (place != next.words.end() && *place == token)
    next.words.erase(place);
  else if (next.words.size() < most_asked)
    next.words.insert(place, token);
  else
    application.refusal = fmt::format("The memory is asked about {} words at most", most_asked);
  application.session.change(std::move(next));
}

void go_to(Application& application, Index token) {
  application.playing = false;
  if (token == application.session.token()) return;
  application.show_welcome = false;
  application.session.go_to_token(token);
}

}  // namespace

void draw_floor_panel(Application& application, const char* name, float top, float gap, RowsAbove above,
                      const std::function<void(ImVec2 from, ImVec2 to)>& rows) {
  if (style::begin_panel(name, {0, 0}, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse) &&
      application.session.computed()) {
    const ImVec2 panel = ImGui::GetWindowPos();
    const ImVec2 size = ImGui::GetWindowSize();
    const float padding = px(style::panel_padding);
    const float transport = panel.y + size.y - px(around + transport_height);
    rows({panel.x + padding, panel.y + px(top)}, {panel.x + size.x - padding, transport - px(gap)});
    ImGui::SetCursorScreenPos({panel.x + padding, std::max(transport, panel.y + px(around))});
    draw_transport(application, above);
    ImGui::Dummy({1, 1});  // where there is no room for it
  }
  style::end_panel();
}

FloorView& floor_view() { return context_local<FloorView>(); }

FloorText floor_text(const Session& session) {
  return {.id = session.data().id,
          .labels = session.data().labels,
          .tokens = static_cast<Index>(session.computed()->tokens.size()),
          .token = session.token()};
}

std::optional<FloorColumns> columns_between(const Session& session, ImVec2 from, ImVec2 to, ImVec2 least) {
  from.x += px(floor_gutter - style::panel_padding);
  const ImVec2 size = {to.x - from.x, to.y - from.y};
  const FloorText text = floor_text(session);
  if (size.x < px(least.x) || size.y < px(least.y) || text.tokens == 0) return std::nullopt;
  return floor_columns(floor_view(), text, screen_ruler(false), from, size);
}

WordPlaces word_places(const FloorColumns& columns) {
  return {columns.begin(), columns.end(), static_cast<double>(columns.size.x),
          [&columns](Index token) { return static_cast<double>(columns.left(token) - columns.position.x); }};
}

PlotDone draw_over_words(const Plot& plot, const Rectangle& place) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->PushClipRectFullScreen();  // rows are clipped to the words
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
  Floor floor{.id = id, .text = floor_text(session), .reached = session.token() + 1};
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
  if (acts.followed) go_to(application, *acts.followed);
  if (!acts.pressed) return;
  if (ImGui::GetIO().KeyCtrl) {
    if (acts.begins) ask_about_word(application, *acts.pressed);
    return;
  }
  go_to(application, *acts.pressed);
  view.followed = application.session.token();  // what is under the pointer stays there
}

}  // namespace palimpsest
