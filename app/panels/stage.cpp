#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/application.h"
#include "app/panels.h"
#include "app/panels/scales.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/picture_equation.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float line_text_width = 168;  // words beside a line of pictures
constexpr float legend_width = 236;     // at most
constexpr float update_share = 0.56F;   // of the height of a token's pictures
constexpr float height_of_two = 250;    // a token's pictures stand in two rows from this on
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
  Computation& computation;
  Trace& trace;
  Cursor cursor;
  Block block;
  const Phase& phase;
  const Operation& operation;
  const Record& record;

  std::string sentence(std::string text) const {
    const std::string slot = "{token}";
    const auto& labels = application.session.data().labels;
    std::string label = labels[static_cast<std::size_t>(trace.token(cursor))];
    const auto first = label.find_first_not_of(" \n");
    label = first == std::string::npos ? "␣" : label.substr(first);
    if (const auto at = text.find(slot); at != std::string::npos) text.replace(at, slot.size(), label);
    return text;
  }

  /// The line that the present operation belongs to.
  const Line& line() const {
    const auto found = std::ranges::find_if(phase.lines, [&](const Line& candidate) {
      return std::ranges::find(candidate.operations, operation.id) != candidate.operations.end();
    });
    return found == phase.lines.end() ? phase.lines.back() : *found;
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
  /// queries and values are of no kind: they are not what the data give.
  double kind_range_of(const std::string& tensor) const {
    const Role role = role_of(trace.symbols, tensor);
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
  if (const auto found = divergence(view.computation)) {
    const style::TextStyle warning(style::Text::caption, style::colours().alarm);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(
        fmt::format("The memory grows without bound: β‖k‖² is {:.2f} at token {}, and above 2 a write "
                    "overshoots. Its largest number is {:.1e}; each picture has its own scale.",
                    found->product, found->token, found->largest)
            .c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::Dummy({0, px(4)});
}

/// What the colours mean, in the line of the title: for the tensor that is pointed at, or made by this step.
void draw_legend(const View& view, const PictureScene& scene) {
  const style::Palette& c = style::colours();
  const bool pointed = scene.focus && view.record.contains(scene.focus->tensor);
  const std::string& tensor = pointed ? scene.focus->tensor : scene.lit;
  const Role role = role_of(view.trace.symbols, tensor);
  const double range = scene.range(tensor);
  const bool own = view.kind_range_of(tensor) <= 0;
  const style::TextStyle text(style::Text::caption);
  const std::string less = fmt::format("−{:.2g}", range);
  const std::string more = fmt::format("+{:.2g}", range);
  const std::string scale = view.application.view.shared_scale ? "" : "own scales";
  const float bar = px(44);
  const float gap = px(6);
  const auto symbol = view.trace.symbols.find(tensor);
  const std::string latex = symbol == view.trace.symbols.end() ? "" : symbol->second.latex;
  const FormulaSize name = latex.empty() ? FormulaSize{} : measure_formula(latex, px(15));

  const ImVec2 resume = ImGui::GetCursorScreenPos();
  const float top = ImGui::GetWindowPos().y - ImGui::GetScrollY() + px(style::panel_padding);
  const float height = text_extent("0").y;
  const float width = name.width + text_extent(scale).x + text_extent(less).x + text_extent(more).x +
                      text_extent("0").x + 2 * bar + (scale.empty() ? 5 : 6) * gap;
  float x = resume.x + ImGui::GetContentRegionAvail().x - width;
  ImGui::SetCursorScreenPos({x, top});
  ImGui::Dummy({width, height});
  tooltip(fmt::format("The colours of {}: {}. What lies beyond the ends has the colour of the end.",
                      symbol == view.trace.symbols.end() ? tensor : symbol->second.words,
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
  if (!scale.empty()) word(scale, c.text);
  if (!latex.empty())
    draw_formula(list, {x, top + ImGui::GetFontBaked()->Ascent}, latex, px(15), c.role(role));
  x += name.width + gap;
  word(less, c.dim);
  half(-1, 0);
  word("0", c.dim);
  half(0, 1);
  word(more, c.dim);
}

/// Words left of a line of pictures: the sentence only where there is room for it.
void draw_line_text(ImVec2 position, ImVec2 room, const std::string& title, const std::string& sentence,
                    bool lit) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto draw = [&](const std::string& words, ImU32 colour) {
    list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), position, colour, words.c_str(), nullptr, room.x);
  };
  const auto height = [&](const std::string& words) {
    return ImGui::CalcTextSize(words.c_str(), nullptr, false, room.x).y;
  };
  {
    const style::TextStyle text(style::Text::body);
    draw(title, lit ? style::colours().text : style::colours().dim);
    position.y += height(title) + px(2);
    room.y -= height(title) + px(2);
  }
  const style::TextStyle text(style::Text::caption);
  if (height(sentence) <= room.y) draw(sentence, lit ? style::colours().dim : style::colours().faint);
}

/// An equation under a title.
struct Titled {
  std::string id;
  std::string title;
  const Equation& shown;
  bool lit;
};

/// As large as fits into a part of the stage.
void draw_titled(const Titled& part, ImVec2 position, ImVec2 room, PictureScene& scene) {
  {
    const style::TextStyle text(style::Text::caption);
    draw_text(position, part.lit ? style::colours().text : style::colours().dim,
              shortened(part.title, room.x - px(8)));
  }
  const float title_height = px(28);
  PictureEquation equation(part.id, part.shown, scene);
  const ImVec2 size = equation.fit({room.x - px(12), room.y - title_height}, scene);
  equation.draw({position.x + (room.x - size.x) / 2,
                 position.y + title_height + std::max((room.y - title_height - size.y) / 2, 0.0F)},
                scene);
}

bool same(const Equation& x, const Equation& y) {
  return x.result == y.result && to_string(x.expression) == to_string(y.expression);
}

/// One token: the update as large as fits; below it the present step by itself, and what follows from the
/// update.
void draw_token(const View& view, PictureScene& scene) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const std::vector<Line>& lines = view.phase.lines;
  if (room.y < px(height_of_two)) {  // only the line of the present step
    PictureEquation only("line 0", view.line().equation, scene);
    const ImVec2 size = only.fit({room.x - px(16), room.y - px(20)}, scene);
    only.draw({origin.x + (room.x - size.x) / 2, origin.y + px(8)}, scene);
    return;
  }
  PictureEquation update("line 0", lines.front().equation, scene);
  const ImVec2 size = update.fit({room.x - px(16), room.y * update_share - px(28)}, scene);
  update.draw({origin.x + (room.x - size.x) / 2, origin.y + px(12)}, scene);

  // What the update leaves of the height belongs to the row below.
  const float y = origin.y + size.y + px(28);
  ImGui::GetWindowDrawList()->AddLine({origin.x, y}, {origin.x + room.x, y}, style::colours().edge);
  const float height = origin.y + room.y - y - px(12);
  // The present step, unless one of the lines that follow says just the same.
  const Equation& step = view.operation.equation;
  std::vector<Titled> row;
  const bool repeats = std::any_of(lines.begin() + 1, lines.end(),
                                   [&](const Line& line) { return same(line.equation, step); });
  const std::string title = fmt::format("This step: {}", view.operation.title);
  if (!repeats) row.push_back({"step", title, step, true});
  for (std::size_t i = 1; i < lines.size(); ++i) {
    row.push_back({fmt::format("line {}", i), same(lines[i].equation, step) ? title : lines[i].title,
                   lines[i].equation, &lines[i] == &view.line()});
  }
  const float width = room.x / static_cast<float>(row.size());
  float x = origin.x;
  for (const Titled& part : row) {
    draw_titled(part, {x, y + px(12)}, {width - px(12), height}, scene);
    x += width;
  }
}

/// A chunk or the whole sequence: numbered lines, the one at the cursor showing the present step.
void draw_lines(const View& view, PictureScene& scene) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float text_width = px(line_text_width);
  const std::vector<Line>& lines = view.phase.lines;
  const auto is_lit = [&](const Line& line) { return &line == &view.line(); };
  double others = 0;  // the weights of the lines that are not lit
  for (const Line& line : lines) others += is_lit(line) ? 0 : line.weight;

  // The lit line takes up to twice its share; what it does not need is left to the others.
  const float margin = px(20);
  const double share = 2 * view.line().weight / (2 * view.line().weight + others);
  std::vector<PictureEquation> equations;
  std::vector<ImVec2> sizes(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Equation& shown = is_lit(lines[i]) ? view.operation.equation : lines[i].equation;
    equations.emplace_back(fmt::format("line {}", i + 1), shown, scene);
  }
  const float width = room.x - text_width - px(28);
  float rest = room.y;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_lit(lines[i])) continue;
    sizes[i] = equations[i].fit({width, room.y * static_cast<float>(share) - margin}, scene);
    rest = others > 0 ? room.y - sizes[i].y - margin : room.y;
  }
  float y = origin.y;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const bool lit = is_lit(line);
    const float height = !lit         ? rest * static_cast<float>(line.weight / others)
                         : others > 0 ? sizes[i].y + margin
                                      : room.y;
    if (!lit) sizes[i] = equations[i].fit({width, height - margin}, scene);
    const float top = y + std::max((height - sizes[i].y) / 2, 0.0F);
    // What the lit line asks stands below the formula.
    draw_line_text({origin.x, top}, {text_width, y + height - top - px(4)},
                   fmt::format("{}  {}", i + 1, lit ? view.operation.title : line.title),
                   lit ? "" : view.sentence(line.sentence), lit);
    equations[i].draw({origin.x + text_width + px(28), top}, scene);
    y += height;
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

