#include "core/lact_rule.h"

#include <fmt/format.h>

#include "core/engines/lact.h"
#include "core/error.h"
#include "core/inner_batches.h"
#include "core/lact_steps.h"
#include "core/walk.h"

namespace palimpsest {

namespace {

constexpr double parallel_limit = 6e9;  // bytes of the weights of all batches

bool option_is(const Settings& settings, const char* name, const char* value) {
  return settings.options.find(name)->second == value;
}

LactShown shown_of(const Sequence& sequence, Form form, Index chunk_size) {
  const Settings& settings = sequence.settings;
  const auto batch = static_cast<Index>(sequence.parameter("batch"));
  return {.form = form,
          .muon = option_is(settings, "optimizer", "muon"),
          .tuned = option_is(settings, "newton_schulz", "tuned"),
          .l2 = option_is(settings, "loss", "l2"),
          .update_first = option_is(settings, "order", "update_first"),
          .weight_norm = option_is(settings, "weight_norm", "true"),
          .momentum = sequence.has("momentum"),
          .tall = sequence.dk > sequence.dv,
          .scaled = sequence.parameter("scale") != 1,
          .divided = chunk_size < std::min(batch, sequence.tokens)};
}

/// What carried matrices are called. The gradient is 0 at the start of a batch.
enum Carry { weights, direction, gradient };

/// What all forms take from a sequence.
template <class Scalar>
class LactWalk : public Walk<Scalar> {
 public:
  LactWalk(const Sequence& sequence, Form form, Index chunk_size)
      : sequence_(sequence),
        shown_(shown_of(sequence, form, chunk_size)),
        batches_(sequence.tokens, static_cast<Index>(sequence.parameter("batch")),
                 form == Form::recurrent ? 1 : chunk_size) {
    if (shown_.muon) update_.muon = newton_schulz_steps(sequence.option("newton_schulz"));
    if (shown_.weight_norm) update_.column_norm = lact_column_norm<Scalar>(sequence);
  }

  Carried<Scalar> initial() const override {
    const Matrix<Scalar> S = sequence_.at("initial_S").template all<Scalar>();
    const Matrix<Scalar> zero = Matrix<Scalar>::Zero(S.rows(), S.cols());
    return {S, sequence_.has("initial_M") ? sequence_.at("initial_M").template all<Scalar>() : zero, zero};
  }

  std::vector<std::pair<std::string, Matrix<double>>> states(const Carried<Scalar>& carried) const override {
    return {{"S", carried[weights].template cast<double>()},
            {"M", carried[direction].template cast<double>()}};
  }

  NamedStates states_after(Index tokens, const Carried<Scalar>& carried) const override {
    Carried<Scalar> updated = carried;
    lact_update(update_, carried[gradient], momentum(batches_.batch_of(tokens - 1)), updated[weights],
                updated[direction]);
    return states(updated);
  }

 protected:
  Matrix<Scalar> rows(const char* name, Index first, Index count) const {
    return sequence_.at(name).template rows<Scalar>(first, count);
  }

  Matrix<Scalar> queries(Index first, Index count) const {
    return rows("q", first, count) * static_cast<Scalar>(sequence_.parameter("scale"));
  }

  Scalar momentum(Index batch) const {
    return shown_.momentum ? sequence_.at("momentum").template rows<Scalar>(batch, 1)(0, 0) : Scalar(0);
  }

  void record_scale(Recorder& recorder) const {
    if (shown_.scaled) recorder("scale", sequence_.parameter("scale"));
  }

  Sequence sequence_;
  LactShown shown_;
  InnerBatches batches_;
  LactUpdate<Scalar> update_;
};

/// Recurrent and chunkwise: the pieces of a batch are gathered, the update is made, and with update_first the
/// pieces are read.
template <class Scalar>
class BatchWalk : public LactWalk<Scalar> {
 public:
  using LactWalk<Scalar>::LactWalk;

