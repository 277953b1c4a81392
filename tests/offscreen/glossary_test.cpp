// What a symbol in a formula is, told by where it lies in the picture.

#include "app/words/glossary.h"
#include "app/views/stage.h"
#include "app/widgets/formula_painter.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::vector<std::string> symbols_in(const std::string& latex) {
  std::vector<std::string> all;
  for (const FormulaMark& mark : LaidOutFormula(latex, 32).marks()) all.push_back(mark.symbol);
  return all;
}

std::string symbol(const std::string& latex) { return symbols_in(latex).at(0); }

}  // namespace

TEST_CASE("the symbols of a formula are found, each with its own indices and accents", "[glossary]") {
  const std::vector<std::string> found = symbols_in(
      "S_t = \\fgcolor{#102030}{\\alpha_t} S_{t-1}^{\\top} + \\mathrm{exp}(\\hat v_t - \\bar S_t "
      "k_t^{\\top})");
  CHECK(found == std::vector<std::string>{symbol("S_t"), symbol("\\alpha_t"), symbol("S_{t-1}"),
                                          symbol("\\hat v_t"), symbol("\\bar S_t"), symbol("k_t")});
  const std::set<std::string> different = {symbol("S_t"),       symbol("S_{t-1}"),  symbol("\\bar S_t"),
                                           symbol("\\hat v_t"), symbol("v_t"),      symbol("\\tilde S"),
                                           symbol("S"),         symbol("H^{kk}_t"), symbol("H^{kv}_t")};
  CHECK(different.size() == 9);
  CHECK(symbols_in("1 + 2").empty());
  float right = 0;
  for (const FormulaMark& mark : LaidOutFormula("q k v", 32).marks()) {
    CHECK(mark.where.minimum.x > right - 2);
    CHECK(mark.where.maximum.x > mark.where.minimum.x);
    CHECK(mark.where.maximum.y > mark.where.minimum.y);
    right = mark.where.maximum.x;
  }
}

TEST_CASE("each entry of the glossary is another term and another symbol", "[glossary]") {
  std::set<std::string> symbols;
  for (const GlossaryEntry& entry : glossary()) {
    CAPTURE(entry.term);
    CHECK(first_term(entry.term).entry == &entry);
    if (!entry.latex.empty()) CHECK(symbols.insert(symbol(std::string(entry.latex))).second);
  }
}

TEST_CASE("the first term of a text is found as a whole word, in the plural too, but not in quotes",
          "[glossary]") {
  const auto found = [](const std::string& text) {
    const FoundTerm term = first_term(text);
    return term.entry ? text.substr(term.begin, term.end - term.begin) : std::string();
  };
  CHECK(found("Queries read the state.") == "Queries");
  CHECK(found("a keyboard, then keys") == "keys");
  CHECK(found("the write strength of a token") == "write strength");
  CHECK(found("“The red jar holds a key”: its norm") == "norm");
  CHECK(found("holds a key”: its norm") == "norm");
  CHECK(found("‖S‖ and the state") == "state");
  CHECK(found("“key").empty());
  CHECK(found("").empty());
}

TEST_CASE("a term in a text under the pointer is told, unless the text has a tip of its own", "[glossary]") {
  Offscreen offscreen(400, 200);
  const auto draw = [&] {
    in_window({400, 200}, [&] {
      scene::show(scene::column({scene::text("‖S‖_F is its norm").named("term"), scene::text("no such thing"),
                                 scene::text("the norm").told("its own").named("own")}));
    });
  };
  const auto point = [&](const char* path) {
    const ImVec2 at = place_of(path).minimum + ImVec2(4, 4);
    ImGui::GetIO().AddMousePosEvent(at.x, at.y);
    offscreen.render(draw, 90);
    CHECK(is_tip_shown());
  };
  offscreen.render(draw);
  ImGui::GetIO().AddMousePosEvent(399, 199);
  offscreen.render(draw, 3);
  CHECK_FALSE(is_tip_shown());
  point("term");
  CHECK(parts().find("term/explained"));
  point("own");
  CHECK_FALSE(parts().find("own/explained"));
}

