#include "app/session/computation.h"

#include <algorithm>
#include <limits>

#include "app/session/first_place.h"
#include "app/session/presets.h"
#include "core/base/error.h"
#include "core/proof/verify.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/computed.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The window's computation of a case of verify().
std::shared_ptr<const Computation> computed_in_window(const VerifyCase& each, Precision precision) {
  Arrays arrays = random_arrays(*each.variant, each.given, each.random);
  arrays.try_emplace("k", arrays.at("q"));  // data have keys, also for a rule that makes its own
  const auto data = shared(data_of(std::move(arrays)));
  return compute(data, {{.variant = each.variant->id,
                         .precision = precision,
                         .chunk_size = each.chunk_sizes.front(),
                         .settings = each.given}});
}

VerifyReport verified(const VerifyCase& each, Precision precision) {
  return verify({.precisions = {precision}, .cases = {each}});
}

}  // namespace

TEST_CASE("every variant computes every capture and every preset, and its forms agree") {
  std::vector<std::string> ids = capture_ids();
  for (const std::string& id : preset_ids()) ids.push_back(id);
  REQUIRE(ids.size() >= 20);
  for (const std::string& id : ids) {
    const auto data = shared(open_data(id));
    for (const Variant& variant : variants()) {
      CAPTURE(id, variant.id);
      const auto computed = compute(data, {{.variant = variant.id}, data->heads - 1});
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
      CHECK_FALSE(computed->divergence);
    }
  }
}

TEST_CASE("the output in a file is compared with any rule, as long as the inputs are the file's own") {
  const auto data = shared(open_data("capture:gated_deltanet_overwrite_l1"));
  CHECK(compute(data, {})->capture_error);
  // The layer computed another rule: far away.
  CHECK(compute(data, {{.variant = "deltanet"}})->capture_error.value_or(0) > 0.1);
  CHECK(compute(data, {{.settings = {.parameters = {{"scale", 2}}}}})->capture_error.value_or(0) > 0.1);
  Choice weaker;
  set_slider(weaker.edits, "scale_strength", 0.5);
  CHECK(!compute(data, weaker)->capture_error);

  DataSet own = *data;  // a file as anybody writes it: no rule
  own.rule.clear();
  CHECK(compute(shared(own), {})->capture_error.value_or(1) < 1e-4);
  own.arrays.erase(own.arrays.find("beta"));
  CHECK(!compute(shared(own), {})->capture_error);
}

TEST_CASE("a memory that runs away is found as core finds it") {
  const auto data = shared(open_data("capture:gated_deltanet_overwrite_l1"));
  Choice choice;
  set_slider(choice.edits, "scale_strength", 3);
  set_slider(choice.edits, "scale_keys", 2);
  set_slider(choice.edits, "scale_decay", 0);
  const auto computed = compute(data, choice);
  const auto found = divergence(*computed->variant, computed->sequence);
  REQUIRE(found);
  REQUIRE(computed->divergence);
  CHECK(computed->divergence->token == found->token);
  CHECK(computed->divergence->cause_token == found->cause_token);
  CHECK(computed->divergence->words == found->words);
  // The token that is named is the first whose write goes too far.
  for (Index token = 0; token <= found->cause_token; ++token) {
    const double beta = computed->sequence.at("beta")(token, 0);
    const double reach = beta * computed->sequence.at("k").rows<double>(token, 1).squaredNorm();
    CHECK((reach > 2) == (token == found->cause_token));
  }
}

TEST_CASE("numbers that a variant cannot have are refused with their place and head") {
  DataSet data = open_data("capture:gated_deltanet_overwrite_l1");
  std::get<std::vector<float>>(data.arrays["v"].own_values())[(5 * 4 + 2) * 64 + 3] =
      std::numeric_limits<float>::quiet_NaN();
  const auto broken = shared(std::move(data));
  CHECK_NOTHROW(compute(broken, {}));  // another head
  CHECK_THROWS_WITH(compute(broken, {{}, 2}), says("array \"v\": index [5, 3] is nan") && says("head 2"));
}

TEST_CASE("a very long sequence has no parallel form, and says so at once") {
  const auto long_one = begun(Choice{}, "preset:random?T=5000&K=2&V=2");
  CHECK_THAT(long_one->form(Form::parallel).missing, says("shown up to 4096 tokens; these data have 5000"));
  CHECK(largest_chunk(5000) == 4096);
  CHECK(largest_chunk(1) == 1);
}

TEST_CASE("what is begun has steps, and what comes of them is added") {
  const auto data = shared(make_preset("preset:random?T=30&K=4&V=3"));
  const auto begun = begin(data, {});
  CHECK_FALSE(begun->is_complete());
  for (const Form form : all_forms) {
    REQUIRE(begun->form(form).trace);
    CHECK_FALSE(begun->form(form).is_compared);
  }
  const std::uint64_t before = begun->version;
  Questions questions;
  std::string problem;
  CHECK_FALSE(complete(begun, questions, problem));
  questions.wait();
  CHECK(complete(begun, questions, problem));
  CHECK(begun->version != before);
  CHECK(begun->is_complete());
  CHECK(problem.empty());
  for (const Form form : all_forms) CHECK(begun->form(form).output().o.rows() == 30);
  CHECK(begun->recalls->tokens.size() == 30);
}

