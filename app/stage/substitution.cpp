// A solve as the substitution that it is: three matrices side by side, the row that is being solved framed,
// and below them that row as a sum of strips.

#include <fmt/format.h>

#include <numeric>

#include "app/stage/layout.h"
#include "app/widgets/chart.h"
#include "core/steps/recognised.h"

namespace palimpsest {

namespace {

constexpr float matrix_title = 22;
constexpr float usual_row = 22;
constexpr float least_row = 3;
constexpr float words_room = 64;
constexpr float coefficient_room = 64;
constexpr float equals_room = 30;
constexpr float column_gap = 12;
constexpr float share_of_overlap = 0.22F;  // of the width
constexpr float sum_gap = 14;              // between the matrices and the sum
constexpr float strip_height = 14;
constexpr float strip_distance = 21;
constexpr float share_of_sum = 0.52F;  // of the height, where rows are too low for words
constexpr float most_of_height = 0.6F;
constexpr float least_strips = 4;
constexpr float words_of_strip = 128;
constexpr float formula_of_strip = 88;
constexpr float factor_gap = 4;  // between a factor and its symbol
constexpr float number_of_strip = 66;
constexpr float symbol_letters = 15;
constexpr float sign_letters = 20;
// Numbers are texts: a formula for each would be laid out and painted at every step.
constexpr style::Text factor_text = style::Text::number_small;

struct SubstitutionLayout {
  Placing& placing;
  const SubstitutionView& view;

  void place(ImVec2 origin, ImVec2 room) {
    const auto rows = static_cast<float>(view.solved.rows);
    const float beside_words = room.y - px(matrix_title + sum_gap) - px(row_of_words) * rows;
    const float for_sum = beside_words >= px(least_strips * strip_distance)
                              ? std::min(beside_words, room.y * most_of_height)
                              : room.y * share_of_sum;
    const std::vector<std::size_t> shown =
        strongest(static_cast<std::size_t>(std::max(for_sum / px(strip_distance), 3.0F)));
    const std::size_t lines = shown.size() + (shown.size() < view.strips.size() ? 1 : 0);
    const float sum = px(sum_gap) + static_cast<float>(lines) * px(strip_distance);
    const float most = (room.y - sum - px(matrix_title)) / rows;
    const float row = most < px(least_row) ? std::max(most, 0.0F) : std::min(std::floor(most), px(usual_row));
    const float gap = px(column_gap);
    const float height = row * rows;
    const float overlap = std::floor(std::min(height, room.x * share_of_overlap));
    const float coefficients = px(coefficient_room);
    const float wide =
        std::floor((room.x - px(words_room) - overlap - coefficients - px(equals_room) - 3 * gap) / 2);
    const float y = origin.y + px(matrix_title);
    const float n = origin.x + px(words_room) + gap;
    const float u = n + overlap + gap + coefficients;
    const float r = u + wide + px(equals_room);
    place_titled(view.overlap, "overlap of the keys", {n, origin.y}, overlap + coefficients,
                 {overlap, height}, "I + ");
    place_titled(view.solved, fmt::format("solved up to row {}", view.row + 1), {u, origin.y}, wide,
                 {wide, height});
    place_titled(view.missing, "values − carried-in v̂", {r, origin.y}, wide, {wide, height});
    placing.formula("=", {u + wide + px(equals_room) / 2, y + height / 2},
                    {.size = sign_letters, .own = in_the_middle});
    if (row >= px(row_of_words)) {
      for (std::size_t i = 0; i < view.words.size(); ++i)
        place_beside_row(view.words[i], i, {n - gap, y}, row, {.room = px(words_room)});
      for (std::size_t i = 0; i < view.coefficients.size(); ++i)
        place_beside_row(view.coefficients[i] + " ×", i, {u - px(8), y}, row,
                         {.text = style::Text::number_small, .room = px(coefficient_room - 10)});
      if (overlap == height) place_ones(n, y, row);
    }
    const float top = y + row * static_cast<float>(view.row);
    // Open where the sign stands.
    const float margin = px(3);
    place_frame({n - margin, top - 1}, {u + wide + margin, top + row + 1});
    place_frame({r - margin, top - 1}, {r + wide + margin, top + row + 1});
    place_sum(origin.x, y + height + px(sum_gap), u, r + wide, shown);
  }

