#include "app/session/inputs.h"

#include <fmt/ranges.h>

#include "app/session/presets.h"
#include "core/base/random_numbers.h"
#include "core/insight/learning.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

/// [T] from [T, K]: the mean over the channels. As logs: the geometric mean of the decays.
Array channel_mean(const Array& array) {
  const Index T = array.shape[0];
  const Index K = array.size() / std::max<Index>(T, 1);
  std::vector<double> means(static_cast<std::size_t>(T), 0.0);
  for (Index t = 0; t < T; ++t) {
    for (Index d = 0; d < K; ++d) entry(means, t) += array[t * K + d] / static_cast<double>(K);
  }
  return {{T}, std::move(means)};
}

/// [T, K] from [T]: the same for every channel.
Array for_every_channel(const Array& array, Index K) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(array.size() * K));
  for (Index t = 0; t < array.size(); ++t) values.insert(values.end(), static_cast<std::size_t>(K), array[t]);
  return {{array.size(), K}, std::move(values)};
}

double largest_squared_key(const Array& k) {
  const Index T = k.shape[0];
  const Index K = k.size() / std::max<Index>(T, 1);
  double largest = 0;
  for (Index t = 0; t < T; ++t) {
    double square = 0;
    for (Index d = 0; d < K; ++d) square += k[t * K + d] * k[t * K + d];
    largest = std::max(largest, square);
  }
  return largest;
}

double geometric_mean(const Array& decays, bool are_logs) {
  double sum = 0;
  for (Index i = 0; i < decays.size(); ++i) sum += are_logs ? decays[i] : std::log(decays[i]);
  return std::exp(sum / static_cast<double>(std::max<Index>(decays.size(), 1)));
}

bool is_constant(const Array& array) {
  for (Index i = 1; i < array.size(); ++i) {
    if (!(std::abs(array[i] - array[0]) < 1e-6)) return false;
  }
  return true;
}

struct Fitting {
  const Variant& variant;
  const Edits& edits;
  Arrays arrays;
  bool is_own = false;  // the data belong to this rule, so a missing optional input is meant to be absent
  Inputs result = {};

  Index tokens() const { return arrays.at("q").shape[0]; }
  Index channels() const { return arrays.at("q").shape[1]; }

  /// The same number for every token.
  Array constant(double value) const {
    return {{tokens()}, std::vector<double>(static_cast<std::size_t>(tokens()), value)};
  }

  const Input* wanted(std::string_view name) const { return row_called(variant.inputs, name, &Input::name); }

  /// Notes what the data lack, with its substitute: "ridge = 1".
  void lack(std::string what) { result.lacking.push_back(std::move(what)); }

  /// Notes an adaptation of the data, briefly and as a sentence.
  void note(std::string brief, std::string words) {
    result.adapted.push_back(std::move(brief));
    result.notes.push_back(std::move(words));
  }

  void follow(const std::vector<Advice>& advice) {
    for (const Advice& one : advice) {
      if (one.variant != variant.id || result.settings.parameters.contains(one.parameter)) continue;
      result.settings.parameters[one.parameter] = one.value;
      note(fmt::format("{} = {:.3g}", one.parameter, one.value),
           fmt::format("{} is {:.3g}: {}", one.parameter, one.value, one.why));
    }
  }

  /// Applies the edits before the data are adapted. An edit may need an input that the data lack.
  void make_edits(const DataSet& data) {
    EditedHead head{.data = data,
                    .inputs = inputs_of(variant, resolve(variant, result.settings)),
                    .arrays = arrays,
                    .make_up = [this](const std::string& name) { make_up(name); }};
    apply(edits, head);
  }

  void make_up(const std::string& name) {
    if (name == "alpha") return make_up_decay();
    if (name == "beta") return make_up_beta();
    fit_gamma();
    fit_parameters();
    const std::vector<Input> all = all_inputs(variant);
    arrays[name] = stand_in(*std::ranges::find(all, name, &Input::name));
    result.made_up_more = true;
  }

