// Another device beside form and precision: what it computes is seen and checked against the CPU, and what it
// cannot compute runs on the CPU.

#include "app/session/devices.h"

#include <set>

#include "app/session/compared_sides.h"
#include "app/session/session.h"
#include "app/session/state.h"
#include "app/session/verify_questions.h"
#include "core/base/error.h"
#include "core/cases/random_case.h"
#include "core/numbers/arithmetic.h"
#include "core/proof/verify.h"
#include "core/rules/backend.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/computed.h"
#include "tests/other_device.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* overwrite_on_device = "preset:overwrite?T=21&K=5&V=4&seed=4";

struct OnDevice {
  OtherDevice device;
  Session session{device.beside_cpu()};

  explicit OnDevice(const std::string& variant = "gated_deltanet", Form form = Form::chunkwise) {
    open(session, overwrite_on_device);
    choose([&](Choice& choice) {
      choice.variant = variant;
      choice.form = form;
    });
    choose([](Choice& choice) { choice.device = "cuda"; });
  }

  void choose(const auto& change) { palimpsest::testing::choose(session, change); }
};

const Computation& computed(OnDevice& on) { return *on.session.computed(); }

/// Random arrays for a rule without options of its own, and settings that go with them.
struct RandomHead {
  const Variant& variant;
  Settings settings;
  std::shared_ptr<const Arrays> arrays;

  RandomHead(const char* id, const RandomCase& random)
      : variant(find_variant(id)),
        settings(random_settings(variant, {}, 1)),
        arrays(std::make_shared<const Arrays>(random_arrays(variant, settings, random))) {}

  Sequence sequence() const { return bind(variant, arrays, settings).heads.front(); }
  HeldInputs held(Precision precision) const { return held_inputs(variant, arrays, settings, precision); }
};

}  // namespace

TEST_CASE("the program's devices are known by name, the CPU first, and say why they cannot be used") {
  REQUIRE_FALSE(backends().empty());
  CHECK(is_cpu(*backends().front()));
  for (const Backend* backend : backends()) {
    CHECK(&find_backend(backend->name()) == backend);
    const std::string reason = unavailable(*backend);
    if (reason.empty())
      CHECK(&usable_backend(backend->name()) == backend);
    else
      CHECK_THROWS_WITH(usable_backend(backend->name()), says(reason));
  }
  CHECK_THROWS_WITH(find_backend("abacus"), says("expected one of: cpu, cuda"));
  OtherDevice device;
  CHECK(&find_backend("cuda", device.beside_cpu()) == &device);
  CHECK(unavailable(device).empty());
  device.trouble.is_absent = true;
  CHECK(unavailable(device) == "there is no driver");
}

TEST_CASE("a device computes traces and forms of every rule, compared with the CPU's recurrence") {
  OtherDevice device;
  const auto data = shared(open_data(overwrite_on_device));
  for (const Variant& variant : variants()) {
    for (const Precision precision : scalar_precisions) {
      CAPTURE(variant.id, name(precision));
      Choice choice{{.variant = variant.id, .precision = precision}};
      const auto on_cpu = compute(data, choice);
      choice.device = "cuda";
      const auto there = compute(data, choice, {}, device.beside_cpu());
      CHECK(there->agree == on_cpu->agree);
      CHECK(there->reference->expected().o == on_cpu->reference->expected().o);
      for (const Form form : all_forms) {
        CAPTURE(name(form));
        CHECK(there->form(form).missing == on_cpu->form(form).missing);
        CHECK(there->form(form).output().o == on_cpu->form(form).output().o);
        CHECK(there->form(form).residual() == on_cpu->form(form).residual());
      }
      device.trouble.is_lost = true;  // the traces are the device's, what is asked of the memory the CPU's
      if (const auto& trace = there->trace(Form::recurrent)) {
        CHECK_THROWS_WITH(begin(data, choice, {}, {}, device.beside_cpu())
                              ->trace(Form::recurrent)
                              ->shared_record(trace->block_count() - 1),
                          says("the device was lost"));
        CHECK_NOTHROW(begin(data, choice, {}, {}, device.beside_cpu())->recurrence->shared_record(3));
      }
      device.trouble.is_lost = false;
    }
  }
}

