#include "app/session/file_questions.h"

#include <cmath>

namespace palimpsest {

namespace {

constexpr Index most_pictured_tokens = 96;
constexpr Index most_pictured_channels = 16;

/// The axis of the tokens, as far as the sizes determine it.
std::size_t token_axis(const std::vector<Index>& shape, bool heads_first) {
  const std::size_t first = shape.size() == 4 ? 1 : 0;
  if (!heads_first || shape.size() < first + 2) return first;
  const bool is_gate = shape.size() < 3;  // may be [T, H] beside q [H, T, D]
  return is_gate && shape[first] > shape[first + 1] ? first : first + 1;
}

Matrix<double> small_picture(const Array& array, bool heads_first) {
  const std::vector<Index>& shape = array.shape;
  if (array.size() == 0) return {};
  if (shape.empty()) return Matrix<double>::Constant(1, 1, array[0]);
  const std::size_t tokens = token_axis(shape, heads_first);
  const bool has_channels = tokens + 1 < shape.size();
  Index stride = 1;
  for (std::size_t axis = tokens + 1; axis < shape.size(); ++axis) stride *= shape[axis];
  Matrix<double> picture(has_channels ? std::min(shape.back(), most_pictured_channels) : 1,
                         std::min(shape[tokens], most_pictured_tokens));
  for (Index t = 0; t < picture.cols(); ++t)
    for (Index channel = 0; channel < picture.rows(); ++channel)
      picture(channel, t) = array[t * stride + channel];
  return picture;
}

}  // namespace

Found<std::vector<FileArray>> ArraysOfFile::compute(const Effort& effort) const {
  const std::filesystem::path path = file;
  const bool is_one_of_many = path.extension() == ".npy";
  const std::filesystem::path whole = is_one_of_many ? path.parent_path() : path;
  const auto none = [](std::string_view) { return false; };
  std::vector<FileArray> arrays;
  const std::vector<std::string> names = read_array_file(whole, {}, none).unread;
  for (const std::string& name : names) {
    stop_if_asked(effort.stop);
    const Npz npz = read_array_file(whole, {}, [&](std::string_view other) { return other == name; });
    FileArray& one = arrays.emplace_back(FileArray{.name = name, .version = next_version()});
    effort.tell(static_cast<double>(arrays.size()) / static_cast<double>(names.size()));
    if (const std::string* const problem = value_at(npz.unreadable, name)) one.problem = *problem;
    const Array* const array = value_at(npz.arrays, name);
    if (!array) continue;
    one.shape = array->shape;
    one.picture = small_picture(*array, heads_first);
    one.least = array->size() > 0 ? (*array)[0] : 0;
    one.most = one.least;
    for (Index i = 0; i < array->size(); ++i) {
      const double number = (*array)[i];
      one.not_finite += std::isfinite(number) ? 0 : 1;
      if (number < one.least || std::isnan(one.least)) one.least = number;
      if (number > one.most || std::isnan(one.most)) one.most = number;
    }
  }
  return arrays;
}

}  // namespace palimpsest
