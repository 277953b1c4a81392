#pragma once

#include "core/formula/expression.h"

namespace palimpsest {

/// A formula that was read, and the shape of its value.
struct Formula {
  Expression expression;
  Shape shape;
};

/// Says what is wrong at a place of the text; never returns.
using Complain = std::function<void(std::string_view at, const std::string& words)>;

/// Reads a formula as papers write them: products side by side, x^T, * and / by shape, Diag(x), |x|, powers
/// and functions; Greek letters or their names, and LaTeX's commands for them. A name is what `present` says,
/// a memory before the token where that says nothing, or a tensor of `specimens`, whose sizes give the
/// shapes.
Formula read_formula(std::string_view text, const Record& specimens,
                     const std::map<std::string, std::string, std::less<>>& present,
                     const Complain& complain);

/// A written name in ASCII, with its primes and without the subscript t: "α_t" is "alpha". Empty for what is
/// no name.
std::string plain_name(std::string_view written);

/// Whether a name in ASCII, without primes, is that of a Greek letter.
bool is_greek(std::string_view name);

/// The names of the functions that formulas may call.
std::span<const char* const> formula_functions();

}  // namespace palimpsest