  Index block_count() const override {
    const Index batches = batches_.batch_count();
    return batches == 0 ? 0 : (batches - 1) * blocks_per_batch() + blocks_of(batches - 1);
  }

  Block block(Index index) const override {
    const auto [batch, phase, piece_index] = place(index);
    if (phase == updating) {
      return {phase, batches_.piece(batch, 0).first, batches_.batch_size(batch)};
    }
    const Piece piece = batches_.piece(batch, piece_index);
    return {phase, piece.first, piece.count};
  }

  Index block_of(Index token, Index phase) const override {
    const Index batch = batches_.batch_of(token);
    const Index pieces = batches_.pieces_of(batch);
    const Index start = batch * blocks_per_batch();
    if (phase == updating) return start + pieces;
    return start + batches_.piece_in_batch(token) + (phase == reading ? pieces + 1 : 0);
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token&) const override {
    const auto [batch, phase, piece_index] = place(index);
    if (phase == updating) {
      update(batch, carried, recorder);
      return Matrix<Scalar>(0, sequence_.dv);
    }
    const Piece piece = batches_.piece(batch, piece_index);
    return phase == gathering ? gather(piece, carried, recorder)
                              : read(piece, after("S"), carried[weights], recorder);
  }

 private:
  using LactWalk<Scalar>::sequence_;
  using LactWalk<Scalar>::shown_;
  using LactWalk<Scalar>::batches_;
  using LactWalk<Scalar>::update_;

  static constexpr Index gathering = 0;
  static constexpr Index updating = 1;
  static constexpr Index reading = 2;

  struct Place {
    Index batch;
    Index phase;
    Index piece;
  };

  Index blocks_with(Index pieces) const { return (shown_.update_first ? 2 : 1) * pieces + 1; }
  Index blocks_per_batch() const { return blocks_with(batches_.pieces_per_batch()); }
  Index blocks_of(Index batch) const { return blocks_with(batches_.pieces_of(batch)); }

  Place place(Index index) const {
    const Index batch = index / blocks_per_batch();
    const Index inside = index % blocks_per_batch();
    const Index pieces = batches_.pieces_of(batch);
    if (inside < pieces) return {batch, gathering, inside};
    if (inside == pieces) return {batch, updating, 0};
    return {batch, reading, inside - pieces - 1};
  }

  bool token() const { return shown_.form == Form::recurrent; }
  std::string before(const std::string& name) const { return name + (token() ? "_before" : "_in"); }
  std::string after(const std::string& name) const { return name + (token() ? "_after" : "_out"); }

  /// Rows of tokens as they are, or the one token's as a column.
  void record_rows(Recorder* recorder, const char* column, const char* name,
                   const Matrix<Scalar>& value) const {
    if (!recorder) return;
    if (token()) {
      (*recorder)(column, value.transpose());
    } else {
      (*recorder)(name, value);
    }
  }

  Matrix<Scalar> read(const Piece& piece, const std::string& name, const Matrix<Scalar>& S,
                      Recorder* recorder) const {
    const Matrix<Scalar> O = this->queries(piece.first, piece.count) * S;
    if (recorder) {
      this->record_scale(*recorder);
      (*recorder)(name, S);
    }
    record_rows(recorder, "q", "Q", this->rows("q", piece.first, piece.count));
    record_rows(recorder, "o", "O", O);
    return O;
  }

