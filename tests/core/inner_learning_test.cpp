// The rules that learn by inner gradient steps, beyond what holds for every rule.

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/insight/learning.h"
#include "core/operator/blocks.h"
#include "core/rules/inner_problem.h"
#include "core/rules/stored_pairs.h"
#include "core/steps/trace.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const char* const inner_learners[] = {"ttt_linear", "ttt_mlp", "lact"};

/// Every choice of options of the three rules, with inner batches of this many tokens.
std::vector<Case> cases_with_batch(Index batch, RandomCase random) {
  std::vector<Case> cases;
  for (const char* id : inner_learners) {
    for (Settings given : option_choices(find_variant(id))) {
      given.parameters["batch"] = static_cast<double>(batch);
      for (const bool initial_state : {false, true}) {
        random.initial_state = initial_state;
        cases.push_back(random_case(find_variant(id), given, random));
      }
    }
  }
  return cases;
}

bool is_finite(const Output& output) {
  return output.o.allFinite() &&
         std::ranges::all_of(output.states, [](const auto& state) { return state.second.allFinite(); });
}

}  // namespace

TEST_CASE("pieces cover every token once and never cross the end of a batch") {
  for (const Index tokens : {0, 1, 7, 8, 29}) {
    for (const Index batch : {1, 3, 8, 100}) {
      for (const Index size : {1, 2, 3, 5, 1000}) {
        const InnerBatches batches(tokens, batch, size);
        Index next = 0;
        for (Index index = 0; index < batches.piece_count(); ++index) {
          const Piece piece = batches.piece(index);
          INFO(fmt::format("{} tokens, batches of {}, pieces of {}: piece {}", tokens, batch, size, index));
          REQUIRE(piece.first == next);
          REQUIRE(piece.count >= 1);
          REQUIRE(piece.count <= size);
          REQUIRE(piece.first == piece.batch * batch + piece.offset);
          REQUIRE(piece.offset + piece.count <= batch);
          next += piece.count;
          REQUIRE(piece.ends_batch == (next % batch == 0 || next == tokens));
          for (Index token = piece.first; token < next; ++token) REQUIRE(batches.piece_of(token) == index);
        }
        REQUIRE(next == tokens);
      }
    }
  }
}

TEST_CASE("the form's chunk changes no result, whatever the inner batch") {
  for (const Index batch : {1, 7, 50}) {
    for (const Case& each : cases_with_batch(batch, {.tokens = 23, .dk = 6, .dv = 6, .seed = 41})) {
      const Output expected = each.run(Form::recurrent);
      for (const Index chunk_size : {1, 2, 7, 10, 23, 1000}) {
        INFO(each.words << " batch " << batch << " chunk " << chunk_size);
        CHECK(compare(each.run(Form::chunkwise, Precision::f64, chunk_size), expected).error <=
              each.allowed(1e-13));
      }
    }
  }
}

TEST_CASE("a position factor of 0 for the last token forgets the batch") {
  for (const char* id : {"ttt_linear", "ttt_mlp"}) {
    for (Settings given : option_choices(find_variant(id))) {
      given.parameters["batch"] = 4;
      const RandomCase random{.tokens = 8, .dk = 6, .dv = 6, .initial_state = true, .seed = 42};
      const Case each = with(random_case(find_variant(id), given, random),
                             {{"sigma", Array({4}, std::vector<double>{1, 0.5, 2, 0})}});
      const Output recurrent = each.run(Form::recurrent);
      for (const Index chunk_size : {1, 3, 4, 8}) {
        INFO(each.words << " chunk " << chunk_size);
        CHECK(compare(each.run(Form::chunkwise, Precision::f64, chunk_size), recurrent).error <= 1e-13);
      }
      for (const auto& [state, value] : recurrent.states) {
        const std::string name = initial_name(*each.variant, each.settings, state);
        const MatrixView initial = each.sequence.at(name);
        INFO(each.words << " " << state);
        CHECK((value - initial.all<double>()).isZero(0));
      }
    }
  }
}

