#include "core/engines/chunk_pieces.h"

namespace palimpsest {

template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record) {
  return chunk_by<EigenProducts>(program, S, record);
}

template <class Scalar>
Matrix<Scalar> chunk_state(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record) {
  return with_chunk<EigenProducts>(program, record, [&](const auto& pieces) {
    const Matrix<Scalar> U = pieces.writes(S);
    pieces.carry(U, S);
    return U;
  });
}

template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Matrix<Scalar>& S, const Matrix<Scalar>& U,
                             Recorder* record) {
  note(record, "S_in", S);
  if (record && program.structure.erase != Erase::none) (*record)("U", U);
  return with_chunk<EigenProducts>(program, record, [&](const auto& pieces) { return pieces.outputs(S, U); });
}

double chunk_matrices(const Structure& structure) {
  const double masks = structure.decay == Decay::scalar ? 1 : 0;
  const double parts = structure.parts.empty() ? 0 : static_cast<double>(structure.part_count()) + 1;
  return masks + parts + (structure.plain_write ? 2 : 1);
}

template Matrix<double> chunk(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> chunk(const Program<float>&, Matrix<float>&, Recorder*);
template Matrix<double> chunk_state(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> chunk_state(const Program<float>&, Matrix<float>&, Recorder*);
template Matrix<double> chunk_outputs(const Program<double>&, const Matrix<double>&, const Matrix<double>&,
                                      Recorder*);
template Matrix<float> chunk_outputs(const Program<float>&, const Matrix<float>&, const Matrix<float>&,
                                     Recorder*);

}  // namespace palimpsest
