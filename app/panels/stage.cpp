#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

#include "app/application.h"
#include "app/gl/context_local.h"
#include "app/panels.h"
#include "app/panels/form_words.h"
#include "app/panels/scales.h"
#include "app/panels/shown.h"
#include "app/panels/stage.h"
#include "app/session/counted.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/picture_equation.h"
#include "app/widgets/text.h"
#include "core/steps/state_steps.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float reason_width = 460;     // of the words where there is nothing to draw
constexpr float line_text_width = 168;  // words beside a line of pictures
constexpr float legend_bar = 44;        // of the colours on either side of 0
constexpr float legend_gap = 6;
constexpr float large_share = 0.56F;      // of the height of a token's pictures
constexpr float height_of_two = 250;      // a token's pictures stand in two rows from this on
constexpr float least_column = 150;       // of the lower row
constexpr float step_share = 0.5F;        // of the lower row, for the present step
constexpr float title_height = 28;        // of a picture in the lower row
constexpr float line_margin = 16;         // between lines of pictures; a frame takes a third
constexpr float least_lit_share = 0.36F;  // of the height: the line at the cursor is the largest
constexpr float least_unit = 10;          // other lines may have pictures of this size in any case
constexpr float wide_title_height = 24;   // of a line whose pictures take the whole width
constexpr float gain_of_wide = 1.1F;      // when it takes it: so many times as wide at least
constexpr float more_height = 20;         // of the words that tell how many lines are not in sight
constexpr double fade_seconds = 0.18;

Role role_of(const Symbols& symbols, const std::string& tensor) {
  const auto symbol = symbols.find(tensor);
  return symbol == symbols.end() ? Role::plain : symbol->second.role;
}

double largest_finite(const Matrix<double>& values) {
  double largest = 0;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isfinite(values.data()[i])) largest = std::max(largest, std::abs(values.data()[i]));
  }
  return largest;
}

/// What the stage shows at the cursor.
struct View {
  Application& application;
  const Computation& computation;
  const Trace& trace;
  Cursor cursor;
  Block block;
  const Phase& phase;
  const Operation& operation;
  const Record& record;
  const std::set<std::string> steps_of_states = state_steps(trace);

  std::string sentence(std::string text) const {
    const std::string slot = "{token}";
    const auto& labels = computation.data->labels;
    std::string label = labels[static_cast<std::size_t>(trace.token(cursor))];
    const auto first = label.find_first_not_of(" \n");
    label = first == std::string::npos ? "␣" : label.substr(first);
    if (const auto at = text.find(slot); at != std::string::npos) text.replace(at, slot.size(), label);
    return text;
  }

  /// Position of the line that the present operation belongs to.
  std::size_t line_index() const {
    const auto found = std::ranges::find_if(phase.lines, [&](const Line& candidate) {
      return std::ranges::find(candidate.operations, operation.id) != candidate.operations.end();
    });
    return found == phase.lines.end() ? phase.lines.size() - 1
                                      : static_cast<std::size_t>(found - phase.lines.begin());
  }
  const Line& line() const { return phase.lines[line_index()]; }

  /// The operations of a line, in order.
  std::vector<const Operation*> operations_of(const Line& line) const {
    std::vector<const Operation*> found;
    for (const Operation& candidate : phase.operations) {
      if (std::ranges::find(line.operations, candidate.id) != line.operations.end())
        found.push_back(&candidate);
    }
    return found;
  }

  std::string title_of(std::size_t line) const {
    const std::string& title = phase.lines[line].title;
    return phase.lines.size() > 1 ? fmt::format("{}  {}", line + 1, title) : title;
  }

  /// Position of the operation that makes `tensor`; -1 if it is given.
  Index made_by(const std::string& tensor) const {
    for (std::size_t i = 0; i < phase.operations.size(); ++i) {
      if (phase.operations[i].equation.result == tensor) return static_cast<Index>(i);
    }
    return -1;
  }

  /// Whether `tensor` becomes the output only by what follows, such as a division.
  bool is_unfinished_output(const std::string& tensor) const {
    const Index maker = std::max(made_by("o"), made_by("O"));
    const bool is_output = tensor == "o" || tensor == "O";
    return !is_output && maker >= 0 && phase.operations[static_cast<std::size_t>(maker)].id != "output";
  }

