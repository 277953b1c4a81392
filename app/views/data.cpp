#include <cstdlib>

#include "app/views/data_parts.h"
#include "app/words/forms.h"

// What goes in: the heads, and the sliders and options that change the inputs. For a form with chunks, their
// size: what every size costs.

namespace palimpsest {

namespace {

constexpr Index most_segments = 64;  // more heads than this are typed

void choose_head(Session& session, Index head) {
  session.choose([head](Choice& choice) { choice.head = head; });
}

/// A choice of one out of `count`: segments that wrap, or a number to type if there are very many.
Node pick(const std::string& what, Index present, Index count, std::function<void(Index)> choose) {
  if (count > most_segments) {
    const auto set = [choose, count](const std::string& typed) {
      choose(std::clamp<Index>(std::strtol(typed.c_str(), nullptr, 10), 0, count - 1));
    };
    Node line = {scene::Input{.text = std::to_string(present), .set = set, .on_enter = true}};
    return scene::row({scene::caption(what), std::move(line).named("number").filling()}).named(what);
  }
  Nodes all;
  for (Index i = 0; i < count; ++i)
    all += scene::pill(std::to_string(i), i == present)
               .told(fmt::format("{} {} of 0–{}", what, i, count - 1))
               .on([choose, i] { choose(i); });
  return scene::flow(scene::segments_of(std::move(all)), Gap::none).named(what);
}

/// The title of the panel, with the heads beside it if they fit.
Node title_and_heads(Application& application) {
  const Node title = scene::tag("Inputs");
  if (has_head_tables(application.session))
    return scene::column({title, head_tables(application, [&session = application.session](Index head) {
                                   choose_head(session, head);
                                 }).named("heads")});
  const DataSet& data = application.session.data();
  const Index count = data.heads;
  const Index batch = application.session.choice().head / count;
  const Index head = application.session.choice().head % count;
  const auto choose = [&session = application.session, count](Index chosen_batch, Index chosen_head) {
    choose_head(session, chosen_batch * count + chosen_head);
  };
  const Node heads = pick("head", head, count, [=](Index chosen) { choose(batch, chosen); });
  if (data.batches == 1 && count == 1) return title;
  if (data.batches == 1)
    return scene::first_that_fits({scene::row({title, scene::rest(), heads}), scene::column({title, heads})});
  Nodes all = {title, pick("batch", batch, data.batches, [=](Index chosen) { choose(chosen, head); })};
  if (count > 1) all += heads;
  return scene::column(std::move(all));
}

bool takes(const Variant& variant, std::string_view input) {
  return is_among(input, variant.inputs, &Input::name);
}

struct Adjusted {
  std::string name = {};    // of what is adjusted
  std::string symbol = {};  // LaTeX
  std::string words = {};
  std::string few = {};  // shown if `words` do not fit; may be empty
  double value = 0;
  style::SliderLook look = {};
  std::string shown = {};      // in place of the number
  std::string few_shown = {};  // a shorter form of it
  std::string tip = {};
};

/// The slider with the longest text that fits; `set` is called with the new number.
Node slider_of(const Adjusted& adjusted, const std::function<void(double)>& set) {
  const auto with = [&](const std::string& words, const std::string& shown, Fit fit) {
    return Node{scene::Slider{adjusted.symbol, words, adjusted.value, adjusted.look, shown, set, fit}}
        .named(adjusted.name)
        .told(adjusted.tip);
  };
  if (adjusted.few.empty()) return with(adjusted.words, adjusted.shown, Fit::shorten);
  return scene::first_that_fits({with(adjusted.words, adjusted.shown, Fit::whole),
                                 with(adjusted.words, adjusted.few_shown, Fit::whole),
                                 with(adjusted.few, adjusted.few_shown, Fit::shorten)});
}

Node adjustment(Application& application, const Adjusted& adjusted) {
  return slider_of(adjusted, [&application, kind = adjusted.name](double value) {
    application.session.choose([&](Choice& choice) { set_slider(choice.edits, kind, value); }, kind);
  });
}

/// The same for a factor on a learned value, shown as "learned × 1.00", or as the factor alone.
Node factor(Application& application, Adjusted adjusted) {
  adjusted.value = slider_value(application.session.state().edits, adjusted.name);
  adjusted.few_shown = fmt::format("× {}", fixed_number(adjusted.value, 2));
  adjusted.shown =
      (application.session.data().id.starts_with("capture:") ? "learned " : "given ") + adjusted.few_shown;
  return adjustment(application, adjusted);
}

Node decay(Application& application, bool is_made_up) {
  if (is_made_up)
    return adjustment(
        application,
        {.name = "missing_decay",
         .symbol = "\\alpha",
         .words = "decay",
         .few = "decay",
         .value = slider_value(application.session.state().edits, "missing_decay"),
         .look = {.minimum = 0, .maximum = 1, .reset = 0.98, .format = "%.3f", .role = Role::gate}});
  return factor(application,
                {.name = "scale_decay",
                 .symbol = "\\alpha",
                 .words = "decay rate",
                 .few = "decay",
                 .look = {.minimum = 0, .maximum = 4, .reset = 1, .role = Role::gate},
                 .tip = "Every decay α to this power: 2 halves the half-life, 0 means no decay. A double "
                        "click resets it."});
}

Node strength(Application& application, const Inputs& inputs) {
  if (inputs.made_up_beta)
    return adjustment(
        application,
        {.name = "missing_strength",
         .symbol = "\\beta",
         .words = "write strength",
         .few = "strength",
         .value = inputs.beta,
         .look = {.minimum = 0, .maximum = 2, .reset = 0, .format = "%.3f", .role = Role::strength},
         .tip = "The same β at every token. A double click resets it, so that β‖k‖² is at most 1."});
  return factor(application, {.name = "scale_strength",
                              .symbol = "\\beta",
                              .words = "write strength",
                              .few = "strength",
                              .look = {.minimum = 0, .maximum = 3, .reset = 1, .role = Role::strength},
                              .tip = "Factor on every β. A double click resets it."});
}

/// "learning rate" of "learning rate for 1/2 |S^T k - v|^2", short enough for a slider.
std::string_view beginning(std::string_view meaning) {
  for (const std::string_view further : {";", ":", " (", " for "})
    meaning = meaning.substr(0, meaning.find(further));
  return meaning;
}

/// A short text for the slider of `name` if the start of its meaning does not fit; empty: there is none.
std::string few_words(std::string_view name) {
  static constexpr std::pair<std::string_view, const char*> words[] = {
      {"gamma", "decay"},       {"slope", "slope"},      {"mu", "value decay"},   {"forget", "forget"},
      {"delta", "time step"},   {"erase_gate", "erase"}, {"write_gate", "write"}, {"sigma", "position"},
      {"momentum", "momentum"}, {"scale", "query"}};
  const auto* const found = row_called(words, name, [](const auto& row) { return row.first; });
  return found ? found->second : "";
}

std::string parameter_symbol(const Trace* trace, const std::string& name) {
  static constexpr std::pair<std::string_view, const char*> known[] = {{"gamma", "\\gamma"},
                                                                       {"eps", "\\epsilon"},
                                                                       {"scale", "\\sigma"},
                                                                       {"eta", "\\eta"},
                                                                       {"theta", "\\theta"}};
  const Symbol* const own = trace ? value_at(trace->symbols, name) : nullptr;
  if (own) return own->latex;
  const auto* const found = row_called(known, name, [](const auto& row) { return row.first; });
  return found ? found->second : "";
}

/// The range of a slider for an unbounded number: around its usual value.
style::SliderLook range_of(const Parameter& parameter, double usual) {
  constexpr double largest_range = 1000;
  style::SliderLook look = {.minimum = parameter.minimum, .maximum = parameter.maximum, .reset = usual};
  if (parameter.maximum / 2 - parameter.minimum / 2 < largest_range / 2) return look;
  look.logarithmic = usual > 0;
  look.minimum = usual > 0 ? usual / 100 : 0;
  look.maximum = usual > 0 ? usual * 100 : 1;
  return look;
}

void parameter(Nodes& all, Application& application, const Computation& computed,
               const Parameter& parameter) {
  const double* const resolved = value_at(computed.sequence.settings.parameters, parameter.name);
  if (!resolved) return;
  const Choice choice = application.session.choice();
  const double* const own = value_at(choice.settings.parameters, parameter.name);
  style::SliderLook look = range_of(parameter, parameter.standard.value_or(*resolved));
  look.format = "%.4g";
  look.role = parameter.name == "gamma"                    ? Role::gate
              : is_among(parameter.name, {"eta", "theta"}) ? Role::strength
                                                           : Role::plain;
  all += slider_of(
      {.name = parameter.name,
       .symbol = parameter_symbol(application.session.trace(), parameter.name),
       .words = parameter.name == "scale" ? "scale of the query" : std::string(beginning(parameter.meaning)),
       .few = few_words(parameter.name),
       .value = own ? *own : *resolved,
       .look = look,
       .tip = fmt::format("{}: {}. A double click resets it.", parameter.name, parameter.meaning)},
      [&application, name = parameter.name](double value) {
        application.session.choose([&](Choice& next) { next.settings.parameters[name] = value; }, name);
      });
}

void option(Nodes& all, Application& application, const Computation& computed, const Option& option) {
  const std::string* const resolved = value_at(computed.sequence.settings.options, option.name);
  if (!resolved || option.values.size() < 2) return;
  std::string words = option.name;
  std::ranges::replace(words, '_', ' ');
  all += scene::caption(option.name == read_order_option ? capitalised(option.meaning)
                        : option.meaning.empty()         ? words
                                                         : fmt::format("{}: {}", words, option.meaning));
  Nodes values;
  for (const std::string& value : option.values) {
    std::string said = value;  // the read order has names in files that are not readable
    if (option.name == read_order_option)
      said = is_read_before({.options = {{option.name, value}}}) ? "before" : "after";
    values +=
        scene::tab(said, *resolved == value)
            .named(value)
            .told(said == value ? std::string() : fmt::format("{}={}", option.name, value))
            .on([&application, name = option.name, value] {
              application.session.choose([&](Choice& choice) { choice.settings.options[name] = value; });
            });
  }
  all += scene::flow(std::move(values), Gap::wide).named(option.name);
}

/// The step size of the current token's write, between 0 and divergence.
void stability(Nodes& all, Application& application) {
  const Trace* const trace = application.session.trace();
  const auto computed = application.session.computed();
  if (!trace || !computed || computed->sequence.tokens == 0) return;
  const Index token = std::min(application.session.token(), computed->sequence.tokens - 1);
  const auto reach = ask(application, WriteReach{{computed}, trace->form, token});
  if (!reach.value || !*reach.value) return;
  const double product = **reach.value;

  constexpr double limit = 2;
  const style::Palette& c = style::colours();
  const bool stable = product <= limit;
  const std::string condition =
      fmt::format("\\fgcolor{{{}}}{{{}}}\\lVert\\fgcolor{{{}}}{{k}}\\rVert^2\\le 2", style::hex(c.strength),
                  computed->written_symbol.empty() ? "\\beta" : computed->written_symbol, style::hex(c.key));
  const auto whole = [&](const char* words) {
    return scene::row({scene::text(words, style::Text::body, c.dim, Fit::whole),
                       scene::formula(condition, 15, c.dim), scene::rest(),
                       scene::number(fixed_number(product, 2), stable ? c.text : c.alarm)});
  };
  all += scene::column({scene::first_that_fits({whole("stable while"), whole("stable")}),
                        Node{scene::Track{.value = product,
                                          .limit = limit,
                                          .end = 2.5,
                                          .ink = stable ? c.strength : c.alarm,
                                          .below = style::mix(c.panel, c.good, 0.6F),
                                          .beyond = style::mix(c.panel, c.alarm, 0.6F)}}})
             .named("stability")
             .told(
                 "Step size β‖k‖² of this token. 1 stores the target exactly; above 1 it "
                 "overshoots; above 2 the "
                 "error grows.");
}

/// Gates and learning rates other than alpha and beta: one number for all tokens.
void other_gates(Nodes& all, Application& application, const Computation& computed) {
  for (const PlainGate& gate : kept_for(computed.version, [&] { return plain_gates(computed); })) {
    const auto& edits = application.session.state().edits;
    const auto set = std::ranges::find_if(edits, [&](const Edit& edit) {
      return edit.kind == "set_everywhere" && edit.array == gate.array && edit.numbers.size() == 1;
    });
    const double value = set == edits.end() ? gate.value : set->numbers.front();
    const std::string shown = gate.is_constant ? std::string() : fmt::format("mean {:.3g}", gate.value);
    const bool is_momentum =
        gate.array == "momentum" || (gate.array == "eta" && takes(*computed.variant, "theta"));
    all += slider_of({.name = "gate " + gate.array,
                      .symbol = parameter_symbol(application.session.trace(), gate.array),
                      .words = std::string(beginning(gate.meaning)),
                      .few = few_words(gate.array),
                      .value = value,
                      .look = {.minimum = 0,
                               .maximum = gate.maximum,
                               .reset = value,
                               .format = "%.3g",
                               .role = gate.makes_decay || is_momentum ? Role::gate : Role::strength},
                      .shown = shown,
                      .few_shown = shown,
                      .tip = fmt::format("{}: {}. The same number at every token; “reset” undoes it.",
                                         gate.array, gate.meaning)},
                     [&application, array = gate.array](double number) {
                       application.session.choose(
                           [&](Choice& choice) { set_constant(choice.edits, array, number); }, array);
                     });
  }
}

// In design pixels.
constexpr float least_bars = 12;
constexpr float most_bars = 44;
constexpr float above_bars = 30;  // title and numbers

void choose_size(Application& application, Index size, std::string_view merge_key = {}) {
  application.session.choose([size](Choice& choice) { choice.chunk_size = size; }, merge_key);
}

Node size_slider(Application& application) {
  const Session& session = application.session;
  const Index most = largest_chunk(session.data().tokens);
  const auto largest = static_cast<double>(std::max<Index>(most, 2));
  Node slider = {scene::Slider{
      .words = "tokens per chunk",
      .value = static_cast<double>(session.choice().chunk_size),
      .look = {.minimum = 1,
               .maximum = largest,
               .reset = std::min(8.0, largest),
               .format = "%.0f",
               .logarithmic = true},
      .set = [&application](double size) { choose_size(application, std::lround(size), "chunk_size"); }}};
  return scene::column({std::move(slider).named("chunk size"),
                        scene::row({scene::caption("1: one by one"), scene::rest(),
                                    scene::caption(fmt::format("all {} at once", most))})},
                       Gap::none);
}

struct Chart {
  std::string title;
  std::string explained;
  std::vector<double> values;  // of the sizes; NaN: not known
  std::function<std::string(double)> words;
  bool logarithmic = false;
};

double height_of(const Chart& chart, double value) {
  const double most = std::ranges::max(chart.values);
  if (!std::isfinite(value) || value <= 0 || most <= 0) return 0;
  if (!chart.logarithmic) return value / most;
  const double least =
      std::ranges::min(chart.values | std::views::filter([](double each) { return each > 0; }));
  // The smallest bar keeps a minimal height: a log axis has no zero.
  constexpr double stump = 0.12;
  const double span = std::log(most / least);
  return span > 0 ? stump + (1 - stump) * std::log(value / least) / span : 1;
}

/// The chunk sizes of the bars, and which of them is nearest to the chosen one.
struct Sizes {
  std::vector<Index> all;
  std::size_t nearest = 0;
  bool is_exact = false;

