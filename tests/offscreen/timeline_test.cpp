#include "app/views/floor.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

struct Drawn : ShownProgram {
  void choose_drawn(const std::string& variant, Form form, Index chunk_size = 4) {
    choose(variant, form, chunk_size);
    REQUIRE(session.trace() != nullptr);
    pass(4);
  }
};

/// The parts of the floor that was drawn last, below one of its own.
std::vector<const Part*> floor_parts(const std::string& name = "") {
  const auto in_floor = std::ranges::find_if(
      parts().all(), [](const Part& part) { return part.path.find("/floor/") != std::string::npos; });
  REQUIRE(in_floor != parts().all().end());
  const std::string floor = in_floor->path.substr(0, in_floor->path.find("/floor/")) + "/floor";
  return parts().below(name.empty() ? floor : floor + '/' + name);
}

const Part& floor_piece(const std::string& name) {
  INFO(name);
  REQUIRE_FALSE(floor_parts(name).empty());
  return *floor_parts(name).front();
}

/// The number at the end of a path.
Index number_of(const Part& part) { return std::stol(part.path.substr(part.path.rfind('/') + 1)); }

/// Letters of one width: columns can be laid out without a screen.
Ruler plain_ruler() {
  Ruler ruler;
  ruler.words = [](const std::string& words, style::Text) {
    return ImVec2(8 * static_cast<float>(words.size()), 14);
  };
  return ruler;
}

}  // namespace

TEST_CASE("the frame around a word crosses no caption of a chunk, and its name is not a dot alone",
          "[timeline]") {
  Drawn drawn;
  drawn.session.go_to_token(8);  // the first of its chunk: its caption stands above it
  drawn.choose_drawn("softmax", Form::recurrent);
  const std::vector<const Part*> groups = floor_parts("group");
  REQUIRE(groups.size() > 2);
  const float descent = 3;  // of a caption's letters
  for (const Part* group : groups)
    CHECK(floor_piece("cursor").where.minimum.y > group->where.maximum.y - descent);
  drawn.application.show_welcome = false;  // it stands in the place of where we are
  for (const auto& [variant, form] :
       {std::pair("comba", Form::two_pass), std::pair("gated_deltanet", Form::chunkwise)}) {
    CAPTURE(variant);
    drawn.choose_drawn(variant, form, 8);
    drawn.session.go_to_token(42);
    drawn.pass(4);
    const std::string position = words_at("step/transport/position");
    CAPTURE(position);
    CHECK(position.starts_with("chunk 6 of 12 · token 43"));
    CHECK_FALSE(position.ends_with("·"));
  }
}

TEST_CASE("the frame of the present word strikes through no word of any floor", "[timeline]") {
  Drawn drawn;
  drawn.choose_drawn("gated_deltanet", Form::chunkwise);
  drawn.session.go_to_token(42);
  for (const Workspace& workspace : workspaces()) {
    CAPTURE(workspace.id);
    drawn.application.enter(workspace.id);
    drawn.session.wait();
    drawn.pass(4);
    const std::vector<const Part*> words = floor_parts("words");
    REQUIRE(words.size() > 10);
    for (const Part* word : words) CHECK(floor_piece("cursor").where.minimum.y <= word->where.minimum.y);
  }
}

TEST_CASE("the floor draws the groups that the form takes together", "[timeline]") {
  Drawn drawn;
  const std::tuple<const char*, Form, const char*, Index> all[] = {
      {"gated_deltanet", Form::recurrent, "chunk", 4}, {"gated_deltanet", Form::chunkwise, "chunk", 4},
      {"softmax", Form::chunkwise, "chunk", 4},        {"lact", Form::recurrent, "batch", 16},
      {"lact", Form::chunkwise, "batch", 16},          {"ttt_linear", Form::recurrent, "batch", 8},
      {"ttt_linear", Form::chunkwise, "batch", 8}};
  for (const auto& [variant, form, word, size] : all) {
    CAPTURE(variant, name(form));
    drawn.choose_drawn(variant, form);
    const std::vector<const Part*> groups = floor_parts("group");
    CHECK(groups.size() > 1);
    for (const Part* group : groups) {
      const Index first = number_of(*group);
      CHECK(first % size == 0);
      CHECK(group->words == fmt::format("{} {}", word, first / size + 1));
    }
    CHECK(floor_of(drawn.session, "").groups.size == size);
  }
  drawn.choose_drawn("gated_deltanet", Form::parallel);
  REQUIRE(floor_parts("group").size() == 1);
  CHECK(floor_piece("group/0").words == "the whole sequence");
  CHECK(floor_of(drawn.session, "").groups.size == drawn.session.trace()->tokens);
}

