// What the Stage shows and where it lies, without a screen: letters are measured by a ruler of the test.
// Words beside the rows of wide equations, however little room there is; and how decay factors are coloured.

#include <map>

#include "app/session/step_questions.h"
#include "app/stage/equation_layout.h"
#include "app/stage/layout.h"
#include "app/stage/ranges.h"
#include "core/base/text.h"
#include "core/numbers/between.h"
#include "tests/computed.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/letter_ruler.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::vector<std::string> stage_labels(20, " jar");

constexpr float names_reach =
    3.5F;  // design pixels that words below a picture go beyond its sides, rounded up

/// What the Stage shows, laid out in a room whose letters are of the test.
struct LaidOut {
  LaidOut(const StageView& view, const Rectangle& room, float scale) : ruler(ruler_of(scale)) {
    const ImVec2 size = {room.maximum.x - room.minimum.x, room.maximum.y - room.minimum.y};
    node = lay_out(view, size, ruler, frame);
    placed = scene::lay_out(node, room, ruler);
  }

  /// The nodes whose names begin so.
  std::vector<const scene::Placed*> named(std::string_view start) const {
    std::vector<const scene::Placed*> found;
    for (const scene::Placed& spot : placed.inside) {
      if (spot.node->name.starts_with(start)) found.push_back(&spot);
    }
    return found;
  }

  bool says(std::string_view start) const {
    return std::ranges::any_of(placed.inside, [&](const scene::Placed& spot) {
      return scene::words_of(spot).find(start) != std::string::npos;
    });
  }

  /// All that keeps clear of all else: pictures, signs, words, those that lead elsewhere too.
  std::vector<ClearSpot> pieces() const {
    std::vector<ClearSpot> all;
    for (const scene::Placed& spot : placed.inside) {
      const auto* drawn = std::get_if<scene::Drawn>(&spot.node->content);
      const std::string kind = spot.node->name.substr(0, spot.node->name.find('/'));
      const bool is_piece = kind == "piece" || kind == "name" || kind == "line" || kind == "more";
      if (is_piece || (drawn && drawn->part == "piece"))
        all.push_back({spot.where, drawn ? 0 : ruler.px(names_reach)});
    }
    return all;
  }

  Ruler ruler;
  StageFrame frame;
  scene::Node node;
  scene::Placed placed;
};

constexpr float slack = 0.1F;  // of sums of single precision at some thousand pixels

/// What is wrong with what the Stage shows in a room; empty if nothing is.
std::string fault_in(const Rectangle& room, const std::vector<ClearSpot>& pieces) {
  return pieces.size() < 4 ? "hardly anything is placed" : fault_of(pieces, room, slack);
}

/// A step of some form of a variant, and what the Stage shows there.
struct ShownStep {
  const Trace& trace;
  const Phase& phase;
  const Record& record;
  Cursor cursor;
  StageView view = stage_view(trace, phase, record, cursor, stage_labels);
  const Operation& operation = phase.operations[static_cast<std::size_t>(cursor.operation)];
};

/// Calls `look` for every step of every form of every variant, at token 15.
void for_every_step(const std::function<void(const ShownStep& step)>& look) {
  for (const Variant& variant : variants()) {
    const auto computed = compute("preset:overwrite?T=20&K=6&V=5", variant.id);
    for (const Form form : all_forms) {
      const Trace* trace = computed->form(form).trace;
      if (!trace) continue;
      for (std::size_t phase = 0; phase < trace->phases.size(); ++phase) {
        const Index block = trace->block_of(15, static_cast<Index>(phase));
        const auto record = find_out(BlockRecord{computed->trace(form), block}).value;
        const Index row = std::max<Index>(15 - trace->block(block).first_token, 0);
        for (std::size_t i = 0; i < trace->phases[phase].operations.size(); ++i) {
          CAPTURE(variant.id, name(form), trace->phases[phase].operations[i].id);
          look({*trace, trace->phases[phase], *record, {block, static_cast<Index>(i), row}});
        }
      }
    }
  }
}

/// Calls `see` for every box.
void for_every_box(const Box& box, const std::function<void(const Box&)>& see) {
  see(box);
  for (const Box& part : box.parts) for_every_box(part, see);
}

constexpr ImVec2 room_at_1280 = {764, 420};

