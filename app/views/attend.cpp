#include "app/views/attend.h"

#include "app/views/story_page.h"
#include "app/widgets/chart.h"

namespace palimpsest {

namespace {

constexpr double least_chunk = 16;  // pixels: lines around smaller chunks would cover the weights
constexpr Index least_block = 8;
constexpr double least_word_pitch = 2;  // pixels: for closer tokens the axis shows numbers
constexpr double between_numbers = 40;  // pixels between these numbers

struct SquareLook {
  bool is_small = false;
  float words = 84;   // room for the labels of an axis, in design pixels
  int lanes = 2;      // rows of these labels
  Index loupe = 9;    // cells
  float least = 560;  // design pixels; with less room the next look is used
  float cell = 30;    // of the loupe, at most
  bool is_alone = false;
};

constexpr SquareLook large_square = {};
constexpr SquareLook small_square = {.is_small = true, .words = 56, .lanes = 1, .loupe = 7, .least = 120};
constexpr SquareLook large_alone = {.least = 420, .cell = 40, .is_alone = true};
constexpr SquareLook small_alone = {
    .is_small = true, .words = 56, .lanes = 1, .loupe = 7, .least = 120, .is_alone = true};

struct Square {
  Application& application;
  const Computation& computed;
  AttentionBlock block;
  double range;  // of the colours
  const RowOfWeights* row;
  WeighedBy by;
  SquareLook look;
  Node below = scene::column({});  // of the loupe that stands beside

