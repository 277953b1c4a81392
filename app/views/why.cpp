#include <fmt/format.h>
#include <imgui.h>

#include <optional>
#include <utility>

#include "app/gl/context_local.h"
#include "app/stage/cell_words.h"
#include "app/studio/application.h"
#include "app/views/panels.h"
#include "app/views/shown.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"
#include "core/base/error.h"

namespace palimpsest {

namespace {

/// What is shown of one cell. Made anew only when another cell or another record is looked at.
struct ExplainedCell {
  std::optional<CellFocus> cell;
  std::weak_ptr<const Record> record;
  bool turned = false;

  std::string symbol;  // LaTeX
  std::string indices;
  std::string words;
  std::string origin;  // of what no operation makes
  double value = 0;
  std::string problem;
  std::optional<Explanation> explanation;  // nothing: the data give it
  std::vector<std::string> sources;
};

Symbol symbol_of(const Trace& trace, const std::string& tensor) {
  const auto found = trace.symbols.find(tensor);
  return found == trace.symbols.end() ? Symbol{.latex = "\\mathrm{" + tensor + "}", .words = tensor}
                                      : found->second;
}

std::string coloured(const Symbol& symbol) {
  return fmt::format("\\fgcolor{{{}}}{{{}}}", style::hex(style::colours().role(symbol.role)), symbol.latex);
}

std::vector<std::string> source_words(const Trace& trace, const Explanation& explanation) {
  std::vector<std::string> words;
  for (const Cells& cells : explanation.sources) {
    std::string name = symbol_of(trace, cells.tensor).words;
    if (!name.empty() && std::ranges::find(words, name) == words.end()) words.push_back(std::move(name));
  }
  return words;
}

/// Where a tensor that no operation makes comes from.
std::string origin(const Symbol& symbol, const std::string& tensor) {
  if (symbol.role == Role::state || tensor.ends_with("_in")) return "Carried over from before: ";
  if (symbol.role == Role::plain) return "Given by the settings: ";
  return "Given by the data: ";
}

/// Vectors of one token do not say which: in the recurrent form it is the one at the cursor.
std::string of_token(const Symbol& symbol, const Matrix<double>& values, const Sight& sight) {
  const bool is_vector = values.rows() == 1 || values.cols() == 1;
  if (sight.trace->form != Form::recurrent || !is_vector || symbol.role == Role::plain) return {};
  const Index token = sight.trace->token(sight.cursor);
  const std::string label = visible_label(sight.computation->data->labels[static_cast<std::size_t>(token)]);
  return fmt::format(", token {} “{}”", token, label);
}

void fill(ExplainedCell& answer, const Application& application) {
  const Sight& sight = application.session.sight();
  const Trace& trace = *sight.trace;
  const auto& labels = sight.computation->data->labels;
  const CellFocus& cell = *answer.cell;
  const Block block = trace.block(sight.cursor.block);
  const auto [phase, record] = shown(application);
  const bool recorded = record.contains(cell.tensor);
  const Matrix<double> none;
  const Matrix<double>& values = recorded ? record.at(cell.tensor) : none;
  if (cell.row >= values.rows() || cell.column >= values.cols()) {
    answer.problem = "The number that a click holds is not part of this step. Esc lets go of it.";
    return;
  }
  const Symbol symbol = symbol_of(trace, cell.tensor);
  const std::string place = cell_place(trace, block, values, cell, labels, answer.turned);
  answer.symbol = coloured(symbol);
  answer.indices = cell_indices(values, cell);
  answer.words = symbol.words + of_token(symbol, values, sight) + (place.empty() ? "" : ", " + place);
  answer.origin = origin(symbol, cell.tensor);
  answer.value = values(cell.row, cell.column);
  if (const Operation* maker = maker_of(phase, cell.tensor)) {
    try {
      answer.explanation = explain(maker->equation, trace.symbols, record, cell.row, cell.column);
      answer.sources = source_words(trace, *answer.explanation);
    } catch (const Error& error) {
      answer.problem = error.what();
    }
  }
}

const ExplainedCell& answer_for(const CellFocus& cell, const Application& application) {
  auto& answer = context_local<ExplainedCell>();
  const std::shared_ptr<const Record>& record = application.session.sight().record;
  const bool turned = application.view.state_value_by_key;
  if (answer.cell == cell && answer.record.lock() == record && answer.turned == turned) return answer;
  ExplainedCell fresh;
  fresh.cell = cell;
  fresh.record = record;
  fresh.turned = turned;
  fill(fresh, application);
  answer = std::move(fresh);
  return answer;
}

void arithmetic(const std::string& text, ImU32 colour) {
  const style::TextStyle style(style::Text::number_small, colour);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
}

/// The symbol with its indices and the value, on one baseline.
void headline(const ExplainedCell& answer) {
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = style::px(32);
  const float baseline = from.y + style::px(22);
  const FormulaSize symbol =
      draw_formula(ImGui::GetWindowDrawList(), {from.x, baseline}, answer.symbol, style::px(22), c.text);
  const style::TextStyle number(style::Text::number);
  const float ascent = ImGui::GetFontBaked()->Ascent;
  draw_text({from.x + symbol.width + style::px(4), baseline - ascent}, c.dim, answer.indices);
  const std::string value = fmt::format("{:+.6g}", answer.value);
  draw_text({from.x + width - text_extent(value).x, baseline - ascent}, c.text, value);
  ImGui::Dummy({width, height});
}

void draw_answer(const ExplainedCell& answer, bool pinned) {
  const style::Palette& c = style::colours();
  if (!answer.problem.empty()) {
    style::paragraph(answer.problem);
    return;
  }
  headline(answer);
  if (!answer.explanation) {
    style::paragraph(answer.origin + answer.words + ".");
  } else {
    style::caption(answer.words);
    arithmetic("= " + answer.explanation->formula, c.dim);
    arithmetic("= " + answer.explanation->numbers, c.text);
    arithmetic(fmt::format("= {:+.10g}", answer.explanation->value), c.text);
    std::string made_of;
    for (const std::string& words : answer.sources)
      made_of += (made_of.empty() ? "Made from: " : "; ") + words;
    if (!made_of.empty()) style::caption(made_of + ".");
  }
  if (pinned) style::caption("Held by a click; Esc lets go.");
}

}  // namespace

void draw_why(Application& application) {
  if (style::begin_panel("Why this number?")) {
    const std::optional<CellFocus> cell = application.focus();
    if (cell && application.session.sight().record) {
      draw_answer(answer_for(*cell, application), application.pinned == cell);
    } else {
      style::paragraph("Point at a cell of a picture: here stands how it was computed. A click holds it.");
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
