#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/computation.h"
#include "app/session/step_questions.h"
#include "app/stage/scales.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/views/device_departure.h"
#include "app/views/form_costs.h"
#include "app/views/form_words.h"
#include "app/views/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_map.h"
#include "app/widgets/text.h"
#include "core/contract/output.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr float strip_height = 13;
constexpr float high_panel = 400;  // design pixels: from here on numbers and costs stand below each other
constexpr Index most_tokens_asked = 1024;  // the record of the parallel form holds n x n matrices

/// What is compared: one row of numbers for each form, at the present word.
struct ComparedRows {
  bool is_written = false;                                            // what is written, not what comes out
  std::array<const Matrix<double>*, std::size(all_forms)> rows = {};  // null: not known
  std::array<Index, std::size(all_forms)> row = {};
  std::array<std::uint64_t, std::size(all_forms)> version = {};
  std::array<std::shared_ptr<const Record>, std::size(all_forms)> kept = {};
  std::shared_ptr<const Record> reference = nullptr;  // what is written, by the CPU's recurrence

  const Matrix<double>* of(Form form) const { return rows[static_cast<std::size_t>(form)]; }

  /// The numbers of a form's row [1, V]; of one token they are recorded as a column.
  Matrix<double> numbers(Form form) const {
    const Matrix<double>& all = *of(form);
    if (is_written && form == Form::recurrent) return all.transpose();
    return all.row(row[static_cast<std::size_t>(form)]);
  }
};

/// Whether the present step is on the way to what is written.
bool is_at_a_write(const Sight& sight) {
  static constexpr Purpose writing[] = {Purpose::read,    Purpose::error, Purpose::update, Purpose::write,
                                        Purpose::overlap, Purpose::rest,  Purpose::solve};
  if (!sight.record) return false;
  return std::ranges::find(writing, sight.trace->operation(sight.cursor).purpose) != std::end(writing);
}

/// What is written: the recurrence's missing value, and the rows of U. Nothing where a rule has no such rows.
std::optional<ComparedRows> written_rows(Application& application, Index token) {
  const auto computation = application.session.computed();
  ComparedRows compared{.is_written = true};
  for (const Form form : all_forms) {
    const auto index = static_cast<std::size_t>(form);
    const std::shared_ptr<const Trace>& trace = computation->trace(form);
    if (!trace || trace->block_count() == 0) continue;
    if (form == Form::recurrent && trace->phases.size() > 1) return std::nullopt;
    if (form == Form::parallel && trace->tokens > most_tokens_asked) continue;
    const Index at = trace->block_of(token, 0);
    const Block block = trace->block(at);
    const auto answer = application.session.questions().ask(BlockRecord{trace, at});
    if (!answer.value || answer.stale) continue;
    const char* name = form == Form::recurrent ? "error" : "U";
    if (!answer.value->contains(name)) return std::nullopt;
    const Matrix<double>& rows = answer.value->at(name);
    if (form != Form::recurrent && rows.rows() != block.count) return std::nullopt;
    compared.rows[index] = &rows;
    compared.row[index] = token - block.first_token;
    compared.version[index] = computation->version * 1'000'003 + static_cast<std::uint64_t>(at);
    compared.kept[index] = answer.value;
  }
  if (!compared.of(Form::recurrent)) return std::nullopt;
  const std::shared_ptr<const Trace>& recurrence = computation->recurrence;
  const auto reference =
      application.session.questions().ask(BlockRecord{recurrence, recurrence->block_of(token, 0)});
  if (!reference.value || reference.stale || !reference.value->contains("error")) return std::nullopt;
  compared.reference = reference.value;
  return compared;
}

ComparedRows output_rows(const Computation& computed, Index token) {
  ComparedRows compared;
  for (const Form form : all_forms) {
    const auto index = static_cast<std::size_t>(form);
    const Matrix<double>& o = computed.form(form).output().o;
    if (o.rows() <= token) continue;
    compared.rows[index] = &o;
    compared.row[index] = token;
    compared.version[index] = computed.version;
  }
  return compared;
}