TEST_CASE("the floor's bars have the scale of nearly all visible errors, and say the largest", "[timeline]") {
  Drawn drawn;
  for (const char* variant : {"linear", "deltanet", "gated_deltanet", "lact"}) {
    CAPTURE(variant);
    drawn.choose_drawn(variant, Form::recurrent);
    const Computation& computed = *drawn.session.computed();
    std::vector<double> lengths;
    for (const Recall& recall : computed.recalls->tokens) {
      lengths.push_back(std::sqrt(2 * recall.before));
      lengths.push_back(std::sqrt(2 * recall.after));
    }
    std::ranges::sort(lengths);
    const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(lengths.size())));
    const LengthScale scale = visible_scales(computed, 0, computed.sequence.tokens).errors;
    CHECK(scale.full == lengths[rank - 1]);
    CHECK(scale.largest == lengths.back());
  }
}

TEST_CASE("bars for lengths: 95 % in full, the rest cut", "[timeline]") {
  std::vector<double> lengths;
  for (int i = 1; i <= 19; ++i) lengths.push_back(i);
  lengths.push_back(1e6);
  lengths.push_back(infinity);
  const LengthScale scale = length_scale(lengths);
  CHECK(scale.full == 19);
  CHECK(scale.largest == 1e6);
  CHECK(length_bar(0, scale.full).part == 0);
  CHECK(length_bar(9.5, scale.full).part == 0.5F);
  CHECK_FALSE(length_bar(19, scale.full).cut);
  CHECK(length_bar(19.001, scale.full).cut);
  CHECK(length_bar(19.001, scale.full).part == 1);
  CHECK(length_bar(infinity, scale.full).cut);
  CHECK(length_bar(quiet_nan, scale.full).cut);
  // Nothing but zeros, but for one: that one is the scale.
  std::vector<double> zeros(40, 0.0);
  CHECK(length_scale(zeros).full == 0);
  CHECK_FALSE(length_bar(0, 0).cut);
  zeros.push_back(3);
  CHECK(length_scale(zeros).full == 3);
  CHECK(length_scale({}).full == 0);
}

TEST_CASE("half-lives in words and as bars, where keeping all is a full bar", "[timeline]") {
  CHECK(half_life_words(1) == "no decay");
  CHECK(half_life_words(0) == "forgets everything");
  CHECK(half_life_words(0.5) == "half-life 1 token");
  CHECK(half_life_words(0.25) == "half-life 0.5 tokens");
  CHECK(half_life_words(std::pow(0.5, 1.0 / 954)) == "half-life 954 tokens");
  CHECK(half_life_words(0.99) == "half-life 69 tokens");
  CHECK(half_life_words(std::nextafter(1.0, 0.0)) == "half-life 6e+15 tokens");
  CHECK(half_life_part(1) == 1);
  CHECK(half_life_part(0) == 0);
  // A log axis from 0.1 to 10 000 words: 1 word is a fifth of it, 100 are three fifths.
  CHECK(half_life_part(0.5) == Approx(0.2).margin(1e-6));
  CHECK(half_life_part(std::pow(0.5, 0.01)) == Approx(0.6).margin(1e-6));
}

