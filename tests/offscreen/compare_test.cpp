#include "app/views/compare.h"
#include "app/session/compared_sides.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Shows these sides at a token.
void show(ShownProgram& shown, std::vector<Side> sides, Index token = 15) {
  shown.session.change([&](SessionState& state) {
    state.sides = std::move(sides);
    state.compare = {};
  });
  shown.session.wait();
  shown.draw_at(token);
}

bool contains(const Rectangle& outer, const Rectangle& inner) {
  return Rectangle{outer.minimum, outer.maximum + ImVec2(0.5F, 0.5F)}.holds(inner);
}

constexpr const char* column_parts[] = {"name",   "sentence", "equation", "answers",
                                        "answer", "others",   "error",    "memory"};

std::string part_path(std::size_t index, const char* part) {
  return fmt::format("compare/sides/{}{}{}", index, *part ? "/" : "", part);
}

/// The sides as they stand from left to right.
std::vector<std::size_t> columns_of(Application& application) {
  std::vector<std::size_t> order;
  for (const ComparedSide& side : compared(application).sides) order.push_back(side.index);
  return order;
}

/// What a column says somewhere.
std::string said(std::size_t index, const char* part) { return words_at(part_path(index, part)); }

/// The symbols in boxes in the equation of the column at `place`.
std::vector<std::string> boxed_symbols(Application& application, std::size_t place) {
  const scene::Node all = side_columns(application, compared(application));
  const auto first = std::get<scene::FirstThatFits>(all.content).wish(0);
  const scene::Node& column = std::get<scene::Sides>(first->content).columns[place];
  const scene::Node& equation = std::get<scene::Column>(column.content).nodes[2];
  REQUIRE(equation.name == "equation");
  return std::get<scene::Formula>(std::get<scene::Row>(equation.content).nodes[1].content).boxed;
}

/// Nothing is cut or lies over something else, and what belongs together has one height.
void check_layout(Application& application, std::size_t columns, const Size& size = usual_sizes[0]) {
  const Rectangle window = {{0, 0}, {static_cast<float>(size.width), static_cast<float>(size.height)}};
  const std::vector<std::size_t> order = columns_of(application);
  REQUIRE(order.size() == columns);
  const Rectangle first = place_of(part_path(order.front(), ""));
  std::vector<Rectangle> places;
  for (const std::size_t side : order) {
    const Rectangle& column = places.emplace_back(place_of(part_path(side, "")));
    CHECK(contains(window, column));
    CHECK(column.width() == first.width());
    float above = column.minimum.y;
    for (const char* part : column_parts) {
      INFO(part << " of side " << side);
      const Rectangle place = place_of(part_path(side, part));
      CHECK(contains(column, place));
      CHECK(place.minimum.y >= above - 0.5F);
      CHECK(place.minimum.y == place_of(part_path(order.front(), part)).minimum.y);
      above = place.maximum.y;
    }
  }
  for (const RailStop& stop : rail()) {
    const Rectangle& words =
        places.emplace_back(place_of(fmt::format("compare/rail/{} label", stop.variant)));
    CHECK(words.width() > 0);
    CHECK(contains(window, words));
    CHECK(words.maximum.y <= first.minimum.y);
  }
  check_apart(places);
  const std::vector<Rectangle> labels = places_below("compare/floor/errors/label");
  for (const Rectangle& label : labels) CHECK(contains(window, label));
  check_apart(labels);
}

}  // namespace

TEST_CASE("Compare shows every place of the rail in both themes and sizes, nothing cut or over another",
          "[compare]") {
  ShownProgram shown("compare", "preset:overwrite?T=24&K=6&V=5");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    for (const Theme theme : all_of<Theme>) {
      shown.set_theme(theme);
      for (const double place :
           {0.0, 0.4, 1.0, 1.5, 2.0, 2.5, 3.0, 3.2, 3.5, 3.9, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 8.0}) {
        CAPTURE(place, size.width, name(theme));
        const Side own = moved_on_rail({}, place);
        show(shown,
             {own, moved_on_rail({}, place < 4 ? 5 : 1), {.variant = "deltaproduct"}, {.variant = "gla"}});
        check_layout(shown.application, 4, size);
        const ComparedSides all = compared(shown.application);
        const auto column = std::ranges::find(all.sides, std::size_t{0}, &ComparedSide::index);
        REQUIRE(column != all.sides.end());
        REQUIRE(column->moment);
        CHECK(column->reason.empty());
        CHECK_FALSE(said(0, "equation/formula").empty());
        CHECK(column->moment->no_memory.empty());
        CHECK(column->moment->after.apart.isZero(0));
        CHECK(all.range > 0);
        CHECK(parts().below("compare/floor/errors/label").size() == 4);
      }
    }
  }
}

TEST_CASE("Compare shows every rule beside another, or says why not", "[compare]") {
  ShownProgram shown("compare", "preset:overwrite?T=24&K=6&V=6");
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    show(shown, {{.variant = "deltanet"}, {.variant = variant.id}});
    check_layout(shown.application, 2);
    for (const ComparedSide& column : compared(shown.application).sides) {
      REQUIRE(column.moment);
      CHECK(column.moment->no_memory == (column.index == 1 ? variant.memory.none : ""));
    }
  }
}

