#include "core/rules/lact_rule.h"

#include <fmt/format.h>

#include "core/base/parallel_for.h"
#include "core/costs/costs.h"
#include "core/engines/engines.h"
#include "core/engines/lact.h"
#include "core/rules/inner_problem.h"
#include "core/rules/walk_rule.h"
#include "core/steps/lact_steps.h"

namespace palimpsest {

namespace {

bool option_is(const Settings& settings, const char* name, const char* value) {
  return settings.options.find(name)->second == value;
}

LactShown shown_of(const Sequence& sequence, Form form, Index chunk_size) {
  const Settings& settings = sequence.settings;
  return {.form = form,
          .muon = option_is(settings, "optimizer", "muon"),
          .tuned = option_is(settings, "newton_schulz", "tuned"),
          .l2 = option_is(settings, "loss", "l2"),
          .update_first = option_is(settings, "order", "update_first"),
          .weight_norm = option_is(settings, "weight_norm", "true"),
          .momentum = sequence.has("momentum"),
          .tall = sequence.dk > sequence.dv,
          .scaled = sequence.parameter("scale") != 1,
          .divided = chunk_size < std::min(inner_batch(sequence.settings), sequence.tokens)};
}

/// What carried matrices are called. The gradient is 0 at the start of a batch.
enum Carry { weights, direction, gradient };

/// What all forms take from a sequence.
template <class Scalar>
class LactWalk : public Walk<Scalar> {
 public:
  LactWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : Walk<Scalar>(sequence, form, chunk_size, engines, inner_batch(sequence.settings)),
        shown_(shown_of(sequence, form, chunk_size)) {
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
    engines_.lact_update(update_, carried[gradient], momentum(this->pieces_.batch_of(tokens - 1)),
                         updated[weights], updated[direction], nullptr);
    return states(updated);
  }

  std::optional<Work> cost(Index chunk_size) const override {
    return lact_cost(sequence_, this->form_, chunk_size);
  }

  std::optional<std::vector<Walked<Scalar>>> walk_together(
      std::span<const std::unique_ptr<const Walk<Scalar>>> heads, Index /*chunk_size*/,
      const std::stop_token& stop) const override {
    const LactHeads<Scalar>* const engine = engines_.lact_heads();
    if (!engine) return std::nullopt;
    const auto rows =
        made_in_parallel(heads.size(), stop, [&](std::size_t h) { return all_rows(heads[h]->sequence()); });
    std::vector<Matrix<Scalar>> S;
    std::vector<Matrix<Scalar>> M;
    for (const auto& head : heads) {
      const Carried<Scalar> carried = head->initial();
      S.push_back(carried[weights]);
      M.push_back(carried[direction]);
    }
    const LactWay way = {.scan = form_ == Form::parallel,
                         .batch = inner_batch(sequence_.settings),
                         .update_first = shown_.update_first,
                         .squared_loss = shown_.l2,
                         .muon = update_.muon};
    std::vector<Matrix<Scalar>> o = engine->run(way, rows, S, M, stop);
    std::vector<Walked<Scalar>> walked;
    for (std::size_t head = 0; head < heads.size(); ++head)
      walked.push_back({std::move(o[head]), {std::move(S[head]), std::move(M[head])}});
    return walked;
  }

 protected:
  Scalar momentum(Index batch) const {
    return shown_.momentum ? sequence_.at("momentum").template rows<Scalar>(batch, 1)(0, 0) : Scalar(0);
  }

  /// A whole sequence.
  LactHead<Scalar> all_rows(const Sequence& sequence) const {
    const Rows<Scalar> given{sequence, 0, sequence.tokens};
    LactHead<Scalar> head = {.Q = given.scaled_q(), .K = given("k"), .V = given("v"), .eta = given("eta")};
    if (shown_.momentum) head.momentum = sequence.at("momentum").template all<Scalar>();
    if (shown_.weight_norm) head.column_norm = lact_column_norm<Scalar>(sequence);
    return head;
  }

  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;
  using Walk<Scalar>::engines_;

  LactShown shown_;
  LactUpdate<Scalar> update_;
};

/// Recurrent and chunkwise: the pieces of a batch are gathered, the update is made, and with update_first the
/// pieces are read.
template <class Scalar>
class BatchWalk : public LactWalk<Scalar> {
 public:
  using LactWalk<Scalar>::LactWalk;

  Index block_count() const override {
    const Index batches = pieces_.batch_count();
    return batches == 0 ? 0 : (batches - 1) * blocks_per_batch() + blocks_of(batches - 1);
  }

