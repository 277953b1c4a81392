#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/compared_sides.h"
#include "app/stage/head.h"
#include "app/views/answer_cells.h"
#include "app/views/compare.h"
#include "app/views/floor_rows.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"
#include "core/base/text.h"
#include "core/insight/rule_difference.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float name_height = 26;
constexpr float line_height = 16;  // of a caption
constexpr float body_height = 18;  // of a sentence
constexpr float formula_height = 38;
constexpr float low_formula_height = 30;
constexpr float largest_formula = 21;
constexpr float smallest_formula = 9;
constexpr float between = 12;
constexpr float error_height = 22;
constexpr float low_column = 560;  // below this height there is less of everything
constexpr float narrow_column = 340;
constexpr float numbered_cell = 18;
constexpr float least_picture = 24;

constexpr double least_part = 0.05;    // of the common scale: what is smaller has a scale of its own
constexpr double most_beyond = 0.25;   // of its numbers: with more it has, too
constexpr double told_beyond = 0.055;  // and this much is told: the scale is made for 5 %

/// At most so many lines; what has no room in them is cut off.
std::vector<std::string> wrapped(const std::string& words, float width, std::size_t most) {
  const std::vector<std::string_view> all = wrapped_lines(words, width);
  std::vector<std::string> lines(all.begin(),
                                 all.begin() + std::min(std::ssize(all), static_cast<std::ptrdiff_t>(most)));
  if (all.size() > most) {
    const std::string_view last = all[most - 1];
    lines.back() = shortened(
        std::string_view(words).substr(static_cast<std::size_t>(last.data() - words.data())), width);
  }
  return lines;
}

/// How many lines what is said in a column has.
struct Lines {
  std::size_t sentence = 1;
  std::size_t answer = 1;
  std::size_t others = 0;
};

/// How high the parts are, the same in all columns so that their tops are aligned.
struct Heights {
  float width = 0;  // of what stands in a column
  Lines lines;
  float formula = 0;
  float picture = 0;
  float cell = 0;
  float rows = 0;
};

/// What is written in a column, wrapped to its width.
struct ColumnWords {
  std::vector<std::string> sentence;
  std::vector<std::string> answer;
  std::vector<std::string> others;
};

std::string sentence_of(const ComparedSide& side, const ComparedSides& all) {
  if (side.same_as)
    return fmt::format("The same rule with the same settings as in column {}: no number differs.",
                       *side.same_as + 1);
  if (!side.computed) return side.reason.empty() ? "It is being computed …" : side.reason;
  const auto reference = std::ranges::find(all.sides, true, &ComparedSide::is_reference);
  const std::string differs = side.is_reference ? "" : otherwise(side.side, reference->side);
  return (differs.empty() ? "" : differs + ". ") + side_sentence(*side.computed);
}

ColumnWords words_of(const ComparedSide& side, const ComparedSides& all, float width, const Lines& most,
                     bool is_before) {
  ColumnWords words;
  {
    const style::TextStyle text(style::Text::caption);
    words.sentence = wrapped(sentence_of(side, all), width, most.sentence);
    if (side.moment && most.others > 0) words.others = wrapped(side.moment->others, width, most.others);
  }
  const style::TextStyle text(style::Text::body);
  if (side.moment) {
    const std::string& sentence = side.moment->sentence;
    const bool comes = is_before && !sentence.empty();
    words.answer = wrapped((comes ? "Then: " : "") + sentence, width, most.answer);
  }
  return words;
}

