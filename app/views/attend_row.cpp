#include "app/views/attend.h"
#include "app/views/floor.h"

// The weights of the present token: the largest beside the squares, all of them under the text.

namespace palimpsest {

namespace {

constexpr Index words_before = 4;
constexpr float zero_among_signs = 0.34F;  // the zero line in a row with negative bars
constexpr double least_share = 0.08;       // of the largest bar: smaller ones carry no number

std::string title_words(const Computation& computed, Index token) {
  if (only_counts(word_at(computed, token), token)) return fmt::format("Token {}", token + 1);
  std::string text;
  for (Index t = std::max<Index>(token - words_before, 0); t <= token; ++t)
    text += (text.empty() ? "" : " ") + word_at(computed, t);
  return fmt::format("“{} …”", text);
}

/// The range of the shares that bars show: from the least to the most.
std::pair<double, double> range_of(const RowOfWeights& row) {
  double least = 0;
  double most = 0;
  for (const ReadWord& word : row.words) {
    least = std::min(least, word.share);
    most = std::max({most, std::abs(word.share), word.softmax_share});
  }
  if (most == 0) most = 1;
  return {std::min(least, -most / 3), most};
}

/// What remains of a write at the current token.
Node left_of_write(const Computation& computed, const LeftOfWrite& left, Index own) {
  const style::Palette& c = style::colours();
  scene::Sparkline curve = {.values = left.shares,
                            .most = std::max(1.0, *std::ranges::max_element(left.shares)),
                            .ink = c.good,
                            .mark_ink = c.alarm};
  const bool is_marked = left.is_erased && left.is_much;
  if (is_marked && left.lost_most_at >= own)
    curve.marked = std::min<Index>(left.lost_most_at - own, std::ssize(left.shares) - 1);
  Nodes beside = {scene::that_fits(recall_words(left), 0)};
  if (left.lost_most_at >= 0)
    beside += scene::that_fits(most_lost_words(left, quoted_word(computed, left.lost_most_at)),
                               is_marked ? c.alarm : c.dim);
  return scene::row({Node{std::move(curve)}.filling(0.34F),
                     scene::column(std::move(beside), Gap::hair).filling(0.66F)})
      .named("left")
      .told(recall_meaning);
}

Node read_word(const Computation& computed, const RowOfWeights& row, const ReadWord& word) {
  const bool has_label = !only_counts(word_at(computed, word.token), word.token);
  Nodes all = {scene::row({scene::text(quoted_word(computed, word.token), style::Text::strong, 0, Fit::whole),
                           scene::note(has_label ? fmt::format("token {}", word.token + 1) : "")})};
  Nodes bars;
  const auto add_bar = [&, range = range_of(row)](const char* who, double share) {
    const auto [least, most] = range;
    bars += scene::caption(who).fixed(78);
    bars +=
        Node{scene::Bar{
                 .value = share, .least = least, .most = most, .ink = bar_colour(share, most), .height = 9}}
            .filling();
    bars += scene::note(weight_words(share, true), 0).fixed(40).right();
  };
  if (row.reason.empty()) add_bar("this rule", word.share);
  if (row.softmax_weights.size() > 0) add_bar("softmax", word.softmax_share);
  all += scene::grid(3, std::move(bars), Gap::near, Gap::hair);
  if (word.left && !word.left->shares.empty()) all += left_of_write(computed, *word.left, word.token);
  return scene::column(std::move(all), Gap::hair).named(std::to_string(word.token));
}

Node colour_scale(Application& application) {
  const bool shares = application.session.state().attention.shares;
  const double range = attended_range(application);
  return scene::column(
      {scene::colour_ramp(8).named("colours"),
       scene::row({scene::caption(weight_words(-range, shares)), scene::rest(), scene::caption("0"),
                   scene::rest(), scene::caption(weight_words(range, shares))},
                  Gap::none)},
      Gap::tight);
}

Node sliders(Application& application) {
  Session& session = application.session;
  const AttentionView& view = session.state().attention;
  const AttentionFacts& facts = attention_facts(application);
  Nodes all = {Node{
      scene::Slider{
          .words = "softmax scale",
          .value = view.sharpness > 0 ? view.sharpness : facts.usual_sharpness,
          .look = {.minimum = 0.01,
                   .maximum = most_sharpness,
                   .reset = facts.usual_sharpness,
                   .format = "%.3g",
                   .logarithmic = true},
          .set = [&session, usual = facts.usual_sharpness](double sharpness) {
            session.change(
                [&](SessionState& state) { state.attention.sharpness = sharpness == usual ? 0 : sharpness; });
          }}}.told(softmax_scale_meaning)};
  const Index channels = session.computed()->sequence.dv;
  if (facts.by_channel && channels > 1) {
    all.push_back(
        {scene::Slider{.words = "value channel",
                       .value = static_cast<double>(asked_channel(view, session.computed()->sequence)),
                       .look = {.maximum = static_cast<double>(channels - 1), .format = "%.0f"},
                       .set = [&session](double channel) {
                         session.change([channel](SessionState& state) {
                           state.attention.channel = static_cast<Index>(std::round(channel));
                         });
                       }}});
  }
  return scene::column(std::move(all));
}

Node side(Application& application, const Known<RowOfWeights>& answer, Gap gap) {
  const Computation& computed = *application.session.computed();
  const Index token = application.session.token();
  // On the line of the headline beside it, whose segments are higher than its letters.
  Nodes all = {
      scene::framed(scene::line(title_words(computed, token), style::Text::title), Gap::none, Gap::tight)};
  if (answer.value) {
    const RowOfWeights& row = *answer.value;
    const bool is_finite = row.reason.empty() ? std::isfinite(row.total) : row.softmax_weights.allFinite();
    if (!is_finite) all += scene::paragraph(not_finite_words);
    if (row.words.empty() && is_finite) all += scene::paragraph(nothing_read_words);
    for (const ReadWord& word : row.words) all += read_word(computed, row, word);
    const bool is_listed = is_among(row.softmax_most, row.words, &ReadWord::token);
    const bool has_another = row.softmax_most >= 0 && !is_listed;
    if (const std::string sum =
            together_words(row, has_another ? counted_token(computed, row.softmax_most) : std::string());
        !sum.empty())
      all += scene::caption(sum).named("sum");
  } else if (!answer.reason.empty()) {
    all += scene::paragraph(answer.reason);
  }
  if (!parts().find("attend/settings")) {
    all += colour_scale(application);
    if (application.shows_all()) all += sliders(application);
  }
  return scene::column(std::move(all), gap);
}

/// One reader's weights of the current row, as shares of `total`.
struct ReaderRow {
  const char* name;
  const char* label;
  const Vector<double>& weights;
  double total = 1;
  Index most_read = -1;  // the token of its largest weight

