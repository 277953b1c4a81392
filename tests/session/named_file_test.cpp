// Arrays of a file under names of its own, and what one is asked about them.

#include "app/session/named_file.h"

#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// A file of one layer: 12 tokens, 3 heads, 4 channels.
struct Layer {
  TemporaryFolder folder;
  std::string file = (folder / "layer.npz").string();
  Arrays arrays = with_arrays(
      three({12, 3, 4}),
      {{"g", constant({12, 3}, -0.1)}, {"beta", constant({12, 3}, 0.5)}, {"scale", constant({}, 0.5)}});

  void rename(const std::string& name, const std::string& other) {
    auto node = arrays.extract(name);
    node.key() = other;
    arrays.insert(std::move(node));
  }

  DataSet opened(const std::string& names = {}) const {
    write_npz(file, arrays);
    return open_file(file + names);
  }

  std::string refusal(const std::string& names = {}) const {
    return input_error([&] { opened(names); });
  }
};

Doubt only(const std::vector<Doubt>& doubts) {
  REQUIRE(doubts.size() == 1);
  return doubts.front();
}

}  // namespace

TEST_CASE("a file's arrays are taken for inputs as its id says, which is written back the same", "[names]") {
  Layer layer;
  const DataSet plain = layer.opened();
  CHECK(plain.doubts.empty());
  layer.rename("q", "query");
  layer.rename("beta", "b&w ?");
  const DataSet data = layer.opened("?q=query&beta=sigmoid(b%26w %3F)&scale=0.25");
  CHECK(data.id == layer.file + "?beta=sigmoid(b%26w %3F)&q=query&scale=0.25");
  CHECK(open_file(data.id).id == data.id);
  CHECK(data.fits == "gated_deltanet");
  CHECK(data.arrays.at("q").values() == plain.arrays.at("q").values());
  CHECK(data.arrays.at("beta")[5] == 1 / (1 + std::exp(-0.5)));
  CHECK(data.arrays.at("scale")[0] == 0.25);
  CHECK(data.arrays.at("scale").rank() == 0);
  CHECK_FALSE(data.arrays.contains("query"));
  CHECK(layer.opened("?q=query&g=").fits == "linear");  // the decay is left out, and nothing is called beta

  CHECK_THAT(layer.refusal("?q=nothing"), says("array \"nothing\" is missing; found: ") && says("query"));
  CHECK_THAT(layer.refusal("?query=q"), says("no rule takes an array \"query\""));
  CHECK_THAT(layer.refusal("?q=query&axes=TDH"), says("axes is \"TDH\"; expected HTD"));

  const std::string odd = (layer.folder / "what?q=query").string();  // a file may be called so
  std::filesystem::copy_file(layer.file, odd);
  CHECK(named_file(odd).file == odd);
}

TEST_CASE("all missing names are told at once, and what could stand for them", "[names]") {
  Layer layer;
  for (const auto& [name, other] :
       {std::pair("q", "query"), {"k", "Key"}, {"v", "value"}, {"g", "log_decay"}, {"beta", "b"}})
    layer.rename(name, other);
  CHECK_THAT(layer.refusal(),
             says("arrays \"q\", \"k\" and \"v\" are missing; found: b, scale, Key, log_decay, query, value; "
                  "to use query as q, Key as k, value as v, b as beta and log_decay as g, open "
                  "layer.npz?beta=b&g=log_decay&k=Key&q=query&v=value"));
  const auto doubts = doubts_about_file(layer.file);
  CHECK(only(doubts).id == layer.file + "?beta=b&g=log_decay&k=Key&q=query&v=value");
  CHECK(open_file(only(doubts).id).fits == "gated_deltanet");

  layer.arrays = {{"foo", numbers({3})}};
  CHECK_THAT(layer.refusal(), says("are missing; found: foo") && !says("to use"));
  CHECK(doubts_about_file(layer.file).empty());
}

TEST_CASE("arrays that are not used are named, and near names offered", "[names]") {
  Layer layer;
  layer.rename("beta", "b");
  const DataSet data = layer.opened();
  CHECK(data.fits == "scalar_decay");
  const Doubt doubt = only(data.doubts);
  CHECK(doubt.words == "“b” is not used.");
  CHECK(doubt.answer == "Use b as beta");
  CHECK(open_file(doubt.id).fits == "gated_deltanet");
  CHECK(open_file(doubt.id).doubts.empty());

  layer.arrays["a"] = numbers({12, 3, 4});  // as RWKV-7 has it: this b is no strength
  const Doubt both = only(layer.opened().doubts);
  CHECK(both.words == "“a” and “b” are not used.");
  CHECK(both.answer.empty());

  for (const char* const name : {"w", "x", "y"}) layer.arrays[name] = numbers({2});
  CHECK(only(layer.opened().doubts).words == "“a”, “b”, “w” and 2 more are not used.");
  CHECK(open_data("capture:mamba2_recall_l2").doubts.empty());  // we know what x and D are
}

