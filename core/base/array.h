#pragma once

#include <map>
#include <memory>
#include <variant>

#include "core/base/matrix.h"

namespace palimpsest {

/// A row-major array of any rank, as a file holds it or a preset makes it.
/// float16 and float32 are kept as float (both exact), everything else as double.
class Array {
 public:
  using Values = std::variant<std::vector<double>, std::vector<float>>;

  std::vector<Index> shape;

  Array() = default;
  Array(std::vector<Index> shape, Values values);

  Index rank() const { return static_cast<Index>(shape.size()); }
  Index size() const;
  bool is_f32() const { return std::holds_alternative<std::vector<float>>(values()); }

  /// Copies share them.
  const Values& values() const { return *values_; }

  /// The same, to be changed: copies keep what they have.
  Values& own_values();

  /// Element `flat` in row-major order.
  double operator[](Index flat) const;

 private:
  std::shared_ptr<Values> values_ = no_values();

  static const std::shared_ptr<Values>& no_values();
};

/// Arrays under their bare names: q, k, v, alpha or g, beta, initial_state, ...
using Arrays = std::map<std::string, Array, std::less<>>;

/// "[105, 4, 64]": a shape as messages and panels write it.
std::string to_string(const std::vector<Index>& shape);

/// The indices of element `flat`, in row-major order, of an array of this shape.
std::vector<Index> index_of(const std::vector<Index>& shape, Index flat);

/// A [rows, columns] window into an Array, not copied: one head of one batch.
/// Column stride is 1; consecutive rows lie row_stride elements apart. The array must outlive the view.
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(const Array& array, Index offset, Index rows, Index columns, Index row_stride);

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }

  double operator()(Index row, Index column) const { return (*array_)[offset_ + row * row_stride_ + column]; }

  /// Rows first .. first+count-1, converted to Scalar: [count, columns].
  template <class Scalar>
  Matrix<Scalar> rows(Index first, Index count) const;

  template <class Scalar>
  Matrix<Scalar> all() const {
    return rows<Scalar>(0, rows_);
  }

 private:
  const Array* array_ = nullptr;
  Index offset_ = 0;
  Index rows_ = 0;
  Index columns_ = 0;
  Index row_stride_ = 0;
};

/// An array of the same shape with `function` applied to every element, in row-major order.
template <class Scalar, class Function>
Array mapped(const Array& array, Function function) {
  std::vector<Scalar> values(static_cast<std::size_t>(array.size()));
  const auto changed = [&](double value) { return static_cast<Scalar>(function(value)); };
  std::visit([&](const auto& given) { std::ranges::transform(given, values.begin(), changed); },
             array.values());
  return {array.shape, std::move(values)};
}

/// The entries of a matrix, row by row, as an array of this shape.
inline Array array_of(const Matrix<double>& matrix, std::vector<Index> shape) {
  return {std::move(shape), std::vector<double>(matrix.data(), matrix.data() + matrix.size())};
}

}  // namespace palimpsest
