#include "app/session/data_preview.h"

#include <cmath>

#include "app/session/presets.h"
#include "core/base/error.h"
#include "core/cases/random_case.h"
#include "core/io/npz.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::shared_ptr<const PreviewedData> preview(const std::string& id) { return find_out(DataPreview{id}); }

double number(const DataSet& data, const char* name, Index token, Index head, Index channel = 0) {
  const Array& array = data.arrays.find(name)->second;
  const Index channels = array.rank() > 2 ? array.shape[2] : 1;
  return array[(token * array.shape[1] + head) * channels + channel];
}

}  // namespace

TEST_CASE("a preview shows the keys, strengths and gates of every head as the file has them", "[preview]") {
  const auto shown = preview("capture:gated_deltanet_overwrite_l1");
  const DataSet& data = *shown->data;
  REQUIRE(shown->heads.size() == 4);
  CHECK(shown->variant->id == "gated_deltanet");
  CHECK(shown->tokens == 94);
  for (const Index head : {Index{0}, Index{3}}) {
    const HeadPreview& one = shown->heads[static_cast<std::size_t>(head)];
    REQUIRE(one.similarity.rows() == 94);
    REQUIRE(one.strength.size() == 94);
    REQUIRE(one.kept.size() == 94);
    for (const Index t : {Index{1}, Index{42}, Index{93}}) {
      double products = 0;
      double own = 0;
      double other = 0;
      for (Index d = 0; d < 64; ++d) {
        products += number(data, "k", t, head, d) * number(data, "k", 6, head, d);
        own += std::pow(number(data, "k", t, head, d), 2);
        other += std::pow(number(data, "k", 6, head, d), 2);
      }
      // Sums of 64 products in another order.
      CHECK(std::abs(one.similarity(t, 6) - products / std::sqrt(own * other)) < 1e-13);
      CHECK(std::abs(one.strength[static_cast<std::size_t>(t)] - number(data, "beta", t, head) * own) <
            1e-13);
      CHECK(one.kept[static_cast<std::size_t>(t)] == std::exp(number(data, "g", t, head)));
    }
  }
}

TEST_CASE("a preview leaves out what data do not have, and is short", "[preview]") {
  const auto softmax = preview("capture:softmax_names_l16");
  CHECK(softmax->heads.size() == 9);
  CHECK(softmax->heads[0].strength.empty());
  CHECK(softmax->heads[0].kept.empty());
  CHECK(preview("capture:gla_recall_l1")->heads[0].strength.empty());
  CHECK(preview("capture:gla_recall_l1")->heads[0].kept.size() == 105);
  CHECK(preview("capture:retnet_overwrite_l2")->variant->id == "retnet");

  const auto longer = preview("preset:correlated?T=300&K=150&V=2&seed=1&cosine=0.5");
  CHECK(longer->tokens == most_previewed_tokens);
  REQUIRE(longer->heads.size() == 1);
  CHECK(longer->heads[0].similarity.rows() == most_previewed_tokens);
  CHECK(std::abs(longer->heads[0].similarity(3, 100) - 0.5) < 1e-12);
  CHECK(DataPreview::bytes(*longer) > sizeof(double) * most_previewed_tokens * most_previewed_tokens);
  CHECK(DataPreview{"preset:copy?T=9"}.question() == DataPreview{"preset:copy?T=8"}.question());
}

TEST_CASE("every rule has a preview of a file of its own, also one that makes its keys", "[preview]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "own.npz").string();
  int made = 0;
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    const Settings settings = random_settings(variant, {}, 1);
    Arrays arrays =
        random_arrays(variant, settings, fitted(variant, settings, {.tokens = 7, .dk = 6, .dv = 6}));
    const bool makes_keys = !arrays.contains("k");
    if (makes_keys) arrays["k"] = numbers({7, 6});  // no file is without; this rule does not look at it
    write_npz(file, arrays, {{"meta", R"({"rule": ")" + variant.id + R"("})"}});
    const auto shown = preview(file);
    CHECK(shown->variant->id == variant.id);
    const Matrix<double>& similarity = shown->heads.at(0).similarity;
    REQUIRE(similarity.rows() == 7);
    CHECK(similarity.allFinite());
    if (!makes_keys) continue;
    ++made;
    const auto key = [&](Index t) {
      const Array& alpha = arrays.at("alpha");
      RowVector<double> of_token(6);
      for (Index d = 0; d < 6; ++d) of_token(d) = 1 - alpha[t * 6 + d];
      return of_token.normalized().eval();
    };
    for (Index t = 0; t < 7; ++t) CHECK(std::abs(similarity(t, 2) - key(t).dot(key(2))) < 1e-14);
  }
  CHECK(made == 1);  // HGRN2, whose key is 1 - alpha
}

TEST_CASE("what cannot be opened has no preview and says why", "[preview]") {
  CHECK_THROWS_WITH(preview("preset:nothing"), says("there is no preset"));
  CHECK_THROWS_WITH(preview("/no/such/file.npz"), says("/no/such/file.npz"));
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS((find_out(DataPreview{"preset:copy"}, {.stop = stop.get_token(), .progress = {}})),
                  Cancelled);
}

TEST_CASE("every capture and preset has a preview", "[preview]") {
  std::vector<std::string> ids = capture_ids();
  for (const Preset& one : presets()) ids.push_back(usual_preset_id(one));
  for (const std::string& id : ids) {
    CAPTURE(id);
    const auto shown = preview(id);
    CHECK(!shown->heads.empty());
    for (const HeadPreview& head : shown->heads) CHECK(head.similarity.allFinite());
  }
}
