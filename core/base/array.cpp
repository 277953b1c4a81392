#include "core/base/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>
#include <numeric>

namespace palimpsest {

const char* name(Form form) {
  static constexpr const char* names[] = {"recurrent", "chunkwise", "two-pass", "parallel"};
  return names[static_cast<std::size_t>(form)];
}

const char* name(Precision precision) {
  static constexpr const char* names[] = {"f64", "f32", "tf32", "bf16"};
  return names[static_cast<std::size_t>(precision)];
}

Array::Array(std::vector<Index> new_shape, std::vector<double> new_values)
    : shape(std::move(new_shape)), values(std::move(new_values)) {
  assert(size() == static_cast<Index>(std::get<0>(values).size()));
}

Array::Array(std::vector<Index> new_shape, std::vector<float> new_values)
    : shape(std::move(new_shape)), values(std::move(new_values)) {
  assert(size() == static_cast<Index>(std::get<1>(values).size()));
}

Index Array::size() const {
  return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
}

double Array::operator[](Index flat) const {
  const auto i = static_cast<std::size_t>(flat);
  return is_f32() ? static_cast<double>(std::get<1>(values)[i]) : std::get<0>(values)[i];
}

std::string to_string(const std::vector<Index>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::vector<Index> index_of(const std::vector<Index>& shape, Index flat) {
  std::vector<Index> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; flat /= shape[axis]) index[axis] = flat % shape[axis];
  return index;
}

MatrixView::MatrixView(const Array& array, Index offset, Index rows, Index columns, Index row_stride)
    : array_(&array), offset_(offset), rows_(rows), columns_(columns), row_stride_(row_stride) {
  assert(rows == 0 || columns == 0 || offset + (rows - 1) * row_stride + columns <= array.size());
}

namespace {

template <class Scalar, class Stored>
Matrix<Scalar> copy_rows(const Stored* first_row, Index count, Index columns, Index row_stride) {
  using Source = Eigen::Map<const Matrix<Stored>, 0, Eigen::OuterStride<>>;
  return Source(first_row, count, columns, Eigen::OuterStride<>(row_stride)).template cast<Scalar>();
}

}  // namespace

template <class Scalar>
Matrix<Scalar> MatrixView::rows(Index first, Index count) const {
  assert(first >= 0 && count >= 0 && first + count <= rows_);
  if (count == 0 || columns_ == 0) return Matrix<Scalar>(count, columns_);
  return std::visit(
      [&](const auto& stored) {
        return copy_rows<Scalar>(stored.data() + offset_ + first * row_stride_, count, columns_, row_stride_);
      },
      array_->values);
}

template Matrix<double> MatrixView::rows<double>(Index, Index) const;
template Matrix<float> MatrixView::rows<float>(Index, Index) const;

}  // namespace palimpsest
