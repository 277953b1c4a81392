#include "app/views/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gl/context_local.h"
#include "app/scene/draw.h"
#include "app/stage/cell_words.h"
#include "app/views/awaited.h"
#include "app/views/device_departure.h"
#include "app/views/form_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float headline_height = 34;
constexpr float words_beside = 64;  // of the rows
constexpr float between = 18;
constexpr float least_word_row = 11;
constexpr float title_height = 22;
constexpr float caption_height = 16;
constexpr float arithmetic_height = 40;
constexpr float strip_share = 0.6F;  // of the room, for a tensor that is one column: it is wide, not high
constexpr float largest_formula = 24;

LatexStyle boxed_style(const FormulaChange& change) {
  return {.colour = [](Role role, bool) { return style::hex(style::colours().role(role)); },
          .lit = {},
          .numbers = nullptr,
          .boxed = changed_piece,
          .box_colour = style::hex(style::colours().alarm),
          .boxes_sign = change.is_sign};
}

std::string sign_of(const Expression& sum) { return sum.kind() == Expression::Kind::sum ? "+" : "−"; }

/// The forms of the rule, those that do not exist disabled. Returns where the row begins.
float draw_form_segments(Application& application, float right, float y) {
  const Computation& computed = *application.session.computed();
  float width = 0;
  for (const Form form : all_forms) width += style::segment_size(name(form)).x;
  float x = right - width;
  const Form present = proof_form(application);
  for (const Form form : all_forms) {
    ImGui::SetCursorScreenPos({x, y});
    const std::string& missing = computed.form(form).missing;
    const bool exists = missing.empty();
    ImGui::BeginDisabled(!exists);
    const bool pressed = style::segment_button(
        name(form), form == present, {.first = form == all_forms[0], .last = form == Form::parallel});
    ImGui::EndDisabled();
    tooltip(exists ? fmt::format("Look at the {} form; a fault goes with it.", name(form)) : missing);
    if (pressed) choose_proof_form(application, form);
    x += style::segment_size(name(form)).x;
  }
  return right - width;
}

/// "chunkwise, chunk 0, what will be written: first at 1 “The”"; `briefly` without the form, which is lit
/// beside it, and with the token's number alone, whose word the flag tells.
std::string place_words(const Application& application, const Departure& at, bool briefly = false) {
  const Computation& computed = *application.session.computed();
  const Form form = proof_form(application);
  const bool in_chunks = has_chunks(form);
  const std::string title = with_small_letter(at.title);
  const std::string chunk =
      in_chunks ? fmt::format("chunk {}, ", at.token / computed.choice.chunk_size) : std::string();
  if (briefly) return fmt::format("{}{}, token {}", chunk, title, at.token);
  return fmt::format("{}, {}{}: first at {}", name(form), chunk,
                     at.phase.empty() ? title : at.phase + ", " + title, numbered_word(computed, at.token));
}

/// `brief` stands where there is no room for `words`.
void draw_headline(Application& application, const std::string& words, ImVec2 from, float right,
                   const std::string& brief = {}) {
  const style::Palette& c = style::colours();
  prove_map().headline = words;
  const float end = draw_form_segments(application, right, from.y - px(2));
  {
    const style::TextStyle text(style::Text::strong);
    draw_text(from, c.text, "Where do they part?");
    from.x += text_extent("Where do they part?").x + px(14);
  }
  const style::TextStyle text(style::Text::caption);
  const float room = end - from.x - px(14);
  if (room > px(76))
    draw_text({from.x, from.y + px(2)}, c.dim,
              shortened(brief.empty() || text_extent(words).x <= room ? words : brief, room));
}

/// A formula in the middle, as large as there is room; returns where it ends.
float draw_centred_formula(const std::string& latex, ImVec2 from, float width) {
  float size = px(largest_formula);
  FormulaSize extent = measure_formula(latex, size);
  if (extent.width > width) {
    size *= width / extent.width;
    extent = measure_formula(latex, size);
  }
  draw_formula(ImGui::GetWindowDrawList(), {from.x + (width - extent.width) / 2, from.y + extent.baseline},
               latex, size, style::colours().text);
  return from.y + extent.height;
}