Heights heights_of(const ComparedSides& all, const std::vector<ColumnWords>& words, float width, float height,
                   bool is_low) {
  Heights heights;
  heights.width = width;
  Lines& lines = heights.lines;
  for (const ColumnWords& column : words) {
    lines.sentence = std::max(lines.sentence, column.sentence.size());
    lines.answer = std::max(lines.answer, column.answer.size());
    lines.others = std::max(lines.others, column.others.size());
  }
  heights.formula = px(is_low ? low_formula_height : formula_height);
  for (const ComparedSide& side : all.sides) {
    if (side.moment)
      heights.rows = std::max(heights.rows, static_cast<float>(side.moment->table.words.size()));
  }
  const float rows = std::max(heights.rows, 1.0F);
  const auto left_over = [&] {
    return height - (px(name_height) + px(line_height) * static_cast<float>(lines.sentence) +
                     heights.formula + px(line_height + 2) + px(between) + px(20) + px(line_height + 4) +
                     px(6) + px(body_height) * static_cast<float>(lines.answer) +
                     px(line_height) * static_cast<float>(lines.others) + px(error_height));
  };
  // Rather numbers in the cells than more words; what is cut is told under the pointer.
  const auto spare = [&](std::size_t& count, std::size_t least) {
    while (count > least && left_over() < rows * px(numbered_cell) + px(least_picture)) --count;
  };
  spare(lines.others, 0);
  spare(lines.sentence, 1);
  spare(lines.answer, 2);
  const float rest = std::max(left_over(), px(60));
  heights.cell = std::floor(std::clamp(rest * 0.52F / rows, px(8), px(28)));
  // Rather numbers in the cells than a larger picture.
  heights.cell =
      std::max(heights.cell, std::min(px(numbered_cell), std::floor((rest - px(least_picture)) / rows)));
  heights.picture =
      std::floor(std::clamp(rest - rows * heights.cell, px(least_picture), (width - px(between)) / 2));
  heights.cell = std::floor(std::clamp((rest - heights.picture) / rows, px(8), px(38)));
  return heights;
}

/// The equation of a side, with a box around what the side on its left lacks.
struct Written {
  std::weak_ptr<const Computation> of;
  std::weak_ptr<const Computation> beside;
  std::optional<style::Theme> theme;
  std::string latex;
  std::vector<std::string> lacking;  // the symbols in boxes
};

/// Whether they are one computation, or none. A gone one is no other that lies where it lay.
bool is_same(const std::weak_ptr<const Computation>& known,
             const std::shared_ptr<const Computation>& present) {
  return !known.owner_before(present) && !present.owner_before(known);
}

const Written& equation_of(const ComparedSide& side, const ComparedSide* left) {
  auto& known = context_local<std::array<Written, most_sides>>()[side.index % most_sides];
  const std::shared_ptr<const Computation> beside = left ? left->computed : nullptr;
  if (is_same(known.of, side.computed) && is_same(known.beside, beside) && known.theme == style::theme())
    return known;
  known = {side.computed, beside, style::theme(), {}, {}};
  const auto& trace = side.computed->trace(Form::recurrent);
  const Line* line = trace ? rewriting_line(*trace) : nullptr;
  if (!line) return known;
  const auto* other = beside ? beside->trace(Form::recurrent).get() : nullptr;
  if (const Line* rewritten = other ? rewriting_line(*other) : nullptr) {
    for (const std::string& tensor : lacking(*line, trace->symbols, *rewritten, other->symbols)) {
      const auto symbol = trace->symbols.find(tensor);
      if (symbol != trace->symbols.end()) known.lacking.push_back(symbol->second.latex);
    }
  }
  Symbols symbols = trace->symbols;
  for (auto& [name, symbol] : symbols) {  // room for their boxes
    if (std::ranges::find(known.lacking, symbol.latex) != known.lacking.end())
      symbol.latex = fmt::format("{{\\,{}\\,{{}}}}", symbol.latex);
  }
  known.latex = latex(line->equation, symbols, stage_latex());
  return known;
}

/// Draws a column from top to bottom, and notes where everything lies.
class ColumnPainter {
 public:
  ColumnPainter(Application& application, const ComparedSides& all, const ComparedSide& side,
                const Heights& heights, CompareMap::Column& map, ImVec2 from)
      : application_(application), all_(all), side_(side), heights_(heights), map_(map), at_(from) {}