struct Sighted {
  int with_all = 0;      // pictures with a word beside each row
  int with_present = 0;  // with that of the present row alone
  float lowest_row = std::numeric_limits<float>::infinity();
};

/// The pictures of the line at the cursor, which begins with what is said of it. Words of rows come before
/// their picture.
Sighted sighted(const scene::Placed& layout, Index rows) {
  Sighted seen;
  bool is_lit = false;
  int words = 0;
  for (const scene::Placed& spot : layout.inside) {
    const scene::Content& content = spot.node->content;
    if (spot.node->name.starts_with("line/")) is_lit = false;
    if (std::holds_alternative<scene::FirstThatFits>(content) && spot.node->name == "piece") is_lit = true;
    if (const auto* text = std::get_if<scene::Text>(&content)) words += text->height > 0 ? 1 : 0;
    const auto* drawn = std::get_if<scene::Drawn>(&content);
    if (!drawn || drawn->part.empty()) continue;
    if (is_lit && words > 0) {
      seen.lowest_row = std::min(seen.lowest_row, spot.size().y / static_cast<float>(rows));
      ++(words > 1 ? seen.with_all : seen.with_present);
    }
    words = 0;
  }
  return seen;
}

/// The pictures of an equation beside whose rows words may stand.
std::vector<const Box*> pictures_with_words(const Box& box) {
  std::vector<const Box*> found;
  for_every_box(box, [&](const Box& each) {
    if (!each.row_words.empty()) found.push_back(&each);
  });
  return found;
}

/// The step called so of the chunk that holds a token.
struct ChunkStep {
  ChunkStep(const Computation& computed, const std::string& id, Index token)
      : trace(computed.trace(Form::chunkwise)) {
    REQUIRE(trace);
    const Index block = trace->block_of(token, 0);
    record = find_out(BlockRecord{trace, block}).value;
    const auto& operations = trace->phases.front().operations;
    const auto found = std::ranges::find(operations, id, &Operation::id);
    REQUIRE(found != operations.end());
    cursor = {block, found - operations.begin(), token - trace->block(block).first_token};
  }

  StageView view(const std::vector<std::string>& labels, const Record* recurrence = nullptr) const {
    return stage_view(*trace, trace->phases.front(), *record, cursor, labels, {}, recurrence);
  }

  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const Record> record;
  Cursor cursor;
};

/// Calls `look` with the view of the step `operation` of the rule, at token 42 of the capture.
void at_step(const std::string& variant, const std::string& operation,
             const std::function<void(const StageView& view)>& look) {
  const auto computed = compute("capture:gated_deltanet_overwrite_l1", variant);
  const ChunkStep step(*computed, operation, 42);
  look(step.view(computed->data->labels));
}

}  // namespace