/// What should stand in the box: words and a formula in a line; returns where it ends.
float draw_should_be(const FormulaChange& change, const Symbols& symbols, ImVec2 from, float width) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const bool is_carried = !change.carried.empty();
  if (!change.should_be && !is_carried) return from.y;
  const std::string words = is_carried       ? change.carried
                            : change.is_sign ? "should be " + sign_of(*change.should_be)
                                             : std::string("should be ");
  std::string latex;
  if (!is_carried && !change.is_sign)
    latex = palimpsest::latex(*change.should_be, symbols, boxed_style(change));
  float size = px(15);
  FormulaSize extent = latex.empty() ? FormulaSize() : measure_formula(latex, size);
  const float words_width = text_extent(words).x;
  if (extent.width > width - words_width) {
    size *= (width - words_width) / extent.width;
    extent = measure_formula(latex, size);
  }
  const float x = from.x + (width - words_width - extent.width) / 2;
  const float height = std::max(extent.height, text_extent("x").y);
  draw_text({x, from.y + (height - text_extent("x").y) / 2}, c.alarm, words);
  if (!latex.empty())
    draw_formula(ImGui::GetWindowDrawList(),
                 {x + words_width, from.y + (height - extent.height) / 2 + extent.baseline}, latex, size,
                 c.text);
  return from.y + height;
}

/// One of the three pictures: its title, its cells, the first wrong row framed.
struct TensorPicture {
  const char* key;
  std::vector<std::string> words;  // the first for which there is room
  const Matrix<double>& values;
  ImVec2 from;
  ImVec2 size;
  double range = 1;
  bool is_difference = false;
};

/// The first of `words` that has room, else as much as has of the last.
std::string fitting(const std::vector<std::string>& words, float room) {
  const auto fits = [&](const std::string& each) { return text_extent(each).x <= room; };
  const auto found = std::ranges::find_if(words, fits);
  return found == words.end() ? shortened(words.back(), room) : *found;
}

