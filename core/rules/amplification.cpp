#include <random>

#include "core/engines/row_engines.h"
#include "core/rules/row_map.h"

namespace palimpsest {

namespace {

// Far above the rounding of the measurement itself, far below what would change a decay.
constexpr double unit = 0x1p-40;

/// Errors of up to one unit of given sizes.
Matrix<double> errors(std::mt19937_64& bits, const Matrix<double>& sizes) {
  return sizes.unaryExpr(
      [&](double size) { return size * unit * (static_cast<double>(bits() >> 11) * 0x1p-52 - 1); });
}

/// The row with the sizes of its numbers in their place.
Program<double> sizes_of(const Program<double>& row) {
  Program<double> sizes = row;
  for (Matrix<double>* numbers :
       {&sizes.q, &sizes.k, &sizes.v, &sizes.a, &sizes.beta, &sizes.k_plain, &sizes.v_plain,
        &sizes.transition, &sizes.inject, &sizes.erase_sight, &sizes.read_sight, &sizes.mu})
    *numbers = numbers->cwiseAbs();
  if (!row.structure.gates_are_logs) sizes.gate = row.gate.cwiseAbs();
  return sizes;
}

/// The recurrence one token after the other, exact or with the errors of a form that takes `block` tokens at
/// once.
class Recurrence {
 public:
  Recurrence(Index block, Matrix<double> S, std::optional<std::uint64_t> seed = {})
      : block_(block), S_(std::move(S)), shown_(S_) {
    if (!seed) return;
    bits_.emplace(*seed);
    M_ = S_.cwiseAbs();
  }

  /// Applies the rows of one token and returns what it reads: [1, V], [0, V] where outputs read at the end.
  Matrix<double> pass(const Program<double>& token) {
    Matrix<double> read(0, S_.cols());
    for (Index r = 0; r < token.rows(); ++r) {
      Program<double> row = token.row(r);
      if (bits_) round(row);
      const Program<double> exact = row;
      if (bits_) let_in_what_the_erase_loses(row);
      const Matrix<double> u = row.v - found_by_erase(row, S_);
      Matrix<double> o = recurrent(row, S_);
      if (bits_) {
        Program<double> sizes = sizes_of(exact);
        sizes.structure.erase = Erase::none;
        sizes.v = u.cwiseAbs();
        const Matrix<double> terms = recurrent(sizes, M_);
        o += errors(*bits_, terms);
      }
      if (o.rows() > 0) read = std::move(o);
    }
    shown_ = S_;
    if (!bits_) return read;
    shown_ += errors(*bits_, M_);
    if (++passed_ % block_ == 0) {
      S_ = shown_;
      M_ = S_.cwiseAbs();
      logs_.setZero();
    }
    return read;
  }

  /// The state if the sequence ended here.
  const Matrix<double>& state() const { return shown_; }

 private:
  /// Rounds the numbers of a row. A block's decays are multiplied, or as logs added up, one by one.
  void round(Program<double>& row) {
    if (logs_.size() == 0) logs_.setZero(1, row.gate.cols());
    if (row.structure.gates_are_logs) logs_ += row.gate.cwiseAbs();
    row.gate += errors(*bits_, row.structure.gates_are_logs ? logs_ : row.gate);
    for (Matrix<double>* numbers :
         {&row.q, &row.k, &row.v, &row.a, &row.mu, &row.beta, &row.k_plain, &row.v_plain, &row.transition})
      *numbers += errors(*bits_, *numbers);
  }

  void let_in_what_the_erase_loses(Program<double>& row) {
    if (row.structure.erase == Erase::none) return;
    row.v += errors(*bits_, found_by_erase(sizes_of(row), M_));
    row.structure.writes_value = true;
  }