  /// The scale of the tensor's kind in the whole sequence; 0 where it has one of its own. Features of keys,
  /// queries and values are of no kind: they are not what the data give. What a state is moved by is of the
  /// state's kind: the two are compared.
  double kind_range_of(const std::string& tensor) const {
    const Matrix<double>& value = record.at(tensor);
    const bool moves_state = value.rows() > 1 && value.cols() > 1 && steps_of_states.contains(tensor);
    const Role role = moves_state ? Role::state : role_of(trace.symbols, tensor);
    const bool given = role == Role::key || role == Role::query || role == Role::value;
    if (!application.view.shared_scale || (given && made_by(tensor) >= 0)) return 0;
    if (role == Role::output && is_unfinished_output(tensor)) return 0;
    return kind_range(computation, role);
  }

  /// The magnitude with the strongest colour.
  double range_of(const std::string& tensor) const {
    const double range = kind_range_of(tensor);
    return range > 0 ? range : largest_finite(record.at(tensor));
  }

  /// How many rows of `tensor` are there at the cursor: 0 it waits, -1 all of them.
  Index finished_rows(const std::string& tensor) const {
    const Index maker = made_by(tensor);
    if (maker > cursor.operation) return 0;
    if (maker == cursor.operation && operation.by_row) return cursor.row + 1;
    return -1;
  }

  /// Whether `result` is made inside `expression`.
  static bool contains(const Expression& expression, const std::string& result) {
    if (expression.kind() == Expression::Kind::named && expression.name() == result) return true;
    return std::ranges::any_of(expression.arguments(),
                               [&](const Expression& part) { return contains(part, result); });
  }

  /// The equation to write large: the whole line with the present part lit, or the operation alone if the
  /// line does not write it out.
  const Equation& written() const {
    const Equation& whole = line().equation;
    const std::string& result = operation.equation.result;
    return whole.result == result || contains(whole.expression, result) ? whole : operation.equation;
  }
};