TEST_CASE("what the Stage shows are the shapes and numbers of the record, and the rows that are made",
          "[stage]") {
  int by_row = 0;
  std::map<Hero::Kind, int> heroes;
  for_every_step([&](const ShownStep& step) {
    const auto present = static_cast<std::size_t>(step.cursor.operation);
    const bool waits = step.phase.lines.size() == 1 &&
                       step.operation.equation.result != step.phase.lines.front().equation.result;
    REQUIRE(step.view.lines.size() == (step.view.one_token ? 0 : step.phase.lines.size() + (waits ? 1 : 0)));
    REQUIRE(step.view.tiles.size() == (step.view.one_token ? step.phase.operations.size() : 0));
    if (step.trace.form != Form::recurrent && step.phase.lines.size() == 1) {  // it waits for what it makes
      CHECK(step.view.lines.size() == (waits ? 2U : 1U));
      CHECK(step.view.starts.size() == step.view.lines.size());
      if (waits) {
        CHECK(step.view.lines.back().title == "2  " + step.phase.lines.front().title);
        CHECK(step.view.starts.back() == std::ssize(step.phase.operations) - 1);
      }
    }
    CHECK(std::ranges::find(step.phase.lines[step.view.present].operations, step.operation.id) !=
          step.phase.lines[step.view.present].operations.end());
    CHECK(std::ranges::count_if(step.view.rule, &StageFormula::is_lit) == 1);
    CHECK(step.view.lit == step.operation.equation.result);
    CHECK(step.view.sentence.find("{token}") == std::string::npos);
    CHECK((step.operation.sentence.find("{token}") == std::string::npos ||
           step.view.sentence.find("jar") != std::string::npos));

    std::vector<const Box*> equations;
    for (const StageLine& line : step.view.lines) equations.push_back(&line.equation);
    for (const StageTile& tile : step.view.tiles) equations.push_back(&tile.picture);
    const Hero& hero = step.view.hero;
    if (step.view.one_token && hero.kind == Hero::Kind::equation) equations.push_back(&hero.equation);
    for (const Plate& plate : hero.plates) {
      equations.push_back(&plate.picture);
      for (const Margin& margin : plate.margins) equations.push_back(&margin.picture);
    }
    if (step.view.one_token) ++heroes[hero.kind];
    for (const auto& [name, other] : hero.stands_for) {
      CHECK(hero.made.at(name).rows() == step.record.at(other).rows());
      CHECK(hero.made.at(name).cols() == step.record.at(other).cols());
    }
    Record all = step.record;
    for (const auto& [name, values] : hero.made.tensors()) all.set(name, values);
    std::vector<std::string> keys;
    for (const Box* equation : equations) {
      for_every_box(*equation, [&](const Box& box) {
        if (box.kind == Box::Kind::number) {
          REQUIRE(all.at(box.tensor).size() == 1);
          const double value = all.at(box.tensor)(0, 0);
          if (std::abs(value) > 0.01 && std::abs(value) < 100)
            CHECK(std::stod(box.digits) == Approx(value).epsilon(0.005));  // three digits
        }
        if (box.kind != Box::Kind::picture) return;
        const Matrix<double>& values = all.at(box.tensor);
        CHECK(box.rows == (box.transposed ? values.cols() : values.rows()));
        CHECK(box.columns == (box.transposed ? values.rows() : values.cols()));
        keys.push_back(box.key);
      });
    }
    std::ranges::sort(keys);
    CHECK(std::ranges::adjacent_find(keys) == keys.end());  // every picture has its own place on the card

    std::vector<std::string> made;
    for (std::size_t i = 0; i < step.phase.operations.size(); ++i) {
      const std::string& result = step.phase.operations[i].equation.result;
      if (std::ranges::find(made, result) != made.end()) continue;
      made.push_back(result);
      CAPTURE(result);
      const bool goes_on = i == present && step.operation.by_row;
      by_row += goes_on;
      CHECK(step.view.finished_rows(result) == (i > present ? 0 : goes_on ? step.cursor.row + 1 : -1));
    }
    CHECK(step.view.finished_rows("no tensor") == -1);
  });
  CHECK(by_row > 10);
  CHECK(heroes[Hero::Kind::plates] > 100);
  CHECK(heroes[Hero::Kind::strips] > 30);
  CHECK(heroes[Hero::Kind::equation] < heroes[Hero::Kind::plates]);
}

