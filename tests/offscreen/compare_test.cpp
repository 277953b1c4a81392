#include "app/views/compare.h"

#include <imgui.h>

#include "app/scene/parts.h"
#include "app/session/compared_sides.h"
#include "app/studio/application.h"
#include "app/views/answer_cells.h"
#include "app/window/offscreen.h"
#include "core/variants/rail.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/plots.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void open(Application& application, const char* data) {
  REQUIRE(application.session.open_named(data));
  application.session.wait();
  application.enter("compare");
}

void show(Application& application, std::vector<Side> sides) {
  SessionState next = application.session.state();
  next.sides = std::move(sides);
  next.compare = {};
  application.session.change(std::move(next));
  application.session.wait();
}

bool contains(const Rectangle& outer, const Rectangle& inner) {
  return inner.minimum.x >= outer.minimum.x && inner.minimum.y >= outer.minimum.y &&
         inner.maximum.x <= outer.maximum.x + 0.5F && inner.maximum.y <= outer.maximum.y + 0.5F;
}

/// Nothing is cut or lies over something else, and what belongs together has one height.
void check_layout(int width, int height, std::size_t columns) {
  const CompareMap& map = compare_map();
  const Rectangle window = {{0, 0}, {static_cast<float>(width), static_cast<float>(height)}};
  REQUIRE(map.columns.size() == columns);
  for (const CompareMap::Column& column : map.columns) {
    CHECK(contains(window, column.place));
    CHECK(column.place.maximum.x - column.place.minimum.x ==
          map.columns[0].place.maximum.x - map.columns[0].place.minimum.x);
    REQUIRE(column.parts.size() == map.columns[0].parts.size());
    for (std::size_t i = 0; i < column.parts.size(); ++i) {
      const auto& [name, place] = column.parts[i];
      INFO(name << " of side " << column.index);
      CHECK(contains(column.place, place));
      CHECK(place.minimum.y == map.columns[0].parts[i].second.minimum.y);
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(place, column.parts[j].second, 0.5F));
    }
  }
  for (std::size_t i = 0; i < map.columns.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      CHECK_FALSE(overlap(map.columns[i].place, map.columns[j].place, 0.5F));
  }
  REQUIRE(map.stop_words.size() == rail().size());
  for (std::size_t i = 0; i < map.stop_words.size(); ++i) {
    CHECK(contains(window, map.stop_words[i]));
    CHECK(map.stop_words[i].maximum.y <= map.columns[0].place.minimum.y);
    if (i > 0) CHECK_FALSE(overlap(map.stop_words[i], map.stop_words[i - 1], 0.5F));
  }
  const std::vector<Rectangle> labels = places_below("compare/floor/errors/label");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    CHECK(contains(window, labels[i]));
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(labels[i], labels[j], 0.5F));
  }
}

}  // namespace

TEST_CASE("Compare shows every place of the rail in both themes and sizes, nothing cut or over another",
          "[compare]") {
  Application application;
  open(application, "preset:overwrite?T=24&K=6&V=5");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const Theme theme : all_themes) {
      application.change_view([&](ViewOptions& view) { view.theme = theme; });
      for (const double place :
           {0.0, 0.4, 1.0, 1.5, 2.0, 2.5, 3.0, 3.2, 3.5, 3.9, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 8.0}) {
        CAPTURE(place, width, name(theme));
        const Side own = moved_on_rail({}, place);
        show(application,
             {own, moved_on_rail({}, place < 4 ? 5 : 1), {.variant = "deltaproduct"}, {.variant = "gla"}});
        application.session.go_to_token(15);
        draw_fully(application, offscreen);
        check_layout(width, height, 4);
        const CompareMap& map = compare_map();
        const auto column = std::ranges::find(map.columns, std::size_t{0}, &CompareMap::Column::index);
        REQUIRE(column != map.columns.end());
        REQUIRE(column->moment);
        CHECK(column->reason.empty());
        CHECK_FALSE(column->formula.empty());
        CHECK(column->moment->no_memory.empty());
        CHECK(column->moment->after.apart.isZero(0));
        CHECK(map.range > 0);
        CHECK(parts().below("compare/floor/errors/label").size() == 4);
      }
    }
  }
}

