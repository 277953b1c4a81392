#include <fmt/format.h>

#include "core/rules/row_rule.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"
#include "tests/heads.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::vector<double>& numbers_of(const Case& each, const char* name) {
  return std::get<0>(each.arrays->at(name).values());
}

}  // namespace

TEST_CASE("a random case written down is read back") {
  for (const RandomCase& random : {RandomCase{}, RandomCase{.tokens = 0,
                                                 .dk = 3,
                                                 .dv = 9,
                                                 .earlier = 0,
                                                 .initial_state = true,
                                                 .log_gates = true,
                                                 .seed = 18446744073709551615ULL}}) {
    CHECK(parse_random_case(to_string(random)) == random);
  }
  CHECK(parse_random_case("random:T=4") == RandomCase{.tokens = 4});
  for (const char* wrong : {"", "T=4", "random:T", "random:stat", "random:states"}) {
    INFO(wrong);
    CHECK_THAT(input_error([&] { parse_random_case(wrong); }),
               says("is not understood; expected for example random:T="));
  }
  for (const char* wrong : {"random:T=", "random:T=-1", "random:T=4x", "random:K=0", "random:p=1048577",
                            "random:T=99999999999999999999", "random:V=4000000000", "random:seed=-1"}) {
    INFO(wrong);
    CHECK_THAT(input_error([&] { parse_random_case(wrong); }), says("expected a whole number from "));
  }
}

TEST_CASE("the same seed gives the same numbers, another one others") {
  const Variant& variant = find_variant("kda");
  const Case first = random_case(variant, {}, {.seed = 1});
  CHECK(numbers_of(first, "q") == numbers_of(random_case(variant, {}, {.seed = 1}), "q"));
  CHECK(numbers_of(first, "q") != numbers_of(random_case(variant, {}, {.seed = 2}), "q"));
  CHECK(numbers_of(first, "q") != numbers_of(first, "v"));
  // Fixed for all machines and libraries.
  CHECK(numbers_of(first, "beta").front() == 0x1.d42788ae5c01fp-1);
  CHECK(numbers_of(first, "q").front() == 0x1.1e6f83a986d37p-2);
}

TEST_CASE("random numbers are what a layer would give") {
  const Case each = random_case("kda", {.tokens = 400, .dk = 9, .dv = 4, .seed = 5});
  CHECK(each.sequence.at("q").all<double>().squaredNorm() / 400 == Approx(1).margin(0.1));
  CHECK(each.sequence.at("k").all<double>().rowwise().norm().isOnes(1e-12));
  const Eigen::ArrayXXd alpha = each.sequence.at("alpha").all<double>();
  CHECK((alpha == 0).count() > 10);
  CHECK((alpha == 1).count() > 10);
  CHECK((alpha > 0.5).count() > 2400);
}

TEST_CASE("gates as g are the logarithms of those as alpha") {
  const Case alpha = random_case("gla", {.log_gates = false});
  const Case g = random_case("gla", {.log_gates = true});
  CHECK(numbers_of(alpha, "k") == numbers_of(g, "k"));
  const std::vector<double> decays = numbers_of(alpha, "alpha");
  const std::vector<double> logs = numbers_of(g, "g");
  for (std::size_t i = 0; i < logs.size(); ++i) CHECK(std::exp(logs[i]) == Approx(decays[i]).margin(1e-15));
}

// Two runs in a row are one run; heads and batches are separate runs.