/// The formula, as large as fits, with the part of the present step lit, and what the step asks.
void draw_head(const View& view) {
  const Equation& equation = view.written();
  const std::string& result = view.operation.equation.result;
  const LatexStyle look{
      .colour =
          [](Role role, bool lit) {
            return style::hex(lit ? style::colours().role(role) : style::colours().role_dim(role));
          },
      .lit = equation.result == result ? "" : result};
  const std::string text = latex(equation, view.trace.symbols, look);
  const float width = ImGui::GetContentRegionAvail().x;
  float size = px(style::formula);
  const FormulaSize natural = measure_formula(text, size);
  if (natural.width > width) size *= width / natural.width;
  const FormulaSize extent = measure_formula(text, size);
  const ImVec2 position = ImGui::GetCursorScreenPos();
  const float height = std::max(extent.height, px(36));
  draw_formula(
      ImGui::GetWindowDrawList(),
      {position.x + (width - extent.width) / 2, position.y + (height - extent.height) / 2 + extent.baseline},
      text, size, style::colours().text);
  ImGui::Dummy({width, height + px(4)});

  const std::string sentence = view.sentence(view.operation.sentence);
  const style::TextStyle body(style::Text::body, style::colours().dim);
  const ImVec2 extent_of_sentence = ImGui::CalcTextSize(sentence.c_str(), nullptr, false, width);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max((width - extent_of_sentence.x) / 2, 0.0F));
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(sentence.c_str());
  ImGui::PopTextWrapPos();
  if (const auto& found = view.computation.divergence) {
    const style::TextStyle warning(style::Text::caption, style::colours().alarm);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(divergence_words(*found).c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::Dummy({0, px(4)});
}

/// What the colours mean: for the tensor that is pointed at, or made by this step.
struct Legend {
  std::string tensor = {};
  Symbol symbol = {};
  std::string less = {};
  std::string more = {};
  std::string scale = {};
  float name_width = 0;
  float width = 0;
};

Legend legend_of(const View& view, const PictureScene& scene) {
  const bool pointed = scene.focus && view.record.contains(scene.focus->tensor);
  Legend legend{.tensor = pointed ? scene.focus->tensor : scene.lit};
  const auto symbol = view.trace.symbols.find(legend.tensor);
  legend.symbol =
      symbol == view.trace.symbols.end() ? Symbol{.latex = {}, .words = legend.tensor} : symbol->second;
  const double range = scene.range(legend.tensor);
  legend.less = fmt::format("−{:.2g}", range);
  legend.more = fmt::format("+{:.2g}", range);
  legend.scale = view.application.view.shared_scale ? "" : "own scales";
  if (!legend.symbol.latex.empty()) legend.name_width = measure_formula(legend.symbol.latex, px(15)).width;
  const style::TextStyle text(style::Text::caption);
  const float gaps = px(legend_gap) * (legend.scale.empty() ? 5 : 6);
  legend.width = legend.name_width + text_extent(legend.scale).x + text_extent(legend.less).x +
                 text_extent(legend.more).x + text_extent("0").x + 2 * px(legend_bar) + gaps;
  return legend;
}

/// In the line of the title, on the right.
void draw_legend(const View& view, const Legend& legend) {
  const style::Palette& c = style::colours();
  const bool own = view.kind_range_of(legend.tensor) <= 0;
  const style::TextStyle text(style::Text::caption);
  const float bar = px(legend_bar);
  const float gap = px(legend_gap);
  const ImVec2 resume = ImGui::GetCursorScreenPos();
  const float top = ImGui::GetWindowPos().y - ImGui::GetScrollY() + px(style::panel_padding);
  const float height = text_extent("0").y;
  float x = resume.x + ImGui::GetContentRegionAvail().x - legend.width;
  ImGui::SetCursorScreenPos({x, top});
  ImGui::Dummy({legend.width, height});
  tooltip(fmt::format("The colours of {}: {}. What lies beyond the ends has the colour of the end.",
                      legend.symbol.words,
                      own ? "this picture has its own scale"
                          : "one scale for all tensors of this kind in the whole sequence"),
          "C");
  ImGui::SetCursorScreenPos(resume);

  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto word = [&](std::string_view shown, ImU32 colour) {
    draw_text({x, top}, colour, shown);
    x += text_extent(shown).x + gap;
  };
  const auto half = [&](float from, float to) {
    for (float at = 0; at < bar; ++at) {
      const Rgb8 shade = colour(c.map, from + (to - from) * at / bar, 1);
      list->AddRectFilled({x + at, top + height / 2 - px(4)}, {x + at + 1, top + height / 2 + px(4)},
                          style::colour(shade));
    }
    x += bar + gap;
  };
  if (!legend.scale.empty()) word(legend.scale, c.text);
  if (!legend.symbol.latex.empty()) {
    draw_formula(list, {x, top + ImGui::GetFontBaked()->Ascent}, legend.symbol.latex, px(15),
                 c.role(legend.symbol.role));
  }
  x += legend.name_width + gap;
  word(legend.less, c.dim);
  half(-1, 0);
  word("0", c.dim);
  half(0, 1);
  word(legend.more, c.dim);
}

/// The lines around the one at the cursor that are in sight: [first, last].
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The widest window around line `present` whose other lines need no more than `room` together. What follows
/// comes before what is done.
Window window_around(std::size_t present, const std::vector<float>& needed, float room) {
  Window window{present, present};
  for (bool grown = true; grown;) {
    grown = false;
    if (window.last + 1 < needed.size() && needed[window.last + 1] <= room) {
      room -= needed[++window.last];
      grown = true;
    }
    if (window.first > 0 && needed[window.first - 1] <= room) {
      room -= needed[--window.first];
      grown = true;
    }
  }
  return window;
}

void note(PictureScene& scene, ImVec2 position, ImVec2 extent) {
  scene.pieces.push_back({position, {position.x + extent.x, position.y + extent.y}});
}

/// "3 lines above": how many are not in sight. A click goes to the first step of `line`, the nearest of them.
void draw_more(const View& view, PictureScene& scene, ImVec2 position, std::size_t count, const char* where,
               std::size_t line, bool align_right = false) {
  if (count == 0) return;
  const style::TextStyle text(style::Text::caption);
  const std::string words = fmt::format("{} {}", counted(static_cast<Index>(count), "line", "lines"), where);
  const ImVec2 extent = text_extent(words);
  if (align_right) position.x -= extent.x;
  ImGui::SetCursorScreenPos(position);
  const bool pressed = ImGui::InvisibleButton(fmt::format("more {}", where).c_str(), extent);
  draw_text(position, ImGui::IsItemHovered() ? style::colours().text : style::colours().dim, words);
  tooltip(fmt::format("{}. A click goes there.", view.title_of(line)));
  note(scene, position, extent);
  const auto steps = view.operations_of(view.phase.lines[line]);
  if (!pressed || steps.empty() || view.application.session.lookout().is_stale()) return;
  const Index operation = steps.front() - view.phase.operations.data();
  view.application.session.set_cursor({view.cursor.block, operation, view.cursor.row});
}

/// An equation under a title.
struct Titled {
  std::string title;
  PictureEquation equation;
  bool lit;
};

/// As large as fits into a part of the stage.
void draw_titled(Titled& part, ImVec2 position, ImVec2 room, PictureScene& scene) {
  {
    const style::TextStyle text(style::Text::caption);
    const std::string title = shortened(part.title, room.x - px(8));
    draw_text(position, part.lit ? style::colours().text : style::colours().dim, title);
    note(scene, position, text_extent(title));
  }
  const ImVec2 size = part.equation.fit({room.x - px(12), room.y - px(title_height)}, scene);
  part.equation.draw(
      {position.x + (room.x - size.x) / 2,
       position.y + px(title_height) + std::max((room.y - px(title_height) - size.y) / 2, 0.0F)},
      scene);
}

bool writes_out(const Expression& expression) {
  return expression.kind() == Expression::Kind::named ||
         std::ranges::any_of(expression.arguments(), writes_out);
}

/// Whether a line and a step are the same pictures. Where the line writes out what the step takes as made,
/// they are not.
bool same(const Equation& line, const Equation& step) {
  return line.result == step.result && !writes_out(line.expression) &&
         to_string(line.expression) == to_string(step.expression);
}

/// What the columns of the lower row need. The step's does not change while the cursor is in a line.
struct Columns {
  float step = 0;
  std::vector<float> lines;
};

Columns columns_of(const View& view, const std::vector<PictureEquation>& equations, ImVec2 room,
                   const PictureScene& scene) {
  Columns columns;
  const Line& present = view.line();
  for (const Operation* operation : view.operations_of(present)) {
    if (same(present.equation, operation->equation)) continue;
    const float width = PictureEquation("", operation->equation, scene).least(0, scene).x + px(24);
    columns.step = std::max({columns.step, width, room.x * step_share});
  }
  for (PictureEquation equation : equations) {
    const ImVec2 least = equation.least(0, scene);
    const bool fits = least.y <= room.y - px(title_height);
    columns.lines.push_back(fits ? std::max(least.x + px(24), px(least_column)) : room.x + 1);
  }
  return columns;
}

/// What stands below the large picture of a token: the present step by itself, and other lines.
struct LowerRow {
  std::vector<PictureEquation> equations;  // of all lines
  Columns columns;
  Window window;

  bool is_empty() const { return columns.step == 0 && window.first == window.last; }
  bool has_all() const { return window.first == 0 && window.last + 1 == equations.size(); }
};

LowerRow lower_row(const View& view, ImVec2 room, const PictureScene& scene) {
  LowerRow row;
  const std::vector<Line>& lines = view.phase.lines;
  for (std::size_t i = 0; i < lines.size(); ++i)
    row.equations.emplace_back(fmt::format("line {}", i), lines[i].equation, scene);
  row.columns = columns_of(view, row.equations, {room.x, room.y - px(more_height)}, scene);
  row.window = window_around(view.line_index(), row.columns.lines, room.x - row.columns.step);
  return row;
}

/// How many lines come before and after those in sight.
void draw_more_beside(const View& view, PictureScene& scene, const Window& window, ImVec2 origin,
                      float width) {
  const std::size_t after = view.phase.lines.size() - 1 - window.last;
  draw_more(view, scene, origin, window.first, "before", window.first - 1);
  draw_more(view, scene, {origin.x + width, origin.y}, after, "to come", window.last + 1, true);
}

void draw_lower_row(const View& view, const LowerRow& lower, ImVec2 origin, ImVec2 room,
                    PictureScene& scene) {
  const std::size_t present = view.line_index();
  const Operation& step = view.operation;
  std::vector<Titled> row;
  std::vector<float> widths;
  if (!same(view.line().equation, step.equation)) {
    row.push_back({fmt::format("This step: {}", step.title), {"step", step.equation, scene}, true});
    widths.push_back(lower.columns.step);
  }
  for (std::size_t i = lower.window.first; i <= lower.window.last; ++i) {
    if (i == present) continue;
    row.push_back({view.title_of(i), lower.equations[i], false});
    widths.push_back(lower.columns.lines[i]);
  }
  if (row.empty()) return;
  // The step keeps its place; what is left over goes to the others.
  const float rest = room.x - std::accumulate(widths.begin(), widths.end(), 0.0F);
  const bool shares_with_others = row.front().lit && row.size() > 1;
  const float part = rest / static_cast<float>(row.size() - (shares_with_others ? 1 : 0));
  const float height = room.y - (lower.has_all() ? 0 : px(more_height));
  float x = origin.x;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const float width = widths[i] + (i == 0 && shares_with_others ? 0 : part);
    draw_titled(row[i], {x, origin.y}, {width - px(12), height}, scene);
    x += width;
  }
}

