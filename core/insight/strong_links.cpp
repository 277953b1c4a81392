#include "core/insight/strong_links.h"

#include <algorithm>
#include <cmath>

namespace palimpsest {

std::vector<StrongLink> strong_links(const Matrix<double>& amounts, std::size_t count) {
  std::vector<StrongLink> links;
  for (Index i = 0; i < amounts.rows(); ++i) {
    for (Index j = 0; j < amounts.cols(); ++j) {
      const double amount = amounts(i, j);
      if (amount != 0 && std::isfinite(amount)) links.push_back({i, j, amount});
    }
  }
  const auto is_stronger = [](const StrongLink& a, const StrongLink& b) {
    return std::abs(a.amount) > std::abs(b.amount);
  };
  const std::size_t kept = std::min(count, links.size());
  std::ranges::partial_sort(links, links.begin() + static_cast<std::ptrdiff_t>(kept), is_stronger);
  links.resize(kept);
  std::ranges::reverse(links);
  return links;
}

std::vector<StrongLink> strong_links(const Matrix<double>& W, const Vector<double>& x, std::size_t count) {
  return strong_links(x.asDiagonal() * W, count);
}

}  // namespace palimpsest
