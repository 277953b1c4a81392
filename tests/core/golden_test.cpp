// The results of an independent implementation (tests/data/golden) in every form.

#include <fmt/format.h>
#include <atomic>

#include "core/rules/row_rule.h"
#include "tests/capture_file.h"
#include "tests/core/golden.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// `output` with those states only that `expected` has.
Output as_far_as(const Output& expected, Output output) {
  std::erase_if(output.states, [&](const auto& state) {
    return !is_among(state.first, expected.states, &NamedStates::value_type::first);
  });
  return output;
}

}  // namespace

TEST_CASE("every form gives the golden results") {
  const nlohmann::json manifest = golden_manifest();
  // Newton and Schulz multiply rounding by up to 485: the manifest allows more where Muon is used.
  const auto tolerance = [&](const Case& each, Precision precision) -> double {
    const std::string name = precision == Precision::f64 ? "float64" : "float32";
    return manifest["tolerance"][each.allowed(1) > 1 ? "lact_muon_" + name : name];
  };
  int cases = 0;
  for (const nlohmann::json& entry : manifest["cases"]) {
    const Golden golden = read_golden(entry);
    ++cases;
    const std::vector<Form> existing = golden.given.forms();
    for (const nlohmann::json& form_name : entry["forms"]) {
      INFO(golden.given.words << " " << form_name);
      CHECK(is_among(form_name.get<std::string>(), existing, [](Form f) { return name(f); }));
    }
    for (const Form form : existing) {  // two passes too, which the manifest does not name
      for (const Index chunk_size : {1, 4, 7, 64}) {
        for (const Precision precision : scalar_precisions) {
          const Output got = as_far_as(golden.expected, golden.given.run(form, precision, chunk_size));
          const Disagreement worst = compare(got, golden.expected);
          INFO(fmt::format("{} {} {} chunk {}: {}", golden.given.words, name(form), name(precision),
                           chunk_size, words(worst)));
          CHECK(worst.error <= tolerance(golden.given, precision));
        }
      }
    }
  }
  CHECK(cases == 172);
}

// What the layers of trained models really gave out is what our recurrence gives on what went in.

namespace {

Settings with_scale(const Capture& capture) {
  Settings settings;
  if (capture.scale) settings.parameters["scale"] = *capture.scale;
  return settings;
}

/// max|ours - o| / max|o| over all heads of the capture, run as `variant`.
double reproduction_error(const Capture& capture, const Variant& variant, const Arrays& arrays) {
  const Array& o = capture.arrays.at("o");
  const SequenceBatch batch =
      palimpsest::bind(variant, std::make_shared<const Arrays>(arrays), with_scale(capture));
  const auto [tokens, dv] = std::pair(batch.heads.front().tokens, batch.heads.front().dv);
  REQUIRE(o.shape == std::vector<Index>{tokens, batch.head_count, dv});
  double furthest = 0;
  double largest = 0;
  for (Index head = 0; head < batch.head_count; ++head) {
    const Matrix<double> ours =
        variant.rule->run(entry(batch.heads, head), Form::recurrent, Precision::f64, 1).o;
    const Matrix<double> theirs = MatrixView(o, head * dv, tokens, dv, batch.head_count * dv).all<double>();
    furthest = std::max(furthest, (ours - theirs).cwiseAbs().maxCoeff());
    largest = std::max(largest, theirs.cwiseAbs().maxCoeff());
  }
  return furthest / largest;
}

/// The arrays with gamma = exp(g) of the first token in the place of a g that is constant in time.
Arrays with_gamma(const Arrays& arrays) {
  Arrays changed = arrays;
  const Array& g = arrays.at("g");
  std::vector<double> gamma;
  for (Index head = 0; head < g.shape[1]; ++head) gamma.push_back(std::exp(g[head]));
  changed["gamma"] = Array({g.shape[1]}, gamma);
  return changed;
}

}  // namespace

