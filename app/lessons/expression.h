#pragma once

#include <memory>
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
  struct AtCell {
    Index i = 0;
    Index j = 0;
  };

  /// Its value over `views` (Facts::views). Throws InputError naming what is not there, or is of another
  /// kind.
  Json value(const Json& views, AtCell at) const;
  Json value(const Json& views) const { return value(views, {}); }

  /// The same where only a finite number, or only a truth, makes sense.
  double number(const Json& views) const;
  bool is_true(const Json& views, AtCell at) const;

  /// The views that it names.
  const std::set<std::string>& views() const { return views_; }

  const std::string& text() const { return text_; }

  struct Term;  // of its tree

 private:
  std::string text_;
  std::shared_ptr<const Term> root_;
  std::set<std::string> views_;
};

}  // namespace palimpsest
