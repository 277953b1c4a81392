#include "app/session/computation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

double largest_output(const DataSet& data) {
  const Array& o = data.arrays.find("o")->second;
  double largest = 0;
  for (Index i = 0; i < o.size(); ++i) largest = std::max(largest, std::abs(o[i]));
  return largest;
}

}  // namespace

TEST_CASE("every variant computes every capture and every preset, and its forms agree") {
  std::vector<std::string> ids = capture_ids();
  for (const std::string& id : preset_ids()) ids.push_back(id);
  REQUIRE(ids.size() >= 20);
  for (const std::string& id : ids) {
    const auto data = std::make_shared<const DataSet>(open_data(id));
    for (const Variant& variant : variants()) {
      CAPTURE(id, variant.id);
      Choice choice;
      choice.variant = variant.id;
      choice.head = data->heads - 1;
      const auto computed = compute(data, choice);
      CHECK(computed->tokens.size() == static_cast<std::size_t>(data->tokens));
      CHECK(computed->reference->expected().o.allFinite());
      for (const Form form : all_forms) {
        CAPTURE(name(form));
        if (variant.rule->missing(form, computed->sequence.settings)) {
          CHECK_FALSE(computed->form(form).missing.empty());
          continue;
        }
        CHECK(computed->form(form).missing.empty());
        CHECK(computed->form(form).residual() < 1e-10);
        CHECK(computed->form(form).first_bad_token == -1);
      }
      CHECK(computed->agree);
    }
  }
}

TEST_CASE("the recurrence reproduces every capture's own output within its stated error") {
  for (const std::string& id : capture_ids()) {
    const auto data = std::make_shared<const DataSet>(open_data(id));
    REQUIRE(data->stated_error);
    double worst = 0;
    for (Index head = 0; head < data->heads; ++head) {
      CAPTURE(id, head);
      Choice choice;
      choice.variant = data->rule;
      choice.head = head;
      const auto computed = compute(data, choice);
      REQUIRE(computed->capture_error);
      worst = std::max(worst, *computed->capture_error);
      // The stated error is a share of the largest output of all heads, ours of this head's.
      const double difference =
          *computed->capture_error * computed->reference->expected().o.cwiseAbs().maxCoeff();
      CHECK(difference <= 1.05 * *data->stated_error * largest_output(*data));
    }
    CHECK(worst < 1e-4);
  }
}

TEST_CASE("the output in a file is compared with any rule, as long as the inputs are the file's own") {
  const auto data = std::make_shared<const DataSet>(open_data("capture:gated_deltanet_overwrite_l1"));
  Choice choice;
  CHECK(compute(data, choice)->capture_error);
  Choice other = choice;
  other.variant = "deltanet";  // the layer computed another rule: far away
  CHECK(compute(data, other)->capture_error.value_or(0) > 0.1);
  other = choice;
  other.adjustments.beta = 0.5;
  CHECK(!compute(data, other)->capture_error);
  other = choice;
  other.settings.parameters["scale"] = 2;
  CHECK(compute(data, other)->capture_error.value_or(0) > 0.1);

  DataSet own = *data;  // a file as anybody writes it: no rule
  own.rule.clear();
  CHECK(compute(std::make_shared<const DataSet>(own), choice)->capture_error.value_or(1) < 1e-4);
  own.arrays.erase(own.arrays.find("beta"));
  CHECK(!compute(std::make_shared<const DataSet>(own), choice)->capture_error);
}

TEST_CASE("numbers that a variant cannot have are refused with their place and head") {
  DataSet data = open_data("capture:gated_deltanet_overwrite_l1");
  std::get<std::vector<float>>(data.arrays["v"].values)[(5 * 4 + 2) * 64 + 3] =
      std::numeric_limits<float>::quiet_NaN();
  const auto broken = std::make_shared<const DataSet>(std::move(data));
  Choice choice;
  CHECK_NOTHROW(compute(broken, choice));  // another head
  choice.head = 2;
  CHECK_THROWS_WITH(compute(broken, choice), says("array \"v\": index [5, 3] is nan") && says("head 2"));
}

TEST_CASE("a long sequence has its parallel form later, a very long one not at all") {
  Choice choice;
  const auto later = std::make_shared<const DataSet>(make_preset("preset:random?T=300&K=4&V=3"));
  const auto computed = compute(later, choice, 299);
  CHECK(has_late_form(*computed));
  CHECK_THAT(computed->form(Form::parallel).missing, says("still being computed"));
  add_late_form(*computed, compute_late_form(*computed));
  CHECK(computed->form(Form::parallel).missing.empty());
  CHECK(computed->form(Form::parallel).residual() < 1e-10);
  CHECK(computed->agree);

  const auto never = std::make_shared<const DataSet>(make_preset("preset:random?T=5000&K=2&V=2"));
  const auto long_one = compute(never, choice);
  CHECK(!has_late_form(*long_one));
  CHECK_THAT(long_one->form(Form::parallel).missing, says("shown up to 4096 tokens, and here are 5000"));
  CHECK(largest_chunk(5000) == 4096);
  CHECK(largest_chunk(1) == 1);
}

TEST_CASE("a feature map that would fill the memory is refused") {
  const auto data = std::make_shared<const DataSet>(make_preset("preset:random?T=4&K=512&V=512"));
  Choice choice;
  choice.variant = "kernel";
  choice.settings.options["feature_map"] = "taylor2";
  CHECK_THROWS_WITH(compute(data, choice), says("choose another feature map or fewer channels"));
}
