#include "core/base/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>
#include <numeric>

namespace palimpsest {

double largest_finite(const Matrix<double>& x) {
  if (x.size() == 0) return 0;
  return x.array().isFinite().select(x.array().abs(), 0.0).maxCoeff();
}

const char* name(Form form) {
  static constexpr const char* names[] = {"recurrent", "chunkwise", "two-pass", "parallel"};
  return entry(names, form);
}

const char* name(Precision precision) {
  static constexpr const char* names[] = {"f64", "f32", "tf32", "bf16"};
  return entry(names, precision);
}

Array::Array(std::vector<Index> new_shape, Values new_values)
    : shape(std::move(new_shape)), values_(std::make_shared<Values>(std::move(new_values))) {
  assert(size() == std::visit([](const auto& numbers) { return std::ssize(numbers); }, values()));
}

const std::shared_ptr<Array::Values>& Array::no_values() {
  static const std::shared_ptr<Values> none = std::make_shared<Values>();
  return none;
}

Array::Values& Array::own_values() {
  if (values_.use_count() > 1) values_ = std::make_shared<Values>(values());
  // Who let go of them may just have read: letting go of `held` waits for that, use_count() does not.
  const std::shared_ptr<Values> held = values_;
  return *held;
}

Index Array::size() const {
  return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
}

double Array::operator[](Index flat) const {
  return is_f32() ? static_cast<double>(entry(std::get<1>(values()), flat))
                  : entry(std::get<0>(values()), flat);
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

template <class Scalar>
Matrix<Scalar> MatrixView::rows(Index first, Index count) const {
  assert(first >= 0 && count >= 0 && first + count <= rows_);
  if (count == 0 || columns_ == 0) return Matrix<Scalar>(count, columns_);
  return std::visit(
      [&]<class Stored>(const std::vector<Stored>& stored) -> Matrix<Scalar> {
        using Source = Eigen::Map<const Matrix<Stored>, 0, Eigen::OuterStride<>>;
        const Stored* const first_row = stored.data() + offset_ + first * row_stride_;
        return Source(first_row, count, columns_, Eigen::OuterStride<>(row_stride_)).template cast<Scalar>();
      },
      array_->values());
}

template Matrix<double> MatrixView::rows<double>(Index, Index) const;
template Matrix<float> MatrixView::rows<float>(Index, Index) const;

}  // namespace palimpsest
