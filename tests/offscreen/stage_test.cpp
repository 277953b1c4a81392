#include "app/views/stage.h"
#include "app/session/memory_questions.h"
#include "app/stage/ranges.h"
#include "app/stage/view.h"
#include "app/words/forms.h"
#include "core/insight/learning.h"
#include "tests/computed.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr float pixel_slack = 1.5F;  // pictures lie on whole pixels

/// All that keeps clear of all else: pictures, signs, words, those that lead elsewhere too.
std::vector<Rectangle> pieces() {
  std::vector<Rectangle> all;
  for (const char* kind : {"piece", "name", "line", "more"}) {
    for (const Rectangle& place : places_below(std::string("step/stage/") + kind)) all.push_back(place);
  }
  return all;
}

/// With the room around what it holds, into which names may reach.
Rectangle stage_panel() { return place_of("step/stage").grown(style::px(style::panel_padding)); }

/// What is wrong with the picture that was drawn last; empty if nothing is.
std::string fault() {
  std::vector<ClearSpot> spots;
  for (const Rectangle& piece : pieces()) spots.push_back({piece});
  return spots.size() < 5 ? "hardly anything is drawn" : fault_of(spots, stage_panel(), pixel_slack);
}

/// Looks at every step of the blocks that cover one token; returns how many lines are not in sight.
std::size_t check_steps(ShownProgram& program) {
  Session& session = program.session;
  const Trace& trace = *session.trace();
  constexpr Index token = 15;  // the end of a batch where there are batches
  std::size_t hidden = 0;
  for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
    const Index block = trace.block_of(token, static_cast<Index>(phase));
    if (trace.block(block).phase != static_cast<Index>(phase)) continue;
    const auto& operations = trace.phases[phase].operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      CAPTURE(operations[i].id);
      const Index row = std::max<Index>(token - trace.block(block).first_token, 0);
      session.set_cursor({block, static_cast<Index>(i), row});
      session.wait();
      program.pass();
      CHECK(fault() == "");
      hidden += places_below("step/stage/more").size();
    }
  }
  return hidden;
}

/// Goes to the operation called `id` of the block that holds `token`.
void go_to(Session& session, Index token, const std::string& id) {
  const Trace& trace = *session.trace();
  for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
    const auto& operations = trace.phases[phase].operations;
    const auto found = std::ranges::find(operations, id, &Operation::id);
    if (found == operations.end()) continue;
    const Index block = trace.block_of(token, static_cast<Index>(phase));
    session.set_cursor({block, found - operations.begin(), 0});
    return session.wait();
  }
  FAIL("there is no operation " << id);
}

/// The pixels inside a piece, without its edges.
std::vector<std::uint8_t> pixels(const Image& image, const Rectangle& piece) {
  const Rectangle inside = piece.grown(-2);
  return cropped(image, static_cast<int>(inside.minimum.x), static_cast<int>(inside.minimum.y),
                 static_cast<int>(inside.maximum.x), static_cast<int>(inside.maximum.y))
      .rgb;
}

float area(const Rectangle& piece) { return piece.width() * piece.height(); }

Rectangle largest_piece() {
  const std::vector<Rectangle> all = pieces();
  return *std::ranges::max_element(all, {},
                                   [](const Rectangle& piece) { return area(piece) + piece.minimum.x; });
}

constexpr int faded_in = 30;  // frames

}  // namespace

TEST_CASE("equal matrices in one equation look equal", "[stage]") {
  ShownProgram program("step", "preset:overwrite?T=32&K=6&V=5");
  program.choose("lact", Form::recurrent);
  go_to(program.session, 20, "momentum");  // M' = G: no momentum is given
  const Record& record = *program.session.sight().record;
  REQUIRE(record.at("M_after") == record.at("G"));
  program.application.pinned = CellFocus{"eta", 0, 0};  // no ring in these two
  const Image image = program.picture(faded_in);
  // The largest pictures are those two.
  std::vector<Rectangle> all = pieces();
  std::ranges::sort(all, std::greater(), area);
  REQUIRE(all.size() > 2);
  REQUIRE(all[0].width() == all[1].width());
  REQUIRE(all[0].height() == all[1].height());
  const bool look_equal = pixels(image, all[0]) == pixels(image, all[1]);
  CHECK(look_equal);
}

TEST_CASE("small matrices grow until their numbers fit", "[stage]") {
  ShownProgram program("step", "preset:overwrite?T=8&K=4&V=3");
  program.choose("deltanet", Form::recurrent);
  go_to(program.session, 5, "write");
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    program.resize(size);
    const auto draw = [&](bool has_numbers) {
      program.application.change_view([&](ViewOptions& view) { view.numbers = has_numbers; });
      return program.picture(faded_in).rgb;
    };
    const auto with = draw(true);
    CHECK(fault() == "");
    const bool has_numbers = with != draw(false);
    CHECK(has_numbers);
  }
}

