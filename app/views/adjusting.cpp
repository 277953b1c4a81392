#include "app/views/adjusting.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <optional>

#include "app/gl/context_local.h"
#include "app/session/gates.h"
#include "app/session/learn_questions.h"
#include "app/session/read_questions.h"
#include "app/studio/application.h"
#include "app/views/form_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"
#include "core/base/text.h"
#include "core/insight/learning.h"

namespace palimpsest {

namespace {

bool takes(const Variant& variant, std::string_view input) {
  return std::ranges::find(variant.inputs, input, &Input::name) != variant.inputs.end();
}

/// A drag of one slider, `merge_key`, is one change.
void change(Application& application, const auto& edit, std::string_view merge_key = {}) {
  Choice choice = application.session.choice();
  edit(choice);
  application.session.choose(std::move(choice), merge_key);
}

/// "learned × 1.00" for what a model has learned, or only the factor where there is no room.
std::string factor_words(double factor, const DataSet& data) {
  const bool wide = ImGui::GetContentRegionAvail().x > style::px(280);
  const char* origin = data.id.starts_with("capture:") ? "learned " : "given ";
  return fmt::format("{}× {}", wide ? origin : "", fixed_number(factor, 2));
}

/// Words beside a slider, or fewer in a narrow panel.
const char* fewer(const char* words, const char* few) {
  return ImGui::GetContentRegionAvail().x > style::px(220) ? words : few;
}

/// A slider for the one edit of a kind, which stands at `value`.
void adjustment(Application& application, const char* symbol, const char* words, const char* kind,
                double value, const style::SliderLook<double>& look) {
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (!style::slider(symbol, words, &value, look)) return;
  change(
      application, [&](Choice& choice) { set_slider(choice.edits, kind, value); }, kind);
}

/// The same for a factor on what was learned, shown as such.
void factor(Application& application, const char* symbol, const char* words, const char* kind,
            style::SliderLook<double> look) {
  const double value = slider_value(application.session.state().edits, kind);
  const std::string shown = factor_words(value, application.session.data());
  look.shown = shown;
  adjustment(application, symbol, words, kind, value, look);
}

void decay(Application& application, const Computation& computed) {
  if (!takes(*computed.variant, "alpha")) return;
  if (computed.inputs.made_up_alpha) {
    adjustment(application, "\\alpha", fewer("how much is kept", "kept"), "missing_decay",
               slider_value(application.session.state().edits, "missing_decay"),
               {.minimum = 0, .maximum = 1, .reset = 0.98, .format = "%.3f", .role = Role::gate});
    return;
  }
  factor(application, "\\alpha", fewer("how fast it fades", "fades"), "scale_decay",
         {.minimum = 0, .maximum = 4, .reset = 1, .role = Role::gate});
  tooltip(
      "Every decay α to this power: at 2 the memory fades twice as fast, at 0 not at all. A double click "
      "goes "
      "back.");
}

void strength(Application& application, const Computation& computed) {
  if (!takes(*computed.variant, "beta")) return;
  if (computed.inputs.made_up_beta) {
    adjustment(application, "\\beta", fewer("how much is written", "written"), "missing_strength",
               computed.inputs.beta,
               {.minimum = 0, .maximum = 2, .reset = 0, .format = "%.3f", .role = Role::strength});
    tooltip("The same β at every token. A double click goes back to the largest that is stable everywhere.");
    return;
  }
  factor(application, "\\beta", fewer("how much is written", "written"), "scale_strength",
         {.minimum = 0, .maximum = 3, .reset = 1, .role = Role::strength});
  tooltip("Every β times this. A double click goes back.");
}

void key_length(Application& application) {
  factor(application, "\\lVert k\\rVert", "key length", "scale_keys",
         {.minimum = 0, .maximum = 2, .reset = 1, .role = Role::key});
}

/// "learning rate" of "learning rate for 1/2 |S^T k - v|^2": as much as a slider has room for.
std::string_view beginning(std::string_view meaning) {
  for (const std::string_view further : {";", ":", " (", " for "})
    meaning = meaning.substr(0, meaning.find(further));
  return meaning;
}

/// What stands beside the slider of `name`: the beginning of what it means, or a word where that would be
/// cut.
std::string slider_words(std::string_view name, std::string_view meaning) {
  static constexpr std::pair<std::string_view, const char*> words[] = {
      {"gamma", "kept"},         {"slope", "slope"},     {"mu", "values kept"},
      {"forget", "forgotten"},   {"delta", "time step"}, {"erase_gate", "erased"},
      {"write_gate", "written"}, {"sigma", "position"},  {"momentum", "momentum"}};
  constexpr float around = 88;  // symbol and number
  const std::string_view whole = beginning(meaning);
  if (text_extent(whole).x > ImGui::GetContentRegionAvail().x - style::px(around)) {
    for (const auto& [known, word] : words) {
      if (known == name) return word;
    }
  }
  return std::string(whole);
}

/// How a parameter is written in the formulas.
std::string parameter_symbol(const Trace* trace, const std::string& name) {
  static constexpr std::pair<const char*, const char*> known[] = {{"gamma", "\\gamma"},
                                                                  {"eps", "\\epsilon"},
                                                                  {"scale", "\\sigma"},
                                                                  {"eta", "\\eta"},
                                                                  {"theta", "\\theta"}};
  if (trace) {
    if (const auto found = trace->symbols.find(name); found != trace->symbols.end())
      return found->second.latex;
  }
  const auto found = std::ranges::find(known, std::string_view(name),
                                       [](const auto& row) { return std::string_view(row.first); });
  return found == std::end(known) ? std::string() : found->second;
}

Role parameter_role(const std::string& name) {
  if (name == "gamma") return Role::gate;
  return name == "eta" || name == "theta" ? Role::strength : Role::plain;
}

/// The range of a slider for a number that may be anything: some way around what it usually is.
style::SliderLook<double> range_of(const Parameter& parameter, double usual) {
  constexpr double largest_range = 1000;
  style::SliderLook<double> look = {
      .minimum = parameter.minimum, .maximum = parameter.maximum, .reset = usual};
  if (parameter.maximum / 2 - parameter.minimum / 2 < largest_range / 2) return look;
  look.logarithmic = usual > 0;
  look.minimum = usual > 0 ? usual / 100 : 0;
  look.maximum = usual > 0 ? usual * 100 : 1;
  return look;
}

void parameter(Application& application, const Computation& computed, const Parameter& parameter) {
  const auto& settings = computed.sequence.settings.parameters;
  const auto resolved = settings.find(parameter.name);
  if (resolved == settings.end()) return;
  const auto& chosen = application.session.choice().settings.parameters;
  const auto own = chosen.find(parameter.name);
  double value = own == chosen.end() ? resolved->second : own->second;
  style::SliderLook<double> look = range_of(parameter, parameter.standard.value_or(resolved->second));
  look.format = "%.4g";
  look.role = parameter_role(parameter.name);
  const std::string words = parameter.name == "scale" ? fewer("scale of the query", "query")
                                                      : slider_words(parameter.name, parameter.meaning);
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (style::slider(parameter_symbol(application.session.trace(), parameter.name).c_str(),
                    fmt::format("{}###{}", words, parameter.name).c_str(), &value, look)) {
    change(
        application, [&](Choice& choice) { choice.settings.parameters[parameter.name] = value; },
        parameter.name);
  }
  tooltip(fmt::format("{}: {}. A double click goes back.", parameter.name, parameter.meaning));
}

/// A value as one says it: of the order of reading its names in files are no words.
std::string value_words(const Option& option, const std::string& value) {
  if (!is_read_option(option)) return value;
  Settings settings;
  settings.options[option.name] = value;
  return is_read_before(settings) ? "before" : "after";
}

void option(Application& application, const Computation& computed, const Option& option) {
  const auto& settings = computed.sequence.settings.options;
  const auto resolved = settings.find(option.name);
  if (resolved == settings.end() || option.values.size() < 2) return;
  ImGui::PushID(option.name.c_str());
  std::string words = option.name;
  std::ranges::replace(words, '_', ' ');
  style::caption(option.meaning.empty() ? words : fmt::format("{} ({})", words, option.meaning));
  const float gap = style::px(14);
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  for (const std::string& value : option.values) {
    const std::string said = value_words(option, value);
    const bool fits = ImGui::GetItemRectMax().x + gap + text_extent(said).x <= right;
    if (&value != &option.values.front() && fits) ImGui::SameLine(0, gap);
    if (style::tab_button(fmt::format("{}###{}", said, value).c_str(), resolved->second == value)) {
      change(application, [&](Choice& choice) { choice.settings.options[option.name] = value; });
    }
    if (said != value) tooltip(fmt::format("{}={}", option.name, value));
  }
  ImGui::PopID();
}

/// "stable while β‖k‖² ≤ 2", in the colours of its symbols.
void stability_words(ImVec2 from) {
  const style::Palette& c = style::colours();
  const std::string condition =
      fmt::format("\\fgcolor{{{}}}{{\\beta}}\\lVert\\fgcolor{{{}}}{{k}}\\rVert^2\\le 2",
                  style::hex(c.strength), style::hex(c.key));
  const style::TextStyle style(style::Text::body, c.dim);
  const float baseline = from.y + ImGui::GetFontBaked()->Ascent;
  ImGui::TextUnformatted(fewer("stable while", "stable"));
  draw_formula(ImGui::GetWindowDrawList(), {ImGui::GetItemRectMax().x + style::px(6), baseline}, condition,
               style::px(15), c.dim);
}

/// Where the present token's write lies between nothing and growing without bound.
void stability(Application& application, const Trace* trace) {
  const auto computed = application.session.computed();
  if (!trace || !computed || computed->sequence.tokens == 0) return;
  const Index token = std::min(application.session.token(), computed->sequence.tokens - 1);
  const auto reach = application.session.questions().ask(WriteReach{{computed}, trace->form, token});
  if (!reach.value || !*reach.value) return;
  const double product = **reach.value;

  constexpr double limit = 2;
  constexpr double end = 2.5;
  const style::Palette& c = style::colours();
  const bool stable = product <= limit;
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 words = ImGui::GetCursorScreenPos();
  stability_words(words);
  {
    const style::TextStyle style(style::Text::number_small);
    const std::string number = fixed_number(product, 2);
    draw_text({words.x + width - text_extent(number).x, words.y}, stable ? c.text : c.alarm, number);
  }
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float half = style::px(2);
  const float middle = from.y + style::px(6);
  const auto x = [&](double value) {
    return from.x + width * static_cast<float>(std::clamp(value / end, 0.0, 1.0));
  };
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({from.x, middle - half}, {x(limit), middle + half}, style::mix(c.panel, c.good, 0.6F),
                      half);
  list->AddRectFilled({x(limit), middle - half}, {x(end), middle + half}, style::mix(c.panel, c.alarm, 0.6F),
                      half);
  list->AddCircleFilled({x(product), middle}, style::px(5), stable ? c.strength : c.alarm);
  ImGui::Dummy({width, style::px(12)});
  tooltip(
      "β‖k‖² of this token. At 1 a write is exact; above 1 it overshoots, and above 2 by more than what was "
      "wrong: the memory grows.");
}

/// Gates and learning rates besides alpha and beta: the same number everywhere.
void other_gates(Application& application) {
  struct KnownGates {
    std::uint64_t version = 0;
    std::vector<PlainGate> gates;
  };
  const Computation& computed = *application.session.computed();
  auto& known = context_local<KnownGates>();
  if (known.version != computed.version) known = {computed.version, plain_gates(computed)};
  for (const PlainGate& gate : known.gates) {
    const auto& edits = application.session.state().edits;
    const auto set = std::ranges::find_if(edits, [&](const Edit& edit) {
      return edit.kind == "set_everywhere" && edit.array == gate.array && edit.numbers.size() == 1;
    });
    double value = set == edits.end() ? gate.value : set->numbers.front();
    const std::string shown = gate.is_constant ? std::string() : fmt::format("mean {:.3g}", gate.value);
    const bool forgets = gate.array == "gamma" || gate.array == "forget" || gate.array == "mu";
    const bool is_momentum =
        gate.array == "momentum" || (gate.array == "eta" && takes(*computed.variant, "theta"));
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (style::slider(parameter_symbol(application.session.trace(), gate.array).c_str(),
                      fmt::format("{}###gate {}", slider_words(gate.array, gate.meaning), gate.array).c_str(),
                      &value,
                      {.minimum = 0,
                       .maximum = gate.maximum,
                       .reset = value,
                       .format = "%.3g",
                       .role = forgets || is_momentum ? Role::gate : Role::strength,
                       .shown = shown})) {
      change(
          application, [&](Choice& choice) { set_constant(choice.edits, gate.array, value); }, gate.array);
    }
    tooltip(
        fmt::format("{}: {}. The same number everywhere; “as it was” goes back.", gate.array, gate.meaning));
  }
}

bool is_changed(const Choice& choice) {
  return !choice.edits.empty() || !choice.settings.parameters.empty() || !choice.settings.options.empty();
}

}  // namespace

void adjusting_numbers(Application& application) {
  const Computation& computed = *application.session.computed();
  decay(application, computed);
  strength(application, computed);
  other_gates(application);
  key_length(application);
  stability(application, application.session.trace());
  for (const Parameter& row : all_parameters(*computed.variant)) parameter(application, computed, row);
}

void adjusting_options(Application& application) {
  const Computation& computed = *application.session.computed();
  const auto options = [&](bool are_of_read) {
    for (const Option& row : computed.variant->options) {
      if (is_read_option(row) == are_of_read) option(application, computed, row);
    }
  };
  options(false);
  options(true);  // nearly every rule has it, and its switch stands at the equation too
  if (is_changed(application.session.choice()) && style::pill_button("as it was")) {
    change(application, [](Choice& choice) {
      choice.edits = {};
      choice.settings = {};
    });
  }
}

void adjusting(Application& application) {
  adjusting_numbers(application);
  adjusting_options(application);
}

}  // namespace palimpsest
