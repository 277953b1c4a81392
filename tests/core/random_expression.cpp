#include "tests/core/random_expression.h"

#include <regex>

namespace palimpsest::testing {

namespace {

/// The K with K (K + 1) / 2 = count, or -1.
Index triangular_root(Index count) {
  for (Index K = 0; K <= count; ++K) {
    if (K * (K + 1) / 2 == count) return K;
  }
  return -1;
}

/// Which numbers the arguments of a function are: any matrix (m), one that is given (l), numbers in (0, 1]
/// (b), in [1, e] (p), those below a diagonal (n), a positive definite matrix (d). A 0 in front: sizes that
/// the result leaves open may be 0. Functions without a row get numbers in (0, 1], in the domain of each.
std::string kinds_of(const std::string& function) {
  static const std::vector<std::pair<const char*, std::string>> table = {
      {"m",
       "lower strictly_lower cumulative_decay remaining_decay row_softmax negative one_minus "
       "cumulative_decay_before lower_but_one without_last_row last_row_twice all_ones row_first_channels "
       "first_channels decay_mask decay_mask_before row_max features/elu1 features/relu features/squared "
       "features/taylor1 features/taylor2 row_features/elu1 row_features/relu row_features/squared "
       "row_features/taylor1 row_features/taylor2 append_one append_ones"},
      {"0m", "causal_ones total_decay column_norms sum_of_rows row_sum frobenius_norm"},
      {"mm", "add_to_rows maximum spread mix_parts row_outer batch_weights"},
      {"0mmm", "decay_scores decay_scores_before"},
      {"mmm", "scanned_states"},
      {"nm", "solve_unit_lower solve_by_doubling"},
      {"nmb", "solve_fading"},
      {"bmb", "read_fading read_fading_before"},
      {"0lml", "parts_from_start"},
      {"lm", "parts_to_end"},
      {"llll", "parts_mask log_decays"},
      {"0ll", "parts_total"},
      {"mp", "divide_rows standardise row_standardise deviation row_deviation"},
      {"mll", "causal causal_product"},
      {"bm", "scan"},
      {"0mll", "scanned_end"},
      {"ml", "read_rows normalise row_normalise last_rows"},
      {"dm", "solve_symmetric"},
      {"pdpldm", "solve_grams"},
      {"0dlpp", "least_squares_inverse"},
      {"dlpp", "least_squares_gains"},
      {"l", "decay_mask_late decay_mask_differences"},
      {"mmb", "decay_scores_late decay_scores_differences"},
      {"pmp", "restoring_factors"},
      {"mmp", "layer_norm_gradient row_layer_norm_gradient"},
      {"llllll", "spectra"},
      {"0mml", "batch_products"},
      {"mlm", "batch_momentum"},
      {"lbl", "batch_newton_schulz"},
      {"mmll", "batch_reads"},
      {"p", "reciprocal"},
  };
  for (const auto& [kinds, names] : table) {
    if ((" " + names + " ").find(" " + function + " ") != std::string::npos) return kinds;
  }
  return "";
}

}  // namespace

Expression RandomExpressions::grow(Index rows, Index columns, int depth) {
  if (depth == 0) return leaf(rows, columns);
  if (with_functions && upto(2) == 0) return function(rows, columns, depth - 1);
  return operation(rows, columns, depth - 1);
}

Expression RandomExpressions::leaf(Index rows, Index columns) {
  Matrix<double> value(rows, columns);
  for (Index i = 0; i < value.size(); ++i) {
    const double number = std::uniform_real_distribution<double>(-1, 1)(random_);
    value.data()[i] = whole_numbers ? static_cast<double>(upto(6) - 3) : number;
  }
  const std::string name = "t" + std::to_string(record.tensors().size());
  record.set(name, value);
  return tensor(name);
}

Expression RandomExpressions::operation(Index rows, Index columns, int depth) {
  const auto counted = [&](const char* kind, const Expression& expression) {
    ++grown[kind];
    return expression;
  };
  const auto same = [&] { return grow(rows, columns, depth); };
  switch (upto(11)) {
    case 0:
      return counted("transpose", transpose(grow(columns, rows, depth)));
    case 1:
      return counted("number times matrix", grow(1, 1, depth) * same());
    case 2:
      return counted("matrix times number", same() * grow(1, 1, depth));
    case 3:
      return counted("outer product", grow(rows, 1, depth) * grow(1, columns, depth));
    case 4:
      return counted("diagonal on the left", diagonal(grow(rows, 1, depth)) * same());
    case 5:
      return counted("diagonal on the right", same() * diagonal(grow(columns, 1, depth)));
    case 6: {
      // A single inner index would make a [1, 1] factor of a single row.
      const Index drawn = upto(5);
      const Index inner = drawn == 1 ? 2 : drawn;
      return counted("product", grow(rows, inner, depth) * grow(inner, columns, depth));
    }
    case 7: {
      const Expression other =
          upto(1) == 0 ? grow(rows, upto(1) == 0 ? 1 : columns, depth) : grow(1, columns, depth);
      return counted("hadamard", upto(1) == 0 ? hadamard(same(), other) : hadamard(other, same()));
    }
    case 8:
      return counted("sum", same() + same());
    case 9:
      return counted("difference", same() - same());
    case 10:
      return rows == columns ? counted("diagonal", diagonal(grow(rows, 1, depth))) : leaf(rows, columns);
    default:
      break;
  }
  const Expression definition = grow(rows, columns, depth);
  const std::string name = "named" + std::to_string(record.tensors().size());
  const bool recorded = upto(1) == 0;
  ++grown[recorded ? "named, recorded" : "named"];
  if (recorded) record.set(name, evaluate(definition, record));
  return named(name, definition);
}

std::optional<std::vector<Shape>> RandomExpressions::arguments(const Function& function, Shape result) {
  // How many features come of K channels no signature says.
  Index& features = function.name.starts_with("row_features/") ? result.columns : result.rows;
  if (function.name.ends_with("/squared")) features = triangular_root(features);
  if (function.name.ends_with("/taylor1")) features = features - 1;
  // 1 + K + K (K + 1) / 2 = (K + 1) (K + 2) / 2
  if (function.name.ends_with("/taylor2")) features = triangular_root(features) - 1;
  if (features < 0 || (function.name.starts_with("batch_") && result.rows == 0)) return std::nullopt;

  std::map<char, Index> letters;
  if (function.name == "spectra") letters['M'] = result.rows + upto(2);
  if (function.name == "last_rows") letters['L'] = result.rows + upto(3);
  const auto letter = [&](char name) {
    const auto [known, is_new] = letters.try_emplace(name, 0);
    if (is_new) known->second = kinds_of(function.name).starts_with('0') ? upto(4) : 1 + upto(3);
    return known->second;
  };
  const auto size = [&](const std::string& text) {
    if (std::isdigit(text[0]) != 0) return Index{text[0] - '0'};
    const Index first = letter(text[0]);
    if (text.size() == 1) return first;
    if (text[1] == '*') return first * letter(text[2]);
    return first + (std::isdigit(text[2]) != 0 ? text[2] - '0' : letter(text[2]));
  };

  std::vector<std::string> sizes;  // rows and columns of the arguments, then of the result
  const std::regex pattern(R"(\[([^,]+), ([^\]]+)\])");
  const std::string& signature = function.signature;
  for (std::sregex_iterator at(signature.begin(), signature.end(), pattern), end; at != end; ++at)
    sizes.insert(sizes.end(), {(*at)[1], (*at)[2]});
  const std::size_t count = sizes.size() - 2;
  for (const auto& [text, actual] :
       {std::pair(sizes[count], result.rows), std::pair(sizes[count + 1], result.columns)}) {
    Index first = actual;
    if (text.find('*') != std::string::npos) {
      first = 1 + upto(std::max<Index>(actual - 1, 0));
      while (actual % first != 0) --first;
      letters[text[2]] = actual / first;
    } else if (text.size() > 1) {
      const bool is_number = std::isdigit(text[2]) != 0;
      first = is_number ? actual - (text[2] - '0') : 1 + upto(actual - 1);
      if (!is_number) letters[text[2]] = actual - first;
    }
    if (std::isdigit(text[0]) != 0 ? actual != text[0] - '0'
                                   : first < 0 || letters.try_emplace(text[0], first).first->second != first)
      return std::nullopt;
  }
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < count; i += 2) {
    const Index rows = size(sizes[i]);
    shapes.push_back({rows, size(sizes[i + 1])});
  }
  return shapes;
}

