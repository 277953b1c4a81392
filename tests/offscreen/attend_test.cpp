#include "app/views/attend.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr std::pair<WeighedBy, const char*> readers[] = {{WeighedBy::rule, "attend/rule"},
                                                         {WeighedBy::softmax, "attend/softmax"}};

Rectangle square_of(const char* reader) { return place_of(std::string(reader) + "/area"); }

/// All parts of both squares are there.
void check_squares(ShownProgram& shown) {
  for (const auto& [by, path] : readers) {
    REQUIRE(parts().find(std::string(path) + "/area"));
    const SeenWeights seen = seen_weights(shown.application, by);
    CHECK(seen.wanted > 0);
    CHECK(seen.there == seen.wanted);
  }
}

}  // namespace

TEST_CASE("Attend shows every variant at every size, or says why not", "[attend]") {
  ShownProgram shown("attend", "preset:overwrite?T=24&K=6&V=5");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    for (const Variant& variant : variants()) {
      CAPTURE(variant.id, size.width);
      shown.choose(variant.id);
      shown.draw_at(15);
      const auto row = ask_row(shown.application, shown.session.token()).value;
      REQUIRE(row);
      CHECK(attention_facts(shown.application).reason == row->reason);
      CHECK((parts().find("attend/no rule/reason") == nullptr) == row->reason.empty());
      const bool has_keys = shown.session.computed()->sequence.has("k");
      for (const auto& [by, path] : readers) {
        const Part* square = parts().find(std::string(path) + "/area");
        REQUIRE((square != nullptr) == (by == WeighedBy::rule ? row->reason.empty() : has_keys));
        if (!square) continue;
        const SeenWeights seen = seen_weights(shown.application, by);
        CHECK(seen.there == seen.wanted);
        CHECK(square->is_whole());
      }
      CHECK(attended_range(shown.application) > 0);
    }
  }
}

TEST_CASE("what is read most, its sum and the scale are in sight at every size", "[attend]") {
  ShownProgram shown("attend");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    for (const char* variant : {"gated_deltanet", "kda", "softmax", "value_decay", "mamba"}) {
      CAPTURE(variant, size.width);
      shown.choose(variant);
      shown.draw_at(63);
      CHECK(ask_row(shown.application, shown.session.token()).value->words.size() == 5);
      const Part* const side = parts().find("attend/side");
      REQUIRE(side);
      CHECK(side->is_whole());
      // In a low window the colours and the sharpness of softmax stand below the squares.
      CHECK((parts().find("attend/settings") != nullptr) == (size.width == 1280));
      // The row's frame ends where its word stands: behind it nothing is read, and the loupe has its place.
      for (const auto& [by, path] : readers) {
        const Part* const row = parts().find(std::string(path) + "/mark/present");
        if (!row) continue;  // a rule without weights
        const Rectangle square = square_of(path);
        const float unit = square.width() / static_cast<float>(shown.session.computed()->sequence.tokens);
        CHECK(std::abs(row->where.maximum.x - (square.minimum.x + 64 * unit)) <= 1);
      }
    }
  }
}

TEST_CASE("Attend leads to what is read most wherever it stands", "[attend]") {
  ShownProgram shown("attend", "preset:random?T=600&K=64&V=4&seed=1");
  shown.draw_at(460);
  check_squares(shown);
  const auto loupe_column = [&](const char* reader) {  // in its middle
    const Rectangle square = square_of(reader);
    const float middle = place_of(std::string(reader) + "/mark/loupe").middle().x - square.minimum.x;
    return static_cast<Index>(middle / square.width() * 600);
  };
  const auto row = ask_row(shown.application, 460).value;
  for (const char* const reader : {"attend/rule", "attend/softmax"})  // side by side: the same cells of both
    CHECK(loupe_column(reader) == row->read_most()->token);
  // The numbers stand behind the mask, where nothing is read: pointing at them moves no cell under the
  // pointer.
  const Rectangle square = square_of("attend/rule");
  shown.point({square.minimum.x + 0.8F * square.width(), square.minimum.y + 180.5F / 600 * square.height()});
  CHECK(loupe_column("attend/rule") == row->read_most()->token);
  // It still leads to the row there; a pixel is more than a token here.
  CHECK(std::abs(attend_sight().pointed->row - 180) <= static_cast<Index>(std::ceil(600 / square.height())));
  CHECK_THAT(parts().find("attend/side/sum")->words, says("The largest softmax weight: token 161 "));
  CHECK(weight_words(-0.0, true) == "0 %");  // not "-0 %"
  CHECK(weight_words(-0.002, true) == "-0.2 %");
  CHECK(weight_words(0.00001, true) == "0 %");
  CHECK(weight_words(-0.052, true) == "-5 %");
  const Part* pointed = parts().find("attend/floor/softmax/pointed");
  REQUIRE(pointed);
  CHECK_THAT(pointed->words, says("← largest weight: token 161 "));
}

