#pragma once

#include <initializer_list>

#include "core/contract/sequence.h"
#include "core/numbers/exponential.h"

namespace palimpsest {

/// What decays the state at each row, on the key side.
enum class Decay {
  none,
  scalar,  // S <- alpha S
  key,     // S <- Diag(alpha) S: one decay per key channel
};

/// Which prediction of the state is subtracted from v before the write.
enum class Erase {
  none,       // u = v
  decayed,    // u = v - S~^T a, on the decayed state S~
  undecayed,  // u = v - S_{r-1}^T a, on the state as the row before left it
};

/// Which state the output reads.
enum class ReadAt {
  after_row,   // o_t = S_t^T q_t
  before_row,  // o_t = S_{t-1}^T q_t: before the decay too
  end,         // o_t = S_N^T q_t: not causal
};

/// Everything about a row program that does not depend on the numbers. A rule declares it apart from its
/// arrays (core/rules/row_rule.h).
struct Structure {
  Decay decay = Decay::none;
  bool gates_are_logs = false;  // gate holds g = log alpha: running sums instead of running products
  bool value_decay = false;     // S <- S Diag(mu) too: one decay per value channel
  Erase erase = Erase::none;
  bool erase_key = false;     // the erase reads with a key a of its own, not with k
  bool beta = false;          // write with b = beta k instead of k
  bool writes_value = true;   // false: v is 0, the row writes back only what it has read
  bool decay_by_key = false;  // the decay depends on the key: a token that only queries (Rule::answers())
                              // has no key and decays nothing
  bool plain_write = false;   // one more write, k+ v+^T, which the erase does not touch
  ReadAt read_at = ReadAt::after_row;
  Index rows_per_read = 1;      // state rows of one token
  std::string_view parts = {};  // states side by side that mix at every row (momentum), a letter each; empty:
                                // one, S

  Index part_count() const { return parts.empty() ? 1 : static_cast<Index>(parts.size()); }
  /// Whether every token reads at its own time, not the state after the last token.
  bool reads_on_the_way() const { return read_at != ReadAt::end; }
  /// Whether anything reads the memory as the row before left it: an output, or an erase.
  bool reads_early() const { return read_at == ReadAt::before_row || erase == Erase::undecayed; }
  /// Which of a token's rows its read belongs to.
  Index reading_row() const { return read_at == ReadAt::before_row ? 0 : rows_per_read - 1; }
};

/// When a vector reads the state: after how many decays and writes of these rows. From a state in parts it
/// reads the sum of the parts weighted with `sight`.
struct Reader {
  Index decays = 0;
  Index writes = 0;
  std::vector<double> sight = {};
};

/// Rows of one head as the unified operator reads them (spec 1.1, eq. U):
///   S~  = Diag(alpha_r) S_{r-1} Diag(mu_r)
///   u_r = v_r - S~^T a_r      (only v_r without erase; mu_r o S_{r-1}^T a_r where it reads undecayed)
///   S_r = S~ + beta_r k_r u_r^T + k+_r v+_r^T
///   o_s = S_r^T q_s, r the last row of the read's token   (or S_{r-1}^T q_s, r the first; or S_N^T q_s)
/// With parts X^1 .. X^p, one above the other in the state [p K, V] (eq. U'):
///   X~ = (T_r x I) X_{r-1},  X_r = X~ + (c_r x beta_r k_r) u_r^T,  and S^T x is read as (sum_i h_i X^i)^T x
template <class Scalar>
struct Program {
  Structure structure = {};
  Matrix<Scalar> q = {};     // [R, K], scaled and mapped: one read per token
  Matrix<Scalar> k = {};     // [N, K], N = R rows_per_read: where v is written, and so the key that retrieves
                             // it (core/rules/stored_pairs.h); strengths belong in beta
  Matrix<Scalar> v = {};     // [N, V]
  Matrix<Scalar> a = {};     // [N, K] with an erase key
  Matrix<Scalar> gate = {};  // [N, 1] or [N, K]: alpha, or g = log alpha; [N, 0] without decay
  Matrix<Scalar> mu = {};    // [N, V] with value decay
  Matrix<Scalar> beta = {};  // [N, 1]; [N, 0] without
  Matrix<Scalar> k_plain = {};      // [N, K], k+
  Matrix<Scalar> v_plain = {};      // [N, V], v+
  Matrix<Scalar> transition = {};   // [N, p p], T_r row by row; with parts
  Matrix<Scalar> inject = {};       // [N, p], c_r
  Matrix<Scalar> erase_sight = {};  // [N, p], h of each erase
  Matrix<Scalar> read_sight = {};   // [R, p], h of each read
  std::vector<Index> read_after =
      {};  // [R] rows written before each read; empty: all up to the read's own token
  std::vector<Index> erase_after = {};  // [N] rows written before each row's erase; empty: all before the row

  /// The tables that have a row for every row of the program.
  using Table = Matrix<Scalar> Program::*;
  static constexpr Table of_rows[] = {&Program::k,       &Program::v,          &Program::a,
                                      &Program::gate,    &Program::mu,         &Program::beta,
                                      &Program::k_plain, &Program::v_plain,    &Program::transition,
                                      &Program::inject,  &Program::erase_sight};

