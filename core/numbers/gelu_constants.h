#pragma once

namespace palimpsest {

/// GELU in its tanh form, spec 3.12: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
namespace gelu_constants {
inline constexpr double root = 0.79788456080286535588;  // sqrt(2 / pi)
inline constexpr double cubic = 0.044715;
}  // namespace gelu_constants

}  // namespace palimpsest
