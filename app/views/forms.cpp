#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/stage/scales.h"
#include "app/studio/application.h"
#include "app/views/form_words.h"
#include "app/views/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_map.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float strip_height = 14;
constexpr float least_height = 330;  // with the captions of the present form alone
constexpr float height_with_all_captions = 416;
constexpr float height_of_a_sentence = 88;  // that says what a form multiplies rounding by

/// The colour range of the strips: that of all outputs, as on the stage, or of the recurrence's at this
/// token, so that equal outputs look equal.
float output_range(const Application& application, const Computation& computed, Index token) {
  const double range = application.view.shared_scale ? kind_range(computed, Role::output) : 0;
  return static_cast<float>(range > 0 ? range
                                      : computed.reference->expected().o.row(token).cwiseAbs().maxCoeff());
}

void switch_form(Application& application, Form form) {
  Choice choice = application.session.choice();
  choice.form = form;
  application.session.choose(std::move(choice));
}

/// The recorded cell behind channel `channel` of the output; nothing where the step's record has no output.
std::optional<CellFocus> output_cell(Application& application, Index channel) {
  const Sight& sight = application.session.sight();
  if (!sight.record || application.session.lookout().is_stale()) return std::nullopt;
  const bool is_token = sight.trace->form == Form::recurrent;
  if (is_token && sight.record->contains("o")) return CellFocus{"o", channel, 0};
  if (!is_token && sight.record->contains("O")) return CellFocus{"O", sight.cursor.row, channel};
  return std::nullopt;
}

void answer_pointer(Application& application, Form form, const Matrix<double>& o, Index token,
                    ImVec2 position, ImVec2 size) {
  const auto cell = hovered_cell(position, size, 1, o.cols(), ImGui::GetIO().MousePos);
  if (!cell || !ImGui::IsItemHovered()) return;
  if (form == application.session.choice().form) application.hovered = output_cell(application, cell->column);
  tooltip(
      fmt::format("output of token {}, channel {}: {:+.6g}", token, cell->column, o(token, cell->column)));
}

/// Whether there is something to show of what a form computes; until it is computed, of the last choice.
bool has_output(const FormResult& result) { return result.output().o.rows() > 0; }

/// What a form is, or, over its residual, what that is measured against.
std::string heading_words(const Application& application, Form form, const FormResult& result,
                          bool over_residual) {
  if (!result.missing.empty()) return result.missing;
  if (!over_residual) return fmt::format("Step through the {} form.", name(form));
  if (!result.is_compared) return "Being computed and compared.";
  return fmt::format("Largest difference from {}, as a share of the largest number; {}",
                     reference_words(application.session.choice().precision), allowance_words(result));
}

/// The form's name, which is lit for the present form and switches to the others, and its residual.
void heading(Application& application, Form form, const FormResult& result) {
  const style::Palette& c = style::colours();
  const bool present = application.session.choice().form == form;
  const bool exists = result.missing.empty();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const bool is_known = exists && has_output(result);
  const std::string residual = is_known ? scientific(result.residual()) : exists ? "…" : "";
  const float number_width = [&] {
    const style::TextStyle style(style::Text::number_small);
    return text_extent(residual).x;
  }();
  const float number = from.x + width - number_width;
  ImGui::BeginDisabled(!exists);
  if (ImGui::InvisibleButton(form_label(form), {width, style::px(18)})) switch_form(application, form);
  ImGui::EndDisabled();
  const bool lit = present || (exists && ImGui::IsItemHovered());
  tooltip(heading_words(application, form, result, ImGui::GetIO().MousePos.x >= number));
  {
    const style::TextStyle style(present ? style::Text::strong : style::Text::body);
    draw_text(from,
              !exists ? c.faint
              : lit   ? c.text
                      : c.dim,
              form_title(form, application.session.computed()->choice));
  }
  const style::TextStyle style(style::Text::number_small);
  const ImU32 colour = !result.is_compared          ? c.dim
                       : !result.judgement.passed() ? c.alarm
                       : result.amplified.empty()   ? c.good
                                                    : c.text;
  draw_text({number, from.y + style::px(1)}, colour, residual);
}

void strip(Application& application, Form form, const FormResult& result, Index token) {
  const Computation& computed = *application.session.computed();
  const ImVec2 position = ImGui::GetCursorScreenPos();
  const ImVec2 size = {ImGui::GetContentRegionAvail().x, style::px(strip_height)};
  const Matrix<double>& o = result.output().o;
  HeatMapLook look;
  look.range = output_range(application, computed, token);
  look.block = {token, 0, 1, -1};
  ImGui::Dummy(size);
  heat_map(fmt::format("output {}", name(form)), o, computed.version, position, size, look);
  // The outline shows where a strip lies whose numbers are all near zero.
  ImGui::GetWindowDrawList()->AddRect(position, {position.x + size.x, position.y + size.y},
                                      style::colours().edge, 0, style::px(style::line));
  answer_pointer(application, form, o, token, position, size);
}

/// Words on the left, a number on the right.
void value_line(std::string_view words, const std::string& value, ImU32 colour) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({width, style::px(18)});
  draw_text(from, style::colours().dim, words);
  const style::TextStyle style(style::Text::number_small);
  draw_text({from.x + width - text_extent(value).x, from.y + style::px(1)}, colour, value);
}

