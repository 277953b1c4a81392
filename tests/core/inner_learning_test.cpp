// The rules that learn by inner gradient steps, beyond what holds for every rule.

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "core/insight/learning.h"
#include "core/rules/stored_pairs.h"
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
      in_every_form({scaled(each, silent, 0)}, [](const Case& quiet, Form form) {
        for (const Precision precision : scalar_precisions) {
          INFO(name(precision));
          CHECK(is_finite(quiet.run(form, precision, 3)));
        }
      });
    }
  }
}

TEST_CASE("layer norm of one channel, where every answer is the query plus the bias") {
  Arrays arrays = {{"ln_weight", filled({1}, 3)}, {"ln_bias", filled({1}, 0.5)}, {"eta", filled({5}, 0.7)}};
  for (const char* name : {"q", "k", "v"}) arrays[name] = Array({5, 1}, std::vector<double>{1, 2, 3, 4, 5});
  const Settings settings = resolve(find_variant("ttt_linear"),
                                    {.options = {{"layer_norm", "true"}}, .parameters = {{"batch", 2}}});
  const Case each = bound(find_variant("ttt_linear"), settings, arrays);
  for (const Form form : each.forms())
    CHECK(each.run(form, Precision::f64, 2).o == Matrix<double>{{1.5}, {2.5}, {3.5}, {4.5}, {5.5}});
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
    const std::string weights = each.sequence.has("W1") ? "W1" : "S";
    for (Index t = 0; t < 7; ++t) {
      const Record& record = trace->record(t);
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
  const Case each = random_case("mesanet", {.tokens = tokens, .dk = K, .dv = 3, .initial_state = true});
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
  const Case silent = scaled(random_case("mesanet", {.tokens = 3, .dk = 4, .dv = 2}), "q", 0);
  const auto solve = converging_solve(*silent.variant, silent.sequence, 2, 2);
  REQUIRE(solve);
  CHECK(solve->steps() == 0);
  CHECK(solve->exact.isZero(0));
  CHECK_FALSE(converging_solve(find_variant("deltanet"), silent.sequence, 0, 2));
  CHECK_THROWS_AS(converging_solve(*silent.variant, silent.sequence, 3, 2), InputError);
}

// The rules that are no row programs but carry something from block to block: what all of them do, and Mamba,
// MesaNet and recursive least squares in particular.

namespace {

Case mesanet(Index tokens, double gamma, std::vector<double> ridge) {
  const auto K = static_cast<Index>(ridge.size());
  const Case each = random_case("mesanet", {.tokens = tokens, .dk = K, .dv = 5});
  return with(each, {{"gamma", filled({tokens}, gamma)}, {"ridge", Array({K}, std::move(ridge))}});
}

double difference(const Case& each, Form form, const Output& expected) {
  return compare(each.run(form, Precision::f64, 16), expected).error;
}

void check_against_definition(const Case& each, double tolerance) {
  const Output expected = direct(each.variant->id, *each.arrays, each.settings);
  for (const Form form : each.forms()) {
    INFO(name(form));
    CHECK(difference(each, form, expected) <= tolerance);
  }
}

}  // namespace

TEST_CASE("what would not fit into memory is refused with the reason") {
  const Case wide = random_case("mamba", {.tokens = 400, .dk = 1000, .dv = 1000});
  CHECK_THROWS_AS(wide.run(Form::parallel), Unsupported);
  CHECK_THROWS_WITH(
      wide.run(Form::parallel),
      "the parallel form of 400 tokens needs 6.47 GB at its peak for its n x dk x dv decays and "
      "states, above the limit of 6 GB. The chunkwise form gives the same result in small chunks");
  CHECK_THROWS_WITH(
      wide.trace(Form::chunkwise, 1 << 30),
      "to show the chunkwise form in chunks of 400 tokens needs 22.5 GB at its peak for its n x "
      "dk x dv decays and states, above the limit of 1 GB. Smaller chunks give the same result");
  CHECK_NOTHROW(wide.trace(Form::chunkwise, 8));
  const Case longer = random_case("mesanet", {.tokens = 16000, .dk = 1, .dv = 1});
  CHECK_THROWS_WITH(longer.run(Form::parallel), says("6.15 GB at its peak for its n x n matrices"));
  CHECK_THROWS_AS(longer.trace(Form::parallel, 1), Unsupported);

  const RandomCase many{.tokens = 4000, .dk = 400, .dv = 400};
  const Settings scan = {{{"optimizer", "muon"}, {"loss", "dot"}, {"weight_norm", "false"}}, {{"batch", 1}}};
  const Case weights = random_case(find_variant("lact"), scan, many);
  CHECK_THROWS_WITH(weights.run(Form::parallel), says("for the weights of all its batches"));
  CHECK_NOTHROW(weights.trace(Form::chunkwise, 8));
  const Settings normalised = {{{"layer_norm", "true"}}, {{"batch", 1e6}}};
  const Case learner =
      random_case(find_variant("ttt_linear"), normalised, {.tokens = 20000, .dk = 2, .dv = 2});
  CHECK_THROWS_WITH(learner.run(Form::chunkwise, Precision::f64, 20000),
                    says("for its weights and n x n matrices"));
  CHECK_NOTHROW(learner.trace(Form::chunkwise, 8));
}

TEST_CASE("a state that nobody gave and that is too large is refused before it is made") {
  const Settings normalised = {{{"layer_norm", "true"}}, {{"batch", 1}}};
  const Case each =
      random_case(find_variant("ttt_linear"), normalised, {.tokens = 1, .dk = 12000, .dv = 12000});
  CHECK_THROWS_WITH(each.run(Form::recurrent),
                    says("12000 rows and 12000 columns, 1.15 GB; the limit is 1 GB"));
  CHECK_THROWS_AS(each.trace(Form::recurrent, 1), InputError);
}

TEST_CASE("every rule says how much a head keeps: what it hands on, or little more") {
  for (const Index tokens : {0, 1, 17}) {
    in_every_form(all_cases({.tokens = tokens}), [](const Case& each, Form form) {
      const Output output = each.run(form, Precision::f32, 4);
      auto numbers = static_cast<double>(output.o.size());
      for (const auto& [state, value] : output.states) numbers += static_cast<double>(value.size());
      const Footprint footprint = each.variant->rule->footprint(each.sequence, form, Precision::f32, 4);
      CHECK(footprint.kept >= 8 * numbers);
      CHECK(footprint.kept <= 3 * 8 * numbers);  // rules with inner batches also carry a gradient
    });
  }
}

TEST_CASE("every rule says that more tokens at once, and wider numbers, take more memory") {
  for (const Variant& variant : variants()) {
    for (const Settings& choice : option_choices(variant)) {
      Settings given = choice;
      if (is_among("batch", variant.parameters, &Parameter::name)) given.parameters["batch"] = 1000;
      in_every_form({random_case(variant, given, {.tokens = 64})}, [](const Case& each, Form form) {
        const auto work = [&](Precision precision, Index chunk_size) {
          return each.variant->rule->footprint(each.sequence, form, precision, chunk_size).work;
        };
        CHECK(work(Precision::f64, 16) > work(Precision::f32, 16));
        if (has_chunks(form)) CHECK(work(Precision::f64, 64) > work(Precision::f64, 16));
        if (!has_chunks(form)) CHECK(work(Precision::f64, 64) == work(Precision::f64, 16));
      });
    }
  }
}

TEST_CASE("a run can be stopped and wants a chunk of at least one token") {
  in_every_form(all_cases({.tokens = 9}), [](const Case& each, Form form) {
    CHECK_THROWS_AS(each.run(form, Precision::f64, 0), InputError);
    CHECK_THROWS_AS(each.trace(form, 0), InputError);
    CHECK_THROWS_AS(each.variant->rule->run(each.sequence, form, Precision::f64, 4, stopped()), Cancelled);
    const auto trace = each.trace(form, 4);
    trace->prepare(stopped());
    CHECK(trace->output() == nullptr);
    const Record after_stop = trace->record(0);
    const auto fresh = each.trace(form, 4);
    CHECK(std::ranges::equal(after_stop.tensors(), fresh->record(0).tensors()));
  });
}

TEST_CASE("Mamba's longest steps forget exactly and its shortest keep everything") {
  const Case each = random_case("mamba", {.tokens = 33, .dk = 4, .dv = 3});
  for (const double step : {0.0, 1e-300, 1e-9, 1e9, 1e300}) {
    const Case changed = with(scaled(each, "v", 1e-3), {{"delta", filled({33, 3}, step)}});
    CAPTURE(step);
    check_against_definition(changed, 1e-12);
  }
}

TEST_CASE("a ridge given as its diagonal is that matrix") {
  const std::vector<double> diagonal = {0.5, 1, 2, 4};
  const Case vector = mesanet(20, 0.9, diagonal);
  Array whole = filled({4, 4}, 0);
  for (std::size_t i = 0; i < 4; ++i) std::get<0>(whole.own_values())[5 * i] = diagonal[i];
  const Case matrix = with(vector, {{"ridge", whole}});
  for (const Form form : vector.forms()) CHECK(compare(vector.run(form), matrix.run(form)).error == 0);
}

TEST_CASE("MesaNet's solves are as good as their systems, however unequal the ridge") {
  for (const double gamma : {0.0, 0.5, 1.0}) {
    INFO("gamma " << gamma);
    check_against_definition(mesanet(100, gamma, std::vector<double>(8, 1)), 1e-13);
    check_against_definition(mesanet(100, gamma, std::vector<double>(8, 1e-3)), 1e-11);
    check_against_definition(mesanet(100, gamma, std::vector<double>(8, 1e-6)), 1e-8);
    check_against_definition(mesanet(100, gamma, {1e-4, 1e-3, 1e-2, 0.1, 1, 10, 1e3, 1e6}), 1e-9);
  }
}

TEST_CASE("MesaNet gives no NaN, even where f32 can no longer solve its systems") {
  for (const double ridge : {1e-30, 1e-12, 1e-6, 1e30}) {
    for (const double query : {0.0, 1e-30, 1.0}) {
      CAPTURE(ridge, query);
      const Case mesa = scaled(mesanet(100, 1, std::vector<double>(8, ridge)), "q", query);
      in_every_form({mesa}, [&](const Case& each, Form form) {
        for (const Precision precision : scalar_precisions) {
          INFO(name(precision));
          const Output got = each.run(form, precision, 16);
          CHECK_FALSE(got.o.hasNaN());
          if (query == 0) CHECK(got.o.cwiseAbs().maxCoeff() == 0);
        }
      });
    }
  }
}

TEST_CASE("queries of any size are solved alike") {
  const Case each = mesanet(50, 0.9, std::vector<double>(6, 0.1));
  const Output usual = each.run(Form::recurrent);
  for (const double size : {0x1p-600, 0x1p600}) {
    Output expected = usual;
    expected.o *= size;
    for (const Form form : each.forms()) {
      INFO(size << " " << name(form));
      CHECK(difference(scaled(each, "q", size), form, expected) <= 1e-13);
    }
  }
}

TEST_CASE("recursive least squares lands on the optimum of a ridge around its first weights") {
  const RandomCase random{.tokens = 30, .dk = 5, .dv = 3, .initial_state = true};
  const Case each = random_case("rls", random);
  const Case plain = with(each, {{"gamma", filled({30}, 1)}, {"beta", filled({30}, 0)}});
  for (const Form form : each.forms()) {
    INFO(name(form));
    // Tokens without weight leave everything as it is.
    const Output kept = plain.run(form, Precision::f64, 7);
    CHECK((kept.states[0].second - each.sequence.at("initial_S").all<double>()).cwiseAbs().maxCoeff() == 0);
    // Without decay and with weight 1: (K^T K + P_0^{-1})^{-1} (K^T V + P_0^{-1} S_0).
    const Output got = with(plain, {{"beta", filled({30}, 1)}}).run(form, Precision::f64, 7);
    const Matrix<double> K = each.sequence.at("k").all<double>();
    const Matrix<double> V = each.sequence.at("v").all<double>();
    const Matrix<double> ridge = each.sequence.at("initial_P").all<double>().inverse();
    const Matrix<double> seen = K.transpose() * K + ridge;
    const Matrix<double> sums = K.transpose() * V + ridge * each.sequence.at("initial_S").all<double>();
    const Matrix<double> best = seen.ldlt().solve(sums);
    CHECK((got.states[0].second - best).cwiseAbs().maxCoeff() <= 1e-13);
    CHECK((got.states[1].second * seen - Matrix<double>::Identity(5, 5)).cwiseAbs().maxCoeff() <= 1e-13);
  }
}
