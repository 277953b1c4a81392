#include "core/base/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "core/base/error.h"

namespace palimpsest {

void Record::set(std::string_view name, Matrix<double> value) {
  tensors_.insert_or_assign(std::string(name), std::make_shared<const Matrix<double>>(std::move(value)));
}

const Matrix<double>& Record::at(std::string_view name) const {
  if (const auto found = tensors_.find(name); found != tensors_.end()) return *found->second;
  throw Error(fmt::format("no tensor \"{}\" was recorded; recorded are: {}", name,
                          fmt::join(std::views::keys(tensors_), ", ")));
}

std::vector<std::pair<const std::string&, const Matrix<double>&>> Record::tensors() const {
  std::vector<std::pair<const std::string&, const Matrix<double>&>> all;
  all.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) all.emplace_back(name, *tensor);
  return all;
}

}  // namespace palimpsest
