#include "app/views/attend.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/scene/parts.h"
#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/widgets/style.h"
#include "app/window/offscreen.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void choose(Application& application, const char* variant) {
  Choice choice = application.session.choice();
  choice.variant = variant;
  application.session.choose(std::move(choice));
  application.session.wait();
}

}  // namespace

TEST_CASE("Attend shows every variant at every size, or says why not", "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=5"));
  application.session.wait();
  application.enter("attend");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const Variant& variant : variants()) {
      CAPTURE(variant.id, width);
      choose(application, variant.id.c_str());
      application.session.go_to_token(15);
      draw_fully(application, offscreen);
      const AttendMap& map = attend_map();
      REQUIRE(map.row);
      CHECK(map.reason == map.row->reason);
      const bool has_keys = application.session.computed()->sequence.has("k");
      REQUIRE(map.squares.size() == (map.reason.empty() ? 1U : 0U) + (has_keys ? 1U : 0U));
      for (const AttendMap::Square& square : map.squares) {
        CHECK(square.parts == square.wanted);
        CHECK(square.place.minimum.x >= 0);
        CHECK(square.place.maximum.x <= static_cast<float>(width));
        CHECK(square.place.maximum.y <= static_cast<float>(height));
      }
      if (has_keys) CHECK(map.squares.back().by == WeighedBy::softmax);
      CHECK(map.range > 0);
    }
  }
}

TEST_CASE("what is read most, its sum and the scale are in sight at every size", "[attend]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.enter("attend");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const char* variant : {"gated_deltanet", "kda", "softmax", "value_decay", "mamba"}) {
      CAPTURE(variant, width);
      choose(application, variant);
      application.session.go_to_token(63);
      draw_fully(application, offscreen);
      const AttendMap& map = attend_map();
      CHECK(map.row->words.size() == 5);
      const Part* const side = parts().find("attend/side");
      REQUIRE(side);
      CHECK(side->is_whole());
      // The row's frame ends where its word stands: behind it nothing is read, and the loupe has its place.
      for (const AttendMap::Square& square : map.squares) {
        const float unit = (square.place.maximum.x - square.place.minimum.x) /
                           static_cast<float>(application.session.computed()->sequence.tokens);
        CHECK(std::abs(square.row_end - (square.place.minimum.x + 64 * unit)) <= 1);
      }
    }
  }
}

TEST_CASE("Attend leads to what is read most wherever it stands", "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=600&K=64&V=4&seed=1"));
  application.session.wait();
  application.enter("attend");
  Offscreen offscreen(1280, 800);
  application.session.go_to_token(460);
  draw_fully(application, offscreen);
  const AttendMap& map = attend_map();
  REQUIRE(map.squares.size() == 2);
  CHECK(map.squares[0].loupe_column == map.row->words.front().token);
  CHECK(map.squares[1].loupe_column == 160);  // word 460 asks with the key of word 160
  CHECK_THAT(parts().find("attend/side/sum")->words, says("Softmax reads 160 "));
  CHECK(weight_words(-0.0, true) == "0 %");  // not "-0 %"
  CHECK(weight_words(-0.002, true) == "-0.2 %");
  CHECK(weight_words(0.00001, true) == "<0.01 %");
  CHECK(weight_words(-0.052, true) == "-5 %");
  const Part* pointed = parts().find("attend/floor/softmax/pointed");
  REQUIRE(pointed);
  CHECK_THAT(pointed->words, says("← read most: 160 "));
}

TEST_CASE("in a low window the colours and the sharpness of softmax stand below the squares", "[attend]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.enter("attend");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    draw_fully(application, offscreen);
    CHECK(attend_map().has_settings == (width == 1280));
  }
}