/// The colour range of the strips: that of all outputs, as on the stage, or of the recurrence's row here, so
/// that equal rows look equal.
float strip_range(const Application& application, const Computation& computed, const ComparedRows& compared,
                  Index token) {
  if (compared.is_written) return static_cast<float>(compared.numbers(Form::recurrent).cwiseAbs().maxCoeff());
  const double range = application.view.shared_scale ? kind_range(computed, Role::output) : 0;
  if (range > 0) return static_cast<float>(range);
  const Output* const expected = computed.reference->known();
  return expected ? static_cast<float>(expected->o.row(token).cwiseAbs().maxCoeff()) : 1;
}

/// The recorded cell behind channel `channel` of a strip; nothing where the step's record has none.
std::optional<CellFocus> recorded_cell(Application& application, bool is_written, Index channel) {
  const Sight& sight = application.session.sight();
  if (!sight.record || application.session.lookout().is_stale()) return std::nullopt;
  const bool is_token = sight.trace->form == Form::recurrent;
  const char* vector = is_written ? "error" : "o";
  const char* rows = is_written ? "U" : "O";
  if (is_token && sight.record->contains(vector)) return CellFocus{vector, channel, 0};
  if (!is_token && sight.record->contains(rows)) return CellFocus{rows, sight.cursor.row, channel};
  return std::nullopt;
}

void answer_pointer(Application& application, Form form, const ComparedRows& compared, Index token,
                    ImVec2 position, ImVec2 size) {
  if (!ImGui::IsItemHovered()) return;
  const Matrix<double> values = compared.numbers(form);
  const auto cell = hovered_cell(position, size, 1, values.cols(), ImGui::GetIO().MousePos);
  if (!cell) return;
  if (form == application.session.choice().form)
    application.hovered = recorded_cell(application, compared.is_written, cell->column);
  tooltip(fmt::format("{} word {}, channel {}: {:+.6g}", compared.is_written ? "written for" : "output of",
                      token, cell->column, values(0, cell->column)));
}

/// What a form's residual is measured against.
std::string residual_words(const Application& application, const FormResult& result) {
  if (!result.is_compared) return "Being computed and compared.";
  const Choice& choice = application.session.computed()->choice;
  return fmt::format(
      "Over all words {}{}: the largest difference from {}{}, as a share of the largest number; {}",
      scientific(result.residual()), on_device(choice), reference_words(choice.precision),
      on_device(choice).empty() ? "" : " of the CPU", allowance_words(result));
}

/// How far a form's row of what is written is from the recurrence's on the CPU.
std::string written_distance(const ComparedRows& compared, Form form) {
  const Matrix<double>& reference = compared.reference->at("error");
  if (&reference == compared.of(form)) return "reference";
  return scientific(compare("U", compared.numbers(form), reference.transpose()).error);
}

/// Whether a fault is in this form on purpose.
bool is_faulty(const Computation& computed, Form form) {
  return !computed.choice.fault.id.empty() && computed.choice.fault.form == form;
}

