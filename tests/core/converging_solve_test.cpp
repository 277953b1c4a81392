// How MesaNet's queries find their solutions, against conjugate gradients written plainly.

#include "core/insight/learning.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/rules/inner_problem.h"
#include "core/rules/stored_pairs.h"
#include "core/steps/trace.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// |r_i| / |r_0| in the norm of the inverse diagonal of A, until it is down to the rounding.
std::vector<double> plain_rests(const Matrix<double>& A, const Vector<double>& b) {
  const auto weighed = [&](const Vector<double>& r) { return Vector<double>(r.cwiseQuotient(A.diagonal())); };
  Vector<double> r = b;
  Vector<double> p = weighed(r);
  const double begun = r.dot(p);
  std::vector<double> rests = {1};
  const auto most = static_cast<std::size_t>(4 * b.size() + 16);
  while (rests.back() > std::numeric_limits<double>::epsilon() && rests.size() < most) {
    const double square = r.dot(weighed(r));
    r -= square / p.dot(A * p) * (A * p);
    const double next = r.dot(weighed(r));
    p = weighed(r) + next / square * p;
    rests.push_back(std::sqrt(next / begun));
  }
  return rests;
}

}  // namespace

TEST_CASE("a solve converges as the engine iterates, to the solution that the engine reads with", "[solve]") {
  constexpr Index tokens = 11;
  constexpr Index K = 5;
  const Case each =
      random_case(find_variant("mesanet"), {}, {.tokens = tokens, .dk = K, .dv = 3, .initial_state = true});
  for (const Index chunk_size : {1, 4, 50}) {
    const auto trace = each.trace(Form::chunkwise, chunk_size);
    for (const Index token : {0, 3, 6, 10}) {
      CAPTURE(chunk_size, token);
      const auto solve = converging_solve(*each.variant, each.sequence, token, chunk_size);
      REQUIRE(solve);
      REQUIRE(solve->first_token == token - token % chunk_size);
      REQUIRE(solve->token_count == std::min(chunk_size, tokens - solve->first_token));
      REQUIRE_FALSE(solve->course.is_direct);
      REQUIRE(solve->course.solutions.size() == solve->course.rests.size());
      REQUIRE(solve->differences.size() == solve->course.rests.size());

      const NamedStates states = states_at(*each.variant, each.sequence, token + 1);
      const Matrix<double> A = state_of(states, "Hkk") + square(each.sequence.at("ridge"));
      const Vector<double> q =
          each.sequence.parameter("scale") * each.sequence.at("q").rows<double>(token, 1).transpose();
      const std::vector<double> plain = plain_rests(A, q);
      // In exact arithmetic both end after K steps; a last step of rounding may come on top.
      CHECK(std::abs(static_cast<double>(solve->steps() - static_cast<Index>(plain.size()) + 1)) <= 1);
      for (std::size_t i = 0; i < std::min({plain.size(), solve->course.rests.size(), std::size_t{K}}); ++i)
        CHECK(std::abs(solve->course.rests[i] - plain[i]) <= 1e-9);
      CHECK(solve->course.rests.front() == 1);
      CHECK(solve->course.rests.back() <= std::numeric_limits<double>::epsilon());
      CHECK(solve->course.solutions.front().isZero(0));
      CHECK(solve->differences.front() == 1);
      CHECK(solve->differences.back() <= 1e-12);
      CHECK((A * solve->exact - q).cwiseAbs().maxCoeff() <= 1e-12);

      // What the engine reads with, recorded while it ran.
      const Matrix<double>& X = trace->record(token / chunk_size).at("X");
      CHECK((X.row(solve->course.row).transpose() - solve->course.solutions.back()).cwiseAbs().maxCoeff() <=
            1e-13);
    }
  }
}

TEST_CASE("a query of zeros is solved before it begins, and other rules solve nothing", "[solve]") {
  const Case each = random_case(find_variant("mesanet"), {}, {.tokens = 3, .dk = 4, .dv = 2});
  Arrays arrays = *each.arrays;
  for (double& x : std::get<0>(arrays.at("q").values)) x = 0;
  const Case silent = bound(*each.variant, each.settings, arrays);
  const auto solve = converging_solve(*silent.variant, silent.sequence, 2, 2);
  REQUIRE(solve);
  CHECK(solve->steps() == 0);
  CHECK(solve->exact.isZero(0));
  CHECK_FALSE(converging_solve(find_variant("deltanet"), silent.sequence, 0, 2));
  CHECK_THROWS_AS(converging_solve(*silent.variant, silent.sequence, 3, 2), InputError);
}
