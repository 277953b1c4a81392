#pragma once

#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/matrix.h"

namespace palimpsest {

/// The named tensors of one token, chunk or sequence, exactly as an engine recorded them.
/// A number is [1, 1], a vector of one token is a column [D, 1], rows of many tokens are [L, D]. Cheap to
/// copy: the tensors are shared and never change.
///
/// A name stands for the same numbers throughout a record:
///   - an input of the variant, as the table of its inputs calls it; q, k and v in capitals where they are
///     rows; alpha whether alpha or its logarithm g came in (softmax keeps g, for all keys so far); q before
///     its scale;
///   - a parameter or an array without tokens, where Notation names it; the scale, unless it is 1;
///   - what a rule makes of them, under the names that its Notation gives (ProgramNames): never that of an
///     input, or the input's equations would show numbers that it does not have. A trace throws Error then;
///   - what the engines make, each a result of the steps of the form, as tensor_names() lists it; a state
///     X in parts is X_before, X_moved and X_after. No input may be called so.
class Record {
 public:
  /// Keeps a copy of `value` under `name`, replacing an earlier one.
  void set(std::string_view name, Matrix<double> value);

  /// The tensor called `name`; throws Error naming it if it was not recorded.
  const Matrix<double>& at(std::string_view name) const;

  bool contains(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }

  /// Pairs of a name and its tensor, by name.
  auto tensors() const {
    return std::views::transform(tensors_, [](const auto& entry) {
      return std::pair<const std::string&, const Matrix<double>&>(entry.first, *entry.second);
    });
  }

 private:
  std::map<std::string, std::shared_ptr<const Matrix<double>>, std::less<>> tensors_;
};

}  // namespace palimpsest