  Sizes(Index tokens, Index present) : all(swept_chunks(tokens)) {
    const auto distance = [&](Index size) {
      return std::abs(std::log(static_cast<double>(size)) - std::log(static_cast<double>(present)));
    };
    nearest = static_cast<std::size_t>(std::ranges::min_element(all, {}, distance) - all.begin());
    is_exact = all[nearest] == present;
  }

  bool is_chosen(std::size_t i) const { return is_exact && i == nearest; }
};

/// The number of the chosen bar, centred over it and two or three bars wide, and those of the first and last
/// bar if they fit.
Node numbers(const Chart& chart, const Sizes& sizes) {
  const std::size_t last = sizes.all.size() - 1;
  const auto number = [&](std::size_t i) {
    if (!std::isfinite(chart.values[i])) return scene::column({});
    return scene::number(chart.words(chart.values[i]), sizes.is_chosen(i) ? 0 : scene::dim_ink)
        .named("number");
  };
  Nodes wishes;
  const auto add = [&](bool has_first, bool has_last, float half) {
    Node first = has_first ? number(0) : scene::column({});
    Node end = has_last ? number(last).right() : scene::column({});
    if (!sizes.is_exact) {
      wishes += scene::row({std::move(first), std::move(end).filling()}, Gap::none);
    } else if (sizes.nearest == 0) {
      wishes += scene::row({number(0), std::move(end).filling()}, Gap::none);
    } else if (sizes.nearest == last) {
      wishes += scene::row({std::move(first).filling(), number(last)}, Gap::none);
    } else {
      const float before = static_cast<float>(sizes.nearest) + 0.5F - half;
      const float after = static_cast<float>(last - sizes.nearest) + 0.5F - half;
      wishes += scene::row({std::move(first).filling(std::max(before, 0.01F)),
                            scene::centred(number(sizes.nearest)).filling(2 * half),
                            std::move(end).filling(std::max(after, 0.01F))},
                           Gap::none);
    }
  };
  for (const auto& [has_first, has_last] :
       {std::pair(true, true), std::pair(true, false), std::pair(false, true), std::pair(false, false)}) {
    for (const float half : {1.0F, 1.25F, 1.5F}) add(has_first, has_last, half);
  }
  return scene::first_that_fits(std::move(wishes));
}

Node bars(Application& application, const Chart& chart, const Sizes& sizes) {
  const style::Palette& c = style::colours();
  Nodes all;
  for (std::size_t i = 0; i < sizes.all.size(); ++i) {
    const double value = chart.values[i];
    const Index size = sizes.all[i];
    Node bar = {scene::Bar{.value = height_of(chart, value),
                           .ink = sizes.is_chosen(i) ? c.text : style::mix(c.panel, c.dim, 0.45F),
                           .is_upright = true}};
    all += scene::column({std::move(bar).named("bar").filling()})
               .named(std::to_string(size))
               .filling()
               .told(fmt::format("{} with {} per chunk. {} A click chooses it.",
                                 std::isfinite(value) ? chart.words(value) : "not known yet",
                                 counted(size, "token", "tokens"), chart.explained))
               .on([&application, size] { choose_size(application, size); });
  }
  return scene::row(std::move(all), Gap::tight);
}

Node axis(const Sizes& sizes) {
  Nodes all;
  for (std::size_t i = 0; i < sizes.all.size(); ++i) {
    Node size = scene::number(std::to_string(sizes.all[i]), sizes.is_chosen(i) ? 0 : scene::dim_ink);
    all += scene::centred(scene::first_that_fits({std::move(size), scene::column({})})).filling();
  }
  return scene::row(std::move(all), Gap::tight);
}

/// Why a chunk of one token is not the recurrent form, if that size is chosen.
std::string why_one_word(Application& application, const std::vector<CostRow>& counted) {
  const Session& session = application.session;
  if (session.choice().chunk_size != 1 || counted.empty()) return {};
  const auto forms = ask(application, FormCosts{session.computed(), 1}, Urgency::later);
  if (!fresh(forms)) return {};
  const CostRow& recurrent = entry(*forms.value, Form::recurrent);
  if (!recurrent.missing.empty()) return {};
  const Trace* trace = session.trace();
  return one_word_words(counted.front().flops, recurrent.flops, trace && trace->symbols.contains("P"));
}

/// Whether any of `costs` is higher than in `others`.
bool takes_more(const std::vector<CostRow>& costs, const std::vector<CostRow>& others) {
  for (std::size_t i = 0; i < std::min(costs.size(), others.size()); ++i) {
    if (costs[i].flops > others[i].flops || costs[i].bytes > others[i].bytes) return true;
  }
  return false;
}

std::vector<Chart> cost_charts(const std::vector<CostRow>& costs, Form form) {
  const auto of = [&](auto get) { return made_of(costs, get); };
  return {{"FLOPs per token", "Counted.", of([](const CostRow& cost) { return cost.flops; }), in_thousands},
          {"bytes per token, float32, log", "Counted; each chunk writes the state back.",
           of([](const CostRow& cost) { return cost.bytes; }), in_bytes, true},
          {"sequential steps, log",
           form == Form::two_pass ? "Counted: one per chunk, and one for all outputs."
                                  : "Counted: one per chunk.",
           of([](const CostRow& cost) { return static_cast<double>(cost.steps); }),
           [](double steps) { return fmt::format("{:.0f}", steps); }, true}};
}

/// The slider for the chunk size: tokens in a chunk, and what every size costs.
Node knob(Application& application) {
  const auto computation = application.session.computed();
  const Form form = application.session.choice().form;
  const Sizes sizes(computation->sequence.tokens, application.session.choice().chunk_size);
  const auto counted = ask(application, ChunkCosts{computation, form}, Urgency::later);
  std::vector<Chart> charts;
  if (counted.value && counted.value->size() == sizes.all.size()) charts = cost_charts(*counted.value, form);
  const ChunkErrors key{computation};
  const auto errors = ask(application, key, Urgency::later);
  const bool fits = errors.value && errors.value->size() == sizes.all.size();
  if (fits)
    charts.push_back({errors.stale ? "float32 error, previous" : "float32 error, measured",
                      form == Form::two_pass
                          ? "Measured against the f64 recurrence; Chunkwise gives the same bits."
                          : "Measured against the f64 recurrence.",
                      *errors.value, [](double error) { return plain_number(error, 2); }});
  Nodes all = {scene::caption("Chunk size C"), scene::space(Gap::tight), size_slider(application)};
  for (const Chart& chart : charts)
    all += scene::column(
               {scene::note(chart.title), numbers(chart, sizes), bars(application, chart, sizes).filling()},
               Gap::none)
               .named(chart.title)
               .filling_between(above_bars + least_bars, above_bars + most_bars);
  if (!charts.empty()) all += axis(sizes);
  if (fresh(counted)) {
    if (const std::string words = why_one_word(application, *counted.value); !words.empty())
      all += scene::caption(words).named("one token");
  }
  if (form == Form::two_pass) {
    const auto other = ask(application, ChunkCosts{computation, Form::chunkwise}, Urgency::later);
    if (fresh(counted) && fresh(other))
      all += scene::caption(two_pass_words(takes_more(*counted.value, *other.value)));
  }
  if (!fits && !errors.reason.empty()) all += scene::caption("float32 error: " + errors.reason);
  all += awaiting("measuring the error", errors, application, key);
  return scene::column(std::move(all)).named("knob");
}

}  // namespace

Node adjusting_numbers(Application& application) {
  const Computation& computed = *application.session.computed();
  Nodes all;
  if (takes(*computed.variant, "alpha")) all += decay(application, computed.inputs.made_up_alpha);
  if (takes(*computed.variant, "beta")) all += strength(application, computed.inputs);
  other_gates(all, application, computed);
  all += factor(application, {.name = "scale_keys",
                              .symbol = "\\lVert k\\rVert",
                              .words = "key norm",
                              .few = "key norm",
                              .look = {.minimum = 0, .maximum = 2, .reset = 1, .role = Role::key}});
  stability(all, application);
  for (const Parameter& row : all_parameters(*computed.variant)) parameter(all, application, computed, row);
  return scene::column(std::move(all), Gap::small).named("numbers");
}

Node adjusting_options(Application& application) {
  const Computation& computed = *application.session.computed();
  Nodes all;
  // The read order last: nearly every rule has it, and its switch is at the equation.
  std::vector<Option> options = computed.variant->options;
  std::ranges::stable_partition(options, [](const Option& row) { return row.name != read_order_option; });
  for (const Option& row : options) option(all, application, computed, row);
  if (application.session.choice().is_changed())
    all += with_command(application, "change.reset", scene::pill("reset"));
  return scene::column(std::move(all), Gap::small).named("options");
}

void draw_data(Application& application) {
  const Session& session = application.session;
  const Form form = session.choice().form;
  if (session.computed() && has_chunks(form) && session.computed()->form(form).missing.empty())
    return scene::show_panel("##knob", true, [&] { return knob(application); });
  scene::show_panel("##goes in", true, [&] {
    if (!session.computed()) return scene::column({});
    return scene::column({title_and_heads(application),
                          scene::column({adjusting_numbers(application), application.level() == Level::all
                                                                             ? adjusting_options(application)
                                                                             : scene::column({})})
                              .named("data")});
  });
}

}  // namespace palimpsest
