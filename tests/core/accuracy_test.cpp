// The measurements of docs/accuracy.md: hidden, since they take minutes. Run with  tests_core "[accuracy]".

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <thread>

#include "core/proof/verify.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

using Change = std::function<void(Arrays& arrays, std::uint64_t seed)>;

/// Random cases bent in one direction.
struct Regime {
  const char* name;
  RandomCase random;
  int draws;
  std::vector<Index> chunk_sizes;
  double scale;
  std::function<bool(const Variant&)> applies;
  Change change;
};

/// Worst errors by form and precision: of the forms against the f64 recurrence.
using Worst = std::map<std::pair<Precision, Form>, double>;

bool takes(const Variant& variant, const char* input) {
  return std::ranges::find(variant.inputs, input, &Input::name) != variant.inputs.end();
}

std::vector<double>& values(Arrays& arrays, const char* name) { return std::get<0>(arrays.at(name).values); }

/// Sets every decay, under whichever name it came, to decay(i).
template <class Decay>
void set_decays(Arrays& arrays, Decay decay) {
  const bool logs = arrays.contains("g");
  std::vector<double>& gates = values(arrays, logs ? "g" : "alpha");
  for (std::size_t i = 0; i < gates.size(); ++i) gates[i] = logs ? std::log(decay(i)) : decay(i);
}

/// A number in [0, 1) that only depends on i and the seed.
double scattered(std::size_t i, std::uint64_t seed) {
  const double x =
      static_cast<double>(i + 1) * 0.6180339887498949 + static_cast<double>(seed) * 0.7548776662466927;
  return x - std::floor(x);
}

void near_zero(Arrays& arrays, std::uint64_t seed) {
  set_decays(arrays, [&](std::size_t i) {
    const double choice = scattered(i, seed);
    if (choice < 0.3) return 0.0;
    if (choice < 0.5) return std::pow(10, -30 + 125 * (choice - 0.3));
    return 0.05 + 0.95 * scattered(7 * i, seed);
  });
}

void near_one(Arrays& arrays, std::uint64_t seed) {
  if (arrays.contains("gamma")) {
    std::vector<double>& gamma = values(arrays, "gamma");
    for (std::size_t i = 0; i < gamma.size(); ++i) gamma[i] = 1 - 1e-6 * scattered(i, seed);
  }
  if (arrays.contains("delta")) {
    for (double& step : values(arrays, "delta")) step *= 1e-6;
  }
  if (!arrays.contains("g") && !arrays.contains("alpha")) return;
  const bool logs = arrays.contains("g");
  std::vector<double>& gates = values(arrays, logs ? "g" : "alpha");
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const double forgotten = 1e-6 * scattered(i, seed);
    gates[i] = logs ? std::log1p(-forgotten) : 1 - forgotten;
  }
}

void diverging(Arrays& arrays, std::uint64_t) {
  for (double& beta : values(arrays, "beta")) beta = 2.5;
}

void one_key(Arrays& arrays, std::uint64_t) {
  for (double& beta : values(arrays, "beta")) beta = 1.999;
  std::vector<double>& k = values(arrays, "k");
  const auto width = static_cast<std::size_t>(arrays.at("k").shape[1]);
  for (std::size_t i = width; i < k.size(); ++i) k[i] = k[i % width];
}

std::vector<Regime> regimes() {
  const auto any = [](const Variant&) { return true; };
  const auto gated = [](const Variant& variant) { return takes(variant, "alpha"); };
  const auto erasing = [](const Variant& variant) { return takes(variant, "beta"); };
  const auto softmax = [](const Variant& variant) { return variant.id == "softmax"; };
  return {
      {"decays near 0, 30 % exactly 0", {.tokens = 200, .dk = 16, .dv = 9}, 10, {64}, 1, gated, near_zero},
      {"3000 tokens, 1 - alpha ~ 1e-6", {.tokens = 3000, .dk = 12, .dv = 7}, 1, {64}, 1, any, near_one},
      {"beta |k|^2 = 2.5: diverges", {.tokens = 200, .dk = 16, .dv = 9}, 10, {64}, 1, erasing, diverging},
      {"one key over and over, beta = 1.999",
       {.tokens = 200, .dk = 16, .dv = 9},
       10,
       {64},
       1,
       erasing,
       one_key},
      {"scores of 1e3 to 1e4", {.tokens = 200, .dk = 16, .dv = 9}, 10, {64}, 1e4, softmax, nullptr},
  };
}

