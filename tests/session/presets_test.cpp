#include <algorithm>
#include <cmath>

#include "app/session/presets.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/computed.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Matrix<double> matrix(const DataSet& data, const char* name) {
  const Array& array = data.arrays.at(name);
  return MatrixView(array, 0, array.shape[0], array.shape[1], array.shape[1]).all<double>();
}

Matrix<double> answers(const DataSet& data, const std::string& variant) {
  return compute(shared(data), {{.variant = variant}})->reference->expected().o;
}

bool asks(const DataSet& data, Index token) { return data.arrays.at("beta")[token] == 0; }

/// The last token before `token` whose key is what `token` asks for, and the sum of the values of all of
/// them.
struct Stored {
  Index last = -1;
  RowVector<double> sum;
};

Stored stored_for(const DataSet& data, Index token) {
  const Matrix<double> q = matrix(data, "q");
  const Matrix<double> k = matrix(data, "k");
  const Matrix<double> v = matrix(data, "v");
  Stored stored{-1, RowVector<double>::Zero(v.cols())};
  for (Index t = 0; t < token; ++t) {
    if (asks(data, t) || !k.row(t).isApprox(q.row(token))) continue;
    stored.last = t;
    stored.sum += v.row(t);
  }
  return stored;
}

/// How far outputs are at a token from what is stored for it.
double error_at(const DataSet& data, const Matrix<double>& o, Index token) {
  return (o.row(token) - matrix(data, "v").row(stored_for(data, token).last)).norm();
}

/// Calls `check(token, what is stored for it)` with every token that asks, or has the label "?"; at least one
/// does.
void for_each_asked(const DataSet& data, const auto& check, bool by_label = false) {
  Index asked = 0;
  for (Index t = 0; t < data.tokens; ++t) {
    if (by_label ? data.labels[static_cast<std::size_t>(t)] != "?" : !asks(data, t)) continue;
    const Stored stored = stored_for(data, t);
    REQUIRE(stored.last >= 0);
    check(t, stored);
    ++asked;
  }
  CHECK(asked > 0);
}

std::string id_of(const std::string& name, const PresetSize& size) {
  return preset_id(*std::ranges::find(presets(), name, &Preset::id), size);
}

constexpr PresetSize sizes[] = {{32, 16, 16, 1}, {14, 3, 2, 5}, {97, 1, 1, 2}, {200, 8, 5, 9}};

}  // namespace

TEST_CASE("every preset makes a labelled sequence whose keys have length 1") {
  for (const PresetSize& size : sizes) {
    for (const std::string& id : preset_ids(size)) {
      CAPTURE(id);
      const DataSet data = make_preset(id);
      CHECK(data.id == id);
      CHECK(data.tokens == size.tokens);
      CHECK(data.arrays.at("q").shape == std::vector<Index>{size.tokens, size.dk});
      CHECK(data.arrays.at("v").shape == std::vector<Index>{size.tokens, size.dv});
      CHECK(data.arrays.at("alpha").shape == std::vector<Index>{size.tokens});
      CHECK(data.arrays.at("beta").shape == std::vector<Index>{size.tokens});
      CHECK(matrix(data, "k").rowwise().norm().isApprox(Vector<double>::Ones(size.tokens)));
      CHECK(std::ranges::none_of(data.labels, &std::string::empty));
      CHECK(!data.title.empty());
      CHECK(!data.text.empty());
      CHECK(!data.notes.empty());
    }
  }
}

TEST_CASE("the same id gives the same numbers, another seed others") {
  for (const Preset& preset : presets()) {
    PresetSize other_seed = preset.usual;
    other_seed.seed = 2;
    const DataSet once = make_preset(usual_preset_id(preset));
    const DataSet again = make_preset("preset:" + preset.id);
    const DataSet other = make_preset(preset_id(preset, other_seed));
    CHECK(once.arrays.at("k").values() == again.arrays.at("k").values());
    CHECK(once.arrays.at("v").values() == again.arrays.at("v").values());
    CHECK(once.labels == again.labels);
    CHECK(once.arrays.at("v").values() != other.arrays.at("v").values());
  }
}

TEST_CASE("only a rule that erases and fades is right about both of two documents") {
  const DataSet data = make_preset("preset:documents");
  REQUIRE(data.tokens == 10);
  CHECK(data.arrays.at("alpha")[3] == 0.02);  // where the new document begins
  const Matrix<double> v = matrix(data, "v");
  // Asked for red, which the second document does not speak of, blue, which it overwrites, and green.
  const auto wrong = [&](const std::string& variant) {
    const Matrix<double> o = answers(data, variant);
    const Matrix<double> right =
        (Matrix<double>(3, v.cols()) << RowVector<double>::Zero(v.cols()), v.row(5), v.row(6)).finished();
    return Vector<double>((o.bottomRows(3) - right).rowwise().norm());
  };
  constexpr double little = 0.05;  // the gate leaves 0.02 of values of length 1
  const auto is_right = [&](const Vector<double>& errors) { return errors.array() < little; };
  CHECK(is_right(wrong("gated_deltanet")).all());
  CHECK(wrong("deltanet")[0] == Approx(1));  // still returns the old value of red
  CHECK(is_right(wrong("deltanet")).tail(2).all());
  CHECK(is_right(wrong("scalar_decay"))[0]);
  CHECK(wrong("scalar_decay")[1] == Approx(1).margin(little));  // both values of blue
  CHECK((wrong("linear").array() > 0.9).all());
}