TEST_CASE("the device of a choice is a change of its own: computed, saved, undone") {
  OnDevice on;
  Session& session = on.session;
  CHECK(session.choice().device == "cuda");
  CHECK(computed(on).device == &on.device);
  CHECK(computed(on).agree);
  CHECK(parse_state(session.to_json()).choice().device == "cuda");
  CHECK(parse_state_string(session.to_string()).choice().device == "cuda");
  undo(session);
  CHECK(session.choice().device == "cpu");
  CHECK(is_cpu(*computed(on).device));
  redo(session);
  CHECK(computed(on).device == &on.device);
  CHECK(session.left_device().empty());

  open(session, "preset:copy?T=12&K=3&V=2");  // other data are opened on it too
  CHECK(computed(on).device == &on.device);
  CHECK(has_valid_cursor(session));
}

TEST_CASE("a wrong kernel is noticed, and where it departs: token and tensor") {
  OnDevice on;
  on.device.trouble.is_wrong = true;
  on.choose([](Choice& choice) { choice.chunk_size = 5; });
  CHECK_FALSE(computed(on).agree);
  CHECK(computed(on).worst_form == Form::chunkwise);
  CHECK(computed(on).form(Form::chunkwise).first_bad_token == wrong_row);
  CHECK(computed(on).form(Form::parallel).judgement.passed());
  CHECK(on.session.left_device().empty());  // what is wrong is shown, not left

  WrongHere key{.of = on.session.sight().computation, .form = Form::chunkwise};
  const auto wrong = find_out(key);
  REQUIRE(*wrong);
  const WrongTensor& tensor = (*wrong)->tensor;
  CHECK(tensor.departure.tensor == "U");
  CHECK(tensor.departure.token == wrong_row);
  CHECK(tensor.departure.row == wrong_row);
  CHECK(tensor.departure.got == 2 * tensor.departure.expected);
  CHECK(tensor.is.row(wrong_row) == 2 * tensor.should_be.row(wrong_row));
  CHECK(tensor.is.row(0) == tensor.should_be.row(0));
  CHECK_FALSE(tensor.change.piece);  // the formula is right
  CHECK(to_string(tensor.departure).find("token 3, block 0") == 0);

  key.form = Form::parallel;
  CHECK_FALSE(*find_out(key));
  on.device.trouble.is_wrong = false;
  OnDevice right;
  key.of = right.session.sight().computation;
  key.form = Form::chunkwise;
  CHECK_FALSE(*find_out(key));
}

TEST_CASE("a line of Verify is the device's; a fault is carried out by the CPU") {
  OnDevice on;
  on.device.trouble.is_wrong = true;
  ProofLine line{.of = without_fault(on.session.sight().computation), .form = Form::chunkwise};
  CHECK(find_out(line)->errors[wrong_row] > 1e-3);
  FaultHere fault{.of = line.of, .form = Form::chunkwise, .fault = "solve-sign"};
  const auto figures = find_out(fault);
  REQUIRE(figures->departure);

  on.session.change(&SessionState::verify, {.fault = {"solve-sign", Form::chunkwise}});
  on.session.wait();
  CHECK(on.session.message().empty());
  on.device.trouble.is_wrong = false;
  OnDevice right;
  right.session.change(&SessionState::verify, {.fault = {"solve-sign", Form::chunkwise}});
  right.session.wait();
  CHECK(computed(on).form(Form::chunkwise).output().o == computed(right).form(Form::chunkwise).output().o);
}

TEST_CASE("a device that cannot be used is left for the CPU, and what is open stays") {
  OnDevice on;
  on.session.go_to_token(7);
  const Place place = on.session.state().place;
  const std::string saved = on.session.to_json();
  on.device.trouble.is_absent = true;
  CHECK(why_not_on(on.device, computed(on), Form::chunkwise) == "there is no driver");

  Session other(on.device.beside_cpu());  // a saved place from where the device is there
  come_back(other, saved);
  CHECK(other.message().empty());
  CHECK_THAT(other.left_device(), says("cuda: there is no driver. The CPU continues."));
  CHECK(other.choice().device == "cpu");
  CHECK(is_cpu(*other.computed()->device));
  CHECK(other.computed()->agree);
  CHECK(other.state().place == place);
  CHECK(other.sight().record);
  CHECK_FALSE(other.can_undo());

  Choice choice = other.choice();  // a person asks for it all the same
  choice.device = "cuda";
  other.choose(choice);
  other.wait();
  CHECK(other.choice().device == "cpu");
  CHECK_THAT(other.left_device(), says("there is no driver"));
  CHECK_FALSE(other.can_undo());  // nothing has changed
  on.device.trouble.is_absent = false;
  other.choose(choice);
  other.wait();
  CHECK(other.left_device().empty());
  CHECK(other.choice().device == "cuda");
}

