#include "core/engines/row_engines.h"

namespace palimpsest {

namespace {

/// Hands every part of a state to a trace under its own name: "S_before", "M_before".
template <class Scalar>
void record_parts(const Structure& structure, const Matrix<Scalar>& S, const char* when, Recorder& record) {
  const Index K = S.rows() / structure.part_count();
  for (Index i = 0; i < structure.part_count(); ++i)
    record(std::string(1, entry(structure.parts, i)) + when, S.middleRows(i * K, K));
}

/// Rows of a state in parts, eq. U'.
template <class Scalar>
Matrix<Scalar> recurrent_parts(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder) {
  const Structure& structure = program.structure;
  const Index K = program.k.cols();
  const bool reads_first = structure.read_at == ReadAt::before_row;
  Matrix<Scalar> o(program.reads(), program.v.cols());
  for (Index r = 0; r < program.rows(); ++r) {
    Recorder* record = r == program.rows() - 1 ? recorder : nullptr;
    const auto read_with = [&](const Matrix<Scalar>& x, const Matrix<Scalar>& sight) -> Matrix<Scalar> {
      return x * seen<Scalar>(S, sight);
    };
    const auto erase = [&] { return read_with(program.erase_keys().row(r), program.erase_sight.row(r)); };
    const auto read = [&] {
      if (r < program.reads()) o.row(r) = read_with(program.q.row(r), program.read_sight.row(r));
    };
    if (reads_first) read();
    Matrix<Scalar> u = program.v.row(r);
    Matrix<Scalar> old;
    if (record) record_parts(structure, S, "_before", *record);
    if (structure.erase == Erase::undecayed) old = erase();
    S = mixed<Scalar>(program.transition_of(r), S);
    if (record) record_parts(structure, S, "_moved", *record);
    if (structure.erase == Erase::decayed) old = erase();
    if (structure.erase != Erase::none) u -= old;
    const Scalar beta = structure.beta ? program.beta(r, 0) : Scalar(1);
    const Matrix<Scalar> update = (beta * program.k.row(r)).transpose() * u;
    for (Index i = 0; i < structure.part_count(); ++i)
      S.middleRows(i * K, K) += program.inject(r, i) * update;
    if (record) {
      if (structure.erase != Erase::none) {
        (*record)("old", old.transpose());
        (*record)("error", u.transpose());
      }
      (*record)("update", update);
      record_parts(structure, S, "_after", *record);
    }
    if (!reads_first) read();
  }
  return o;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder) {
  const Structure& structure = program.structure;
  if (!structure.parts.empty()) return recurrent_parts(program, S, recorder);
  const bool reads = structure.reads_on_the_way();
  const bool reads_first = structure.read_at == ReadAt::before_row;
  const Index N = program.rows();
  const Matrix<Scalar> alpha = program.alpha();
  Matrix<Scalar> o(reads ? program.reads() : 0, program.v.cols());
  Vector<Scalar> u(program.v.cols());
  // o = S^T q
  const auto read_at = [&](Index r) {
    const Index read = r / structure.rows_per_read;
    if (reads && r % structure.rows_per_read == structure.reading_row() && read < program.reads())
      o.row(read).noalias() = program.q.row(read) * S;
  };

  for (Index r = 0; r < N; ++r) {
    Recorder* record = r == N - 1 ? recorder : nullptr;
    const auto a = program.erase_keys().row(r).transpose();  // [K]
    note(record, "S_before", S);
    if (reads_first) read_at(r);

    // S_{r-1}^T a
    if (structure.erase == Erase::undecayed) {
      u.noalias() = S.transpose() * a;
      if (structure.value_decay) u = u.cwiseProduct(program.mu.row(r).transpose());
    }

    // S~ = Diag(alpha) S Diag(mu)
    if (structure.decay == Decay::scalar) S *= alpha(r, 0);
    if (structure.decay == Decay::key) {
      for (Index i = 0; i < S.rows(); ++i)
        S.row(i) *= alpha(r, i);  // by rows: a column at once is not vectorised
    }
    if (structure.value_decay) S.array().rowwise() *= program.mu.row(r).array();
    if (record && (structure.decay != Decay::none || structure.value_decay)) (*record)("S_decayed", S);

    // u = v - S~^T a
    if (structure.erase == Erase::decayed) u.noalias() = S.transpose() * a;
    if (structure.erase == Erase::none) {
      u = program.v.row(r).transpose();
    } else {
      note(record, "old", u);
      u = structure.writes_value ? Vector<Scalar>(program.v.row(r).transpose() - u) : Vector<Scalar>(-u);
      note(record, "error", u);
    }

    // S = S~ + beta k u^T + k+ v+^T
    const Scalar beta = structure.beta ? program.beta(r, 0) : Scalar(1);
    const auto b = beta * program.k.row(r).transpose();
    note(record, "update", b * u.transpose());
    S.noalias() += b * u.transpose();
    if (structure.plain_write) {
      note(record, "plain_update", program.k_plain.row(r).transpose() * program.v_plain.row(r));
      S.noalias() += program.k_plain.row(r).transpose() * program.v_plain.row(r);
    }
    note(record, "S_after", S);
    if (!reads_first) read_at(r);
  }
  return o;
}

template Matrix<double> recurrent(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> recurrent(const Program<float>&, Matrix<float>&, Recorder*);

}  // namespace palimpsest
