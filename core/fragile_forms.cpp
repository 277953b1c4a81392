#include "core/fragile_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"

namespace palimpsest {

namespace {

/// Calls of some functions become calls of others, on the same arguments.
std::function<void(EquationEditor&)> calling(std::vector<std::pair<std::string, std::string>> others) {
  return [others = std::move(others)](EquationEditor& equations) {
    equations.replace({}, [&others](const Expression& x) -> std::optional<Expression> {
      for (const auto& [function, other] : others) {
        if (is_call(x, function)) return call(other, {x.arguments().begin(), x.arguments().end()});
      }
      return std::nullopt;
    });
  };
}

/// The two functions with the decay between tokens, computed in another way.
std::function<void(EquationEditor&)> decays_between(const std::string& way) {
  return calling({{"decay_mask", "decay_mask_" + way}, {"decay_scores", "decay_scores_" + way}});
}

std::vector<FragileForm> all_forms_for_teaching() {
  const std::string fading = "scores that fade, read after the token's own decay";
  return {
      {{"divided-decays", "Keys divided by their decay",
        "Queries are faded from the start of the block and keys divided by the same fading: k exp(−G). One "
        "matrix product, and exact in algebra.",
        fading, decays_between("divided")},
       "In a block −G, the sum of −log alpha, passes 709: exp(−G) is infinite while exp(G) is 0, and their "
       "product is no number. Kernels that keep the keys in f32 or bf16 meet it at 88, in f16 at 11."},
      {{"late-mask", "Exponential before the mask",
        "exp(G_i − G_j) is taken for all pairs and the later ones are multiplied by 0. For them the "
        "difference "
        "is positive and grows.",
        fading, decays_between("late")},
       "The decay over a block is below exp(−709) in f64: a pair that no one should see becomes infinite, "
       "and "
       "0 times infinity is no number."},
      {{"log-differences", "Differences of running log sums",
        "The decay between two tokens is exp of the difference of two sums of logarithms from the start.",
        fading, decays_between("differences")},
       "A gate is exactly 0: both sums are −infinity after it, and their difference is no number. After a "
       "strong gate the sums are large, and small differences lose their digits."},
      {{"doubled-inverse", "Inverse by doubling",
        "(I + N)⁻¹ as (I − N)(I + N²)(I + N⁴)…: matrix products only, where the solve goes row by row.",
        "a triangle to solve", calling({{"solve_unit_lower", "solve_by_doubling"}})},
       "Keys of a block resemble each other and beta is near 1: the powers of N grow to 10¹⁶ and more before "
       "they cancel, and nothing is left of the result."},
      {find_fault("multiplicative-mask"),
       "Always, for every token but the last: exp(0) = 1, so every later token keeps a weight.", true},
  };
}

}  // namespace

std::span<const FragileForm> fragile_forms() {
  static const std::vector<FragileForm> table = all_forms_for_teaching();
  return table;
}

const FragileForm& find_fragile_form(std::string_view id) {
  std::vector<std::string_view> known;
  for (const FragileForm& form : fragile_forms()) {
    if (form.way.id == id) return form;
    known.push_back(form.way.id);
  }
  throw InputError(fmt::format("there is no fragile form \"{}\"; known are: {}", id, fmt::join(known, ", ")));
}

}  // namespace palimpsest