namespace {

/// What cut() gives, without the states before the first token.
Arrays part_of(const Case& each, Index first, Index count) {
  Arrays part = cut(each, first, count);
  for (const std::string& state : states_of(*each.variant, each.settings))
    part.erase(initial_name(*each.variant, each.settings, state));
  return part;
}

/// The smallest multiple of the inner batch that is at least `wanted`, or the whole sequence.
Index split_at(const Case& each, Index wanted) {
  const Index batch = inner_batch(each.sequence.settings);
  return std::min<Index>(each.sequence.tokens, (wanted + batch - 1) / batch * batch);
}

/// The tokens `more` of a `part_of`, going on where `first` ended with `output`.
Case following(const Case& first, const Output& output, Arrays more, const Variant& variant) {
  if (variant.hand_over) variant.hand_over(first.sequence, more);
  for (auto& [name, array] : initial_states(variant, first.settings, output)) more[name] = array;
  return bound(variant, first.settings, std::move(more));
}

/// The outputs of `first` and of the tokens `more` in one piece, and the states after them.
Output extended(const Case& first, const Output& output, Arrays more, Form form, Index chunk_size = 1) {
  Output all =
      following(first, output, std::move(more), *first.variant).run(form, Precision::f64, chunk_size);
  Matrix<double> o(output.o.rows() + all.o.rows(), output.o.cols());
  o << output.o, all.o;
  all.o = std::move(o);
  return all;
}

/// What the tokens `more` get if they follow `first` and only ask.
Matrix<double> asked(const Case& first, const Output& output, Arrays more, Form form, Index chunk_size,
                     Precision precision = Precision::f64) {
  const Case asking = following(first, output, std::move(more), *first.variant);
  return asking.variant->rule->answers(asking.sequence, form, precision, chunk_size);
}

/// Runs `head_count` x `batch_count` different heads once joined and once apart; q has `q_heads` heads, k and
/// v have `kv_heads`.
void check_heads(const Variant& variant, int head_axes, Index batch_count, Index head_count, Index q_heads,
                 Index kv_heads, bool log_gates) {
  const Settings settings = random_settings(variant, {}, 1);
  RandomCase random{
      .tokens = 6, .dk = 3, .dv = 2, .initial_state = true, .log_gates = log_gates, .seed = 100};
  std::vector<Arrays> sources;
  for (; std::ssize(sources) < batch_count * head_count; ++random.seed)
    sources.push_back(random_arrays(variant, settings, random));
  const auto source = [&](Index b, Index h, const std::string& name) -> const Array& {
    return entry(sources, b * head_count + h).at(name);
  };
  const auto heads_of = [&](const std::string& name) {
    return name == "q" ? q_heads : name == "k" || name == "v" ? kv_heads : head_count;
  };

  Arrays together;
  for (const Input& input : inputs_of(variant, settings)) {
    const std::string name = input.range == Range::decay && log_gates ? "g" : input.name;
    std::vector<const Array*> arrays;
    for (Index b = 0; b < batch_count; ++b)
      for (Index h = 0; h < heads_of(name); ++h) arrays.push_back(&source(b, h, name));
    together[name] = testing::stacked(arrays, batch_count, head_axes + 2, has_tokens(input));
  }
  const SequenceBatch batch = palimpsest::bind(variant, std::make_shared<const Arrays>(together), settings);
  REQUIRE(batch.head_count == head_count);
  REQUIRE(batch.batch_count == batch_count);
  REQUIRE(batch.rank == head_axes + 2);
  for (Index b = 0; b < batch_count; ++b) {
    for (Index h = 0; h < head_count; ++h) {
      Arrays apart;
      for (const auto& [name, array] : together)
        apart[name] = source(b, h * heads_of(name) / head_count, name);
      const Case alone = bound(variant, settings, apart);
      const Sequence& head = entry(batch.heads, b * head_count + h);
      const Output got = variant.rule->run(head, Form::chunkwise, Precision::f64, 4);
      INFO(variant.id << " batch " << b << " head " << h);
      CHECK(compare(got, alone.run(Form::chunkwise, Precision::f64, 4)).error == 0);
    }
  }
}

}  // namespace

TEST_CASE("a sequence extended in any form is the sequence in one piece") {
  constexpr Index T = 29;
  for (const Case& each : all_cases({.tokens = T, .dk = 4, .dv = 3, .seed = 31})) {
    if (!each.variant->rule->is_causal(each.sequence)) continue;
    const Output whole = each.run(each.forms().front());
    for (const Index wanted : {0, 1, 16, 29}) {
      const Index split = split_at(each, wanted);
      const bool ends_within_batch = split % inner_batch(each.sequence.settings) != 0;
      const Case first = first_tokens(each, split);
      for (const Form prefill : each.forms()) {
        const Output before = first.run(prefill, Precision::f64, 7);
        for (const Form form : each.forms()) {
          if (ends_within_batch) continue;
          const Output after = extended(first, before, part_of(each, split, T - split), form, 5);
          INFO(each.words << " split at " << split << ": " << name(prefill) << ", " << name(form));
          REQUIRE(after.o.rows() == T);
          CHECK(compare(after, whole).error <= each.allowed(1e-13));
        }
      }
    }
  }
}

TEST_CASE("a state that is not handed over as it is changes what follows") {
  constexpr Index T = 24;
  for (const Case& each : all_cases({.tokens = T, .dk = 4, .dv = 3, .seed = 34})) {
    if (!each.variant->rule->is_causal(each.sequence)) continue;
    const Index split = split_at(each, 12);
    if (split % inner_batch(each.sequence.settings) != 0) continue;
    const Case first = first_tokens(each, split);
    const Output before = first.run(Form::chunkwise);
    const auto rest = [&](const Output& handed) {
      return extended(first, handed, part_of(each, split, T - split), Form::chunkwise, 4);
    };
    for (std::size_t i = 0; i < before.states.size(); ++i) {
      // Optional arrays are given with the initial states: without momentum its state has no effect.
      if (!first.sequence.has(initial_name(*each.variant, each.settings, before.states[i].first))) continue;
      Output halved = before;
      halved.states[i].second *= 0.5;
      INFO(each.words << " state " << before.states[i].first);
      CHECK(compare(rest(halved), rest(before)).error > 1e-12);
    }
  }
}