TEST_CASE("no step waits for the f64 reference: who needs it has it run, once") {
  const Choice choice{{.precision = Precision::f32}};
  const auto data = shared(make_preset("preset:random?T=30&K=4&V=3"));
  const auto begun = begin(data, choice);
  CHECK(begun->trace(Form::chunkwise)->shared_record(0));
  CHECK_FALSE(begun->reference->known());
  CHECK(begun->scales.output == 0);
  const Output& expected = begun->reference->expected();
  CHECK(begun->reference->known() == &expected);
  CHECK(compute(data, choice)->scales.output > 0);
  const auto other = begin(data, choice);
  CHECK_THROWS_AS(other->reference->expected(asked_to_stop()), Cancelled);
  CHECK_FALSE(other->reference->known());
  CHECK(other->reference->expected().o == begun->reference->expected().o);  // asked again, it runs
}

TEST_CASE("a feature map that would fill the memory is refused") {
  const auto data = shared(make_preset("preset:random?T=4&K=512&V=512"));
  const Choice choice{{.variant = "kernel", .settings = {.options = {{"feature_map", "taylor2"}}}}};
  CHECK_THROWS_WITH(compute(data, choice), says("choose another feature map or fewer channels"));
}

TEST_CASE("the window judges every form as verify does: the same error, the same tolerance") {
  int compared = 0;
  for (const Variant& variant : variants()) {
    if (variant.id == "deltaproduct") continue;  // random cases have three keys per token, data have one
    for (Settings given : option_choices(variant)) {
      given.parameters["scale"] = 0.1;  // f32 holds another number
      const RandomCase random{.tokens = 37, .dk = 6, .dv = 5, .initial_state = true, .seed = 3};
      const VerifyCase each{&variant, random_settings(variant, given, random.seed), random, {7}};
      for (const Precision precision : scalar_precisions) {
        const auto computed = computed_in_window(each, precision);
        for (const VerifyResult& result : verified(each, precision).results) {
          CAPTURE(variant.id, result.options, name(result.form), name(precision));
          const FormResult& form = computed->form(result.form);
          REQUIRE(form.missing.empty());
          CHECK(form.residual() == result.worst.error);
          CHECK(form.judgement.tolerance == Tolerance{result.tolerance, result.exception});
          CHECK(form.judgement.allowed() == result.allowed());
          CHECK(form.judgement.passed() == result.passed());
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 250);
}

TEST_CASE("what verify lets pass is no disagreement in the window: Muon in f32, and numbers that amplify") {
  const Variant& lact = find_variant("lact");
  const Settings muon = {
      .options = {{"optimizer", "muon"}, {"loss", "l2"}, {"newton_schulz", "muon"}, {"weight_norm", "false"}},
      .parameters = {{"batch", 1}, {"scale", 0.625}}};
  const RandomCase random{.tokens = 257, .dk = 12, .dv = 7, .initial_state = true};
  const VerifyCase full_steps{&lact, random_settings(lact, muon, 1), random, {16}};
  // One token of two channels: q and k nearly orthogonal, as tests/core/verify_test.cpp has found them.
  const Variant& linear = find_variant("linear");
  VerifyCase orthogonal{&linear, resolve(linear, {}), {.tokens = 1, .dk = 2, .dv = 1}, {1}};
  const auto is_amplified = [&] {
    return verified(orthogonal, Precision::f32).results.front().amplified.runs > 0;
  };
  while (!is_amplified()) ++orthogonal.random.seed;
  for (const VerifyCase& each : {full_steps, orthogonal}) {
    CAPTURE(each.variant->id);
    REQUIRE(verified(each, Precision::f32).passed());
    const auto computed = computed_in_window(each, Precision::f32);
    CHECK(computed->worst > 2e-5);
    CHECK(computed->tolerance > computed->worst);
    CHECK(computed->agree);
    for (const auto& form : computed->forms) CHECK(form->first_bad_token == -1);
  }
}

TEST_CASE("numbers that f32 cannot hold are refused as such") {
  Arrays arrays = random_arrays(find_variant("linear"), resolve(find_variant("linear"), {}), {.tokens = 3});
  std::get<0>(arrays["v"].own_values())[1] = 1e300;
  const auto data = shared(data_of(arrays));
  CHECK_NOTHROW(compute(data, {{.variant = "linear"}}));
  CHECK_THROWS_WITH(compute(data, {{.variant = "linear", .precision = Precision::f32}}),
                    says("array \"v\": index [0, 1] is inf; expected finite, also as f32 holds it"));
}

TEST_CASE("recall and divergence tell how far they are", "[computation]") {
  // A row program, one whose divergence is found by its problems, and one that is walked in batches.
  for (const char* variant : {"gated_deltanet", "titans", "ttt_linear", "mesanet"}) {
    CAPTURE(variant);
    const auto computation = begun(variant, "preset:random?T=250&K=5&V=5&seed=3");
    std::vector<double> told;
    const Effort effort{.progress = [&](double part) { told.push_back(part); }};
    const auto is_whole_way = [&] {
      REQUIRE(told.size() > 50);
      CHECK(told.front() <= 0.02);
      CHECK(std::ranges::is_sorted(told));
      CHECK(told.back() == 1);
    };
    REQUIRE_FALSE(find_out(RecallOfTokens{{computation}}, effort)->tokens.empty());
    is_whole_way();
    told.clear();
    const auto runs_away = find_out(RunawayMemory{{computation}}, effort);
    if (!*runs_away) is_whole_way();
    CHECK(told.size() > 1);
  }
}

namespace {

/// The share of the magnitudes in `rows` that do not exceed `scale`.
double share_within(const Matrix<double>& rows, double scale) {
  return (rows.array().abs() <= scale).cast<double>().mean();
}

}  // namespace

TEST_CASE("the scales of kinds are reached, and exceeded by few numbers", "[scales]") {
  const auto computed = compute(shared(open_data("preset:random?T=257&K=11&V=7")), {});
  const KindScales& scales = computed->scales;
  const Matrix<double> values = computed->sequence.at("v").all<double>();
  for (const auto& [rows, scale] :
       {std::pair(computed->sequence.at("k").all<double>(), scales.key),
        std::pair(computed->sequence.at("q").all<double>(), scales.query), std::pair(values, scales.value),
        std::pair(computed->reference->expected().o, scales.output)}) {
    CHECK(share_within(rows, scale) >= 0.995);
    CHECK(share_within(rows, scale) < 0.996);  // 257 x 7 numbers: one is less than a thousandth
    CHECK((rows.array().abs() == scale).any());
  }
  CHECK(quantile({3, 1, 2}, 0.5) == 2);
  CHECK(quantile({}, 0.5) == 0);
  CHECK(quantile({std::numeric_limits<double>::infinity(), 4}, 1) == 4);
}

namespace {

/// Tokens at which nothing happens but a strong write at the end: they write a little, fade alike and are
/// known alike.
struct Quiet : Computation {
  Quiet() {
    for (auto& form : forms) form = std::make_shared<FormResult>();
    tokens.assign(21, {.kept = 0.9, .beta = 0.1, .written = 0.4});
    tokens[20].written = 1;
    written_by = "beta";
    TokenRecalls known;
    known.tokens.assign(21, {.before = 0.5, .after = 0.25});
    recalls = std::make_shared<const TokenRecalls>(known);
  }
};

/// What is marked at a token; empty: nothing is.
std::string at(const Computation& computed, Index token) {
  const auto mark = next_mark(computed, token - 1, 1);
  return mark && mark->token == token ? mark->words : "";
}

}  // namespace

TEST_CASE("where nothing happens there is no mark, and a strong write is one", "[marks]") {
  Quiet computed;
  CHECK(next_mark(computed, 0, 1)->token == 20);
  CHECK(next_mark(computed, 19, 1)->words == "erases and writes strongly");
  CHECK(!next_mark(computed, 20, 1));
  CHECK(!next_mark(computed, 20, -1));
  computed.tokens[7].written = 0.5;  // half as strong as the strongest
  CHECK(next_mark(computed, 20, -1)->token == 7);
  CHECK(!next_mark(computed, 7, -1));
  computed.written_by = "";
  CHECK(at(computed, 7) == "writes strongly");
}

TEST_CASE("every kind of event is a mark of its own words", "[marks]") {
  Quiet computed;
  computed.tokens[3].kept = 0.5;
  CHECK(at(computed, 3) == "decays more than most tokens");
  TokenRecalls recalls = *computed.recalls;
  recalls.tokens[4].before = 8;
  recalls.tokens[6].before = std::nan("");
  computed.recalls = std::make_shared<const TokenRecalls>(recalls);
  CHECK(at(computed, 4) == "has a larger error before its write than most tokens");
  CHECK(at(computed, 6) == "has a larger error before its write than most tokens");
  CHECK(at(computed, 5).empty());
  computed.divergence = Divergence{.token = 9, .cause_token = 8};
  CHECK(at(computed, 8) == "makes the memory diverge");
  CHECK(at(computed, 9) == "is where the memory diverges");
  auto wrong = std::make_shared<FormResult>();
  wrong->first_bad_token = 9;
  computed.forms[2] = wrong;
  CHECK(at(computed, 9) == "is where the memory diverges, is the first at which a form differs");
  computed.tokens[20].written = 1.5;
  CHECK(at(computed, 20) == "erases and writes strongly, overshoots its value");
}

TEST_CASE("a rule without a memory to ask, and no tokens at all", "[marks]") {
  Computation computed;
  for (auto& form : computed.forms) form = std::make_shared<FormResult>();
  CHECK(!next_mark(computed, 0, 1));
  computed.tokens.resize(5);
  CHECK(!next_mark(computed, 4, -1));
}