  void name() {
    const ImVec2 from = at_;
    const float right = buttons();
    list_->AddCircleFilled({from.x + px(6), from.y + px(11)}, px(5), side_colour(side_.index));
    const float room = right - from.x - px(34);
    const style::TextStyle text(style::Text::title);
    const std::string whole = find_variant(side_.side.variant).label;
    const std::string shown = text_extent(whole).x <= room ? whole : shortened(side_name(side_.side), room);
    ImGui::SetCursorScreenPos({from.x + px(18), from.y});
    if (ImGui::InvisibleButton(fmt::format("another {}", side_.index).c_str(),
                               {text_extent(shown).x + px(16), px(22)}))
      ImGui::OpenPopup("another side");
    const bool is_lit = ImGui::IsItemHovered();
    {
      const style::TextStyle body(style::Text::body);
      tooltip("Another rule, form, precision or option for this side.");
    }
    draw_text({from.x + px(18), from.y + px(1)}, c_.text, shown);
    const float arrow = from.x + px(18) + text_extent(shown).x + px(6);
    list_->AddTriangleFilled({arrow, from.y + px(9)}, {arrow + px(8), from.y + px(9)},
                             {arrow + px(4), from.y + px(14)}, is_lit ? c_.text : c_.dim);
    take("name", px(name_height), right - from.x);
    draw_side_menu(application_, side_);
  }

  void sentence(const std::vector<std::string>& lines) {
    const style::TextStyle text(style::Text::caption);
    draw_lines("sentence", lines, heights_.lines.sentence, px(line_height), c_.dim, sentence_of(side_, all_));
  }

  void equation(const ComparedSide* left) {
    if (side_.computed) {
      const Written& written = equation_of(side_, left);
      const std::string& latex = written.latex;
      map_.formula = latex;
      map_.boxed = written.lacking;
      float size = px(largest_formula);
      FormulaSize extent = measure_formula(latex, size);
      if (extent.width > heights_.width)
        size = std::max(size * heights_.width / extent.width, px(smallest_formula));
      extent = measure_formula(latex, size);
      if (extent.height > heights_.formula) {
        size *= heights_.formula / extent.height;
        extent = measure_formula(latex, size);
      }
      const float x = std::max(at_.x, at_.x + (heights_.width - extent.width) / 2);
      const float top = std::round(at_.y + (heights_.formula - extent.height) / 2);
      draw_formula(list_, {x, top + extent.baseline}, latex, size, c_.text);
      for (const SymbolPlace& place : symbol_places(latex, size, written.lacking)) {
        list_->AddRect({x + place.from.x - px(3), top + place.from.y - px(3)},
                       {x + place.to.x + px(3), top + place.to.y + px(3)}, c_.dim, px(4), px(style::line));
      }
    }
    take("equation", heights_.formula, heights_.width);
  }

  void memories() {
    const float side = heights_.picture;
    const float caption = px(line_height + 2);
    if (!side_.moment || !side_.moment->no_memory.empty()) {
      const std::string reason = side_.moment ? side_.moment->no_memory : std::string();
      paragraph(reason, caption + side);
      take("memory", caption + side + px(between), heights_.width);
      return;
    }
    const SideMoment& moment = *side_.moment;
    const SideMoment::Memory& memory = is_before() ? moment.before : moment.after;
    // Not farther than the middle: what is said above it needs the room.
    const float second =
        at_.x + std::min(heights_.width - side, std::ceil((heights_.width + px(between)) / 2));
    const float second_width = at_.x + heights_.width - second;
    const PictureScale scale = scale_of(memory.S, memory.range);
    head(at_.x, second - at_.x - px(between), memory_words(scale), memory.length);
    picture(fmt::format("memory {}", side_.index), memory.S, memory.version, {at_.x, at_.y + caption}, side,
            scale.range);
    if (side_.is_reference) {
      head(second, second_width, {"the reference", "reference"}, std::nullopt);
      list_->AddRect({second, at_.y + caption}, {second + side, at_.y + caption + side}, c_.edge);
    } else if (memory.apart.size() == 0) {
      head(second, second_width, {"no difference"}, std::nullopt);
      const style::TextStyle text(style::Text::caption);
      float y = at_.y + caption;
      const auto most = static_cast<std::size_t>(std::max(side / px(line_height), 1.0F));
      for (const std::string& line : wrapped(no_difference(), at_.x + heights_.width - second, most)) {
        draw_text({second, y}, c_.dim, line);
        y += px(line_height);
      }
    } else {
      const auto reference = std::ranges::find(all_.sides, true, &ComparedSide::is_reference);
      std::vector<std::string> than = {"minus " + side_name(reference->side), "minus reference", "apart"};
      const PictureScale apart = scale_of(memory.apart, memory.apart_range);
      if (apart.is_own)
        than = {"own scale ±" + plain_number(apart.range, 1), "±" + plain_number(apart.range, 1)};
      head(second, second_width, than, apart.is_own ? std::nullopt : std::optional(memory.apart_length));
      picture(fmt::format("difference {}", side_.index), memory.apart, memory.apart_version,
              {second, at_.y + caption}, side, apart.range);
    }
    take("memory", caption + side + px(between), heights_.width);
  }