std::string title_of(const View& view) {
  const Choice& choice = view.application.session.choice();
  const Index first = view.block.first_token;
  const std::string where = !has_chunks(view.trace.form)
                                ? ""
                                : fmt::format(" · chunk {}, tokens {}–{}", first / choice.chunk_size, first,
                                              first + view.block.count - 1);
  const std::string row =
      view.operation.by_row ? fmt::format(", row {} of 0–{}", view.cursor.row, view.block.count - 1) : "";
  const std::string form = choice.form == Form::two_pass
                               ? fmt::format("pass {} of {}", view.block.phase + 1, view.trace.phases.size())
                               : name(choice.form);
  const std::string title = fmt::format("Stage · {}, {}{} · {}{}", view.computation.variant->label, form,
                                        where, view.operation.title, row);
  const style::TextStyle text(style::Text::caption);
  const float room = ImGui::GetContentRegionAvail().x - 2 * px(style::panel_padding) - px(legend_width) -
                     (view.application.view.shared_scale ? 0 : px(70));
  return shortened(title, std::max(room, px(60))) + "###stage";
}

void draw_empty(Application& application) {
  style::begin_panel("Stage###stage");
  const Computation* computation = application.session.computed();
  if (!computation) {
    style::paragraph("Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures and presets.");
  } else {
    const std::string& reason = computation->form(application.session.choice().form).missing;
    style::paragraph(reason.empty() ? "This sequence has no tokens, so there is no step to show." : reason);
  }
  style::end_panel();
}

}  // namespace