  float px(float design_pixels) const { return placing.px(design_pixels); }

  /// Around the row that is being solved.
  void place_frame(ImVec2 from, ImVec2 to) {
    placing.put(placing.drawn(to - from,
                              [](const Rectangle& where, StageScene&) {
                                outline(where, style::colours().text, style::px(3),
                                        style::px(style::lit_line));
                              }),
                from);
  }

  /// The required strips and those of largest norm among the others, in order; a line says how many are left
  /// out.
  std::vector<std::size_t> strongest(std::size_t most) const {
    std::vector<std::size_t> order(view.strips.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) {
      return std::pair(view.strips[i].must_stand, view.strips[i].length);
    });
    const auto must_stand =
        static_cast<std::size_t>(std::ranges::count(view.strips, true, &SubstitutionStrip::must_stand));
    if (order.size() > most) order.resize(std::max(most - 1, must_stand));
    std::ranges::sort(order);
    return order;
  }

  /// Words that end at a point, level with it.
  void ended(const std::string& said, ImVec2 at, PieceLook look) {
    look.own = to_the_right;
    placing.words(said, at, look);
  }

  /// `corner`: of all rows, from the first one's upper edge down. The row that is being solved is bright.
  void place_beside_row(const std::string& said, std::size_t i, ImVec2 corner, float row, PieceLook look) {
    look.ink = static_cast<Index>(i) == view.row ? 0 : scene::dim_ink;
    look.is_row = true;
    ended(said, {corner.x, corner.y + row * (static_cast<float>(i) + 0.5F)}, look);
  }

  void place_titled(const Box& picture, const std::string& said, ImVec2 corner, float width, ImVec2 size,
                    const std::string& before = {}) {
    const std::string latex = before + picture.latex;
    const float middle = corner.y + px(matrix_title) / 2 - px(2);
    placing.formula(latex, {corner.x, middle}, {.size = symbol_letters, .ink = 0, .own = from_the_left});
    const float taken = placing.formula_width(latex, symbol_letters) + px(8);
    if (placing.extent(said).x <= width - taken)
      placing.words(said, {corner.x + taken, middle}, {.own = from_the_left});
    placing.picture(picture, rounded(corner + ImVec2(0, px(matrix_title))), rounded(size));
  }

  /// The ones of I, which no tensor holds.
  void place_ones(float x, float y, float row) {
    for (Index i = 0; i < view.solved.rows; ++i) {
      const float at = row * (static_cast<float>(i) + 0.5F);
      placing.put(scene::number("1", scene::dim_ink), {x + at, y + at}, {0.5F, 0.5F});
    }
  }

