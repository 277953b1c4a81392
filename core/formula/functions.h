#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/formula/expression.h"
#include "core/formula/term.h"

namespace palimpsest {

/// How a call is written: LaTeX with "#1", "#2" for the arguments, how tightly it binds, and how tightly the
/// arguments must bind to stand in it without brackets.
struct Pattern {
  std::string latex;
  Precedence binds = Precedence::atom;
  Precedence arguments_bind = Precedence::sum;
};

using Arguments = std::span<const Matrix<double>>;

/// One row of the table. `signature` gives the shapes: "[L, K], [L, 1] -> [L, K]"; equal letters are equal
/// sizes, and "V+1" is one more than V;
/// "K*V" is their product, once K is known from an argument further left.
Function function(std::string name, const std::string& signature, Pattern pattern,
                  std::function<Matrix<double>(Arguments)> evaluate, std::function<Term(CallCell&)> explain,
                  std::string words);

/// The first rows of an argument of a call as numbers, all of them noted as read.
Matrix<double> first_rows(CallCell& cell, std::size_t argument, Index count);

/// The whole argument.
Matrix<double> whole(CallCell& cell, std::size_t argument);

/// Whether key j of a tile comes no later than query i; the tile begins with these numbers.
bool is_past(double first_query, double first_key, Index i, Index j);

/// "\\mathrm{name}\\left(#1, #2\\right)".
Pattern applied(std::string_view name, int arguments = 1);

std::vector<Function> arithmetic_functions();
std::vector<Function> decay_functions();
std::vector<Function> value_decay_functions();
std::vector<Function> parts_functions();
std::vector<Function> softmax_functions();
std::vector<Function> feature_functions();
std::vector<Function> favor_functions();
std::vector<Function> log_sum_functions();
std::vector<Function> scan_functions();
std::vector<Function> gram_functions();
std::vector<Function> least_squares_functions();
std::vector<Function> layer_norm_functions();
std::vector<Function> gelu_functions();
std::vector<Function> row_functions();
std::vector<Function> newton_schulz_functions();
std::vector<Function> inner_batch_functions();
std::vector<Function> faulty_functions();
std::vector<Function> fragile_functions();

/// All of these: every function that no variant has for itself.
std::vector<Function> common_functions();

}  // namespace palimpsest
