#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "app/gl/context_local.h"
#include "app/session/memory_questions.h"
#include "app/studio/application.h"
#include "app/views/line_numbers.h"
#include "app/views/panels.h"
#include "app/views/stage.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float line_size = 17;       // design pixels of a line's letters
constexpr float smallest_size = 13;   // below this a long formula takes several lines, this size of letters
constexpr float smallest_part = 8;    // of which the widest is drawn smaller still, down to this
constexpr float half_a_pixel = 0.5F;  // of the screen: px() rounds, to 0 where everything is small
constexpr float line_indent = 16;     // of the lines of a formula after its first
constexpr float between_lines = 4;
constexpr float result_height = 15;  // of the number below a line
constexpr float lit_bar = 12;        // room left of the lines for the mark of the lit one

LatexStyle look(bool bright, const Record* numbers = nullptr) {
  const auto colour = [bright](Role role, bool) {
    return style::hex(bright ? style::colours().role(role) : style::colours().role_dim(role));
  };
  return {.colour = colour, .lit = {}, .numbers = numbers};
}

/// What the lines of a phase are as LaTeX, kept while nothing that it depends on changes.
struct WrittenLines {
  // Computation, form, phase; states turned, colours.
  using Key = std::tuple<std::uint64_t, Form, Index, bool, style::Theme>;
  // Block and operation: the line with its numbers.
  using NumbersKey = std::pair<Index, Index>;

  std::optional<Key> key;
  std::vector<std::string> dim;
  std::vector<std::string> lit;
  std::optional<NumbersKey> numbers_key;
  std::string numbers;                 // empty: there is none to write
  std::weak_ptr<const Record> record;  // what `results` are of
  std::vector<std::string> results;    // what every line comes to, in one number
};

WrittenLines& written_lines(const Application& application, const Phase& phase) {
  auto& lines = context_local<WrittenLines>();
  const Sight& sight = application.session.sight();
  const Trace& trace = *sight.trace;
  const Index index = trace.block(sight.cursor.block).phase;
  const WrittenLines::Key key{sight.computation->version, trace.form, index,
                              application.view.state_value_by_key, style::theme()};
  if (lines.key == key) return lines;
  lines = {};
  for (const Operation& operation : phase.operations) {
    lines.dim.push_back(latex(operation.equation, trace.symbols, look(false)));
    lines.lit.push_back(latex(operation.equation, trace.symbols, look(true)));
  }
  lines.key = key;
  return lines;
}

/// What the lines of one word come to. Rows of many words have no single number.
void write_results(WrittenLines& lines, const Sight& sight, const Phase& phase) {
  if (lines.record.lock() == sight.record && lines.results.size() == phase.operations.size()) return;
  lines.record = sight.record;
  lines.results.clear();
  if (sight.trace->form != Form::recurrent) return;
  // What is known of errors is of the correct run; a faulty one has the lengths of its own numbers.
  const Recall* recall =
      is_faulty(sight) ? nullptr : sight.computation->recall(sight.trace->token(sight.cursor));
  for (const Operation& operation : phase.operations)
    lines.results.push_back(line_number(operation, *sight.record, sight.trace->symbols, recall));
}

/// A formula as it fits into a width: smaller, or on several lines.
struct FittedFormula {
  std::vector<std::string> lines;
  float size = 0;  // of its letters, in screen pixels
  FormulaSize extent = {};

  /// Where the line `index` begins, below and right of the first one's corner.
  ImVec2 corner(std::size_t index) const {
    float y = 0;
    for (std::size_t i = 0; i < index; ++i)
      y += measure_formula(lines[i], size).height + style::px(between_lines);
    return {index == 0 ? 0 : style::px(line_indent), y};
  }
};

FittedFormula fitted(const std::string& latex, float wanted, float width) {
  FittedFormula formula{.lines = {latex}, .size = style::px(wanted)};
  const float natural = measure_formula(latex, formula.size).width;
  if (natural > width) formula.size *= width / natural;
  if (formula.size < style::px(smallest_size)) {
    formula.size = style::px(smallest_size);
    formula.lines = formula_lines(latex, formula.size, width, style::px(line_indent));
    const auto widest = [&] {
      float most = 1;
      for (std::size_t i = 0; i < formula.lines.size(); ++i)
        most = std::max(most, measure_formula(formula.lines[i], formula.size).width + formula.corner(i).x);
      return most;
    };
    while (widest() > width && formula.size > style::px(smallest_part)) formula.size -= half_a_pixel;
  }
  for (std::size_t i = 0; i < formula.lines.size(); ++i) {
    const FormulaSize line = measure_formula(formula.lines[i], formula.size);
    const ImVec2 corner = formula.corner(i);
    formula.extent.width = std::max(formula.extent.width, corner.x + line.width);
    formula.extent.height = corner.y + line.height;
  }
  return formula;
}

