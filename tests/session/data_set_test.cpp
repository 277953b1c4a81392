#include "app/session/data_set.h"

#include <fmt/format.h>

#include <limits>

#include "app/session/inputs.h"
#include "app/session/presets.h"
#include "core/base/error.h"
#include "core/io/npy.h"
#include "core/io/npz.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Arrays three(std::vector<Index> q, std::vector<Index> k, std::vector<Index> v) {
  return {{"q", numbers(std::move(q))}, {"k", numbers(std::move(k))}, {"v", numbers(std::move(v))}};
}

Inputs inputs_for(const DataSet& data, const char* variant, Index head = 0) {
  return make_inputs(data, head, find_variant(variant), {}, {});
}

}  // namespace

TEST_CASE("data without a sequence in them are refused") {
  const auto refused = [](Arrays arrays, const std::string& words) {
    CHECK_THROWS_WITH(data_of(std::move(arrays)), says(words));
  };
  refused({}, "array \"q\" is missing");
  refused({{"q", numbers({4, 2})}}, "array \"k\" is missing");
  refused(three({4}, {4}, {4}), "array \"q\": shape [4] has rank 1");
  refused(three({1, 1, 4, 2, 2}, {4, 2}, {4, 2}), "has rank 5");
  refused(three({4, 2}, {4, 1, 2}, {4, 2}),
          "array \"k\": shape [4, 1, 2] has rank 3; expected 2 as in \"q\"");
  refused(three({0, 2}, {0, 2}, {0, 2}), "the sequence is empty");
  refused(three({4, 0}, {4, 2}, {4, 2}), "array \"q\": shape [4, 0] has an axis of size 0");
  refused(three({4, 0, 2}, {4, 1, 2}, {4, 1, 2}), "axis of size 0");
  refused(three({0, 4, 1, 2}, {0, 4, 1, 2}, {0, 4, 1, 2}), "axis of size 0");
  // No memory is asked for before the sizes are looked at.
  refused(three({Index{1} << 60, 0}, {4, 2}, {4, 2}), "axis of size 0");
  refused(three({most_tokens + 1, 1}, {4, 1}, {4, 1}), "at most 1048576 can be shown");
}

TEST_CASE("arrays that do not fit together are refused where a variant takes them") {
  const auto refused = [](Arrays arrays, const char* variant, const std::string& words) {
    const DataSet data = data_of(std::move(arrays));
    CHECK_THROWS_WITH(inputs_for(data, variant), says(words));
  };
  refused(three({4, 2}, {5, 2}, {4, 2}), "linear", "array \"k\": shape [5, 2] has 5 tokens; expected 4");
  refused(three({2, 4, 1, 2}, {3, 4, 1, 2}, {2, 4, 1, 2}), "linear", "has 3 batches; expected 2");
  refused(three({4, 3, 2}, {4, 2, 2}, {4, 3, 2}), "linear", "has 2 heads, which does not divide the 3 heads");

  Arrays arrays = three({4, 3, 2}, {4, 1, 2}, {4, 3, 2});
  arrays.emplace("beta", numbers({4}));
  refused(arrays, "deltanet", "array \"beta\": shape [4] has rank 1; expected (n, H)");
  CHECK_NOTHROW(inputs_for(data_of(arrays), "linear"));  // which has no beta

  arrays = three({4, 3, 2}, {4, 1, 2}, {4, 3, 2});
  arrays.emplace("beta", numbers({4, 1}));
  refused(arrays, "deltanet", "has 1 heads; expected 3 (only q, k and v may share heads)");
  arrays.erase("beta");
  arrays.emplace("g", numbers({4, 3, 2, 1}));
  refused(arrays, "gla", "array \"g\": shape [4, 3, 2, 1] has rank 4");
  arrays.erase("g");
  arrays.emplace("initial_state", numbers({2, 2, 2}));
  refused(arrays, "linear", "array \"initial_state\": shape [2, 2, 2] has 2 heads");
  arrays.erase("initial_state");
  arrays.emplace("scale", numbers({2}));
  refused(arrays, "linear", "array \"scale\": shape [2]; expected one number or one for each head");
}

TEST_CASE("a head is cut out of grouped heads and batches") {
  Arrays arrays = three({2, 3, 4, 2}, {2, 3, 2, 2}, {2, 3, 1, 5});
  arrays.emplace("alpha", Array({2, 3, 4}, std::vector<double>(24, 0.5)));
  arrays.emplace("scale", Array({4}, std::vector<double>{1, 2, 3, 4}));
  const DataSet data = data_of(arrays);
  CHECK(data.batches == 2);
  CHECK(data.heads == 4);
  CHECK(data.tokens == 3);
  const Arrays head = head_arrays(data, 4 + 3, find_variant("scalar_decay"));  // the last of the second batch
  const Array& q = head.find("q")->second;
  const Array& k = head.find("k")->second;
  REQUIRE(q.shape == std::vector<Index>{3, 2});
  REQUIRE(k.shape == std::vector<Index>{3, 2});
  for (Index t = 0; t < 3; ++t) {
    for (Index d = 0; d < 2; ++d) {
      CHECK(q[t * 2 + d] == arrays["q"][((3 + t) * 4 + 3) * 2 + d]);
      CHECK(k[t * 2 + d] == arrays["k"][((3 + t) * 2 + 1) * 2 + d]);
    }
  }
  CHECK(head.find("scale")->second[0] == 4);
  CHECK(head.find("alpha")->second.shape == std::vector<Index>{3});
}

