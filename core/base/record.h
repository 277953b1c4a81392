#pragma once

#include <cctype>
#include <map>
#include <memory>
#include <string_view>

#include "core/base/matrix.h"

namespace palimpsest {

/// The named tensors of one token, chunk or sequence, exactly as an engine recorded them.
/// A number is [1, 1], a vector of one token is a column [D, 1], rows of many tokens are [L, D]. Cheap to
/// copy: the tensors are shared and never change.
///
/// A name means the same tensor throughout a record:
///   - an input of the variant, as the table of its inputs calls it; q, k and v in capitals where they are
///     rows; alpha whether alpha or its logarithm g came in (softmax keeps g, for all keys so far); q before
///     its scale;
///   - a parameter or an array without tokens, where Notation names it; the scale, unless it is 1;
///   - what a rule computes from them, under the names that its Notation gives (ProgramNames): never that of
///     an input, whose equations would then show wrong numbers. A trace throws Error then;
///   - what the engines compute, each the result of a step of the form (tests/core/names_test.cpp). A state
///     X in parts is X_before, X_moved and X_after. No input may have such a name.
class Record {
 public:
  /// Keeps a copy of `value` under `name`, replacing an earlier one.
  void set(std::string_view name, Matrix<double> value);

  /// The tensor called `name`; throws Error naming it if it was not recorded.
  const Matrix<double>& at(std::string_view name) const;

  bool contains(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }

  /// Every name and its tensor, sorted by name. Valid as long as the record is unchanged.
  std::vector<std::pair<const std::string&, const Matrix<double>&>> tensors() const;

 private:
  std::map<std::string, std::shared_ptr<const Matrix<double>>, std::less<>> tensors_;
};

/// "Q" for "q": the name of the rows of many tokens, where the column of one token is called `name`.
inline std::string capitalised(std::string_view name) {
  std::string capital(name);
  capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
  return capital;
}

/// Receives tensors from an engine at the moment it has computed them. Engines run the same statements with
/// and without one.
class Recorder {
 public:
  explicit Recorder(Record& record) : record_(record) {}

  /// Keeps `value` (any Eigen expression) under `name`, in f64.
  template <class Derived>
  void operator()(std::string_view name, const Eigen::MatrixBase<Derived>& value) {
    record_.set(name, value.template cast<double>());
  }

  /// Keeps rows of tokens [L, D]: one token's row as a column under `name`, a block's rows as they are under
  /// its capital letter.
  template <class Derived>
  void rows(std::string_view name, bool of_token, const Eigen::MatrixBase<Derived>& value) {
    if (of_token) {
      (*this)(name, value.transpose());
    } else {
      (*this)(capitalised(name), value);
    }
  }

  /// Whether a tensor is recorded under `name`.
  bool has(std::string_view name) const { return record_.contains(name); }

  /// Keeps a number.
  void operator()(std::string_view name, double value) {
    record_.set(name, Matrix<double>::Constant(1, 1, value));
  }

 private:
  Record& record_;
};

/// Hands `value` to a recorder, if there is one.
template <class Value>
void note(Recorder* recorder, std::string_view name, const Value& value) {
  if (recorder) (*recorder)(name, value);
}

}  // namespace palimpsest
