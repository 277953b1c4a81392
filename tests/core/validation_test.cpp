#include "core/base/error.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Three tokens, two key and two value channels: right for gated_deltanet.
Arrays arrays_of_three() {
  return {{"q", filled({3, 2}, 1)},
          {"k", filled({3, 2}, 1)},
          {"v", filled({3, 2}, 1)},
          {"alpha", filled({3}, 0.5)},
          {"beta", filled({3}, 0.5)}};
}

/// Four heads of q, k, v.
Arrays heads(Index q, Index k, Index v) {
  return {{"q", filled({3, q, 2}, 1)}, {"k", filled({3, k, 2}, 1)}, {"v", filled({3, v, 2}, 1)}};
}

std::string refusal(const char* id, const Arrays& arrays, const Settings& settings = {}) {
  return input_error(
      [&] { palimpsest::bind(find_variant(id), std::make_shared<const Arrays>(arrays), settings); });
}

/// The refusal of gated_deltanet after `change`.
template <class Change>
std::string refusal_after(Change change) {
  Arrays arrays = arrays_of_three();
  change(arrays);
  return refusal("gated_deltanet", arrays);
}

/// Its refusal of this array, and of its own array with this number.
std::string refusal_with(const char* name, const Array& array) {
  return refusal_after([&](Arrays& arrays) { arrays[name] = array; });
}
std::string refusal_of_number(const char* name, std::size_t at, double number) {
  return refusal_after([&](Arrays& arrays) { numbers(arrays, name)[at] = number; });
}

std::string refusal_of(const char* id, const Settings& settings) {
  return input_error([&] { resolve(find_variant(id), settings); });
}

}  // namespace

TEST_CASE("a missing array is named, with what there is or what it should be") {
  CHECK(refusal("linear", {}) == R"(array "q" is missing; found: no arrays)");
  CHECK(refusal("linear", {{"k", filled({3, 2}, 1)}, {"v", filled({3, 2}, 1)}}) ==
        R"(array "q" is missing; found: k, v)");
  CHECK(refusal_after([](Arrays& arrays) { arrays.erase("v"); }) ==
        R"(array "v" is missing: gated_deltanet needs it with shape (n, dv) for each head)");
  CHECK(
      refusal_after([](Arrays& arrays) { arrays.erase("alpha"); }) ==
      R"(array "alpha" or "g" (log alpha) is missing: gated_deltanet needs it with shape (n) for each head)");
}

TEST_CASE("a wrong rank is named") {
  CHECK(refusal("linear", {{"q", filled({3}, 1)}}) ==
        R"(array "q": shape [3] has rank 1; expected [T, K], [T, H, K] or [B, T, H, K])");
  CHECK(refusal("linear", {{"q", filled({1, 1, 1, 1, 1}, 1)}}) ==
        R"(array "q": shape [1, 1, 1, 1, 1] has rank 5; expected [T, K], [T, H, K] or [B, T, H, K])");
  CHECK(refusal_with("alpha", filled({3, 2}, 0.5)) ==
        R"(array "alpha": shape [3, 2] has rank 2; expected (n), since q has rank 2)");
  Arrays arrays = heads(2, 2, 2);
  arrays["alpha"] = filled({3, 2, 2}, 0.5);
  CHECK(refusal("scalar_decay", arrays) ==
        R"(array "alpha": shape [3, 2, 2] has rank 3; expected (n, H), since q has rank 3)");
}

TEST_CASE("there are as many heads as blocks fit along an axis of a grid, and no more") {
  const auto of_no_tokens = [](Index batches, Index heads) {
    Arrays arrays;
    for (const char* const name : {"q", "k", "v"}) arrays[name] = filled({batches, 0, heads, 1}, 0);
    return arrays;
  };
  CHECK(refusal("linear", of_no_tokens(3, 21845)).empty());
  CHECK(
      refusal("linear", of_no_tokens(2, 32768)) ==
      R"(array "q": shape [2, 0, 32768, 1] makes 2 batches of 32768 heads; expected at most 65535 heads in all)");
}

