#pragma once

#include "core/engines/inner_network.h"
#include "core/engines/lact.h"
#include "core/engines/mamba.h"
#include "core/engines/mesanet.h"
#include "core/engines/softmax.h"

namespace palimpsest {

/// The engines of one device in one precision, one for each family. They compute what the functions of
/// core/engines do (shapes and errors stand there) and hand the same tensors, by the same names, to a tap.
/// Rules and their traces use only these and do not depend on the device. States and outputs:
///   rows           {S [p K, V]}; what is read, [R, V]. In phase 0 of two passes what the rows write, U; in
///                  phase 1, which leaves S as it was before the chunk, v holds that U. Where the program
///                  reads at the end phase 1 reads the finished S, and phase 0 gives no rows.
///   softmax        none; [T, V]
///   mamba          {S [K, V]}; [L, V]
///   network        parameters, then the sums of their gradients (inner_network.h); [L, V]
///   lact           {S, M, G, each [K, V]}; [L, V], or no rows in a phase without reads
///   mesa           {H [K, K + V]}; [L, V]
///   least_squares  {P [K, K]}; the gains, [L, K]
template <class Scalar>
struct Engines {
  const Engine<Program, Scalar>& rows;
  const Engine<CachedQueries, Scalar>& softmax;
  const Engine<MambaRows, Scalar>& mamba;
  const Engine<NetworkRows, Scalar>& network;
  const Engine<LactTokens, Scalar>& lact;
  const Engine<MesaRows, Scalar>& mesa;
  const Engine<LeastSquaresKeys, Scalar>& least_squares;
};

/// The engines of one device, by Scalar type: those in f32 are for bf16 and tf32 too.
struct DeviceEngines {
  Engines<double> f64;
  Engines<float> f32;

  template <class Scalar>
  const Engines<Scalar>& in() const {
    if constexpr (std::is_same_v<Scalar, double>)
      return f64;
    else
      return f32;
  }

  /// Returns `use` of the engines for this precision.
  template <class Use>
  auto with(Precision precision, Use use) const {
    return precision == Precision::f64 ? use(f64) : use(f32);
  }
};

}  // namespace palimpsest
