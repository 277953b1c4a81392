#include "core/rules/lact_rule.h"

#include <fmt/format.h>

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

/// What carried matrices are called.
enum Carry { weights, direction, gradient };

/// What all forms take from a sequence.
template <class Scalar>
class LactWalk : public OperatorWalk<LactTokens, Scalar> {
 public:
  LactWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : OperatorWalk<LactTokens, Scalar>(sequence, form, chunk_size, engines.lact,
                                         inner_batch(sequence.settings)),
        batches_(sequence.tokens, inner_batch(sequence.settings), inner_batch(sequence.settings)),
        shown_(shown_of(sequence, form, chunk_size)),
        way_{.batch = inner_batch(sequence.settings),
             .update_first = shown_.update_first,
             .squared_loss = shown_.l2} {
    if (shown_.muon) way_.muon = newton_schulz_steps(sequence.option("newton_schulz"));
    if (shown_.weight_norm) column_norm_ = lact_column_norm<Scalar>(sequence);
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

  std::optional<Work> cost(Index chunk_size) const override {
    return lact_cost(sequence_, this->form_, chunk_size);
  }

 protected:
  /// An update needs no rows, only its batch's momentum.
  LactTokens<Scalar> tokens(const Block& block) const override {
    const bool updates = form_ != Form::parallel && block.phase == updating;
    const Rows<Scalar> given{sequence_, block.first_token, updates ? 0 : block.count};
    const Index batches = block.count == sequence_.tokens ? batches_.batch_count() : 1;
    return {.way = way_,
            .Q = given.scaled_q(),
            .K = given("k"),
            .V = given("v"),
            .eta = given("eta"),
            .momentum = momenta(batches_.batch_of(block.first_token), block.count > 0 ? batches : 0),
            .column_norm = column_norm_};
  }

  /// [count], or empty where there is none.
  Vector<Scalar> momenta(Index first, Index count) const {
    if (!shown_.momentum) return {};
    return sequence_.at("momentum").template rows<Scalar>(first, count);
  }

  static constexpr auto gathering = static_cast<Index>(LactPhase::gathering);
  static constexpr auto updating = static_cast<Index>(LactPhase::updating);
  static constexpr auto reading = static_cast<Index>(LactPhase::reading);

  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  InnerBatches batches_;
  LactShown shown_;
  LactWay way_;
  std::optional<RowVector<Scalar>> column_norm_;
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
    const Index batch = index / blocks_per_batch();
    const Index inside = index % blocks_per_batch();
    const Index pieces = pieces_.pieces_of(batch);
    if (inside == pieces) return {updating, pieces_.piece(batch, 0).first, pieces_.batch_size(batch)};
    const bool gathers = inside < pieces;
    const Piece piece = pieces_.piece(batch, gathers ? inside : inside - pieces - 1);
    return {.phase = gathers ? gathering : reading,
            .first_token = piece.first,
            .count = piece.count,
            .starts_anew = gathers && piece.offset == 0};
  }

  Index block_of(Index token, Index phase) const override {
    const Index batch = pieces_.batch_of(token);
    const Index pieces = pieces_.pieces_of(batch);
    const Index start = batch * blocks_per_batch();
    if (phase == updating) return start + pieces;
    return start + pieces_.piece_in_batch(token) + (phase == reading ? pieces + 1 : 0);
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    Matrix<Scalar> O = LactWalk<Scalar>::advance(index, carried, recorder, stop);
    if (!recorder) return O;
    const Index phase = this->block(index).phase;
    if (phase == gathering) (*recorder)(after("G"), carried[gradient]);
    if (phase != updating) return O;
    (*recorder)(after("M"), carried[direction]);
    (*recorder)(after("S"), carried[weights]);
    return O;
  }

