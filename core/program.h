#pragma once

#include <functional>

#include "core/exponential.h"
#include "core/matrix.h"
#include "core/sequence.h"

namespace palimpsest {

/// What decays the state at each row.
enum class Decay {
  none,
  scalar,  // S <- alpha S
  key,     // S <- Diag(alpha) S: one decay per key channel
};

/// What the write takes out before it writes.
enum class Erase {
  none,     // S <- S + b v^T
  decayed,  // S <- S + b (v - S^T a)^T, S already decayed
};

/// Which state the output reads.
enum class ReadAt {
  after_row,  // o_t = S_t^T q_t
  end,        // o_t = S_N^T q_t: not causal
};

/// Everything about a row program that does not depend on the numbers.
struct Structure {
  Decay decay = Decay::none;
  bool gates_are_logs = false;  // gate holds g = log alpha: running sums instead of running products
  Erase erase = Erase::none;
  bool beta = false;  // write with b = beta k instead of k
  ReadAt read_at = ReadAt::after_row;
};

/// Rows first .. first+count-1 of one head as the unified operator reads them (spec 1.1, eq. U):
///   S~  = Diag(alpha_r) S_{r-1}
///   u_r = v_r - S~^T k_r      (only v_r without erase)
///   S_r = S~ + beta_r k_r u_r^T
///   o_r = S_r^T q_r           (or S_N^T q_r)
template <class Scalar>
struct Program {
  Structure structure = {};
  Matrix<Scalar> q = {};     // [N, K], scaled and mapped
  Matrix<Scalar> k = {};     // [N, K]
  Matrix<Scalar> v = {};     // [N, V]
  Matrix<Scalar> gate = {};  // [N, 1] or [N, K]: alpha, or g = log alpha; [N, 0] without decay
  Matrix<Scalar> beta = {};  // [N, 1]; [N, 0] without

  Index rows() const { return k.rows(); }

  /// Row `t` alone.
  Program row(Index t) const {
    Program one{
        .structure = structure, .q = q.middleRows(t, 1), .k = k.middleRows(t, 1), .v = v.middleRows(t, 1)};
    if (gate.cols() > 0) one.gate = gate.middleRows(t, 1);
    if (beta.cols() > 0) one.beta = beta.middleRows(t, 1);
    return one;
  }

  /// b = beta k, the write direction of every row: [N, K].
  Matrix<Scalar> b() const {
    if (!structure.beta) return k;
    return (k.array().colwise() * beta.col(0).array()).matrix();
  }

  /// alpha itself whatever the gates are: [N, 1] or [N, K].
  Matrix<Scalar> alpha() const {
    if (!structure.gates_are_logs) return gate;
    return exponential(gate.array()).matrix();
  }
};

/// Turns rows of a sequence into a program, in either precision. Structure and sizes are those of any range,
/// an empty one too.
struct Encoder {
  std::function<Program<double>(const Sequence&, Index first, Index count)> f64;
  std::function<Program<float>(const Sequence&, Index first, Index count)> f32;

  template <class Scalar>
  Program<Scalar> encode(const Sequence& sequence, Index first, Index count) const {
    if constexpr (std::is_same_v<Scalar, double>)
      return f64(sequence, first, count);
    else
      return f32(sequence, first, count);
  }
};

/// The rows of one head's arrays, cut out and converted: what an encoder is written in.
template <class Scalar>
struct Rows {
  const Sequence& sequence;
  Index first;
  Index count;

  /// Rows of the array `name`: [count, columns].
  Matrix<Scalar> operator()(std::string_view name) const {
    return sequence.at(name).rows<Scalar>(first, count);
  }

  /// scale q: [count, K].
  Matrix<Scalar> scaled_q() const { return (*this)("q") * static_cast<Scalar>(sequence.parameter("scale")); }

  /// A parameter repeated for every row: [count, 1].
  Matrix<Scalar> repeated(std::string_view parameter) const {
    return Matrix<Scalar>::Constant(count, 1, static_cast<Scalar>(sequence.parameter(parameter)));
  }
};

/// An Encoder from one generic function `program = encode(const Rows<Scalar>&)`.
template <class Function>
Encoder make_encoder(Function encode) {
  return {[encode](const Sequence& sequence, Index first, Index count) {
            return encode(Rows<double>{sequence, first, count});
          },
          [encode](const Sequence& sequence, Index first, Index count) {
            return encode(Rows<float>{sequence, first, count});
          }};
}

}  // namespace palimpsest