/// One token: the line at the cursor as large as fits; below it the present step by itself, and the other
/// lines.
void draw_token(const View& view, PictureScene& scene) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  Titled large{view.title_of(view.line_index()), {"large", view.line().equation, scene}, true};
  if (room.y < px(height_of_two)) {
    draw_titled(large, origin, {room.x, room.y - px(8)}, scene);
    return;
  }
  const float height = std::floor(room.y * large_share);
  const ImVec2 lower_room = {room.x, room.y - height - px(12)};
  const LowerRow lower = lower_row(view, lower_room, scene);
  draw_more_beside(view, scene, lower.window, {origin.x, origin.y + room.y - px(more_height - 4)}, room.x);
  if (lower.is_empty()) {
    draw_titled(large, origin, {room.x, room.y - px(8) - (lower.has_all() ? 0 : px(more_height))}, scene);
    return;
  }
  draw_titled(large, origin, {room.x, height - px(12)}, scene);
  const float y = origin.y + height;
  ImGui::GetWindowDrawList()->AddLine({origin.x, y}, {origin.x + room.x, y}, style::colours().edge);
  draw_lower_row(view, lower, {origin.x, y + px(10)}, lower_room, scene);
}

float text_height(const std::string& words, float width) {
  return ImGui::CalcTextSize(words.c_str(), nullptr, false, width).y;
}