TEST_CASE("the numbers of a preset are the same on every machine, to the last bit") {
  const DataSet data = make_preset("preset:orthonormal?T=4&K=3&V=2&seed=5");
  const auto number = [&](const char* name, Index i) { return data.arrays.at(name)[i]; };
  CHECK(number("k", 0) == -0.67996130091597762);
  CHECK(number("k", 5) == -0.34109863021188558);
  CHECK(number("v", 3) == -0.98191095279918694);
  CHECK(number("alpha", 3) == 0.98184301850478795);
}

TEST_CASE("sizes that a preset cannot have are refused by name") {
  const auto refused = [](const std::string& id, const std::string& words) {
    CAPTURE(id);
    CHECK_THROWS_AS(make_preset(id), InputError);
    CHECK_THROWS_WITH(make_preset(id), says(words));
  };
  refused("preset:nonsense", "there is no preset \"nonsense\"; known: random, orthonormal");
  refused("overwrite", "is not a preset");
  refused("preset:copy?T=1000001", "T is 1000001; expected 2 to 1000000");
  refused("preset:copy?T=1", "T is 1; expected 2 to 1000000");
  refused("preset:recall?T=-4", "T is -4; expected 14 to 1000000");
  refused("preset:copy?K=0", "K is 0; expected 1 to 512");
  refused("preset:copy?V=513", "V is 513; expected 1 to 512");
  refused("preset:copy?T=9999999999999999999999", "expected a whole number");
  refused("preset:copy?T=3.5", "T is \"3.5\"; expected a whole number");
  refused("preset:copy?seed=-1", "seed is \"-1\"");
  refused("preset:copy?D=4", "\"D\" is not a size");
  refused("preset:copy?cosine=0.5", "\"cosine\" is not a size of this preset; known: T, K, V, seed");
  refused("preset:correlated?cosine=1", "cosine is \"1\"; expected a number from 0 to 0.99");
  refused("preset:correlated?cosine=-0.1", "expected a number from 0 to 0.99");
  refused("preset:correlated?cosine=much", "cosine is \"much\"");
  refused("preset:correlated?cosine=nan", "cosine is \"nan\"");
  refused("preset:copy?T", "T is \"\"");
  CHECK(preset_size("preset:copy?T=40&seed=7") == PresetSize{40, 16, 16, 7});
  CHECK(preset_size("capture:whatever") == PresetSize{});
}

TEST_CASE("every preset exists at its smallest and largest sizes") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.id);
    for (const Index channels : {Index{1}, Index{2}, most_preset_channels}) {
      const DataSet data = make_preset(preset_id(preset, {preset.fewest_tokens, channels, channels, 3}));
      CHECK(data.tokens == preset.fewest_tokens);
    }
    CHECK(make_preset(preset_id(preset, {most_preset_tokens, 2, 1, 3})).tokens == most_preset_tokens);
  }
}

TEST_CASE(
    "what is asked for: the delta rule answers the newest value, linear attention the sum of all of them") {
  struct Asked {
    const char* preset;
    double rounding;  // of the sums
    bool stored_once = false;
  };
  for (const Asked& each :
       {Asked{"orthonormal", 1e-12, true}, Asked{"overwrite", 1e-10}, Asked{"copy", 1e-10}}) {
    for (const PresetSize& size : sizes) {
      const DataSet data = make_preset(id_of(each.preset, size));
      CAPTURE(data.id);
      const Matrix<double> v = matrix(data, "v");
      const Matrix<double> delta = answers(data, "deltanet");
      const Matrix<double> linear = answers(data, "linear");
      for_each_asked(data, [&](Index t, const Stored& stored) {
        CHECK((delta.row(t) - v.row(stored.last)).cwiseAbs().maxCoeff() < 1e-12);
        CHECK((linear.row(t) - stored.sum).cwiseAbs().maxCoeff() < each.rounding);
        if (each.stored_once) CHECK(stored.sum == v.row(stored.last));
      });
    }
  }
}

TEST_CASE("the needle is found at the end by rules that do not forget") {
  for (const PresetSize& size : sizes) {
    const DataSet data = make_preset(id_of("needle", size));
    CAPTURE(data.id);
    const auto needle = std::ranges::find(data.labels, "river") - data.labels.begin();
    const RowVector<double> value = matrix(data, "v").row(needle);
    for (const char* variant : {"linear", "deltanet"}) {
      CHECK((answers(data, variant).bottomRows(1) - value).cwiseAbs().maxCoeff() < 1e-10);
    }
    CHECK(data.labels.back() == "?");
  }
}

