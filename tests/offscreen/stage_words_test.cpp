// Words beside the rows of wide equations, however little room there is.

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <set>

#include "app/session/computation.h"
#include "app/session/presets.h"
#include "app/session/step_questions.h"
#include "app/stage/equation_layout.h"
#include "app/stage/layout.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"
#include "tests/computed.h"

using namespace palimpsest;

namespace {

constexpr ImVec2 room_at_1280 = {764, 420};

struct Sighted {
  int with_all = 0;      // pictures with a word beside each row
  int with_present = 0;  // with that of the present row alone
  int without = 0;       // with none, though rows are words
  float lowest_row = std::numeric_limits<float>::infinity();
};

/// The pictures of the line at the cursor, which is the first one that is not a word's line in `layout`.
Sighted sighted(const StageView& view, const StageLayout& layout) {
  Sighted seen;
  const Box& lit = view.lines[view.present].equation;
  for (const PlacedEquation& placed : layout.equations) {
    Sighted here;
    bool is_lit = false;
    placed.equation.visit(placed.position, [&](const Box& box, const BoxExtent& extent, float, float) {
      is_lit = is_lit || box.key == lit.parts[0].key;
      if (box.kind != Box::Kind::picture || box.row_words.empty()) return;
      here.lowest_row = std::min(here.lowest_row, 2 * extent.above / static_cast<float>(box.rows));
      ++(extent.has_row_words ? here.with_all : extent.words > 0 ? here.with_present : here.without);
    });
    if (is_lit) seen = here;
  }
  return seen;
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
        const StageLayout layout = lay_out(view, {216, 150}, room_at_1280, screen_ruler(true));
        const Sighted seen = sighted(view, layout);
        CHECK(seen.with_all + seen.with_present > 0);
        CHECK(seen.without == 0);
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