TEST_CASE("Compare shows every rule beside another, or says why not", "[compare]") {
  Application application;
  open(application, "preset:overwrite?T=24&K=6&V=6");
  Offscreen offscreen(1280, 800);
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    show(application, {{.variant = "deltanet"}, {.variant = variant.id}});
    application.session.go_to_token(15);
    draw_fully(application, offscreen);
    check_layout(1280, 800, 2);
    for (const CompareMap::Column& column : compare_map().columns) {
      REQUIRE(column.moment);
      CHECK(column.moment->no_memory == (column.index == 1 ? variant.memory.none : ""));
    }
  }
}

TEST_CASE("Compare boxes the symbol that the side on the left lacks", "[compare]") {
  Application application;
  open(application, "capture:gated_deltanet_overwrite_l1");
  Offscreen offscreen(1920, 1080);
  application.session.go_to_token(42);
  draw_fully(application, offscreen);
  const CompareMap& map = compare_map();
  REQUIRE(map.columns.size() == 4);  // linear, RetNet, DeltaNet, Gated DeltaNet
  CHECK(map.columns[0].boxed.empty());
  CHECK(map.columns[1].boxed == std::vector<std::string>{"\\gamma"});
  CHECK(map.columns[2].boxed == std::vector<std::string>{"\\beta_t", "\\hat v_t"});
  CHECK(map.columns[3].boxed == std::vector<std::string>{"\\alpha_t"});
  show(application, {{.variant = "gated_deltanet"}, {.variant = "kda"}});
  draw_fully(application, offscreen);
  CHECK(compare_map().columns[1].boxed == std::vector<std::string>{"\\alpha_t"});  // Diag(alpha)
  show(application,
       {{.variant = "gated_deltanet"}, {.variant = "gated_deltanet", .precision = Precision::f32}});
  draw_fully(application, offscreen);
  CHECK(compare_map().columns[1].boxed.empty());
}

TEST_CASE("Compare says of a side that is the same as another that it is, and boxes nothing", "[compare]") {
  Application application;
  open(application, "preset:overwrite?T=24&K=6&V=5");
  Offscreen offscreen(1280, 800);
  show(application, {{.variant = "retnet"}, {.variant = "linear"}, {.variant = "deltanet"}});
  application.session.go_to_token(15);
  draw_fully(application, offscreen);
  const ImVec2 first = compare_map().columns[1].place.minimum;
  REQUIRE(compare_map().columns[1].index == 0);
  for (const double place : {1.4, 4.0, 6.0}) {  // past the side on its right, and onto it
    const SessionState state = application.session.state();
    application.session.change(with_side_as(state, 0, moved_on_rail(state.sides[0], place)), "rail");
    draw_fully(application, offscreen);
    CHECK(compare_map().columns[1].index == 0);
    CHECK(compare_map().columns[1].place.minimum.x == first.x);
    const CompareMap::Column& last = compare_map().columns[2];
    CHECK(last.index == 2);
    CHECK((last.sentence.find("The same rule with the same settings as in column 2") == 0) == (place == 4));
    CHECK(last.boxed.empty() == (place != 1.4));
  }
}

TEST_CASE("Compare's captions are short enough for its columns, and its axis says how far the lines go",
          "[compare]") {
  Application application;
  open(application, "capture:gated_deltanet_overwrite_l1");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    application.session.go_to_token(42);
    draw_fully(application, offscreen);
    for (const CompareMap::Column& column : compare_map().columns) {
      CHECK(column.captions.size() == 2);
      for (const std::string& caption : column.captions) CHECK_THAT(caption, !says("…"));
    }
    std::vector<std::string> axis;
    for (const Part* part : parts().below("compare/floor/errors/name")) axis.push_back(part->words);
    CHECK(axis == std::vector<std::string>{"error left", "axis to 20.2", "largest 28.6", "0"});
  }
}

