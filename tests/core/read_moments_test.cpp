// What a query gets before and after its token's own write.

#include "core/insight/written_together.h"

#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr double exact = 1e-12;
constexpr RandomCase random_sizes = {.tokens = 9, .dk = 5, .dv = 5};

Matrix<double> row(const Case& each, const char* name, Index token) {
  return each.sequence.at(name).rows<double>(token, 1);
}

double apart(const Vector<double>& x, const Matrix<double>& row) {
  return (x.transpose() - row).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("outputs read the memory after the token's own write", "[reading]") {
  for (const char* id : {"linear", "retnet", "gla", "deltanet", "gated_deltanet", "kda", "titans",
                         "ttt_linear", "ttt_mlp", "mesanet"}) {
    CAPTURE(id);
    const Case each = random_case(find_variant(id), {}, random_sizes);
    const Output output = each.run(Form::recurrent);
    for (const Index token : {0, 4, 8}) {
      const ReadMoments read = read_moments(*each.variant, each.sequence, token);
      CHECK(apart(read.after, output.o.row(token)) <= exact);
      CHECK(read.difference() > 0);
    }
  }
}

TEST_CASE("outputs with the order apply_first read the memory before the token's own write", "[reading]") {
  for (const char* id : {"linear", "gla", "deltanet", "kda", "value_decay", "deltaproduct", "titans"}) {
    CAPTURE(id);
    const Case each = random_case(find_variant(id), {.options = {{"order", "apply_first"}}}, random_sizes);
    const Output output = each.run(Form::recurrent);
    for (const Index token : {0, 4, 8})
      CHECK(apart(read_moments(*each.variant, each.sequence, token).before, output.o.row(token)) <= exact);
  }
}

TEST_CASE("linear attention read before its write lacks (q k) v", "[reading]") {
  const Case each = random_case(find_variant("linear"), {}, random_sizes);
  const ReadMoments read = read_moments(*each.variant, each.sequence, 6);
  const double own =
      each.sequence.parameter("scale") * row(each, "q", 6).row(0).dot(row(each, "k", 6).row(0));
  CHECK(apart(read.after - read.before, own * row(each, "v", 6)) <= exact);
  CHECK(std::abs(read.difference() - (own * row(each, "v", 6)).norm() / read.after.norm()) <= exact);
}

TEST_CASE("LaCT reads before its batch is written or after it, as it is told", "[reading]") {
  for (const char* order : {"apply_first", "update_first"}) {
    CAPTURE(order);
    const Case each = random_case(
        find_variant("lact"), {.options = {{"order", order}}, .parameters = {{"batch", 3}}}, random_sizes);
    const Output output = each.run(Form::recurrent);
    const bool is_before = std::string_view(order) == "apply_first";
    for (const Index token : {0, 4, 5, 7, 8}) {
      const ReadMoments read = read_moments(*each.variant, each.sequence, token);
      CHECK(apart(is_before ? read.before : read.after, output.o.row(token)) <= exact);
      CHECK(read.difference() > 1e-3);
    }
  }
}

TEST_CASE("a rule without a memory says why nothing is read from it", "[reading]") {
  const Case each = random_case(find_variant("softmax"), {}, random_sizes);
  CHECK_THROWS_AS(read_moments(*each.variant, each.sequence, 2), Unsupported);
  const Case linear = random_case(find_variant("linear"), {}, random_sizes);
  CHECK_THROWS_AS(read_moments(*linear.variant, linear.sequence, 9), InputError);
}