TEST_CASE("a size that does not fit is named, with the array that fixed it") {
  CHECK(refusal_with("v", filled({4, 2}, 1)) ==
        R"(array "v": shape [4, 2] has n = 4 on axis 0; expected 3 as in "q")");
  CHECK(refusal_with("k", filled({3, 5}, 1)) ==
        R"(array "k": shape [3, 5] has dk = 5 on axis 1; expected 2 as in "q")");
  CHECK(refusal_with("initial_state", filled({2, 3}, 0)) ==
        R"(array "initial_state": shape [2, 3] has dv = 3 on axis 1; expected 2 as in "v")");
  CHECK(refusal_with("q", filled({3, 0}, 0)) ==
        R"(array "q": shape [3, 0] has dk = 0 on axis 1; expected at least 1)");
  CHECK(refusal_with("v", filled({3, 0}, 0)) ==
        R"(array "v": shape [3, 0] has dv = 0 on axis 1; expected at least 1)");
  Arrays batches = {
      {"q", filled({2, 3, 1, 2}, 1)}, {"k", filled({1, 3, 1, 2}, 1)}, {"v", filled({2, 3, 1, 2}, 1)}};
  CHECK(refusal("linear", batches) == R"(array "k": shape [1, 3, 1, 2] has 1 batches; expected 2 as in "q")");
}

TEST_CASE("a number outside its range is named with its index") {
  CHECK(refusal_of_number("k", 3, quiet_nan) == R"(array "k": index [1, 1] is nan; expected finite)");
  CHECK(refusal_of_number("v", 4, -infinity) == R"(array "v": index [2, 0] is -inf; expected finite)");
  CHECK(refusal_of_number("alpha", 1, 1.5) == R"(array "alpha": index [1] is 1.5; expected [0, 1])");
  CHECK(refusal_of_number("alpha", 2, -0.1) == R"(array "alpha": index [2] is -0.1; expected [0, 1])");
  CHECK(refusal_of_number("beta", 2, infinity) ==
        R"(array "beta": index [2] is inf; expected finite; stable in [0, 2] if |k| = 1)");
  CHECK(refusal_of_number("beta", 0, -1).empty());

  const auto with_g = [](double value) {
    return refusal_after([value](Arrays& arrays) {
      arrays.erase("alpha");
      arrays["g"] = filled({3}, -0.5);
      numbers(arrays, "g")[2] = value;
    });
  };
  CHECK(with_g(0.25) == R"(array "g": index [2] is 0.25; expected log alpha in [-inf, 0])");
  CHECK(with_g(quiet_nan) == R"(array "g": index [2] is nan; expected log alpha in [-inf, 0])");
  CHECK(with_g(-infinity).empty());
}

TEST_CASE("alpha and g exclude each other") {
  CHECK(refusal_with("g", filled({3}, -1)) ==
        R"(both "alpha" and "g" are given; g is log alpha, give one of the two)");
}

TEST_CASE("head counts must fit") {
  CHECK(refusal("linear", heads(4, 4, 4)).empty());
  CHECK(refusal("linear", heads(4, 2, 1)).empty());
  CHECK(refusal("linear", heads(4, 3, 4)) ==
        R"(array "k": shape [3, 3, 2] has 3 heads, which does not divide the 4 heads of the others)");
  Arrays arrays = heads(4, 4, 4);
  arrays["alpha"] = filled({3, 2}, 0.5);
  CHECK(refusal("scalar_decay", arrays) ==
        R"(array "alpha": shape [3, 2] has 2 heads; expected 4 (only q, k and v may share heads))");
  CHECK(refusal("linear", heads(4, 0, 4)) ==
        R"(array "k": shape [3, 0, 2] has 0 heads, which does not divide the 4 heads of the others)");
}

TEST_CASE("arrays that a variant does not know are listed, not refused") {
  Arrays arrays = arrays_of_three();
  arrays["o"] = filled({1}, 0);
  arrays["scale"] = filled({1}, 2);
  const SequenceBatch batch =
      palimpsest::bind(find_variant("linear"), std::make_shared<const Arrays>(arrays), Settings{});
  CHECK(batch.ignored == std::vector<std::string>{"alpha", "beta", "o"});
  CHECK(batch.heads.front().parameter("scale") == 2);
}

