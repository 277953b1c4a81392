#include "app/stage/head.h"

#include <fmt/format.h>

namespace palimpsest {

namespace {

using scene::Fit;
using scene::Gap;
using scene::Node;
using scene::Nodes;

constexpr float symbol_size = 15;  // design pixels
constexpr float bar_width = 88;
constexpr float small_bar_width = 36;
constexpr float bar_height = 8;

const std::string nothing_lit = "\n";  // no tensor is called so

Node whole_formula(const std::string& latex, float size) {
  return {scene::Formula{.latex = latex, .size = size, .fit = Fit::whole}};
}

/// "1.6 %"; nothing where nothing is.
std::string clipped_share(double share) {
  if (share <= 0) return {};
  return share < 0.001 ? "<0.1 %" : fmt::format("{:.2g} %", 100 * share);
}

/// The colours of a scale from one end to the other; for decay factors, up to blank.
const Matrix<double>& colour_ramp(bool is_fading) {
  constexpr Index cells = 64;
  const auto up_to = [](double end) { return Matrix<double>(Eigen::RowVectorXd::LinSpaced(cells, -1, end)); };
  static const Matrix<double> whole = up_to(1);
  static const Matrix<double> fading = up_to(0);
  return is_fading ? fading : whole;
}

}  // namespace

LatexStyle stage_latex(std::string lit) {
  return {.colour =
              [](Role role, bool is_lit) {
                return style::hex(is_lit ? style::colours().role(role) : style::colours().role_dim(role));
              },
          .lit = std::move(lit)};
}

HeadFormulas head_formulas(const StageView& view, const Symbols& symbols) {
  HeadFormulas formulas;
  for (const StageFormula& formula : view.rule) {
    if (formula.is_lit) formulas.present = formulas.latex.size();
    formulas.latex.push_back(
        latex(formula.equation, symbols, stage_latex(formula.is_lit ? formula.part : nothing_lit)));
  }
  return formulas;
}

Node formulas_around(const HeadFormulas& formulas, float size) {
  const std::size_t all = formulas.latex.size();
  if (all == 0) return scene::column({});
  const auto around = [formulas, size, all](std::size_t wish) {
    // One more after the present one, then one more before it, and so on.
    std::size_t first = formulas.present;
    std::size_t last = formulas.present;
    for (std::size_t count = 1; count < all - wish; ++count) {
      const bool grows_on =
          last + 1 < all && (first == 0 || last - formulas.present <= formulas.present - first);
      grows_on ? ++last : --first;
    }
    Nodes shown;
    for (std::size_t i = first; i <= last; ++i) {
      if (i > first) shown += scene::space(Gap::wide);
      shown +=
          first == last ? scene::formula(formulas.latex[i], size) : whole_formula(formulas.latex[i], size);
    }
    return scene::row(std::move(shown), Gap::wide);
  };
  Nodes heights = {scene::centred(scene::first_that_fits(all, around))};
  for (const std::string& latex : formulas.latex) heights += scene::formula(latex, size);
  return scene::steady(std::move(heights));
}

Node present_formula(const HeadFormulas& formulas, float size) {
  Nodes all = {whole_formula(formulas.latex[formulas.present], size)};
  for (const std::string& latex : formulas.latex) all += whole_formula(latex, size);
  return scene::steady(std::move(all));
}

Node colour_legend(const StageScene& scene, bool shared) {
  const bool pointed = scene.focus && scene.record.contains(scene.focus->tensor);
  const std::string& tensor = pointed ? scene.focus->tensor : scene.view.lit;
  const ColourRange range = scene.ranges.of(tensor);
  const Symbol& symbol = symbol_in(scene.symbols, tensor);
  // Of decay factors: 1 is blank, and the end of the scale.
  const bool is_fading = shows_fading(tensor, scene.record.at(tensor));
  const std::string largest = plain_number(range.largest, 2);
  const std::string share = is_fading ? "" : clipped_share(scene.ranges.beyond(tensor));
  const auto clipped = [&share](const char* words) { return share.empty() ? "" : share + words; };
  const auto legend = [&](const std::string& scale, const std::string& most, const std::string& beyond,
                          float width) {
    Nodes all;
    const auto add = [&all](const std::string& words, scene::Ink ink = scene::dim_ink) {
      if (!words.empty()) all += scene::tag(words, ink);
    };
    add(scale, 0);
    if (!symbol.latex.empty())
      all += scene::formula(symbol.latex, symbol_size, style::colours().role(symbol.role));
    add(is_fading ? "0" : "−" + largest);
    all += Node{scene::Picture{.values = &colour_ramp(is_fading),
                               .version = is_fading ? 1U : 0U,
                               .look = {.grid = false},
                               .height = bar_height}}
               .fixed(width);
    add(most);
    add(beyond);
    return scene::row(std::move(all));
  };
  const std::string scale = is_fading        ? "log of 1 − α"
                            : range.is_joint ? "one scale"
                            : !shared        ? "own scales"
                            : range.is_own   ? "own scale"
                                             : "";
  const std::string brief_scale = is_fading ? "log" : "";  // whose it is, is worth least
  const std::string most = is_fading ? "1: no decay" : "+" + largest;
  const std::string brief_most = is_fading ? "1" : most;
  Node fitting = scene::first_that_fits(
      {legend(scale, most, clipped(" of entries clipped"), bar_width),
       legend(scale, most, clipped(" clipped"), bar_width), legend(scale, most, "", bar_width),
       legend(scale, most, "", small_bar_width), legend(brief_scale, brief_most, "", bar_width),
       legend(brief_scale, brief_most, "", small_bar_width)});
  fitting.key = "C";
  const std::string meaning =
      is_fading ? "1 is blank: no decay. The colour grows with the logarithm of 1 − α, from 0.0001 to 1."
                : fmt::format("{}. Larger entries are clipped.",
                              range.is_joint ? "One scale for the terms of this sum"
                              : range.is_own ? "This picture has its own scale"
                                             : "One scale for all tensors of this kind in the sequence");
  return std::move(fitting).named("legend").told(
      fmt::format("Colours of {}: {}", symbol.words.empty() ? tensor : symbol.words, meaning));
}

}  // namespace palimpsest