TEST_CASE("the f64 recurrence reproduces the output of every capture within its stated error") {
  int captures = 0;
  for (const CaptureSummary& summary : list_captures(assets_folder() + "/captures")) {
    INFO(summary.file.filename().string());
    const Capture capture = read_capture(summary.file);
    REQUIRE(capture.reproduction_error);
    ++captures;
    const bool is_retnet = capture.rule == "retnet";
    const Arrays arrays = is_retnet ? with_gamma(capture.arrays) : capture.arrays;
    // The error is stated with one or two digits.
    const double allowed = 1.1 * *capture.reproduction_error;
    CHECK(reproduction_error(capture, find_variant(capture.rule), arrays) <= allowed);
    if (is_retnet)
      CHECK(reproduction_error(capture, find_variant("scalar_decay"), capture.arrays) <= allowed);
  }
  CHECK(captures >= 14);
}

namespace {

/// Every form of a case against its direct recurrence; the chunkwise form in several chunk sizes.
void check_forms(const Case& each, Precision precision, double tolerance) {
  const Output expected = direct(each.variant->id, *each.arrays, each.sequence.settings);
  for (const Form form : each.forms()) {
    const Index whole = std::max<Index>(each.sequence.tokens, 1);
    for (const Index chunk_size :
         has_chunks(form) ? std::vector<Index>{1, 7, 16, whole} : std::vector<Index>{1}) {
      const Disagreement worst = compare(each.run(form, precision, chunk_size), expected);
      INFO(fmt::format("{} {} {} chunk {}: {}", each.words, name(form), name(precision), chunk_size,
                       words(worst)));
      CHECK(worst.error <= each.allowed(tolerance));
    }
  }
}

}  // namespace

TEST_CASE("every form gives what its definition gives") {
  for (const Index tokens : {0, 1, 2, 16, 17, 33, 65})
    for (const Case& each : all_cases({.tokens = tokens, .dk = 5, .dv = 3, .seed = 7}))
      check_forms(each, Precision::f64, 1e-12);
  for (const Case& each : all_cases({.tokens = 40, .dk = 1, .dv = 4, .seed = 8}))
    check_forms(each, Precision::f64, 1e-12);
  for (const Case& each : all_cases({.tokens = 40, .dk = 4, .dv = 1, .seed = 9}))
    check_forms(each, Precision::f64, 1e-12);
}

TEST_CASE("f32 gives what the definition gives on the numbers as f32 holds them") {
  for (const Case& each : all_cases({.tokens = 65, .dk = 12, .dv = 7, .seed = 3})) {
    Settings settings = each.settings;
    for (auto& [name, value] : settings.parameters) value = static_cast<double>(static_cast<float>(value));
    check_forms(bound(*each.variant, settings, rounded_to_f32(*each.arrays), each.words), Precision::f32,
                2e-5);
  }
}

TEST_CASE("gates of exactly 0 and 1 and down to the smallest numbers are followed") {
  const auto harsh = [](double, std::size_t i) {
    constexpr double values[] = {0, 1, 1e-30, 0.5, 1 - 1e-12, 1e-300, 0, 0.9};
    return values[i * 5 % 8];
  };
  for (const Case& each : all_cases({.tokens = 40, .dk = 5, .dv = 3, .seed = 4})) {
    if (each.arrays->contains("alpha")) check_forms(changed(each, "alpha", harsh), Precision::f64, 1e-12);
    if (each.arrays->contains("g")) {
      const auto log = [&](double value, std::size_t i) { return std::log(harsh(value, i)); };
      check_forms(changed(each, "g", log), Precision::f64, 1e-12);
    }
  }
}