TEST_CASE("Compare boxes the symbol that the side on the left lacks", "[compare]") {
  ShownProgram shown("compare", "capture:gated_deltanet_overwrite_l1", usual_sizes[1]);
  shown.draw_at(42);
  using Symbols = std::vector<std::string>;
  Application& application = shown.application;
  REQUIRE(compared(application).sides.size() == 4);  // linear, RetNet, DeltaNet, Gated DeltaNet
  CHECK(boxed_symbols(application, 0).empty());
  CHECK(boxed_symbols(application, 1) == Symbols{"\\gamma"});
  CHECK(boxed_symbols(application, 2) == Symbols{"\\hat v_t"});  // all write with the same beta
  CHECK(boxed_symbols(application, 3) == Symbols{"\\alpha_t"});
  const auto boxed_beside = [&](const Side& other) {
    show(shown, {{.variant = "gated_deltanet"}, other}, 42);
    return boxed_symbols(application, 1);
  };
  CHECK(boxed_beside({.variant = "kda"}) == Symbols{"\\alpha_t"});  // Diag(alpha)
  CHECK(boxed_beside({.variant = "gated_deltanet", .precision = Precision::f32}).empty());
}

TEST_CASE("Compare says of a side that is the same as another that it is, and boxes nothing", "[compare]") {
  ShownProgram shown("compare", "preset:overwrite?T=24&K=6&V=5");
  show(shown, {{.variant = "retnet"}, {.variant = "linear"}, {.variant = "deltanet"}});
  const float first = place_of(part_path(0, "")).minimum.x;
  REQUIRE(columns_of(shown.application)[1] == 0);
  for (const double place : {1.4, 4.0, 6.0}) {  // past the side on its right, and onto it
    const SessionState state = shown.session.state();
    shown.session.change(with_side_as(state, 0, moved_on_rail(state.sides[0], place)), "rail");
    shown.draw();
    CHECK(columns_of(shown.application)[1] == 0);
    CHECK(place_of(part_path(0, "")).minimum.x == first);
    CHECK(columns_of(shown.application)[2] == 2);
    CHECK((said(2, "sentence").find("The same rule with the same settings as in column 2") == 0) ==
          (place == 4));
    CHECK(boxed_symbols(shown.application, 2).empty() == (place != 1.4));
  }
}

TEST_CASE("Compare's captions are short enough for its columns, and its axis says how far the lines go",
          "[compare]") {
  ShownProgram shown("compare", "capture:gated_deltanet_overwrite_l1");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    shown.draw_at(42);
    for (const std::size_t index : columns_of(shown.application))
      CHECK_THAT(said(index, "memory/picture label"), says("norm ") && !says("…"));
    CHECK_THAT(words_at("compare/floor/errors/axis/y"), says("1"));
  }
}

TEST_CASE("what the data lack is told in one sentence", "[compare]") {
  ShownProgram shown("compare", "capture:gated_deltanet_overwrite_l1");
  show(shown, {{.variant = "gated_deltanet"}, {.variant = "titans"}}, 42);
  CHECK_THAT(said(1, "sentence"), says("Not in the data: forget = 0.02, eta = 0.5, theta = 0.5."));
}

TEST_CASE("a table of answers in Compare has the scale that it has in Step", "[compare]") {
  ShownProgram shown("compare", "capture:gated_deltanet_overwrite_l1");
  show(shown, {{.variant = "gated_deltanet"}, {.variant = "hgrn2"}}, 42);
  for (const std::size_t index : {std::size_t{0}, std::size_t{1}})
    CHECK((said(index, "answers/head").find("What the memory returns, to ±") == 0) == (index == 1));
}

TEST_CASE("a memory in Compare that the common scale would not show takes its own and says so", "[compare]") {
  // What fades has faded here, what only adds has not.
  ShownProgram shown("compare", "preset:random?T=300&K=8&V=8&seed=1", usual_sizes[1]);
  shown.draw_at(299);
  const ComparedSides all = compared(shown.application);
  int own = 0;
  for (const ComparedSide& column : all.sides) {
    REQUIRE(column.moment);
    const Matrix<double>& S = column.moment->after.S;
    const bool is_beyond =
        static_cast<double>((S.array().abs() > all.range).count()) > 0.055 * static_cast<double>(S.size());
    const bool is_blank = S.cwiseAbs().maxCoeff() < 0.05 * all.range;
    const std::string caption = said(column.index, "memory/picture label");
    INFO(caption);
    CHECK_THAT(caption, !says("e+"));
    CHECK((caption.find("own scale") != std::string::npos) == (is_beyond || is_blank));
    own += is_beyond || is_blank ? 1 : 0;
  }
  CHECK(own > 0);
}

TEST_CASE("Compare keeps what it shows until a moved side is there", "[compare]") {
  ShownProgram shown("compare", "preset:overwrite?T=24&K=6&V=5");
  show(shown, {{.variant = "gated_deltanet"}, {.variant = "linear"}});
  const auto before = compared(shown.application).sides[0].moment;
  REQUIRE(before);
  const SessionState state = shown.session.state();
  shown.session.change(with_side_as(state, 1, moved_on_rail(state.sides[1], 4)));
  shown.pass();
  CHECK(compared(shown.application).sides[0].moment);
  shown.draw();
  const auto after = compared(shown.application).sides[0].moment;
  REQUIRE(after);
  CHECK(after != before);
  CHECK_FALSE(after->after.S.isApprox(before->after.S));
}

TEST_CASE("Compare with one token, and with too little room", "[compare]") {
  ShownProgram shown("compare", "preset:random?T=1&K=1&V=1&seed=1");
  shown.draw();
  check_layout(shown.application, 4);
  shown.draw({420, 300});
}