TEST_CASE("a device that is lost in the middle is left for the CPU at the same place") {
  for (const Form form : {Form::recurrent, Form::chunkwise}) {
    CAPTURE(name(form));
    OnDevice on("gated_deltanet", form);
    Session& session = on.session;
    session.go_to_token(7);
    session.wait();
    on.device.trouble.is_lost = true;
    on.choose([](Choice& choice) { set_slider(choice.edits, "scale_strength", 0.5); });
    CHECK(session.choice().device == "cpu");
    CHECK(slider_value(session.choice().edits, "scale_strength") == 0.5);
    CHECK(session.token() == 7);
    CHECK(session.sight().record);
    CHECK(session.sight().computation == session.computed());
    CHECK(computed(on).agree);
    CHECK_THAT(session.left_device(), says("cuda: cudaMemcpy of 4096 bytes: the device was lost"));
    CHECK(session.message().empty());
    undo(session);  // to an entry on the device, which still cannot be had
    CHECK(session.choice().device == "cpu");
    CHECK(slider_value(session.choice().edits, "scale_strength") == 1);
    CHECK(session.sight().record);
  }
}

TEST_CASE("a form that a device lacks says so; looked at, the CPU computes it") {
  OnDevice on;
  on.device.trouble.lacks_parallel = true;
  on.choose([](Choice& choice) { choice.chunk_size = 4; });
  CHECK(on.session.choice().device == "cuda");
  CHECK(computed(on).agree);
  CHECK_THAT(computed(on).form(Form::parallel).missing, says("no kernels for all tokens at once"));
  CHECK_THAT(why_not_on(on.device, computed(on), Form::parallel), says("no kernels"));
  CHECK(why_not_on(on.device, computed(on), Form::chunkwise).empty());

  on.choose([](Choice& choice) { choice.form = Form::parallel; });
  CHECK(on.session.choice().device == "cpu");
  CHECK(on.session.choice().form == Form::parallel);
  CHECK(computed(on).form(Form::parallel).missing.empty());
  CHECK_THAT(on.session.left_device(), says("cuda: there are no kernels"));
  CHECK(on.session.sight().record);

  on.choose([](Choice& choice) {  // that a rule has no such form at all is no reason to leave the device
    choice.variant = "softmax";
    choice.form = Form::two_pass;
    choice.device = "cuda";
  });
  CHECK(on.session.choice().device == "cuda");
  CHECK(on.session.left_device().empty());
}

TEST_CASE("bf16 is for the device that has it; elsewhere it is refused with the reason") {
  const std::string reason = why_not_in(cpu_backend(), Precision::bf16);
  CHECK_THAT(reason, says("bf16 is for a device with tensor cores"));
  CHECK(precisions_of(cpu_backend()) == std::vector<Precision>{Precision::f64, Precision::f32});
  CHECK_THROWS_AS(cpu_backend().engines(Precision::bf16), Unsupported);
  OtherDevice device;
  const auto data = shared(open_data(overwrite_on_device));
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    Choice choice{{.variant = variant.id, .precision = Precision::bf16}};
    const auto on_cpu = compute(data, choice);
    const Sequence& sequence = on_cpu->sequence;
    for (const Form form : all_forms) {
      CAPTURE(name(form));
      if (variant.rule->missing(form, sequence.settings)) continue;
      CHECK(on_cpu->form(form).missing == reason);
      CHECK_FALSE(on_cpu->form(form).trace);
      CHECK_THROWS_WITH(cpu_backend().run(variant, sequence, form, Precision::bf16, 8), reason);
    }
    choice.device = "cuda";
    device.trouble.has_bf16 = true;
    const auto there = compute(data, choice, {}, device.beside_cpu());
    CHECK(there->agree);
    CHECK(why_not_on(cpu_backend(), *there, Form::recurrent) == reason);
    CHECK(there->reference->expected().o == on_cpu->reference->expected().o);
    device.trouble.has_bf16 = false;
    CHECK(device.missing(variant, sequence.settings, Form::recurrent, Precision::bf16).has_value());
  }
}

