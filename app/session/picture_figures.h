#pragma once

#include <memory>
#include <string>

#include "app/session/answers.h"
#include "core/base/record.h"
#include "core/insight/spectra.h"

namespace palimpsest {

/// What can be said of a tensor of a record besides its entries, for the picture that a person enlarges.
struct PictureFigures {
  using Value = MatrixFigures;
  static constexpr Index parts = 48;  // of the histogram

  std::weak_ptr<const Record> record;
  std::string tensor;

  bool operator<(const PictureFigures& other) const;
  std::shared_ptr<const MatrixFigures> compute(const Effort& effort) const;
  static std::size_t bytes(const MatrixFigures& figures);
  bool gone() const { return record.expired(); }
};

}  // namespace palimpsest