void draw_stage(Application& application) {
  Session& session = application.session;
  Trace* trace = session.trace();
  if (!trace || trace->block_count() == 0) {
    draw_empty(application);
    return;
  }
  const Cursor cursor = session.cursor();
  const Block block = trace->block(cursor.block);
  const View view{application,
                  *session.computed(),
                  *trace,
                  cursor,
                  block,
                  trace->phase(block),
                  trace->operation(cursor),
                  trace->record(cursor.block)};
  PictureScene scene{
      .record = view.record,
      .symbols = trace->symbols,
      .version = view.computation.version * 1'000'003 + static_cast<std::uint64_t>(cursor.block) * 3 +
                 static_cast<std::uint64_t>(trace->form),
      .lit = view.operation.equation.result,
      .fade = std::clamp(application.since_step() / fade_seconds, 0.0, 1.0),
      .finished_rows = [&](const std::string& tensor) { return view.finished_rows(tensor); },
      .range = [&](const std::string& tensor) { return view.range_of(tensor); },
      .numbers = application.view.numbers,
      .transpose_states = application.view.state_value_by_key,
      .compact = ImGui::GetWindowWidth() < px(900),
      .focus = application.focus(),
      .sources = sources_of(view, application.focus()),
  };
  if (style::begin_panel(title_of(view).c_str())) {
    draw_legend(view, scene);
    draw_head(view);
    if (trace->form == Form::recurrent)
      draw_token(view, scene);
    else
      draw_lines(view, scene);
  }
  style::end_panel();
  if (scene.hovered) application.hovered = scene.hovered;
  if (scene.clicked) application.pinned = scene.hovered;
}

}  // namespace palimpsest