Expression RandomExpressions::argument(char kind, Shape size, int depth) {
  const auto [rows, columns] = size;
  const auto bounded = [&](Index r, Index c) { return call("row_softmax", {grow(r, c, depth)}); };
  switch (kind) {
    case 'm':
      return grow(rows, columns, depth);
    case 'l':
      return leaf(rows, columns);
    case 'p':
      return call("exp", {bounded(rows, columns)});
    case 'n':
      return call("strictly_lower", {bounded(rows, columns)});
    case 'd': {
      const Expression X = leaf(rows, 2);
      return X * transpose(X) + diagonal(call("exp", {bounded(rows, 1)}));
    }
    default:
      return bounded(rows, columns);
  }
}

Expression RandomExpressions::function(Index rows, Index columns, int depth) {
  const Function* chosen = nullptr;
  std::optional<std::vector<Shape>> shapes;
  while (!shapes) {
    chosen = &functions()[static_cast<std::size_t>(upto(std::ssize(functions()) - 1))];
    shapes = arguments(*chosen, {rows, columns});
  }
  ++grown[chosen->name];
  std::string kinds = kinds_of(chosen->name);
  if (kinds.starts_with('0')) kinds.erase(0, 1);
  std::vector<Expression> all;
  for (std::size_t i = 0; i < shapes->size(); ++i)
    all.push_back(argument(i < kinds.size() ? kinds[i] : 'b', (*shapes)[i], depth));
  return call(chosen->name, all);
}

}  // namespace palimpsest::testing
