#include "app/session/picture_figures.h"

#include "core/base/error.h"

namespace palimpsest {

bool PictureFigures::operator<(const PictureFigures& other) const {
  if (record.owner_before(other.record)) return true;
  return !other.record.owner_before(record) && tensor < other.tensor;
}

std::shared_ptr<const MatrixFigures> PictureFigures::compute(const Effort& effort) const {
  const std::shared_ptr<const Record> present = record.lock();
  if (!present) throw Cancelled();
  return std::make_shared<const MatrixFigures>(matrix_figures(present->at(tensor), parts, effort.stop));
}

std::size_t PictureFigures::bytes(const MatrixFigures& figures) {
  const Index numbers = figures.counts.size() + figures.singular_values.size();
  return sizeof(MatrixFigures) + static_cast<std::size_t>(numbers) * sizeof(double);
}

}  // namespace palimpsest