TEST_CASE("the matrices of a step are as large as designed", "[stage]") {
  ShownProgram program;
  go_to(program.session, 42, "update");
  // The side of the three matrices is in design pixels (design: Step).
  for (const auto& [size, side] : {std::pair(usual_sizes[0], 192), std::pair(usual_sizes[1], 320),
                                   std::pair(Size{3840, 2160, 2}, 320)}) {
    CAPTURE(size.width);
    program.draw(size);
    program.pass(faded_in);
    CHECK(fault() == "");
    std::vector<float> sides;
    for (const Rectangle& piece : pieces()) sides.push_back(std::min(piece.width(), piece.height()));
    std::ranges::sort(sides, std::greater());
    REQUIRE(sides.size() > 3);
    CHECK(sides[2] >= static_cast<float>(side) * size.scale);
  }
}

TEST_CASE("a frame in which nothing changes makes nothing of the stage anew", "[stage]") {
  for (const Form form : all_forms) {
    CAPTURE(name(form));
    ShownProgram program("step", "preset:overwrite?T=24&K=6&V=5");
    program.choose("gated_deltanet", form);
    const auto draw = [&](int frames) {
      program.pass(frames);
      return std::pair(stage_work().views, stage_work().layouts);
    };
    const auto [views, layouts] = draw(faded_in);
    CHECK(draw(20) == std::pair(views, layouts));
    program.session.step(Session::Grain::operation, 1);
    CHECK(draw(5) == std::pair(views + 1, layouts + 1));
    program.application.change_view(
        [](ViewOptions& view) { view.numbers = !view.numbers; });  // drawn another way, in the same places
    CHECK(draw(5) == std::pair(views + 1, layouts + 1));
  }
}

TEST_CASE("a result grows out of its operands, unless that is switched off", "[stage]") {
  for (const bool grows : {true, false}) {
    CAPTURE(grows);
    ShownProgram program("step", "preset:overwrite?T=24&K=9&V=8");
    program.choose("gated_deltanet", Form::recurrent);
    program.application.change_view([&](ViewOptions& view) { view.growth = grows; });
    go_to(program.session, 2, "update");
    program.pass(faded_in);
    go_to(program.session, 2, "write");
    // The pictures of the step, without the strip of tiles whose lines show how far it has grown.
    const auto result = [&](int frames) {
      const Image image = program.picture(frames);
      return pixels(image, largest_piece());
    };
    const auto early = result(3);
    const auto late = result(faded_in);
    CHECK((early != late) == grows);
  }
}

TEST_CASE("an enlarged picture has the Stage to itself, with its figures", "[stage]") {
  ShownProgram program("step", "preset:overwrite?T=24&K=9&V=8");
  Application& application = program.application;
  program.choose("gated_deltanet", Form::recurrent);
  go_to(program.session, 20, "write");
  const auto largest = [&] {
    program.draw();
    CHECK(fault() == "");
    const Rectangle piece = largest_piece();
    return area(piece);
  };
  const float usual = largest();
  const Command& enlarge = find_command(application, "view.enlarge");
  CHECK(why_not(enlarge, application) == "");  // without a pointer, the picture of the largest number
  application.pinned = CellFocus{"S_after", 2, 1};
  perform(enlarge, application);
  CHECK(application.enlarged == "S_after");
  CHECK(largest() > usual);
  program.session.step(Session::Grain::operation, 1);  // the tensor is still there
  program.session.wait();
  CHECK(largest() > usual);
  application.enlarged = "no tensor";
  CHECK(largest() < 2 * usual);
  CHECK_FALSE(application.enlarged);
  application.enlarged = "S_after";
  perform(find_command(application, "view.release"), application);
  CHECK_FALSE(application.enlarged);
}

TEST_CASE("a click on the name of a picture, or on the mark in its corner, enlarges it", "[stage]") {
  ShownProgram program("step", "preset:overwrite?T=24&K=12&V=10");
  Application& application = program.application;
  program.choose("gated_deltanet", Form::recurrent);
  const auto click = [&](const Rectangle& place) {
    program.click(place);
    program.pass(60);  // so that the next click is not a double one
  };
  go_to(program.session, 20, "write");
  program.pass(faded_in);
  // By its name, or its symbol.
  const std::string name = "step/stage/name/S_after";
  click(place_of(name));
  CHECK(application.enlarged == "S_after");
  CHECK_FALSE(application.pinned);
  click(place_of(name));
  CHECK_FALSE(application.enlarged);

  // A click on a cell holds it. The mark comes with the pointer.
  REQUIRE(places_below("step/stage/mark").empty());
  const Rectangle picture = largest_piece();
  program.point(picture.middle());
  REQUIRE_FALSE(application.focus_is_usual());
  const CellFocus held = *application.focus();
  const Matrix<double>& values = program.session.sight().record->at(held.tensor);
  CHECK(held.row < values.rows());
  CHECK(held.column < values.cols());
  click(picture);
  CHECK(application.pinned == held);
  program.press(ImGuiKey_Escape);
  CHECK_FALSE(application.pinned);
  click(picture);
  CHECK_FALSE(application.enlarged);
  REQUIRE(application.pinned == held);
  const Part* mark = parts().find("step/stage/mark/" + held.tensor);
  REQUIRE(mark);
  CHECK(picture.grown(pixel_slack).holds(mark->where));
  click(mark->where);
  CHECK(application.enlarged == held.tensor);
  CHECK(*application.pinned == held);  // no cell below the mark
  application.enlarged.reset();
  program.pass(2);

  // A double click does not take back what its first half did.
  const Rectangle place = place_of(name);
  program.click(place);
  program.click(place);
  CHECK(application.enlarged == "S_after");
}