void draw_tensor(const WrongPlace& place, const TensorPicture& picture) {
  const style::Palette& c = style::colours();
  const Departure& at = place.tensor.departure;
  const auto symbol = place.symbols.find(at.tensor);
  float x = picture.from.x;
  const float middle = picture.from.y - px(title_height / 2);
  if (symbol != place.symbols.end()) {
    const std::string latex = symbol->second.latex;
    const FormulaSize extent = measure_formula(latex, px(15));
    draw_formula(ImGui::GetWindowDrawList(), {x, middle - extent.height / 2 + extent.baseline}, latex, px(15),
                 picture.is_difference ? c.alarm : c.role(symbol->second.role));
    x += extent.width + px(7);
  }
  {
    const style::TextStyle text(style::Text::caption);
    draw_text({x, middle - text_extent("x").y / 2}, picture.is_difference ? c.alarm : c.dim,
              fitting(picture.words, picture.from.x + picture.size.x - x));
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 to = {picture.from.x + picture.size.x, picture.from.y + picture.size.y};
  if (picture.values.size() == 0) {
    list->AddRect(picture.from, to, c.edge);
    const style::TextStyle text(style::Text::caption);
    draw_centred({picture.from.x, (picture.from.y + to.y) / 2}, picture.size.x, c.dim, "cannot be made");
    return;
  }
  const bool is_column = picture.values.cols() == 1 && picture.values.rows() > 1;
  heat_map(picture.key, picture.values, place.version, picture.from, picture.size,
           {.range = static_cast<float>(picture.range), .transposed = is_column});
  list->AddRect(picture.from, to, c.edge);
  prove_map().tensors.push_back({picture.from, to});
  const Index rows = is_column ? 1 : picture.values.rows();
  const Index row = is_column ? 0 : at.row - place.first_row;
  if (row < 0 || row >= rows) return;
  const Rectangle frame = cell_rectangle(picture.from, picture.size, rows, 1, {row, 0});
  list->AddRect({frame.minimum.x - px(2), frame.minimum.y - px(2)},
                {frame.maximum.x + px(2), frame.maximum.y + px(2)}, c.alarm, px(2), px(2));
}

/// The words of the rows, as far as there is room for them; the first wrong one in any case.
void draw_row_words(const Computation& computed, const WrongPlace& place, ImVec2 from, float height) {
  const Departure& at = place.tensor.departure;
  const Index rows = place.tensor.should_be.rows();
  if (at.rows_per_token <= 0 || rows == 0) return;
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float row_height = height / static_cast<float>(rows);
  const float line = text_extent("x").y;
  const float wrong_middle = from.y + (static_cast<float>(at.row - place.first_row) + 0.5F) * row_height;
  const float clear = row_height >= px(least_word_row) ? row_height * 0.9F : line;  // of the wrong one
  float end = from.y - line;
  for (Index row = 0; row < rows; ++row) {
    const Index token = place.tensor.first_token + (place.first_row + row) / at.rows_per_token;
    if ((place.first_row + row) % at.rows_per_token != 0) continue;
    if (token >= computed.sequence.tokens) break;
    const float middle = from.y + (static_cast<float>(row) + 0.5F) * row_height;
    const bool is_wrong = token == at.token;
    const bool has_room = row_height >= px(least_word_row) || middle - line / 2 >= end + px(2);
    if (!is_wrong && (!has_room || std::abs(middle - wrong_middle) < clear)) continue;
    end = middle + line / 2;
    const std::string word = shortened(visible_label(computed.data->labels[static_cast<std::size_t>(token)]),
                                       px(words_beside - 12));
    draw_text({from.x - px(8) - text_extent(word).x, middle - line / 2}, is_wrong ? c.alarm : c.dim, word);
  }
}

/// The arithmetic of the cell that is furthest off, both ways.
void draw_arithmetic(Application& application, const WrongPlace& place, ImVec2 from, float width) {
  const style::Palette& c = style::colours();
  const Departure& at = place.tensor.departure;
  const float button = style::pill_size("to the Stage  →").x;
  ImGui::SetCursorScreenPos({from.x + width - button, from.y + px(4)});
  if (style::pill_button("to the Stage  →")) {
    go_to_departure(application, proof_form(application), at);
  }
  const bool has_fault = !application.session.state().prove.fault.id.empty();
  tooltip(has_fault ? "Opens this step, with the fault still in." : "Opens this step as the device has it.");
  const std::string cell = cell_indices(place.tensor.should_be, {at.tensor, at.row, at.column});
  struct Way {
    const char* words;
    const std::optional<Explanation>& why;
    double value;
    ImU32 colour;
  };
  const Way ways[] = {{"should be", place.tensor.why_should_be, at.expected, c.good},
                      {"is", place.tensor.why_is, at.got, c.alarm}};
  float y = from.y;
  const float room = width - button - px(20);
  for (const Way& way : ways) {
    float x = from.x;
    const bool is_first = &way == &ways[0];
    {
      const style::TextStyle text(style::Text::caption);
      if (is_first) draw_text({x, y}, c.dim, "Why this number?");
      if (!is_first) {
        const auto symbol = place.symbols.find(at.tensor);
        float cell_at = x;
        if (symbol == place.symbols.end()) {
          draw_text({x, y}, c.dim, at.tensor);
          cell_at += text_extent(at.tensor).x;
        } else {
          const FormulaSize extent = measure_formula(symbol->second.latex, px(14));
          draw_formula(ImGui::GetWindowDrawList(), {x, y + text_extent("x").y * 0.8F}, symbol->second.latex,
                       px(14), c.dim);
          cell_at += extent.width + px(3);
        }
        draw_text({cell_at, y}, c.dim, shortened(cell, x + px(112) - cell_at));
      }
      x += px(118);
      draw_text({x, y}, c.dim, way.words);
      x += px(66);
    }
    const style::TextStyle digits(style::Text::number_small);
    const std::string value = fmt::format("= {:.4g}", way.value);
    const float end = from.x + room - text_extent(value).x - px(8);
    const std::string sum = way.why ? shortened(way.why->numbers, end - x) : std::string();
    draw_text({x, y}, c.text, sum);
    const float value_at = x + text_extent(sum).x + px(8);
    draw_text({value_at, y}, way.colour, value);
    ImGui::SetCursorScreenPos({from.x, y});
    ImGui::InvisibleButton(way.words, {std::max(room, 1.0F), px(18)});
    if (way.why) tooltip(way.why->formula + "\n" + way.why->numbers);
    y += px(19);
  }
}

/// The first tensor that the fault that is in makes wrong, or a device.
Known<WrongHere::Value> ask_wrong(Application& application) {
  const InjectedFault& fault = application.session.state().prove.fault;
  if (fault.id.empty()) return ask_device_departure(application, proof_form(application));
  auto key = about_proof<WrongHere>(application);
  key.form = fault.form;
  key.fault = fault.id;
  return application.session.questions().ask(key);
}

/// What is wrong: formula, tensors, arithmetic. `reason`: why no step may be off, in a sentence; `message`:
/// why equations cannot be carried out, mostly empty.
void draw_wrong(Application& application, const std::string& reason, const std::string& message, ImVec2 from,
                ImVec2 to) {
  const Computation& computed = *application.session.computed();
  const style::Palette& c = style::colours();
  const Known<WrongHere::Value> answer = ask_wrong(application);
  const float width = to.x - from.x;
  if (!answer.value || answer.stale || !*answer.value) {
    ImGui::SetCursorScreenPos(from);
    if (!message.empty()) {
      style::paragraph("Its equations cannot be carried out: " + message);
    } else if (!answer.reason.empty()) {
      style::paragraph(answer.reason);
    } else if (answer.value && !answer.stale) {
      style::paragraph(reason);
    } else {
      awaited("looking for the first step that is off", answer);
    }
    return;
  }
  const WrongPlace& place = **answer.value;
  const FormulaChange& change = place.tensor.change;
  prove_map().operation = place.tensor.departure.operation;
  float y =
      draw_centred_formula(palimpsest::latex(change.is, place.symbols, boxed_style(change)), from, width);
  y = draw_should_be(change, place.symbols, {from.x, y + px(2)}, width) + px(6);
  const bool has_words = place.tensor.departure.rows_per_token > 0;
  const float gutter = has_words ? px(words_beside) : 0;
  const float picture = std::floor((width - gutter - 2 * px(between)) / 3);
  const bool is_column = place.tensor.should_be.cols() == 1 && place.tensor.should_be.rows() > 1;
  const float top = y + px(title_height);
  const float bottom = to.y - px(arithmetic_height + caption_height + 8);
  const float height = is_column ? std::floor((bottom - top) * strip_share) : bottom - top;
  if (height < px(16) || picture < px(40)) return;
  const float x[] = {from.x + gutter, from.x + gutter + picture + px(between),
                     from.x + gutter + 2 * (picture + px(between))};
  const auto symbol = place.symbols.find(place.tensor.departure.tensor);
  const std::string called = symbol == place.symbols.end() || symbol->second.words.empty()
                                 ? std::string()
                                 : ": " + symbol->second.words;
  const bool has_own_scale = place.should_range != place.range;
  const std::string own =
      has_own_scale ? fmt::format(", own scale ±{}", plain_number(place.should_range, 1)) : std::string();
  draw_tensor(place, {.key = "prove should",
                      .words = {"as it should be" + own + called, "as it should be" + own, "should be"},
                      .values = place.tensor.should_be,
                      .from = {x[0], top},
                      .size = {picture, height},
                      .range = place.should_range});
  draw_tensor(place, {.key = "prove is",
                      .words = {"as it is", "is"},
                      .values = place.tensor.is,
                      .from = {x[1], top},
                      .size = {picture, height},
                      .range = place.range});
  draw_tensor(place, {.key = "prove apart",
                      .words = {"is − should be"},
                      .values = place.apart,
                      .from = {x[2], top},
                      .size = {picture, height},
                      .range = place.range,
                      .is_difference = true});
  if (!is_column) draw_row_words(computed, place, {x[0], top}, height);
  {
    const style::TextStyle text(style::Text::caption);
    const float below = top + height + px(3);
    draw_text(
        {x[0], below}, c.dim,
        shortened(
            fmt::format("{} × {} numbers{}", place.tensor.should_be.rows(), place.tensor.should_be.cols(),
                        place.first_row > 0 || place.first_column > 0 ? " around the first that is off" : ""),
            picture));
    const std::string range = plain_number(place.range, 2);
    std::string scale = fmt::format("{}±{}; {:.0f} % of the difference beyond it",
                                    has_own_scale ? "" : "one scale, ", range, 100 * place.beyond);
    if (text_extent(scale).x > picture)
      scale = shortened(fmt::format("±{}; {:.0f} % beyond", range, 100 * place.beyond), picture);
    draw_text({x[2] + picture - text_extent(scale).x, below}, c.dim, scale);
  }
  draw_arithmetic(application, place,
                  {from.x, is_column ? (top + height + px(caption_height) + to.y - px(arithmetic_height)) / 2
                                     : std::max(to.y - px(arithmetic_height), top + height + px(22))},
                  width);
}

void draw_centre(Application& application, ImVec2 from, ImVec2 to) {
  const ProveState& state = application.session.state().prove;
  const Computation& computed = *application.session.computed();
  const ImVec2 below = {from.x, from.y + px(headline_height)};
  if (!state.fault.id.empty()) {
    const Known<FaultFigures> figures = ask_present_fault(application);
    const Fault& fault = find_fault(state.fault.id);
    const bool is_known = figures.value && !figures.stale;
    const bool lacks = is_known && !figures.value->without.empty();
    draw_headline(application,
                  lacks                                  ? fault.label
                  : is_known && figures.value->departure ? place_words(application, *figures.value->departure)
                                                         : fault.label,
                  from, to.x,
                  is_known && !lacks && figures.value->departure
                      ? place_words(application, *figures.value->departure, true)
                      : std::string());
    ImGui::SetCursorScreenPos(below);
    if (lacks)
      style::paragraph(
          fmt::format("“{}” is not in. {}", fault.label,
                      computed.no_fault.empty() ? "It " + figures.value->without + "." : computed.no_fault));
    else if (is_known)
      draw_wrong(application, "No step is off here: on these data the fault changes no number.",
                 figures.value->message, below, to);
    else
      awaited("carrying out the faulty equations", figures);
    return;
  }
  if (!state.fragile.empty()) {
    draw_headline(application, "right on paper, not always in numbers", from, to.x);
    ImGui::SetCursorScreenPos(below);
    scene::show(fragile_form(application));
    return;
  }
  if (parts_on_device(computed, proof_form(application))) {
    const Known<WrongHere::Value> wrong = ask_wrong(application);
    const bool is_found = wrong.value && !wrong.stale && *wrong.value;
    const std::string& device = computed.choice.device;
    draw_headline(application,
                  is_found ? fmt::format("on {}: {}", device,
                                         place_words(application, (*wrong.value)->tensor.departure))
                           : fmt::format("{} and the CPU part", device),
                  from, to.x);
    ImGui::SetCursorScreenPos(below);
    draw_wrong(
        application,
        "No single step is off by more than the whole form may be: its differences add up, or it is run "
        "by another kernel than the one that keeps its steps.",
        {}, below, to);
    return;
  }
  draw_headline(application, "nothing is wrong on purpose", from, to.x);
  ImGui::SetCursorScreenPos(below);
  scene::show(proof(application));
}

}  // namespace

