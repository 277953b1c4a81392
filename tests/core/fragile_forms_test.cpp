// Each fragile form equals the right one on gentle numbers and fails where its text says so.

#include "core/proof/fragile_forms.h"

#include <cmath>

#include "core/base/error.h"
#include "core/contract/output.h"
#include "core/steps/interpreted.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr double rounding_alone = 1e-10;  // f64, after at most 65 tokens

/// An array of the same shape, element by element.
Array array_like(const Array& array, const std::function<double(Index)>& at) {
  std::vector<double> values;
  for (Index i = 0; i < array.size(); ++i) values.push_back(at(i));
  return Array(array.shape, std::move(values));
}

/// The arrays of a random case with other gates: one number for all tokens and channels.
Case with_gates(const Variant& variant, Settings given, Index tokens,
                const std::function<double(Index)>& gate) {
  const Case random = random_case(variant, given, {.tokens = tokens, .dk = 6, .dv = 5, .seed = 3});
  Arrays arrays = *random.arrays;
  for (const Input& input : variant.inputs) {
    if (input.range != Range::decay || !arrays.contains(input.name)) continue;
    arrays[input.name] = array_like(arrays[input.name], gate);
  }
  return bound(variant, random.settings, std::move(arrays), random.words);
}

struct Tried {
  int forms = 0;       // that the edit changes
  double least = 1e9;  // the smallest error of them from the form as it is
  double worst = 0;
};

/// Every form of every variant that the edit changes, each in one chunk of all tokens.
Tried tried(const FragileForm& fragile, Index tokens,
            const std::function<Case(const Variant&, Settings)>& make) {
  Tried all;
  for (const Variant& variant : variants()) {
    for (const Settings& given : option_choices(variant)) {
      const Case each = make(variant, given);
      for (const Form form : each.forms()) {
        const auto trace = each.trace(form, std::max<Index>(tokens, 1));
        const auto edited = with_fault(fragile.way, {trace->phases, trace->symbols});
        if (!edited) continue;
        // A rule whose first gate is 0 by itself (a softmax over time) is not gentle.
        const Record& record = trace->record(0);
        if (record.contains("alpha") && (record.at("alpha").array() == 0).any()) continue;
        const Output expected = each.run(Form::recurrent);
        const double error = compare(interpret(*trace, edited->phases), expected).error;
        INFO(fragile.way.id << ": " << each.words << " " << name(form));
        if (fragile.always_wrong)
          CHECK(error > 1e-3);
        else
          CHECK(std::isfinite(error));
        CHECK(compare(interpret(*trace), expected).error <= each.allowed(rounding_alone));
        all.least = std::min(all.least, error);
        all.worst = std::max(all.worst, error);
        ++all.forms;
      }
    }
  }
  return all;
}

/// The error of an edited chunkwise form of one case from the form as it is, in chunks of all tokens.
double error_of(const char* id, const Case& each) {
  const auto trace = each.trace(Form::chunkwise, each.sequence.tokens);
  const auto edited = with_fault(find_fragile_form(id).way, {trace->phases, trace->symbols});
  REQUIRE(edited);
  const Output expected = each.run(Form::recurrent);
  REQUIRE(compare(interpret(*trace), expected).error <= rounding_alone);
  return compare(interpret(*trace, edited->phases), expected).error;
}

double gentle(Index) { return 0.97; }

/// Unit keys around one direction, beta 1.
Case resembling_keys(double noise) {
  const Case random = random_case(find_variant("deltanet"), {}, {.tokens = 64, .dk = 16, .dv = 5, .seed = 9});
  Arrays arrays = *random.arrays;
  Array& k = arrays.at("k");
  std::vector<double> values;
  for (Index t = 0; t < 64; ++t) {
    double squares = 0;
    std::vector<double> key;
    for (Index d = 0; d < 16; ++d) {
      key.push_back(0.25 + noise * k[t * 16 + d]);
      squares += key.back() * key.back();
    }
    for (const double x : key) values.push_back(x / std::sqrt(squares));
  }
  k = Array(k.shape, values);
  arrays.at("beta") = array_like(arrays.at("beta"), [](Index) { return 1.0; });
  return bound(*random.variant, random.settings, std::move(arrays));
}

}  // namespace

TEST_CASE("fragile forms equal the right ones on gentle numbers, but for what is always wrong") {
  for (const FragileForm& fragile : fragile_forms()) {
    for (const Index tokens : {2, 17}) {
      const Tried all = tried(fragile, tokens, [&](const Variant& variant, Settings given) {
        return with_gates(variant, given, tokens, gentle);
      });
      INFO(fragile.way.id << ", T " << tokens);
      CHECK(all.forms > 0);
      if (!fragile.always_wrong) CHECK(all.worst <= rounding_alone);
      CHECK_FALSE(fragile.fails_when.empty());
    }
  }
}

TEST_CASE("dividing by the decay fails once its inverse overflows in a block") {
  const auto strong = [](Index) { return 1e-5; };
  for (const char* id : {"gla", "gated_deltanet", "kda"}) {
    const Variant& variant = find_variant(id);
    INFO(id);
    CHECK(std::isinf(error_of("divided-decays", with_gates(variant, {}, 80, strong))));  // 80 · 11.5 > 709
    CHECK(error_of("divided-decays", with_gates(variant, {}, 40, strong)) <= rounding_alone);
  }
}

TEST_CASE("an exponential before the mask fails once a pair that is masked overflows") {
  const auto strong = [](Index) { return 1e-5; };
  for (const char* id : {"gla", "gated_deltanet", "kda"}) {
    INFO(id);
    CHECK(std::isinf(error_of("late-mask", with_gates(find_variant(id), {}, 80, strong))));
    CHECK(error_of("late-mask", with_gates(find_variant(id), {}, 40, strong)) <= rounding_alone);
    // Differences of the pairs that are seen are negative however strong the gates are.
    CHECK(error_of("log-differences", with_gates(find_variant(id), {}, 80, strong)) <= rounding_alone);
  }
}

TEST_CASE("differences of log sums fail at a gate of exactly 0, and only there") {
  const auto reset = [](double strength) {
    return [strength](Index i) { return i == 60 ? strength : 0.9; };  // a channel or a token, once
  };
  for (const char* id : {"gla", "gated_deltanet", "kda"}) {
    INFO(id);
    CHECK(std::isinf(error_of("log-differences", with_gates(find_variant(id), {}, 65, reset(0)))));
    const double strong = error_of("log-differences", with_gates(find_variant(id), {}, 65, reset(1e-300)));
    CHECK(strong <= rounding_alone);
  }
}

TEST_CASE("the inverse by doubling loses every digit where keys resemble each other") {
  CHECK(error_of("doubled-inverse", resembling_keys(1e3)) <= rounding_alone);
  CHECK(error_of("doubled-inverse", resembling_keys(0.3)) > 0.1);
}

TEST_CASE("a fragile form that there is not is named, with those that there are") {
  CHECK_THROWS_WITH(find_fragile_form("none"), says("divided-decays"));
}