TEST_CASE("words asked about: those written most strongly, each text once", "[timeline]") {
  const std::vector<std::string> labels = {" a", " key", ".", " key", " drum", " b", " pen"};
  std::vector<TokenFacts> facts(labels.size());
  const double written[] = {0.1, 0.8, 0.45, 0.9, 1.0, 0.49, 3.0};
  for (std::size_t t = 0; t < facts.size(); ++t) facts[t].written = written[t];
  const std::vector<double> strengths = write_strengths(facts);
  CHECK(strongest_writes(strengths, labels, 1, 6) == std::vector<Index>{0});
  CHECK(strongest_writes(strengths, labels, 3, 6) == std::vector<Index>{1, 2});
  CHECK(strongest_writes(strengths, labels, 5, 6) == std::vector<Index>{3, 4});  // the stronger "key"
  CHECK(strongest_writes(strengths, labels, 7, 6) == std::vector<Index>{6});
  CHECK(strongest_writes(strengths, labels, 3, 1) == std::vector<Index>{1});
  CHECK(strongest_writes(write_strengths(std::vector<TokenFacts>(7)), labels, 7, 6).empty());
  facts[6].written = infinity;
  CHECK(write_strengths(facts)[6] == 0);

  Drawn drawn;
  drawn.choose_drawn("gated_deltanet", Form::recurrent);
  drawn.session.go_to_token(42);
  drawn.session.wait();
  drawn.pass(4);
  drawn.session.questions().wait();  // what was asked for is told later
  drawn.pass(4);
  const auto underlined = [&] { return floor_of(drawn.session, "").underlined; };
  std::string words;
  for (const Index t : underlined()) words += drawn.session.data().labels[static_cast<std::size_t>(t)];
  CHECK(words == " key shell map bell book drum");
  drawn.choose_drawn("gated_deltanet", Form::chunkwise);  // where nobody asks
  const auto draw = [&] { drawn.application.draw(1); };
  drawn.offscreen().render([&] {
    name_words({3, 5});  // as a view does that asks about others
    draw();
  });
  CHECK(underlined() == std::vector<Index>{3, 5});
  drawn.offscreen().render(draw);
  CHECK(underlined() != std::vector<Index>{3, 5});
}

TEST_CASE("columns are as wide as their words, and a point on the screen finds its word", "[timeline]") {
  std::vector<std::string> labels;
  for (int i = 0; i < 30; ++i) labels.insert(labels.end(), {"The", " red", " jar", " a", " holds"});
  const FloorText text = {.id = "of", .labels = labels, .tokens = std::ssize(labels)};
  const Ruler ruler = plain_ruler();
  FloorView view;
  const auto laid_out = [&](float width = 900) {
    return floor_columns(view, text, ruler, {100, 0}, {width, 150});
  };
  const FloorColumns columns = laid_out();
  REQUIRE(columns.has_words());
  CHECK(columns.width(3) < columns.width(4));  // "a", "holds"
  CHECK(columns.left(0) == 100);
  for (Index t = columns.begin(); t + 1 < columns.end(); ++t) {
    CHECK(columns.left(t + 1) > columns.left(t));
    CHECK(columns.token_at(columns.left(t) + 0.5F) == t);
    CHECK(columns.token_at(columns.left(t + 1) - 0.5F) == t);
  }
  // The end of the text stands at the right edge.
  view.first = 1e9;
  const FloorColumns last = laid_out();
  CHECK(last.end() == text.tokens);
  CHECK(last.left(last.end()) == Approx(1000).margin(0.01));
  // The wheel keeps what is under it.
  const double under = last.at(700);
  zoom_floor(view, last, text, ruler, 1.2F, 700);
  CHECK(laid_out().at(700) == Approx(under).margin(1e-3));
  zoom_floor(view, last, text, ruler, 1e-3F, 700);
  const FloorColumns all = laid_out();
  CHECK_FALSE(all.has_words());
  CHECK(all.begin() == 0);
  CHECK(all.end() == all.tokens);
}

TEST_CASE("tokens that share a pixel share a column, and none is left out", "[timeline]") {
  const std::vector<std::string> labels(4096, " word");
  const FloorText text = {.id = "of", .labels = labels, .tokens = std::ssize(labels)};
  FloorView view;
  floor_columns(view, text, plain_ruler(), {0, 0}, {1000, 150});
  view.column = 0;
  const FloorColumns columns = floor_columns(view, text, plain_ruler(), {0, 0}, {1000, 150});
  Index next = 0;
  float right = 0;
  int count = 0;
  columns.each([&](Index first, Index end, float from, float to) {
    CHECK(first == next);
    CHECK(from == right);
    CHECK(to >= from + 1);
    next = end;
    right = to;
    ++count;
  });
  CHECK(next == 4096);
  CHECK(count <= 1001);
}