/// Words left of a line of pictures: the sentence only where there is room for it.
void draw_line_text(ImVec2 position, ImVec2 room, const std::string& title, const std::string& sentence,
                    bool lit, PictureScene& scene) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto draw = [&](const std::string& words, ImU32 colour) {
    const float height = text_height(words, room.x);
    list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), position, colour, words.c_str(), nullptr, room.x);
    note(scene, position, {room.x, height});
    position.y += height + px(2);
    room.y -= height + px(2);
  };
  {
    const style::TextStyle text(style::Text::body);
    draw(title, lit ? style::colours().text : style::colours().dim);
  }
  const style::TextStyle text(style::Text::caption);
  if (!sentence.empty() && text_height(sentence, room.x) <= room.y)
    draw(sentence, lit ? style::colours().dim : style::colours().faint);
}

/// A line of pictures: words on the left, or above where the pictures need the whole width.
struct Row {
  std::string title;
  std::string sentence;
  PictureEquation equation;
  bool wide = false;
  float height = 0;
  float largest_unit = std::numeric_limits<float>::infinity();
};

/// Where the lines lie.
struct Lines {
  ImVec2 room;
  float text_width = px(line_text_width);

  /// What a line has for its pictures.
  float width(bool wide) const { return wide ? room.x : room.x - text_width - px(28); }

