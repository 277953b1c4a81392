#include "app/stage/fading_cells.h"

#include <algorithm>
#include <limits>

#include "app/gl/context_local.h"
#include "core/numbers/between.h"

namespace palimpsest {

namespace {

constexpr Index most_cells = Index{1} << 20;  // larger pictures would be made anew for too long

struct FadingCells {
  std::uint64_t version = 0;
  Index rows = -1;
  Index columns = -1;
  bool are_factors = false;
  Matrix<double> cells = {};
};

bool is_decay(const std::string& tensor) {
  static constexpr std::string_view names[] = {"alpha", "mu",       "gamma", "G",       "G_before",
                                               "g_in",  "g_before", "g_out", "g_total", "m_in",
                                               "m_out", "m_total",  "E",     "E_bar"};
  return std::ranges::find(names, tensor) != std::end(names);
}

/// Whether only what lies on one side of the diagonal is there.
bool is_triangle(const std::string& tensor) { return tensor == "G" || tensor == "G_before"; }

}  // namespace

bool holds_decays(const std::string& tensor, const Matrix<double>& values) {
  return is_decay(tensor) && (values.array() >= 0).all() && (values.array() <= 1).all();
}

bool shows_fading(const std::string& tensor, const Matrix<double>& values) {
  return values.size() <= most_cells && holds_decays(tensor, values);
}

const Matrix<double>* fading_cells(std::string_view key, const std::string& tensor,
                                   const Matrix<double>& values, std::uint64_t version) {
  if (!is_decay(tensor) || values.size() > most_cells) return nullptr;
  FadingCells& kept = context_local<FrameCache<std::string, FadingCells>>()[key];
  if (kept.version != version || kept.rows != values.rows() || kept.columns != values.cols()) {
    kept = {.version = version, .rows = values.rows(), .columns = values.cols()};
    kept.are_factors = holds_decays(tensor, values);
    if (kept.are_factors) {
      kept.cells = values.unaryExpr([](double factor) { return -forgotten_part(factor); });
      for (Index i = 0; is_triangle(tensor) && i < values.rows(); ++i) {
        for (Index j = i; j < values.cols(); ++j) {
          if (values(i, j) == 0) kept.cells(i, j) = -std::numeric_limits<double>::infinity();
        }
      }
    }
  }
  return kept.are_factors ? &kept.cells : nullptr;
}

}  // namespace palimpsest
