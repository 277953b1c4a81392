#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "app/gl/context_local.h"
#include "app/session/step_questions.h"
#include "app/stage/cell_words.h"
#include "app/stage/fading_cells.h"
#include "app/stage/largest_cell.h"
#include "app/studio/application.h"
#include "app/views/awaited.h"
#include "app/views/cell_sum.h"
#include "app/views/inner_terms.h"
#include "app/views/line_numbers.h"
#include "app/views/panels.h"
#include "app/views/shown.h"
#include "app/views/why.h"
#include "app/views/writer_fate.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/steps/turned.h"

namespace palimpsest {

namespace {

constexpr float bar_line = 18;        // design pixels
constexpr float bar_tone = 0.66F;     // of the colours of numbers
constexpr float low_panel = 400;      // design pixels
constexpr float index_width = 26;     // of a word's index beside it
constexpr float least_label = 0.34F;  // of the width, for the words beside bars
constexpr float most_label = 0.44F;
constexpr std::size_t most_lines = 8;
constexpr float rest_and_sum = 2;  // bars below those of the strongest
constexpr const char* title_words = "Why this number?";

/// What is shown of one cell. Made anew only when another cell or another record is looked at.
struct ExplainedCell {
  std::optional<CellFocus> cell;
  std::weak_ptr<const Record> record;
  bool turned = false;
  std::optional<style::Theme> theme;  // whose colours the LaTeX has