TEST_CASE("a click on a line of a chunk goes there, and the wheel to the one beside it", "[stage]") {
  ShownProgram program;
  Session& session = program.session;
  program.choose(Form::chunkwise);
  const auto operation = [&] { return session.cursor().operation; };
  const auto draw = [&](int frames) {
    for (int i = 0; i < frames; ++i) {
      program.pass();
      session.wait();
    }
  };
  session.set_cursor({session.cursor().block, 0, 0});
  draw(faded_in);
  const auto leading = parts().below("step/stage/line");
  REQUIRE_FALSE(leading.empty());
  const Index next = std::stoi(leading.front()->path.substr(std::string("step/stage/line/").size()));
  REQUIRE(next > 0);
  program.click(leading.front()->where);
  draw(2);
  CHECK(operation() == next);

  // Every line is reached, the last and the first are ends, and half a turn is not enough.
  std::vector<Index> reached = {operation()};
  const auto turn = [&](float by) {
    ImGui::GetIO().AddMouseWheelEvent(0, by);
    draw(3);
    return operation();
  };
  turn(-0.5F);
  CHECK(operation() == next);
  for (int i = 0; i < 8; ++i) reached.push_back(turn(-1));
  CHECK(std::ranges::is_sorted(reached));
  CHECK(reached[7] == reached[8]);
  CHECK(reached.back() > next);
  for (int i = 0; i < 8; ++i) turn(1);
  CHECK(operation() == 0);
}

TEST_CASE("states are turned together with their equation", "[stage]") {
  ShownProgram program("step", "preset:overwrite?T=8&K=9&V=3");
  Application& application = program.application;
  program.choose("gated_deltanet", Form::recurrent);
  go_to(program.session, 5, "write");
  const auto first_picture = [&] {
    program.pass(2);
    CHECK(fault() == "");
    for (const Rectangle& piece : places_below("step/stage/piece")) {
      if (piece.height() > 60) return piece;
    }
    return Rectangle{};
  };
  const Rectangle tall = first_picture();  // S_t, key x value
  CHECK(tall.height() > tall.width());
  const Record& recorded = *program.session.sight().record;
  CHECK(&shown(application).record == &recorded);

  application.pinned = CellFocus{"S_after", 7, 2};
  const double number = recorded.at("S_after")(7, 2);
  perform(find_command(application, "view.turn"), application);
  const Rectangle flat = first_picture();
  CHECK(flat.width() > flat.height());
  const auto [phase, record] = shown(application);
  CHECK(record.at("S_after").rows() == 3);
  CHECK(record.at("S_after")(application.pinned->row, application.pinned->column) == number);
  for (const Operation& operation : phase.operations)
    CHECK_NOTHROW(shape(operation.equation.expression, record));
  perform(find_command(application, "view.turn"), application);
  CHECK(*application.pinned == CellFocus{"S_after", 7, 2});
}

TEST_CASE("the stage says in its middle why a form is missing", "[stage]") {
  ShownProgram program;
  program.choose("ttt_mlp", Form::parallel);
  REQUIRE(program.session.trace() == nullptr);
  program.pass(2);
  REQUIRE(pieces().size() == 1);
  const Rectangle words = pieces().front();
  CHECK(stage_panel().grown(pixel_slack).holds(words));
  CHECK(std::abs(words.middle().x - stage_panel().middle().x) < pixel_slack);
}

TEST_CASE("while other data come, the old step is drawn with its own words", "[stage]") {
  ShownProgram program;
  for (int round = 0; round < 10; ++round) {
    program.open("preset:overwrite?T=60&K=6&V=5");
    program.choose("gated_deltanet", Form::recurrent);
    program.session.go_to_token(59);
    program.session.wait();
    program.session.open_named("preset:overwrite?T=12&K=3&V=4");
    for (int frame = 0; frame < 3; ++frame) {
      program.pass();
      CHECK(program.application.undrawn() == "");
      CHECK(fault() == "");
    }
  }
}