std::span<const Panel> prove_panels() {
  static constexpr Panel list[] = {
      {"Make it wrong", PanelPlace::left_top, draw_prove_faults},
      {"Where do they part?", PanelPlace::center, draw_prove},
      {"Everything that can be checked", PanelPlace::right_top, draw_prove_grid},
      {"How far from the recurrence", PanelPlace::bottom, draw_prove_floor},
  };
  return list;
}

ProveMap& prove_map() { return context_local<ProveMap>(); }

Form proof_form(const Application& application) {
  const InjectedFault& fault = application.session.state().prove.fault;
  return fault.id.empty() ? application.session.choice().form : fault.form;
}

void choose_proof_form(Application& application, Form form) {
  Choice choice = application.session.choice();
  choice.form = form;
  if (!choice.fault.id.empty()) choice.fault.form = form;
  application.session.choose(std::move(choice));
}

void inject(Application& application, const std::string& fault) {
  ProveState prove = application.session.state().prove;
  prove.fault = {fault, proof_form(application)};
  prove.fragile.clear();
  application.session.change_prove(prove);
}

Known<FaultFigures> ask_present_fault(Application& application) {
  const InjectedFault& fault = application.session.state().prove.fault;
  if (fault.id.empty()) return {};
  auto key = about_proof<FaultHere>(application);
  key.form = fault.form;
  key.fault = fault.id;
  return application.session.questions().ask(key);
}

