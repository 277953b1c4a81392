#include "app/views/data_parts.h"
#include "app/words/forms.h"

namespace palimpsest {

namespace {

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

/// One row of bars, one for every chunk size.
struct Chart {
  std::string title;
  std::string explained;
  std::vector<double> values;  // of the sizes; NaN: not known
  std::function<std::string(double)> words;
  bool logarithmic = false;
};

/// The height of a bar as a part of the highest.
double part_of(const Chart& chart, double value) {
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
      wishes.push_back(scene::row({std::move(first), std::move(end).filling()}, Gap::none));
    } else if (sizes.nearest == 0) {
      wishes.push_back(scene::row({number(0), std::move(end).filling()}, Gap::none));
    } else if (sizes.nearest == last) {
      wishes.push_back(scene::row({std::move(first).filling(), number(last)}, Gap::none));
    } else {
      const float before = static_cast<float>(sizes.nearest) + 0.5F - half;
      const float after = static_cast<float>(last - sizes.nearest) + 0.5F - half;
      wishes.push_back(scene::row({std::move(first).filling(std::max(before, 0.01F)),
                                   scene::centred(number(sizes.nearest)).filling(2 * half),
                                   std::move(end).filling(std::max(after, 0.01F))},
                                  Gap::none));
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
    Node bar = {scene::Bar{.value = part_of(chart, value),
                           .ink = sizes.is_chosen(i) ? c.text : style::mix(c.panel, c.dim, 0.45F),
                           .is_upright = true}};
    all.push_back(scene::column({std::move(bar).named("bar").filling()})
                      .named(std::to_string(size))
                      .filling()
                      .told(fmt::format("{} with {} {} per chunk. {} A click chooses it.",
                                        std::isfinite(value) ? chart.words(value) : "not known yet", size,
                                        size == 1 ? "token" : "tokens", chart.explained))
                      .on([&application, size] { choose_size(application, size); }));
  }
  return scene::row(std::move(all), Gap::tight);
}

/// The sizes below the bars, as far as they fit.
Node axis(const Sizes& sizes) {
  Nodes all;
  for (std::size_t i = 0; i < sizes.all.size(); ++i) {
    Node size = scene::number(std::to_string(sizes.all[i]), sizes.is_chosen(i) ? 0 : scene::dim_ink);
    all.push_back(scene::centred(scene::first_that_fits({std::move(size), scene::column({})})).filling());
  }
  return scene::row(std::move(all), Gap::tight);
}

/// Why a chunk of one token is not the recurrent form, if that size is chosen.
std::string why_one_word(Application& application, const std::vector<CostRow>& counted) {
  const Session& session = application.session;
  if (session.choice().chunk_size != 1 || counted.empty()) return {};
  const auto forms = application.session.questions().ask(FormCosts{session.computed(), 1}, Urgency::later);
  if (!forms.value || forms.stale) return {};
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
  const auto of = [&](const std::function<double(const CostRow&)>& get) {
    std::vector<double> values(costs.size());
    std::ranges::transform(costs, values.begin(), get);
    return values;
  };
  return {{"FLOPs per token", "Counted.", of([](const CostRow& cost) { return cost.flops; }), in_thousands},
          {"bytes per token, float32, log", "Counted; each chunk writes the state back.",
           of([](const CostRow& cost) { return cost.bytes; }), in_bytes, true},
          {"sequential steps, log",
           form == Form::two_pass ? "Counted: one per chunk, and one for all outputs."
                                  : "Counted: one per chunk.",
           of([](const CostRow& cost) { return static_cast<double>(cost.steps); }),
           [](double steps) { return fmt::format("{:.0f}", steps); }, true}};
}

}  // namespace

Node knob(Application& application) {
  const auto computation = application.session.computed();
  Questions& questions = application.session.questions();
  const Form form = application.session.choice().form;
  const Sizes sizes(computation->sequence.tokens, application.session.choice().chunk_size);
  const auto counted = questions.ask(ChunkCosts{computation, form}, Urgency::later);
  std::vector<Chart> charts;
  if (counted.value && counted.value->size() == sizes.all.size()) charts = cost_charts(*counted.value, form);
  const ChunkErrors key{computation};
  const auto errors = questions.ask(key, Urgency::later);
  const bool fits = errors.value && errors.value->size() == sizes.all.size();
  if (fits)
    charts.push_back({errors.stale ? "float32 error, previous" : "float32 error, measured",
                      form == Form::two_pass
                          ? "Measured against the f64 recurrence; Chunkwise gives the same bits."
                          : "Measured against the f64 recurrence.",
                      *errors.value, [](double error) { return plain_number(error, 2); }});
  Nodes all = {scene::caption("Chunk size C"), scene::space(Gap::tight), size_slider(application)};
  for (const Chart& chart : charts)
    all.push_back(scene::column({scene::note(chart.title), numbers(chart, sizes),
                                 bars(application, chart, sizes).filling()},
                                Gap::none)
                      .named(chart.title)
                      .filling_between(above_bars + least_bars, above_bars + most_bars));
  if (!charts.empty()) all.push_back(axis(sizes));
  if (counted.value && !counted.stale) {
    if (const std::string words = why_one_word(application, *counted.value); !words.empty())
      all.push_back(scene::caption(words).named("one token"));
  }
  if (form == Form::two_pass) {
    const auto other = questions.ask(ChunkCosts{computation, Form::chunkwise}, Urgency::later);
    if (counted.value && other.value && !counted.stale && !other.stale)
      all.push_back(scene::caption(two_pass_words(takes_more(*counted.value, *other.value))));
  }
  if (!fits && !errors.reason.empty()) all.push_back(scene::caption("float32 error: " + errors.reason));
  all.push_back(awaiting("measuring the error", errors, questions, key));
  return scene::column(std::move(all)).named("knob");
}

}  // namespace palimpsest