  void make_up_decay() {
    const double kept = slider_value(edits, "missing_decay");
    arrays["alpha"] = constant(kept);
    result.made_up_alpha = true;
    lack(fmt::format("alpha = {:.3g}", kept));
  }

  void make_up_beta() {
    const double chosen = slider_value(edits, "missing_strength");
    result.beta = chosen > 0 ? chosen : 1 / std::max(1.0, largest_squared_key(arrays["k"]));
    arrays["beta"] = constant(result.beta);
    result.made_up_beta = true;
    lack(fmt::format("beta = {:.3g}", result.beta));
  }

  void fit_decay() {
    if (!wanted("alpha")) return;
    const char* name = arrays.contains("g") ? "g" : "alpha";
    if (!arrays.contains(name) && is_own && wanted("alpha")->absent) return;
    if (!arrays.contains(name)) make_up_decay();
    const bool per_channel = wanted("alpha")->shape.size() == 2;
    if (!per_channel && arrays[name].rank() == 2) {
      arrays[name] = channel_mean(arrays[name]);
      note("alpha = mean of the channels", "The decays of the channels are averaged to one per token.");
    }
    if (per_channel && arrays[name].rank() == 1) {
      arrays[name] = for_every_channel(arrays[name], channels());
      if (!result.made_up_alpha)
        note("the same alpha in every channel", "One decay per token is used for every channel.");
    }
  }

  /// The one decay of rules that have a fixed one.
  void fit_gamma() {
    const bool is_taken = is_among("gamma", variant.parameters, &Parameter::name);
    if (!is_taken || result.settings.parameters.contains("gamma") || arrays.contains("gamma")) return;
    const bool has_logs = arrays.contains("g");
    const auto decays = arrays.find(has_logs ? "g" : "alpha");
    if (decays == arrays.end()) {
      const double kept = slider_value(edits, "missing_decay");
      result.settings.parameters["gamma"] = kept;
      result.made_up_alpha = true;
      lack(fmt::format("gamma = {:.3g}", kept));
      return;
    }
    result.settings.parameters["gamma"] = geometric_mean(decays->second, has_logs);
    if (!is_constant(decays->second))
      note("gamma = mean of alpha",
           "RetNet has one fixed decay: the geometric mean of the data's decays is used.");
    if (!wanted("alpha")) arrays.erase(decays);
  }

  /// Numbers that every rule of this kind needs and these data lack.
  void fit_parameters() {
    for (const Parameter& parameter : variant.parameters) {
      const bool is_known = parameter.standard || !parameter.standard_words.empty() ||
                            arrays.contains(parameter.name) ||
                            result.settings.parameters.contains(parameter.name);
      if (is_known) continue;
      result.settings.parameters[parameter.name] = parameter.stand_in;
      result.made_up_more = true;
      lack(fmt::format("{} = {:.3g}", parameter.name, parameter.stand_in));
    }
  }

  /// One step per token where the rule takes several.
  void fit_steps() {
    for (const Input& input : all_inputs(variant)) {
      Array* const array = value_at(arrays, input.name);
      if (!array || !has_steps(input)) continue;
      if (array->shape.size() + 1 == input.shape.size()) array->shape.insert(array->shape.begin() + 1, 1);
    }
  }

  /// Arrays of the rule that these data lack.
  void fit_others() {
    for (const Input& input : inputs_of(variant, resolve(variant, result.settings))) {
      const bool is_known = input.absent || arrays.contains(input.name) ||
                            (input.range == Range::decay && arrays.contains("g"));
      if (is_known) continue;
      arrays[input.name] = stand_in(input);
      result.made_up_more = true;
    }
  }