TEST_CASE("a gate of exactly 0 forgets exactly") {
  for (const Case& each : all_cases({.tokens = 20, .dk = 5, .dv = 3, .seed = 5})) {
    const bool log_gates = each.arrays->contains("g");
    if (!log_gates && !each.arrays->contains("alpha")) continue;
    const RowRule* rows = each.variant->rule->row_program();
    const Structure structure = rows ? rows->structure(each.sequence) : Structure{};
    // It writes back what it has read before everything was forgotten.
    if (structure.erase == Erase::undecayed) continue;
    // The first token that writes nothing still reads the write before it.
    const Index silenced = structure.read_at == ReadAt::before_row ? 9 : 10;
    const double nothing = log_gates ? -infinity : 0.0;
    const Case forgetful =
        changed(each, log_gates ? "g" : "alpha", [&](double, std::size_t) { return nothing; });
    const Case silent = changed(forgetful, "v", [](double v, std::size_t i) { return i / 3 < 10 ? v : 0.0; });
    for (const Form form : each.forms()) {
      for (const Precision precision : scalar_precisions) {
        INFO(each.words << " " << name(form) << " " << name(precision));
        CHECK(silent.run(form, precision, 7).o.bottomRows(silenced).cwiseAbs().maxCoeff() == 0);
      }
    }
  }
}

TEST_CASE("strong writes over and over the same keys are followed") {
  for (const Case& each : all_cases({.tokens = 64, .dk = 4, .dv = 3, .seed = 6})) {
    if (!each.arrays->contains("beta")) continue;
    const Case strong = changed(each, "beta", [](double, std::size_t i) { return i % 3 == 0 ? 0.0 : 1.999; });
    const auto same_key = [&](double, std::size_t i) {
      return each.arrays->at("k")[static_cast<Index>(i % 4)];
    };
    check_forms(changed(strong, "k", same_key), Precision::f64, 1e-11);
  }
}

TEST_CASE("Longhorn takes strengths of any size, and a key that says nothing") {
  const Case each = random_case("longhorn", {.tokens = 24, .dk = 4, .dv = 3, .seed = 10});
  const auto any_size = [](double, std::size_t i) {
    constexpr double values[] = {0, 1e-300, 1e-9, 1, 1e9, 1e300};
    return values[i % 6];
  };
  const Case strong = changed(each, "beta", any_size);
  check_forms(strong, Precision::f64, 1e-12);
  check_forms(changed(strong, "k", [](double k, std::size_t i) { return i < 48 ? k : 0; }), Precision::f64,
              1e-12);
  // An infinite strength is the pseudo-inverse of one key: delta = 1 / |k|^2.
  Arrays one = {{"q", Array({1, 1}, std::vector<double>{1})},
                {"k", Array({1, 1}, std::vector<double>{2})},
                {"v", Array({1, 1}, std::vector<double>{3})},
                {"beta", Array({1}, std::vector<double>{1e308})}};
  CHECK(bound(*each.variant, {}, std::move(one)).run(Form::recurrent).o(0, 0) == 1.5);
}

TEST_CASE("the Forgetting Transformer weighs by its gates, and without any it is softmax attention") {
  // Two equal scores: the earlier key counts f_2 against 1.
  const auto column = [](std::vector<double> values) { return Array({2, 1}, std::move(values)); };
  Arrays two = {{"q", column({0, 0})},
                {"k", column({1, 1})},
                {"v", column({4, 1})},
                {"alpha", Array({2}, std::vector<double>{0.125, 0.5})}};
  for (const Form form : {Form::recurrent, Form::chunkwise, Form::parallel}) {
    INFO(name(form));
    const Matrix<double> o = bound(find_variant("fox"), {}, two).run(form, Precision::f64, 1).o;
    CHECK(o(0, 0) == 4);
    CHECK(o(1, 0) == Approx((0.5 * 4 + 1) / 1.5).epsilon(1e-15));
  }
  for (const bool earlier : {false, true}) {
    const Case fox = random_case("fox", {.tokens = 33, .initial_state = earlier, .keeps = true, .seed = 11});
    Arrays arrays = *fox.arrays;
    arrays.erase("alpha");
    arrays.erase("initial_g_cache");
    const Case softmax = bound(find_variant("softmax"), {}, std::move(arrays));
    for (const Form form : softmax.forms())
      for (const Precision precision : scalar_precisions)
        CHECK(fox.run(form, precision, 7).o == softmax.run(form, precision, 7).o);
  }
}

