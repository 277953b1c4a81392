#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "core/variants/variants.h"

// What one can do with a side of Compare.

namespace palimpsest {

namespace {

using scene::Node;
using scene::Nodes;

constexpr float list_width = 240;  // design pixels
constexpr float list_height = 340;

/// The menu of a side, in which every line makes another of it.
class SideMenu {
 public:
  SideMenu(Application& application, const ComparedSide& side) : application_(application), compared_(side) {}

  Node content() {
    Nodes rules = {scene::caption("Rule")};
    for (const Variant& variant : variants()) add_rule(rules, variant);
    add_forms();
    add_precisions();
    add_devices();
    add_settings();
    if (compared_.index > 0) add_sliders();
    return scene::column({Node{
        scene::Row{
            .nodes =
                {scene::scroll("rules", scene::column(std::move(rules), scene::Gap::tight)).fixed(list_width),
                 scene::scroll("how", scene::column(std::move(how_), scene::Gap::tight)).filling()},
            .gap = scene::Gap::wide,
            .on_top = true}}.fixed(list_height)});
  }

 private:
  const Side& side() const { return compared_.side; }
  const Computation* computed() const { return compared_.computed.get(); }

  using Change = std::function<void(Side&)>;

  /// What makes another side of the present one.
  std::function<void(const Change&)> changes() const {
    return [&application = application_, side = side(), index = compared_.index](const Change& change) {
      Side next = side;
      change(next);
      if (next == side) return;
      application.session.change(with_side_as(application.session.state(), index, std::move(next)),
                                 "side menu");
    };
  }

  std::function<void()> act(Change change) const {
    return [apply = changes(), change = std::move(change)] { apply(change); };
  }

  /// A line to choose, unless there is a reason why not.
  void add(const std::string& words, bool is_chosen, Change change, const std::string& reason = {}) {
    how_.push_back(
        scene::choice(words, is_chosen).on(act(std::move(change))).enabled_if(reason.empty()).told(reason));
  }

  void add_rule(Nodes& rules, const Variant& variant) const {
    const bool is_chosen = variant.id == side().variant;
    Node line = scene::choice(variant.label, is_chosen)
                    .named(variant.id)
                    .told(variant.words)
                    .on(act([id = variant.id](Side& next) {
                      if (next.variant != id) next.settings = {};
                      next.variant = id;
                    }));
    rules.push_back(is_chosen ? scene::column({std::move(line)}).revealed_for(variant.id) : std::move(line));
  }

  void add_forms() {
    how_.push_back(scene::caption("Form"));
    for (const Form form : all_forms)
      add(
          std::string(name(form)), side().form == form, [form](Side& next) { next.form = form; },
          computed() ? computed()->form(form).missing : std::string());
    if (!has_chunks(side().form)) return;
    for (const Index chunk : {side().chunk_size / 2, side().chunk_size * 2}) {
      if (chunk >= 1 && (!computed() || chunk <= largest_chunk(computed()->sequence.tokens)))
        add(fmt::format("chunks of {}", chunk), false, [chunk](Side& next) { next.chunk_size = chunk; });
    }
  }

  void add_precisions() {
    how_.push_back(scene::caption("Precision"));
    const Backend& device = find_backend(side().device, application_.session.devices());
    for (const Precision precision : all_precisions)
      add(
          std::string(name(precision)), side().precision == precision,
          [precision](Side& next) { next.precision = precision; }, why_not_in(device, precision));
  }

  void add_devices() {
    how_.push_back(scene::caption("Device"));
    for (const Backend* device : application_.session.devices())
      add(
          std::string(device->name()), side().device == device->name(),
          [name = std::string(device->name())](Side& next) { next.device = name; },
          application_.session.why_not_on(*device, side().form, computed()));
  }

  /// The options of the rule, and whole or bounded numbers that it takes.
  void add_settings() {
    const Variant& variant = find_variant(side().variant);
    for (const Option& option : variant.options) {
      how_.push_back(scene::caption(option.name));
      const auto given = side().settings.options.find(option.name);
      const std::string chosen =
          given == side().settings.options.end() ? option.values.front() : given->second;
      for (const std::string& value : option.values) {
        add(value, value == chosen,
            [option = option.name, value](Side& next) { next.settings.options[option] = value; });
        how_.back().name = option.name + " " + value;
      }
    }
    for (const Parameter& parameter : all_parameters(variant)) add_number(parameter);
  }

  void add_number(const Parameter& parameter) {
    double value = parameter.standard.value_or(parameter.stand_in);
    if (computed() && computed()->sequence.settings.parameters.contains(parameter.name))
      value = computed()->sequence.parameter(parameter.name);
    const auto given = side().settings.parameters.find(parameter.name);
    if (given != side().settings.parameters.end()) value = given->second;
    const auto type = [change = changes(), parameter](const std::string& text) {
      double typed = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), typed);
      if (read.ec != std::errc() || !(typed >= parameter.minimum && typed <= parameter.maximum)) return;
      change([&](Side& next) {
        next.settings.parameters[parameter.name] = parameter.whole ? std::floor(typed) : typed;
      });
    };
    how_.push_back(
        scene::row({Node{scene::Input{.text = fmt::format("{:.5g}", value), .set = type, .on_enter = true}}
                        .named(parameter.name)
                        .told(parameter.meaning)
                        .fixed(90),
                    scene::line(parameter.name)}));
  }

  /// What goes in, for this side alone; the first side's are the data's, in Step.
  void add_sliders() {
    struct OwnSlider {
      const char* kind;
      const char* symbol;
      const char* words;
      Role role;
    };
    static constexpr OwnSlider all[] = {
        {"scale_decay", "\\alpha", "to the power of", Role::gate},
        {"scale_strength", "\\beta", "times", Role::strength},
        {"scale_keys", "k", "times", Role::key},
    };
    how_.push_back(scene::caption("For this side alone"));
    for (const OwnSlider& each : all) {
      const auto own = side().sliders.find(each.kind);
      const auto set = [change = changes(), kind = each.kind](double value) {
        change([&](Side& next) {
          if (value == 1)
            next.sliders.erase(kind);
          else
            next.sliders[kind] = value;
        });
      };
      how_.push_back(Node{scene::Slider{.symbol = each.symbol,
                                        .words = each.words,
                                        .value = own == side().sliders.end() ? 1 : own->second,
                                        .look = {.minimum = 0, .maximum = 3, .reset = 1, .role = each.role},
                                        .set = set}}
                         .named(each.kind));
    }
  }

  Application& application_;
  const ComparedSide& compared_;
  Nodes how_;
};

}  // namespace

scene::Node side_menu(Application& application, const ComparedSide& side) {
  return SideMenu(application, side).content();
}

}  // namespace palimpsest
