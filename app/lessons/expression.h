#pragma once

#include <functional>
#include <set>

#include "app/session/json_fields.h"

namespace palimpsest {

/// An expression over what the program computed, as lessons write it: `answers.after[lamp, bell] > 0.5`.
///
/// Numbers, "texts", true and false; + - * / ^; == != < <= > >=; and, or, not; abs, sqrt, exp, log, min, max,
/// sum, size, largest. A name is a view of `palimpsest show`, a dot leads to its fields, [row, column] to
/// entries by their index from 0 or by the text of a queried token. i and j are the cell that is asked about.
/// largest(answers.after[lamp]) is the text of the column with the largest number.
class FactExpression {
 public:
  /// Throws InputError naming the column, and what was expected there.
  explicit FactExpression(std::string_view text);

  /// The row and the column that i and j stand for.
  using Cell = std::pair<Index, Index>;

  /// Its value over `views` (Facts::views). Throws InputError naming what is not there, or is of another
  /// kind.
  Json value(const Json& views, Cell at = {}) const { return work_(views, at); }

  /// The same where only a finite number, or only a truth, makes sense.
  double number(const Json& views) const;
  bool is_true(const Json& views, Cell at) const;

  /// The views that it names.
  const std::set<std::string>& views() const { return views_; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::set<std::string> views_;
  std::function<Json(const Json& views, const Cell& at)> work_;
};

}  // namespace palimpsest
