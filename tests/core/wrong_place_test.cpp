// What Verify shows of a fault: its steps, the place in the formula, the first wrong tensor; fragile forms on
// data that break them and data that do not; how many digits a sum loses.

#include <cmath>

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr Index chunk_size = 4;

std::shared_ptr<const EditedTrace> edited(const Case& each, const char* fault, Form form) {
  std::shared_ptr<const Trace> trace = each.trace(form, chunk_size);
  auto faulty = with_fault(find_fault(fault), {trace->phases, trace->symbols});
  if (!faulty) return nullptr;
  return std::make_shared<const EditedTrace>(std::move(trace), *std::move(faulty));
}

FormulaChange change_of(const char* variant, const char* fault, Form form, const char* operation) {
  const auto trace = edited(revealing(find_variant(variant), {}), fault, form);
  REQUIRE(trace);
  return formula_change(trace->right().phases.front(), trace->phases.front(), operation);
}

bool same(const Record& a, const Record& b) {
  for (const auto& [name, value] : a.tensors()) {
    if (!b.contains(name) || b.at(name).rows() != value.rows() || b.at(name) != value) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the records of an edited trace are those of its equations, in whatever order they are asked for",
          "[verify]") {
  for (const Form form : all_forms) {
    const Case each = revealing(find_variant("gated_deltanet"), {});
    const auto trace = edited(each, "strength-forgotten", form);
    REQUIRE(trace);
    std::vector<Record> expected;
    const Output output =
        interpret(trace->right(), trace->phases,
                  {.visit = [&](Index, const Record& record) { expected.push_back(record); }});
    REQUIRE(std::ssize(expected) == trace->block_count());
    const Index last = trace->block_count() - 1;
    for (const Index block :
         {last, Index{0}, last / 2, last / 2 + (last > 0 ? 1 : 0), last / 3, last, last / 2}) {
      INFO(name(form) << " block " << block);
      const Record& right = expected[static_cast<std::size_t>(block)];
      CHECK(same(*trace->shared_record(block), right));
      CHECK(same(right, *trace->shared_record(block)));
    }
    CHECK(trace->run().o == output.o);
  }
}

TEST_CASE("the wrong piece of a formula is the smallest that differs", "[verify]") {
  const FormulaChange solve = change_of("deltanet", "solve-sign", Form::chunkwise, "solve");
  REQUIRE(solve.piece);
  REQUIRE(solve.should_be);
  CHECK(is_call(*solve.piece, "negative"));
  CHECK(solve.piece->arguments()[0] == *solve.should_be);
  CHECK_FALSE(solve.is_sign);
  const FormulaChange write = change_of("gated_deltanet", "write-sign", Form::recurrent, "write");
  REQUIRE(write.piece);
  CHECK(write.is_sign);
  CHECK(write.piece->kind() == Expression::Kind::difference);
  CHECK(write.should_be->kind() == Expression::Kind::sum);
  const FormulaChange start = change_of("deltanet", "initial-state-dropped", Form::recurrent, "read");
  CHECK_THAT(start.carried, says("0"));
  CHECK_FALSE(start.should_be);
}

TEST_CASE("a changed piece stands in a box, of a sign the sign alone", "[verify]") {
  const FormulaChange solve = change_of("deltanet", "solve-sign", Form::chunkwise, "solve");
  const Symbols symbols =
      edited(revealing(find_variant("deltanet"), {}), "solve-sign", Form::chunkwise)->symbols;
  LatexStyle style{.colour = nullptr, .lit = {}, .numbers = nullptr, .boxed = changed_piece};
  CHECK_THAT(latex(solve.is, symbols, style), says(R"(\boxed{-N})"));
  const FormulaChange write = change_of("gated_deltanet", "write-sign", Form::recurrent, "write");
  style.boxes_sign = true;
  CHECK_THAT(latex(write.is, symbols, style), says(R"(\boxed{-})"));
  // Without a box it is the formula as it was.
  const auto plain = edited(revealing(find_variant("deltanet"), {}), "solve-sign", Form::chunkwise);
  const auto& operations = plain->phases.front().operations;
  const auto operation = std::ranges::find(operations, "solve", &Operation::id);
  CHECK(latex(solve.is, symbols) == latex(operation->equation, symbols));
}

TEST_CASE("every fault in every form that can have it has a place in a formula and a wrong tensor",
          "[verify]") {
  int shown = 0;
  int explained = 0;
  for (const Case& each : revealing_cases()) {
    for (const Form form : each.forms()) {
      for (const Fault& fault : faults()) {
        const auto trace = edited(each, fault.id.c_str(), form);
        if (!trace) continue;
        const auto right = each.trace(form, chunk_size);
        const Comparison comparison = compare_steps(*right, {trace->phases, trace->symbols});
        if (!comparison.departure || !comparison.message.empty()) continue;
        INFO(fault.id << " in " << each.words << " " << name(form));
        const Departure& at = *comparison.departure;
        const WrongTensor wrong = wrong_tensor(trace->right(), *trace, at);
        REQUIRE(wrong.is.size() > 0);
        CHECK(wrong.is(at.row, at.column) == at.got);
        CHECK(wrong.should_be(at.row, at.column) == at.expected);
        if (at.rows_per_token > 0) {
          // Rows of tokens before it are right.
          const std::vector<double> errors = errors_by_row(at.tensor, wrong.is, wrong.should_be);
          for (Index row = 0; row < at.row; ++row)
            CHECK(errors[static_cast<std::size_t>(row)] <= step_tolerance);
        }
        CHECK((wrong.change.piece.has_value() || !wrong.change.carried.empty()));
        const double largest = wrong.should_be.cwiseAbs().maxCoeff();
        if (wrong.why_is) {
          CHECK(std::abs(wrong.why_is->value - at.got) <= 1e-9 * std::max(largest, std::abs(at.got)));
          ++explained;
        }
        ++shown;
      }
    }
  }
  CHECK(shown > 500);
  CHECK(explained > shown / 2);
}

TEST_CASE("a fault is carried out as verify does it", "[verify]") {
  const Case each = revealing(find_variant("gated_deltanet"), {});
  const auto trace = each.trace(Form::chunkwise, chunk_size);
  ReferenceRun reference(
      *each.variant, held_inputs(*each.variant, each.arrays, each.settings, Precision::f64), Precision::f64);
  const auto judge = [&](const Output& output) {
    return reference.judge(output, Form::chunkwise, chunk_size, Tolerance{1e-10});
  };
  const auto run = run_with(find_fault("solve-sign"), *trace, judge);
  REQUIRE(run);
  CHECK(run->noticed());
  REQUIRE(run->departure);
  CHECK(run->departure->operation == "solve");
  CHECK(run->departure->token == 1);
  CHECK(run->judgement.disagreement.error == compare(run->output, reference.expected()).error);
  CHECK_FALSE(run_with(find_fault("multiplicative-mask"), *trace, judge));
}

TEST_CASE("every fragile form breaks on data made for it, and holds on others of the same words",
          "[verify]") {
  constexpr Index tokens = 80;
  for (const FragileForm& fragile : fragile_forms()) {
    const Variant& variant = find_variant(fragile.always_wrong ? "softmax" : "gated_deltanet");
    const Case each = random_case(variant, {}, {.tokens = tokens, .dk = 16, .dv = 5, .seed = 3});
    const Form form = fragile.always_wrong ? Form::parallel : Form::chunkwise;
    for (const bool breaks : {true, false}) {
      INFO(fragile.way.id << (breaks ? " breaks" : " holds"));
      const FragileData data = fragile_data(fragile, variant, *each.arrays, 64, breaks);
      const Case changed = bound(variant, each.settings, data.arrays);
      const auto run = run_fragile(fragile, variant, changed.sequence, form, 64);
      REQUIRE(run);
      REQUIRE(run->change);
      CHECK(std::ssize(run->errors) == tokens);
      // The right form is right on the same numbers.
      CHECK(run->right_worst.error <= 1e-10);
      if (breaks || fragile.always_wrong)
        CHECK(run->worst.error > 1e-3);
      else
        CHECK(run->worst.error <= 1e-10);
      if (breaks && !fragile.always_wrong) CHECK_FALSE(data.words.empty());
      if (breaks && std::isinf(run->worst.error)) CHECK_FALSE(run->broken.empty());
    }
  }
}

TEST_CASE("a sum over more tokens at once multiplies rounding by no less, and the sentence has the figures",
          "[verify]") {
  const Case each = random_case(find_variant("deltanet"), {}, {.tokens = 65, .dk = 6, .dv = 5, .seed = 2});
  ReferenceRun reference(
      *each.variant, held_inputs(*each.variant, each.arrays, each.settings, Precision::f64), Precision::f64);
  const auto lost = digits_lost(reference, {Form::recurrent, Form::chunkwise, Form::parallel}, 16);
  REQUIRE(lost.size() == 3);
  CHECK(lost[0].at_once == 1);
  CHECK(lost[1].at_once == 16);
  CHECK(lost[2].at_once == 65);
  for (const DigitsLost& form : lost) {
    CHECK(form.factor >= 1);
    CHECK(form.factor == std::max(1.0, reference.amplification(form.form, 16).of("o")));
  }
  CHECK_THAT(in_words(lost), says("65"));
  CHECK(in_words(std::vector<DigitsLost>{}).empty());
}

// Each fragile form equals the right one on gentle numbers and fails where its text says so.

namespace {

constexpr double rounding_of_faults = 1e-10;  // f64, after at most 65 tokens

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
        CHECK(compare(interpret(*trace), expected).error <= each.allowed(rounding_of_faults));
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
  REQUIRE(compare(interpret(*trace), expected).error <= rounding_of_faults);
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
      if (!fragile.always_wrong) CHECK(all.worst <= rounding_of_faults);
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
    CHECK(error_of("divided-decays", with_gates(variant, {}, 40, strong)) <= rounding_of_faults);
  }
}

TEST_CASE("an exponential before the mask fails once a pair that is masked overflows") {
  const auto strong = [](Index) { return 1e-5; };
  for (const char* id : {"gla", "gated_deltanet", "kda"}) {
    INFO(id);
    CHECK(std::isinf(error_of("late-mask", with_gates(find_variant(id), {}, 80, strong))));
    CHECK(error_of("late-mask", with_gates(find_variant(id), {}, 40, strong)) <= rounding_of_faults);
    // Differences of the pairs that are seen are negative however strong the gates are.
    CHECK(error_of("log-differences", with_gates(find_variant(id), {}, 80, strong)) <= rounding_of_faults);
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
    CHECK(strong <= rounding_of_faults);
  }
}

TEST_CASE("the inverse by doubling loses every digit where keys resemble each other") {
  CHECK(error_of("doubled-inverse", resembling_keys(1e3)) <= rounding_of_faults);
  CHECK(error_of("doubled-inverse", resembling_keys(0.3)) > 0.1);
}

TEST_CASE("a fragile form that there is not is named, with those that there are") {
  CHECK_THROWS_WITH(find_fragile_form("none"), says("divided-decays"));
}
