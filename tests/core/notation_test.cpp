#include "core/formula/notation.h"

#include <limits>

#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("symbols become plain Unicode") {
  const std::pair<const char*, const char*> expected[] = {
      {"k_t", "k"},
      {"S_{t-1}", "Sₜ₋₁"},
      {"\\bar S_t", "S̄"},
      {"\\bar{S}_{t-1}", "S̄ₜ₋₁"},
      {"\\hat v_t", "v̂"},
      {"\\tilde\\alpha", "α̃"},
      {"\\alpha_t", "α"},
      {"\\beta", "β"},
      {"\\Lambda_0", "Λ₀"},
      {"v^{old}_t", "v^old"},
      {"v_t^1", "v¹"},
      {"x_{ab:c}", "x_{ab:c}"},
      {"x_y", "x_y"},
      {"O_\\mathrm{in}", "Oᵢₙ"},
      {"\\phi\\left(k_t\\right)", "φ(k)"},
      {"\\left(I + N\\right)^{-1} R", "(I + N)⁻¹ R"},
      {"Q K^{\\top} \\odot G", "Q Kᵀ ⊙ G"},
      {"\\mathrm{Diag}\\left(\\alpha_t\\right) S", "Diag(α) S"},
      {"X + \\log M", "X + log M"},
      {"\\frac{a}{b+1}", "(a)/(b+1)"},
      {"\\mathrm{initial\\_state}", "initial_state"},
      {"\\unknown", "unknown"},
      {"", ""},
      {"\\", ""},
      {"{a_", "a"},
      {"a}b", "a"},
      {"\\bar", "\u0304"},
  };
  for (const auto& [latex, text] : expected) CHECK(unicode(latex) == text);
}

TEST_CASE("numbers are written for a person") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(number_text(0.987) == "0.987");
  CHECK(number_text(-0.41) == "−0.41");
  CHECK(number_text(1.0 / 3) == "0.3333");
  CHECK(number_text(-1.2345e-5) == "−1.234·10⁻⁵");
  CHECK(number_text(1.5e12) == "1.5·10¹²");
  CHECK(number_text(0) == "0");
  CHECK(number_text(-0.0) == "0");
  CHECK(number_text(-infinity) == "−∞");
  CHECK(number_text(std::numeric_limits<double>::quiet_NaN()) == "NaN");

  CHECK(number_latex(0.98712) == "0.987");
  CHECK(number_latex(-1.2e-5) == "-1.2\\cdot 10^{-5}");
  CHECK(number_latex(infinity) == "\\infty");
  CHECK(number_latex(std::numeric_limits<double>::quiet_NaN()) == "\\mathrm{NaN}");
}
