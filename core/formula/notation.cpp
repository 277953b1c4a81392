#include "core/formula/notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace palimpsest {

namespace {

using Replacements = std::vector<std::pair<std::string_view, std::string_view>>;

const Replacements commands = {
    {"alpha", "α"}, {"beta", "β"},   {"gamma", "γ"},    {"delta", "δ"}, {"epsilon", "ε"}, {"varepsilon", "ε"},
    {"zeta", "ζ"},  {"eta", "η"},    {"theta", "θ"},    {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},
    {"nu", "ν"},    {"xi", "ξ"},     {"pi", "π"},       {"rho", "ρ"},   {"sigma", "σ"},   {"tau", "τ"},
    {"phi", "φ"},   {"varphi", "φ"}, {"chi", "χ"},      {"psi", "ψ"},   {"omega", "ω"},   {"Gamma", "Γ"},
    {"Delta", "Δ"}, {"Theta", "Θ"},  {"Lambda", "Λ"},   {"Xi", "Ξ"},    {"Pi", "Π"},      {"Sigma", "Σ"},
    {"Phi", "Φ"},   {"Psi", "Ψ"},    {"Omega", "Ω"},    {"ell", "ℓ"},   {"top", "ᵀ"},     {"odot", "⊙"},
    {"cdot", "·"},  {"cdots", "⋯"},  {"times", "×"},    {"le", "≤"},    {"ge", "≥"},      {"sum", "Σ"},
    {"prod", "Π"},  {"infty", "∞"},  {"partial", "∂"},  {"nabla", "∇"}, {"prime", "′"},   {"_", "_"},
    {"|", "‖"},     {",", " "},      {";", " "},        {"left", ""},   {"right", ""},    {"star", "*"},
    {"lVert", "‖"}, {"rVert", "‖"},  {"textstyle", ""}, {"{", "{"},     {"}", "}"},       {"otimes", "⊗"},
};

const Replacements accents = {{"bar", "\u0304"}, {"hat", "\u0302"}, {"tilde", "\u0303"},
                              {"dot", "\u0307"}, {"vec", "\u20d7"}, {"check", "\u030c"}};

const Replacements fonts = {{"mathrm", ""},    {"mathbf", ""},       {"boldsymbol", ""}, {"text", ""},
                            {"underline", ""}, {"operatorname", ""}, {"mathcal", ""}};

const Replacements subscripts = {
    {"0", "₀"}, {"1", "₁"}, {"2", "₂"}, {"3", "₃"}, {"4", "₄"}, {"5", "₅"}, {"6", "₆"},
    {"7", "₇"}, {"8", "₈"}, {"9", "₉"}, {"+", "₊"}, {"−", "₋"}, {"a", "ₐ"}, {"e", "ₑ"},
    {"h", "ₕ"}, {"i", "ᵢ"}, {"j", "ⱼ"}, {"k", "ₖ"}, {"l", "ₗ"}, {"m", "ₘ"}, {"n", "ₙ"},
    {"p", "ₚ"}, {"r", "ᵣ"}, {"s", "ₛ"}, {"t", "ₜ"}, {"u", "ᵤ"}, {"v", "ᵥ"}, {"x", "ₓ"},
};

const Replacements superscripts = {
    {"0", "⁰"}, {"1", "¹"}, {"2", "²"}, {"3", "³"}, {"4", "⁴"}, {"5", "⁵"}, {"6", "⁶"}, {"7", "⁷"},
    {"8", "⁸"}, {"9", "⁹"}, {"+", "⁺"}, {"−", "⁻"}, {"ᵀ", "ᵀ"}, {"′", "′"}, {"n", "ⁿ"}, {"i", "ⁱ"},
};

const std::string_view* find(const Replacements& replacements, std::string_view key) {
  const auto found = std::find_if(replacements.begin(), replacements.end(),
                                  [&](const auto& pair) { return pair.first == key; });
  return found == replacements.end() ? nullptr : &found->second;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The bytes of the first UTF-8 character.
std::size_t first_length(std::string_view text) {
  std::size_t length = text.empty() ? 0 : 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) ++length;
  return length;
}

/// Every character replaced; empty if one has no replacement.
std::string replace_all(std::string_view text, const Replacements& replacements) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = first_length(text);
    const std::string_view* replacement = find(replacements, text.substr(0, length));
    if (!replacement) return {};
    result += *replacement;
    text.remove_prefix(length);
  }
  return result;
}

