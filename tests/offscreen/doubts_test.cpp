// What a file of one's own leaves open, the card of its arrays, and what stands beside a rule's name.

#include <numeric>

#include "tests/core/io/files.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Array waves(std::vector<Index> shape, double least, double most) {
  const Index count = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies());
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = least + (most - least) * (0.5 + 0.5 * std::sin(static_cast<double>(i * i % 101)));
  return {std::move(shape), std::move(values)};
}

/// A file whose beta is called b, and whose q is called so or otherwise.
std::string file_in(const TemporaryFolder& folder, const char* q = "q") {
  const std::string file = folder / "layer.npz";
  write_npz(file, {{q, waves({20, 2, 4}, -1, 1)},
                   {"k", waves({20, 2, 4}, -1, 1)},
                   {"v", waves({20, 2, 4}, -1, 1)},
                   {"g", waves({20, 2}, -0.1, 0)},
                   {"b", waves({20, 2}, 0, 1)}});
  return file;
}

}  // namespace

TEST_CASE("a misnamed array is told under the top bar, and one click takes it as what it is", "[doubts]") {
  const TemporaryFolder folder;
  const std::string file = file_in(folder);
  ShownProgram shown("step", file);
  shown.draw();
  CHECK(shown.session.choice().variant == "scalar_decay");
  CHECK(words_at("doubts/0") == "“b” is not used.");
  CHECK(words_at("doubts/1") == "scale = 1 (not in the file)");
  shown.draw_clicked("doubts/0/answer");
  CHECK(shown.session.data().id == file + "?beta=b");
  CHECK(shown.session.choice().variant == "gated_deltanet");

  // The scale changes neither the rule nor the place.
  shown.choose("deltanet");
  shown.draw_at(5);
  shown.draw_clicked("doubts/0/answer");
  CHECK(shown.session.data().id == file + "?beta=b&scale=0.5");
  CHECK(shown.session.choice().variant == "deltanet");
  CHECK(shown.session.token() == 5);
  CHECK_FALSE(parts().find("doubts"));
  REQUIRE(shown.session.undo());
  shown.draw();
  CHECK(shown.session.data().id == file + "?beta=b");
  shown.draw_clicked("doubts/close");
  CHECK_FALSE(parts().find("doubts"));
}

TEST_CASE("a rule that takes an array has no question about it", "[doubts]") {
  const TemporaryFolder folder;
  const std::string file = folder / "layer.npz";
  Arrays arrays;
  for (const char* const name : {"q", "k", "v", "a", "b"}) arrays[name] = waves({20, 2, 4}, -0.5, 0.5);
  write_npz(file, arrays);
  ShownProgram shown("step", file);
  shown.draw();
  CHECK(words_at("doubts/0") == "“a” and “b” are not used.");
  shown.draw_as("rwkv7");
  CHECK(words_at("doubts/0") == "scale = 1 (not in the file)");
}

TEST_CASE("what a bar has no room for is on the card of the arrays", "[doubts]") {
  const TemporaryFolder folder;
  ShownProgram shown("step", file_in(folder), {620, 600});
  shown.draw();
  CHECK(words_at("doubts/names").ends_with("more…"));
  shown.draw_clicked("doubts/names");
  CHECK(shown.application.show_names);
  CHECK(words_at("arrays/0") == "“b” is not used.");
}

TEST_CASE("arrays are taken for inputs on a card that shows each", "[doubts]") {
  const TemporaryFolder folder;
  const std::string file = file_in(folder, "what");
  ShownProgram shown;
  shown.application.names_of = file;
  shown.application.show_names = true;
  shown.draw();
  CHECK(words_at("arrays/inputs/k/array") == "k  [20, 2, 4]");
  CHECK(words_at("arrays/inputs/q/array") == "none");
  CHECK_THAT(words_at("arrays/inputs/g/reach"), says("-0.0997 … -4.41"));
  const auto choose = [&](const std::string& input, const std::string& array) {
    shown.draw_clicked("arrays/inputs/" + input + "/array");
    const auto item = std::ranges::find(parts().all(), array, &Part::words);
    INFO("there is no " << array << " in\n" << parts().text());
    REQUIRE(item != parts().all().end());
    shown.click(item->where);
  };
  choose("q", "what  [20, 2, 4]");
  choose("beta", "b  [20, 2]");
  shown.draw();
  CHECK(words_at("arrays/inputs/q/array") == "what  [20, 2, 4]");
  shown.draw_clicked("arrays/inputs/beta/sigmoid");
  shown.draw_clicked("arrays/open");
  CHECK_FALSE(shown.application.show_names);
  CHECK(shown.session.message() == "");
  CHECK(shown.session.data().id == file + "?beta=sigmoid(b)&q=what");
}

TEST_CASE("a refused file says what could be done, in the dialog and at the foot", "[doubts]") {
  const TemporaryFolder folder;
  const std::string file = file_in(folder, "query");
  for (const bool in_dialog : {false, true}) {
    CAPTURE(in_dialog);
    ShownProgram shown;
    shown.application.show_open = in_dialog;
    shown.pass(2);
    shown.application.open_path = file;
    shown.pass(2);  // the line has what is typed
    shown.application.open(file);
    shown.draw();
    shown.draw();  // what could be done is asked for when the message is there
    const std::string said = in_dialog ? words_at("verdict") : words_at("words");
    CHECK_THAT(said, says("layer.npz: array \"q\" is missing") || says("missing"));
    if (in_dialog) {
      CHECK_FALSE(said.starts_with(folder.path().string()));  // it stands in the line above
      // The list still holds the other files of the folder.
      CHECK_THAT(parts().text(), says("layer.npz"));
    }
    const Part* answer = nullptr;
    for (const Part& each : parts().all()) {
      if (each.words == "Use query as q and b as beta") answer = &each;
    }
    REQUIRE(answer);
    shown.click(answer->where);
    shown.draw();
    CHECK(shown.session.data().id == file + "?beta=b&q=query");
    CHECK(shown.session.message() == "");
  }
}

TEST_CASE("what was made of the data stands beside the rule's name, as far as there is room", "[doubts]") {
  ShownProgram shown("step", overwriting_capture);
  shown.draw();
  CHECK_FALSE(parts().find("data facts"));
  const auto said = [&](const char* variant, const Size& size) {
    shown.choose(variant);
    shown.draw(size);
    return words_at("data facts");
  };
  CHECK(said("mesanet", {1920, 1080}) == "(not in the data: gamma = 0.98, ridge = 1; not used: g)");
  CHECK(said("mesanet", {1280, 800}) == "(2 not in the data)");
  CHECK(said("linear", {1280, 800}) == "(not used: g, beta)");
  CHECK(said("retnet", {1280, 800}) == "(gamma = mean of alpha; …)");
  CHECK(said("kda", {1280, 800}) == "(adapted)");
  CHECK(said("ttt_mlp", {1000, 800}).ends_with(" not in the data)"));
}