  const AttentionView& view() const { return application.session.state().attention; }
  Index token() const { return application.session.token(); }
  const char* name() const { return by == WeighedBy::rule ? "rule" : "softmax"; }
};

/// The column with the largest weight in the current row, else the row's middle.
Index column_read_most(const RowOfWeights* row, Index token) {
  if (!row) return token / 2;
  if (const ReadWord* const most = row->read_most()) return most->token;
  return row->softmax_most >= 0 ? row->softmax_most : token / 2;
}

/// The last token that the current row reads: its own, or a later one of its inner batch.
Index last_read(const RowOfWeights* row, WeighedBy reader, Index token) {
  Index last = row && reader == WeighedBy::rule ? row->weights.size() - 1 : token;
  while (last > token && row->weights(last) == 0) --last;
  return std::max(last, token);
}

/// The part at `place` with the settings of the view.
AttentionPart part_of(Application& application, WeighedBy by, BandPlace place, Index rows_per_cell = 1) {
  const AttentionView& view = application.session.state().attention;
  const auto computed = application.session.computed();
  const bool is_rule = by == WeighedBy::rule;
  place.channel = is_rule ? asked_channel(view, computed->sequence) : 0;
  place.no_diagonal = !view.diagonal;
  place.no_mask = !view.mask;
  return {.of = computed,
          .reading = is_rule ? Reading{.gates_are_1 = !view.gates && attention_facts(application).has_gates}
                             : Reading{.by = by, .sharpness = view.sharpness},
          .place = place,
          .rows_per_cell = rows_per_cell};
}

PlotMark part_mark(const SeenPart& part, bool shares, double range) {
  const auto& [asked, drawn, is_coarse] = part;
  const BandPlace& place = asked.place;
  const Matrix<double>& numbers = shares ? drawn->shares : drawn->weights;
  const auto across = static_cast<double>(place.cells() * place.tokens_per_cell);
  const auto left = static_cast<double>(place.first_column);
  return picture_mark(fmt::format("{} {}", is_coarse ? "coarse" : "fine", place.first_row),
                      {left, static_cast<double>(place.first_row)},
                      {left + across, static_cast<double>(place.token(numbers.rows() * asked.rows_per_cell))},
                      {drawn, &numbers}, drawn->version * 2 + (shares ? 1 : 0), range);
}

/// The weight of the cell at a place, from the finest part that holds it; nothing if no part does.
std::optional<double> weight_at(const SeenWeights& seen, bool shares, PlotPlace at) {
  for (auto part = seen.parts.rbegin(); part != seen.parts.rend(); ++part) {
    const BandPlace& place = part->asked.place;
    const Matrix<double>& numbers = shares ? part->drawn->shares : part->drawn->weights;
    const Index row =
        (static_cast<Index>(at.y) - place.first_row) / (part->asked.rows_per_cell * place.row_step);
    const Index column = (static_cast<Index>(at.x) - place.first_column) / place.tokens_per_cell;
    if (at.y >= static_cast<double>(place.first_row) && row < numbers.rows() &&
        at.x >= static_cast<double>(place.first_column) && column < numbers.cols())
      return numbers(row, column);
  }
  return std::nullopt;
}

/// Lines where chunks begin, and around what is computed within one chunk.
void add_chunks(Plot& plot, const Square& square) {
  const style::Palette& c = style::colours();
  const AttentionBlock& block = square.block;
  const Index chunk = square.computed.choice.chunk_size;
  if (static_cast<double>(chunk * attend_sight().side) < least_chunk * static_cast<double>(block.count))
    return;
  const PlotLook faint = {.colour = style::with_alpha(c.dim, 0.35F), .width = style::line};
  const bool has_mask = square.view().mask;
  const auto add = [&](Index x, Index y, Index to_x, Index to_y) {
    plot.marks.push_back(line_mark(static_cast<double>(x), static_cast<double>(y), static_cast<double>(to_x),
                                   static_cast<double>(to_y), faint));
  };
  const auto first_after = [&](Index token) { return (token + chunk - 1) / chunk * chunk; };
  const Index row_end = block.first_row + block.count;
  const Index column_end = block.first_column + block.count;
  for (Index token = first_after(block.first_row); token < row_end; token += chunk)
    add(block.first_column, token, has_mask ? std::min(token + chunk, column_end) : column_end, token);
  for (Index token = first_after(block.first_column); token < column_end; token += chunk)
    add(token, has_mask ? std::max(token, block.first_row) : block.first_row, token, row_end);
  for (Index token = block.first_row / chunk * chunk; token < row_end; token += chunk)
    plot.marks.push_back(frame_mark("", token, token, token + chunk, token + chunk,
                                    style::with_alpha(c.text, 0.55F), style::line));
}

/// "→ drum" of "red → drum", as other labels start with the same token.
std::string short_word(const Computation& computed, Index token) {
  const std::string label = word_at(computed, token);
  const std::size_t stored = label.find("→");
  return stored == std::string::npos ? label : label.substr(stored);
}

/// The labels of an axis; the most important come last: the current token and those that it reads most.
std::vector<PlotTick> axis_words(const Square& square, Index first, bool asks) {
  const style::Palette& c = style::colours();
  std::vector<Index> told = {square.token()};
  if (square.row && !asks) {
    for (const ReadWord& word : square.row->words) told.push_back(word.token);
    if (square.by == WeighedBy::softmax && square.row->softmax_most >= 0)
      told.push_back(square.row->softmax_most);
  }
  const Index end = std::min(first + square.block.count, square.computed.sequence.tokens);
  std::vector<PlotTick> words;
  const auto add = [&](Index token, std::string written, ImU32 ink) {
    words.push_back({.at = static_cast<double>(token) + 0.5, .words = std::move(written), .colour = ink});
  };
  const double pitch = static_cast<double>(attend_sight().side) / static_cast<double>(square.block.count);
  const bool has_numbers = pitch < least_word_pitch;
  const Index step = has_numbers && pitch > 0 ? static_cast<Index>(round_above(between_numbers / pitch)) : 1;
  if (pitch > 0 && (has_numbers || !square.look.is_small)) {
    for (Index token = (first + step) / step * step - 1; token < end; token += step)
      if (!is_among(token, told))
        add(token, has_numbers ? std::to_string(token + 1) : short_word(square.computed, token), c.dim);
  }
  for (auto token = told.rbegin(); token != told.rend(); ++token)
    if (*token >= first && *token < end) add(*token, short_word(square.computed, *token), c.text);
  return words;
}

/// Frames over the weights: the row of the current token, and the cells in the loupe.
void add_frames(Plot& plot, const Square& square, const BandPlace* loupe) {
  const style::Palette& c = style::colours();
  const AttentionBlock& block = square.block;
  const Index token = square.token();
  const Index end = block.first_column + block.count;
  if (token >= block.first_row && token < block.first_row + block.count) {
    // Masked cells are empty: the row ends there, and the loupe is drawn there.
    const Index last = square.view().mask ? last_read(square.row, square.by, token) + 1 : end;
    plot.marks.push_back(frame_mark("present", token, block.first_column, token + 1,
                                    std::clamp(last, block.first_column, end), c.text, style::lit_line));
  }
  if (loupe)
    plot.marks.push_back(frame_mark("loupe", loupe->first_row, loupe->first_column,
                                    loupe->first_row + loupe->rows, loupe->first_column + loupe->columns,
                                    c.faint, style::line));
}

/// The cells around the one under the pointer, else around the largest weight of the current row: the same in
/// both squares.
BandPlace loupe_place(const Square& square) {
  const Index tokens = square.computed.sequence.tokens;
  const Index count = std::min(square.look.loupe, tokens);
  const std::optional<Cell>& pointed = attend_sight().pointed;
  const Index batch = inner_batch(square.computed.sequence.settings);
  const bool is_masked = pointed && square.view().mask &&
                         pointed->column / batch > pointed->row / batch;  // the loupe lies there
  const Cell at =
      pointed && !is_masked ? *pointed : Cell{square.token(), column_read_most(square.row, square.token())};
  return {.first_row = std::clamp<Index>(at.row - count / 2, 0, tokens - count),
          .rows = count,
          .first_column = std::clamp<Index>(at.column - count / 2, 0, tokens - count),
          .columns = count};
}

/// "0.005" as ".005".
std::string without_zero(std::string number) {
  const std::size_t zero = number.find("0.");
  return zero == 0 || (zero == 1 && number.front() == '-') ? number.erase(zero, 1) : number;
}

Node loupe_node(const Square& square, const BandPlace& place, const DrawnPart& part) {
  const style::Palette& c = style::colours();
  const bool shares = square.view().shares;
  const bool has_diagonal = square.view().diagonal;
  CellTables cells{.scale = square.range,
                   .least_cell = {13, 13},
                   .most_cell = {square.look.cell, square.look.cell},
                   .flat = 1,
                   .names = 60,
                   .between = 0,
                   .rising = true,
                   .ground = c.panel};
  cells.written = [shares, has_diagonal, offset = place.first_column - place.first_row](
                      double value, Cell cell) -> std::vector<std::string> {
    const bool is_masked = value == 0 && offset + cell.column > cell.row;
    const bool is_aside = !has_diagonal && offset + cell.column == cell.row;
    if (is_masked || is_aside) return {};
    constexpr double least = 5e-4;
    if (!shares && std::abs(value) < least) return {"0"};
    if (!shares) return {without_zero(fixed_number(value, 3)), without_zero(fixed_number(value, 2))};
    return {fixed_number(100 * value, 0),
            fmt::format("{:.0e}", 100 * value)};  // a long one as a power of ten
  };
  for (Index i = 0; i < place.rows; ++i) {
    const Index row = place.first_row + i;
    cells.rows.push_back(
        {.words = short_word(square.computed, row), .ink = row == square.token() ? c.text : c.dim});
    if (row == square.token()) cells.rings.push_back({i, c.text, style::lit_line});
    cells.columns.push_back({.words = short_word(square.computed, place.first_column + i), .ink = c.dim});
  }
  cells.tables.push_back({.name = "numbers", .values = shares ? part.shares : part.weights});
  return Node{std::move(cells)};
}

/// The block with its size and place clamped to the text.
AttentionBlock fitted(AttentionBlock block, Index tokens) {
  block.count = std::clamp(block.count, std::min(least_block, tokens), tokens);
  block.first_row = std::clamp<Index>(block.first_row, 0, tokens - block.count);
  block.first_column = std::clamp<Index>(block.first_column, 0, tokens - block.count);
  return block;
}

/// The block with half or twice the rows; the cell `about` keeps its place.
AttentionBlock zoomed(const AttentionBlock& block, const Cell& about, bool is_nearer, Index tokens) {
  AttentionBlock next = block;
  next.count = is_nearer ? (block.count + 1) / 2 : block.count * 2;
  next = fitted(next, tokens);
  const double part = static_cast<double>(next.count) / static_cast<double>(block.count);
  const auto nearer = [&](Index first, Index at) {
    return at - static_cast<Index>(static_cast<double>(at - first) * part);
  };
  next.first_row = nearer(next.first_row, about.row);
  next.first_column = nearer(next.first_column, about.column);
  return fitted(next, tokens);
}

/// The block after a drag; a remainder of less than one token is kept for the next frame.
AttentionBlock dragged(AttentionBlock block, const PlotPlace& moved, Index tokens) {
  PlotPlace& left = attend_sight().dragged;
  const auto rows = static_cast<Index>(left.y + moved.y);
  const auto columns = static_cast<Index>(left.x + moved.x);
  left = {left.x + moved.x - static_cast<double>(columns), left.y + moved.y - static_cast<double>(rows)};
  block.first_row -= rows;
  block.first_column -= columns;
  return fitted(block, tokens);
}

void look_around(Application& application, WeighedBy by, const PlotDone& done) {
  AttendSight& sight = attend_sight();
  Session& session = application.session;
  sight.side = static_cast<Index>(done.area.maximum.x - done.area.minimum.x);
  if (sight.pointed_by == by) sight.pointed.reset();
  const Index tokens = session.computed()->sequence.tokens;
  if (done.at && (done.hovered || done.ends)) {
    const Cell at = {static_cast<Index>(done.at->y), static_cast<Index>(done.at->x)};
    if (at.row >= 0 && at.row < tokens && at.column >= 0 && at.column < tokens) {
      sight.pointed = at;
      sight.pointed_by = by;
    }
  }
  const AttentionBlock before = attended_block(session);
  AttentionBlock block = before;
  if (done.wheel != 0 && sight.pointed) block = zoomed(block, *sight.pointed, done.wheel > 0, tokens);
  if (done.active) block = dragged(block, done.moved, tokens);
  if (done.ends) sight.dragged = {};
  if (block != before)
    session.change([&](SessionState& state) {
      state.attention.first_row = block.first_row;
      state.attention.first_column = block.first_column;
      state.attention.rows = block.count < tokens ? block.count : 0;
    });
  if (done.clicked && sight.pointed) application.go_to(sight.pointed->row);
}

Plot square_plot(const Square& square, const BandPlace* loupe) {
  const AttentionBlock& block = square.block;
  const auto end = [&](Index first) { return static_cast<double>(first + block.count); };
  Plot plot{.name = square.name(),
            .x = {.low = static_cast<double>(block.first_column),
                  .high = end(block.first_column),
                  .named = axis_words(square, block.first_column, false),
                  .has_round = false,
                  .room = square.look.words,
                  .rising = true,
                  .lanes = square.look.lanes},
            .y = {.low = end(block.first_row),
                  .high = static_cast<double>(block.first_row),
                  .named = axis_words(square, block.first_row, true),
                  .has_round = false,
                  .room = square.look.words,
                  .lanes = square.look.lanes},
            .presses = true};
  const SeenWeights seen = seen_weights(square.application, square.by);
  plot.told = [&computed = square.computed, seen, shares = square.view().shares](PlotPlace at) {
    const auto token = [&](double place) {
      return counted_token(computed,
                           std::clamp<Index>(static_cast<Index>(place), 0, computed.sequence.tokens - 1));
    };
    return cell_words(token(at.y), token(at.x), weight_at(seen, shares, at), shares, seen.weights_of_a_pixel);
  };
  for (const SeenPart& part : seen.parts)
    plot.marks.push_back(part_mark(part, square.view().shares, square.range));
  if (square.view().chunks && !square.application.tells_story()) add_chunks(plot, square);
  add_frames(plot, square, loupe);
  return plot;
}

Known<DrawnPart> ask_loupe(const Square& square, const BandPlace& place) {
  return ask(square.application, part_of(square.application, square.by, place));
}

/// The name of the reader, a sentence and the loupe, in the empty corner above the diagonal.
Node corner_of(const Square& square, const std::string& name, const std::string& words,
               const BandPlace& place) {
  const Known<DrawnPart> part = ask_loupe(square, place);
  const auto corner = [&](bool has_words, bool has_loupe) {
    Nodes all = {scene::text(name, style::Text::title, 0, Fit::whole).named("name").right()};
    if (has_words) all += (square.look.is_small ? scene::tag(words) : scene::caption(words)).right();
    if (has_loupe) all += loupe_node(square, place, *part.value).named("loupe").right();
    return scene::row({scene::rest(), scene::column(std::move(all), Gap::small).filling(0.9F)});
  };
  Nodes wishes = {corner(true, false), corner(false, false), scene::column({})};
  if (part.value) wishes.insert(wishes.begin(), corner(true, true));
  return scene::framed(scene::first_that_fits(std::move(wishes)), Gap::near, Gap::near);
}

/// A square: its name, words and loupe above its diagonal, or beside it if it is alone.
Node square_node(const Square& square, const std::string& name, const std::string& words) {
  const BandPlace loupe = loupe_place(square);
  const AttentionBlock& block = square.block;
  const bool has_corner =
      !square.look.is_alone && square.view().mask && block.first_row == block.first_column;
  const auto look = [&application = square.application, by = square.by](const PlotDone& done) {
    look_around(application, by, done);
  };
  const bool has_loupe = has_corner || square.look.is_alone;
  scene::Over over{{scene::plotted(square_plot(square, has_loupe ? &loupe : nullptr), look)}, 1};
  over.least = square.look.least;
  if (has_corner)
    over.nodes.push_back(
        corner_of(square, name, words, loupe).named(fmt::format("{} corner", square.name())));
  if (!square.look.is_alone) return {std::move(over)};
  Nodes beside = {scene::text(name, style::Text::title, 0, Fit::whole).named("name")};
  if (const auto part = ask_loupe(square, loupe); part.value)
    beside += loupe_node(square, loupe, *part.value).named("loupe");
  beside += square.below;
  return scene::row({Node{std::move(over)}.filling(), scene::column(std::move(beside)).filling()}, Gap::far);
}

Node squares(Application& application, const SquareLook& look, const Node& below = scene::column({})) {
  const Computation& computed = *application.session.computed();
  const AttentionBlock block = attended_block(application.session);
  const double common = attended_range(application);
  const Known<RowOfWeights> answer = ask_row(application, application.session.token());
  const AttentionFacts& facts = attention_facts(application);
  Nodes reasons;
  Nodes both;
  const bool has_both = facts.reason.empty() && facts.no_softmax.empty();
  for (const auto& [by, name, reason] :
       {std::tuple(WeighedBy::rule, computed.variant->label, facts.reason),
        std::tuple(WeighedBy::softmax, std::string("Softmax"), facts.no_softmax)}) {
    if (by == WeighedBy::softmax && look.is_alone) continue;
    if (!reason.empty()) {
      reasons += scene::column({scene::line(name + " has no weights", style::Text::title),
                                scene::text(reason).named("reason")},
                               Gap::small)
                     .named(by == WeighedBy::rule ? "no rule" : "no softmax");
      continue;
    }
    const double range = attended_range(application, by);
    const SquareLook& own = has_both ? look : look.is_small ? small_alone : large_alone;
    const Square square{application, computed, block, range, answer.value.get(), by, own, below};
    const AttentionView& view = application.session.state().attention;
    std::string words = square_words(by, !view.gates && facts.has_gates,
                                     view.sharpness > 0 ? view.sharpness : facts.usual_sharpness,
                                     seen_weights(application, by).weights_of_a_pixel, look.is_small);
    if (range != common) words += own_scale_words(range);
    both += square_node(square, name, words).filling();
  }
  reasons += scene::row(std::move(both), Gap::far).filling();
  return scene::column(std::move(reasons));
}

Node switch_node(Application& application, const AttendSwitch& shown, bool AttentionView::*field) {
  const bool is_on = application.session.state().attention.*field;
  return scene::row(
             {scene::mark(is_on ? Mark::Kind::checked : Mark::Kind::unchecked, is_on ? 0 : scene::dim_ink),
              scene::tag(shown.words, is_on ? 0 : scene::dim_ink)},
             Gap::small)
      .named(shown.words)
      .told(shown.meaning)
      .on([&application, field] {
        application.session.change(
            [field](SessionState& state) { state.attention.*field = !(state.attention.*field); });
      });
}

/// What the picture is, how to read it, and the switches.
Node attend_switches(Application& application) {
  Nodes all = {scene::text(attend_title, style::Text::strong, 0, Fit::whole),
               scene::note(attend_legend(attention_facts(application))).filling()};
  if (!application.shows_all()) return scene::row(std::move(all), Gap::wide);
  all += switch_node(application, diagonal_switch, &AttentionView::diagonal);
  all += switch_node(application, mask_switch, &AttentionView::mask);
  if (attention_facts(application).has_gates)
    all += switch_node(application, gates_switch, &AttentionView::gates);
  all += switch_node(application, chunks_switch, &AttentionView::chunks);
  all += field_choice(application.session, &SessionState::attention, &AttentionView::shares,
                      {{"weights", false}, {"shares", true}}, shares_meaning);
  return scene::row(std::move(all), Gap::wide);
}

/// Large squares; in a low window smaller ones with the settings below them, as the side panel is too low.
Node attend_node(Application& application) {
  Nodes wishes = {squares(application, large_square)};
  if (application.shows_all())
    wishes += scene::column({squares(application, small_square).filling(), attend_settings(application, 28)});
  wishes += squares(application, small_square);
  wishes += scene::text(no_room_words);
  return scene::column({attend_switches(application), scene::first_that_fits(std::move(wishes)).filling()},
                       Gap::near);
}

/// A link to the last token, if its largest weight exceeds that of the current token.
Node way_to_last(Application& application, const RowOfWeights* row) {
  const Computation& computed = *application.session.computed();
  const Index last = computed.sequence.tokens - 1;
  const Known<RowOfWeights> answer = ask_row(application, last);
  const ReadWord* const most = answer.value ? answer.value->read_most() : nullptr;
  const ReadWord* const present = row ? row->read_most() : nullptr;
  if (!most || application.session.token() == last || (present && most->share <= present->share))
    return scene::column({});
  return scene::link(last_reads_words(computed, *most)).named("last").on([&application, last] {
    application.go_to(last);
  });
}

/// A sentence on what the token reads, and the rule's square.
Node attend_story(Application& application) {
  const Computation& computed = *application.session.computed();
  const Known<RowOfWeights> answer = ask_row(application, application.session.token());
  if (const std::string& reason = answer.value ? answer.value->reason : answer.reason; !reason.empty())
    return story_without(application, reason);
  const std::string question = attend_question(quoted_word(computed, application.session.token()));
  const std::vector<Spoken> headline =
      answer.value ? attend_headline(computed, *answer.value, application.session.token())
                   : std::vector<Spoken>{{question}};
  const Node way = way_to_last(application, answer.value.get());
  Node own = scene::first_that_fits(
      {squares(application, large_alone, way), squares(application, small_alone, way)});
  return story_page(application, {.headline = headline,
                                  .question = question,
                                  .about = attend_about,
                                  .content = scene::row(
                                      {scene::rest(), std::move(own).filling(8), scene::rest()}, Gap::none),
                                  .least = least_story_chart});
}

}  // namespace

Node attend_panel(Application& application) {
  const std::string nothing = nothing_to_show(application, ", so nothing is read");
  if (!nothing.empty()) return scene::paragraph(nothing);
  return application.tells_story() ? attend_story(application) : attend_node(application);
}

AttendSight& attend_sight() { return context_local<AttendSight>(); }

AttentionBlock attended_block(const Session& session) {
  const AttentionView& view = session.state().attention;
  const Index tokens = session.computed()->sequence.tokens;
  return fitted({view.first_row, view.first_column, view.rows > 0 ? view.rows : tokens}, tokens);
}

SeenWeights seen_weights(Application& application, WeighedBy by) {
  Session& session = application.session;
  const Index side = attend_sight().side;
  SeenWeights seen;
  if (side < 1) return seen;
  const auto add = [&](const AttentionPart& asked, bool is_coarse, Urgency urgency) {
    const Known<DrawnPart> part = ask(session, asked, urgency);
    if (!part.value) return false;
    seen.parts.push_back({asked, part.value, is_coarse});
    seen.range = std::max(
        seen.range, session.state().attention.shares ? part.value->share_range : part.value->weight_range);
    return true;
  };
  // The newest request is answered first: the rows around the current token are requested last.
  const AttentionParts parts =
      attention_parts(attended_block(session), session.computed()->sequence.tokens, side, session.token());
  if (parts.coarse) seen.is_covered = add(part_of(application, by, *parts.coarse), true, Urgency::now);
  for (const BandPlace& place : parts.fine) {
    const AttentionPart part = part_of(application, by, place, parts.rows_per_cell);
    seen.there += add(part, false, parts.coarse ? Urgency::later : Urgency::now) ? 1 : 0;
    ++seen.wanted;
    seen.weights_of_a_pixel = parts.rows_per_cell * place.tokens_per_cell;
  }
  seen.is_covered = seen.is_covered || seen.there == seen.wanted;
  return seen;
}

double attended_range(Application& application, std::optional<WeighedBy> by) {
  constexpr double least_part = 0.25;  // of the common scale: smaller weights would be nearly invisible
  const AttentionFacts& facts = attention_facts(application);
  const auto range_of = [&](WeighedBy reader) {
    const bool has_weights = (reader == WeighedBy::rule ? facts.reason : facts.no_softmax).empty();
    return has_weights ? seen_weights(application, reader).range : 0.0;
  };
  const double common = std::max(range_of(WeighedBy::rule), range_of(WeighedBy::softmax));
  const double own = by ? range_of(*by) : common;
  return round_above(own > 0 && own < least_part * common ? own : common);
}

const AttentionFacts& attention_facts(Application& application) {
  auto& facts = context_local<std::shared_ptr<const AttentionFacts>>();
  auto answer = ask(application, FactsOfAttention{application.session.computed()});
  if (answer.value) facts = std::move(answer.value);
  static const AttentionFacts unknown;
  return facts ? *facts : unknown;
}

Known<RowOfWeights> ask_row(Application& application, Index token) {
  Session& session = application.session;
  const AttentionView& view = session.state().attention;
  const auto computed = session.computed();
  return ask(session, RowAtToken{{computed}, token, view.sharpness, asked_channel(view, computed->sequence)});
}

ImU32 bar_colour(double number, double most) {
  constexpr double least_ink = 0.4;
  constexpr double hardly_any = 0.05;  // smaller numbers get closer to the background colour
  const double size = most > 0 ? std::min(std::abs(number) / most, 1.0) : 0;
  const double part = size < hardly_any ? size / hardly_any * least_ink : std::max(size, least_ink);
  return style::colour(colour(style::colours().map, static_cast<float>(std::copysign(part, number)), 1));
}

}  // namespace palimpsest
