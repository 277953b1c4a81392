#include "core/proof/fragile_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"

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

/// G, the running sums of the logarithms of the decays, as a step of its own.
const Expression G = tensor("G_log");

void add_log_sums(EquationEditor& equations, const Expression& decays) {
  equations.insert({"log_sums",
                    Purpose::fade_in,
                    "Logarithms added up",
                    "How much has faded since the start, as a logarithm?",
                    {G.name(), call("log_sums", {decays})}},
                   {"G", Role::gate, "running sums of log decays"});
}

/// The decays between two tokens from differences of G: `way` ends the names of the functions.
std::function<void(EquationEditor&)> from_log_sums(const std::string& way) {
  return [way](EquationEditor& equations) {
    std::optional<Expression> decays;
    equations.replace({}, [&](const Expression& x) -> std::optional<Expression> {
      if (!is_call(x, "decay_mask") && !is_call(x, "decay_scores")) return std::nullopt;
      std::vector<Expression> arguments(x.arguments().begin(), x.arguments().end());
      decays = arguments.back();
      arguments.back() = G;
      return call(x.name() + way, arguments);
    });
    if (decays) add_log_sums(equations, *decays);
  };
}

/// exp(G) on the side that reads, exp(-G) on the side that was written, as a step of its own for each of
/// these sides.
void divide_by_decays(EquationEditor& equations) {
  const Expression inverse = call("exp", {call("negative", {G})});
  std::optional<Expression> decays;
  std::vector<Expression> divided;
  const auto place = [](std::size_t index) {
    return "divided" + (index == 0 ? "" : std::to_string(index + 1));
  };
  equations.replace({}, [&](const Expression& x) -> std::optional<Expression> {
    const bool is_mask = is_call(x, "decay_mask");
    if (!is_mask && !is_call(x, "decay_scores")) return std::nullopt;
    decays = x.arguments().back();
    const Expression written = is_mask ? inverse : hadamard(x.arguments()[1], inverse);
    const auto known = std::ranges::find_if(divided, [&](const Expression& y) { return y == written; });
    const auto index = static_cast<std::size_t>(known - divided.begin());
    if (known == divided.end()) divided.push_back(written);
    const Expression grown = call("exp", {G});
    const Expression read = is_mask ? grown : hadamard(x.arguments()[0], grown);
    return call("lower", {read * transpose(tensor(place(index)))});
  });
  for (std::size_t i = 0; i < divided.size(); ++i) {
    equations.insert({place(i),
                      Purpose::prepare,
                      "Divided by what is left",
                      "What would each write have to be at the start, to be itself after fading?",
                      {place(i), divided[i]}},
                     {fmt::format("D_{{{}}}", i + 1), Role::key, "written, divided by its decay"});
  }
  if (decays) add_log_sums(equations, *decays);
}

std::vector<FragileForm> all_forms_for_teaching() {
  const std::string fading = "scores that fade, read after the token's own decay";
  return {
      {{"divided-decays", "Keys divided by their decay",
        "Queries are faded from the start of the block and keys divided by the same fading: k exp(−G). One "
        "matrix product, and exact in algebra.",
        fading, divide_by_decays},
       "In a block −G, the sum of −log alpha, passes 709: exp(−G) is infinite while exp(G) is 0, and their "
       "product is no number. With keys kept in f32 or bf16 it happens at 88, in f16 at 11."},
      {{"late-mask", "Exponential before the mask",
        "exp(G_i − G_j) is taken for all pairs and the later ones are multiplied by 0. For them the "
        "difference "
        "is positive and grows.",
        fading, from_log_sums("_late")},
       "The decay over a block is below exp(−709) in f64: a pair that no one should see becomes infinite, "
       "and "
       "0 times infinity is no number."},
      {{"log-differences", "Differences of running log sums",
        "The decay between two tokens is exp of the difference of two sums of logarithms from the start.",
        fading, from_log_sums("_differences")},
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
