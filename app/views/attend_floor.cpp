#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/scene/draw.h"
#include "app/views/attend.h"
#include "app/views/floor.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float zero_among_signs = 0.34F;  // where bars begin in a row of which some hang
constexpr double least_share = 0.08;       // of the largest bar: smaller ones carry no number

/// One reader's weights of the present row, as shares of `total`.
struct ReaderRow {
  const char* name;
  const char* label;
  const Vector<double>& weights;
  double total = 1;
  Index most_read = -1;  // the word that it reads most

  double share(Index token) const { return token < weights.size() && total > 0 ? weights(token) / total : 0; }
};

/// They are bars over and under a line, on a scale that ends at `most`.
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

/// Where the word that is read most stands, while nothing of the row is in view.
void point_to(const FloorColumns& columns, const Session& session, const ReaderRow& reader, double most) {
  const Part* row = floor_part(reader.name);
  if (!row || reader.most_read < 0 || columns.shows(reader.most_read)) return;
  for (Index t = columns.begin(); t < columns.end(); ++t) {
    if (t != session.token() && std::abs(reader.share(t)) >= least_share * most) return;
  }
  const std::string words =
      fmt::format("read most: {} “{}”, {}", reader.most_read,
                  visible_label(session.data().labels[static_cast<std::size_t>(reader.most_read)]),
                  weight_words(reader.share(reader.most_read), true));
  const bool is_before = reader.most_read < columns.begin();
  const scene::Node line =
      scene::line(is_before ? "← " + words : words + " →", style::Text::caption, scene::dim_ink)
          .named(fmt::format("floor/{}/pointed", reader.name));
  const float left = columns.position.x;
  scene::show_at(is_before ? scene::row({line}) : scene::row({scene::rest(), line}, scene::Gap::none),
                 {{left, row->where.minimum.y}, {left + columns.size.x, row->where.maximum.y}});
}

}  // namespace

void draw_attend_floor(Application& application) {
  draw_floor_panel(application, "##attend floor", 10, 4, RowsAbove::none, [&](ImVec2 from, ImVec2 to) {
    const Session& session = application.session;
    const auto columns = columns_between(session, from, to, {60, 80});
    if (!columns) return;
    Floor floor = floor_of(session, "read words");
    floor.rows = {captions_row(), words_row()};
    floor.rows.back().label.lines = {
        {.words = fmt::format("row {} reads", session.token()), .colour = style::colours().dim}};
    const Known<RowOfWeights> answer = ask_row(application);
    static const RowOfWeights nothing;
    const RowOfWeights& row = answer.value ? *answer.value : nothing;
    const bool has_weights = row.reason.empty();
    // The own word is often read most by far; what is drawn is scaled by the others, and it may be cut off.
    double most = row.softmax_most >= 0 ? row.softmax_weights(row.softmax_most) : 0;
    for (const ReadWord& word : row.words) most = std::max({most, std::abs(word.share), word.softmax_share});
    if (!(most > 0)) most = 1;
    static const Vector<double> no_weights;
    const ReaderRow readers[] = {{"rule", "this rule, %", has_weights ? row.weights : no_weights, row.total,
                                  has_weights && !row.words.empty() ? row.words.front().token : -1},
                                 {"softmax", "softmax, %", row.softmax_weights, 1, row.softmax_most}};
    for (const ReaderRow& reader : readers) floor.rows.push_back(row_of(reader, most));
    show_floor(application, floor, *columns);
    for (const ReaderRow& reader : readers) point_to(*columns, session, reader, most);
  });
}

}  // namespace palimpsest