void draw_fitted(const FittedFormula& formula, ImVec2 corner) {
  for (std::size_t i = 0; i < formula.lines.size(); ++i) {
    const ImVec2 at = formula.corner(i);
    const float baseline = measure_formula(formula.lines[i], formula.size).baseline;
    draw_formula(ImGui::GetWindowDrawList(), {corner.x + at.x, corner.y + at.y + baseline}, formula.lines[i],
                 formula.size, style::colours().text);
  }
}

void fitted_formula(const std::string& latex, float wanted) {
  const FittedFormula formula = fitted(latex, wanted, ImGui::GetContentRegionAvail().x);
  draw_fitted(formula, ImGui::GetCursorScreenPos());
  ImGui::Dummy({formula.extent.width, formula.extent.height});
}

/// Scrolls to the last item once, when the cursor has come to it or the panel has another height.
void keep_in_sight(Index operation) {
  ImGuiStorage* memory = ImGui::GetStateStorage();
  const float height = ImGui::GetWindowHeight();
  const int place = static_cast<int>(operation) + 1000 * static_cast<int>(height);
  const ImGuiID key = ImGui::GetID("in sight");
  if (memory->GetInt(key, -1) == place) return;
  memory->SetInt(key, place);
  const float top = ImGui::GetWindowPos().y;
  const float line = ImGui::GetItemRectSize().y;
  const bool is_seen =
      ImGui::GetItemRectMin().y >= top + line && ImGui::GetItemRectMax().y <= top + height - line;
  if (!is_seen) ImGui::SetScrollHereY(0.5F);
}

/// A box around every place of a symbol in a formula whose upper left corner is at `corner`.
void frame_symbol(const std::string& symbol, const std::string& text, float size, ImVec2 corner) {
  for (const SymbolPlace& place : symbol_places(text, size, {symbol})) {
    const float beside = style::px(2);
    const ImVec2 from = {corner.x + place.from.x - beside, corner.y + place.from.y - beside};
    const ImVec2 to = {corner.x + place.to.x + beside, corner.y + place.to.y + beside};
    ImGui::GetWindowDrawList()->AddRect(from, to, style::colours().accent, style::px(3), style::px(1));
  }
}

/// What is pointed at or held on the Stage; empty if that is nothing.
std::string symbol_in_focus(const Application& application, const Symbols& symbols) {
  if (application.focus_is_usual() || !application.focus()) return {};
  const auto found = symbols.find(application.focus()->tensor);
  return found == symbols.end() ? std::string() : found->second.latex;
}

/// One line; returns whether it is hovered.
bool draw_line(const Operation& operation, const std::string& text, const std::string& result, bool present,
               Application& application, Index index) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float indent = style::px(lit_bar);
  const float width = ImGui::GetContentRegionAvail().x;
  const FittedFormula formula = fitted(text, line_size, width - indent);
  const FormulaSize& extent = formula.extent;
  const ImVec2 item = {std::max(width, extent.width + indent),
                       std::max(extent.height + style::px(6), style::px(result.empty() ? 26 : 22)) +
                           style::px(result.empty() ? 0 : result_height)};
  if (ImGui::InvisibleButton(operation.id.c_str(), item) && !application.session.lookout().is_stale()) {
    application.show_welcome = false;
    Cursor cursor = application.session.sight().cursor;
    cursor.operation = index;
    cursor.entered = cursor.row;  // a step back leaves it again
    application.session.set_cursor(cursor);
  }
  const bool hovered = ImGui::IsItemHovered();
  if (present) keep_in_sight(index);
  tooltip(operation.title);
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (present) {
    list->AddRectFilled({from.x, from.y + style::px(4)},
                        {from.x + style::px(style::lit_line), from.y + item.y - style::px(4)},
                        style::colours().text);
  }
  const float below = style::px(result.empty() ? 0 : result_height);
  const ImVec2 corner = {from.x + indent, from.y + (item.y - below - extent.height) / 2};
  draw_fitted(formula, corner);
  if (const Sight& sight = application.session.sight(); sight.trace) {
    const std::string symbol = symbol_in_focus(application, sight.trace->symbols);
    for (std::size_t i = 0; i < formula.lines.size() && !symbol.empty(); ++i) {
      const ImVec2 at = formula.corner(i);
      frame_symbol(symbol, formula.lines[i], formula.size, {corner.x + at.x, corner.y + at.y});
    }
  }
  if (!result.empty()) {
    const style::TextStyle caption(style::Text::caption);
    draw_text({from.x + indent, from.y + item.y - below - style::px(2)},
              present ? style::colours().text : style::colours().dim, shortened(result, width - indent));
  }
  return hovered;
}

