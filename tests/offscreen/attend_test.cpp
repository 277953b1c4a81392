#include "app/views/attend.h"

#include <fmt/format.h>
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
#include "tests/offscreen/plots.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr std::pair<WeighedBy, const char*> readers[] = {{WeighedBy::rule, "attend/rule"},
                                                         {WeighedBy::softmax, "attend/softmax"}};

Rectangle square_of(const char* reader) { return place_of(std::string(reader) + "/area"); }

float side_of(const Rectangle& square) { return square.maximum.x - square.minimum.x; }

/// All parts of both squares are there.
void check_squares(Application& application) {
  for (const auto& [by, path] : readers) {
    REQUIRE(parts().find(std::string(path) + "/area"));
    const SeenWeights seen = seen_weights(application, by);
    CHECK(seen.wanted > 0);
    CHECK(seen.parts == seen.wanted);
  }
}

double range_of(Application& application) { return attend_sight(*application.session.computed()).range; }

/// The words below the columns of a square.
std::vector<const Part*> column_words(const char* reader) {
  return parts().below(std::string(reader) + "/axis/x");
}

}  // namespace

TEST_CASE("Attend shows every variant at every size, or says why not", "[attend]") {
  Application application;
  open_in(application, "attend", "preset:overwrite?T=24&K=6&V=5");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const Variant& variant : variants()) {
      CAPTURE(variant.id, width);
      choose(application, variant.id);
      application.session.go_to_token(15);
      draw_fully(application, offscreen);
      const auto row = ask_row(application).value;
      REQUIRE(row);
      CHECK(attention_facts(application).reason == row->reason);
      const bool has_keys = application.session.computed()->sequence.has("k");
      for (const auto& [by, path] : readers) {
        const Part* square = parts().find(std::string(path) + "/area");
        REQUIRE((square != nullptr) == (by == WeighedBy::rule ? row->reason.empty() : has_keys));
        if (!square) continue;
        const SeenWeights seen = seen_weights(application, by);
        CHECK(seen.parts == seen.wanted);
        CHECK(square->is_whole());
      }
      CHECK(range_of(application) > 0);
    }
  }
}

TEST_CASE("what is read most, its sum and the scale are in sight at every size", "[attend]") {
  Application application;
  open_in(application, "attend");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const char* variant : {"gated_deltanet", "kda", "softmax", "value_decay", "mamba"}) {
      CAPTURE(variant, width);
      choose(application, variant);
      application.session.go_to_token(63);
      draw_fully(application, offscreen);
      CHECK(ask_row(application).value->words.size() == 5);
      const Part* const side = parts().find("attend/side");
      REQUIRE(side);
      CHECK(side->is_whole());
      // The row's frame ends where its word stands: behind it nothing is read, and the loupe has its place.
      for (const auto& [by, path] : readers) {
        const Part* const row = parts().find(std::string(path) + "/mark/present");
        if (!row) continue;  // a rule without weights
        const Rectangle square = square_of(path);
        const float unit =
            side_of(square) / static_cast<float>(application.session.computed()->sequence.tokens);
        CHECK(std::abs(row->where.maximum.x - (square.minimum.x + 64 * unit)) <= 1);
      }
    }
  }
}

TEST_CASE("Attend leads to what is read most wherever it stands", "[attend]") {
  Application application;
  open_in(application, "attend", "preset:random?T=600&K=64&V=4&seed=1");
  Offscreen offscreen(1280, 800);
  application.session.go_to_token(460);
  draw_fully(application, offscreen);
  check_squares(application);
  const auto loupe_column = [&](const char* reader) {  // in its middle
    const Rectangle square = square_of(reader);
    const float middle = middle_of(place_of(std::string(reader) + "/mark/loupe")).x - square.minimum.x;
    return static_cast<Index>(middle / side_of(square) * 600);
  };
  CHECK(loupe_column("attend/rule") == ask_row(application).value->words.front().token);
  CHECK(loupe_column("attend/softmax") == 160);  // word 460 asks with the key of word 160
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
  open_in(application, "attend");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    draw_fully(application, offscreen);
    CHECK((parts().find("attend/settings") != nullptr) == (width == 1280));
  }
}

TEST_CASE("on the axes of a long text stand the numbers of its tokens and the words that matter",
          "[attend]") {
  Application application;
  open_in(application, "attend", "preset:random?T=1500&K=4&V=4&seed=1");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    application.session.go_to_token(777);
    draw_fully(application, offscreen);
    std::vector<std::string> words = words_below("attend/rule/axis/x");
    std::ranges::copy(words_below("attend/softmax/axis/x"), std::back_inserter(words));
    const auto numbered = std::ranges::count_if(words, [](const std::string& each) {
      return each.ends_with("00") && each.find_first_not_of("0123456789") == std::string::npos;
    });
    CHECK(numbered >= 4);
    CHECK(std::ssize(words) - numbered <= 14);  // the present word, five that are read most, in two squares
  }
}