TEST_CASE("in bf16 q, k and v are held as bf16, the rest as f32; in tf32, which rounds in products, all") {
  const RandomHead head("gated_deltanet", {.tokens = 9});
  const HeldInputs in_bf16 = head.held(Precision::bf16);
  const HeldInputs in_tf32 = head.held(Precision::tf32);
  for (const auto& [name, array] : *head.arrays) {
    CAPTURE(name);
    const bool is_row = name == "q" || name == "k" || name == "v";
    for (Index i = 0; i < array.size(); ++i) {
      const auto in_f32 = static_cast<double>(static_cast<float>(array[i]));
      CHECK(in_bf16.arrays->at(name)[i] == (is_row ? rounded(in_f32, Arithmetic::bf16) : in_f32));
      CHECK(in_tf32.arrays->at(name)[i] == in_f32);
    }
  }
  CHECK_THAT(why_not_in(cpu_backend(), Precision::tf32), says("tf32 is for a device with tensor cores"));
  CHECK_THROWS_AS(cpu_backend().engines(Precision::tf32), Unsupported);
}

TEST_CASE("verify asks every device for the precisions that it has, and bf16 has room of its own") {
  OtherDevice device;
  device.trouble.has_bf16 = true;
  VerifyPlan plan{.variants = {"gated_deltanet"}, .lengths = {17}, .chunk_sizes = {7}, .keeps = false};
  plan.backends = {&cpu_backend(), &device};
  const VerifyReport report = verify(plan);
  INFO(to_table(report));
  CHECK(report.passed());
  CHECK(report.missing.empty());
  const auto rows = [&](const char* backend, Precision precision) {
    return std::ranges::count_if(report.results, [&](const VerifyResult& result) {
      return result.device == backend && result.precision == precision;
    });
  };
  for (const Precision precision : scalar_precisions) CHECK(rows("cpu", precision) > 0);
  for (const Precision precision : all_precisions)
    CHECK(rows("cuda", precision) == rows("cpu", Precision::f64));
  CHECK(rows("cpu", Precision::bf16) == 0);
  plan.backends = {&cpu_backend()};
  plan.precisions = {Precision::bf16};
  const VerifyReport refused = verify(plan);
  CHECK(refused.results.empty());
  CHECK_FALSE(refused.missing.empty());
}

TEST_CASE(
    "where a device is not the processor, every rule is verified beyond the first tile of a kernel too") {
  OtherDevice device;
  const auto cases_of = [&](std::vector<const Backend*> on, VerifyPlan plan = {}) {
    plan.backends = std::move(on);
    const PlannedCases planned(plan, variants());
    std::vector<VerifyCase> cases;
    for (Index index = 0; index < planned.size; ++index) cases.push_back(planned.at(index));
    return cases;
  };
  std::set<std::pair<std::string, std::string>> keys;
  std::set<std::pair<std::string, std::string>> values;
  const std::vector<VerifyCase> cases = cases_of({&device});
  for (const VerifyCase& each : cases) {
    const std::pair choice(each.variant->id, describe_options(each.given));
    if (each.random.dk > 64) keys.insert(choice);
    if (each.random.dv > 128) values.insert(choice);
    if (each.random.dv > 64) CHECK(each.random.tokens == 257);
  }
  const std::size_t choices = PlannedCases({}, variants()).choices.size();
  CHECK(keys.size() == choices);
  CHECK(values.size() == choices);
  CHECK(cases_of({&cpu_backend(), &device}).size() == cases.size());
  for (const VerifyCase& each : cases_of({&cpu_backend()})) CHECK(each.random.dv <= 20);
  for (const VerifyCase& each : cases_of({&device}, plan_of_lengths({1000})))
    CHECK(each.random.tokens == 1000);
}

TEST_CASE("what was saved in bf16 opens without the device in f32, and says so") {
  OnDevice on;
  on.device.trouble.has_bf16 = true;
  on.choose([](Choice& choice) { choice.precision = Precision::bf16; });
  CHECK(on.session.choice().precision == Precision::bf16);
  CHECK(computed(on).agree);
  const std::string saved = on.session.to_json();
  Session other;  // the program's own devices, asked for the CPU
  std::string on_cpu = saved;
  const std::size_t at = on_cpu.find("\"cuda\"");
  REQUIRE(at != std::string::npos);
  on_cpu.replace(at, 6, "\"cpu\"");
  come_back(other, on_cpu);
  CHECK_THAT(other.left_device(), says("bf16 is for a device with tensor cores. The CPU continues in f32."));
  CHECK(other.choice().precision == Precision::f32);
  CHECK(other.computed()->agree);
}