/// All lines; returns the operation to write out below: the hovered one, else the present one.
Index draw_lines(Application& application, const WrittenLines& lines, const Phase& phase) {
  const Index present = application.session.sight().cursor.operation;
  Index shown = present;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), 0));
  // What was hovered in the last frame is lit in this one.
  ImGuiStorage* memory = ImGui::GetStateStorage();
  const ImGuiID key = ImGui::GetID("previewed");
  const Index previewed = memory->GetInt(key, -1);
  for (std::size_t i = 0; i < phase.operations.size(); ++i) {
    const auto index = static_cast<Index>(i);
    const bool lit = index == present || index == previewed;
    const std::string& text = (lit ? lines.lit : lines.dim)[i];
    const std::string result = i < lines.results.size() ? lines.results[i] : std::string();
    if (draw_line(phase.operations[i], text, result, index == present, application, index)) shown = index;
  }
  memory->SetInt(key, shown == present ? -1 : static_cast<int>(shown));
  ImGui::PopStyleVar();
  ImGui::Dummy({0, 0});
  return shown;
}

/// The line once more with the numbers of this token; only those that are single numbers can be written into
/// it.
void draw_numbers(WrittenLines& lines, Index block, Index index, const Operation& operation,
                  const Symbols& symbols, const Record& record) {
  const WrittenLines::NumbersKey key{block, index};
  if (lines.numbers_key != key) {
    lines.numbers = latex(operation.equation, symbols, look(true, &record));
    if (lines.numbers == lines.lit[static_cast<std::size_t>(index)]) lines.numbers.clear();
    lines.numbers_key = key;
  }
  if (lines.numbers.empty()) return;
  style::caption("With its numbers");
  fitted_formula(lines.numbers, line_size);
}

/// One of the two memories that an output can read.
struct ReadMemory {
  const char* words;
  bool is_before;
  const char* explained;
};

/// "after" and "before": the switch between them.
void draw_read_switch(Session& session, bool is_before) {
  constexpr ReadMemory memories[] = {
      {"after###read after", false, "o reads S once the word has written: the word sees itself."},
      {"before###read before", true,
       "o reads the S that the word before left, neither faded nor written by this one. The read comes "
       "first; "
       "in the forms of many words the mask is strict, so that nobody reads itself."}};
  for (const ReadMemory& memory : memories) {
    if (&memory != memories) ImGui::SameLine(0, style::px(14));
    if (style::tab_button(memory.words, memory.is_before == is_before) && memory.is_before != is_before)
      choose_read(session, memory.is_before);
    tooltip(memory.explained);
  }
}

/// Below a step that reads: which memory, as papers differ in that.
void draw_reading(Application& application, const Operation& operation) {
  if (operation.purpose != Purpose::output) return;
  Session& session = application.session;
  const Sight& sight = session.sight();
  ReadNow key;
  key.of = sight.computation;
  key.token = sight.trace->token(sight.cursor);
  const Known<ReadMoments> answer = session.questions().ask(key, Urgency::later);
  style::caption("Before the write or after it?");
  if (no_read_choice(*sight.computation).empty())
    draw_read_switch(session, is_read_before(sight.computation->sequence.settings));
  const bool is_known = answer.value && answer.value->token == key.token;
  style::paragraph(reading_in_words(*sight.computation, is_known ? answer.value.get() : nullptr));
}

void draw_loss(const Variant& variant) {
  style::caption("The problem it learns");
  style::paragraph(variant.loss.words);
  if (!variant.loss.latex.empty()) fitted_formula("\\mathcal L(S) = " + variant.loss.latex, 16);
  if (!variant.loss.step.empty()) fitted_formula(variant.loss.step, 16);
  style::caption(variant.paper);
}

}  // namespace

bool has_room_for_lines(const Application& application) {
  constexpr float low_window = 960;
  return !has_chunks(application.session.choice().form) ||
         ImGui::GetMainViewport()->WorkSize.y >= style::px(low_window);
}

void draw_equation(Application& application) {
  const Sight& sight = application.session.sight();
  const Computation* computed = sight.computation.get();
  const std::string title =
      computed ? fmt::format("{}, line by line###equation", computed->variant->label) : "###equation";
  if (style::begin_panel(title.c_str(), {0, 0}, ImGuiWindowFlags_HorizontalScrollbar) && computed) {
    if (sight.record) {
      const auto [phase, record] = shown(application);
      WrittenLines& lines = written_lines(application, phase);
      write_results(lines, sight, phase);
      const Index hovered = draw_lines(application, lines, phase);
      draw_numbers(lines, sight.cursor.block, hovered, phase.operations[static_cast<std::size_t>(hovered)],
                   sight.trace->symbols, record);
      draw_reading(application, phase.operations[static_cast<std::size_t>(sight.cursor.operation)]);
    }
    draw_loss(*computed->variant);
  }
  style::end_panel();
}

}  // namespace palimpsest