/// A caption on one line, however narrow the panel is.
void one_line(const std::string& words) {
  const style::TextStyle style(style::Text::caption, style::colours().dim);
  const std::string shown = shortened(words, ImGui::GetContentRegionAvail().x);
  ImGui::TextUnformatted(shown.c_str());
  if (shown != words) tooltip(words);
}

void first_difference(Application& application, const FormResult& result) {
  if (result.first_bad_token < 0) return;
  const style::TextStyle style(style::Text::caption, style::colours().alarm);
  ImGui::Text("first differs at token %d", static_cast<int>(result.first_bad_token));
  if (ImGui::IsItemClicked()) application.session.go_to_token(result.first_bad_token);
}

/// What there is room for.
struct Room {
  bool captions = true;   // what every form does at this token; else the present one alone
  bool sentences = true;  // in full; else on a line
};

Room room(const Computation& computed, float height) {
  const auto count =
      std::ranges::count_if(computed.forms, [](const auto& form) { return !form->amplified.empty(); });
  const float sentences = static_cast<float>(count) * style::px(height_of_a_sentence);
  return {.captions = height >= style::px(height_with_all_captions) + sentences,
          .sentences = height >= style::px(least_height) + sentences};
}

void draw_form(Application& application, Form form, const Room& room) {
  const Computation& computed = *application.session.computed();
  const FormResult& result = computed.form(form);
  const Index token = std::min<Index>(application.session.token(), computed.sequence.tokens - 1);
  ImGui::PushID(form_label(form));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(3)));
  heading(application, form, result);
  if (!result.missing.empty()) {
    if (!room.captions) {
      one_line(result.missing);
    } else {
      style::caption(result.missing);
    }
  } else {
    if (has_output(result))
      strip(application, form, result, token);
    else
      ImGui::Dummy({0, style::px(strip_height)});
    const bool is_present = application.session.choice().form == form;
    if (room.captions || is_present) one_line(form_work(result, computed, token));
    if (!result.amplified.empty() && room.sentences) style::caption(result.amplified);
    if (!result.amplified.empty() && !room.sentences) one_line(result.amplified);
    first_difference(application, result);
  }
  ImGui::Dummy({0, style::px(3)});
  ImGui::PopStyleVar();
  ImGui::PopID();
}

void chunk_size(Application& application) {
  const Session& session = application.session;
  int size = static_cast<int>(session.choice().chunk_size);
  style::SliderLook<int> look;
  look.minimum = 1;
  look.maximum = std::max(static_cast<int>(largest_chunk(session.data().tokens)), 2);
  look.reset = std::min(8, look.maximum);
  look.logarithmic = true;
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (style::slider("", "chunk size", &size, look)) {
    Choice choice = session.choice();
    choice.chunk_size = size;
    application.session.choose(std::move(choice), "chunk_size");
  }
}

/// The precision, in the line of the panel's title.
void precision(Application& application) {
  const ImVec2 resume = ImGui::GetCursorScreenPos();
  const float right = resume.x + ImGui::GetContentRegionAvail().x;
  const float gap = style::px(12);
  float width = -gap;
  for (const Precision each : {Precision::f64, Precision::f32}) width += text_extent(name(each)).x + gap;
  const float title = ImGui::GetWindowPos().y - ImGui::GetScrollY() + style::px(style::panel_padding);
  ImGui::SetCursorScreenPos({right - width, title - style::px(6)});
  for (const Precision each : {Precision::f64, Precision::f32}) {
    if (style::tab_button(name(each), application.session.choice().precision == each)) {
      Choice choice = application.session.choice();
      choice.precision = each;
      application.session.choose(std::move(choice));
    }
    tooltip(fmt::format("Compute all forms in {}; they are compared with {}.", name(each),
                        reference_words(each)));
    ImGui::SameLine(0, gap);
  }
  ImGui::NewLine();
  ImGui::SetCursorScreenPos(resume);
}

/// How far the rule is from the output that the file holds.
void own_output(const Session& session, const Room& room) {
  const Computation& computed = *session.computed();
  if (!computed.capture_error) return;
  const std::string& rule = session.data().rule;
  const bool other_rule = !rule.empty() && rule != computed.variant->id;
  value_line("the output in the file", scientific(*computed.capture_error), style::colours().text);
  const std::string layer =
      other_rule ? fmt::format("Its layer computed {}.", find_variant(rule).label) : std::string();
  tooltip(fmt::format(
      "Largest difference between {} and the array o of this head, as a share of the largest o. {}",
      reference_words(computed.choice.precision), layer));
  if (other_rule && room.captions) style::caption(layer);
}

}  // namespace

void draw_forms(Application& application) {
  if (style::begin_panel("The same sum in all forms") && application.session.computed()) {
    precision(application);
    const Room fits = room(*application.session.computed(), ImGui::GetWindowHeight());
    one_line(fmt::format("distance from {}", reference_words(application.session.choice().precision)));
    for (const Form form : all_forms) draw_form(application, form, fits);
    own_output(application.session, fits);
    chunk_size(application);
  }
  style::end_panel();
}

}  // namespace palimpsest