  void place_sum(float origin, float y, float left, float right, const std::vector<std::size_t>& shown) {
    const float number = px(number_of_strip);
    const float formula_end = left - px(10);
    const float word_end = origin + px(words_room);
    float formulas = 0;
    for (const std::size_t i : shown) {
      const SubstitutionStrip& strip = view.strips[i];
      const float factor =
          strip.factor.empty() ? 0 : placing.extent(strip.factor, factor_text).x + px(factor_gap);
      formulas = std::max(formulas, placing.formula_width(strip.latex, symbol_letters) + factor);
    }
    const float words_end = formula_end - std::max(formulas + px(8), px(formula_of_strip));
    const float words_width = std::min(words_end - word_end - px(column_gap), px(words_of_strip + 40));
    std::vector<std::size_t> left_out;
    for (std::size_t i = 0; i < view.strips.size(); ++i) {
      if (!std::ranges::binary_search(shown, i)) left_out.push_back(i);
    }
    for (const std::size_t i : shown) {
      const SubstitutionStrip& strip = view.strips[i];
      // Those that are left out stand after the terms that are shown, before what they all come to.
      if (!left_out.empty() && strip.must_stand && i > 0) {
        place_left_out(left_out, word_end, formula_end, left, right, y + px(strip_height) / 2);
        left_out.clear();
        y += px(strip_distance);
      }
      const float middle = y + px(strip_height) / 2;
      const bool has_words = placing.extent(strip.words).x <= words_width;
      ended(has_words || strip.brief.empty() ? strip.word : strip.brief, {word_end, middle},
            {.ink = strip.must_stand ? 0 : scene::dim_ink, .room = px(words_room)});
      if (has_words) ended(strip.words, {words_end, middle}, {.room = words_width});
      place_term(strip.latex, {formula_end, middle});
      ended(strip.factor,
            {formula_end - placing.formula_width(strip.latex, symbol_letters) - px(factor_gap), middle},
            {.text = factor_text, .ink = 0});
      placing.picture(strip.picture, rounded({left, y}),
                      {std::round(right - left - number), px(strip_height)});
      place_number(strip.number, {right, middle});
      y += px(strip_distance);
    }
  }

  void place_term(const std::string& latex, ImVec2 at) {
    placing.formula(latex, at, {.size = symbol_letters, .ink = 0, .own = to_the_right});
  }

  void place_number(const std::string& digits, ImVec2 at) {
    ended(digits, at, {.text = style::Text::number_small, .room = px(number_of_strip) - px(6)});
  }

  /// "3 more  …  smaller terms, norm of their sum  0.02"
  void place_left_out(const std::vector<std::size_t>& strips, float word_end, float formula_end, float left,
                      float right, float middle) {
    Matrix<double> sum = view.made.at(view.strips[strips.front()].picture.tensor);
    for (const std::size_t i : strips | std::views::drop(1))
      sum += view.made.at(view.strips[i].picture.tensor);
    ended(fmt::format("{} more", strips.size()), {word_end, middle}, {.room = px(words_room)});
    place_term("\\cdots", {formula_end, middle});
    placing.words(strips.size() == 1 ? "a smaller term, its norm" : "smaller terms, norm of their sum",
                  {left, middle}, {.own = from_the_left, .room = right - px(number_of_strip) - left});
    place_number(fixed_number(sum.norm(), 2), {right, middle});
  }
};

struct SubstitutionBuilder {
  const SubstitutionNames& names;
  const Record& record;
  const Symbols& symbols;
  SubstitutionView view = {
      .overlap = picture(names.overlap), .solved = picture(names.solved), .missing = picture(names.missing)};

  void name_rows(const Block& block, const std::vector<std::string>& labels) {
    if (record.at(names.solved).rows() != block.count) return;
    for (Index row = 0; row < block.count; ++row)
      view.words.push_back(visible_label(entry(labels, block.first_token + row)));
  }

  SubstitutionView build(Index row, const Record* recurrence) {
    const SubstitutionRow sum = substitution_row(names, record, row);
    view.row = row;
    const std::string u = lower(names.solved);
    add({.word = word(row),
         .words = "value − carried-in v̂",
         .brief = "v − carried",
         .latex = fmt::format("{}_{{{}}}", lower(names.missing), row + 1),
         .must_stand = true},
        "right-hand side", sum.missing);
    for (const SubstitutionRow::Taken& taken : sum.taken) {
      const double share = -taken.coefficient;
      view.coefficients.push_back(fixed_number(taken.coefficient, 2));
      add({.word = word(taken.row),
           .words = "earlier error",
           .factor = fmt::format("{} {}", share < 0 ? "−" : "+", fixed_number(std::abs(share), 2)),
           .latex = fmt::format("{}_{{{}}}", u, taken.row + 1)},
          fmt::format("taken by {}", taken.row), taken.part);
    }
    view.coefficients.emplace_back("1");
    add({.word = word(row),
         .words = "solved error",
         .brief = "solved",
         .latex = fmt::format("= {}_{{{}}}", u, row + 1),
         .must_stand = true},
        "solved", sum.solved);
    const Index rows = record.at(names.solved).rows();
    const std::string name = view.words.empty() ? "" : fmt::format(" (“{}”)", word(row));
    view.sentence = row == 0 ? fmt::format("Row 1 of {}{}: no earlier row to subtract.", rows, name)
                    : row == 1
                        ? fmt::format("Row 2 of {}{}: row 1 is known and is subtracted below.", rows, name)
                        : fmt::format("Row {} of {}{}: rows 1–{} are known and are subtracted below.",
                                      row + 1, rows, name, row);
    add_recurrence(row, sum.solved, recurrence);
    return std::move(view);
  }