TEST_CASE("the step at the cursor is drawn as what it is", "[stage]") {
  std::map<std::string, std::string> seen;  // variant and step
  int substitutions = 0;
  for_every_step([&](const ShownStep& step) {
    const Hero& hero = step.view.hero;
    if (step.operation.purpose == Purpose::update && step.view.one_token && hero.one_scale.size() == 3) {
      REQUIRE(hero.plates.size() == 3);
      CHECK(hero.plates[0].name == "erased");
      CHECK(hero.plates[1].name == "written");
      CHECK(hero.plates[2].name == "update");
      for (const Plate& plate : hero.plates) CHECK(plate.margins.size() <= 2);
      seen["overwrite"] = step.operation.id;
      const bool is_made = hero.made.contains(hero.plates[2].picture.tensor);
      if (is_made && step.operation.id == "update") {  // the other half is still to be written
        CHECK(step.view.finished_rows(step.view.recorded(hero.plates[2].picture.tensor)) == 0);
        seen["two halves"] = step.operation.id;
      }
    }
    if (hero.kind == Hero::Kind::network) {
      CHECK(hero.plates.size() == 3);
      REQUIRE(hero.links.size() == 2);
      CHECK(hero.links[0].size() > 10);
      for (const Plate& plate : hero.plates)  // what is still to come has no length yet
        CHECK(plate.number.empty() == (step.view.finished_rows(plate.picture.tensor) == 0));
      seen["network"] = step.operation.id;
    }
    if (step.view.one_token && hero.kind == Hero::Kind::plates && hero.plates.size() == 3) {
      const Expression& made = step.operation.equation.expression;
      if (made.kind() == Expression::Kind::hadamard) seen["cell by cell"] = step.operation.id;
      if (step.operation.id == "certainty") seen["a scaled difference"] = step.operation.id;
      if (step.operation.id == "step_3" && hero.charts.size() == 1) {
        CHECK(hero.made.at(hero.charts[0].tensor) == step.record.at("spectra").leftCols(4));
        seen["flattening"] = step.operation.id;
      }
    }
    if (step.view.one_token && hero.kind == Hero::Kind::strips && step.operation.id == "peak") {
      CHECK(hero.plates.back().picture.kind == Box::Kind::number);
      const Box& strip = hero.plates.front().picture;
      REQUIRE(static_cast<Index>(strip.column_words.size()) == strip.columns);
      CHECK(strip.column_order.front() == 15);  // the word at the cursor comes first
      seen["words below a strip"] = step.operation.id;
    }
    const bool is_softmax = step.trace.symbols.contains("w") && !step.record.contains("S_after");
    if (step.view.one_token && is_softmax && step.operation.id == "output" && hero.plates.size() == 3) {
      CHECK(hero.kind == Hero::Kind::strips);
      CHECK(hero.plates[0].picture.kind == Box::Kind::number);
      CHECK(hero.plates[1].sign == "\\cdot");
      seen["divided by a number"] = step.operation.id;
    }
    if (!hero.alone.empty()) {
      CHECK(hero.alone == step.operation.equation.result);
      if (hero.plates.size() == 1) seen["alone"] = step.operation.id;
    }
    for (const HeroChart& chart : hero.charts)
      seen[chart.is_logarithmic ? "solve" : "flattened"] = step.operation.id;
    if (!step.view.substitution) return;
    ++substitutions;
    const SubstitutionView& solve = *step.view.substitution;
    CHECK(solve.row == step.cursor.row);
    CHECK(static_cast<Index>(solve.strips.size()) == step.cursor.row + 2);
    CHECK(static_cast<Index>(solve.coefficients.size()) == step.cursor.row + 1);
    CHECK(step.view.lines[step.view.present].sentence.find(solve.sentence) != std::string::npos);
  });
  CHECK(substitutions > 20);
  for (const char* each :
       {"overwrite", "two halves", "network", "solve", "flattened", "cell by cell", "a scaled difference",
        "flattening", "alone", "words below a strip", "divided by a number"}) {
    CAPTURE(each);
    CHECK(seen.contains(each));
  }
}

TEST_CASE("where the Stage puts things nothing overlaps and nothing leaves its room", "[stage]") {
  // Rooms of windows from 1280 x 800 to 4K, and a corner far from the origin.
  struct Place {
    ImVec2 origin;
    ImVec2 room;
    float scale;
  };
  std::size_t hidden = 0;
  for_every_step([&](const ShownStep& step) {
    for (const Place& place : {Place{{300, 140}, {690, 400}, 1}, Place{{380, 160}, {1180, 620}, 1},
                               Place{{700.5F, 300.25F}, {2400, 1300}, 2}}) {
      CAPTURE(place.room.x);
      const Rectangle room = box_at(place.origin, place.room);
      const LaidOut layout(step.view, room, place.scale);
      const std::vector<ClearSpot> pieces = layout.pieces();
      CHECK(fault_in(room, pieces) == "");
      hidden += layout.named("more/").size();
      // What waits, and where the cursor stood before, change nothing.
      const std::vector<ClearSpot> again = LaidOut(step.view, room, place.scale).pieces();
      REQUIRE(again.size() == pieces.size());
      for (std::size_t i = 0; i < pieces.size(); ++i) CHECK(again[i].where == pieces[i].where);
    }
  });
  CHECK(hidden > 10);  // there are lines that are not in sight
}