  Array stand_in(const Input& input) {
    const StandIn& wanted = input.stand_in;
    const double size =
        wanted.learning_rate ? wanted.value / std::max(1.0, largest_squared_key(arrays["k"])) : wanted.value;
    if (!wanted.like.empty()) {
      lack(fmt::format("{} = {:.3g} {}", input.name, size, wanted.like));
      return mapped<double>(arrays.at(wanted.like), [&](double x) { return size * x; });
    }
    lack(wanted.random ? fmt::format("{} random", input.name) : fmt::format("{} = {:.3g}", input.name, size));
    Array array;
    for (const std::string& axis : input.shape) array.shape.push_back(size_of(axis));
    if (input.range == Range::positive_definite) array.shape.pop_back();  // its diagonal
    std::vector<double> values(static_cast<std::size_t>(array.size()), size);
    RandomNumbers random(input.name.size(), "");
    for (double& value : values) {
      if (wanted.random) value *= 2 * random.uniform() - 1;
    }
    array.own_values() = std::move(values);
    return array;
  }

  Index size_of(const std::string& axis) const {
    const Index tokens_of_batch = inner_batch(result.settings);
    if (axis == "n") return tokens();
    if (axis == "dk" || axis == "d") return channels();
    if (axis == "dv") return arrays.at("v").shape.back();
    if (axis == "batch") return tokens_of_batch;
    if (axis == "n_batches") return (tokens() + tokens_of_batch - 1) / tokens_of_batch;
    return 2 * channels();  // hidden units, features
  }
};

Matrix<double> first_rows(const Arrays& arrays, const char* name, Index rows) {
  const Array& array = arrays.find(name)->second;
  const Index columns = array.size() / array.shape.front();
  return MatrixView(array, 0, rows, columns, columns).all<double>();
}

/// alpha of the first tokens, from itself or its logarithm.
std::vector<double> kept(const Arrays& arrays, Index tokens) {
  const bool in_logs = arrays.contains("g");
  if (!in_logs && !arrays.contains("alpha")) return {};
  const Matrix<double> gates = first_rows(arrays, in_logs ? "g" : "alpha", tokens);
  std::vector<double> means;
  for (Index t = 0; t < tokens; ++t)
    means.push_back(in_logs ? gates.row(t).array().exp().mean() : gates.row(t).mean());
  return means;
}

std::vector<double> strength(const Variant& variant, const Sequence& sequence, Index tokens) {
  std::vector<double> reaches;
  for (Index t = 0; t < tokens; ++t) {
    const std::optional<Stability> known = stability_at(variant, sequence, t);
    if (!known) return {};
    reaches.push_back(known->reach);
  }
  return reaches;
}

HeadPreview preview_of(const DataSet& data, Index head, const Variant& variant, Index tokens) {
  HeadPreview result;
  const Inputs inputs = make_inputs(data, head, variant, {});
  const auto held = [&] {
    return held_inputs(variant, inputs.arrays, inputs.settings, Precision::f64).sequence;
  };
  const bool are_given = inputs.arrays->contains("k");  // else the rule computes its keys
  const StoredPairs keys = are_given ? StoredPairs{first_rows(*inputs.arrays, "k", tokens), {}}
                                     : stored_pairs(variant, held(), 0, tokens);
  result.similarity = interference(keys, keys, true);
  if (!inputs.made_up_alpha) result.kept = kept(*inputs.arrays, tokens);
  if (inputs.made_up_beta || !inputs.arrays->contains("beta")) return result;
  result.strength = strength(variant, held(), tokens);
  return result;
}

const Variant& variant_of(const DataSet& data) {
  for (const std::string& id : {data.rule, data.fits}) {
    if (const Variant* const known = row_called(variants(), id, &Variant::id)) return *known;
  }
  return find_variant("gated_deltanet");
}

}  // namespace