TEST_CASE("a layout with more heads than tokens is asked about, and turned", "[names]") {
  Layer layer;
  layer.arrays = with_arrays(
      three({2, 12, 4}, {1, 12, 4}, {1, 12, 5}),
      {{"g", constant({2, 12}, -1)}, {"beta", constant({12, 2}, 1)}, {"scale", constant({1}, 1)}});
  const auto doubts = doubts_about_file((layer.opened("?g=&beta="), layer.file));
  CHECK(only(doubts).words == "12 heads of 2 tokens: is the layout [H, T, D]?");
  CHECK(only(doubts).answer == "Read as 12 tokens, 2 heads");
  const DataSet data = open_file(only(doubts).id);
  CHECK(data.tokens == 12);
  CHECK(data.heads == 2);
  CHECK(data.doubts.empty());
  CHECK(data.arrays.at("g").shape == std::vector<Index>{12, 2});
  CHECK(data.arrays.at("beta").shape == std::vector<Index>{12, 2});  // it was so
  const Array& given = layer.arrays.at("q");
  for (Index t = 0; t < 12; ++t)
    for (Index h = 0; h < 2; ++h)
      CHECK(data.arrays.at("q")[(t * 2 + h) * 4 + 3] == given[(h * 12 + t) * 4 + 3]);

  // Fewer heads of keys look like fewer tokens.
  layer.arrays = three({8, 6, 4}, {2, 6, 4}, {2, 6, 4});
  layer.opened();
  const auto shared_heads = doubts_about_file(layer.file);
  CHECK(only(shared_heads).answer == "Read as 6 tokens, 8 heads");

  layer.arrays = three({1, 2, 12, 4});
  CHECK(open_file(layer.opened().doubts.front().id).tokens == 12);
}

TEST_CASE("gates out of their range are asked about, not changed", "[names]") {
  Layer layer;
  std::get<0>(layer.arrays["beta"].own_values())[7] = -2;
  std::get<0>(layer.arrays["beta"].own_values())[8] = 3;
  const DataSet data = layer.opened();
  CHECK(data.arrays.at("beta")[8] == 3);
  CHECK(only(data.doubts).words == "beta is from -2 to 3: is it a logit?");
  CHECK(open_file(only(data.doubts).id).arrays.at("beta")[7] == 1 / (1 + std::exp(2.0)));

  layer.arrays["beta"] = constant({12, 3}, 0.5);
  layer.arrays["g"] = constant({12, 3}, 0.9);
  layer.opened();
  const auto as_alpha = doubts_about_file(layer.file);
  CHECK(only(as_alpha).answer == "Take its logarithm");
  CHECK(open_file(only(as_alpha).id).arrays.at("alpha")[0] == 0.9);
  CHECK_FALSE(open_file(only(as_alpha).id).arrays.contains("g"));

  layer.rename("g", "alpha");
  layer.arrays["alpha"] = constant({12, 3}, -0.1);
  layer.opened();
  CHECK(only(doubts_about_file(layer.file)).answer == "Use it as g");
}

TEST_CASE("a scale that a file does not have is told, and 1/√d offered", "[names]") {
  Layer layer;
  layer.arrays.erase("scale");
  const DataSet data = layer.opened();
  CHECK(only(data.doubts).words == "scale = 1 (not in the file)");
  CHECK(only(data.doubts).answer == "Use 1/√d = 0.5");
  CHECK(open_file(only(data.doubts).id).arrays.at("scale")[0] == 0.5);
  write_npz(layer.file, layer.arrays, {{"meta", R"({"scale": 0.25})"}});
  CHECK(open_file(layer.file).arrays.at("scale")[0] == 0.25);
  CHECK(open_file(layer.file).doubts.empty());
}

TEST_CASE("a doubt is answered by other data, which can be undone and are kept in a saved place", "[names]") {
  Layer layer;
  layer.rename("beta", "b");
  layer.opened();
  Opened session(layer.file);
  CHECK(session.choice().variant == "scalar_decay");
  open(session, only(session.data().doubts).id);
  CHECK(session.choice().variant == "gated_deltanet");
  const std::string kept = session.to_string();
  const std::string json = session.to_json();
  undo(session);
  CHECK(session.data().id == layer.file);
  CHECK(session.choice().variant == "scalar_decay");

  Session other;
  REQUIRE(other.from_string(kept));
  other.wait();
  CHECK(other.data().id == layer.file + "?beta=b");
  CHECK(other.data().arrays.contains("beta"));
  // A relative path of a saved place is beside it, with its names.
  come_back(other, R"({"data": "layer.npz?beta=b"})", layer.folder);
  CHECK(other.message().empty());
  CHECK(other.data().id == layer.file + "?beta=b");
}

TEST_CASE("a session says which data it refused, until there is something else to say", "[names]") {
  Layer layer;
  layer.rename("q", "query");
  layer.opened("?q=query");
  Opened session("preset:one_fact");
  session.open_named(layer.file);
  session.wait();
  CHECK(session.refused() == layer.file);
  CHECK(session.data().id.starts_with("preset:"));  // nothing is lost
  session.set_message("something else");
  CHECK(session.refused().empty());
  session.open_named(layer.file);
  session.wait();
  open(session, only(*find_out(DoubtsAboutFile{layer.file})).id);
  CHECK(session.refused().empty());
}

TEST_CASE("the arrays of a file are shown small before they are named", "[names]") {
  Layer layer;
  layer.arrays = {{"a", numbers({12, 3, 4})},
                  {"b", constant({12, 3}, 2)},
                  {"c", constant({}, -1)},
                  {"d", constant({3, 200, 40}, 1)}};
  std::get<0>(layer.arrays["b"].own_values())[4] = std::nan("");
  write_npz(layer.file, layer.arrays);
  const auto found = find_out(ArraysOfFile{layer.file});
  const std::vector<FileArray>& all = *found;
  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "a");
  CHECK(all[0].picture.rows() == 4);
  CHECK(all[0].picture.cols() == 12);
  CHECK(all[0].picture(3, 5) == layer.arrays["a"][5 * 12 + 3]);
  CHECK(all[1].not_finite == 1);
  CHECK(all[1].most == 2);
  CHECK(all[1].picture.rows() == 3);
  CHECK(all[2].picture(0, 0) == -1);
  CHECK((*find_out(ArraysOfFile{layer.file, true}))[3].picture.cols() == 96);  // the first tokens
  CHECK_THROWS_WITH(find_out(ArraysOfFile{"/no/such.npz"}), says("/no/such.npz"));
}