  Block block(Index index) const override {
    const auto [batch, phase, piece_index] = place(index);
    if (phase == updating) {
      return {phase, pieces_.piece(batch, 0).first, pieces_.batch_size(batch)};
    }
    const Piece piece = pieces_.piece(batch, piece_index);
    return {.phase = phase,
            .first_token = piece.first,
            .count = piece.count,
            .starts_anew = phase == gathering && piece.offset == 0};
  }

  Index block_of(Index token, Index phase) const override {
    const Index batch = pieces_.batch_of(token);
    const Index pieces = pieces_.pieces_of(batch);
    const Index start = batch * blocks_per_batch();
    if (phase == updating) return start + pieces;
    return start + pieces_.piece_in_batch(token) + (phase == reading ? pieces + 1 : 0);
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token&) const override {
    const auto [batch, phase, piece_index] = place(index);
    if (phase == updating) {
      update(batch, carried, recorder);
      return Matrix<Scalar>(0, sequence_.dv);
    }
    const Block block = this->block(index);
    return phase == gathering ? gather(block, carried, recorder)
                              : read(block, after("S"), carried[weights], recorder);
  }

  /// The rows of a piece, its gradient, and what one update makes on the way.
  BlockNeed need(bool recorded) const override {
    const auto K = static_cast<double>(sequence_.dk);
    const auto V = static_cast<double>(sequence_.dv);
    const auto n = static_cast<double>(pieces_.largest_piece());
    const double update = (recorded ? 32 : 8) * K * V;
    return {this->number_size(recorded) * (n * (2 * K + 5 * V) + update), "its rows and weights"};
  }

 private:
  using LactWalk<Scalar>::sequence_;
  using LactWalk<Scalar>::form_;
  using LactWalk<Scalar>::pieces_;
  using LactWalk<Scalar>::shown_;
  using LactWalk<Scalar>::update_;
  using LactWalk<Scalar>::engines_;

  static constexpr Index gathering = 0;
  static constexpr Index updating = 1;
  static constexpr Index reading = 2;

  struct Place {
    Index batch;
    Index phase;
    Index piece;
  };

  Index blocks_with(Index pieces) const { return (shown_.update_first ? 2 : 1) * pieces + 1; }
  Index blocks_per_batch() const { return blocks_with(pieces_.pieces_per_batch()); }
  Index blocks_of(Index batch) const { return blocks_with(pieces_.pieces_of(batch)); }

  Place place(Index index) const {
    const Index batch = index / blocks_per_batch();
    const Index inside = index % blocks_per_batch();
    const Index pieces = pieces_.pieces_of(batch);
    if (inside < pieces) return {batch, gathering, inside};
    if (inside == pieces) return {batch, updating, 0};
    return {batch, reading, inside - pieces - 1};
  }

  bool token() const { return form_ == Form::recurrent; }
  std::string before(const std::string& name) const { return name + (token() ? "_before" : "_in"); }
  std::string after(const std::string& name) const { return name + (token() ? "_after" : "_out"); }

  Matrix<Scalar> read(const Block& block, const std::string& name, const Matrix<Scalar>& S,
                      Recorder* recorder) const {
    if (recorder) {
      this->record_scale(*recorder);
      this->record_input("q", block, *recorder);
      (*recorder)(name, S);
    }
    return engines_.read(this->rows(block).scaled_q(), S);
  }

