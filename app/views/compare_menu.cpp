#include <fmt/format.h>

#include <algorithm>

#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float menu_width = 484;
constexpr float list_width = 240;
constexpr float list_height = 340;

/// A line to choose; true when it was.
bool line(const std::string& words, bool is_chosen) {
  const style::TextStyle text(is_chosen ? style::Text::strong : style::Text::body);
  return ImGui::Selectable(words.c_str(), is_chosen, ImGuiSelectableFlags_NoAutoClosePopups);
}

void rules(Side& side) {
  style::caption("Rule");
  ImGui::BeginChild("rules", {px(list_width), px(list_height)});
  for (const Variant& variant : variants()) {
    const bool is_chosen = variant.id == side.variant;
    if (line(fmt::format("{}###{}", variant.label, variant.id), is_chosen) && !is_chosen) {
      side.variant = variant.id;
      side.settings = {};
    }
    tooltip(variant.words);
    if (is_chosen && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
  }
  ImGui::EndChild();
}

void forms(Side& side, const Computation* computed) {
  style::caption("Form");
  for (const Form form : all_forms) {
    const std::string missing = computed ? computed->form(form).missing : std::string();
    ImGui::BeginDisabled(!missing.empty());
    if (line(name(form), side.form == form)) side.form = form;
    ImGui::EndDisabled();
    if (!missing.empty()) tooltip(missing);
  }
  if (!has_chunks(side.form)) return;
  for (const Index chunk : {side.chunk_size / 2, side.chunk_size * 2}) {
    const bool fits = chunk >= 1 && (!computed || chunk <= largest_chunk(computed->sequence.tokens));
    if (fits && line(fmt::format("chunks of {}", chunk), false)) side.chunk_size = chunk;
  }
}

void precisions(Side& side, const Session& session) {
  style::caption("Precision");
  const Backend& device = find_backend(side.device, session.devices());
  for (const Precision precision : all_precisions) {
    const std::string reason = why_not_in(device, precision);
    ImGui::BeginDisabled(!reason.empty());
    if (line(name(precision), side.precision == precision)) side.precision = precision;
    ImGui::EndDisabled();
    if (!reason.empty()) tooltip(reason);
  }
}

void devices(Side& side, const Session& session, const Computation* computed) {
  style::caption("Device");
  for (const Backend* device : session.devices()) {
    const std::string reason = session.why_not_on(*device, side.form, computed);
    ImGui::BeginDisabled(!reason.empty());
    if (line(device->name(), side.device == device->name())) side.device = device->name();
    ImGui::EndDisabled();
    if (!reason.empty()) tooltip(reason);
  }
}

/// The options of the rule, and whole or bounded numbers that it takes.
void settings(Side& side, const Computation* computed) {
  const Variant& variant = find_variant(side.variant);
  for (const Option& option : variant.options) {
    style::caption(option.name);
    for (const std::string& value : option.values) {
      const auto given = side.settings.options.find(option.name);
      const bool is_chosen =
          given == side.settings.options.end() ? value == option.values.front() : given->second == value;
      if (line(fmt::format("{}###{} {}", value, option.name, value), is_chosen))
        side.settings.options[option.name] = value;
    }
  }
  for (const Parameter& parameter : all_parameters(variant)) {
    double value = parameter.standard.value_or(parameter.stand_in);
    if (computed && computed->sequence.settings.parameters.contains(parameter.name))
      value = computed->sequence.parameter(parameter.name);
    if (const auto given = side.settings.parameters.find(parameter.name);
        given != side.settings.parameters.end())
      value = given->second;
    ImGui::SetNextItemWidth(px(90));
    const bool is_typed = ImGui::InputDouble(parameter.name.c_str(), &value, 0, 0, "%.5g",
                                             ImGuiInputTextFlags_EnterReturnsTrue);
    tooltip(parameter.meaning);
    if (is_typed && value >= parameter.minimum && value <= parameter.maximum)
      side.settings.parameters[parameter.name] = parameter.whole ? std::floor(value) : value;
  }
}

/// What goes in, for this side alone; the first side's are the data's, in Step.
void sliders(Side& side) {
  struct Slider {
    const char* kind;
    const char* symbol;
    const char* words;
    Role role;
  };
  static constexpr Slider all[] = {
      {"scale_decay", "\\alpha", "to the power of", Role::gate},
      {"scale_strength", "\\beta", "times", Role::strength},
      {"scale_keys", "k", "times##keys", Role::key},
  };
  style::caption("For this side alone");
  for (const Slider& each : all) {
    const auto own = side.sliders.find(each.kind);
    double value = own == side.sliders.end() ? 1 : own->second;
    if (!style::slider(each.symbol, each.words, &value,
                       {.minimum = 0, .maximum = 3, .reset = 1, .role = each.role}))
      continue;
    if (value == 1)
      side.sliders.erase(each.kind);
    else
      side.sliders[each.kind] = value;
  }
}

}  // namespace

void draw_side_menu(Application& application, const ComparedSide& side) {
  const style::TextStyle text(style::Text::body);
  const ImVec2 below = {ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + px(4)};
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float end = viewport->WorkPos.x + viewport->WorkSize.x - px(style::panel_gap);
  ImGui::SetNextWindowPos({std::min(below.x, end - px(menu_width)), below.y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(12)));
  if (ImGui::BeginPopup("another side", ImGuiWindowFlags_NoMove)) {
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
    Side next = side.side;
    rules(next);
    ImGui::SameLine(0, px(16));
    ImGui::BeginChild("how", {px(200), px(list_height + 20)});
    forms(next, side.computed.get());
    precisions(next, application.session);
    devices(next, application.session, side.computed.get());
    settings(next, side.computed.get());
    if (side.index > 0) sliders(next);
    ImGui::EndChild();
    if (ImGui::IsMouseReleased(0)) application.session.end_merge();
    if (!(next == side.side))
      application.session.change(with_side_as(application.session.state(), side.index, std::move(next)),
                                 "side menu");
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace palimpsest