TEST_CASE("column norms that come from the initial weights stay those of the first ones") {
  const Variant& variant = find_variant("lact");
  Variant forgetful = variant;
  forgetful.hand_over = nullptr;
  const Case each = random_case(variant, {.parameters = {{"batch", 4}}}, {.tokens = 24, .dk = 4, .dv = 3});
  const Case first = first_tokens(each, 12);
  // Free columns grow; a run that took its norms from there would keep the wrong ones. The engine keeps them
  // up to 1e-5, so the change is of that size.
  const Output before = first.run(Form::chunkwise);
  const Arrays more = part_of(each, 12, 12);
  const Matrix<double> expected = each.run(Form::chunkwise).o.bottomRows(12);
  const auto error = [&](const Variant& handing) {
    const Case rest = following(first, before, more, handing);
    return compare("o", rest.run(Form::chunkwise, Precision::f64, 4).o, expected).error;
  };
  CHECK(error(variant) <= each.allowed(1e-13));
  CHECK(error(forgetful) > 1e-7);
}

TEST_CASE("heads and batches give what each of them gives alone") {
  for (const Variant& variant : variants()) {
    check_heads(variant, 1, 1, 4, 4, 4, false);
    check_heads(variant, 1, 1, 4, 4, 2, false);
    check_heads(variant, 1, 1, 4, 4, 1, false);
    check_heads(variant, 2, 3, 2, 2, 2, false);
    check_heads(variant, 2, 2, 6, 6, 3, false);
  }
  check_heads(find_variant("kda"), 1, 1, 4, 1, 1, true);
  check_heads(find_variant("scalar_decay"), 1, 1, 4, 1, 4, true);
}

TEST_CASE("a parameter may differ from head to head") {
  const Variant& variant = find_variant("retnet");
  const Case one = random_case(variant, {.parameters = {{"gamma", 0.5}}}, {.tokens = 6, .dk = 3, .dv = 2});
  Arrays two_heads = repeated_heads(variant, one.settings, *one.arrays, 1, 2, Precision::f64);
  two_heads["gamma"] = Array({2}, std::vector<double>{0.5, 0.25});
  const SequenceBatch batch =
      palimpsest::bind(variant, std::make_shared<const Arrays>(two_heads), Settings{});
  const auto run = [&](std::size_t head) {
    return variant.rule->run(batch.heads[head], Form::recurrent, Precision::f64, 1);
  };
  const Case other = random_case(variant, {.parameters = {{"gamma", 0.25}}}, {.tokens = 6, .dk = 3, .dv = 2});
  CHECK(compare(run(0), one.run(Form::recurrent)).error == 0);
  CHECK(compare(run(1), other.run(Form::recurrent)).error == 0);
  CHECK(compare(run(1), one.run(Form::recurrent)).error > 1e-3);
}

TEST_CASE("arrays of f32 are computed as the numbers they hold") {
  for (const Case& each : all_cases({.tokens = 20, .dk = 4, .dv = 3, .seed = 32})) {
    const Arrays narrow = rounded_to_f32(*each.arrays);
    Arrays wide;
    for (const auto& [name, array] : narrow) wide[name] = mapped<double>(array, std::identity());
    INFO(each.words);
    const Output expected = bound(*each.variant, each.settings, wide).run(Form::chunkwise, Precision::f64, 8);
    CHECK(
        compare(bound(*each.variant, each.settings, narrow).run(Form::chunkwise, Precision::f64, 8), expected)
            .error == 0);
  }
}

namespace {

/// The tokens of a case from `first` on.
Arrays rest_of(const Case& each, Index first) { return part_of(each, first, each.sequence.tokens - first); }

}  // namespace