  Box picture(const std::string& tensor) const {
    return picture_of(tensor, false, fmt::format("substitution/{}", tensor), record, symbols);
  }

  std::string lower(const std::string& tensor) const {
    std::string latex = symbols.contains(tensor) ? symbol_in(symbols, tensor).latex : tensor;
    if (latex.size() == 1) latex[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(latex[0])));
    return latex;
  }

  std::string word(Index row) const {
    return view.words.empty() ? fmt::format("row {}", row + 1) : entry(view.words, row);
  }

  void add(SubstitutionStrip strip, const std::string& what, const Matrix<double>& values) {
    const std::string name = "of the sum: " + what;
    view.made.set(name, values);
    view.one_scale.push_back(name);
    strip.picture = picture_of(name, false, fmt::format("sum {}/{}", view.row, name), view.made, symbols);
    strip.length = values.norm();
    if (strip.number.empty()) strip.number = fixed_number(strip.length, 2);
    view.strips.push_back(std::move(strip));
  }

  /// The error of the same token in the recurrence, and how far off it is.
  void add_recurrence(Index row, const Matrix<double>& solved, const Record* recurrence) {
    if (!recurrence || view.words.empty() || !recurrence->contains("error")) return;
    const Matrix<double> written = recurrence->at("error").transpose();
    if (written.cols() != solved.cols() || written.rows() != 1) return;
    view.sentence += "\nRow i of U is the error of token i in the recurrence.";
    const double difference = (written - solved).cwiseAbs().maxCoeff();
    add({.word = word(row),
         .words = "error in the recurrence",
         .brief = "recurrence",
         .latex = "e_t",
         .number = difference == 0 ? "the same" : fmt::format("± {:.0e}", difference),
         .must_stand = true},
        "recurrence", written);
  }
};

}  // namespace

float natural_height(const SubstitutionView& view, const Ruler& ruler) {
  return ruler.px(matrix_title + sum_gap) + static_cast<float>(view.solved.rows) * ruler.px(usual_row) +
         static_cast<float>(view.strips.size()) * ruler.px(strip_distance);
}

void lay_out_substitution(Placing& placing, const SubstitutionView& view, ImVec2 origin, ImVec2 room) {
  SubstitutionLayout{placing, view}.place(origin, room);
}

std::optional<SubstitutionView> substitution_view(const Trace& trace, const Phase& phase,
                                                  const Record& record, const Cursor& cursor,
                                                  const std::vector<std::string>& labels,
                                                  const Record* recurrence) {
  const Operation& operation = entry(phase.operations, cursor.operation);
  const auto names = substitution_of(operation);
  if (!names) return std::nullopt;
  const Matrix<double>& solved = record.at(names->solved);
  if (solved.rows() < 1 || solved.cols() < 2 || record.at(names->overlap).size() < 2) return std::nullopt;
  SubstitutionBuilder builder{*names, record, trace.symbols};
  builder.name_rows(trace.block(cursor.block), labels);
  return builder.build(std::min(cursor.row, solved.rows() - 1), recurrence);
}

}  // namespace palimpsest