TEST_CASE("rows of a floor share what is left in parts", "[timeline]") {
  Floor floor;
  floor.rows = {{.name = "a", .height = 20}, {.name = "b", .share = 3}, {.name = "c", .share = 1}};
  const std::vector<Rectangle> rows = floor_rows(floor, {{10, 100}, {200, 200}}, plain_ruler());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].minimum.y == 100);
  CHECK(rows[0].maximum.y == 120);
  CHECK(rows[1].maximum.y == 180);
  CHECK(rows[2].maximum.y == 200);
  const FloorScale halves{.bottom = 0.5, .top = 3000, .logarithmic = true};
  CHECK(halves.part(0.5) == 0);
  CHECK(halves.value(halves.part(70)) == Approx(70));
  CHECK(FloorScale{.bottom = -1, .top = 3}.part(1) == 0.5F);
}

TEST_CASE("what there is to say stands at the foot of the window until it is closed", "[status]") {
  Drawn drawn;
  const auto is_said = [&] {
    drawn.pass(4);
    return is_window_shown("Status");
  };
  CHECK_FALSE(is_said());
  drawn.session.set_message("there is no such file\nanywhere, " + std::string(500, 'x'));
  CHECK(is_said());
  CHECK(Rectangle{{301, 0}, {1279, 799}}.holds(window_place("Status")));
  drawn.session.clear_message();
  drawn.application.refusal = "nothing follows";
  CHECK(is_said());
  drawn.application.refusal.clear();
  CHECK_FALSE(is_said());
}

TEST_CASE("the word at the cursor stays in sight when the window shrinks", "[timeline]") {
  Drawn drawn;
  drawn.session.go_to_token(42);
  drawn.session.wait();
  drawn.offscreen().render([&] {
    FloorView view;
    const auto is_in_sight = [&](float width) {
      const FloorColumns columns = floor_columns(view, floor_of(drawn.session, "").text, screen_ruler(false),
                                                 {100, 100}, {width, 100});
      return columns.left(42) >= 100 && columns.left(43) <= 100 + width;
    };
    CHECK(is_in_sight(1800));
    CHECK(is_in_sight(700));
    CHECK(is_in_sight(300));
    CHECK(is_in_sight(1100));
  });
}

TEST_CASE("the names of the floor's rows do not lie on each other, with tabs neither", "[timeline]") {
  for (const bool tabs : {false, true}) {
    for (const int height : {800, 700, 1080}) {
      CAPTURE(tabs, height);
      ShownProgram shown("step", {}, {1280, height});
      shown.application.panel_layout.show_tabs(tabs);
      shown.pass(20);
      std::vector<float> names;
      for (const Part* part : floor_parts()) {
        if (part->path.ends_with("/name")) names.push_back(part->where.minimum.y);
      }
      REQUIRE(names.size() >= 2);
      std::ranges::sort(names);
      for (std::size_t i = 1; i < names.size(); ++i) CHECK(names[i] - names[i - 1] >= 12);  // letters of 12
    }
  }
}

TEST_CASE("numbers beside the bars of errors stay in their columns", "[timeline]") {
  Drawn drawn;
  std::size_t written = 0;
  for (const char* data : {"preset:overwrite?T=12&K=4&V=4", "preset:overwrite?T=4&K=4&V=4"}) {
    drawn.open(data);
    drawn.choose_drawn("gated_deltanet", Form::recurrent);
    for (const Part* number : floor_parts("error/number")) {
      const Part& word = floor_piece("words/" + std::to_string(number_of(*number)));
      const float middle = (word.where.minimum.x + word.where.maximum.x) / 2;
      CHECK(number->where.minimum.x >= middle - 10);  // right of its bar, which ends before the middle
      ++written;
    }
  }
  CHECK(written > 0);
}

TEST_CASE("the legend does not say otherwise than a row that names itself", "[timeline]") {
  Drawn drawn;
  drawn.resize({1920, 1080});  // room for every entry
  drawn.choose_drawn("titans", Form::recurrent);
  CHECK(parts().find("step/transport/legend/written"));
  drawn.application.enter("learn");
  drawn.pass(12);
  CHECK_THAT(words_at("learn/transport/legend"), says("‖e‖ before"));
  CHECK_FALSE(parts().find("learn/transport/legend/written"));
}
