#pragma once

#include "core/contract/sequence.h"
#include "core/engines/mesanet.h"
#include "core/operator/program.h"

// What MesaNet's arrays are to its engine.

namespace palimpsest {

/// Exactly symmetric, so that every way to solve meets the same matrix.
template <class Scalar>
Matrix<Scalar> symmetric(const Matrix<double>& matrix) {
  return ((matrix + matrix.transpose()) / 2).template cast<Scalar>();
}

/// The ridge of a sequence: [K, K].
template <class Scalar>
Matrix<Scalar> mesa_ridge(const Sequence& sequence) {
  return symmetric<Scalar>(square(sequence.at("ridge")));
}

/// `count` tokens from `first` on.
template <class Scalar>
MesaRows<Scalar> mesa_rows(const Sequence& sequence, Index first, Index count) {
  const Rows<Scalar> given{sequence, first, count};
  return {.q = given.scaled_q(),
          .k = given("k"),
          .v = given("v"),
          .beta = given("beta"),
          .gamma = given("gamma"),
          .ridge = mesa_ridge<Scalar>(sequence)};
}

}  // namespace palimpsest