  void answers() {
    list_->AddLine({map_.place.minimum.x, at_.y - px(between) / 2},
                   {map_.place.maximum.x, at_.y - px(between) / 2}, c_.edge);
    const float head_height = px(line_height + 4);
    const float height = px(20) + head_height + heights_.cell * std::max(heights_.rows, 1.0F);
    {
      const style::TextStyle text(style::Text::strong);
      draw_text(at_, c_.text, shortened(answers_title(), heights_.width));
    }
    if (!side_.moment || side_.moment->table.words.empty()) {
      at_.y += px(20);
      paragraph(side_.moment ? side_.moment->no_table : std::string(), height - px(20));
      at_.y -= px(20);
      take("answers", height + px(6), heights_.width);
      return;
    }
    const AnswerTable& table = side_.moment->table;
    explained(table);
    const float names = answer_names_width(table, std::min(px(84), heights_.width * 0.22F));
    const auto count = static_cast<float>(table.words.size());
    const ImVec2 cell = {std::floor((heights_.width - names - px(2)) / count), heights_.cell};
    const ImVec2 corner = {at_.x, at_.y + px(20)};
    draw_answer_names(table, corner, names, cell.y, head_height);
    const Matrix<double>& values = is_before() ? table.before : table.after;
    const auto hovered = draw_answer_cells(table, values, {}, {corner.x + names, corner.y}, cell, head_height,
                                           answer_scale(table));
    map_.answer_scale = answer_scale(table);
    if (ImGui::IsWindowHovered() &&
        ImGui::IsMouseHoveringRect(at_, {at_.x + heights_.width, corner.y + head_height}))
      tooltip_beside(
          at_, {at_.x + heights_.width, corner.y + head_height},
          "“They explain”: how much of the direction of each row's answer the values of these words "
          "explain, from the least row to the most; the rest is of other words. " +
              scale_words(answer_scale(table)));
    const Rectangle pictures = {corner, {corner.x + heights_.width, corner.y + head_height + cell.y * count}};
    if (hovered && ImGui::IsWindowHovered())
      explain_answer(table, is_before() ? "before" : "after", values, *hovered, pictures);
    take("answers", height + px(6), heights_.width);
  }

  void words(const ColumnWords& written) {
    {
      const style::TextStyle text(style::Text::body);
      draw_lines("answer", written.answer, heights_.lines.answer, px(body_height), c_.text,
                 side_.moment ? side_.moment->sentence : std::string());
    }
    const style::TextStyle text(style::Text::caption);
    draw_lines("others", written.others, heights_.lines.others, px(line_height), c_.dim, {});
  }

