#pragma once

#include "app/widgets/heat_map.h"
#include "core/base/matrix.h"

namespace palimpsest {

/// The cells that a heat map shows, as drawn: the block of `values`, transposed if asked, zero where it is
/// not finished. Where there are more rows than `height` or columns than `width` pixels, each pixel shows its
/// strongest cell: the first NaN if there is one, else the first of largest magnitude.
Matrix<float> drawn_cells(const Matrix<double>& values, const HeatMapLook& look, Index width, Index height);

}  // namespace palimpsest
