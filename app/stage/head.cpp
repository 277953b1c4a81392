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

/// What there is to say of a scale.
struct ScaleWords {
  Symbol symbol = {};
  bool is_fading = false;  // of decay factors: 1 is blank, and the end of the scale
  std::string less = {};
  std::string more = {};
  std::string scale = {};    // whose it is, where it is not that of a kind
  std::string clipped = {};  // how much of the picture is beyond its ends
};

Node legend_of(const ScaleWords& words, float width) {
  const auto word = [](const std::string& shown, scene::Ink ink) {
    return scene::text(shown, style::Text::caption, ink, Fit::whole);
  };
  Nodes all;
  if (!words.scale.empty()) all += word(words.scale, 0);
  if (!words.symbol.latex.empty())
    all += scene::formula(words.symbol.latex, symbol_size, style::colours().role(words.symbol.role));
  all += word(words.less, scene::dim_ink);
  all += Node{scene::Picture{.values = &colour_ramp(words.is_fading),
                             .version = words.is_fading ? 1U : 0U,
                             .look = {.grid = false},
                             .height = bar_height}}
             .fixed(width);
  all += word(words.more, scene::dim_ink);
  if (!words.clipped.empty()) all += word(words.clipped, scene::dim_ink);
  return scene::row(std::move(all));
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
  ScaleWords words{.symbol = symbol_in(scene.symbols, tensor)};
  if (words.symbol.words.empty()) words.symbol.words = tensor;
  std::string meaning;
  words.is_fading = shows_fading(tensor, scene.record.at(tensor));
  if (words.is_fading) {
    words.less = "0";
    words.more = "1: no decay";
    words.scale = "log of 1 − α";
    meaning = "1 is blank: no decay. The colour grows with the logarithm of 1 − α, from 0.0001 to 1.";
  } else {
    words.less = "−" + plain_number(range.largest, 2);
    words.more = "+" + plain_number(range.largest, 2);
    words.scale = range.is_joint ? "one scale" : !shared ? "own scales" : range.is_own ? "own scale" : "";
    if (const std::string share = clipped_share(scene.ranges.beyond(tensor)); !share.empty())
      words.clipped = share + " of entries clipped";
    meaning = fmt::format("{}. Larger entries are clipped.",
                          range.is_joint ? "One scale for the terms of this sum"
                          : range.is_own ? "This picture has its own scale"
                                         : "One scale for all tensors of this kind in the sequence");
  }
  ScaleWords briefly_clipped = words;
  if (const std::size_t more = words.clipped.find(" of entries"); more != std::string::npos)
    briefly_clipped.clipped.replace(more, std::string_view(" of entries").size(), "");
  ScaleWords without_clipped = words;
  without_clipped.clipped.clear();
  ScaleWords brief = without_clipped;  // without the words that are worth least: whose scale it is
  brief.scale = words.is_fading ? "log" : "";
  if (words.is_fading) brief.more = "1";
  Node legend = scene::first_that_fits({legend_of(words, bar_width), legend_of(briefly_clipped, bar_width),
                                        legend_of(without_clipped, bar_width),
                                        legend_of(without_clipped, small_bar_width),
                                        legend_of(brief, bar_width), legend_of(brief, small_bar_width)});
  legend.key = "C";
  return std::move(legend).named("legend").told(
      fmt::format("Colours of {}: {}", words.symbol.words, meaning));
}

}  // namespace palimpsest