  Index block_;
  Matrix<double> S_;
  Matrix<double> shown_;
  std::optional<std::mt19937_64> bits_ = {};  // of the errors
  Matrix<double> M_ = {};
  Matrix<double> logs_ = {};  // sizes of the sums of logs so far in the block
  Index passed_ = 0;
};

}  // namespace

Index tokens_at_once(Form form, Index chunk_size, Index tokens) {
  if (form == Form::parallel) return std::max<Index>(tokens, 1);
  return has_chunks(form) ? std::clamp<Index>(chunk_size, 1, std::max<Index>(tokens, 1)) : 1;
}

double Amplification::of(std::string_view array) const {
  const double* factor = value_at(factors, array);
  return factor ? *factor : 1;
}

void Amplification::raise(std::string_view array, double factor) {
  double& known = factors.try_emplace(std::string(array), 1).first->second;
  known = std::max(known, factor);
}

Index Amplification::first_beyond(double most) const {
  Index first = -1;
  for (Index t = std::ssize(states_after) - 1; t >= 0 && entry(states_after, t) > most; --t) first = t;
  return first;
}

/// How far a form of a row program amplifies rounding, from the f64 recurrence alone: the form itself is not
/// run. A form that takes L tokens at once (one, a chunk, all) adds up their writes, which cancel only in the
/// sum. So the rounding of what a token's erase reads, of its output and of the state after the L tokens is
/// not relative to these themselves but to
///   M_t = |T_t| M_{t-1} + |b_t| |u_t|^T,   M = |S| where the L tokens begin,
/// the state that all these writes would make if none cancelled. Where the writes, and not the decay, empty
/// the memory, |S| shrinks and M stays. The recurrence is run with random errors of that size, and with its
/// rows and decays rounded; the largest change of several draws counts. A program whose reads wait for later
/// rows is not measured.
Amplification RowRule::amplification(const Sequence& sequence, Form form, Index chunk_size,
                                     std::stop_token stop) const {
  constexpr std::uint64_t draws = 3;
  const Program<double> first = encode<double>(sequence, 0, std::min<Index>(sequence.tokens, 1));
  if (!first.read_after.empty() || !first.erase_after.empty()) return {};  // not one token after the other
  const Matrix<double> S = initial_state<double>(sequence);
  const Index block = tokens_at_once(form, chunk_size, sequence.tokens);
  Recurrence exact(block, S);
  std::vector<Recurrence> erring;
  std::vector<Matrix<double>> reads;
  for (std::uint64_t draw = 1; draw <= draws; ++draw) erring.emplace_back(block, S, draw);
  for (std::uint64_t draw = 0; draw <= draws; ++draw) reads.emplace_back(sequence.tokens, S.cols());

  Amplification result;
  const auto output_of = [&](const Recurrence& recurrence, const Matrix<double>& o, Index tokens) {
    Sequence so_far = sequence;
    so_far.tokens = tokens;
    return Output{o, named_states(recurrence.state(), so_far)};
  };
  bool reads_at_end = false;
  for (Index t = 0; t < sequence.tokens; ++t) {
    stop_if_asked(stop);
    const Program<double> token = encode<double>(sequence, t, 1);
    reads_at_end = token.structure.read_at == ReadAt::end;
    const auto pass = [&](Recurrence& recurrence, Matrix<double>& read) {
      const Matrix<double> o = recurrence.pass(token);
      if (!reads_at_end) read.row(t) = o;
    };
    pass(exact, reads[0]);
    const Output expected = output_of(exact, {}, t + 1);
    double& largest = result.states_after.emplace_back(1);
    for (std::size_t i = 0; i < erring.size(); ++i) {
      pass(erring[i], reads[i + 1]);
      largest = std::max(largest, compare(output_of(erring[i], {}, t + 1), expected).error / unit);
    }
  }
  if (reads_at_end) {
    const Matrix<double> q = encode<double>(sequence, 0, sequence.tokens).q;
    reads[0] = q * exact.state();
    for (std::size_t i = 0; i < erring.size(); ++i) reads[i + 1] = q * erring[i].state();
  }
  const Output expected = output_of(exact, finish<double>(reads[0], sequence), sequence.tokens);
  for (std::size_t i = 0; i < erring.size(); ++i) {
    const Output moved = output_of(erring[i], finish<double>(reads[i + 1], sequence), sequence.tokens);
    for (const Disagreement& change : compare_each(moved, expected))
      result.raise(change.array, change.error / unit);
  }
  return result;
}

}  // namespace palimpsest