  Index rows() const { return k.rows(); }
  Index reads() const { return q.rows(); }

  /// Row `r` alone, with the read of its token where it is the one that it belongs to.
  Program row(Index r) const {
    const auto one_row = [r](const Matrix<Scalar>& rows) {
      return rows.size() == 0 ? rows : Matrix<Scalar>(rows.middleRows(r, 1));
    };
    const Index steps = structure.rows_per_read;
    const Index reads_here = r % steps == structure.reading_row() ? 1 : 0;
    Program one = {.structure = structure, .q = q.middleRows(r / steps, reads_here)};
    one.structure.rows_per_read = 1;
    for (const auto rows : of_rows) one.*rows = one_row(this->*rows);
    if (read_sight.size() > 0) one.read_sight = read_sight.middleRows(r / steps, reads_here);
    return one;
  }

  /// The rows of tokens first .. first + count with their reads, which read on the way.
  Program of_tokens(Index first, Index count) const {
    const auto some = [](const Matrix<Scalar>& rows, Index begin, Index size) {
      return rows.size() == 0 ? rows : Matrix<Scalar>(rows.middleRows(begin, size));
    };
    const Index steps = structure.rows_per_read;
    Program part = {.structure = structure, .q = some(q, first, count)};
    for (const auto rows : of_rows) part.*rows = some(this->*rows, first * steps, count * steps);
    part.read_sight = some(read_sight, first, count);
    return part;
  }

  /// The vectors that the erase reads with: [N, K].
  const Matrix<Scalar>& erase_keys() const { return structure.erase_key ? a : k; }

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

  /// When every row's erase reads: [N].
  std::vector<Reader> erase_readers() const {
    std::vector<Reader> readers;
    for (Index r = 0; r < rows(); ++r) {
      const Index row = erase_after.empty() ? r : erase_after[static_cast<std::size_t>(r)];
      readers.push_back({structure.erase == Erase::decayed ? row + 1 : row, row, sight(erase_sight, r)});
    }
    return readers;
  }

  /// When every output reads: [R].
  std::vector<Reader> output_readers() const {
    std::vector<Reader> readers;
    for (Index s = 0; s < reads(); ++s) {
      const Index row = read_after.empty() ? rows_before_read(s) : read_after[static_cast<std::size_t>(s)];
      readers.push_back({row, row, sight(read_sight, s)});
    }
    return readers;
  }

  /// How many rows are written when token `s` reads, by default.
  Index rows_before_read(Index s) const {
    if (structure.read_at == ReadAt::end) return rows();
    return (structure.read_at == ReadAt::before_row ? s : s + 1) * structure.rows_per_read;
  }

  /// T_r: [p, p].
  Matrix<Scalar> transition_of(Index r) const {
    const Index p = structure.part_count();
    return Eigen::Map<const Matrix<Scalar>>(transition.row(r).data(), p, p);
  }

  /// Row `row` of a table of sights; empty where there are no parts.
  static std::vector<double> sight(const Matrix<Scalar>& sights, Index row) {
    std::vector<double> sight(static_cast<std::size_t>(sights.cols()));
    for (Index i = 0; i < sights.cols(); ++i)
      sight[static_cast<std::size_t>(i)] = static_cast<double>(sights(row, i));
    return sight;
  }
};

/// Rows of one head's arrays, converted to Scalar: the input of an encoder.
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

  /// A number repeated for every row: [count, 1].
  Matrix<Scalar> repeated(double value) const {
    return Matrix<Scalar>::Constant(count, 1, static_cast<Scalar>(value));
  }

  /// The same numbers in every row: [count, columns].
  Matrix<Scalar> every_row(std::initializer_list<Scalar> row) const {
    return Eigen::Map<const RowVector<Scalar>>(row.begin(), static_cast<Index>(row.size()))
        .replicate(count, 1);
  }

  /// Rows that hold several steps of a token side by side, one below the other: [count steps, columns].
  Matrix<Scalar> unfolded(std::string_view name, Index columns) const {
    const Matrix<Scalar> rows = (*this)(name);
    return Eigen::Map<const Matrix<Scalar>>(rows.data(), rows.size() / columns, columns);
  }
};

/// One generic function for both precisions; `Call` is the type of a call.
template <template <class> class Call>
struct InEither {
  InEither() = default;
  template <class Function>
  InEither(Function function) : f64(function), f32(function) {}

  template <class Scalar>
  const std::function<Call<Scalar>>& in() const {
    if constexpr (std::is_same_v<Scalar, double>)
      return f64;
    else
      return f32;
  }
  explicit operator bool() const { return f64 != nullptr; }

  std::function<Call<double>> f64;
  std::function<Call<float>> f32;
};

/// Turns rows of a sequence into the arrays of a program, whose structure is declared elsewhere. An empty
/// range has the columns of any other.
template <class Scalar>
using Encode = Program<Scalar>(const Rows<Scalar>&);
using Encoder = InEither<Encode>;

}  // namespace palimpsest