TEST_CASE("on the axes of a long text stand the numbers of its tokens and the words that matter",
          "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=1500&K=4&V=4&seed=1"));
  application.session.wait();
  application.enter("attend");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    application.session.go_to_token(777);
    draw_fully(application, offscreen);
    const auto& words = attend_map().columns;
    const auto numbered = std::ranges::count_if(words, [](const AttendMap::ColumnWord& each) {
      return each.token % 100 == 0 && each.words == std::to_string(each.token);
    });
    CHECK(numbered >= 5);
    CHECK(std::ssize(words) - numbered <= 14);  // the present word, five that are read most, in two squares
  }
}

TEST_CASE("numbers beside the bars of Attend lie over no bar, no other number and inside the floor",
          "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("capture:kda_prose_l1"));
  application.session.wait();
  application.enter("attend");
  Offscreen offscreen(1920, 1080);
  for (const Index token : {30, 100, 155}) {
    application.session.go_to_token(token);
    draw_fully(application, offscreen);
    const Part* cursor = parts().find("attend/floor/cursor");
    REQUIRE(cursor);
    for (const char* reader : {"attend/floor/rule", "attend/floor/softmax"}) {
      const std::vector<const Part*> numbers = parts().below(std::string(reader) + "/number");
      const std::vector<const Part*> bars = parts().below(std::string(reader) + "/bar");
      CHECK_FALSE(numbers.empty());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const Rectangle& number = numbers[i]->where;
        CHECK(number.maximum.x <= 1920);
        for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(number, numbers[j]->where));
        for (const Part* bar : bars) CHECK_FALSE(overlap(number, bar->where));
        for (const float x : {cursor->where.minimum.x, cursor->where.maximum.x})
          CHECK_FALSE((number.minimum.x < x && number.maximum.x > x));
      }
    }
  }
}

TEST_CASE("words below the columns touch no others", "[attend]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.enter("attend");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const Index token : {42, 43, 63, 80}) {
      application.session.go_to_token(token);
      draw_fully(application, offscreen);
      const auto& words = attend_map().columns;
      REQUIRE(words.size() >= 8);
      CHECK(std::ranges::count(words, token, &AttendMap::ColumnWord::token) == 2);  // in both squares
      for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (words[i].by != words[j].by || words[i].lane != words[j].lane) continue;
          CAPTURE(width, token, words[i].token, words[j].token);
          CHECK(std::abs(words[i].middle - words[j].middle) > 11);  // letters are 10 high
        }
      }
    }
  }
}

TEST_CASE("both pictures of Attend share one scale, whatever is switched", "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=40&K=6&V=5"));
  application.session.wait();
  application.enter("attend");
  choose(application, "gated_deltanet");
  Offscreen offscreen(1920, 1080);
  application.session.go_to_token(30);
  const auto with = [&](void (*change)(AttentionView&)) {
    AttentionView view;
    change(view);
    application.session.change_attention(view);
    draw_fully(application, offscreen);
    REQUIRE(attend_map().squares.size() == 2);
    CHECK(attend_map().squares[0].parts == attend_map().squares[0].wanted);
    return attend_map().range;
  };
  const double shares = with([](AttentionView&) {});
  CHECK(shares <= 1);
  CHECK(with([](AttentionView& view) { view.shares = false; }) > 0);
  CHECK(with([](AttentionView& view) { view.gates = false; }) > 0);
  CHECK(with([](AttentionView& view) { view.mask = false; }) > 0);
  CHECK_FALSE(attend_map().has_loupe);  // there is no empty corner for it
  CHECK(with([](AttentionView& view) { view.sharpness = 100; }) >= shares);
  with([](AttentionView& view) { view.channel = 4; });
}

TEST_CASE("Attend shows the last channel of data that have fewer than was wanted", "[attend]") {
  Application application;
  application.enter("attend");
  AttentionView view;
  view.channel = 4;
  Offscreen offscreen(1280, 800);
  for (const char* data : {"preset:overwrite?T=40&K=6&V=5", "preset:overwrite?T=40&K=6&V=2"}) {
    REQUIRE(application.session.open_named(data));
    application.session.wait();
    application.session.change_attention(view);
    for (const char* variant : {"value_decay", "linear"}) {
      CAPTURE(data, variant);
      choose(application, variant);
      draw_fully(application, offscreen);
      REQUIRE(attend_map().squares.size() == 2);
      for (const AttendMap::Square& square : attend_map().squares) CHECK(square.parts == square.wanted);
      CHECK(attend_map().row);
    }
  }
  CHECK(application.session.state().attention.channel == 4);  // and comes back with data that have so many
}

