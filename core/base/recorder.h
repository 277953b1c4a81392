#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "core/base/matrix.h"
#include "core/base/record.h"

namespace palimpsest {

/// "Q" for "q": what rows of tokens are called where one token's column is called `name`.
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

  /// Whether there is something under `name`.
  bool has(std::string_view name) const { return record_.contains(name); }

  /// Keeps a number.
  void operator()(std::string_view name, double value) {
    record_.set(name, Matrix<double>::Constant(1, 1, value));
  }

 private:
  Record& record_;
};

}  // namespace palimpsest