  NamedStates states_after(Index tokens, const Carried<Scalar>& carried) const override {
    Carried<Scalar> updated = carried;
    const Block update = {updating, pieces_.piece(pieces_.batch_of(tokens - 1), 0).first};
    this->engine_.block({.form = form_, .phase = updating}, this->tokens(update), updated);
    return this->states(updated);
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
  using LactWalk<Scalar>::after;
  using LactWalk<Scalar>::gathering;
  using LactWalk<Scalar>::updating;
  using LactWalk<Scalar>::reading;

  Index blocks_with(Index pieces) const { return (shown_.update_first ? 2 : 1) * pieces + 1; }
  Index blocks_per_batch() const { return blocks_with(pieces_.pieces_per_batch()); }
  Index blocks_of(Index batch) const { return blocks_with(pieces_.pieces_of(batch)); }

  std::string before(const std::string& name) const {
    return name + (form_ == Form::recurrent ? "_before" : "_in");
  }

  void record_given(const Block& block, const Carried<Scalar>& carried, Recorder& recorder) const override {
    const bool reads = block.phase == reading;
    if (reads || (block.phase == gathering && !shown_.update_first)) {
      this->record_scale(recorder);
      this->record_input("q", block, recorder);
    }
    recorder(reads ? after("S") : "S_start", carried[weights]);
    if (block.phase == gathering) {
      this->record_input("k", block, recorder);
      this->record_input("v", block, recorder);
      recorder("eta", this->rows(block)("eta"));
      recorder(before("G"), carried[gradient]);
    }
    if (block.phase == updating) record_update(block, carried, recorder);
  }

  void record_update(const Block& block, const Carried<Scalar>& carried, Recorder& recorder) const {
    recorder("G", carried[gradient]);
    recorder(before("M"), carried[direction]);
    recorder("momentum", static_cast<double>(this->tokens(block).momentum_of(0)));
    recorder("norm_eps", newton_schulz_eps);
    recorder("column_eps", column_norm_eps);
    if (this->column_norm_) recorder("column_norm", this->column_norm_->transpose());
    if (!this->way_.muon) return;
    for (std::size_t i = 0; i < this->way_.muon->size(); ++i) {
      const std::string suffix = shown_.tuned ? fmt::format("_{}", i + 1) : "";
      const NewtonSchulzStep& step = (*this->way_.muon)[i];
      recorder("a" + suffix, step.a);
      recorder("b" + suffix, step.b);
      recorder("c" + suffix, step.c);
    }
  }
};

/// Parallel: everything in one block.
template <class Scalar>
class ScanWalk : public LactWalk<Scalar> {
 public:
  using LactWalk<Scalar>::LactWalk;

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    Matrix<Scalar> O = LactWalk<Scalar>::advance(index, carried, recorder, stop);
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
  using LactWalk<Scalar>::batches_;

  void record_given(const Block& block, const Carried<Scalar>& carried, Recorder& recorder) const override {
    this->record_inputs(block, recorder);
    recorder("eta", this->rows(block)("eta"));
    Matrix<double> starts(batches_.batch_count(), 1);
    for (Index c = 0; c < starts.rows(); ++c) starts(c, 0) = static_cast<double>(batches_.piece(c).first);
    recorder("first", starts);
    recorder("later", shown_.update_first ? 1.0 : 0.0);
    recorder("S_start", carried[weights]);
    recorder("M_start", carried[direction]);
    if (shown_.momentum) recorder("momentum", this->momenta(0, batches_.batch_count()));
    if (!this->way_.muon) return;
    Matrix<double> coefficients(5, 3);
    for (Index i = 0; i < 5; ++i) {
      const NewtonSchulzStep& step = (*this->way_.muon)[static_cast<std::size_t>(i)];
      coefficients.row(i) << step.a, step.b, step.c;
    }
    recorder("coefficients", coefficients);
  }
};

std::optional<std::string> lact_missing(Form form, const Settings& settings) {
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

std::string lact_nonlinear(const Settings& settings) {
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
      lact_missing, lact_nonlinear);
}

}  // namespace palimpsest