/// The form's name, which is lit for the present form and switches to the others, and its residual.
void heading(Application& application, Form form, const FormResult& result, const ComparedRows& compared) {
  const style::Palette& c = style::colours();
  const bool present = application.session.choice().form == form;
  const bool exists = result.missing.empty();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const bool is_known = exists && compared.of(form);
  const std::string residual = !exists               ? ""
                               : !is_known           ? "…"
                               : compared.is_written ? written_distance(compared, form)
                                                     : scientific(result.residual());
  const float number_width = [&] {
    const style::TextStyle style(style::Text::number_small);
    return text_extent(residual).x;
  }();
  const float number = from.x + width - number_width;
  const std::string command = fmt::format("form.{}", name(form));
  command_button(application, command, [&] {
    const bool pressed = ImGui::InvisibleButton(form_label(form), {width, style::px(18)});
    const bool lit = present || (exists && ImGui::IsItemHovered());
    const style::TextStyle style(present ? style::Text::strong : style::Text::body);
    const std::string title = form_title(form, application.session.computed()->choice);
    draw_text(from,
              !exists ? c.faint
              : lit   ? c.text
                      : c.dim,
              shortened(title, width - number_width - style::px(8)));
    return pressed;
  });
  if (exists && ImGui::GetIO().MousePos.x >= number) tooltip(residual_words(application, result));
  const style::TextStyle style(style::Text::number_small);
  const ImU32 colour = !result.is_compared ? c.dim
                       : !result.judgement.passed() || is_faulty(*application.session.computed(), form)
                           ? c.alarm
                       : result.amplified.empty() ? c.good
                                                  : c.text;
  draw_text({number, from.y + style::px(1)}, colour, residual);
}

void strip(Application& application, Form form, const ComparedRows& compared, Index token) {
  const Computation& computed = *application.session.computed();
  const auto index = static_cast<std::size_t>(form);
  const ImVec2 position = ImGui::GetCursorScreenPos();
  const ImVec2 size = {ImGui::GetContentRegionAvail().x, style::px(strip_height)};
  ImGui::Dummy(size);
  if (const Matrix<double>* rows = compared.of(form)) {
    HeatMapLook look;
    look.range = strip_range(application, computed, compared, token);
    look.transposed = compared.is_written && form == Form::recurrent;
    if (!look.transposed) look.block = {compared.row[index], 0, 1, -1};
    heat_map(fmt::format("{} {}", compared.is_written ? "written" : "output", name(form)), *rows,
             compared.version[index], position, size, look);
    answer_pointer(application, form, compared, token, position, size);
  }
  // The outline shows where a strip lies whose numbers are all near zero.
  ImGui::GetWindowDrawList()->AddRect(position, {position.x + size.x, position.y + size.y},
                                      style::colours().edge, 0, style::px(style::line));
}

/// Words on the left, fewer where there is no room, a number on the right.
void value_line(std::string_view words, std::string_view fewer, const std::string& value, ImU32 colour) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({width, style::px(18)});
  {
    const style::TextStyle text(style::Text::caption);
    const float room = width - style::px(60);
    draw_text(from, style::colours().dim, text_extent(words).x <= room ? words : fewer);
  }
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

/// Where a device parts from the CPU, and a way there. Returns whether that is known.
bool device_departure(Application& application, Form form) {
  const auto wrong = ask_device_departure(application, form);
  if (!wrong.value || wrong.stale || !*wrong.value) return false;
  const Departure& at = (*wrong.value)->tensor.departure;
  const style::TextStyle style(style::Text::caption, style::colours().alarm);
  const std::string words = departure_words(*application.session.computed(), at);
  ImGui::TextUnformatted(shortened(words, ImGui::GetContentRegionAvail().x).c_str());
  if (ImGui::IsItemClicked()) go_to_departure(application, form, at);
  tooltip(fmt::format("{}: {}\nA click goes to this step.", words, at.title));
  return true;
}

void first_difference(Application& application, Form form, const FormResult& result) {
  if (device_departure(application, form) || result.first_bad_token < 0) return;
  const style::TextStyle style(style::Text::caption, style::colours().alarm);
  ImGui::Text("first differs at token %d", static_cast<int>(result.first_bad_token));
  if (ImGui::IsItemClicked()) application.session.go_to_token(result.first_bad_token);
}

