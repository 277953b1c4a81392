#include "core/proof/precision_lens.h"

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

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
  const Case random = random_case(find_variant(id), {}, {.tokens = 9, .dk = 4, .dv = 3, .seed = 2});
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
  const Case each =
      random_case(find_variant("gated_deltanet"), {}, {.tokens = 65, .dk = 6, .dv = 5, .seed = 4});
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
  const Case random = random_case(find_variant("deltanet"), {}, {.tokens = 2, .dk = 2, .dv = 1, .seed = 2});
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
  const Case random = random_case(find_variant("linear"), {}, {.tokens = 2, .dk = 1, .dv = 1, .seed = 2});
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
  const Case random = random_case(find_variant("linear"), {}, {.tokens = 9, .dk = 4, .dv = 3, .seed = 2});
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
  const Case random = random_case(find_variant("deltanet"), {}, {.tokens = 17, .dk = 4, .dv = 3, .seed = 6});
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
  const Case mlp = random_case(find_variant("ttt_mlp"), {}, {.tokens = 2});
  CHECK_THROWS_AS(look(mlp, {.form = Form::parallel}), Unsupported);
  CHECK_THROWS_AS(palimpsest::look(*mlp.variant, mlp.arrays, mlp.settings, {}, 1), InputError);
  const Case empty = random_case(find_variant("kda"), {}, {.tokens = 0});
  const Seen seen = look(empty, {.arithmetic = Arithmetic::f16});
  CHECK(seen.errors.empty());
  CHECK(seen.lost.empty());
}