TEST_CASE("the warning of a memory that runs away is what core found", "[stage]") {
  ShownProgram program;
  CHECK_FALSE(program.session.computed()->divergence);
  CHECK(kind_range(*program.session.computed(), Role::state) > 0);
  program.choose([](Choice& choice) {
    set_slider(choice.edits, "scale_strength", 3);
    set_slider(choice.edits, "scale_keys", 2);
  });
  const Computation& computed = *program.session.computed();
  REQUIRE(computed.divergence);
  const std::string words = divergence_words(*computed.divergence);
  CHECK_THAT(words, says(computed.divergence->words));
  CHECK_THAT(words, says(fmt::format("token {}", computed.divergence->token + 1)));
  CHECK(kind_range(computed, Role::state) == 0);
  CHECK(kind_range(computed, Role::key) > 0);
}

TEST_CASE("the number beside the sliders is that of the token's step in core", "[stage]") {
  const auto data = std::make_shared<const DataSet>(open_data("capture:gated_deltanet_overwrite_l1"));
  int shown = 0;
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    Choice choice;
    choice.variant = variant.id;
    set_slider(choice.edits, "scale_keys", 1.3);
    const auto computed = compute(data, choice);
    for (const Form form : {Form::recurrent, Form::chunkwise}) {
      constexpr Index token = 42;
      const auto reach = *find_out(WriteReach{computed, form, token});
      if (!reach) continue;
      ++shown;
      const double squares = computed->sequence.at("k").rows<double>(token, 1).squaredNorm();
      CHECK(*reach == Approx(computed->sequence.at("beta")(token, 0) * squares).epsilon(1e-12));
      const auto step = stability_at(variant, computed->sequence, token);
      CHECK(*reach == step->reach);
      CHECK(step->largest_rate * step->sharpness == Approx(2).epsilon(1e-12));
    }
  }
  CHECK(shown >= 10);  // the delta family
}

TEST_CASE("a formula that is high has a line of its own above the tiles", "[stage]") {
  ShownProgram program;
  const auto above = [&](const char* id) {
    program.draw_as(id);
    float top = HUGE_VALF;
    for (const Rectangle& piece : pieces()) top = std::min(top, piece.minimum.y);
    return top - stage_panel().minimum.y;
  };
  CHECK(above("gated_deltanet") < 60);  // beside the forms
  CHECK(above("fox") > 80);             // a sum over tokens with its limits
}

TEST_CASE("on the stage nothing overlaps and nothing leaves the panel", "[stage]") {
  std::size_t hidden = 0;  // lines that are not in sight
  // Both ways to write a state, each at another end of the usual windows.
  for (const auto& [size, is_turned] : {std::pair(usual_sizes[0], false), {Size{3840, 2160, 2}, true}}) {
    ShownProgram program("step", {}, size);
    program.application.change_view([&](ViewOptions& view) { view.state_value_by_key = is_turned; });
    program.pass();
    for (const Variant& variant : variants()) {
      for (const Form form : all_forms) {
        program.choose(variant.id, form);
        if (!program.session.trace()) continue;
        CAPTURE(variant.id, name(form), size.width);
        hidden += check_steps(program);
      }
    }
  }
  CHECK(hidden > 10);
}

TEST_CASE("an update that is faint on the memory's scale has its own, and the legend says so", "[stage]") {
  ShownProgram program;
  const auto largest = [&](const std::string& variant, const std::string& operation,
                           const std::string& tensor) {
    program.choose(variant, Form::recurrent);
    go_to(program.session, 42, operation);
    const Sight& sight = program.session.sight();
    const Trace& trace = *sight.trace;
    const Phase& phase = trace.phase(trace.block(sight.cursor.block));
    ColourRanges ranges(*sight.computation, trace, phase, *sight.record, true);
    const StageView view =
        stage_view(trace, phase, *sight.record, sight.cursor, sight.computation->data->labels);
    ranges.begin_view(view.hero.made);
    for (const auto& [one, other] : view.hero.scale_of) ranges.follow(one, other);
    if (!view.hero.alone.empty()) ranges.stand_alone(view.hero.alone);
    return ranges.of(tensor);
  };
  for (const char* variant : {"linear", "lightning", "value_decay"}) {
    CAPTURE(variant);
    const ColourRange alone = largest(variant, "update", "update");
    CHECK(alone.is_own);
    // Where it is added to the memory, both have one scale.
    const ColourRange term = largest(variant, "write", "update");
    const ColourRange sum = largest(variant, "write", "S_after");
    CHECK(term.largest == sum.largest);
    CHECK_FALSE(sum.is_own);
    CHECK(alone.largest < 0.5 * sum.largest);
  }
}