TEST_CASE("on the axes of a long text stand the numbers of its tokens and the words that matter",
          "[attend]") {
  ShownProgram shown("attend", "preset:random?T=1500&K=4&V=4&seed=1");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    shown.draw_at(777);
    std::vector<std::string> words = words_below("attend/rule/axis/x");
    std::ranges::copy(words_below("attend/softmax/axis/x"), std::back_inserter(words));
    const auto numbered = std::ranges::count_if(words, [](const std::string& each) {
      return each.ends_with("00") && each.find_first_not_of("0123456789") == std::string::npos;
    });
    CHECK(numbered >= 5);
    CHECK(std::ssize(words) - numbered <= 14);  // the present word, five that are read most, in two squares
  }
}

TEST_CASE("numbers beside the bars of Attend lie over no bar, no other number and inside the floor",
          "[attend]") {
  ShownProgram shown("attend", "capture:kda_prose_l1", usual_sizes[1]);
  for (const Index token : {30, 100, 155}) {
    shown.draw_at(token);
    const Part* cursor = parts().find("attend/floor/cursor");
    REQUIRE(cursor);
    for (const std::string reader : {"attend/floor/rule", "attend/floor/softmax"}) {
      const std::vector<Rectangle> numbers = places_below(reader + "/number");
      check_numbers_and_bars_apart(numbers, places_below(reader + "/bar"));
      for (const Rectangle& number : numbers) {
        CHECK(number.maximum.x <= 1920);
        for (const float x : {cursor->where.minimum.x, cursor->where.maximum.x})
          CHECK_FALSE((number.minimum.x < x && number.maximum.x > x));
      }
    }
  }
}

TEST_CASE("words below the columns touch no others, and the present one is there", "[attend]") {
  ShownProgram shown("attend");
  const auto check_words = [&](Index token) {
    shown.session.go_to_token(token);
    for (const Size& size : usual_sizes) {
      shown.draw(size);
      for (const auto& [by, path] : readers) {
        CAPTURE(token, path);
        CHECK(places_below(std::string(path) + "/axis/x").size() >= 2);
        CHECK(parts().find(fmt::format("{}/axis/x/{}", path, static_cast<double>(token) + 0.5)));
        check_apart(places_below(std::string(path) + "/axis/x"));
      }
    }
  };
  for (const Index token : {42, 43, 63, 80}) check_words(token);
  shown.open("preset:random?T=1500&K=4&V=3&seed=2");
  shown.choose("retnet");  // reads what is nearest most
  check_words(1400);
  // A long text is shown coarsely, then row by row.
  check_squares(shown);
  CHECK(seen_weights(shown.application, WeighedBy::rule).wanted == 6);  // of 256 rows
}

TEST_CASE("both pictures of Attend share one scale, whatever is switched", "[attend]") {
  ShownProgram shown("attend", "preset:overwrite?T=40&K=6&V=5");
  shown.choose("gated_deltanet");
  shown.resize(usual_sizes[1]);
  shown.session.go_to_token(30);
  const auto with = [&](const AttentionView& view) {
    shown.session.change(&SessionState::attention, view);
    shown.draw();
    check_squares(shown);
    return attended_range(shown.application);
  };
  const double shares = with({});
  CHECK(shares <= 1);
  CHECK(with({.shares = false}) > 0);
  CHECK(with({.gates = false}) > 0);
  CHECK(with({.mask = false}) > 0);
  CHECK_FALSE(parts().find("attend/rule corner/loupe"));  // there is no empty corner for it
  CHECK(with({.sharpness = 100}) >= shares);
  with({.channel = 4});
}

TEST_CASE("Attend shows the last channel of data that have fewer than was wanted", "[attend]") {
  ShownProgram shown("attend");
  for (const char* data : {"preset:overwrite?T=40&K=6&V=5", "preset:overwrite?T=40&K=6&V=2"}) {
    shown.open(data);
    shown.session.change(&SessionState::attention, {.channel = 4});
    for (const char* variant : {"value_decay", "linear"}) {
      CAPTURE(data, variant);
      shown.draw_as(variant);
      check_squares(shown);
      CHECK(ask_row(shown.application, shown.session.token()).value);
    }
  }
  CHECK(shown.session.state().attention.channel == 4);  // and comes back with data that have so many
}