  /// What a line takes apart from its pictures.
  float margin(bool wide) const { return px(line_margin) + (wide ? px(wide_title_height) : 0); }
};

/// The equations of all steps of the line at the cursor.
std::vector<PictureEquation> steps_of_line(const View& view, const PictureScene& scene) {
  std::vector<PictureEquation> steps;
  for (const Operation* operation : view.operations_of(view.line()))
    steps.emplace_back("", operation->equation, scene);
  return steps;
}

/// How large the steps of the line at the cursor are when they have `height`.
struct LitSize {
  float height = 0;                                     // of the highest
  float unit = std::numeric_limits<float>::infinity();  // of the smallest
};

LitSize lit_size(const View& view, const Lines& lines, bool wide, float height, const PictureScene& scene) {
  LitSize size;
  for (PictureEquation& step : steps_of_line(view, scene)) {
    const float taken = step.fit({lines.width(wide), height - lines.margin(wide)}, scene).y;
    size.height = std::max(size.height, taken + lines.margin(wide));
    size.unit = std::min(size.unit, step.unit());
  }
  return size;
}

/// Whether an equation cannot be read where it stands beside its words.
bool needs_width(PictureEquation& equation, const Lines& lines, const PictureScene& scene) {
  return equation.least(lines.width(false), scene).x > lines.width(false);
}

/// Whether pictures of the line at the cursor gain from the whole width, under their title.
bool is_larger_wide(const View& view, const Lines& lines, const PictureScene& scene) {
  const float height = lines.room.y * least_lit_share;
  std::vector<PictureEquation> steps = steps_of_line(view, scene);
  return std::ranges::any_of(steps, [&](PictureEquation& step) {
    const auto width = [&](bool wide) {
      return step.fit({lines.width(wide), height - lines.margin(wide)}, scene).x;
    };
    return needs_width(step, lines, scene) || width(true) > gain_of_wide * width(false);
  });
}

std::vector<Row> rows_of(const View& view, const Lines& lines, const PictureScene& scene) {
  const std::size_t present = view.line_index();
  std::vector<Row> rows;
  for (std::size_t i = 0; i < view.phase.lines.size(); ++i) {
    const Line& line = view.phase.lines[i];
    const bool lit = i == present;
    // What the lit line asks stands below the formula.
    rows.push_back({fmt::format("{}  {}", i + 1, lit ? view.operation.title : line.title),
                    lit ? "" : view.sentence(line.sentence),
                    {fmt::format("line {}", i + 1), lit ? view.operation.equation : line.equation, scene}});
    if (!lit) rows[i].wide = needs_width(rows[i].equation, lines, scene);
  }
  rows[present].wide = is_larger_wide(view, lines, scene);
  return rows;
}

/// What a line needs at least.
float needed_height(Row& row, const Lines& lines, const PictureScene& scene) {
  const style::TextStyle text(style::Text::body);
  const float pictures = row.equation.least(lines.width(row.wide), scene).y;
  const float words = row.wide ? 0 : text_height(row.title, lines.text_width);
  return std::max(pictures, words) + lines.margin(row.wide);
}

/// Gives every line its height and returns those that are in sight. The line at the cursor takes up to twice
/// its share of what the others can spare; what it does not need is left to them. None has larger cells.
Window share_height(const View& view, const Lines& lines, std::vector<Row>& rows, const PictureScene& scene) {
  const std::size_t present = view.line_index();
  const bool wide = rows[present].wide;
  std::vector<float> needed;
  for (Row& row : rows) needed.push_back(needed_height(row, lines, scene));
  const float least = std::max(lines.room.y * least_lit_share, needed[present]);
  const float all = std::accumulate(needed.begin(), needed.end(), 0.0F) - needed[present];
  const float lit = lit_size(view, lines, wide, least, scene).height;
  const float room = lines.room.y - (lit + all > lines.room.y ? 2 * px(more_height) : 0);
  const Window window = window_around(present, needed, room - lit);

  float others = 0;
  double weights = 0;
  for (std::size_t i = window.first; i <= window.last; ++i) {
    if (i == present) continue;
    others += needed[i];
    weights += view.phase.lines[i].weight;
  }
  const double share = 2 * view.line().weight / (2 * view.line().weight + weights);
  const float most = std::max(room * static_cast<float>(share), least);
  const LitSize size = lit_size(view, lines, wide, std::clamp(room - others, least, most), scene);
  const float rest = room - size.height - others;
  for (std::size_t i = window.first; i <= window.last; ++i) {
    const double part = weights > 0 ? view.phase.lines[i].weight / weights : 0;
    rows[i].height = i == present ? size.height : needed[i] + rest * static_cast<float>(part);
    if (i != present) rows[i].largest_unit = std::max(size.unit, px(least_unit));
  }
  if (window.first == window.last) rows[present].height += std::max(rest, 0.0F);
  return window;
}