TEST_CASE("every bracket closes, and in a long equation no tensor is drawn twice", "[stage]") {
  const auto open = [](const std::string& latex, char opening, char closing) {
    int depth = 0;
    int count = 0;
    for (const char c : latex) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth == 0) count += c == opening ? 1 : c == closing ? -1 : 0;
    }
    return count;
  };
  int round = 0;
  int square = 0;
  int symbols = 0;
  for_every_step([&](const ShownStep& step) {
    // The index of each key is no number of the text: a sum only runs over it.
    for (const Plate& plate : step.view.hero.plates) CHECK(plate.picture.tensor != "keys");
    for (const StageLine& line : step.view.lines) {
      CAPTURE(line.title);
      std::map<std::string, int> pictures;
      int all = 0;
      for_every_box(line.equation.parts.back(), [&](const Box& box) {
        if (box.kind == Box::Kind::picture) ++pictures[box.tensor];
        all += box.kind == Box::Kind::picture ? 1 : 0;
        symbols += box.kind == Box::Kind::glyph && box.latex == "B_1" ? 1 : 0;
      });
      if (all > 4) CHECK(std::ranges::all_of(pictures, [](const auto& each) { return each.second == 1; }));
      int opened = 0;
      for_every_box(line.equation, [&](const Box& box) {
        if (box.kind == Box::Kind::bracket) {
          opened += box.right ? -1 : 1;
          ++(box.square ? square : round);
        }
        if (box.kind != Box::Kind::glyph) return;
        CAPTURE(box.latex);
        CHECK(open(box.latex, '(', ')') == 0);
        CHECK(open(box.latex, '[', ']') == 0);
      });
      CHECK(opened == 0);
    }
  });
  CHECK(round > 100);
  CHECK(square > 100);
  CHECK(symbols > 0);
}

TEST_CASE("every tile says in words what its step makes, however little room there is", "[stage]") {
  int tiles = 0;
  for_every_step([&](const ShownStep& step) {
    if (step.cursor.operation > 0) return;
    for (const ImVec2 room : {ImVec2(700, 290), ImVec2(740, 500), ImVec2(1240, 540)}) {
      CAPTURE(room.x, room.y);
      const LaidOut layout(step.view, box_at({300, 140}, room), 1);
      for (const scene::Placed* tile : layout.named("tile/")) {
        ++tiles;
        CHECK(std::ranges::any_of(layout.named("piece"), [&](const scene::Placed* words) {
          return overlap(words->where, tile->where) &&
                 !std::holds_alternative<scene::Formula>(words->node->content) &&
                 scene::words_of(*words).size() > 2;
        }));
      }
    }
  });
  CHECK(tiles > 300);
}

TEST_CASE("a larger room never makes the pictures of an equation smaller", "[stage]") {
  const Ruler ruler = ruler_of(1);
  for_every_step([&](const ShownStep& step) {
    if (step.cursor.operation > 0) return;  // the lines are the same for all steps but one
    for (const StageLine& line : step.view.lines) {
      EquationLayout equation(line.equation, ruler);
      float unit = -1;
      for (const float width : {300.0F, 500.0F, 900.0F, 1600.0F}) {
        const ImVec2 extent = equation.fit({width, width / 2});
        if (equation.sizes().squeeze < 1) continue;
        CHECK(extent.x <= width);
        CHECK(extent.y <= width / 2);
        CHECK(equation.unit() >= unit * 0.999F);  // halved fourteen times from the width of the room
        unit = equation.unit();
      }
    }
  });
}

TEST_CASE("lines come into sight around the present one, first those that follow", "[stage]") {
  const std::vector<float> needed = {10, 10, 10, 10, 10};
  const auto window = [&](std::size_t present, float room) {
    const LinesInSight found = window_around(present, needed, room);
    return std::pair(found.first, found.last);
  };
  CHECK(window(2, 9) == std::pair<std::size_t, std::size_t>(2, 2));
  CHECK(window(2, 10) == std::pair<std::size_t, std::size_t>(2, 3));
  CHECK(window(2, 20) == std::pair<std::size_t, std::size_t>(1, 3));
  CHECK(window(2, 35) == std::pair<std::size_t, std::size_t>(1, 4));
  CHECK(window(4, 25) == std::pair<std::size_t, std::size_t>(2, 4));
  CHECK(window(0, 1000) == std::pair<std::size_t, std::size_t>(0, 4));
}

