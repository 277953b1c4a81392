#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/formula/expression.h"

namespace palimpsest {

/// The shapes that a function takes and gives: "[L, K], [L, 1] -> [L, K]".
class Signature {
 public:
  explicit Signature(const std::string& text);

  /// The shape of the value for `arguments`; throws Error naming `function` and all shapes if they do not
  /// fit.
  Shape result(const std::string& function, std::span<const Shape> arguments) const;

  /// Shapes of arguments for a value of this shape; `free` gives the sizes that it leaves open. Nothing where
  /// no arguments give it.
  std::optional<std::vector<Shape>> arguments(Shape result, const std::function<Index()>& free) const;

 private:
  /// A size: `letter` plus `more`, `letter` times `factor`, or `more` alone.
  struct Size {
    char letter = 0;
    Index more = 0;
    char factor = 0;
  };
  struct Sizes {
    Size rows;
    Size columns;
  };

  static Size parse_size(const std::string& text);
  static std::vector<Sizes> parse(const std::string& text);

  std::string text_;
  std::vector<Sizes> arguments_;
  Sizes result_;
};

}  // namespace palimpsest