TEST_CASE("Attend shows a long text coarsely, then row by row", "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=1500&K=4&V=3&seed=2"));
  application.session.wait();
  application.enter("attend");
  choose(application, "retnet");
  Offscreen offscreen(1280, 800);
  application.session.go_to_token(1400);
  draw_fully(application, offscreen);
  REQUIRE(attend_map().squares.size() == 2);
  CHECK(attend_map().squares[0].wanted == 6);  // of 256 rows
  CHECK(attend_map().squares[0].parts == 6);
}

TEST_CASE("every pixel of a long text is the strongest of the weights that stand there", "[attend]") {
  Application application;
  application.enter("attend");
  AttentionView view;
  view.chunks = false;  // its lines would lie over the weights
  application.session.change_attention(view);
  Offscreen offscreen(1920, 1080);
  REQUIRE(application.session.open_named("preset:random?T=700&K=4&V=3&seed=2"));
  application.session.wait();
  draw_fully(application, offscreen);
  REQUIRE(attend_map().squares.size() == 2);
  const auto side = static_cast<Index>(
      std::lround(attend_map().squares[0].place.maximum.x - attend_map().squares[0].place.minimum.x));
  constexpr Index per_pixel = 4;  // down and across: no pixel stands in two parts
  const Index tokens = per_pixel * side;
  REQUIRE(application.session.open_named("preset:random?K=4&V=3&seed=2&T=" + std::to_string(tokens)));
  application.session.wait();
  choose(application, "linear");
  draw_fully(application, offscreen);
  const Image image = offscreen.render([&] { application.draw(offscreen.scale()); });
  const auto computed = application.session.computed();
  REQUIRE(computed->sequence.tokens == tokens);
  const Sequence softmax = softmax_beside(computed->sequence, usual_sharpness(computed->sequence));
  for (const AttendMap::Square& square : attend_map().squares) {
    CAPTURE(static_cast<int>(square.by));
    REQUIRE(square.parts == square.wanted);
    const bool is_softmax = square.by == WeighedBy::softmax;
    const Matrix<double> shares = shares_of_rows(attention_band(
        is_softmax ? *find_variant("softmax").rule : *computed->variant->rule,
        is_softmax ? softmax : computed->sequence,
        {.rows = tokens, .columns = tokens, .tokens_per_cell = per_pixel, .no_diagonal = true}));
    const auto left = static_cast<int>(square.place.minimum.x);
    const auto top = static_cast<int>(square.place.minimum.y);
    int wrong = 0;
    int colours = 0;
    for (int y = 8; y < side; ++y) {             // below the frame of the present row, token 0
      for (int x = 0; x < y - side / 10; ++x) {  // the name and the loupe stand above the diagonal
        const auto rows = shares.col(x).segment(per_pixel * y, per_pixel);
        const double low = rows.minCoeff();
        const double high = rows.maxCoeff();
        const Rgb8 expected = colour(style::colours().map, static_cast<float>(-low > high ? low : high),
                                     static_cast<float>(attend_map().range));
        const std::uint8_t* found = image.pixel(left + x, top + y);
        wrong += Rgb8{found[0], found[1], found[2]} == expected ? 0 : 1;
        colours += expected == style::colours().map.zero ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    CHECK(colours > side * side / 20);
  }
}

TEST_CASE("the weights of a text of any length take the memory of its pixels", "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=20000&K=1&V=1&seed=2"));
  application.session.wait();
  choose(application, "linear");
  Offscreen offscreen(1280, 800);
  draw_fully(application, offscreen);
  const std::size_t before = application.session.questions().bytes();
  application.enter("attend");
  draw_fully(application, offscreen);
  REQUIRE(attend_map().squares.size() == 2);
  double pixels = 0;
  for (const AttendMap::Square& square : attend_map().squares) {
    CHECK(square.parts == square.wanted);
    pixels += std::pow(square.place.maximum.x - square.place.minimum.x, 2);
  }
  // At most two cells for a pixel both ways, as weights and as shares; once more for the coarse picture, the
  // loupes, and the rows of the present token.
  const double most = 2 * 4 * pixels * 2 * sizeof(double);
  CHECK(static_cast<double>(application.session.questions().bytes() - before) < most);
}