void draw_form(Application& application, Form form, const ComparedRows& compared, Index token, bool is_high) {
  const FormResult& result = application.session.computed()->form(form);
  ImGui::PushID(form_label(form));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style::px(8), style::px(2)));
  heading(application, form, result, compared);
  if (!result.missing.empty()) {
    one_line(result.missing);
  } else {
    strip(application, form, compared, token);
    const Computation& computed = *application.session.computed();
    const bool is_from_rounding = !is_faulty(computed, form) && !parts_on_device(computed, form);
    if (!result.amplified.empty() && is_from_rounding) one_line(result.amplified);
    first_difference(application, form, result);
    if (form == application.session.choice().form) {
      if (const std::string fused = fused_words(computed, form); !fused.empty()) one_line(fused);
    }
  }
  ImGui::Dummy({0, style::px(is_high ? 4.0F : 1.0F)});
  ImGui::PopStyleVar();
  ImGui::PopID();
}

constexpr float tab_gap = 10;
// Of these there are more, beside a title and "costs" in a narrow panel.
constexpr float precision_gap = 6;
constexpr float narrow_precision_gap = 3;
constexpr float narrow_panel = 260;

/// Where the devices to choose from begin if they end at `right`.
float left_of_devices(const Application& application, float right) {
  const float gap = style::px(tab_gap);
  float x = right + gap;
  for (const Backend* device : application.session.devices())
    x -= std::ceil(text_extent(device->name()).x) + gap;
  return x;
}

/// The devices to choose from, ending at `right`.
void device_tabs(Application& application, float right, float top) {
  const Devices devices = application.session.devices();
  const float gap = style::px(tab_gap);
  ImGui::SetCursorScreenPos({left_of_devices(application, right), top});
  for (const Backend* device : devices) {
    const std::string id = device->name();
    command_button(application, "device." + id,
                   [&] { return style::tab_button(id.c_str(), application.session.choice().device == id); });
    ImGui::SameLine(0, gap);
  }
  ImGui::NewLine();
}

/// The precisions to choose from, ending at `right`. Returns where they begin.
float precision_tabs(Application& application, float right, float top) {
  const bool is_narrow = ImGui::GetWindowWidth() < style::px(narrow_panel);
  const float gap = style::px(is_narrow ? narrow_precision_gap : precision_gap);
  float x = right + gap;
  for (const Precision each : all_precisions) x -= std::ceil(text_extent(name(each)).x) + gap;
  ImGui::SetCursorScreenPos({x, top});
  for (const Precision each : all_precisions) {
    command_button(application, fmt::format("precision.{}", name(each)), [&] {
      return style::tab_button(name(each), application.session.choice().precision == each);
    });
    ImGui::SameLine(0, gap);
  }
  ImGui::NewLine();
  return x;
}

float width_of_title(const std::string& title) {
  const style::TextStyle text(style::Text::caption);
  return text_extent(std::string_view(title).substr(0, title.find("##"))).x;
}

/// In the line of the panel's title, the precision, and the device too where it is wanted there and has room.
/// Returns whether it stands there.
bool tabs_beside_title(Application& application, const std::string& title, bool with_device) {
  const ImVec2 resume = ImGui::GetCursorScreenPos();
  const float right = resume.x + ImGui::GetContentRegionAvail().x;
  const float top =
      ImGui::GetWindowPos().y - ImGui::GetScrollY() + style::px(style::panel_padding) - style::px(6);
  const float begin = precision_tabs(application, right, top);
  cost_map().tabs_begin = begin;
  const float end = begin - style::px(18);
  const bool fits =
      with_device && left_of_devices(application, end) >= resume.x + width_of_title(title) + style::px(14);
  if (fits) device_tabs(application, end, top);
  ImGui::SetCursorScreenPos(resume);
  return fits;
}

/// The device in a line of its own, below the forms.
void device_line(Application& application) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float right = from.x + ImGui::GetContentRegionAvail().x;
  {
    const style::TextStyle text(style::Text::caption);
    draw_text({from.x, from.y + style::px(2)}, style::colours().dim, "computed on");
  }
  device_tabs(application, right, from.y - style::px(6));
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({right - from.x, style::px(20)});
}