  Matrix<Scalar> gather(const Piece& piece, Carried<Scalar>& carried, Recorder* recorder) const {
    const Matrix<Scalar>& S = carried[weights];
    Matrix<Scalar>& G = carried[gradient];
    const Matrix<Scalar> K = this->rows("k", piece.first, piece.count);
    const Matrix<Scalar> V = this->rows("v", piece.first, piece.count);
    const Vector<Scalar> eta = this->rows("eta", piece.first, piece.count);

    Matrix<Scalar> O(0, sequence_.dv);
    if (!shown_.update_first) O = read(piece, "S_start", S, recorder);
    Matrix<Scalar> R = V;
    if (shown_.l2) {
      const Matrix<Scalar> old = K * S;
      R -= old;
      record_rows(recorder, "old", "OLD", old);
      record_rows(recorder, "r", "R", R);
    }
    Matrix<Scalar> added = Matrix<Scalar>::Zero(G.rows(), G.cols());
    lact_gather(K, R, eta, added);
    if (recorder) {
      (*recorder)("S_start", S);
      (*recorder)("eta", eta);
      (*recorder)("update", added);
      (*recorder)(before("G"), G);
    }
    record_rows(recorder, "k", "K", K);
    record_rows(recorder, "v", "V", V);
    G += added;
    if (recorder) (*recorder)(after("G"), G);
    return O;
  }

  void update(Index batch, Carried<Scalar>& carried, Recorder* recorder) const {
    if (recorder) {
      (*recorder)("G", carried[gradient]);
      (*recorder)("S_start", carried[weights]);
      (*recorder)(before("M"), carried[direction]);
      (*recorder)("momentum", static_cast<double>(this->momentum(batch)));
      (*recorder)("norm_eps", newton_schulz_eps);
      (*recorder)("column_eps", column_norm_eps);
      if (update_.column_norm) (*recorder)("column_norm", update_.column_norm->transpose());
      record_coefficients(*recorder);
    }
    lact_update(update_, carried[gradient], this->momentum(batch), carried[weights], carried[direction],
                recorder);
    carried[gradient].setZero();
    if (!recorder) return;
    (*recorder)(after("M"), carried[direction]);
    (*recorder)(after("S"), carried[weights]);
  }

  void record_coefficients(Recorder& recorder) const {
    if (!update_.muon) return;
    for (std::size_t i = 0; i < update_.muon->size(); ++i) {
      const std::string suffix = shown_.tuned ? fmt::format("_{}", i + 1) : "";
      recorder("a" + suffix, (*update_.muon)[i].a);
      recorder("b" + suffix, (*update_.muon)[i].b);
      recorder("c" + suffix, (*update_.muon)[i].c);
    }
  }
};

/// Parallel: everything in one block.
template <class Scalar>
class ScanWalk : public LactWalk<Scalar> {
 public:
  ScanWalk(const Sequence& sequence, Form form, Index chunk_size)
      : LactWalk<Scalar>(sequence, form, chunk_size) {
    const double bytes = 4.0 * static_cast<double>(batches_.batch_count()) *
                         static_cast<double>(sequence.dk * sequence.dv) * sizeof(Scalar);
    if (bytes > parallel_limit) {
      throw Unsupported(
          fmt::format("the parallel form keeps the weights of all {} batches, {:.1f} GB; the limit is {:.0f} "
                      "GB. The chunkwise form has no such limit",
                      batches_.batch_count(), bytes / 1e9, parallel_limit / 1e9));
    }
  }

  Index block_count() const override { return sequence_.tokens > 0 ? 1 : 0; }
  Block block(Index) const override { return {0, 0, sequence_.tokens}; }
  Index block_of(Index, Index) const override { return 0; }

  Matrix<Scalar> advance(Index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const Index T = sequence_.tokens;
    const Index N = batches_.batch_count();
    const Index dk = sequence_.dk;
    std::vector<Index> first;
    for (Index c = 0; c < N; ++c) first.push_back(c * static_cast<Index>(sequence_.parameter("batch")));
    Vector<Scalar> momenta(shown_.momentum ? N : 0);
    for (Index c = 0; c < momenta.size(); ++c) momenta(c) = this->momentum(c);

    const Matrix<Scalar> K = this->rows("k", 0, T);
    const Matrix<Scalar> V = this->rows("v", 0, T);
    const Vector<Scalar> eta = this->rows("eta", 0, T);
    const LactScan<Scalar> scan = lact_scan<Scalar>(K, V, eta, first, momenta, update_.muon, carried[weights],
                                                    carried[direction], stop);
    const Matrix<Scalar> Q = this->queries(0, T);
    Matrix<Scalar> O(T, sequence_.dv);
    for (Index c = 0; c < N; ++c) {
      const Index begin = first[static_cast<std::size_t>(c)];
      const Index count = batches_.batch_size(c);
      const Index read = shown_.update_first ? c + 1 : c;
      O.middleRows(begin, count) = Q.middleRows(begin, count) * scan.weights.middleRows(read * dk, dk);
    }
    if (recorder) record(*recorder, first, momenta, scan, carried, O);
    carried[weights] = scan.weights.bottomRows(dk);
    carried[direction] = scan.momenta.bottomRows(dk);
    if (recorder) (*recorder)("S_out", carried[weights]);
    if (recorder) (*recorder)("M_out", carried[direction]);
    return O;
  }

