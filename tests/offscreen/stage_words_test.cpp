// Words beside the rows of wide equations, however little room there is; and how decay factors are coloured.

#include "app/session/step_questions.h"
#include "app/stage/equation_layout.h"
#include "app/stage/layout.h"
#include "app/stage/ranges.h"
#include "core/numbers/between.h"
#include "tests/computed.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

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
  if (!box.row_words.empty()) found.push_back(&box);
  for (const Box& part : box.parts) {
    for (const Box* picture : pictures_with_words(part)) found.push_back(picture);
  }
  return found;
}

/// Calls `look` with the view of the step `operation` of the rule, at token 42 of the capture.
void at_step(const std::string& variant, const std::string& operation,
             const std::function<void(const StageView& view)>& look) {
  const auto data = std::make_shared<const DataSet>(open_data("capture:gated_deltanet_overwrite_l1"));
  Choice choice;
  choice.variant = variant;
  const auto computed = compute(data, choice);
  const Trace& trace = *computed->form(Form::chunkwise).trace;
  const Index block = trace.block_of(42, 0);
  const auto record = find_out(BlockRecord{computed->trace(Form::chunkwise), block}).value;
  const auto& operations = trace.phases[0].operations;
  const auto found = std::ranges::find(operations, operation, &Operation::id);
  REQUIRE(found != operations.end());
  look(stage_view(trace, trace.phases[0], *record, {block, found - operations.begin(), 2}, data->labels));
}

}  // namespace

TEST_CASE("wide equations of a chunk have words beside their rows at 1280 x 800", "[stage]") {
  Offscreen offscreen(1280, 800);
  struct Wide {
    const char* variant;
    const char* operation;
    bool has_all;
  };
  for (const Wide& wide : std::array{Wide{"kda", "scores", true}, Wide{"kda", "overlap", true},
                                     Wide{"gated_deltanet2", "scores", true}, Wide{"comba", "scores", true},
                                     Wide{"comba", "overlap", true}, Wide{"rwkv7", "plain_overlap", true},
                                     Wide{"rwkv7", "overlap", false}, Wide{"mesanet", "solve", false},
                                     Wide{"mesanet", "scores", true}, Wide{"rls", "gains", false}}) {
    CAPTURE(wide.variant, wide.operation);
    at_step(wide.variant, wide.operation, [&](const StageView& view) {
      offscreen.pass([&] {
        const std::vector<const Box*> named = pictures_with_words(view.lines[view.present].equation);
        REQUIRE_FALSE(named.empty());
        const Ruler ruler = screen_ruler(true);
        StageFrame frame;
        const scene::Node node = lay_out(view, room_at_1280, ruler, frame);
        const Sighted seen =
            sighted(scene::lay_out(node, box_at({216, 150}, room_at_1280), ruler), named.front()->rows);
        CHECK(seen.with_all + seen.with_present >= std::ssize(named));
        CHECK(seen.lowest_row >= (wide.has_all ? row_of_words : 7));
        if (wide.has_all) CHECK(seen.with_present == 0);
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
          std::function<void(const Box&)> see = [&](const Box& each) {
            if (each.kind == Box::Kind::picture || each.kind == Box::Kind::number)
              tensors.push_back(each.tensor);
            for (const Box& part : each.parts) see(part);
          };
          see(box);
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