TEST_CASE("facts told in sentences are recalled at the question mark") {
  for (const PresetSize& size : sizes) {
    const DataSet data = make_preset(id_of("recall", size));
    CAPTURE(data.id);
    const Matrix<double> v = matrix(data, "v");
    const Matrix<double> o = answers(data, "deltanet");
    const auto is_recalled = [&](Index t, const Stored& stored) {
      CHECK((o.row(t) - v.row(stored.last)).cwiseAbs().maxCoeff() < 1e-12);
    };
    for_each_asked(data, is_recalled, true);
  }
  const DataSet data = make_preset("preset:recall");
  CHECK_THAT(data.text, says("The red box holds a key. The blue box holds a coin."));
}

TEST_CASE("any two correlated keys have the chosen cosine") {
  for (PresetSize size : sizes) {
    for (const double cosine : {0.0, 0.3, 0.75, 0.99}) {
      size.cosine = cosine;
      const DataSet data = make_preset(id_of("correlated", size));
      CAPTURE(data.id);
      const Index count = std::min((size.tokens + 1) / 2, size.dk);
      const Matrix<double> keys = matrix(data, "k").topRows(count);
      Matrix<double> expected = Matrix<double>::Constant(count, count, cosine);
      expected.diagonal().setOnes();
      // Sums of K products near 1, of keys that were normalised in f64.
      CHECK((keys * keys.transpose() - expected).cwiseAbs().maxCoeff() < 1e-13);
      CHECK(preset_size(data.id).cosine == cosine);
    }
  }
}

TEST_CASE("one fact is overwritten and the other stays, with nothing fading") {
  for (const PresetSize& size :
       {preset_of("preset:one_fact")->usual, PresetSize{9, 2, 3, 4}, PresetSize{7, 1, 1, 2}}) {
    const DataSet data = make_preset(id_of("one_fact", size));
    CAPTURE(data.id);
    CHECK(std::ranges::all_of(std::get<std::vector<double>>(data.arrays.at("alpha").values()),
                              [](double alpha) { return alpha == 1; }));
    const Matrix<double> v = matrix(data, "v");
    const auto at = [&](const char* label) {
      return std::ranges::find(data.labels, label) - data.labels.begin();
    };
    const auto last = [&](const char* label) {
      const auto found = std::ranges::find(data.labels.rbegin(), data.labels.rend(), label);
      return data.labels.rend() - found - 1;
    };
    const Matrix<double> delta = answers(data, "gated_deltanet");
    const Matrix<double> linear = answers(data, "linear");
    const auto off = [](const auto& x, const auto& y) { return (x - y).cwiseAbs().maxCoeff(); };
    CHECK(off(delta.row(at("red ?")), v.row(at("red → key"))) < 1e-14);
    CHECK(off(delta.row(last("red ?")), v.row(at("red → drum"))) < 1e-14);
    CHECK(off(linear.row(last("red ?")), v.row(at("red → key")) + v.row(at("red → drum"))) < 1e-14);
    if (size.dk > 1) CHECK(off(delta.row(at("blue ?")), v.row(at("blue → shell"))) < 1e-14);
  }
  CHECK(make_preset("preset:one_fact").arrays.find("k")->second.shape == std::vector<Index>{6, 4});
}

TEST_CASE("correlated keys confuse linear attention more than the delta rule") {
  const DataSet data = make_preset("preset:correlated?T=32&K=64&V=16");
  const Matrix<double> linear = answers(data, "linear");
  const Matrix<double> delta = answers(data, "deltanet");
  double linear_error = 0;
  double delta_error = 0;
  for (Index t = 16; t < 32; ++t) {
    linear_error += std::pow(error_at(data, linear, t), 2);
    delta_error += std::pow(error_at(data, delta, t), 2);
  }
  CHECK(linear_error > 3 * delta_error);
}

TEST_CASE("a drifting value is followed by the delta rule and not by a plain sum") {
  const DataSet data = make_preset("preset:drift?T=100");
  const Matrix<double> linear = answers(data, "linear");
  const Matrix<double> delta = answers(data, "deltanet");
  for (Index t = 50; t < 100; ++t) {
    if (asks(data, t)) CHECK(error_at(data, delta, t) < error_at(data, linear, t));
  }
}

TEST_CASE("softmax looks at the right token of a preset with what the preset advises") {
  const DataSet data = make_preset("preset:orthonormal");
  CHECK(error_at(data, answers(data, "softmax"), 20) < 0.01);
}

TEST_CASE("a capture that we ship is opened by its name and has a human title") {
  const DataSet data = open_capture("capture:gated_deltanet_overwrite_l1");
  CHECK(data.id == "capture:gated_deltanet_overwrite_l1");
  CHECK(data.title == "overwriting a fact · Gated DeltaNet · layer 1");
  CHECK(data.rule == "gated_deltanet");
  CHECK(data.labels[1] == "The");
  CHECK_THROWS_WITH(open_capture("capture:nothing"),
                    says("there is no capture \"nothing\"; known: ") && says("gated_deltanet_overwrite_l1"));
  CHECK_THROWS_WITH(open_capture("capture:"), says("is not a capture"));
  CHECK_THROWS_WITH(open_capture("capture:../captures/kda_recall_l1"), says("is not a capture"));
  CHECK_THROWS_WITH(open_capture("preset:copy"), says("is not a capture"));
}