TEST_CASE("queries wholly after a block get the same in every form") {
  int compared = 0;
  for (const Case& each : all_cases({.tokens = 30, .dk = 5, .dv = 3, .seed = 12})) {
    const Index split = split_at(each, 17);
    if (!dynamic_cast<const RowRule*>(each.variant->rule.get())) continue;
    INFO(each.words);
    ++compared;
    const Case block = first_tokens(each, split);
    const Output before = block.run(Form::recurrent);
    const auto answers = [&](Form form, Precision precision, Index chunk_size) {
      return asked(block, before, rest_of(each, split), form, chunk_size, precision);
    };
    const Matrix<double> expected = answers(Form::recurrent, Precision::f64, 1);
    REQUIRE(expected.rows() == 30 - split);
    for (const Form form : all_forms) {
      for (const Index chunk_size : {1, 5, 64}) {
        INFO(name(form) << " chunk " << chunk_size);
        CHECK(compare("o", answers(form, Precision::f64, chunk_size), expected).error <= 1e-12);
        CHECK(compare("o", answers(form, Precision::f32, chunk_size), expected).error <= 2e-5);
      }
    }
  }
  CHECK(compared > 50);
}

TEST_CASE("a token that only asks is one whose key and value are nothing") {
  for (const char* id : {"linear", "retnet", "gla", "deltanet", "gated_deltanet", "kda", "value_decay"}) {
    INFO(id);
    const Case each = random_case(id, {.tokens = 30, .dk = 5, .dv = 3, .seed = 13});
    const Case block = first_tokens(each, 17);
    const Output before = block.run(Form::chunkwise, Precision::f64, 4);
    const Arrays silent = rest_of(scaled(scaled(each, "k", 0), "v", 0), 17);
    const Matrix<double> run = extended(block, before, silent, Form::recurrent).o.bottomRows(13);
    const auto answers = [&](Arrays more) {
      return asked(block, before, std::move(more), Form::chunkwise, 4);
    };
    CHECK(compare("o", answers(rest_of(each, 17)), run).error <= 1e-12);
    // Its own writes would show.
    const Matrix<double> writing =
        extended(block, before, rest_of(each, 17), Form::recurrent).o.bottomRows(13);
    CHECK(compare("o", writing, run).error > 1e-2);
  }
}

TEST_CASE("a rule that no token can only ask says so") {
  const Case each = random_case("softmax", {.tokens = 6, .dk = 2, .dv = 2});
  const Case block = first_tokens(each, 4);
  CHECK_THROWS_WITH(asked(block, block.run(Form::recurrent), rest_of(each, 4), Form::parallel, 1),
                    says("A token that only queries is not defined here"));
}

TEST_CASE("a key that makes the decay counts nothing where a token only asks") {
  for (const char* causal : {"true", "false"}) {
    const Variant& variant = find_variant("double_softmax");
    const Case random = random_case(variant, {.options = {{"causal", causal}}},
                                    {.tokens = 9, .dk = 3, .dv = 2, .initial_state = true, .seed = 15});
    // The average of ones is one, whoever asks.
    const Case each = with(random, {{"initial_S", filled({3, 2}, 1)}});
    for (const Form form : all_forms) {
      INFO(causal << " " << name(form));
      const Matrix<double> o = variant.rule->answers(each.sequence, form, Precision::f64, 4);
      CHECK((o.array() - 1).abs().maxCoeff() <= 1e-14);
    }
  }
}

TEST_CASE("what a token would write does not matter where it only asks") {
  for (const Case& each : all_cases({.tokens = 24, .dk = 4, .dv = 3, .seed = 16})) {
    if (!dynamic_cast<const RowRule*>(each.variant->rule.get())) continue;
    const Index split = split_at(each, 12);
    const Case block = first_tokens(each, split);
    const Output before = block.run(Form::recurrent);
    const Arrays asking = rest_of(each, split);
    Arrays other = asking;
    for (const char* name : {"k", "v", "beta"}) {
      if (!other.contains(name)) continue;
      for (double& value : std::get<0>(other.at(name).own_values())) value = 0.25 + std::abs(value);
    }
    for (const Form form : all_forms) {
      INFO(each.words << " " << name(form));
      const auto answers = [&](const Arrays& more) { return asked(block, before, more, form, 5); };
      CHECK(compare("o", answers(other), answers(asking)).error <= 1e-14);
    }
  }
}

TEST_CASE("states that mean something together are given together") {
  for (const auto& [id, missing] : {std::pair{"kernel", "initial_z"},
                                    {"kernel", "initial_S"},
                                    {"double_softmax", "initial_log_z"},
                                    {"double_softmax", "initial_S"},
                                    {"softmax", "initial_v_cache"},
                                    {"fox", "initial_v_cache"},
                                    {"fox", "initial_g_cache"}}) {
    const Case each = random_case(id, {.tokens = 4, .initial_state = true});
    Arrays arrays = *each.arrays;
    REQUIRE(arrays.erase(missing) == 1);
    INFO(id << " without " << missing);
    CHECK_THAT(input_error([&] { bound(*each.variant, each.settings, arrays).run(Form::recurrent); }),
               says("must be given together"));
  }
}