  Matrix<Scalar> gather(const Block& block, Carried<Scalar>& carried, Recorder* recorder) const {
    const Matrix<Scalar>& S = carried[weights];
    Matrix<Scalar>& G = carried[gradient];
    const Rows<Scalar> rows = this->rows(block);
    const Matrix<Scalar> K = rows("k");
    const Vector<Scalar> eta = rows("eta");

    Matrix<Scalar> O(0, sequence_.dv);
    if (!shown_.update_first) O = read(block, "S_start", S, recorder);
    Matrix<Scalar> R = rows("v");
    if (shown_.l2) {
      const Matrix<Scalar> old = engines_.read(K, S);
      R -= old;
      if (recorder) recorder->rows("r", token(), R);
      if (recorder) (*recorder)(token() ? "old" : "OLD", token() ? Matrix<Scalar>(old.transpose()) : old);
    }
    Matrix<Scalar> added = Matrix<Scalar>::Zero(G.rows(), G.cols());
    engines_.lact_gather(K, R, eta, added);
    if (recorder) {
      this->record_input("k", block, *recorder);
      this->record_input("v", block, *recorder);
      (*recorder)("S_start", S);
      (*recorder)("eta", eta);
      (*recorder)("update", added);
      (*recorder)(before("G"), G);
    }
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
    engines_.lact_update(update_, carried[gradient], this->momentum(batch), carried[weights],
                         carried[direction], recorder);
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
  ScanWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : LactWalk<Scalar>(sequence, form, chunk_size, engines),
        batches_(sequence.tokens, inner_batch(sequence.settings), inner_batch(sequence.settings)) {}

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const Index T = sequence_.tokens;
    const Index N = batches_.batch_count();
    const Index dk = sequence_.dk;
    std::vector<Index> first;
    for (Index c = 0; c < N; ++c) first.push_back(batches_.piece(c).first);
    Vector<Scalar> momenta(shown_.momentum ? N : 0);
    for (Index c = 0; c < momenta.size(); ++c) momenta(c) = this->momentum(c);

    const Rows<Scalar> rows = this->rows(this->block(index));
    const Matrix<Scalar> K = rows("k");
    const Matrix<Scalar> V = rows("v");
    const Vector<Scalar> eta = rows("eta");
    const LactScan<Scalar> scan = engines_.lact_scan(K, V, eta, first, momenta, update_.muon,
                                                     carried[weights], carried[direction], stop);
    const Matrix<Scalar> Q = rows.scaled_q();
    Matrix<Scalar> O(T, sequence_.dv);
    for (Index c = 0; c < N; ++c) {
      const Index begin = first[static_cast<std::size_t>(c)];
      const Index count = batches_.batch_size(c);
      const Index read = shown_.update_first ? c + 1 : c;
      O.middleRows(begin, count) =
          engines_.read(Q.middleRows(begin, count), scan.weights.middleRows(read * dk, dk));
    }
    if (recorder) record(*recorder, this->block(index), first, momenta, scan, carried);
    carried[weights] = scan.weights.bottomRows(dk);
    carried[direction] = scan.momenta.bottomRows(dk);
    if (recorder) (*recorder)("S_out", carried[weights]);
    if (recorder) (*recorder)("M_out", carried[direction]);
    return O;
  }

  /// Four tables of the weights of all batches.
  BlockNeed need(bool recorded) const override {
    const auto K = static_cast<double>(sequence_.dk);
    const auto V = static_cast<double>(sequence_.dv);
    const auto T = static_cast<double>(sequence_.tokens);
    const double weights = 4 * static_cast<double>(batches_.batch_count() + 1) * K * V;
    return {this->number_size(recorded) * (weights + T * (3 * K + 2 * V)), "the weights of all its batches"};
  }

 private:
  using LactWalk<Scalar>::sequence_;
  using LactWalk<Scalar>::shown_;
  using LactWalk<Scalar>::update_;
  using LactWalk<Scalar>::engines_;

  void record(Recorder& recorder, const Block& block, const std::vector<Index>& first,
              const Vector<Scalar>& momenta, const LactScan<Scalar>& scan,
              const Carried<Scalar>& carried) const {
    this->record_inputs(block, recorder);
    recorder("eta", this->rows(block)("eta"));
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
  }

  InnerBatches batches_;
};

std::optional<std::string> missing(Form form, const Settings& settings) {
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

std::string nonlinear(const Settings& settings) {
  const char* what = option_is(settings, "optimizer", "muon")
                         ? "Muon brings the singular values of a step near 1"
                         : "the columns of the weights are scaled back to their norms";
  return fmt::format(
      "The weights are no linear function of the values, because {}: no weights on values make an output, "
      "and no shares of tokens make an entry of the memory.",
      what);
}

}  // namespace

std::shared_ptr<const Rule> lact_rule() {
  return walk_rule(
      []<class Scalar>(const Sequence& sequence, Form form, Index chunk_size,
                       const Engines<Scalar>& engines) -> std::unique_ptr<const Walk<Scalar>> {
        if (form == Form::parallel)
          return std::make_unique<ScanWalk<Scalar>>(sequence, form, chunk_size, engines);
        return std::make_unique<BatchWalk<Scalar>>(sequence, form, chunk_size, engines);
      },
      [](const Sequence& sequence, Form form, Index chunk_size) {
        return lact_steps(shown_of(sequence, form, chunk_size));
      },
      missing, nonlinear);
}

}  // namespace palimpsest