/// How far the rule is from the output that the file holds.
void own_output(const Session& session) {
  const Computation& computed = *session.computed();
  if (!computed.capture_error) return;
  const std::string& rule = session.data().rule;
  const bool other_rule = !rule.empty() && rule != computed.variant->id;
  const std::string label = other_rule ? find_variant(rule).label : std::string();
  value_line(
      other_rule ? fmt::format("against the output of {}", label) : "against the model's own output file",
      other_rule ? fmt::format("{}'s output", label) : "the model's own output",
      scientific(*computed.capture_error), style::colours().text);
  const std::string layer =
      other_rule ? fmt::format("Its layer computed {}, another rule.", label) : std::string();
  tooltip(fmt::format(
      "Largest difference between {} and the array o of this head, as a share of the largest o. {}",
      reference_words(computed.choice.precision), layer));
}

/// What a panel shows that has no room for both.
struct ShownCosts {
  bool costs = false;
};

/// "What is written, in 4 forms": device and precision stand beside it. In little room the costs have a name
/// beside it, too.
std::string title(const Application& application, const ComparedRows& compared, bool is_high) {
  if (!is_high && context_local<ShownCosts>().costs) return "Costs###forms";
  if (!is_high) return compared.is_written ? "Writes###forms" : "Outputs###forms";
  const std::string what = compared.is_written ? "What is written" : "What comes out";
  const auto count = std::ranges::count_if(application.session.computed()->forms,
                                           [](const auto& form) { return form->missing.empty(); });
  return fmt::format("{}, in {} form{}###forms", what, count, count == 1 ? "" : "s");
}

/// Beside the panel's title: what else it can show.
void costs_button(const std::string& title) {
  auto& costs = context_local<ShownCosts>().costs;
  const ImVec2 resume = ImGui::GetCursorScreenPos();
  const float top = ImGui::GetWindowPos().y - ImGui::GetScrollY() + style::px(style::panel_padding);
  const float end = resume.x + width_of_title(title);
  const float wished = end + style::px(14);
  const float most = cost_map().tabs_begin - text_extent(costs ? "forms" : "costs").x - style::px(8);
  ImGui::SetCursorScreenPos({std::clamp(most, end + style::px(4), wished), top - style::px(6)});
  if (style::tab_button(costs ? "forms###costs" : "costs###costs", false)) costs = !costs;
  cost_map().name_end = ImGui::GetItemRectMax().x;
  tooltip(costs ? "Shows what the forms compute." : "Shows FLOPs, bytes and steps in a row of every form.");
  ImGui::SetCursorScreenPos(resume);
}

}  // namespace

void draw_forms(Application& application) {
  const auto computed = application.session.computed();
  if (!computed || computed->sequence.tokens == 0) {
    style::begin_panel("The same sum in all forms###forms");
    style::end_panel();
    return;
  }
  const Index token = std::min<Index>(application.session.token(), computed->sequence.tokens - 1);
  const Sight& sight = application.session.sight();
  std::optional<ComparedRows> compared;
  // What a faulty recurrence writes is nothing to measure the others by.
  if (is_at_a_write(sight) && sight.computation == computed && !is_faulty(*computed, Form::recurrent))
    compared = written_rows(application, token);
  if (!compared) compared = output_rows(*computed, token);
  cost_map() = {};
  const bool is_high = ImGui::GetContentRegionAvail().y >= style::px(high_panel);
  const std::string words = title(application, *compared, is_high);
  if (style::begin_panel(words.c_str())) {
    const bool shows_device = tabs_beside_title(application, words, is_high);
    if (!is_high) costs_button(words);
    const bool costs = !is_high && context_local<ShownCosts>().costs;
    if (!costs) {
      for (const Form form : all_forms) draw_form(application, form, *compared, token, is_high);
      if (!shows_device) device_line(application);
      own_output(application.session);
    }
    if (is_high || costs) draw_form_costs(application, is_high);
  }
  style::end_panel();
}

}  // namespace palimpsest