  /// |v - S^T k| of the word, red as it finds the memory, filled as it leaves it.
  void error(double full) {
    const Index token = application_.session.token();
    const style::TextStyle text(style::Text::caption);
    const bool has_recall = side_.recall && !side_.recall->tokens.empty();
    if (!has_recall) {
      if (side_.recall) draw_text(at_, c_.dim, "No memory to ask: no error.");
      take("error", px(error_height), heights_.width);
      return;
    }
    const Recall& recall = side_.recall->tokens[static_cast<std::size_t>(token)];
    const double before = std::sqrt(2 * recall.before);
    const double after = std::sqrt(2 * recall.after);
    const std::string numbers = fmt::format("{} → {}", plain_number(before, 3), plain_number(after, 3));
    const std::string word =
        visible_label(application_.session.data().labels[static_cast<std::size_t>(token)]);
    const float numbers_width = text_extent("0.000 → 0.000").x + px(4);
    const std::string name = shortened("error at " + word, heights_.width * 0.32F);
    draw_text({at_.x, at_.y + px(2)}, c_.dim, name);
    draw_text({at_.x + heights_.width - text_extent(numbers).x, at_.y + px(2)}, c_.text, numbers);
    const float left = at_.x + heights_.width * 0.32F + px(6);
    const float right =
        at_.x + heights_.width - std::max(numbers_width, text_extent(numbers).x + px(4)) - px(4);
    if (right - left > px(24)) {
      const auto end = [&](double length) { return left + (right - left) * length_bar(length, full).part; };
      const float top = at_.y + px(5);
      list_->AddRectFilled({left, top}, {end(after), top + px(9)}, c_.error);
      list_->AddRect({left, top}, {end(before), top + px(9)}, c_.error, 0, px(style::line));
    }
    take("error", px(error_height), heights_.width);
  }

 private:
  bool is_before() const { return application_.session.state().compare.before; }

  /// At the right of the name; returns where they begin.
  float buttons() {
    float right = at_.x + heights_.width;
    if (why_it_stays(application_.session.state(), side_.index).empty()) {
      right -= px(18);
      ImGui::SetCursorScreenPos({right, at_.y + px(2)});
      if (icon_button(fmt::format("take out {}", side_.index).c_str(), Icon::close, 18))
        application_.session.change(without_side(application_.session.state(), side_.index));
      tooltip("Take this side out.");
      right -= px(10);
    }
    const style::TextStyle text(style::Text::caption);
    const char* word = "reference";
    right -= text_extent(word).x;
    if (side_.is_reference) {
      draw_text({right, at_.y + px(5)}, c_.text, word);
      list_->AddRectFilled({right, at_.y + px(21)}, {right + text_extent(word).x, at_.y + px(22)}, c_.text);
    } else {
      ImGui::SetCursorScreenPos({right, at_.y});
      if (style::word_button(fmt::format("{}##{}", word, side_.index).c_str(), 24))
        application_.session.change(with_reference(application_.session.state(), side_.index));
      tooltip("Take all differences to this side.");
    }
    if (side_.is_old) {
      right -= px(22);
      style::spinner({right + px(8), at_.y + px(12)}, c_.dim);
    }
    return right - px(8);
  }

  void explained(const AnswerTable& table) {
    const Vector<double>& shares = is_before() ? table.explained_before : table.explained_after;
    const bool is_early = std::ranges::none_of(table.words, &AskedWord::is_written);
    if (shares.size() == 0 || !shares.allFinite() || is_early) return;
    const style::TextStyle text(style::Text::caption);
    const std::string least = fmt::format("{:.0f}", 100 * std::max(shares.minCoeff(), 0.0));
    const std::string most = fmt::format("{:.0f}", 100 * std::max(shares.maxCoeff(), 0.0));
    const std::string share = least == most ? least : fmt::format("{}–{}", least, most);
    std::string words = fmt::format("these words explain {} % of each answer", share);
    float title = 0;
    {
      const style::TextStyle strong(style::Text::strong);
      title = text_extent(answers_title()).x;
    }
    const auto fits = [&] { return title + text_extent(words).x + px(10) <= heights_.width; };
    if (!fits()) words = fmt::format("they explain {} %", share);
    if (!fits()) return;
    draw_text({at_.x + heights_.width - text_extent(words).x, at_.y + px(2)}, c_.dim, words);
  }

  /// The end of a picture's colours.
  struct PictureScale {
    double range = 1;
    double beyond = 0;  // the share of its numbers beyond it
    bool is_own = false;
  };

