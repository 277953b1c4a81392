#include "core/formula/functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/formula/functions/signature.h"

namespace palimpsest {

namespace {

/// `pattern` with "#1", "#2", … replaced by the arguments.
std::string filled(const std::string& pattern, std::span<const std::string> arguments) {
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '#') {
      result += pattern[i];
      continue;
    }
    const auto argument = static_cast<std::size_t>(pattern[++i] - '1');
    result += argument < arguments.size() ? arguments[argument] : "?";
  }
  return result;
}

}  // namespace

Function function(std::string name, const std::string& signature, Pattern pattern,
                  std::function<Matrix<double>(Arguments)> evaluate, std::function<Term(CallCell&)> explain,
                  std::string words) {
  Function row;
  row.name = name;
  row.signature = signature;
  row.latex = [latex = std::move(pattern.latex)](std::span<const std::string> arguments) {
    return filled(latex, arguments);
  };
  row.binds = pattern.binds;
  row.arguments_bind = pattern.arguments_bind;
  row.shape = [name = std::move(name), parsed = Signature(signature)](std::span<const Shape> arguments) {
    return parsed.result(name, arguments);
  };
  row.evaluate = std::move(evaluate);
  row.explain = std::move(explain);
  row.words = std::move(words);
  return row;
}

Matrix<double> first_rows(CallCell& cell, std::size_t argument, Index count) {
  const Index columns = cell.shape(argument).columns;
  cell.reads(argument, 0, 0, count, columns);
  Matrix<double> numbers(count, columns);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < columns; ++j) numbers(i, j) = cell.value(argument, i, j);
  }
  return numbers;
}

Matrix<double> whole(CallCell& cell, std::size_t argument) {
  return first_rows(cell, argument, cell.shape(argument).rows);
}

Pattern applied(std::string_view name, int arguments) {
  std::string list = "#1";
  for (int i = 2; i <= arguments; ++i) list += fmt::format(", #{}", i);
  return {fmt::format(R"(\mathrm{{{}}}\left({}\right))", name, list)};
}

std::vector<Function> common_functions() {
  std::vector<Function> all;
  for (const auto& rows :
       {arithmetic_functions(), decay_functions(), value_decay_functions(), parts_functions(),
        softmax_functions(), feature_functions(), favor_functions(), log_sum_functions(), scan_functions(),
        gram_functions(), least_squares_functions(), layer_norm_functions(), gelu_functions(),
        row_functions(), newton_schulz_functions(), inner_batch_functions(), faulty_functions(),
        fragile_functions()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

const Function& find_function(std::string_view name) {
  for (const Function& function : functions()) {
    if (function.name == name) return function;
  }
  std::vector<std::string_view> known;
  for (const Function& function : functions()) known.push_back(function.name);
  throw Error(fmt::format("there is no function \"{}\"; known are: {}", name, fmt::join(known, ", ")));
}

}  // namespace palimpsest