TEST_CASE("what the data lack is told in one sentence", "[compare]") {
  Application application;
  open(application, "capture:gated_deltanet_overwrite_l1");
  Offscreen offscreen(1280, 800);
  show(application, {{.variant = "gated_deltanet"}, {.variant = "titans"}});
  draw_fully(application, offscreen);
  REQUIRE(compare_map().columns.size() == 2);
  CHECK_THAT(compare_map().columns[1].sentence,
             says("These data lack forget (0.02), eta (0.5) and theta (0.5)."));
}

TEST_CASE("a table of answers in Compare has the scale that it has in Step", "[compare]") {
  Application application;
  open(application, "capture:gated_deltanet_overwrite_l1");
  Offscreen offscreen(1280, 800);
  show(application, {{.variant = "gated_deltanet"}, {.variant = "hgrn2"}});
  application.session.go_to_token(42);
  draw_fully(application, offscreen);
  REQUIRE(compare_map().columns.size() == 2);
  for (const CompareMap::Column& column : compare_map().columns) {
    REQUIRE(column.moment);
    CHECK(column.answer_scale == answer_scale(column.moment->table));
    CHECK((column.answer_scale > 1) == (column.index == 1));
  }
}

TEST_CASE("a memory in Compare that the common scale would not show takes its own and says so", "[compare]") {
  Application application;
  // What fades has faded here, what only adds has not.
  open(application, "preset:random?T=300&K=8&V=8&seed=1");
  Offscreen offscreen(1920, 1080);
  application.session.go_to_token(299);
  draw_fully(application, offscreen);
  const CompareMap& map = compare_map();
  int own = 0;
  for (const CompareMap::Column& column : map.columns) {
    REQUIRE(column.moment);
    const Matrix<double>& S = column.moment->after.S;
    const bool is_beyond =
        static_cast<double>((S.array().abs() > map.range).count()) > 0.25 * static_cast<double>(S.size());
    const bool is_blank = S.cwiseAbs().maxCoeff() < 0.05 * map.range;
    REQUIRE_FALSE(column.captions.empty());
    INFO(column.captions.front());
    CHECK_THAT(column.captions.front(), !says("e+"));
    CHECK((column.captions.front().find("own scale") != std::string::npos) == (is_beyond || is_blank));
    own += is_beyond || is_blank ? 1 : 0;
  }
  CHECK(own > 0);
}

TEST_CASE("Compare keeps what it shows until a moved side is there", "[compare]") {
  Application application;
  open(application, "preset:overwrite?T=24&K=6&V=5");
  Offscreen offscreen(1280, 800);
  show(application, {{.variant = "gated_deltanet"}, {.variant = "linear"}});
  application.session.go_to_token(15);
  draw_fully(application, offscreen);
  const auto before = compare_map().columns[0].moment;
  REQUIRE(before);
  const SessionState state = application.session.state();
  application.session.change(with_side_as(state, 1, moved_on_rail(state.sides[1], 4)));
  offscreen.pass([&] { application.draw(offscreen.scale()); });
  CHECK(compare_map().columns[0].moment);
  draw_fully(application, offscreen);
  REQUIRE(compare_map().columns[0].moment);
  CHECK(compare_map().columns[0].moment != before);
  CHECK_FALSE(compare_map().columns[0].moment->after.S.isApprox(before->after.S));
}

TEST_CASE("Compare with nothing open, with one token, and with too little room", "[compare]") {
  Application application;
  application.enter("compare");
  Offscreen offscreen(1280, 800);
  offscreen.pass([&] { application.draw(1); });
  CHECK(application.undrawn() == "");
  CHECK(compare_map().columns.empty());
  open(application, "preset:random?T=1&K=1&V=1&seed=1");
  draw_fully(application, offscreen);
  check_layout(1280, 800, 4);
  Offscreen small(420, 300);
  draw_fully(application, small);
}