  /// The common one, unless most of the numbers would be blank there or beyond it.
  PictureScale scale_of(const Matrix<double>& numbers, double own) const {
    const double largest = numbers.cwiseAbs().maxCoeff();
    if (largest > 0 && largest < least_part * all_.range) return {.range = largest, .is_own = true};
    const auto beyond = static_cast<double>((numbers.array().abs() > all_.range).count());
    const double share = beyond / static_cast<double>(std::max<Index>(numbers.size(), 1));
    if (share > most_beyond) return {.range = own, .is_own = true};
    return {.range = all_.range, .beyond = share};
  }

  /// Which memory, and how much of it lies beyond the colours if that is noticeable; the shorter, the later.
  std::vector<std::string> memory_words(const PictureScale& scale) const {
    const char* which = is_before() ? "before" : "after";
    if (scale.is_own) {
      const std::string end = "±" + plain_number(scale.range, 1);
      return {fmt::format("memory {}, own scale {}", which, end), fmt::format("{}, own scale {}", which, end),
              "own scale " + end, end};
    }
    if (scale.beyond < told_beyond) return {fmt::format("memory {}", which), which};
    const std::string words = fmt::format("{:.0f} % beyond", 100 * scale.beyond);
    return {fmt::format("memory {}, {}", which, words), fmt::format("{}, {}", which, words), words,
            fmt::format("{:.0f} %", 100 * scale.beyond)};
  }

  /// Why there is no difference, in as few words as its room needs.
  std::string no_difference() const {
    const auto reference = std::ranges::find(all_.sides, true, &ComparedSide::is_reference);
    const Variant& variant = find_variant(reference->side.variant);
    return variant.memory.none.empty() ? side_.moment->no_difference : variant.label + " keeps no memory.";
  }

  std::string answers_title() const {
    const bool is_asked = side_.moment && !side_.moment->table.words.empty();
    return title_with_scale("What the memory answers", is_asked ? answer_scale(side_.moment->table) : 1);
  }

  /// The first of `words` for which there is room, and how long the matrix below is.
  void head(float left, float width, const std::vector<std::string>& words, std::optional<double> length) {
    std::string number = length ? plain_number(*length, 3) : std::string();
    const style::TextStyle text(style::Text::caption);
    const auto fits_beside = [&](const std::string& each) {
      return text_extent(each + "length " + number).x + px(8) <= width;
    };
    if (length && std::ranges::any_of(words, fits_beside)) number = "length " + number;
    const float room = width - (number.empty() ? 0 : text_extent(number).x + px(6));
    const auto fitting =
        std::ranges::find_if(words, [&](const std::string& each) { return text_extent(each).x <= room; });
    const std::string shown = fitting != words.end() ? *fitting : shortened(words.back(), room);
    draw_text({left, at_.y}, c_.dim, shown);
    map_.captions.push_back(shown);
    if (!number.empty()) draw_text({left + width - text_extent(number).x, at_.y}, c_.text, number);
  }

  void picture(const std::string& key, const Matrix<double>& numbers, std::uint64_t version, ImVec2 from,
               float side, double range) {
    HeatMapLook look{.range = static_cast<float>(range)};
    look.transposed = application_.view.state_value_by_key;
    heat_map(key, numbers, version, from, {side, side}, look);
    list_->AddRect({from.x - 1, from.y - 1}, {from.x + side + 1, from.y + side + 1}, c_.edge);
    if (!ImGui::IsWindowHovered()) return;
    const Index rows = look.transposed ? numbers.cols() : numbers.rows();
    const Index columns = look.transposed ? numbers.rows() : numbers.cols();
    const auto cell = hovered_cell(from, {side, side}, rows, columns, ImGui::GetMousePos());
    if (!cell) return;
    const Index row = look.transposed ? cell->column : cell->row;
    const Index column = look.transposed ? cell->row : cell->column;
    tooltip_beside(from, {from.x + side, from.y + side},
                   fmt::format("row {}, column {}: {:.5g}. Colours from −{:.2g} to {:.2g}{}.", row, column,
                               numbers(row, column), range, range,
                               range == all_.range ? ", the same in every column" : ": its own scale"));
  }

  void paragraph(const std::string& words, float height) {
    const style::TextStyle text(style::Text::body);
    const auto most = static_cast<std::size_t>(std::max(height / px(body_height), 1.0F));
    float y = at_.y;
    for (const std::string& line : wrapped(words, heights_.width, most)) {
      draw_text({at_.x, y}, c_.dim, line);
      y += px(body_height);
    }
  }