  std::string symbol;  // LaTeX
  std::string indices;
  std::string words;
  std::string symbol_words;
  std::string origin;  // of what no operation makes
  double value = 0;
  std::string problem;
  std::optional<Explanation> explanation;  // nothing: the data give it
  std::vector<std::string> sources;
  std::vector<CellPart> parts;         // that add up to it
  bool is_inner_product = false;       // they are its products
  std::optional<WrittenCell> written;  // what earlier words made of it, or what it is made from
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
  if (symbol.role == Role::state || tensor.ends_with("_in")) return "Left by the words before: ";
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

/// What adds up to the cell, and who wrote what it is made from, in the coordinates of the record.
void fill_sum(ExplainedCell& answer, const Trace& trace, const Block& block, const Record& record,
              CellFocus cell) {
  if (answer.turned && turns(cell.tensor, trace.symbols, record)) std::swap(cell.row, cell.column);
  const Phase& phase = trace.phase(block);
  answer.parts = cell_parts(phase, block, trace.symbols, record, cell);
  answer.written = written_cell(trace, block, phase, record, cell);
  if (!answer.parts.empty() || answer.written) return;
  answer.parts = inner_terms(trace, block, record, cell);
  answer.is_inner_product = !answer.parts.empty();
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
  answer.symbol_words = symbol.words;
  answer.words = symbol.words + of_token(symbol, values, sight) + (place.empty() ? "" : ", " + place);
  answer.origin = origin(symbol, cell.tensor);
  answer.value = values(cell.row, cell.column);
  // What no operation of this step makes, the words before made: their writes are told apart as well.
  try {
    fill_sum(answer, trace, block, *sight.record, cell);
    if (const Operation* maker = maker_of(phase, cell.tensor)) {
      answer.explanation = explain(maker->equation, trace.symbols, record, cell.row, cell.column);
      answer.sources = source_words(trace, *answer.explanation);
    }
  } catch (const Error& error) {
    answer.problem = error.what();
  }
}

const ExplainedCell& answer_for(const CellFocus& cell, const Application& application) {
  auto& answer = context_local<ExplainedCell>();
  const std::shared_ptr<const Record>& record = application.session.sight().record;
  const bool turned = application.view.state_value_by_key;
  if (answer.cell == cell && answer.record.lock() == record && answer.turned == turned &&
      answer.theme == style::theme())
    return answer;
  ExplainedCell fresh;
  fresh.cell = cell;
  fresh.record = record;
  fresh.turned = turned;
  fresh.theme = style::theme();
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

bool is_low() { return ImGui::GetWindowHeight() < style::px(low_panel); }

/// One number as a bar beside others.
struct BarLine {
  std::string words = {};
  std::string index = {};  // of the word, small
  std::string latex = {};  // in place of words that there are not, or that have no room
  ImU32 colour = 0;        // of the words; 0: the text's
  double value = 0;
  bool is_sum = false;
};

float words_width(const std::string& words) {
  const style::TextStyle text(style::Text::caption);
  return text_extent(words).x;
}

/// What the words beside bars take of `width`: as much as they need, within limits.
float label_width(const std::vector<BarLine>& lines, float width) {
  const style::TextStyle text(style::Text::caption);
  float widest = 0;
  for (const BarLine& line : lines) {
    const float index = line.index.empty() ? 0 : index_width;
    widest = std::max(widest, text_extent(line.words).x + style::px(index + 5));
  }
  return std::round(std::clamp(widest, width * least_label, width * most_label));
}

/// Bars on one scale, with zero where there is room on both sides; numbers on the right. A stroke stands
/// before line `marked`: what is said below is about it. Returns the line under the pointer, or -1.
int bar_lines(const std::vector<BarLine>& lines, bool old, int marked = -1) {
  const style::Palette& c = style::colours();
  double least = 0;
  double most = 0;
  for (const BarLine& line : lines) {
    if (!std::isfinite(line.value)) continue;
    least = std::min(least, line.value);
    most = std::max(most, line.value);
  }
  const double span = std::max(most - least, 1e-300);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), 0));
  const float width = ImGui::GetContentRegionAvail().x;
  const float label = label_width(lines, width);
  const float number = style::px(58);
  const float room = width - label - number - style::px(4);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = style::px(bar_line);
  int pointed = -1;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const BarLine& line = lines[i];
    const ImVec2 from = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width, height});
    if (ImGui::IsItemHovered()) pointed = static_cast<int>(i);
    const float middle = std::round(from.y + height / 2);
    if (line.is_sum)
      list->AddLine({from.x, from.y}, {from.x + width, from.y}, c.edge, style::px(style::line));
    const auto x = [&](double value) {
      return std::round(from.x + label + room * static_cast<float>((value - least) / span));
    };
    list->AddLine({x(0), from.y}, {x(0), from.y + height}, c.faint, style::px(style::line));
    if (std::isfinite(line.value) && line.value != 0) {
      const ImU32 ink = style::colour(colour(c.map, line.value > 0 ? bar_tone : -bar_tone, 1));
      list->AddRectFilled({std::min(x(0), x(line.value)), middle - style::px(5)},
                          {std::max(x(0), x(line.value)), middle + style::px(5)},
                          old ? style::mix(c.panel, ink, 0.5F) : ink);
    }
    const float beside_label = line.index.empty() ? 0 : style::px(index_width);
    const bool is_symbol =
        !line.latex.empty() && (line.words.empty() || words_width(line.words) > label - style::px(4));
    if (is_symbol) {
      const float letters =
          std::min(style::px(14), style::px(14) * (label - style::px(4)) /
                                      std::max(measure_formula(line.latex, style::px(14)).width, 1.0F));
      draw_formula(list, {from.x, middle + style::px(4)}, line.latex, letters, c.text);
    } else {
      if (static_cast<int>(i) == marked)
        list->AddRectFilled({from.x - style::px(8), from.y + style::px(2)},
                            {from.x - style::px(6), from.y + height - style::px(2)}, c.text);
      const style::TextStyle text(style::Text::caption);
      const std::string shown = shortened(line.words, label - beside_label - style::px(4));
      const float top = middle - text_extent(shown).y / 2;
      draw_text({from.x, top}, line.colour != 0 ? line.colour : c.text, shown);
      if (beside_label > 0)
        draw_text({from.x + text_extent(shown).x + style::px(5), top}, c.faint, line.index);
    }
    const style::TextStyle digits(style::Text::number_small);
    const double size = std::abs(line.value);
    const bool is_plain = size == 0 || (size >= 5e-4 && size < 1e4);
    const std::string shown =
        is_plain ? fmt::format("{:.3f}", line.value) : fmt::format("{:.1e}", line.value);
    draw_text({from.x + width - text_extent(shown).x, middle - text_extent(shown).y / 2}, c.text, shown);
  }
  ImGui::PopStyleVar();
  return pointed;
}

std::string word_of(Index token, const std::vector<std::string>& labels) {
  return visible_label(labels[static_cast<std::size_t>(token)]);
}

/// The strongest `most` parts, the rest together, and the cell that they add up to.
std::vector<BarLine> part_lines(const ExplainedCell& answer, const std::vector<std::string>& labels,
                                std::size_t most) {
  std::vector<BarLine> lines;
  const style::Palette& c = style::colours();
  const NamedParts parts = named_parts(answer.parts, most);
  for (const CellPart& part : parts.named) {
    BarLine line{.words = part.words, .latex = part.latex, .value = part.value};
    if (part.role != Role::plain) line.colour = c.role(part.role);
    if (part.token >= 0) {
      line.words = word_of(part.token, labels);
      line.index = std::to_string(part.token);
      line.latex.clear();
    }
    lines.push_back(std::move(line));
  }
  if (parts.others > 0) lines.push_back({.words = fmt::format("{} more", parts.others), .value = parts.rest});
  lines.push_back(
      {.words = answer.symbol_words, .latex = answer.symbol, .value = answer.value, .is_sum = true});
  return lines;
}