TEST_CASE("the sum of a row of a solve: its strips, its formulas, and the terms that have no room",
          "[stage]") {
  const Ruler ruler = ruler_of(1);
  std::map<std::string, Index> rows;
  std::set<std::string> factors;
  std::set<std::string> formulas;
  Index longest = 0;
  int cut = 0;
  for_every_step([&](const ShownStep& step) {
    if (!step.view.substitution) return;
    // The strips of different rows have places of their own on the card.
    for (const Index row : {Index{1}, Index{2}}) {
      const Cursor at{step.cursor.block, step.cursor.operation,
                      std::min(row, step.trace.block(step.cursor.block).count - 1)};
      const StageView view = stage_view(step.trace, step.phase, step.record, at, stage_labels);
      if (!view.substitution) continue;
      for (const SubstitutionStrip& strip : view.substitution->strips) {
        const auto [known, is_new] = rows.try_emplace(strip.picture.key, view.substitution->row);
        CHECK(known->second == view.substitution->row);
      }
    }

    const SubstitutionView& solve = *step.view.substitution;
    StageFrame frame;
    Placing placing(step.view, ruler, frame);
    lay_out_substitution(placing, solve, {0, 0}, {700, 160});
    const scene::Node node = std::move(placing).all();
    const scene::Placed layout = scene::lay_out(node, {{0, 0}, {700, 160}}, ruler);
    const auto says = [&](const std::string& words) {
      return std::ranges::any_of(
          layout.inside, [&](const scene::Placed& placed) { return scene::words_of(placed) == words; });
    };
    Matrix<double> sum;
    int left_out = 0;
    longest = std::max(longest, solve.solved.rows);
    for (const SubstitutionStrip& strip : solve.strips) {
      CAPTURE(strip.latex);
      // A formula is read, laid out and painted; with a number in it that would be done anew at every step.
      CHECK(strip.latex.find('.') == std::string::npos);
      if (!strip.factor.empty()) {
        factors.insert(strip.factor);
        formulas.insert(strip.latex);
      }
      if (says(strip.latex)) continue;
      const Matrix<double>& part = solve.made.at(strip.picture.tensor);
      sum = left_out == 0 ? part : Matrix<double>(sum + part);
      ++left_out;
    }
    // It is said how many terms have no room, and how large they are together.
    CHECK(says(fmt::format("{} more", left_out)) == (left_out > 0));
    if (left_out == 0) return;
    CHECK(says(fixed_number(sum.norm(), 2)));
    ++cut;
  });
  CHECK(rows.size() > 4);
  CHECK(cut > 0);
  CHECK(factors.size() > formulas.size());
  CHECK(static_cast<Index>(formulas.size()) < 3 * longest);  // one for a row, of each letter
}

TEST_CASE("a chunk's output says that before and inside are what the recurrence gives", "[stage]") {
  for (const char* id : {"linear", "gated_deltanet", "kda", "rwkv7", "mesanet"}) {
    CAPTURE(id);
    const auto computed = compute("preset:overwrite?T=20&K=6&V=5", id);
    const auto recurrent = computed->trace(Form::recurrent);
    const auto recurrence = find_out(BlockRecord{recurrent, recurrent->block_of(15, 0)}).value;
    const ChunkStep output(*computed, "output", 15);
    const std::string said = "Carried-in part + part inside the chunk = the recurrence's outputs.";
    const StageView alone = output.view(stage_labels);
    CHECK(alone.lines[alone.present].sentence == said);
    StageView view = output.view(stage_labels, recurrence.get());
    const std::string& sentence = view.lines[view.present].sentence;
    CHECK(sentence.starts_with(said + " For “jar” "));
    for (const float width : {960.0F, 1240.0F}) {
      const LaidOut layout(view, box_at({300, 140}, {width, 540}), 1);
      CHECK(layout.says("Carried-in part + part inside"));
    }
    // Another output than the recurrence's is seen.
    Record other = *recurrence;
    other.set("o", Matrix<double>(recurrence->at("o").array() + 0.5));
    view = output.view(stage_labels, &other);
    CHECK(view.lines[view.present].sentence.ends_with(" For “jar” both agree to 5e-01."));
  }
}