TEST_CASE("large scores of softmax stay finite and right") {
  const Variant& variant = find_variant("softmax");
  const Case each =
      random_case(variant, {.parameters = {{"scale", 3000}}}, {.tokens = 33, .initial_state = true});
  check_forms(each, Precision::f64, 1e-12);
}

TEST_CASE("what the definitions check would notice a fault") {
  const Case each = random_case("kda", {.tokens = 17});
  const Output right = direct("kda", *each.arrays, each.sequence.settings);
  for (const char* array : {"q", "k", "v", "alpha", "beta"}) {
    const auto middle = static_cast<std::size_t>(each.arrays->at(array).size() / 2);
    const Case off =
        changed(each, array, [&](double value, std::size_t i) { return i == middle ? value * 0.99 : value; });
    INFO(array);
    CHECK(compare(off.run(Form::chunkwise, Precision::f64, 7), right).error > 1e-6);
  }
}

// Rules that can give all heads to a device at once, on engines that cannot.

TEST_CASE("where engines run no whole heads a rule runs each by itself") {
  for (const Case& each : all_cases({.tokens = 7, .dk = 6, .dv = 6, .seed = 8})) {
    const std::vector<Sequence> heads = {each.sequence, each.sequence};
    const Rule& rule = *each.variant->rule;
    for (const Form form : each.forms()) {
      INFO(each.words << ' ' << name(form));
      const auto got = rule.run_heads(heads, form, Precision::f64, 3, {}, cpu_engines());
      const Output alone = each.run(form, Precision::f64, 3);
      REQUIRE(got.size() == 2);
      for (const Output& head : got) CHECK(compare(head, alone).error == 0);
    }
    CHECK(rule.run_heads({}, Form::recurrent, Precision::f64, 3, {}, cpu_engines()).empty());
    CHECK_THROWS_AS(rule.run_heads(heads, Form::recurrent, Precision::f64, 0, {}, cpu_engines()), InputError);
  }
}

TEST_CASE("the processor tells of every head that is done") {
  const Case each = random_case("linear", {.tokens = 3});
  const std::vector<Sequence> heads(5, each.sequence);
  std::atomic<int> done = 0;
  cpu_backend().run_heads(*each.variant, heads, Form::recurrent, Precision::f64, 1, {}, [&] { ++done; });
  CHECK(done == 5);
}

TEST_CASE("whole heads stop when asked to") {
  for (const char* id : {"softmax", "mamba", "rls", "deltanet"}) {
    const Case each = random_case(id, {.tokens = 3});
    INFO(id);
    CHECK_THROWS_AS(each.variant->rule->run_heads({&each.sequence, 1}, Form::chunkwise, Precision::f64, 2,
                                                  stopped(), cpu_engines()),
                    Cancelled);
  }
}

// The other schedule of the chunkwise form: first the states of all chunks, then all outputs.

namespace {

bool makes(const Phase& phase, std::string_view tensor) {
  return is_among(tensor, phase.operations, [](const Operation& made) { return made.equation.result; });
}

}  // namespace

TEST_CASE("two passes do the same sums as one: not a bit differs") {
  int row_programs = 0;
  for (const Case& each : all_cases({.tokens = 41, .dk = 5, .dv = 3, .seed = 7})) {
    if (!each.variant->rule->row_program()) continue;
    ++row_programs;
    for (const Precision precision : scalar_precisions) {
      for (const Index chunk_size : {1, 7, 40, 64}) {
        INFO(each.words << " " << name(precision) << " chunk " << chunk_size);
        const Output one = each.run(Form::chunkwise, precision, chunk_size);
        const Output two = each.run(Form::two_pass, precision, chunk_size);
        CHECK(two.o == one.o);
        CHECK(two.states == one.states);
      }
    }
  }
  CHECK(row_programs > 50);
}