/// Reads LaTeX from left to right; tolerant of anything, since it only serves reading.
class NotationReader {
 public:
  explicit NotationReader(std::string_view latex) : rest_(latex) {}

  /// Everything up to the end, or to the brace that closes the group.
  std::string text() {
    std::string result;
    while (!rest_.empty()) {
      if (rest_.front() == '}') {
        rest_.remove_prefix(1);
        break;
      }
      result += piece();
    }
    return result;
  }

 private:
  std::string piece() {
    const char c = rest_.front();
    if (c == '\\') return command();
    if (c == '_' || c == '^') {
      rest_.remove_prefix(1);
      return c == '_' ? below(argument()) : above(argument());
    }
    if (c == '{') {
      rest_.remove_prefix(1);
      return text();
    }
    return character();
  }

  std::string character() {
    const std::size_t length = first_length(rest_);
    const std::string_view character = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return character == "-" ? "−" : std::string(character);
  }

  std::string argument() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    return rest_.empty() || rest_.front() == '}' ? std::string() : piece();
  }

  std::string command() {
    rest_.remove_prefix(1);
    std::size_t length = 0;
    while (length < rest_.size() && is_letter(rest_[length])) ++length;
    if (length == 0) length = first_length(rest_);
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);

    if (const auto* accent = find(accents, name)) {
      std::string base = argument();
      return base.insert(first_length(base), *accent);
    }
    if (find(fonts, name)) return argument();
    if (name == "frac") {
      const std::string above_line = argument();
      return fmt::format("({})/({})", above_line, argument());
    }
    if (const auto* replacement = find(commands, name)) return std::string(*replacement);
    return std::string(name);
  }

  static std::string below(const std::string& text) {
    if (text.empty() || text == "t") return {};
    std::string small = replace_all(text, subscripts);
    if (!small.empty()) return small;
    return first_length(text) == text.size() ? "_" + text : fmt::format("_{{{}}}", text);
  }

  static std::string above(const std::string& text) {
    std::string small = replace_all(text, superscripts);
    return small.empty() && !text.empty() ? "^" + text : small;
  }

  std::string_view rest_;
};

/// "1.5e-05" split into "1.5" and -5; the exponent is 0 if there is none.
std::pair<std::string, int> significant(double value, int digits) {
  std::string text = fmt::format("{:.{}g}", value, digits);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return {text, 0};
  return {text.substr(0, e), std::stoi(text.substr(e + 1))};
}

}  // namespace

std::string unicode(std::string_view latex) { return NotationReader(latex).text(); }

std::string superscript(std::string_view text) {
  const std::string small = replace_all(text, superscripts);
  return small.empty() ? std::string(text) : small;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  const std::string sign = std::signbit(value) && value != 0 ? "−" : "";
  if (std::isinf(value)) return sign + "∞";
  const auto [digits, exponent] = significant(std::abs(value), 4);
  if (exponent == 0) return sign + digits;
  return fmt::format("{}{}·10{}", sign, digits,
                     superscript((exponent < 0 ? "−" : "") + std::to_string(std::abs(exponent))));
}

std::string number_latex(double value) {
  if (std::isnan(value)) return "\\mathrm{NaN}";
  const std::string sign = std::signbit(value) && value != 0 ? "-" : "";
  if (std::isinf(value)) return sign + "\\infty";
  const auto [digits, exponent] = significant(std::abs(value), 3);
  return sign + (exponent == 0 ? digits : fmt::format("{}\\cdot 10^{{{}}}", digits, exponent));
}

}  // namespace palimpsest