TEST_CASE("every symbol of every rule and form says what it is", "[glossary]") {
  Offscreen offscreen(64, 64);  // formulas are kept by a context of Dear ImGui
  const auto data = std::make_shared<const DataSet>(make_preset("preset:random?T=8&K=3&V=2&seed=1"));
  std::size_t told = 0;
  offscreen.render(
      [&] {
        for (const Variant& variant : variants()) {
          Choice choice;
          choice.variant = variant.id;
          choice.chunk_size = 4;
          const auto computation = begin(data, choice);
          for (const Form form : all_forms) {
            const auto& trace = computation->trace(form);
            if (!trace) continue;
            for (const auto& [name, own] : trace->symbols) {
              CAPTURE(variant.id, palimpsest::name(form), name, own.latex);
              const PointedSymbol pointed = first_symbol(own.latex);
              CHECK(!pointed.symbol.empty());
              const SymbolMeaning known = meaning(pointed, trace->symbols);
              CHECK(!known.words.empty());
              CHECK(first_symbol(known.latex) == pointed);
              ++told;
            }
          }
        }
      },
      1);
  CHECK(told > 500);
}

TEST_CASE("the pointer finds the symbol that it is on", "[glossary]") {
  Offscreen offscreen(400, 200);
  const std::string latex = "S_t = S_{t-1} + k_t";
  std::optional<PointedSymbol> pointed;
  const auto draw = [&] {
    in_window({400, 200}, [&] {
      draw_formula(ImGui::GetWindowDrawList(), {40, 100}, latex, 32, IM_COL32_WHITE);
      const PointedSymbol* found = pointed_symbol();
      pointed = found ? std::optional(*found) : std::nullopt;
    });
  };
  const FormulaMark k = LaidOutFormula(latex, 32).marks().at(2);
  const float top = 100 - LaidOutFormula(latex, 32).extent().ascent;
  const auto point = [&](float x, float y) {
    ImGui::GetIO().AddMousePosEvent(x, y);
    offscreen.render(draw, 3);
  };
  offscreen.render(draw);
  point(40 + k.where.middle().x, top + k.where.middle().y);
  REQUIRE(pointed);
  CHECK(pointed->symbol == symbol("k_t"));
  CHECK(meaning(*pointed, {}).words == "key: the vector under which a value is stored.");
  point(390, 190);
  CHECK_FALSE(pointed);
}

TEST_CASE("a symbol on a slider says what it is in the place of the slider's own tip", "[glossary]") {
  ShownProgram shown("learn", "preset:overwrite?T=24&K=6&V=5", usual_sizes[1]);
  shown.draw();
  // Down the right panel, where sliders begin with their symbols.
  int symbols = 0;
  int in_place_of_another = 0;
  std::string before;
  for (float y = 60; y < 520; y += 4) {
    shown.point({1586, y});
    const PointedSymbol* pointed = pointed_symbol();
    if (!pointed || pointed->symbol == before) continue;
    before = pointed->symbol;
    shown.point({1586, y}, 90);
    ++symbols;
    int seen = 0;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      if ((window->Flags & ImGuiWindowFlags_Tooltip) == 0 || !window->WasActive) continue;
      CHECK(window->BeginCount == 1);  // nobody appends to it
      if (window->Hidden)
        ++in_place_of_another;
      else
        ++seen;
    }
    CHECK(seen == 1);
  }
  CHECK(symbols >= 2);
  CHECK(in_place_of_another >= 1);
  shown.point({1, 1}, 3);
  CHECK_FALSE(is_tip_shown());
}

TEST_CASE("a symbol that the pointer is on frames its pictures, wherever it stands", "[glossary]") {
  ShownProgram shown("step", "preset:overwrite?T=24&K=6&V=5", usual_sizes[1]);
  shown.draw_at(5);
  const Symbols& symbols = shown.session.sight().trace->symbols;
  std::set<std::string> framed;
  for (float y = 400; y < 900; y += 6) {  // down the lines of the rule
    for (float x = 30; x < 240; x += 8) {
      shown.point({x, y}, 1);
      if (!pointed_symbol()) continue;
      const PointedSymbol pointed = *pointed_symbol();
      shown.pass();
      if (framed.contains(pointed.symbol) || parts().below("step/stage/pointed").empty()) continue;
      framed.insert(pointed.symbol);
      const auto is_it = [&](const auto& named) { return first_symbol(named.second.latex) == pointed; };
      CHECK(std::ranges::any_of(symbols, is_it));
    }
  }
  CHECK(framed.size() >= 2);
  shown.point({1, 1});
  CHECK(parts().below("step/stage/pointed").empty());
}