TEST_CASE("the first pass makes every state and no output, the second no state") {
  for (const Case& each : all_cases({.tokens = 17, .dk = 3, .dv = 5, .seed = 8})) {
    if (!each.variant->rule->row_program()) continue;
    INFO(each.words);
    const auto trace = each.trace(Form::two_pass, 4);
    REQUIRE(trace->phases.size() == 2);
    CHECK(makes(trace->phases[0], "S_out"));
    CHECK_FALSE(makes(trace->phases[0], "O"));
    CHECK(makes(trace->phases[1], "O"));
    CHECK_FALSE(makes(trace->phases[1], "S_out"));
    REQUIRE(trace->block_count() == 10);
    if (!each.variant->rule->is_causal(each.sequence)) continue;
    for (Index chunk = 0; chunk < 5; ++chunk) {
      CHECK(trace->block(chunk).first_token == trace->block(5 + chunk).first_token);
      const Matrix<double> S_in = trace->record(chunk).at("S_in");
      CHECK(trace->record(5 + chunk).at("S_in") == S_in);
    }
  }
}

TEST_CASE("a second pass that fetches the state after the chunk is found") {
  const Case each = random_case("gated_deltanet", {.tokens = 17, .dk = 3, .dv = 5});
  const auto trace = each.trace(Form::two_pass, 4);
  const Output right = each.run(Form::recurrent);
  CHECK(compare(interpret(*trace), right).error <= 1e-10);
  std::vector<Phase> phases = trace->phases;
  Carry& handed = phases[1].carries.front();
  REQUIRE(handed.from == "S_in");
  handed.from = "S_out";
  CHECK(compare(interpret(*trace, phases), right).error > 1e-2);
}

TEST_CASE("a rule without a pass for the state alone says so") {
  for (const Case& each : all_cases({.tokens = 5, .dk = 2, .dv = 2, .seed = 9})) {
    INFO(each.words);
    const auto missing = each.variant->rule->missing(Form::two_pass, each.sequence.settings);
    CHECK(missing.has_value() != (each.variant->rule->row_program() != nullptr));
    if (missing) CHECK_THROWS_WITH(each.run(Form::two_pass), says(*missing));
    if (missing) CHECK_THROWS_AS(each.trace(Form::two_pass, 4), Unsupported);
  }
}

TEST_CASE("two passes that would keep too many states are refused before they begin") {
  // 65,536 states of 64 x 64 numbers: 2.1 GB as f64 fit, and twice as wide and long do not.
  const Case each = random_case("linear", {.tokens = 4, .dk = 64, .dv = 64});
  Sequence longer = each.sequence;
  const auto footprint = [&](Index tokens, Index chunk_size) {
    longer.tokens = tokens;
    return each.variant->rule->footprint(longer, Form::two_pass, Precision::f64, chunk_size);
  };
  CHECK(footprint(1 << 16, 1).work > 8.0 * 64 * 64 * (1 << 16));
  CHECK(footprint(1 << 16, 64).work < 0.1 * footprint(1 << 16, 1).work);
  CHECK(footprint(1 << 16, 1).what == "the states of all chunks");
  const Footprint too_much = footprint(1 << 18, 1);
  CHECK_THROWS_WITH(require_footprint(too_much, longer, Form::two_pass, 1),
                    says("for the states of all chunks") && says("The chunkwise form gives the same result"));
}

// Numbers that outgrow their type spoil what comes after them, and nothing before.

TEST_CASE("a token whose numbers overflow leaves the earlier ones of its chunk as they are") {
  for (const char* id : growing_rules) {
    const Case each = growing(id, 6);
    const Index expected = first_bad(each.run(Form::recurrent, Precision::f32).o);
    INFO(id << " from token " << expected);
    REQUIRE(expected > 5);
    REQUIRE(expected < 195);  // it does overflow, inside a chunk
    for (const Form form : {Form::chunkwise, Form::two_pass, Form::parallel}) {
      for (const Index chunk_size : {64, 200}) {
        const Index bad = first_bad(each.run(form, Precision::f32, chunk_size).o);
        INFO(name(form) << " chunk " << chunk_size << " from token " << bad);
        // Sums in another order may overflow a token earlier or later.
        CHECK(std::abs(bad - expected) <= 2);
      }
    }
  }
}
