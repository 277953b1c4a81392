#pragma once

#include <string>
#include <string_view>

namespace palimpsest {

/// Plain Unicode for the LaTeX that symbols and functions use: "\\bar S_{t-1}" is "S̄ₜ₋₁". The subscript t
/// alone means "of this token" and is dropped.
std::string unicode(std::string_view latex);

/// A number for a person: 4 significant digits, a real minus sign, powers of ten: "−1.235·10⁻⁵".
std::string number_text(double value);

/// The same for LaTeX, with 3 significant digits: "-1.23\\cdot 10^{-5}".
std::string number_latex(double value);

/// Digits and signs as superscripts: "−5" is "⁻⁵"; anything without such a form is kept.
std::string superscript(std::string_view text);

}  // namespace palimpsest