TEST_CASE("options and parameters are checked by name and range") {
  CHECK(refusal_of("retnet", {.parameters = {{"gama", 0.5}}}) ==
        R"(retnet has no parameter "gama"; it takes: order, scale, gamma)");
  CHECK(refusal_of("linear", {.options = {{"direction", "left"}}}) ==
        R"(linear has no parameter "direction"; it takes: causal, order, scale)");
  CHECK(refusal_of("retnet", {.parameters = {{"gamma", 1.5}}}) ==
        "parameter gamma of retnet is 1.5; expected a number in [0, 1]");
  CHECK(refusal_of("retnet", {.parameters = {{"gamma", quiet_nan}}}) ==
        "parameter gamma of retnet is nan; expected a number in [0, 1]");
  CHECK_THAT(refusal_of("linear", {.parameters = {{"scale", infinity}}}),
             says("parameter scale of linear is inf"));
  CHECK(
      refusal_of("kernel", {.options = {{"feature_map", "cosine"}}}) ==
      R"(option feature_map of kernel is "cosine"; expected one of: elu1, relu, squared, taylor1, taylor2, favor)");
  CHECK(refusal_of("linear", {.parameters = {{"causal", 1}}}) ==
        "option causal of linear is a word, not the number 1");
  CHECK(refusal_of("retnet", {.options = {{"gamma", "half"}}}) ==
        R"(parameter gamma of retnet is a number, not "half")");
  CHECK(refusal("retnet", heads(2, 2, 2)) ==
        "parameter gamma is missing: retnet needs it (decay per token, in [0, 1])");
}

TEST_CASE("parameters in the arrays are checked, and given ones go first") {
  Arrays arrays = heads(2, 2, 2);
  arrays["gamma"] = Array({2}, std::vector<double>{0.5, 0.75});
  CHECK(refusal("retnet", arrays).empty());
  arrays["gamma"] = filled({3}, 0.5);
  CHECK(refusal("retnet", arrays) ==
        R"(array "gamma": shape [3]; expected one number or one for each of the 2 heads)");
  arrays["gamma"] = Array({2}, std::vector<double>{0.5, 2});
  CHECK(refusal("retnet", arrays) == R"(array "gamma" is 2; expected a number in [0, 1])");
  CHECK(refusal("retnet", arrays, {.parameters = {{"gamma", 0.5}}}).empty());
}

TEST_CASE("an unknown variant is told the known ones") {
  CHECK_THAT(input_error([] { find_variant("softmaks"); }),
             says(R"(there is no variant "softmaks"; known: )" + variants()[0].id + ", " + variants()[1].id));
}

TEST_CASE("what only a rule can check is refused when it runs") {
  Settings mixed{.options = {{"feature_map_q", "relu"}, {"feature_map_k", "squared"}}};
  Arrays arrays = {{"q", filled({1, 3}, 1)}, {"k", filled({1, 3}, 1)}, {"v", filled({1, 2}, 1)}};
  const auto run = [&](const char* id, const Settings& settings, Index chunk_size) {
    return input_error(
        [&] { bound(find_variant(id), settings, arrays).run(Form::chunkwise, Precision::f64, chunk_size); });
  };
  CHECK_THAT(run("kernel", mixed, 1),
             says("feature_map_q = relu makes 3 features of 3 channels but feature_map_k = squared makes 6"));
  CHECK(run("linear", {}, 0) == "the chunk size is 0; expected at least 1");
  arrays["initial_k_cache"] = filled({2, 3}, 0);
  CHECK_THAT(run("softmax", {}, 1), says("must be given together"));
  arrays.erase("initial_k_cache");
  arrays["initial_S"] = filled({4, 2}, 1);
  arrays["initial_z"] = filled({4}, 1);
  CHECK_THAT(run("kernel", {}, 1), says(R"(array "initial_S": shape [4, 2]; expected [3, 2])"));
}