TEST_CASE("a head that there is not is refused") {
  const DataSet data = data_of(three({2, 3, 4, 2}, {2, 3, 2, 2}, {2, 3, 1, 5}));
  for (const Index head : {-1, 8}) {
    CHECK_THROWS_WITH(head_arrays(data, head, find_variant("linear")),
                      says(fmt::format("\"head\" is {}; expected a head of these data, 0 to 7", head)));
  }
}

TEST_CASE("without edits the numbers are those of the file, bit for bit") {
  for (const std::string& id : capture_ids()) {
    CAPTURE(id);
    const DataSet data = open_data(id);
    const Variant& variant = find_variant(data.rule);
    for (Index head = 0; head < data.heads; ++head) {
      const Inputs inputs = make_inputs(data, head, variant, {}, {});
      CHECK(inputs.is_original);
      CHECK(inputs.notes.empty());
      for (const auto& [name, array] : head_arrays(data, head, variant)) {
        if (name == "g" && variant.id == "retnet") continue;  // a parameter now
        CAPTURE(name);
        CHECK(inputs.arrays->find(name)->second.values == array.values);
      }
    }
  }
}

TEST_CASE("what a variant needs and the data lack is made up and said") {
  const DataSet data = data_of(three({4, 2}, {4, 2}, {4, 2}));
  const Inputs gated = inputs_for(data, "gated_deltanet");
  CHECK(gated.made_up_alpha);
  CHECK(gated.made_up_beta);
  CHECK(gated.notes ==
        std::vector<std::string>{"These data lack decay (0.98 at every token) and beta (1 at every token)."});
  CHECK(!gated.is_original);
  CHECK(inputs_for(data, "kda").arrays->find("alpha")->second.shape == std::vector<Index>{4, 2});
  CHECK(inputs_for(data, "retnet").settings.parameters.at("gamma") == 0.98);
  CHECK(inputs_for(data, "linear").notes.empty());
}

TEST_CASE("files that are no sequence are refused with their name") {
  const TemporaryFolder folder;
  const auto refused = [&](const Arrays& arrays, const std::string& words) {
    const auto path = folder / "case.npz";
    write_npz(path, arrays);
    CHECK_THROWS_WITH(open_file(path), says(words) && says("case.npz"));
  };
  refused({{"x", numbers({2})}, {"beta", numbers({2})}}, "array \"q\" is missing; found: beta, x");
  refused(three({0, 2}, {0, 2}, {0, 2}), "the sequence is empty");
  CHECK_THROWS_AS(open_file(folder / "absent.npz"), InputError);
  CHECK_THROWS_AS(open_file(folder.path()), InputError);
}

TEST_CASE("a table with labels is a sequence, and one that lacks an array says where it was looked for") {
  const TemporaryFolder folder;
  write_file(folder / "mine.csv",
             "label,q0,q1,k0,k1,v0,beta,mood\nthe,1,2,3,4,5,1,good\njar,6,7,8,9,10,0.5,bad\n");
  const DataSet data = open_file(folder / "mine.csv");
  CHECK(data.labels == std::vector<std::string>{"the", "jar"});
  CHECK(data.title == "mine");
  CHECK(data.fits == "deltanet");
  CHECK(inputs_for(data, "deltanet").is_original);
  CHECK(data.id == (folder / "mine.csv").string());

  write_file(folder / "less.csv", "q0,query1\n1,2\n");
  CHECK_THROWS_WITH(open_file(folder / "less.csv"),
                    says("less.csv: array \"k\" is missing; expected the columns k0, k1, …"));
  std::filesystem::create_directory(folder / "layer");
  const std::vector<std::byte> bytes = format_npy(numbers({2, 2}));
  write_file(folder / "layer/q.npy", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  CHECK_THROWS_WITH(open_file(folder / "layer/q.npy"), says("\"k\" is missing; expected k.npy beside it"));
  CHECK_THROWS_WITH(open_file(folder / "layer"), says("\"k\" is missing; expected k.npy in this folder"));
}

TEST_CASE("a file that names no rule is first looked at with the one that takes just its gates") {
  const TemporaryFolder folder;
  const auto fits = [&](std::vector<std::pair<std::string, std::vector<Index>>> gates) {
    Arrays arrays = three({6, 2, 4}, {6, 2, 4}, {6, 2, 3});
    for (auto& [name, shape] : gates) arrays.emplace(name, numbers(std::move(shape)));
    write_npz(folder / "gates.npz", arrays);
    return open_file(folder / "gates.npz").fits;
  };
  CHECK(fits({}) == "linear");
  CHECK(fits({{"beta", {6, 2}}}) == "deltanet");
  CHECK(fits({{"alpha", {6, 2}}}) == "scalar_decay");
  CHECK(fits({{"g", {6, 2, 4}}}) == "gla");
  CHECK(fits({{"g", {6, 2}}, {"beta", {6, 2}}}) == "gated_deltanet");
  CHECK(fits({{"alpha", {6, 2, 4}}, {"beta", {6, 2}}}) == "kda");
  CHECK(open_data("capture:gla_recall_l1").fits.empty());  // it says so itself
}