TEST_CASE("nothing to learn gives numbers, not NaN") {
  for (const Case& each : cases_with_batch(4, {.tokens = 9, .dk = 1, .dv = 1, .seed = 44})) {
    for (const char* silent : {"eta", "k", "v", "q", "initial_S", "W1", "W2"}) {
      if (!each.arrays->contains(silent)) continue;
      const Case quiet = scaled(each, silent, 0);
      for (const Form form : quiet.forms()) {
        for (const Precision precision : scalar_precisions) {
          INFO(each.words << " without " << silent << " " << name(form) << " " << name(precision));
          CHECK(is_finite(quiet.run(form, precision, 3)));
        }
      }
    }
  }
}

TEST_CASE("layer norm of one channel, where every answer is the query plus the bias") {
  Arrays arrays = {{"ln_weight", Array({1}, std::vector<double>{3})},
                   {"ln_bias", Array({1}, std::vector<double>{0.5})}};
  for (const char* name : {"q", "k", "v"}) arrays[name] = Array({5, 1}, std::vector<double>{1, 2, 3, 4, 5});
  arrays["eta"] = Array({5}, std::vector<double>(5, 0.7));
  const Settings settings = resolve(find_variant("ttt_linear"),
                                    {.options = {{"layer_norm", "true"}}, .parameters = {{"batch", 2}}});
  const Case each = bound(find_variant("ttt_linear"), settings, arrays);
  for (const Form form : each.forms()) {
    const Output output = each.run(form, Precision::f64, 2);
    for (Index t = 0; t < 5; ++t) CHECK(output.o(t, 0) == static_cast<double>(t) + 1.5);
  }
}

TEST_CASE("a form that does not exist says why, and is refused with the same words") {
  for (const auto& [id, given] : std::vector<std::pair<const char*, Settings>>{
           {"ttt_linear", {.options = {{"layer_norm", "true"}}}},
           {"ttt_mlp", {}},
           {"lact", {}},
           {"lact", {.options = {{"weight_norm", "false"}, {"loss", "l2"}}}}}) {
    const Case each = random_case(find_variant(id), given, {.tokens = 3});
    const auto reason = each.variant->rule->missing(Form::parallel, each.sequence.settings);
    REQUIRE(reason);
    CHECK(reason->find("non-linear") != std::string::npos);
    CHECK_THROWS_AS(each.run(Form::parallel), Unsupported);
    CHECK_THROWS_WITH(each.trace(Form::parallel, 1), *reason);
  }
}

TEST_CASE("a token's own weights are shown, and answer as the output says") {
  for (const char* id : {"ttt_linear", "ttt_mlp"}) {
    const Case each = random_case(find_variant(id), {.parameters = {{"batch", 3}}},
                                  {.tokens = 7, .dk = 4, .dv = 3, .seed = 48});
    const auto trace = each.trace(Form::recurrent, 1);
    const Output run = each.run(Form::recurrent);
    for (Index t = 0; t < 7; ++t) {
      const Record& record = trace->record(t);
      const std::string weights = id == std::string("ttt_linear") ? "S" : "W1";
      // The next batch starts from the weights of the last token.
      const Matrix<double> after = record.at(weights + "_after");
      CHECK((record.at("o").col(0) - run.o.row(t).transpose()).cwiseAbs().maxCoeff() <= 1e-15);
      if (t % 3 == 2 && t + 1 < 7) CHECK(trace->record(t + 1).at(weights + "_start") == after);
    }
  }
}

// How MesaNet's queries find their solutions, against conjugate gradients written plainly.

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
  const Case silent =
      scaled(random_case(find_variant("mesanet"), {}, {.tokens = 3, .dk = 4, .dv = 2}), "q", 0);
  const auto solve = converging_solve(*silent.variant, silent.sequence, 2, 2);
  REQUIRE(solve);
  CHECK(solve->steps() == 0);
  CHECK(solve->exact.isZero(0));
  CHECK_FALSE(converging_solve(find_variant("deltanet"), silent.sequence, 0, 2));
  CHECK_THROWS_AS(converging_solve(*silent.variant, silent.sequence, 3, 2), InputError);
}