TEST_CASE("every pixel of a long text is the strongest of the weights that stand there", "[attend]") {
  ShownProgram shown("attend");
  shown.session.change(&SessionState::attention,
                       {.chunks = false});  // whose lines would lie over the weights
  shown.resize(usual_sizes[1]);
  shown.open("preset:random?T=700&K=4&V=3&seed=2");
  shown.draw();
  const auto side = static_cast<Index>(std::lround(square_of("attend/rule").width()));
  constexpr Index per_pixel = 4;  // down and across: no pixel stands in two parts
  const Index tokens = per_pixel * side;
  shown.open("preset:random?K=4&V=3&seed=2&T=" + std::to_string(tokens));
  shown.draw_as("linear");
  const auto range = static_cast<float>(attended_range(shown.application));
  const Image image = shown.picture(4);
  const auto computed = shown.session.computed();
  REQUIRE(computed->sequence.tokens == tokens);
  const Sequence softmax = softmax_beside(computed->sequence, usual_sharpness(computed->sequence));
  check_squares(shown);
  for (const auto& [by, path] : readers) {
    CAPTURE(path);
    const bool is_softmax = by == WeighedBy::softmax;
    const Matrix<double> shares = shares_of_rows(attention_band(
        is_softmax ? *find_variant("softmax").rule : *computed->variant->rule,
        is_softmax ? softmax : computed->sequence,
        {.rows = tokens, .columns = tokens, .tokens_per_cell = per_pixel, .no_diagonal = true}));
    const auto left = static_cast<int>(square_of(path).minimum.x);
    const auto top = static_cast<int>(square_of(path).minimum.y);
    int wrong = 0;
    int colours = 0;
    for (int y = 8; y < side; ++y) {             // below the frame of the present row, token 0
      for (int x = 0; x < y - side / 10; ++x) {  // the name and the loupe stand above the diagonal
        const auto rows = shares.col(x).segment(per_pixel * y, per_pixel);
        const double low = rows.minCoeff();
        const double high = rows.maxCoeff();
        const Rgb8 expected =
            colour(style::colours().map, static_cast<float>(-low > high ? low : high), range);
        wrong += pixel(image, left + x, top + y) == expected ? 0 : 1;
        colours += expected == style::colours().map.zero ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    CHECK(colours > side * side / 20);
  }
}

TEST_CASE("the weights of a text of any length take the memory of its pixels", "[attend]") {
  ShownProgram shown("step", "preset:random?T=20000&K=1&V=1&seed=2");
  shown.draw_as("linear");
  const std::size_t before = shown.session.questions().bytes();
  shown.draw_in("attend");
  check_squares(shown);
  const double pixels = 2 * std::pow(square_of("attend/rule").width(), 2);
  // At most two cells for a pixel both ways, as weights and as shares; once more for the coarse picture, the
  // loupes, and the rows of the present token.
  const double most = 2 * 4 * pixels * 2 * sizeof(double);
  CHECK(static_cast<double>(shown.session.questions().bytes() - before) < most);
}

TEST_CASE("Attend reads at most one other word where there are two", "[attend]") {
  ShownProgram shown("attend", "preset:random?T=2&K=1&V=2&seed=1");
  shown.draw();
  CHECK(ask_row(shown.application, shown.session.token()).value->words.size() <= 1);
}

TEST_CASE("every workspace is of the cursor's text while its step is made", "[attend][workspaces]") {
  for (const Workspace& workspace : workspaces()) {
    CAPTURE(workspace.id);
    ShownProgram shown(workspace.id, "preset:overwrite?T=5&K=6&V=5");
    shown.choose(Form::parallel);  // whose first block takes more than a frame
    shown.draw();
    REQUIRE(shown.session.open(make_preset("preset:overwrite?T=1500&K=6&V=5"), Place{.token = 1390}));
    shown.session.wait_for_choice();
    shown.pass();
    REQUIRE(shown.session.lookout().is_stale());  // the step at the cursor is still one of the text before
    CHECK(shown.session.token() == 1390);
    CHECK(shown.application.undrawn() == "");
    CHECK(attended_block(shown.session).count == 1500);
  }
}

TEST_CASE("Attend draws no row of another text while its own is made", "[attend]") {
  ShownProgram shown("attend", "preset:overwrite?T=400&K=6&V=5");
  shown.draw_at(399);
  // What an old answer says of new words is seen in a few frames at most: several tries, none waited for.
  for (const Index tokens : {12, 300, 11, 200, 9, 250, 14, 350}) {
    CAPTURE(tokens);
    REQUIRE(shown.session.open_named("preset:overwrite?K=6&V=5&T=" + std::to_string(tokens)));
    for (bool is_there = false; !is_there;) {
      shown.pass();
      const Index present = shown.session.computed()->sequence.tokens;
      const auto row = ask_row(shown.application, shown.session.token()).value;
      if (row) REQUIRE(row->softmax_weights.size() == present);
      is_there = row && present == tokens;
    }
    shown.draw_at(tokens - 1);
  }
}