TEST_CASE("words below the squares of Attend do not lie over each other", "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=1500&K=4&V=3&seed=2"));
  application.session.wait();
  application.enter("attend");
  choose(application, "retnet");  // reads what is nearest most
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    application.session.go_to_token(1400);
    draw_fully(application, offscreen);
    const std::vector<Rectangle>& words = attend_map().column_words;
    CHECK(words.size() >= 2);
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(words[i], words[j], 0.5F));
    }
  }
}

TEST_CASE("Attend with nothing open, with no token and with one", "[attend]") {
  Application application;
  application.enter("attend");
  Offscreen offscreen(1280, 800);
  offscreen.pass([&] { application.draw(1); });
  CHECK(application.undrawn() == "");
  for (const char* data : {"preset:random?T=1&K=1&V=1&seed=1", "preset:random?T=2&K=1&V=2&seed=1"}) {
    REQUIRE(application.session.open_named(data));
    application.session.wait();
    draw_fully(application, offscreen);
    CHECK(attend_map().row->words.size() <= 1);
  }
}

TEST_CASE("every workspace is of the cursor's text while its step is made", "[attend][workspaces]") {
  for (const char* workspace : {"step", "learn", "attend", "compare", "prove", "measure"}) {
    CAPTURE(workspace);
    Application application;
    REQUIRE(application.session.open_named("preset:overwrite?T=5&K=6&V=5"));
    application.session.wait();
    application.enter(workspace);
    Offscreen offscreen(1280, 800);
    Choice choice = application.session.choice();
    choice.form = Form::parallel;  // whose first block takes more than a frame
    application.session.choose(choice);
    draw_fully(application, offscreen);
    REQUIRE(application.session.open(make_preset("preset:overwrite?T=1500&K=6&V=5"), {.token = 1390}));
    application.session.wait_for_choice();
    offscreen.pass([&] { application.draw(offscreen.scale()); });
    REQUIRE(
        application.session.lookout().is_stale());  // the step at the cursor is still one of the text before
    CHECK(application.session.token() == 1390);
    CHECK(application.undrawn() == "");
    if (application.workspace().id == std::string("attend")) CHECK(attend_map().block.count == 1500);
  }
}

TEST_CASE("Attend draws no row of another text while its own is made", "[attend]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=400&K=6&V=5"));
  application.session.wait();
  application.enter("attend");
  Offscreen offscreen(1280, 800);
  application.session.go_to_token(399);
  draw_fully(application, offscreen);
  // What an old answer says of new words is seen in a few frames at most: several tries, none waited for.
  for (const Index tokens : {12, 300, 11, 200, 9, 250, 14, 350}) {
    CAPTURE(tokens);
    REQUIRE(application.session.open_named("preset:overwrite?K=6&V=5&T=" + std::to_string(tokens)));
    for (bool is_there = false; !is_there;) {
      offscreen.pass([&] { application.draw(offscreen.scale()); });
      const Index present = application.session.computed()->sequence.tokens;
      const auto& row = attend_map().row;
      if (row) REQUIRE(row->softmax_weights.size() == present);
      is_there = row && present == tokens;
    }
    application.session.go_to_token(tokens - 1);
    draw_fully(application, offscreen);
  }
}