 private:
  using LactWalk<Scalar>::sequence_;
  using LactWalk<Scalar>::shown_;
  using LactWalk<Scalar>::batches_;
  using LactWalk<Scalar>::update_;

  void record(Recorder& recorder, const std::vector<Index>& first, const Vector<Scalar>& momenta,
              const LactScan<Scalar>& scan, const Carried<Scalar>& carried, const Matrix<Scalar>& O) const {
    this->record_scale(recorder);
    for (const auto& [array, name] : {std::pair("q", "Q"), {"k", "K"}, {"v", "V"}, {"eta", "eta"}}) {
      recorder(name, this->rows(array, 0, sequence_.tokens));
    }
    Matrix<double> starts(static_cast<Index>(first.size()), 1);
    for (std::size_t c = 0; c < first.size(); ++c)
      starts(static_cast<Index>(c), 0) = static_cast<double>(first[c]);
    recorder("first", starts);
    recorder("later", shown_.update_first ? 1.0 : 0.0);
    recorder("S_start", carried[weights]);
    recorder("M_start", carried[direction]);
    recorder("G_all", scan.gradients);
    if (shown_.momentum) {
      recorder("momentum", momenta);
      recorder("M_all", scan.momenta);
    }
    if (update_.muon) {
      Matrix<double> coefficients(5, 3);
      for (Index i = 0; i < 5; ++i) {
        const NewtonSchulzStep& step = (*update_.muon)[static_cast<std::size_t>(i)];
        coefficients.row(i) << step.a, step.b, step.c;
      }
      recorder("coefficients", coefficients);
      recorder("X_all", scan.steps);
    }
    recorder("S_all", scan.weights);
    recorder("O", O);
  }
};

struct LactDefinition {
  std::optional<std::string> missing(Form form, const Settings& settings) const {
    if (form != Form::parallel) return std::nullopt;
    const bool weight_norm = option_is(settings, "weight_norm", "true");
    const bool l2 = option_is(settings, "loss", "l2");
    if (weight_norm || (l2 && option_is(settings, "optimizer", "muon"))) {
      return "The update of a batch depends non-linearly on the weights that the previous one left; only the "
             "dot loss without weight norm is a scan over batches, and only SGD without weight norm a row "
             "program.";
    }
    return std::nullopt;
  }

  template <class Scalar>
  std::unique_ptr<const Walk<Scalar>> walk(const Sequence& sequence, Form form, Index chunk_size) const {
    if (form == Form::parallel) return std::make_unique<ScanWalk<Scalar>>(sequence, form, chunk_size);
    return std::make_unique<BatchWalk<Scalar>>(sequence, form, chunk_size);
  }

  std::vector<Phase> phases(const Sequence& sequence, Form form, Index chunk_size) const {
    return lact_phases(shown_of(sequence, form, chunk_size));
  }

  Symbols symbols(const Sequence& sequence, Form form, Index chunk_size) const {
    return lact_symbols(shown_of(sequence, form, chunk_size));
  }
};

}  // namespace

std::shared_ptr<const Rule> lact_rule() { return std::make_shared<WalkRule<LactDefinition>>(); }

}  // namespace palimpsest
