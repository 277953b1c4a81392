#include "tests/core/random_expression.h"

#include <functional>
#include <set>

#include "core/contract/variant.h"
#include "core/formula/functions/signature.h"

namespace palimpsest::testing {

namespace {

/// The K with K (K + 1) / 2 = count, or -1.
Index triangular_root(Index count) {
  for (Index K = 0; K <= count; ++K) {
    if (K * (K + 1) / 2 == count) return K;
  }
  return -1;
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
  switch (upto(11)) {
    case 0:
      ++grown["transpose"];
      return transpose(grow(columns, rows, depth));
    case 1:
      ++grown["number times matrix"];
      return grow(1, 1, depth) * grow(rows, columns, depth);
    case 2:
      ++grown["matrix times number"];
      return grow(rows, columns, depth) * grow(1, 1, depth);
    case 3:
      ++grown["outer product"];
      return grow(rows, 1, depth) * grow(1, columns, depth);
    case 4:
      ++grown["diagonal on the left"];
      return diagonal(grow(rows, 1, depth)) * grow(rows, columns, depth);
    case 5:
      ++grown["diagonal on the right"];
      return grow(rows, columns, depth) * diagonal(grow(columns, 1, depth));
    case 6: {
      // A single inner index would make a [1, 1] factor of a single row.
      ++grown["product"];
      const Index inner = upto(5);
      return inner == 1 ? grow(rows, 2, depth) * grow(2, columns, depth)
                        : grow(rows, inner, depth) * grow(inner, columns, depth);
    }
    case 7: {
      ++grown["hadamard"];
      const Expression other =
          upto(1) == 0 ? grow(rows, upto(1) == 0 ? 1 : columns, depth) : grow(1, columns, depth);
      return upto(1) == 0 ? hadamard(grow(rows, columns, depth), other)
                          : hadamard(other, grow(rows, columns, depth));
    }
    case 8:
      ++grown["sum"];
      return grow(rows, columns, depth) + grow(rows, columns, depth);
    case 9:
      ++grown["difference"];
      return grow(rows, columns, depth) - grow(rows, columns, depth);
    case 10:
      if (rows != columns) return leaf(rows, columns);
      ++grown["diagonal"];
      return diagonal(grow(rows, 1, depth));
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

RandomExpressions::Possible RandomExpressions::by_hand(Index rows, Index columns, int depth) {
  const auto matrix = [=, this] { return grow(rows, columns, depth); };
  const auto any_column = [=, this] { return grow(rows, 1, depth); };
  const auto bounded = [=, this](Index r, Index c) { return call("row_softmax", {grow(r, c, depth)}); };

  Possible possible;
  for (const char* name : {"lower", "strictly_lower", "cumulative_decay", "remaining_decay", "row_softmax",
                           "negative", "one_minus", "cumulative_decay_before", "lower_but_one",
                           "without_last_row", "last_row_twice", "all_ones"}) {
    possible[name] = [=, this] { return std::vector{matrix()}; };
  }
  possible["add_to_rows"] = [=, this] { return std::vector{matrix(), grow(columns, 1, depth)}; };
  possible["exp"] = [=, this] { return std::vector{bounded(rows, columns)}; };
  possible["maximum"] = [=, this] { return std::vector{matrix(), matrix()}; };
  possible["solve_unit_lower"] = [=, this] {
    return std::vector{call("strictly_lower", {bounded(rows, rows)}), matrix()};
  };
  possible["solve_by_doubling"] = possible["solve_unit_lower"];
  possible["solve_fading"] = [=, this] {
    return std::vector{call("strictly_lower", {bounded(rows, rows)}), matrix(), bounded(rows, columns)};
  };
  for (const char* name : {"read_fading", "read_fading_before"}) {
    possible[name] = [=, this] { return std::vector{bounded(rows, rows), matrix(), bounded(rows, columns)}; };
  }
  possible["parts_from_start"] = [=, this] {  // [rows, columns], columns parts
    const Index L = upto(3);
    return std::vector{leaf(L, columns * columns), grow(rows, columns, depth), leaf(rows, 2)};
  };
  possible["parts_to_end"] = [=, this] {
    return std::vector{leaf(rows, columns * columns), grow(rows, columns, depth)};
  };
  possible["parts_mask"] = [=, this] {  // [rows, columns], columns writes
    const Index p = 1 + upto(2);
    return std::vector{leaf(columns, p * p), leaf(columns, p), leaf(rows, p), leaf(rows, 2)};
  };
  const Index parts = columns % 2 == 0 ? 2 : 1;
  possible["spread"] = [=, this] {
    return std::vector{grow(rows, parts, depth), grow(rows, columns / parts, depth)};
  };
  const Index mixed = rows % 2 == 0 ? 2 : 1;
  possible["mix_parts"] = [=, this] { return std::vector{grow(mixed, mixed, depth), matrix()}; };
  if (rows == columns) {
    possible["parts_total"] = [=, this] {
      const Index L = upto(3);
      return std::vector{leaf(L, rows * rows), leaf(L, rows)};
    };
  }
  possible["log_sums"] = [=, this] { return std::vector{bounded(rows, columns)}; };
  possible["log_add_exp"] = [=, this] { return std::vector{bounded(rows, columns), bounded(rows, columns)}; };
  if (columns == 1) {
    possible["features/favor"] = [=, this] {
      const Index K = 1 + upto(3);
      return std::vector{bounded(K, 1), bounded(rows, K)};
    };
  }
  possible["row_features/favor"] = [=, this] {
    const Index K = 1 + upto(3);
    return std::vector{bounded(rows, K), bounded(columns, K)};
  };
  possible["exp_difference"] = [=, this] { return std::vector{bounded(rows, columns), bounded(rows, 1)}; };
  possible["divide_rows"] = [=, this] { return std::vector{matrix(), call("exp", {bounded(rows, 1)})}; };
  possible["log_decays"] = [=, this] {
    const Index N = 1 + upto(5);
    return std::vector{leaf(N, 1), leaf(rows, 1), leaf(columns, 1)};
  };
  possible["causal"] = [=, this] { return std::vector{matrix(), leaf(1, 1), leaf(1, 1)}; };
  possible["causal_product"] = possible["causal"];
  possible["row_first_channels"] = [=, this] { return std::vector{grow(rows, columns + 1, depth)}; };
  possible["scan"] = [=, this] { return std::vector{bounded(rows, columns), matrix()}; };
  possible["scanned_end"] = [=, this] {
    const Index L = upto(4);
    return std::vector{matrix(), leaf(L, rows * columns), leaf(L, rows * columns)};
  };
  possible["read_rows"] = [=, this] {
    const Index K = 1 + upto(2);
    return std::vector{grow(rows, K, depth), leaf(rows, K * columns)};
  };
  // Some [K, V] whose cells fill a row of the result.
  const auto folded = [=, this] {
    Index K = 1 + upto(5);
    while (columns % K != 0) --K;
    return std::pair(K, columns / K);
  };
  possible["step_decays"] = [=, this] {
    const auto [K, V] = folded();
    return std::vector{bounded(K, V), bounded(rows, V)};
  };
  possible["row_outer"] = [=, this] {
    const auto [K, V] = folded();
    return std::vector{grow(rows, K, depth), grow(rows, V, depth)};
  };
  possible["scanned_states"] = [=, this] {
    const auto [K, V] = folded();
    return std::vector{grow(K, V, depth), matrix(), matrix()};
  };
  const auto positive_definite = [=, this](Index K) {
    const Expression X = leaf(K, 2);
    return X * transpose(X) + diagonal(call("exp", {bounded(K, 1)}));
  };
  possible["solve_symmetric"] = [=, this] { return std::vector{positive_definite(rows), matrix()}; };
  possible["solve_grams"] = [=, this] {
    return std::vector{call("exp", {bounded(rows, 1)}),    positive_definite(columns),
                       call("exp", {bounded(rows, rows)}), leaf(rows, columns),
                       positive_definite(columns),         matrix()};
  };
  const auto least_squares = [=, this](Index L, Index K) {
    return std::vector{positive_definite(K), leaf(L, K), call("exp", {bounded(L, 1)}),
                       call("exp", {bounded(L, 1)})};
  };
  possible["least_squares_gains"] = [=, this] { return least_squares(rows, columns); };
  if (rows == columns) {
    possible["least_squares_inverse"] = [=, this] { return least_squares(upto(4), rows); };
    possible["causal_ones"] = [=, this] { return std::vector{grow(rows, upto(5), depth)}; };
    possible["decay_mask"] = [=, this] { return std::vector{any_column()}; };
    possible["decay_mask_before"] = [=, this] { return std::vector{any_column()}; };
    for (const char* name : {"decay_mask_late", "decay_mask_differences"}) {
      possible[name] = [=, this] { return std::vector{leaf(rows, 1)}; };
    }
    for (const char* name : {"decay_scores_late", "decay_scores_differences"}) {
      possible[name] = [=, this] {
        const Index K = 1 + upto(4);
        return std::vector{grow(rows, K, depth), grow(rows, K, depth), bounded(rows, K)};
      };
    }
    for (const char* name : {"decay_scores", "decay_scores_before"}) {
      possible[name] = [=, this] {
        const Index K = upto(5);
        return std::vector{grow(rows, K, depth), grow(rows, K, depth), grow(rows, K, depth)};
      };
    }
  }
  if (columns == 1) {
    possible["total_decay"] = [=, this] { return std::vector{grow(upto(6), rows, depth)}; };
    possible["column_norms"] = [=, this] { return std::vector{grow(upto(6), rows, depth)}; };
    possible["restoring_factors"] = [=, this] {
      return std::vector{call("exp", {bounded(rows, 1)}), any_column(), call("exp", {bounded(1, 1)})};
    };
    possible["first_channels"] = [=, this] { return std::vector{grow(rows + 1, 1, depth)}; };
    possible["sum_of_rows"] = [=, this] { return std::vector{grow(upto(6), rows, depth)}; };
    possible["row_max"] = [=, this] { return std::vector{grow(rows, 1 + upto(5), depth)}; };
    possible["row_sum"] = [=, this] { return std::vector{grow(rows, upto(6), depth)}; };
  }
  // Layer norm divides by a deviation, which must not be tiny.
  const auto eps = [=, this] { return call("exp", {bounded(1, 1)}); };
  if (columns == 1) {
    possible["standardise"] = [=, this] { return std::vector{any_column(), eps()}; };
    possible["row_deviation"] = [=, this] { return std::vector{grow(rows, 1 + upto(5), depth), eps()}; };
    possible["layer_norm_gradient"] = [=, this] { return std::vector{any_column(), any_column(), eps()}; };
  }
  possible["row_standardise"] = [=, this] { return std::vector{matrix(), eps()}; };
  possible["row_layer_norm_gradient"] = [=, this] {
    return std::vector{matrix(), matrix(), call("exp", {bounded(rows, 1)})};
  };
  if (columns == 6) {
    possible["spectra"] = [=, this] {
      const Index wide = rows + upto(2);
      std::vector<Expression> matrices;
      for (int i = 0; i < 6; ++i) matrices.push_back(leaf(rows, wide));
      return matrices;
    };
  }
  if (rows > 0) {
    // N batches of K rows each.
    const Index N = rows % 2 == 0 && upto(1) == 0 ? 2 : upto(1) == 0 ? 1 : rows;
    const Index K = rows / N;
    possible["batch_products"] = [=, this] {
      const Index tokens = upto(5);
      return std::vector{grow(tokens, K, depth), grow(tokens, columns, depth), leaf(N, 1)};
    };
    possible["batch_momentum"] = [=, this] {
      return std::vector{grow(rows, columns, depth), leaf(N, 1), grow(K, columns, depth)};
    };
    possible["batch_newton_schulz"] = [=, this] {
      return std::vector{leaf(rows, columns), call("row_softmax", {leaf(5, 3)}), leaf(N, 1)};
    };
    possible["batch_weights"] = [=, this] {
      const Index first = 1 + upto(rows - 1);
      return std::vector{grow(first, columns, depth), grow(rows - first, columns, depth)};
    };
    possible["batch_reads"] = [=, this] {
      const Index width = 1 + upto(2);
      return std::vector{grow(rows, width, depth), grow(width * (1 + upto(3)), columns, depth),
                         leaf(1 + upto(3), 1), leaf(1, 1)};
    };
  }
  possible["last_rows"] = [=, this] {
    return std::vector{grow(rows + upto(3), columns, depth), leaf(rows, columns)};
  };
  if (rows == 1 && columns == 1) {
    possible["frobenius_norm"] = [=, this] { return std::vector{grow(upto(5), 1 + upto(4), depth)}; };
    possible["deviation"] = [=, this] { return std::vector{grow(1 + upto(5), 1, depth), eps()}; };
    possible["column_max"] = [=, this] { return std::vector{grow(1 + upto(5), 1, depth)}; };
    possible["reciprocal"] = [=, this] { return std::vector{call("exp", {bounded(1, 1)})}; };
    possible["column_sum"] = [=, this] { return std::vector{grow(upto(6), 1, depth)}; };
  }

  // The same maps and constants for a column of `size` and for rows of `size`.
  const auto add_vector_functions = [&](Index size, const std::string& prefix, const std::string& append,
                                        const std::string& divide,
                                        const std::function<Expression(Index)>& of) {
    possible[prefix + "elu1"] = [=] { return std::vector{of(size)}; };
    possible[prefix + "relu"] = [=] { return std::vector{of(size)}; };
    if (const Index K = triangular_root(size); K >= 0) {
      possible[prefix + "squared"] = [=] { return std::vector{of(K)}; };
    }
    if (size >= 2) possible[prefix + "taylor1"] = [=] { return std::vector{of(size - 1)}; };
    // 1 + K + K (K + 1) / 2 = (K + 1) (K + 2) / 2
    if (const Index K = triangular_root(size) - 1; K >= 0) {
      possible[prefix + "taylor2"] = [=] { return std::vector{of(K)}; };
    }
    if (size >= 1) possible[append] = [=] { return std::vector{of(size - 1)}; };
    possible[divide] = [=, this] { return std::vector{of(size + 1), leaf(1, 1)}; };
  };
  if (columns == 1) {
    add_vector_functions(rows, "features/", "append_one", "normalise",
                         [=, this](Index n) { return grow(n, 1, depth); });
  }
  add_vector_functions(columns, "row_features/", "append_ones", "row_normalise",
                       [=, this](Index n) { return grow(rows, n, depth); });
  return possible;
}

Expression RandomExpressions::function(Index rows, Index columns, int depth) {
  // Every name that by_hand() has for any shape.
  static const std::set<std::string> listed = [] {
    std::set<std::string> names;
    RandomExpressions any(0);
    for (Index r = 0; r < 8; ++r) {
      for (Index c = 0; c < 8; ++c) {
        for (const auto& [name, arguments] : any.by_hand(r, c, 0)) names.insert(name);
      }
    }
    return names;
  }();
  Possible possible = by_hand(rows, columns, depth);
  // All others by the shapes that they say: numbers in (0, 1] are in the domain of each. Only a function that
  // needs other numbers, or sizes that no signature says, has a row of its own (by_hand).
  for (const Function& other : functions()) {
    if (listed.contains(other.name)) continue;
    const auto arguments = Signature(other.signature).arguments({rows, columns}, [&] { return 1 + upto(3); });
    if (!arguments) continue;
    possible[other.name] = [=, this] {
      std::vector<Expression> grown_arguments;
      for (const Shape& size : *arguments)
        grown_arguments.push_back(call("row_softmax", {grow(size.rows, size.columns, depth)}));
      return grown_arguments;
    };
  }

  auto chosen = possible.begin();
  std::advance(chosen, upto(static_cast<Index>(possible.size()) - 1));
  ++grown[chosen->first];
  return call(chosen->first, chosen->second());
}

}  // namespace palimpsest::testing