void draw_row(Row& row, const Lines& lines, ImVec2 origin, bool lit, PictureScene& scene) {
  const float height = row.height - lines.margin(row.wide);
  const ImVec2 size = row.equation.fit({lines.width(row.wide), height}, scene, row.largest_unit);
  if (row.wide) {
    draw_line_text(origin, {lines.room.x, 0}, row.title, "", lit, scene);
    row.equation.draw({origin.x + (lines.room.x - size.x) / 2, origin.y + px(wide_title_height)}, scene);
    return;
  }
  const float top = std::max((height - size.y) / 2, 0.0F);
  draw_line_text({origin.x, origin.y + top}, {lines.text_width, row.height - top - px(line_margin / 2)},
                 row.title, row.sentence, lit, scene);
  row.equation.draw({origin.x + lines.room.x - lines.width(false), origin.y + top}, scene);
}

/// A chunk or the whole sequence: numbered lines, the one at the cursor showing the present step.
void draw_lines(const View& view, PictureScene& scene) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const Lines lines{ImGui::GetContentRegionAvail()};
  const std::size_t present = view.line_index();
  std::vector<Row> rows = rows_of(view, lines, scene);
  const Window window = share_height(view, lines, rows, scene);
  const std::size_t below = rows.size() - 1 - window.last;
  draw_more(view, scene, origin, window.first, "above", window.first - 1);
  draw_more(view, scene, {origin.x, origin.y + lines.room.y - px(more_height - 4)}, below, "below",
            window.last + 1);
  float y = origin.y + (window.first + below > 0 ? px(more_height) : 0);
  for (std::size_t i = window.first; i <= window.last; ++i) {
    draw_row(rows[i], lines, {origin.x, y}, i == present, scene);
    y += rows[i].height;
  }
}

/// The cells that the focused one was made from.
std::vector<Cells> sources_of(const View& view, const std::optional<CellFocus>& focus) {
  if (!focus || !view.record.contains(focus->tensor)) return {};
  const Index maker = view.made_by(focus->tensor);
  if (maker < 0) return {};
  const Matrix<double>& values = view.record.at(focus->tensor);
  if (focus->row >= values.rows() || focus->column >= values.cols()) return {};
  const Equation& equation = view.phase.operations[static_cast<std::size_t>(maker)].equation;
  return explain(equation, view.trace.symbols, view.record, focus->row, focus->column).sources;
}

/// What the panel shows, left of the legend.
std::string title_of(const View& view, const Legend& legend) {
  const Form shown_form = view.trace.form;
  const Index first = view.block.first_token;
  const Groups& groups = view.trace.groups;
  const bool in_batch = groups.kind == Groups::Kind::batches && view.trace.form != Form::parallel;
  std::string where;
  if (in_batch || has_chunks(view.trace.form)) {
    where = fmt::format(" · {} {}", in_batch ? "batch" : "chunk", first / groups.size);
    if (has_chunks(view.trace.form) || view.block.count > 1)
      where += fmt::format(", tokens {}–{}", first, first + view.block.count - 1);
  }
  const std::string row =
      view.operation.by_row ? fmt::format(", row {} of 0–{}", view.cursor.row, view.block.count - 1) : "";
  const std::string form = shown_form == Form::two_pass
                               ? fmt::format("pass {} of {}", view.block.phase + 1, view.trace.phases.size())
                               : name(shown_form);
  const std::string title = fmt::format("Stage · {}, {}{} · {}{}", view.computation.variant->label, form,
                                        where, view.operation.title, row);
  const style::TextStyle text(style::Text::caption);
  const float room =
      ImGui::GetContentRegionAvail().x - 2 * px(style::panel_padding) - legend.width - px(3 * legend_gap);
  return shortened(title, std::max(room, px(60))) + "###stage";
}