void measure(const Regime& regime, const Variant& variant, const Settings& given, Worst& worst) {
  for (const bool log_gates : {false, true}) {
    if (log_gates && !takes(variant, "alpha")) continue;
    for (int draw = 0; draw < regime.draws; ++draw) {
      RandomCase random = regime.random;
      random.log_gates = log_gates;
      random.seed = static_cast<std::uint64_t>(draw + 1);
      random.initial_state = true;
      Settings settings = random_settings(variant, given, random.seed);
      if (settings.parameters.contains("gamma")) settings.parameters["gamma"] = 1 - 1e-6;
      settings.parameters["scale"] = regime.scale;
      Arrays arrays = random_arrays(variant, settings, random);
      if (regime.change) regime.change(arrays, random.seed);
      for (const Precision precision : scalar_precisions) {
        if (precision == Precision::f32) {
          arrays = rounded_to_f32(arrays);
          for (auto& [name, value] : settings.parameters)
            value = static_cast<double>(static_cast<float>(value));
        }
        const Case each = bound(variant, settings, arrays);
        const Output expected = each.run(Form::recurrent);
        for (const Form form : each.forms()) {
          for (const Index chunk_size : regime.chunk_sizes) {
            const double error = compare(each.run(form, precision, chunk_size), expected).error;
            double& so_far = worst[{precision, form}];
            so_far = std::max(so_far, error);
          }
        }
      }
    }
  }
}

std::string row_of(const std::string& title, const Worst& worst) {
  std::string row = "| " + title + " |";
  for (const Precision precision : scalar_precisions) {
    for (const Form form : all_forms) {
      const auto error = worst.find({precision, form});
      row += error == worst.end() ? " – |" : fmt::format(" {:.0e} |", error->second);
    }
  }
  return row + "\n";
}

std::string heading() {
  std::string titles = "| variant |";
  std::string rule = "|---|";
  for (const Precision precision : scalar_precisions) {
    for (const Form form : all_forms) {
      titles += fmt::format(" {} {} |", name(precision), name(form));
      rule += "---|";
    }
  }
  return titles + "\n" + rule + "\n";
}

}  // namespace

TEST_CASE("measure the errors of ordinary cases", "[.][accuracy]") {
  VerifyPlan plan;
  plan.draws = 25;
  plan.jobs = std::max(1U, std::thread::hardware_concurrency());
  const VerifyReport report = verify(plan);
  std::map<std::string, Worst> rows;
  std::vector<std::string> order;
  for (const VerifyResult& result : report.results) {
    const std::string title = result.variant + (result.options.empty() ? "" : " ") + result.options;
    if (!rows.contains(title)) order.push_back(title);
    double& so_far = rows[title][{result.precision, result.form}];
    so_far = std::max(so_far, result.worst.error);
  }
  std::cout << fmt::format("{} runs\n\n{}", report.runs(), heading());
  for (const std::string& title : order) std::cout << row_of(title, rows.at(title));
  for (const VerifyResult& result : report.results) {
    if (result.precision == Precision::f64) CHECK(result.passed());
    if (!result.passed()) std::cout << fmt::format("\n{:.1e}: {}\n", result.worst.error, result.reproduction);
  }
}

TEST_CASE("measure the errors where rounding is amplified", "[.][accuracy]") {
  for (const Regime& regime : regimes()) {
    std::cout << "\n" << regime.name << "\n\n" << heading() << std::flush;
    for (const Variant& variant : variants()) {
      if (!regime.applies(variant)) continue;
      Worst worst;
      for (const Settings& given : option_choices(variant)) measure(regime, variant, given, worst);
      std::cout << row_of(variant.id, worst) << std::flush;
      for (const Form form : all_forms) {
        INFO(regime.name << " " << variant.id << " " << name(form));
        const auto error = worst.find({Precision::f64, form});
        CHECK((error == worst.end() || error->second < 1e-10));
      }
    }
  }
}