TEST_CASE("wide equations of a chunk have words beside their rows at 1280 x 800", "[stage]") {
  Offscreen offscreen(1280, 800);
  const std::tuple<const char*, const char*, bool> wide[] = {
      {"kda", "scores", true},     {"kda", "overlap", true},    {"gated_deltanet2", "scores", true},
      {"comba", "scores", true},   {"comba", "overlap", true},  {"rwkv7", "plain_overlap", true},
      {"rwkv7", "overlap", false}, {"mesanet", "solve", false}, {"mesanet", "scores", true},
      {"rls", "gains", false}};
  for (const auto& [variant, operation, has_all_words] : wide) {
    CAPTURE(variant, operation);
    at_step(variant, operation, [&, has_all = has_all_words](const StageView& view) {
      offscreen.pass([&] {
        const std::vector<const Box*> named = pictures_with_words(view.lines[view.present].equation);
        REQUIRE_FALSE(named.empty());
        const Ruler ruler = screen_ruler(true);
        StageFrame frame;
        const scene::Node node = lay_out(view, room_at_1280, ruler, frame);
        const Sighted seen =
            sighted(scene::lay_out(node, box_at({216, 150}, room_at_1280), ruler), named.front()->rows);
        CHECK(seen.with_all + seen.with_present >= std::ssize(named));
        CHECK(seen.lowest_row >= (has_all ? row_of_words : 7));
        if (has_all) CHECK(seen.with_present == 0);
      });
    });
  }
}

TEST_CASE("an equation breaks between factors and terms, and loses no piece", "[stage]") {
  std::set<std::string> signs;
  for (const auto& [variant, operation] :
       {std::pair("kda", "scores"), std::pair("mesanet", "solve"), std::pair("comba", "scores"),
        std::pair("rls", "gains"), std::pair("ttt_mlp", "output")}) {
    at_step(variant, operation, [&](const StageView& view) {
      for (std::size_t i = 0; i < view.steps.size(); ++i) {
        const auto pictures = [](const Box& box) {
          std::vector<std::string> tensors;
          for_every_box(box, [&](const Box& each) {
            if (each.kind == Box::Kind::picture || each.kind == Box::Kind::number)
              tensors.push_back(each.tensor);
          });
          return tensors;
        };
        if (view.broken_steps[i].parts.empty()) continue;
        // No line ends with a sign: it stands before the next.
        const Box& lines = view.broken_steps[i].parts[2];
        REQUIRE(lines.parts.size() == 3);
        const std::string& end = lines.parts[0].parts.back().latex;
        CHECK_FALSE((end.ends_with("+") || end.ends_with("-") || end.ends_with("\\cdot")));
        signs.insert(lines.parts[1].latex);
        CHECK(pictures(view.broken_steps[i]) == pictures(view.steps[i]));
      }
    });
  }
  CHECK(signs.contains("+"));
  CHECK(signs.contains("\\cdot"));
}

TEST_CASE("of decay factors one is paper, and what is lost counts by its logarithm", "[fading]") {
  CHECK(forgotten_part(1) == 0);
  CHECK(forgotten_part(1 - 1e-5) == 0);
  CHECK(std::abs(forgotten_part(0.999) - 0.25) < 1e-9);
  CHECK(std::abs(forgotten_part(0.99) - 0.5) < 1e-9);
  CHECK(forgotten_part(0) == 1);
  CHECK(forgotten_part(1.5) == 0);
  CHECK(forgotten_part(-1) == 1);
}

TEST_CASE(
    "cells of factors are coloured below zero, what a mask leaves out is none, other tensors keep theirs",
    "[fading]") {
  const Offscreen context(64, 64);
  Matrix<double> kept(3, 3);
  kept << 1, 0, 0, 0.99, 1, 0, 0, 0.9, 1;  // nothing is left of the first word for the third
  const Matrix<double>* cells = fading_cells("here", "G", kept, 7);
  REQUIRE(cells);
  CHECK((*cells)(0, 0) == 0);
  CHECK(std::abs((*cells)(1, 0) + 0.5) < 1e-9);
  CHECK((*cells)(2, 0) == -1);
  for (const auto& [row, column] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)})
    CHECK(std::isinf((*cells)(row, column)));
  // A gate without a triangle may forget all.
  const Matrix<double> gates = Matrix<double>::Zero(3, 1);
  REQUIRE(fading_cells("gates", "alpha", gates, 7));
  CHECK((*fading_cells("gates", "alpha", gates, 7))(0, 0) == -1);
  CHECK(fading_cells("other", "P", kept, 7) == nullptr);
  kept(1, 0) = 1.2;  // no factor: what is kept of it is made anew with its version
  CHECK(fading_cells("here", "G", kept, 7) != nullptr);
  CHECK(fading_cells("here", "G", kept, 8) == nullptr);
}
