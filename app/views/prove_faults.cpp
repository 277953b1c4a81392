#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/counted.h"
#include "app/views/prove.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float row_height = 19;
constexpr float low_row = 17;
constexpr float low_panel = 420;
constexpr float dot = 4;
constexpr float frame_margin = 3;

/// How a row of the list looks.
struct ListRow {
  const char* label;
  std::string number;
  std::string sentence;  // below it while it is chosen
  bool is_chosen = false;
  bool is_dim = false;
  ImU32 colour = 0;         // of what is chosen
  ImU32 number_colour = 0;  // 0: that of the words
};

float height_of_row() { return px(ImGui::GetWindowHeight() < px(low_panel) ? low_row : row_height); }

/// From one line of wrapped text to the next.
float line_step() { return text_extent("x").y + px(1); }

/// Text that wraps within `width`; returns where it ends.
float draw_wrapped(ImVec2 from, float width, ImU32 colour, const std::string& words) {
  float y = from.y;
  for (const std::string_view line : wrapped_lines(words, width)) {
    draw_text({from.x, y}, colour, line);
    y += line_step();
  }
  return y;
}

/// Scrolls so far that what was chosen last ends in sight; once, so that one can scroll away.
void bring_into_view(std::string chosen, float end) {
  struct LastChosen {
    std::string words;
  };
  auto& last = context_local<LastChosen>();
  if (last.words == chosen) return;
  last.words = std::move(chosen);
  const ImVec2 panel = ImGui::GetWindowPos();
  if (end > panel.y + ImGui::GetWindowHeight()) ImGui::SetScrollFromPosY(end - panel.y, 1);
}

/// A row that can be pressed: a dot, its words, a number. Returns whether it was.
bool draw_row(const ListRow& row) {
  const style::Palette& c = style::colours();
  if (row.is_chosen) ImGui::Dummy({0, px(frame_margin)});  // its frame keeps clear of the row above
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  float number_width = 0;
  {
    const style::TextStyle text(style::Text::number_small);
    number_width = text_extent(row.number).x;
  }
  const float room = width - number_width - px(26);
  // Words that are too long for their number go onto a second line.
  const float line = height_of_row();
  float height = line;
  {
    const style::TextStyle text(style::Text::caption);
    height += static_cast<float>(wrapped_lines(row.label, room).size() - 1) * line_step();
  }
  const bool pressed = ImGui::InvisibleButton(row.label, {width, height});
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  if (!row.sentence.empty() && !row.is_chosen) tooltip(row.sentence);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = row.is_chosen ? row.colour : row.is_dim ? (lit ? c.dim : c.faint) : lit ? c.text : c.dim;
  const ImVec2 middle = {from.x + px(6), from.y + line / 2};
  if (row.is_chosen)
    list->AddCircleFilled(middle, px(dot), row.colour);
  else
    list->AddCircle(middle, px(dot), ink, 0, px(1));
  {
    const style::TextStyle text(style::Text::number_small);
    draw_text({from.x + width - number_width, middle.y - text_extent("x").y / 2},
              row.number_colour != 0 && !row.is_chosen ? row.number_colour : ink, row.number);
  }
  const bool has_room = [&] {
    const style::TextStyle text(style::Text::strong);
    return text_extent(row.label).x <= room;
  }();
  const style::TextStyle text(row.is_chosen && has_room ? style::Text::strong : style::Text::caption);
  draw_wrapped({from.x + px(18), middle.y - text_extent("x").y / 2}, room,
               row.is_chosen ? c.text
               : row.is_dim  ? ink
               : lit         ? c.text
                             : c.dim,
               row.label);
  prove_map().fault_rows.push_back({from, {from.x + width, from.y + height}});
  if (row.is_chosen) {
    const style::TextStyle small(style::Text::caption);
    const float end =
        draw_wrapped({from.x + px(18), from.y + height + px(1)}, width - px(26), c.dim, row.sentence);
    list->AddRect({from.x - px(4), from.y - px(2)}, {from.x + width + px(4), end + px(3)}, row.colour, px(4),
                  px(1));
    ImGui::SetCursorScreenPos({from.x, from.y + height});
    ImGui::Dummy({width, end + px(4) - from.y - height});
    bring_into_view(row.label + row.sentence, end + px(8));
  }
  return pressed;
}

struct Listed {
  const Fault* fault;
  Known<FaultFigures> figures;
};

/// Where it is off by how much; the badge tells the largest of these.
std::string by_array(const FaultFigures& figures) {
  if (figures.errors.empty()) return {};
  const double outputs = std::ranges::max(figures.errors);
  const Disagreement& worst = figures.judgement.disagreement;
  if (!figures.noticed()) return " On these data it changes nothing that is noticed.";
  const auto size = [](double error) {
    return error >= 0.01 && std::isfinite(error) ? plain_number(error, 2) : scientific(error);
  };
  std::string words = fmt::format(" Outputs are off by {}", size(outputs));
  if (worst.array != "o")
    words += fmt::format(", {} at the end by {}", array_words(worst.array), size(worst.error));
  return words + " times the largest number.";
}

std::string number_of(const Known<FaultFigures>& figures) {
  if (figures.value && !figures.stale) return size_words(*figures.value);
  if (!figures.under_way && figures.reason.empty()) return {};
  return figures.reason.empty() ? "…" : "?";
}

