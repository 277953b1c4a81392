// What Verify shows of a fault: its steps, the place in the formula, the first wrong tensor; fragile forms on
// data that break them and data that do not; how many digits a sum loses; what is lost in coarser numbers.

#include <cmath>

#include "core/proof/precision_lens.h"
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
      const Record& right = entry(expected, block);
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
  const auto trace = edited(revealing(find_variant("deltanet"), {}), "solve-sign", Form::chunkwise);
  LatexStyle style{.colour = nullptr, .lit = {}, .numbers = nullptr, .boxed = changed_piece};
  CHECK_THAT(latex(solve.is, trace->symbols, style), says(R"(\boxed{-N})"));
  const FormulaChange write = change_of("gated_deltanet", "write-sign", Form::recurrent, "write");
  style.boxes_sign = true;
  CHECK_THAT(latex(write.is, trace->symbols, style), says(R"(\boxed{-})"));
  // Without a box it is the formula as it was.
  const auto& operations = trace->phases.front().operations;
  const auto operation = std::ranges::find(operations, "solve", &Operation::id);
  CHECK(latex(solve.is, trace->symbols) == latex(operation->equation, trace->symbols));
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
          for (Index row = 0; row < at.row; ++row) CHECK(entry(errors, row) <= step_tolerance);
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
  ReferenceRun reference(*each.variant, {each.arrays, each.sequence}, Precision::f64);
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
  const Case each = random_case("deltanet", {.tokens = 65, .dk = 6, .dv = 5, .seed = 2});
  ReferenceRun reference(*each.variant, {each.arrays, each.sequence}, Precision::f64);
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

/// A random case with these gates for all tokens and channels, but for one of them.
Case with_gates(const Variant& variant, const Settings& given, Index tokens, double gate,
                std::optional<double> one = {}) {
  Case each = random_case(variant, given, {.tokens = tokens, .dk = 6, .dv = 5, .seed = 3});
  for (const Input& input : variant.inputs) {
    if (input.range != Range::decay || !each.arrays->contains(input.name)) continue;
    each =
        changed(each, input.name, [&](double, std::size_t i) { return i == 60 ? one.value_or(gate) : gate; });
  }
  return each;
}

struct Tried {
  int forms = 0;     // that the edit changes
  double worst = 0;  // the largest error of them from the form as it is
};