Inputs make_inputs(const DataSet& data, Index head, const Variant& variant, const Settings& settings,
                   const Edits& edits) {
  Fitting fitting{variant, edits, head_arrays(data, head, variant), data.rule == variant.id};
  fitting.result.settings = settings;
  fitting.follow(data.advice);
  fitting.make_edits(data);
  fitting.fit_decay();
  fitting.fit_gamma();
  if (fitting.wanted("beta") && !fitting.arrays.contains("beta")) fitting.make_up_beta();
  fitting.fit_parameters();
  fitting.fit_others();
  fitting.fit_steps();
  if (const std::vector<std::string>& lacking = fitting.result.lacking; !lacking.empty())
    fitting.result.notes.push_back(fmt::format("Not in the data: {}.", fmt::join(lacking, ", ")));
  fitting.result.arrays = std::make_shared<Arrays>(std::move(fitting.arrays));
  return std::move(fitting.result);
}

static auto parts_of(const HeadPreview& head) { return std::tie(head.similarity, head.strength, head.kept); }
static auto parts_of(const PreviewedData& preview) { return std::tie(preview.heads); }

Found<PreviewedData> DataPreview::compute(const Effort& effort) const {
  constexpr Index most_previewed_heads = 16;
  PreviewedData result;
  result.data = std::make_shared<const DataSet>(open_data(id));
  const DataSet& data = *result.data;
  result.variant = &variant_of(data);
  result.tokens = std::min(data.tokens, most_previewed_tokens);
  result.version = next_version();
  const Index heads = std::min(data.heads * data.batches, most_previewed_heads);
  for (Index head = 0; head < heads; ++head) {
    stop_if_asked(effort.stop);
    result.heads.push_back(preview_of(data, head, *result.variant, result.tokens));
    effort.tell(static_cast<double>(head + 1) / static_cast<double>(heads));
  }
  std::size_t bytes = memory_of(result);
  for (const auto& [name, array] : data.arrays)
    bytes += static_cast<std::size_t>(array.size()) * sizeof(double);
  return {std::make_shared<const PreviewedData>(std::move(result)), bytes};
}

VerifyCase data_case(const Variant& variant, std::shared_ptr<const DataSet> data, const Settings& given,
                     Index chunk_size) {
  const Inputs inputs = make_inputs(*data, 0, variant, given, {});
  VerifyCase made{.variant = &variant,
                  .given = resolve(variant, inputs.settings),
                  .chunk_sizes = {chunk_size},
                  .data = data->id};
  made.arrays = [&variant, data = std::move(data), given] {
    return make_inputs(*data, 0, variant, given, {}).arrays;
  };
  return made;
}

DataSet data_of_case(const VerifyCase& verified) {
  DataSet data;
  data.id = data_of(verified);
  data.title = data.id;
  data.rule = verified.variant->id;
  data.arrays = verified.arrays ? *verified.arrays()
                                : random_arrays(*verified.variant, verified.given, verified.random);
  // A sequence must contain q, k and v even if the rule computes them itself and ignores these.
  for (const std::string& made : verified.variant->makes) {
    const Array* const like = value_at(data.arrays, data.arrays.contains("q") ? "q" : "v");
    if (!like || data.arrays.contains(made)) continue;
    data.arrays[made] = mapped<double>(*like, [](double) { return 0.0; });
  }
  data.source = "a case of palimpsest verify";
  measure(data);
  return data;
}

std::vector<VerifyCase> preset_cases(std::span<const Variant> variants) {
  constexpr Index chunk_size = 64;
  std::vector<VerifyCase> cases;
  const auto add = [&](const Preset& preset, Index tokens) {
    const auto data = std::make_shared<const DataSet>(make_preset(preset_id(preset, {.tokens = tokens})));
    for (const Variant& variant : variants) cases.push_back(data_case(variant, data, {}, chunk_size));
  };
  for (const Preset& preset : presets()) {
    for (const Index tokens : {257, 1100}) add(preset, tokens);
  }
  add(presets().front(), 4096);
  return cases;
}

}  // namespace palimpsest