void draw_title() {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const style::Palette& c = style::colours();
  float end = from.x;
  {
    const style::TextStyle text(style::Text::strong);
    draw_text(from, c.text, "Make it wrong");
    end += text_extent("Make it wrong").x + px(12);
  }
  const style::TextStyle text(style::Text::caption);
  const std::string words = shortened("off by", from.x + width - end);
  draw_text({from.x + width - text_extent(words).x, from.y + px(2)}, c.dim, words);
  ImGui::Dummy({width, px(22)});
  ImGui::SetCursorScreenPos({end, from.y});
  ImGui::SetCursorScreenPos({from.x, from.y + px(24)});
}

/// Long texts take seconds for every fault: there each is tried when it is chosen, unless all are asked for.
constexpr Index most_tokens_tried = 1024;

struct TriedFaults {
  std::string of;  // data and form for which all are
};

/// Whether all faults are tried unasked; else a way to ask for it.
bool tries_all(Application& application) {
  const Computation& computed = *application.session.computed();
  const Index tokens = computed.sequence.tokens;
  if (tokens <= most_tokens_tried) return true;
  auto& tried = context_local<TriedFaults>();
  const std::string present =
      fmt::format("{} {} {}", computed.data->id, computed.choice.variant, name(proof_form(application)));
  if (tried.of == present) return true;
  const std::string words = fmt::format(
      "None is tried yet: with {} words each takes a while. A click on a sentence tries it alone.", tokens);
  prove_map().untried = words;
  style::caption(words);
  if (style::link_button("try all", 20)) tried.of = present;
  tooltip("Puts every mistake into the form in turn, and says how far off each is.");
  return false;
}

/// The faults that the form can have, then those for which it lacks a part.
void draw_faults(Application& application) {
  const style::Palette& c = style::colours();
  const Form form = proof_form(application);
  const std::string chosen = application.session.state().prove.fault.id;
  std::vector<Listed> possible;
  std::vector<Listed> impossible;
  Index noticed = 0;
  Index known = 0;
  const bool all = tries_all(application);
  // The newest wish is granted first.
  for (std::size_t i = faults().size(); i-- > 0;) {
    const Fault& fault = faults()[i];
    auto key = about_proof<FaultHere>(application);
    key.form = form;
    key.fault = fault.id;
    Listed listed{&fault, {}};
    if (all || fault.id == chosen) listed.figures = application.session.questions().ask(key, Urgency::later);
    const bool is_known = listed.figures.value && !listed.figures.stale;
    const bool lacks = is_known && !listed.figures.value->without.empty();
    if (is_known) ++known;
    if (is_known && !lacks && listed.figures.value->noticed()) ++noticed;
    (lacks ? impossible : possible).push_back(std::move(listed));
  }
  std::ranges::reverse(possible);
  std::ranges::reverse(impossible);
  for (const Listed& each : possible) {
    const bool is_chosen = each.fault->id == chosen;
    const bool is_known = each.figures.value && !each.figures.stale;
    const bool is_unnoticed = is_known && !each.figures.value->noticed();
    const ListRow row{.label = each.fault->label.c_str(),
                      .number = number_of(each.figures),
                      .sentence = each.fault->sentence + (is_known ? by_array(*each.figures.value) : ""),
                      .is_chosen = is_chosen,
                      .colour = c.alarm,
                      .number_colour = is_unnoticed ? c.good : 0};
    if (draw_row(row)) inject(application, is_chosen ? std::string() : each.fault->id);
  }
  if (all) {
    style::caption(known < std::ssize(faults())
                       ? fmt::format("{} of {} tried", known, faults().size())
                       : fmt::format("{} can go wrong in the {} form here, {} noticed.", possible.size(),
                                     name(form),
                                     noticed == std::ssize(possible) ? fmt::format("all {} are", noticed)
                                                                     : fmt::format("{} are", noticed)));
  }
  if (impossible.empty()) return;
  ImGui::Dummy({0, px(4)});
  style::caption(
      fmt::format("{} this form lacks a part for", counted(std::ssize(impossible), "fault", "faults")));
  for (const Listed& each : impossible) {
    const bool is_chosen = each.fault->id == chosen;
    const ListRow row{.label = each.fault->label.c_str(),
                      .number = {},
                      .sentence = each.figures.value->without + ". " + each.fault->sentence,
                      .is_chosen = is_chosen,
                      .is_dim = true,
                      .colour = c.alarm};
    if (!draw_row(row)) continue;
    if (is_chosen)
      inject(application, "");
    else
      application.refusal = fmt::format("“{}” cannot be put into the {} form here: {}", each.fault->label,
                                        name(form), each.figures.value->without);
  }
}

void draw_fragile_list(Application& application) {
  const style::Palette& c = style::colours();
  Session& session = application.session;
  style::caption("Right on paper, not in numbers");
  for (const FragileForm& fragile : fragile_forms()) {
    const bool is_chosen = session.state().prove.fragile == fragile.way.id;
    ImGui::PushID("fragile");
    const bool pressed = draw_row({.label = fragile.way.label.c_str(),
                                   .number = {},
                                   .sentence = fragile.way.sentence,
                                   .is_chosen = is_chosen,
                                   .colour = c.strength});
    ImGui::PopID();
    if (!pressed) continue;
    ProveState prove = session.state().prove;
    prove.fragile = is_chosen ? std::string() : fragile.way.id;
    prove.fault.id.clear();
    session.change_prove(prove);
  }
}

}  // namespace

void draw_prove_faults(Application& application) {
  prove_map().untried.clear();
  prove_map().fault_rows.clear();
  if (style::begin_panel("##make it wrong") && application.session.computed()) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, px(1)));
    draw_title();
    draw_faults(application);
    ImGui::Dummy({0, px(8)});
    draw_fragile_list(application);
    ImGui::PopStyleVar();
  }
  style::end_panel();
}

}  // namespace palimpsest