Known<FragileFigures> ask_present_fragile(Application& application) {
  const ProveState& prove = application.session.state().prove;
  if (prove.fragile.empty() || !prove.fault.id.empty()) return {};
  auto key = about_proof<FragileHere>(application);
  key.fragile = prove.fragile;
  key.breaks = prove.breaks;
  return application.session.questions().ask(key);
}

std::string numbered_word(const Computation& computed, Index token) {
  const auto& labels = computed.data->labels;
  if (token < 0 || token >= std::ssize(labels)) return fmt::format("token {}", token);
  return fmt::format("token {} “{}”", token, visible_label(labels[static_cast<std::size_t>(token)]));
}

void draw_prove(Application& application) {
  prove_map() = {};
  if (style::begin_panel("##where do they part", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const auto computed = application.session.computed();
    if (!computed || computed->sequence.tokens == 0) {
      style::paragraph(computed ? "This sequence has no tokens, so nothing can part."
                                : "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures "
                                  "and presets.");
    } else {
      const ImVec2 from = ImGui::GetCursorScreenPos();
      const ImVec2 room = ImGui::GetContentRegionAvail();
      draw_centre(application, from, {from.x + room.x, from.y + room.y});
      ImGui::SetCursorScreenPos(from);
      ImGui::Dummy({1, 1});  // pictures are no items
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
