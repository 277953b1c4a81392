#pragma once

#include <string_view>

#include "core/expression.h"
#include "core/matrix.h"

namespace palimpsest {

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

  /// Keeps a number.
  void operator()(std::string_view name, double value) {
    record_.set(name, Matrix<double>::Constant(1, 1, value));
  }

 private:
  Record& record_;
};

}  // namespace palimpsest
