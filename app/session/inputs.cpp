#include "app/session/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace palimpsest {

namespace {

template <class Function>
Array mapped(const Array& array, Function function) {
  std::vector<double> values(static_cast<std::size_t>(array.size()));
  for (Index i = 0; i < array.size(); ++i) values[static_cast<std::size_t>(i)] = function(array[i]);
  return {array.shape, std::move(values)};
}

/// [T] from [T, K]: the mean over the channels. As logs: the geometric mean of the decays.
Array channel_mean(const Array& array) {
  const Index T = array.shape[0];
  const Index K = array.size() / std::max<Index>(T, 1);
  std::vector<double> means(static_cast<std::size_t>(T), 0.0);
  for (Index t = 0; t < T; ++t) {
    for (Index d = 0; d < K; ++d) means[static_cast<std::size_t>(t)] += array[t * K + d] / static_cast<double>(K);
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

struct Fitting {
  const Variant& variant;
  const Adjustments& adjustments;
  Arrays arrays;
  Inputs result = {};

  Index tokens() const { return arrays.at("k").shape[0]; }
  Index channels() const { return arrays.at("k").shape[1]; }

  const Input* wanted(std::string_view name) const {
    const auto found = std::ranges::find(variant.inputs, name, &Input::name);
    return found == variant.inputs.end() ? nullptr : &*found;
  }

  void changed() { result.is_original = false; }

  void note(std::string text) {
    result.notes.push_back(std::move(text));
    changed();
  }

  void fit_keys() {
    if (adjustments.key_length == 1) return;
    arrays["k"] = mapped(arrays["k"], [&](double x) { return x * adjustments.key_length; });
    changed();
  }

  void fit_decay() {
    const Input* input = wanted("alpha");
    const bool has_logs = arrays.contains("g");
    const char* name = has_logs ? "g" : "alpha";
    const bool has_decay = has_logs || arrays.contains("alpha");
    if (!input) {
      if (has_decay && result.settings.parameters.find("gamma") == result.settings.parameters.end()) fit_gamma(name);
      return;
    }
    if (!has_decay) {
      arrays["alpha"] = {{tokens()}, std::vector<double>(static_cast<std::size_t>(tokens()), adjustments.missing_alpha)};
      name = "alpha";
      result.made_up_alpha = true;
      note(fmt::format("These data have no decay: {:.3g} at every token.", adjustments.missing_alpha));
    }
    const bool per_channel = input->shape.size() == 2;
    if (!per_channel && arrays[name].rank() == 2) {
      arrays[name] = channel_mean(arrays[name]);
      note("The decays of the channels are averaged to one per token.");
    }
    if (per_channel && arrays[name].rank() == 1) {
      arrays[name] = for_every_channel(arrays[name], channels());
      if (has_decay) note("One decay per token is used for every channel.");
    }
    if (adjustments.decay != 1) {
      const double power = adjustments.decay;
      arrays[name] = mapped(arrays[name], [&](double x) {
        if (power == 0) return has_logs ? 0.0 : 1.0;  // not 0 * -inf
        return has_logs ? x * power : std::pow(x, power);
      });
      changed();
    }
  }

  /// One fixed decay from decays per token: their geometric mean.
  void fit_gamma(const char* name) {
    if (std::ranges::find(variant.parameters, "gamma", &Parameter::name) == variant.parameters.end()) return;
    const Array decays = arrays[name];
    const bool has_logs = std::string_view(name) == "g";
    double sum = 0;
    bool constant = true;
    for (Index i = 0; i < decays.size(); ++i) {
      sum += has_logs ? decays[i] : std::log(decays[i]);
      constant = constant && std::abs(decays[i] - decays[0]) < 1e-6;
    }
    result.settings.parameters["gamma"] = std::exp(sum / static_cast<double>(std::max<Index>(decays.size(), 1)));
    if (!constant) note("RetNet has one fixed decay: the mean of the data's decays is used.");
    arrays.erase(name);
  }

  void fit_gamma_without_data() {
    const auto parameter = std::ranges::find(variant.parameters, "gamma", &Parameter::name);
    if (parameter == variant.parameters.end() || result.settings.parameters.contains("gamma") ||
        arrays.contains("gamma")) {
      return;
    }
    result.settings.parameters["gamma"] = adjustments.missing_alpha;
    note(fmt::format("These data have no decay: gamma is {:.3g}.", adjustments.missing_alpha));
  }

  void fit_beta() {
    if (!wanted("beta")) return;
    if (!arrays.contains("beta")) {
      const double stable = 1 / std::max(1.0, largest_squared_key(arrays["k"]));
      result.beta = adjustments.missing_beta > 0 ? adjustments.missing_beta : stable;
      arrays["beta"] = {{tokens()}, std::vector<double>(static_cast<std::size_t>(tokens()), result.beta)};
      result.made_up_beta = true;
      note(fmt::format("These data have no beta: {:.3g} at every token.", result.beta));
    }
    if (adjustments.beta == 1) return;
    arrays["beta"] = mapped(arrays["beta"], [&](double x) { return x * adjustments.beta; });
    changed();
  }
};

}  // namespace

Inputs make_inputs(const DataSet& data, Index head, const Variant& variant, const Settings& settings,
                   const Adjustments& adjustments) {
  Fitting fitting{variant, adjustments, head_arrays(data, head)};
  fitting.result.settings = settings;
  fitting.fit_keys();
  fitting.fit_decay();
  fitting.fit_gamma_without_data();
  fitting.fit_beta();
  if (!data.rule.empty() && data.rule != variant.id) fitting.changed();
  fitting.result.arrays = std::make_shared<Arrays>(std::move(fitting.arrays));
  return std::move(fitting.result);
}

}  // namespace palimpsest