TEST_CASE("numbers beside the bars of Attend lie over no bar, no other number and inside the floor",
          "[attend]") {
  Application application;
  open_in(application, "attend", "capture:kda_prose_l1");
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

TEST_CASE("words below the columns touch no others, and the present one is there", "[attend]") {
  Application application;
  application.enter("attend");
  const auto check_words = [&](Index token) {
    application.session.go_to_token(token);
    Offscreen offscreens[] = {Offscreen(1280, 800), Offscreen(1920, 1080)};
    for (Offscreen& offscreen : offscreens) {
      draw_fully(application, offscreen);
      for (const auto& [by, path] : readers) {
        CAPTURE(token, path);
        const std::vector<const Part*> words = column_words(path);
        CHECK(words.size() >= 2);
        CHECK(parts().find(fmt::format("{}/axis/x/{}", path, static_cast<double>(token) + 0.5)));
        for (std::size_t i = 0; i < words.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(words[i]->where, words[j]->where, 0.5F));
        }
      }
    }
  };
  application.open_first_capture();
  application.session.wait();
  for (const Index token : {42, 43, 63, 80}) check_words(token);
  REQUIRE(application.session.open_named("preset:random?T=1500&K=4&V=3&seed=2"));
  application.session.wait();
  choose(application, "retnet");  // reads what is nearest most
  check_words(1400);
}

TEST_CASE("both pictures of Attend share one scale, whatever is switched", "[attend]") {
  Application application;
  open_in(application, "attend", "preset:overwrite?T=40&K=6&V=5");
  choose(application, "gated_deltanet");
  Offscreen offscreen(1920, 1080);
  application.session.go_to_token(30);
  const auto with = [&](void (*change)(AttentionView&)) {
    AttentionView view;
    change(view);
    application.session.change_attention(view);
    draw_fully(application, offscreen);
    check_squares(application);
    return range_of(application);
  };
  const double shares = with([](AttentionView&) {});
  CHECK(shares <= 1);
  CHECK(with([](AttentionView& view) { view.shares = false; }) > 0);
  CHECK(with([](AttentionView& view) { view.gates = false; }) > 0);
  CHECK(with([](AttentionView& view) { view.mask = false; }) > 0);
  CHECK_FALSE(parts().find("attend/rule corner/loupe"));  // there is no empty corner for it
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
      check_squares(application);
      CHECK(ask_row(application).value);
    }
  }
  CHECK(application.session.state().attention.channel == 4);  // and comes back with data that have so many
}

TEST_CASE("Attend shows a long text coarsely, then row by row", "[attend]") {
  Application application;
  open_in(application, "attend", "preset:random?T=1500&K=4&V=3&seed=2");
  choose(application, "retnet");
  Offscreen offscreen(1280, 800);
  application.session.go_to_token(1400);
  draw_fully(application, offscreen);
  check_squares(application);
  CHECK(seen_weights(application, WeighedBy::rule).wanted == 6);  // of 256 rows
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
  const auto side = static_cast<Index>(std::lround(side_of(square_of("attend/rule"))));
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
  check_squares(application);
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
        const Rgb8 expected = colour(style::colours().map, static_cast<float>(-low > high ? low : high),
                                     static_cast<float>(range_of(application)));
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
  check_squares(application);
  const double pixels = 2 * std::pow(side_of(square_of("attend/rule")), 2);
  // At most two cells for a pixel both ways, as weights and as shares; once more for the coarse picture, the
  // loupes, and the rows of the present token.
  const double most = 2 * 4 * pixels * 2 * sizeof(double);
  CHECK(static_cast<double>(application.session.questions().bytes() - before) < most);
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
    CHECK(ask_row(application).value->words.size() <= 1);
  }
}

TEST_CASE("every workspace is of the cursor's text while its step is made", "[attend][workspaces]") {
  for (const char* workspace : {"step", "learn", "attend", "compare", "prove", "measure"}) {
    CAPTURE(workspace);
    Application application;
    open_in(application, workspace, "preset:overwrite?T=5&K=6&V=5");
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
    if (application.workspace().id == std::string("attend"))
      CHECK(attend_sight(*application.session.computed()).block.count == 1500);
  }
}

TEST_CASE("Attend draws no row of another text while its own is made", "[attend]") {
  Application application;
  open_in(application, "attend", "preset:overwrite?T=400&K=6&V=5");
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
      const auto row = ask_row(application).value;
      if (row) REQUIRE(row->softmax_weights.size() == present);
      is_there = row && present == tokens;
    }
    application.session.go_to_token(tokens - 1);
    draw_fully(application, offscreen);
  }
}
