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

namespace palimpsest {

namespace {

using style::px;

constexpr float line_text_width = 168;  // words beside a line of pictures
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

/// The magnitude with the strongest colour: that of the tensor's kind in the whole sequence, or its own.
double range_of(const Computation& computation, const Record& record, const Symbols& symbols,
                const std::string& tensor, bool shared) {
  const double range = shared ? kind_range(computation, role_of(symbols, tensor)) : 0;
  return range > 0 ? range : largest_finite(record.at(tensor));
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
  ImGui::Dummy({0, px(4)});
}

/// Words left of a line of pictures.
void draw_line_text(ImVec2 position, float width, const std::string& title, const std::string& sentence,
                    bool lit) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  {
    const style::TextStyle text(style::Text::body, lit ? style::colours().text : style::colours().dim);
    list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), position, ImGui::GetColorU32(ImGuiCol_Text),
                  title.c_str(), nullptr, width);
    position.y += ImGui::CalcTextSize(title.c_str(), nullptr, false, width).y + px(2);
  }
  const style::TextStyle text(style::Text::caption, lit ? style::colours().dim : style::colours().faint);
  list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), position, ImGui::GetColorU32(ImGuiCol_Text),
                sentence.c_str(), nullptr, width);
}

/// An equation under a title, as large as fits into a part of the stage.
void draw_titled(const std::string& id, const std::string& title, const Equation& shown, ImVec2 position,
                 ImVec2 room, bool lit, PictureScene& scene) {
  {
    const style::TextStyle text(style::Text::caption, lit ? style::colours().text : style::colours().dim);
    ImGui::GetWindowDrawList()->AddText(position, ImGui::GetColorU32(ImGuiCol_Text), title.c_str());
  }
  const float title_height = px(28);
  PictureEquation equation(id, shown, scene);
  const ImVec2 size = equation.fit({room.x - px(12), room.y - title_height}, scene);
  equation.draw({position.x + (room.x - size.x) / 2,
                 position.y + title_height + std::max((room.y - title_height - size.y) / 2, 0.0F)},
                scene);
}

/// One token: the update as large as fits; below it the present step by itself, and what follows from the
/// update.
void draw_token(const View& view, PictureScene& scene) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const std::vector<Line>& lines = view.phase.lines;
  PictureEquation update("line 0", lines.front().equation, scene);
  const ImVec2 size = update.fit({room.x - px(16), room.y * 0.62F - px(28)}, scene);
  update.draw({origin.x + (room.x - size.x) / 2, origin.y + px(12)}, scene);

  // What the update leaves of the height belongs to the row below.
  const float y = origin.y + size.y + px(28);
  ImGui::GetWindowDrawList()->AddLine({origin.x, y}, {origin.x + room.x, y}, style::colours().edge);
  const float height = origin.y + room.y - y - px(12);
  const float width = room.x / static_cast<float>(lines.size());
  draw_titled("step", fmt::format("This step: {}", view.operation.title), view.operation.equation,
              {origin.x, y + px(12)}, {width, height}, true, scene);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    draw_titled(fmt::format("line {}", i), lines[i].title, lines[i].equation,
                {origin.x + width * static_cast<float>(i) + px(12), y + px(12)}, {width - px(12), height},
                &lines[i] == &view.line(), scene);
  }
}

/// A chunk or the whole sequence: numbered lines, the one at the cursor showing the present step.
void draw_lines(const View& view, PictureScene& scene) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float text_width = px(line_text_width);
  double weights = 0;
  for (const Line& line : view.phase.lines) weights += line.weight;
  float y = origin.y;
  int number = 1;
  for (const Line& line : view.phase.lines) {
    const bool lit = &line == &view.line();
    const Equation& shown = lit ? view.operation.equation : line.equation;
    const float height = room.y * static_cast<float>(line.weight / weights);
    PictureEquation equation(fmt::format("line {}", number), shown, scene);
    const ImVec2 size = equation.fit({room.x - text_width - px(28), height - px(20)}, scene);
    draw_line_text({origin.x, y + (height - size.y) / 2}, text_width,
                   fmt::format("{}  {}", number, lit ? view.operation.title : line.title),
                   view.sentence(lit ? view.operation.sentence : line.sentence), lit);
    equation.draw({origin.x + text_width + px(28), y + (height - size.y) / 2}, scene);
    y += height;
    ++number;
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
  const std::string where = view.trace.form != Form::chunkwise
                                ? ""
                                : fmt::format(" · chunk {}, tokens {}–{}", first / choice.chunk_size + 1,
                                              first + 1, first + view.block.count);
  const std::string row =
      view.operation.by_row ? fmt::format(", row {} of {}", view.cursor.row + 1, view.block.count) : "";
  return fmt::format("Stage · {}, {}{} · {}{}###stage", view.computation.variant->label, name(choice.form),
                     where, view.operation.title, row);
}

void draw_empty(Application& application) {
  style::begin_panel("Stage###stage");
  const Computation* computation = application.session.computed();
  if (!computation) {
    style::paragraph(
        "Nothing is open yet. Drop a file here or press Ctrl+O; the Data panel lists captures and presets.");
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
      .range =
          [&](const std::string& tensor) {
            return range_of(view.computation, view.record, trace->symbols, tensor,
                            application.view.shared_scale);
          },
      .numbers = application.view.numbers,
      .transpose_states = application.view.state_value_by_key,
      .compact = ImGui::GetWindowWidth() < px(900),
      .focus = application.focus(),
      .sources = sources_of(view, application.focus()),
  };
  if (style::begin_panel(title_of(view).c_str())) {
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