  double share(Index token) const { return token < weights.size() && total > 0 ? weights(token) / total : 0; }
};

/// Bars above and below a line, on a scale that ends at `most`.
FloorRow row_of(const ReaderRow& reader, double most) {
  const style::Palette& c = style::colours();
  const bool subtracts = reader.weights.size() > 0 && reader.weights.minCoeff() < -most / 50;
  const float zero = subtracts ? zero_among_signs : 0;
  FloorRow row{.name = reader.name,
               .above = 2,
               .below = 4,
               .label = {.lines = {{.words = reader.label, .colour = c.text}}},
               .width = FloorWidth::slim,
               .least = 2,
               .levels = {{.part = zero, .colour = c.edge}}};
  row.mark = [reader, most, zero](Index first, Index end) {
    double share = 0;
    for (Index t = first; t < end; ++t)
      if (std::abs(reader.share(t)) > std::abs(share)) share = reader.share(t);
    FloorMark mark;
    if (share == 0) return mark;
    const auto part = static_cast<float>(std::clamp(share / most, -1.0, 1.0));
    mark.add(
        {.from = zero, .to = zero + part * (part > 0 ? 1 - zero : zero), .colour = bar_colour(share, most)});
    return mark;
  };
  row.number = [reader, most](Index token) {
    const double share = reader.share(token);
    if (std::abs(share) < least_share * most) return std::string();
    const std::string number = fmt::format("{:.0f}", 100 * share);
    return number == "0" || number == "-0" ? std::string() : number;
  };
  return row;
}

/// An arrow to the largest weight while no bar of the row is in view.
void point_to(const FloorColumns& columns, const Session& session, const ReaderRow& reader, double most) {
  const Part* row = floor_part(reader.name);
  if (!row || reader.most_read < 0 || columns.shows(reader.most_read)) return;
  for (Index t = columns.begin(); t < columns.end(); ++t) {
    if (t != session.token() && std::abs(reader.share(t)) >= least_share * most) return;
  }
  const std::string words = largest_weight_words(counted_token(*session.computed(), reader.most_read),
                                                 reader.share(reader.most_read));
  const bool is_before = reader.most_read < columns.begin();
  const Node line = scene::note(is_before ? "← " + words : words + " →")
                        .named(fmt::format("floor/{}/pointed", reader.name));
  const float left = columns.position.x;
  scene::show_at(is_before ? scene::row({line}) : scene::row({scene::rest(), line}, Gap::none),
                 {{left, row->where.minimum.y}, {left + columns.size.x, row->where.maximum.y}});
}

}  // namespace

Node attend_settings(Application& application, float between) {
  return scene::row({colour_scale(application).filling(), scene::space(Gap::none).fixed(between),
                     sliders(application).filling()},
                    Gap::none)
      .named("settings");
}

Node attend_side_panel(Application& application) {
  if (!nothing_to_show(application, "").empty()) return scene::column({});
  const Known<RowOfWeights> answer = ask_row(application, application.session.token());
  static constexpr Gap gaps[] = {Gap::wide, Gap::near, Gap::small, Gap::tight};
  return scene::first_that_fits(
             std::size(gaps),
             [&application, answer](std::size_t wish) { return side(application, answer, gaps[wish]); })
      .named("side");
}

void draw_attend_floor(Application& application) {
  draw_floor_panel(application, {.name = "read tokens"}, [&](Floor& floor, const FloorPlaces& places) {
    const Session& session = application.session;
    floor.rows = {captions_row(), words_row()};
    floor.rows.back().label.lines = {
        {.words = fmt::format("query of {}", session.token() + 1), .colour = style::colours().dim}};
    const Known<RowOfWeights> answer = ask_row(application, application.session.token());
    static const RowOfWeights nothing;
    const RowOfWeights& row = answer.value ? *answer.value : nothing;
    const bool has_weights = row.reason.empty();
    // The token's own weight is often the largest by far: the others set the scale, and it may be clipped.
    double most = row.softmax_most >= 0 ? row.softmax_weights(row.softmax_most) : 0;
    for (const ReadWord& word : row.words) most = std::max({most, std::abs(word.share), word.softmax_share});
    if (!(most > 0)) most = 1;
    const ReaderRow readers[] = {
        {"rule", "this rule, %", has_weights ? row.weights : nothing.weights, row.total,
         has_weights && !row.words.empty() ? row.words.front().token : -1},
        {"softmax", "softmax, %", row.softmax_weights, 1, row.softmax_most}};
    const auto shown = std::span(readers).first(application.tells_story() ? 1 : 2);
    for (const ReaderRow& reader : shown) floor.rows.push_back(row_of(reader, most));
    show_floor(application, floor, places.columns);
    for (const ReaderRow& reader : shown) point_to(places.columns, session, reader, most);
  });
}

}  // namespace palimpsest