/// The present window.
Rectangle panel_surface() {
  const ImVec2 from = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  return {from, {from.x + size.x, from.y + size.y}};
}

/// Why there is nothing to draw, in the middle of the panel.
void draw_reason(const std::string& reason) {
  const style::TextStyle text(style::Text::title);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = std::min(room.x, px(reason_width));
  const ImVec2 extent = ImGui::CalcTextSize(reason.c_str(), nullptr, false, width);
  const ImVec2 corner = ImGui::GetCursorPos();
  ImGui::SetCursorPos({corner.x + std::max((room.x - extent.x) / 2, 0.0F),
                       corner.y + std::max((room.y - extent.y) * 0.4F, 0.0F)});
  const ImVec2 from = ImGui::GetCursorScreenPos();
  stage_map() = {panel_surface(), {{from, {from.x + extent.x, from.y + extent.y}}}};
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + extent.x + 1);
  ImGui::TextUnformatted(reason.c_str());
  ImGui::PopTextWrapPos();
}

std::string empty_words(const Application& application) {
  const Computation* computation = application.session.computed();
  if (!computation)
    return "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures and presets.";
  const Form form = application.session.choice().form;
  const std::string& reason = computation->form(form).missing;
  const Lookout& lookout = application.session.lookout();
  if (lookout.is_stale()) return "The first step is being computed.";
  if (!lookout.awaited().reason.empty())
    return fmt::format("This step cannot be shown: {}", lookout.awaited().reason);
  if (reason.empty()) return "This sequence has no tokens, so there is no step to show.";
  return fmt::format("There is no {} form here.\n\n{}", name(form), reason);
}

void draw_empty(Application& application) {
  if (style::begin_panel("Stage###stage")) draw_reason(empty_words(application));
  style::end_panel();
}

}  // namespace

StageMap& stage_map() { return context_local<StageMap>(); }

void draw_stage(Application& application) {
  stage_map() = {};
  const Sight& sight = application.session.sight();
  if (!sight.record) {
    draw_empty(application);
    return;
  }
  const Trace* trace = sight.trace.get();
  const Cursor cursor = sight.cursor;
  const Block block = trace->block(cursor.block);
  const auto [phase, record] = shown(application);
  const View view{application,
                  *sight.computation,
                  *trace,
                  cursor,
                  block,
                  phase,
                  phase.operations[static_cast<std::size_t>(cursor.operation)],
                  record};
  PictureScene scene{
      .record = view.record,
      .symbols = trace->symbols,
      .version = (view.computation.version * 1'000'003 +
                  static_cast<std::uint64_t>(cursor.block) * std::size(all_forms) +
                  static_cast<std::uint64_t>(trace->form)) *
                     2 +
                 (application.view.state_value_by_key ? 1 : 0),
      .lit = view.operation.equation.result,
      .fade = std::clamp(application.since_step() / fade_seconds, 0.0, 1.0),
      .finished_rows = [&](const std::string& tensor) { return view.finished_rows(tensor); },
      .range = [&](const std::string& tensor) { return view.range_of(tensor); },
      .numbers = application.view.numbers,
      .compact = ImGui::GetWindowWidth() < px(900),
      .focus = application.focus(),
      .sources = sources_of(view, application.focus()),
  };
  const Legend legend = legend_of(view, scene);
  if (style::begin_panel(title_of(view, legend).c_str())) {
    draw_legend(view, legend);
    draw_head(view);
    if (trace->form == Form::recurrent)
      draw_token(view, scene);
    else
      draw_lines(view, scene);
    stage_map().panel = panel_surface();
  }
  stage_map().pieces = std::move(scene.pieces);
  style::end_panel();
  if (scene.hovered) application.hovered = scene.hovered;
  if (scene.clicked) application.pinned = scene.hovered;
}

}  // namespace palimpsest