/// A word's share.
BarLine writer_line(const WriterShare& writer, const std::vector<std::string>& labels) {
  BarLine line{.value = writer.remaining};
  if (writer.token == initial_token) {
    line.words = "the start";
  } else {
    line.words = word_of(writer.token, labels);
    line.index = std::to_string(writer.token);
  }
  return line;
}

/// The word whose bar was under the pointer in the last frame.
struct PointedWriter {
  std::optional<Index> token;
};

/// The one among `writers` whose fate is told: the one that was pointed at, else the largest.
int told_of(const std::vector<WriterShare>& writers) {
  const auto& pointed = context_local<PointedWriter>().token;
  const auto found = pointed ? std::ranges::find(writers, *pointed, &WriterShare::token) : writers.end();
  return found != writers.end() ? static_cast<int>(found - writers.begin()) : largest_share(writers);
}

/// "what is there now, v[2], was written by".
void heading_of(const WrittenCell& written) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption, c.dim);
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  ImGui::TextUnformatted((written.words + (written.latex.empty() ? ", by" : ",")).c_str());
  if (written.latex.empty()) return;
  const ImVec2 end = {ImGui::GetItemRectMax().x, ImGui::GetItemRectMin().y};
  const FormulaSize size = measure_formula(written.latex, style::px(14));
  const bool fits = end.x + size.width + text_extent(", was written by").x + style::px(8) < right;
  const float baseline = end.y + ImGui::GetFontBaked()->Ascent;
  draw_formula(ImGui::GetWindowDrawList(), {end.x + style::px(4), baseline}, written.latex, style::px(14),
               c.dim);
  draw_text({end.x + style::px(4) + size.width, end.y}, c.dim, fits ? ", was written by" : ", by");
}