  void draw_lines(const char* part, const std::vector<std::string>& lines, std::size_t most, float height,
                  ImU32 colour, const std::string& whole) {
    float y = at_.y;
    for (const std::string& line : lines) {
      draw_text({at_.x, y}, colour, line);
      y += height;
    }
    const Rectangle place = {at_, {at_.x + heights_.width, at_.y + height * static_cast<float>(most)}};
    take(part, height * static_cast<float>(most), heights_.width);
    const bool is_cut = !lines.empty() && lines.back().ends_with("…");
    if (is_cut && ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(place.minimum, place.maximum))
      tooltip_beside(place.minimum, place.maximum, whole);
  }

  void take(const char* part, float height, float width) {
    map_.parts.emplace_back(part, Rectangle{at_, {at_.x + width, at_.y + height}});
    at_.y += height;
  }

  Application& application_;
  const ComparedSides& all_;
  const ComparedSide& side_;
  const Heights& heights_;
  CompareMap::Column& map_;
  ImVec2 at_;
  const style::Palette& c_ = style::colours();
  ImDrawList* list_ = ImGui::GetWindowDrawList();
};

/// The longest error of the word over all sides, before or after.
double longest_error(const ComparedSides& all, Index token) {
  double longest = 0;
  for (const ComparedSide& side : all.sides) {
    if (!side.recall || side.recall->tokens.empty()) continue;
    const Recall& recall = side.recall->tokens[static_cast<std::size_t>(token)];
    for (const double half : {recall.before, recall.after}) {
      if (std::isfinite(half)) longest = std::max(longest, std::sqrt(2 * half));
    }
  }
  return longest;
}

}  // namespace

void draw_columns(Application& application, const ComparedSides& all) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const auto count = static_cast<float>(all.sides.size());
  const float gap = px(style::panel_gap);
  const float width = std::floor((room.x - gap * (count - 1)) / count);
  const bool is_low = room.y < px(low_column);
  const float padding = width < px(narrow_column) || is_low ? style::low_padding : style::panel_padding;
  const float inner = width - 2 * px(padding);
  if (inner < px(80) || room.y < px(200)) {
    style::paragraph("There is no room here for the sides: make the panel larger.");
    return;
  }
  const bool is_before = application.session.state().compare.before;
  std::vector<ColumnWords> words;
  for (const ComparedSide& side : all.sides)
    words.push_back(
        words_of(side, all, inner, {.sentence = 4, .answer = 4, .others = is_low ? 1U : 2U}, is_before));
  const Heights heights = heights_of(all, words, inner, room.y - 2 * px(padding), is_low);
  const double full = longest_error(all, application.session.token());
  for (std::size_t i = 0; i < all.sides.size(); ++i) {
    const ComparedSide& side = all.sides[i];
    ImGui::SetCursorScreenPos({from.x + static_cast<float>(i) * (width + gap), from.y});
    if (style::begin_panel(fmt::format("##side {}", side.index).c_str(), {width, room.y},
                           ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse, padding)) {
      CompareMap::Column& map = compare_map().columns.emplace_back();
      const ImVec2 panel = ImGui::GetWindowPos();
      map.index = side.index;
      map.place = {panel, {panel.x + width, panel.y + room.y}};
      map.moment = side.moment;
      map.reason = side.reason;
      map.sentence = sentence_of(side, all);
      ColumnPainter painter(application, all, side, heights, map, ImGui::GetCursorScreenPos());
      painter.name();
      const ColumnWords fitting = words_of(side, all, inner, heights.lines, is_before);
      painter.sentence(fitting.sentence);
      painter.equation(i > 0 && !side.same_as ? &all.sides[i - 1] : nullptr);
      painter.memories();
      painter.answers();
      painter.words(fitting);
      painter.error(full);
      ImGui::SetCursorScreenPos(panel);
      ImGui::Dummy({1, 1});  // pictures are no items
    }
    style::end_panel();
  }
}

}  // namespace palimpsest