/// Every form of every variant that the edit changes, each with gentle gates in one chunk of all tokens.
Tried tried(const FragileForm& fragile, Index tokens) {
  Tried all;
  for (const Variant& variant : variants()) {
    for (const Settings& given : option_choices(variant)) {
      const Case each = with_gates(variant, given, tokens, 0.97);
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

/// Unit keys around one direction, beta 1.
Case resembling_keys(double noise) {
  return changed(random_case("deltanet", {.tokens = 64, .dk = 16, .dv = 5, .seed = 9}), [&](Arrays& arrays) {
    Eigen::Map<Matrix<double>> k(numbers(arrays, "k").data(), 64, 16);
    k = Matrix<double>((0.25 + noise * k.array()).matrix()).rowwise().normalized();
    arrays["beta"] = filled({64}, 1);
  });
}

}  // namespace

TEST_CASE("fragile forms equal the right ones on gentle numbers, but for what is always wrong") {
  for (const FragileForm& fragile : fragile_forms()) {
    for (const Index tokens : {2, 17}) {
      const Tried all = tried(fragile, tokens);
      INFO(fragile.way.id << ", T " << tokens);
      CHECK(all.forms > 0);
      if (!fragile.always_wrong) CHECK(all.worst <= rounding_of_faults);
      CHECK_FALSE(fragile.fails_when.empty());
    }
  }
}

TEST_CASE(
    "decays that are divided, masked late or subtracted as logarithms fail on gates made for it alone") {
  struct Gates {
    const char* form;
    Index tokens;
    double gate;
    std::optional<double> one = {};  // of a channel or a token, once
    bool fails = false;
  };
  for (const Gates& each : {
           // Its inverse overflows in a block: 80 · 11.5 > 709.
           Gates{.form = "divided-decays", .tokens = 80, .gate = 1e-5, .fails = true},
           {.form = "divided-decays", .tokens = 40, .gate = 1e-5},
           // The exponential of a pair that is masked overflows.
           {.form = "late-mask", .tokens = 80, .gate = 1e-5, .fails = true},
           {.form = "late-mask", .tokens = 40, .gate = 1e-5},
           // Differences of the pairs that are seen are negative however strong the gates are, unless one is
           // 0.
           {.form = "log-differences", .tokens = 80, .gate = 1e-5},
           {.form = "log-differences", .tokens = 65, .gate = 0.9, .one = 0, .fails = true},
           {.form = "log-differences", .tokens = 65, .gate = 0.9, .one = 1e-300},
       }) {
    for (const char* id : {"gla", "gated_deltanet", "kda"}) {
      CAPTURE(each.form, each.tokens, each.fails, id);
      const Variant& variant = find_variant(id);
      const double error = error_of(each.form, with_gates(variant, {}, each.tokens, each.gate, each.one));
      CHECK((each.fails ? std::isinf(error) : error <= rounding_of_faults));
    }
  }
}

TEST_CASE("the inverse by doubling loses every digit where keys resemble each other") {
  CHECK(error_of("doubled-inverse", resembling_keys(1e3)) <= rounding_of_faults);
  CHECK(error_of("doubled-inverse", resembling_keys(0.3)) > 0.1);
}

TEST_CASE("a fragile form that there is not is named, with those that there are") {
  CHECK_THROWS_WITH(find_fragile_form("none"), says("divided-decays"));
}

// The lens on a precision.

namespace {

const LostNumber* first_lost(const Seen& seen, LostNumber::As as) {
  const auto found = std::ranges::find(seen.lost, as, &LostNumber::as);
  return found == seen.lost.end() ? nullptr : &*found;
}

Seen look(const Case& each, const Lens& lens) {
  return palimpsest::look(*each.variant, each.arrays, each.settings, lens);
}

/// A random case in which the gate of one token is `gate`.
Case with_gate(const char* id, Index token, double gate) {
  const Case random = random_case(id, {.tokens = 9, .dk = 4, .dv = 3, .seed = 2});
  return changed(random, "alpha",
                 [&](double, std::size_t i) { return static_cast<Index>(i) == token ? gate : 0.9; });
}

}  // namespace

TEST_CASE("lens: f64 shows every form as the engines compute it, and loses nothing") {
  for (const Index tokens : {1, 2, 17, 65}) {
    for (const Case& each : all_cases({.tokens = tokens, .dk = 4, .dv = 3, .seed = 7})) {
      if (each.sequence.parameter("scale") == 1 && tokens == 65) continue;  // half of them: time
      for (const Form form : each.forms()) {
        const Seen seen = look(each, {.form = form, .chunk_size = 4});
        INFO(each.words << " " << name(form));
        CHECK(seen.message.empty());
        CHECK(seen.errors.size() == static_cast<std::size_t>(tokens));
        CHECK(seen.worst.error <= each.allowed(1e-10));  // rounding in f64 alone
        // Nothing but what cancels to exactly 0 in one of the two orders of computing it.
        for (const LostNumber& lost : seen.lost) {
          INFO(lost.tensor);
          CHECK(is_zero(lost.as));
          CHECK(lost.as != LostNumber::As::underflow);
          CHECK(std::abs(lost.expected) < 1e-10);
        }
      }
    }
  }
}

TEST_CASE("lens: coarser numbers show coarser results") {
  const Case each = random_case("gated_deltanet", {.tokens = 65, .dk = 6, .dv = 5, .seed = 4});
  for (const Form form : all_forms) {
    for (const Arithmetic arithmetic : all_arithmetics) {
      INFO(name(form) << " in " << name(arithmetic));
      const Seen seen = look(each, {.form = form, .arithmetic = arithmetic, .chunk_size = 16});
      const int precision = format_of(arithmetic).precision;
      CHECK(seen.worst.error <= 64 * std::ldexp(1.0, -precision));  // some roundings on the way, no more
      if (arithmetic != Arithmetic::f64) CHECK(seen.worst.error >= std::ldexp(1.0, -precision) / 64);
      CHECK(*std::ranges::max_element(seen.errors) <= seen.worst.error);
    }
  }
}

TEST_CASE("lens: a gate that vanishes is marked with its token and where it came in") {
  const Case each = with_gate("gated_deltanet", 5, 1e-9);
  for (const Form form : all_forms) {
    const Seen seen = look(each, {.form = form, .arithmetic = Arithmetic::f16, .chunk_size = 4});
    INFO(name(form));
    const auto gate = std::ranges::find(seen.lost, "alpha", &LostNumber::tensor);
    REQUIRE(gate != seen.lost.end());
    CHECK(gate->as == LostNumber::As::underflow);
    CHECK(gate->is_gate);
    CHECK(gate->operation.empty());
    CHECK(gate->token == 5);
    CHECK(gate->expected == Approx(1e-9));
    CHECK(gate->count == (form == Form::two_pass ? 2 : 1));  // each pass reads it
    // bf16 and tf32 have the exponents of f32 and keep it.
    for (const Arithmetic arithmetic : {Arithmetic::bf16, Arithmetic::tf32}) {
      const Seen wide = look(each, {.form = form, .arithmetic = arithmetic, .chunk_size = 4});
      CHECK(std::ranges::find(wide.lost, "alpha", &LostNumber::tensor) == wide.lost.end());
    }
  }
}

TEST_CASE("lens: what cancels does not underflow, and what is made of it was lost before") {
  // The same key twice with beta 1: the error of token 1 is what its value is more than that of token 0,
  // which none of these formats holds beside the 1.
  const Case random = random_case("deltanet", {.tokens = 2, .dk = 2, .dv = 1, .seed = 2});
  // The second difference is too small for f16 itself, which is not why it is lost.
  for (const double difference : {0x1p-20, 0x1p-40}) {
    const Case each = with(random, {{"k", Array({2, 2}, std::vector<double>{1, 0, 1, 0})},
                                    {"v", Array({2, 1}, std::vector<double>{1, 1 + difference})},
                                    {"beta", filled({2}, 1)}});
    for (const Arithmetic arithmetic : {Arithmetic::tf32, Arithmetic::bf16, Arithmetic::f16}) {
      const Seen seen = look(each, {.form = Form::recurrent, .arithmetic = arithmetic});
      INFO(name(arithmetic) << " " << difference);
      const auto error = std::ranges::find(seen.lost, "error", &LostNumber::tensor);
      REQUIRE(error != seen.lost.end());
      CHECK(error->as == LostNumber::As::cancelled);
      CHECK(error->token == 1);
      CHECK(error->expected == difference);
      CHECK(first_lost(seen, LostNumber::As::made_of_lost));  // what would be written
      CHECK_FALSE(first_lost(seen, LostNumber::As::underflow));
    }
  }
}

TEST_CASE("lens: a product of numbers that a format holds underflows where it is smaller than all of them") {
  const Case random = random_case("linear", {.tokens = 2, .dk = 1, .dv = 1, .seed = 2});
  const Case each = with(random, {{"k", filled({2, 1}, 0x1p-14)}, {"v", filled({2, 1}, 0x1p-14)}});
  const Seen seen = look(each, {.form = Form::recurrent, .arithmetic = Arithmetic::f16});
  const LostNumber* lost = first_lost(seen, LostNumber::As::underflow);
  REQUIRE(lost);
  CHECK(lost->token == 0);
  CHECK(lost->expected == 0x1p-28);  // f16 goes down to 2^-24
  CHECK_FALSE(first_lost(seen, LostNumber::As::cancelled));
  CHECK(look(each, {.form = Form::recurrent, .arithmetic = Arithmetic::bf16}).lost.empty());
}

TEST_CASE("lens: a memory that overflows f16 is marked with the token and the step that made it infinite") {
  const Case random = random_case("linear", {.tokens = 9, .dk = 4, .dv = 3, .seed = 2});
  // Every token writes 30000 into the same cell: the third sum passes 65504.
  const Case one_key = changed(random, "k", [](double, std::size_t i) { return i % 4 == 0 ? 1 : 0; });
  const Case each = changed(one_key, "v", [](double, std::size_t i) { return i % 3 == 0 ? 30000 : 0; });
  const Seen seen = look(each, {.form = Form::recurrent, .arithmetic = Arithmetic::f16});
  const LostNumber* lost = first_lost(seen, LostNumber::As::infinite);
  REQUIRE(lost);
  CHECK(lost->tensor == "S_after");
  CHECK(lost->operation == "write");
  CHECK(lost->token == 2);
  CHECK(lost->row == 0);
  CHECK(lost->column == 0);
  CHECK(lost->expected == 90000);
  CHECK(std::isinf(seen.worst.error));
  CHECK(std::isinf(seen.errors[2]));
  CHECK(std::isfinite(seen.errors[1]));
  CHECK_FALSE(first_lost(look(each, {.arithmetic = Arithmetic::bf16}), LostNumber::As::infinite));
}

TEST_CASE("lens: tf32 has the digits of f16 and the range of f32") {
  const Case random = random_case("deltanet", {.tokens = 17, .dk = 4, .dv = 3, .seed = 6});
  const auto line = [&](double factor, Arithmetic arithmetic) {
    return look(scaled(random, "v", factor),
                {.form = Form::chunkwise, .arithmetic = arithmetic, .chunk_size = 8});
  };
  CHECK(line(1, Arithmetic::tf32).errors == line(1, Arithmetic::f16).errors);
  CHECK(line(0x1p100, Arithmetic::tf32).errors == line(1, Arithmetic::tf32).errors);  // a power of two
  CHECK_THROWS_WITH(line(0x1p100, Arithmetic::f16), says("\"v\": index [0, 0] is inf"));
  // Below 2^-126 the last place gets no finer: at 2^-140 there are none left, f32 has nine bits.
  CHECK(line(0x1p-140, Arithmetic::tf32).worst.error == 1);
  CHECK(line(0x1p-140, Arithmetic::f32).worst.error < 0.1);
}

TEST_CASE("lens: what does not exist is refused, and an empty sequence shows nothing") {
  const Case mlp = random_case("ttt_mlp", {.tokens = 2});
  CHECK_THROWS_AS(look(mlp, {.form = Form::parallel}), Unsupported);
  CHECK_THROWS_AS(palimpsest::look(*mlp.variant, mlp.arrays, mlp.settings, {}, 1), InputError);
  const Case empty = random_case("kda", {.tokens = 0});
  const Seen seen = look(empty, {.arithmetic = Arithmetic::f16});
  CHECK(seen.errors.empty());
  CHECK(seen.lost.empty());
}