/// The symbol with its indices and the value, on one baseline.
void headline(const ExplainedCell& answer) {
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = style::px(28);
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

/// How many bars have room in the panel beside that of the rest, the sum and `below`, in screen
/// pixels.
std::size_t bars_in_room(float below) {
  constexpr std::size_t least = 2;
  constexpr std::size_t most = 7;
  const float room =
      ImGui::GetWindowHeight() - style::px(style::panel_padding) - ImGui::GetCursorPosY() - below;
  const float rows = std::floor(room / style::px(bar_line)) - rest_and_sum;
  return static_cast<std::size_t>(std::clamp(rows, static_cast<float>(least), static_cast<float>(most)));
}

/// How many products have room for a bar of their own in a low panel.
std::size_t products_in_room() { return bars_in_room(ImGui::GetStyle().ItemSpacing.y); }

/// How many words have, above what became of one of them.
std::size_t writers_in_room() {
  const float lines_of_fate = is_low() ? 3 : 4;  // what to point at stands below it in a high panel
  const style::TextStyle text(style::Text::caption);
  const float line = ImGui::GetTextLineHeight();
  const float gaps = 3 * ImGui::GetStyle().ItemSpacing.y;  // below the heading, the bars and the sentence
  return bars_in_room((1 + lines_of_fate) * line + gaps);
}

/// Who wrote a number: bars by word, the rest together, their sum.
void draw_writers(Application& application, const ExplainedCell& answer) {
  const WrittenCell& written = *answer.written;
  const auto& computation = application.session.sight().computation;
  const std::size_t most = writers_in_room();
  const WhoWrote key{computation, written.number, most};
  const auto told = application.session.questions().ask(key);
  ImGui::Dummy({0, style::px(1)});
  heading_of(written);
  if (!told.value) {
    if (!told.under_way) style::caption(told.reason);
    if (awaited("telling its writers apart", told)) application.session.questions().give_up(key);
    return;
  }
  // Within a word, or a batch of them, a rule may have another memory than the one that it hands on.
  const double shown = written.shown.value_or(told.value->value);
  if (!told.stale && std::abs(told.value->value - shown) > 1e-3 * std::max(1.0, std::abs(shown))) {
    const std::string words =
        is_faulty(application.session.sight())
            ? fmt::format("Who wrote it is known of the correct run alone, where it is {}.",
                          plain_number(told.value->value, 3))
            : std::string(
                  "Who wrote it is not known here: this step works on a memory that is not finished.");
    style::caption(words);
    return;
  }
  std::vector<BarLine> lines;
  const auto& labels = computation->data->labels;
  for (const WriterShare& writer : told.value->strongest) lines.push_back(writer_line(writer, labels));
  if (told.value->others > 0) {
    const Index others = told.value->others;
    lines.push_back({.words = fmt::format("{} other {}", others, others == 1 ? "word" : "words"),
                     .value = told.value->others_remaining});
  }
  lines.push_back({.words = "together", .value = told.value->value, .is_sum = true});
  const std::vector<WriterShare>& writers = told.value->strongest;
  const int told_one = told_of(writers);
  const std::string fate =
      told_one < 0 ? std::string() : writer_fate(writers[static_cast<std::size_t>(told_one)], labels);
  const int pointed = bar_lines(lines, told.stale, fate.empty() ? -1 : told_one);
  auto& remembered = context_local<PointedWriter>().token;
  remembered.reset();
  if (pointed >= 0 && pointed < static_cast<int>(writers.size()))
    remembered = writers[static_cast<std::size_t>(pointed)].token;
  why_map().fate = fate;
  if (!fate.empty()) {
    const style::TextStyle text(style::Text::caption);
    ImGui::TextWrapped("%s", fate.c_str());
    constexpr const char* others = "Point at a bar for what became of another word's.";
    if (writers.size() > 1 && is_low())
      tooltip(others);
    else if (writers.size() > 1)
      style::caption(others);
  }
  if (awaited("telling its writers apart", told)) application.session.questions().give_up(key);
}

void draw_answer(Application& application, const ExplainedCell& answer, bool pinned) {
  const style::Palette& c = style::colours();
  if (!answer.problem.empty()) {
    style::paragraph(answer.problem);
    return;
  }
  headline(answer);
  if (!answer.explanation) {
    style::paragraph(answer.origin + answer.words + ".");
  } else {
    // Where there is little room the symbols stand in the formula above the pictures alone, and the numbers
    // beside the bars.
    if (!is_low()) arithmetic("= " + answer.explanation->formula, c.dim);
    if (!is_low() || answer.parts.empty()) arithmetic("= " + answer.explanation->numbers, c.text);
  }
  if (!answer.parts.empty()) {
    ImGui::Dummy({0, style::px(1)});
    style::caption(answer.is_inner_product ? "the strongest of what it adds up" : "what this step does here");
    const std::size_t most = answer.is_inner_product && is_low() ? products_in_room() : most_lines;
    bar_lines(part_lines(answer, application.session.sight().computation->data->labels, most), false);
    why_map().parts = std::min(answer.parts.size(), most);
  }
  if (answer.written) draw_writers(application, answer);
  if (pinned) style::caption("Held by a click; Esc lets go.");
}

/// Which cell is explained, in as many words as have room beside the title; none in very little.
std::string why_place(float room, bool fades, bool in_row) {
  using Choices = std::array<const char*, 3>;
  const Choices of_all = fades ? Choices{"what fades most, ringed", "fades most, ringed", "ringed"}
                               : Choices{"the largest, ringed", "largest, ringed", "ringed"};
  const Choices of_row =
      fades ? Choices{"what fades most in its row, ringed", "most faded of its row", "ringed"}
            : Choices{"the largest in its row, ringed", "largest of its row", "ringed"};
  for (const char* words : in_row ? of_row : of_all) {
    if (text_extent(words).x <= room) return words;
  }
  return {};
}

/// "the largest, ringed", right of the title.
void origin_of_focus(const Application& application) {
  if (!application.focus_is_usual()) return;
  const style::TextStyle style(style::Text::caption);
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - style::px(style::panel_padding);
  const float title =
      ImGui::GetWindowPos().x + style::px(style::panel_padding + 16) + text_extent(title_words).x;
  const auto focus = application.focus();
  const Sight& sight = application.session.sight();
  const bool is_known = focus && sight.record && sight.trace && sight.record->contains(focus->tensor);
  const bool fades = is_known && holds_decays(focus->tensor, sight.record->at(focus->tensor));
  const bool in_row =
      is_known && is_looked_at_by_row(sight.record->at(focus->tensor), sight.trace->block(sight.cursor.block),
                                      sight.trace->form);
  const std::string words = why_place(right - title, fades, in_row);
  why_map().origin = words;
  const float top = ImGui::GetWindowPos().y - ImGui::GetScrollY() + style::px(style::panel_padding);
  draw_text({right - text_extent(words).x, top}, style::colours().dim, words);
}

}  // namespace

WhyMap& why_map() { return context_local<WhyMap>(); }

void draw_why(Application& application) {
  why_map() = {};
  if (style::begin_panel(title_words)) {
    const std::optional<CellFocus> cell = application.focus();
    if (cell && application.session.sight().record) {
      origin_of_focus(application);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(is_low() ? 3 : 8)));
      draw_answer(application, answer_for(*cell, application), application.pinned == cell);
      why_map().beyond = ImGui::GetScrollMaxY();
      ImGui::PopStyleVar();
    } else {
      style::paragraph("Point at a cell of a picture: here stands how it was computed. A click holds it.");
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