TEST_CASE("a side of Compare is computed on its own device, or says why the CPU does") {
  OnDevice on;
  SessionState state = on.session.state();
  Side side = state.sides.front();
  side.device = "cpu";
  CHECK(otherwise(state.sides.front(), side) == "cuda");
  CHECK_FALSE(is_same_as(side, state.sides.front()));
  const auto data = on.session.computed()->data;
  const auto key = computed_side(data, choice_of(state, state.sides.front()), 1, on.device.beside_cpu());
  CHECK(find_out(key)->device == &on.device);
  on.device.trouble.is_absent = true;
  const auto left = find_out(key);
  CHECK(is_cpu(*left->device));
  CHECK_THAT(side_sentence(*left), says("cuda: there is no driver. The CPU continues."));
}

TEST_CASE("a device says which runs take a fused kernel that keeps no tensors, and no other does") {
  OtherDevice device;
  const auto words = [&](const char* variant, Form form, Precision precision, Index dk = 5,
                         Index tokens = 3) {
    const RandomHead head(variant, {.tokens = tokens, .dk = dk, .dv = 4});
    return fused_kernel(device, head.variant, head.sequence(), form, precision);
  };
  CHECK(words("gated_deltanet", Form::chunkwise, Precision::f32).empty());
  device.trouble.has_fused = true;
  CHECK(words("gated_deltanet", Form::chunkwise, Precision::f32) ==
        "A run of this form on cuda takes fused kernels on tensor cores and keeps no tensors: the steps "
        "shown are made by plain kernels from the same rows, and differ from the run by rounding.");
  CHECK(words("gated_deltanet", Form::chunkwise, Precision::bf16).empty());  // which it does not have
  device.trouble.has_bf16 = true;
  CHECK_THAT(words("gated_deltanet", Form::chunkwise, Precision::bf16), says("the same rounded rows"));
  CHECK(words("gated_deltanet", Form::chunkwise, Precision::f64).empty());
  CHECK(words("gated_deltanet", Form::recurrent, Precision::f32).empty());
  CHECK(words("gated_deltanet", Form::chunkwise, Precision::f32, 100).empty());  // too large for it
  CHECK(words("gated_deltanet", Form::chunkwise, Precision::f32, 5, 0).empty());
  CHECK(words("softmax", Form::chunkwise, Precision::f32).empty());
  CHECK(words("mamba", Form::chunkwise, Precision::f32).empty());
  const RandomHead linear("linear", {.tokens = 3, .dk = 5, .dv = 4});
  const Sequence sequence = linear.sequence();
  CHECK_FALSE(fused_kernel(device, linear.variant, sequence, Form::chunkwise, Precision::f32).empty());
  CHECK(fused_kernel(cpu_backend(), linear.variant, sequence, Form::chunkwise, Precision::f32).empty());
}

TEST_CASE("what a device cannot take at once comes part by part, and nothing is lost between them") {
  OtherDevice device;
  device.trouble.has_fused = true;
  for (const char* id : {"kda", "deltaproduct", "titans", "comba", "retnet"}) {
    INFO(id);
    const Rule& rule = *find_variant(id).rule;
    std::vector<Sequence> heads;
    for (const std::uint64_t seed : {1, 2}) {
      const RandomCase random = {.tokens = 23, .dk = 5, .dv = 4, .initial_state = true, .seed = seed};
      heads.push_back(RandomHead(id, random).sequence());
    }
    const auto run = [&](double bytes, Form form) {
      device.trouble.most_bytes = bytes;
      device.trouble.parts = 0;
      return rule.run_heads(heads, form, Precision::f64, 3, {}, device.engines(Precision::f64));
    };
    const std::vector<Output> whole = run(1e9, Form::recurrent);
    CHECK(device.trouble.parts == 1);
    const auto same = [&](const std::vector<Output>& got) {
      for (std::size_t h = 0; h < heads.size(); ++h) CHECK(compare(got[h], whole[h]).error == 0);
    };
    same(run(1, Form::recurrent));  // one token is the least there is
    CHECK(device.trouble.parts == 23);
    same(run(1, Form::chunkwise));  // and one chunk, of three
    CHECK(device.trouble.parts == 8);
    same(run(5000, Form::recurrent));
    CHECK(device.trouble.parts > 1);
    CHECK(device.trouble.parts < 23);
  }
}
