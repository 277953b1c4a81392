#include "core/costs/costs.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/rules/walk_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// The norms that weight_norm restores: those given, or those of the columns of initial_S. [V].
template <class Scalar>
RowVector<Scalar> lact_column_norm(const Sequence& sequence) {
  if (sequence.has("column_norm")) return sequence.at("column_norm").all<Scalar>().transpose();
  return sequence.at("initial_S").all<Scalar>().colwise().stableNorm();
}

LactShown shown_of(const Sequence& sequence, Form form, Index chunk_size) {
  const Settings& settings = sequence.settings;
  return {.form = form,
          .muon = settings.option("optimizer") == "muon",
          .tuned = settings.option("newton_schulz") == "tuned",
          .l2 = settings.option("loss") == "l2",
          .update_first = settings.option("order") == "update_first",
          .weight_norm = settings.option("weight_norm") == "true",
          .momentum = sequence.has("momentum"),
          .tall = sequence.dk > sequence.dv,
          .scaled = is_scaled(sequence.settings),
          .divided = chunk_size < std::min(inner_batch(sequence.settings), sequence.tokens)};
}

enum LactCarried { weights, direction, gradient };

/// Recurrent: the gradient is gathered token by token, the weights change at batch ends. Chunkwise: gathered
/// in pieces of at most one chunk that never cross the end of an inner batch, so that the chunk changes no
/// result; then the update is made, and with update_first the pieces are read. Parallel: the scan over all
/// batches in one block, where no gradient needs the weights.
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

  Index block_count() const override {
    if (scans()) return Walk<Scalar>::block_count();
    const Index batches = pieces_.batch_count();
    return batches == 0 ? 0
                        : (batches - 1) * blocks_per_batch() + blocks_with(pieces_.pieces_of(batches - 1));
  }

  Block block(Index index) const override {
    if (scans()) return Walk<Scalar>::block(index);
    const Index batch = index / blocks_per_batch();
    const Index inside = index % blocks_per_batch();
    const Index pieces = pieces_.pieces_of(batch);
    if (inside == pieces)
      return {LactPhase::updating, pieces_.piece(batch, 0).first, pieces_.batch_size(batch)};
    const bool gathers = inside < pieces;
    const Piece piece = pieces_.piece(batch, gathers ? inside : inside - pieces - 1);
    return {.phase = gathers ? LactPhase::gathering : LactPhase::reading,
            .first_token = piece.first,
            .count = piece.count,
            .starts_anew = gathers && piece.offset == 0};
  }

  Index block_of(Index token, Index phase) const override {
    if (scans()) return Walk<Scalar>::block_of(token, phase);
    const Index batch = pieces_.batch_of(token);
    const Index pieces = pieces_.pieces_of(batch);
    const Index start = batch * blocks_per_batch();
    if (phase == LactPhase::updating) return start + pieces;
    return start + pieces_.piece_in_batch(token) + (phase == LactPhase::reading ? pieces + 1 : 0);
  }

  Carried<Scalar> initial() const override {
    const Matrix<Scalar> S = sequence_.at("initial_S").template all<Scalar>();
    const Matrix<Scalar> zero = Matrix<Scalar>::Zero(S.rows(), S.cols());
    return {S, given_or_zero(sequence_, "initial_M", S.rows(), S.cols()).template cast<Scalar>(), zero};
  }

  NamedStates states(const Carried<Scalar>& carried) const override {
    return {{"S", carried[weights].template cast<double>()},
            {"M", carried[direction].template cast<double>()}};
  }

  NamedStates states_after(Index tokens, const Carried<Scalar>& carried) const override {
    Carried<Scalar> updated = carried;
    const Block update = {LactPhase::updating, pieces_.piece(pieces_.batch_of(tokens - 1), 0).first};
    this->engine_.block({.form = form_, .phase = LactPhase::updating}, this->tokens(update), updated);
    return states(updated);
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    Matrix<Scalar> O = OperatorWalk<LactTokens, Scalar>::advance(index, carried, recorder, stop);
    const Index phase = block(index).phase;
    if (!scans() && phase == LactPhase::gathering) note(recorder, this->after("G"), carried[gradient]);
    if (!scans() && phase != LactPhase::updating) return O;
    note(recorder, this->after("M"), carried[direction]);
    note(recorder, this->after("S"), carried[weights]);
    return O;
  }

  /// The rows of a piece, its gradient, and what one update makes on the way; or (parallel) four tables of
  /// the weights of all batches.
  Footprint need(bool recorded) const override {
    const auto K = static_cast<double>(sequence_.dk);
    const auto V = static_cast<double>(sequence_.dv);
    const auto n = static_cast<double>(pieces_.largest_piece());
    const double tables = 4 * static_cast<double>(batches_.batch_count() + 1) * K * V;
    const double update = (recorded ? 32 : 8) * K * V;
    const double numbers = scans() ? tables + n * (3 * K + 2 * V) : n * (2 * K + 5 * V) + update;
    return {.work = this->number_size(recorded) * numbers,
            .what = scans() ? "the weights of all its batches" : "its rows and weights"};
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;
  using Walk<Scalar>::pieces_;

  bool scans() const { return form_ == Form::parallel; }
  Index blocks_with(Index pieces) const { return (shown_.update_first ? 2 : 1) * pieces + 1; }
  Index blocks_per_batch() const { return blocks_with(pieces_.pieces_per_batch()); }

  std::string before(const std::string& name) const {
    return name + (form_ == Form::recurrent ? "_before" : "_in");
  }

  /// An update needs no rows, only its batch's momentum.
  LactTokens<Scalar> tokens(const Block& block) const override {
    const bool updates = !scans() && block.phase == LactPhase::updating;
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

  void record_given(const Block& block, const Carried<Scalar>& carried, Recorder& recorder) const override {
    if (scans()) return record_scan(block, carried, recorder);
    const bool reads = block.phase == LactPhase::reading;
    if (reads || (block.phase == LactPhase::gathering && !shown_.update_first)) {
      this->record_scale(recorder);
      this->record_input("q", block, recorder);
    }
    recorder(reads ? this->after("S") : "S_start", carried[weights]);
    if (block.phase == LactPhase::gathering) {
      this->record_input("k", block, recorder);
      this->record_input("v", block, recorder);
      recorder("eta", this->rows(block)("eta"));
      recorder(before("G"), carried[gradient]);
    }
    if (block.phase == LactPhase::updating) record_update(block, carried, recorder);
  }

  void record_update(const Block& block, const Carried<Scalar>& carried, Recorder& recorder) const {
    recorder("G", carried[gradient]);
    recorder(before("M"), carried[direction]);
    recorder("momentum", static_cast<double>(this->tokens(block).momentum_of(0)));
    recorder("norm_eps", newton_schulz_eps);
    recorder("column_eps", column_norm_eps);
    if (column_norm_) recorder("column_norm", column_norm_->transpose());
    if (!way_.muon) return;
    for (std::size_t i = 0; i < way_.muon->size(); ++i) {
      const std::string suffix = shown_.tuned ? fmt::format("_{}", i + 1) : "";
      const NewtonSchulzStep& step = (*way_.muon)[i];
      recorder("a" + suffix, step.a);
      recorder("b" + suffix, step.b);
      recorder("c" + suffix, step.c);
    }
  }

  void record_scan(const Block& block, const Carried<Scalar>& carried, Recorder& recorder) const {
    this->record_inputs(block, recorder);
    recorder("eta", this->rows(block)("eta"));
    Matrix<double> starts(batches_.batch_count(), 1);
    for (Index c = 0; c < starts.rows(); ++c) starts(c, 0) = static_cast<double>(batches_.piece(c).first);
    recorder("first", starts);
    recorder("later", shown_.update_first ? 1.0 : 0.0);
    recorder("S_start", carried[weights]);
    recorder("M_start", carried[direction]);
    if (shown_.momentum) recorder("momentum", momenta(0, batches_.batch_count()));
    if (!way_.muon) return;
    Matrix<double> coefficients(5, 3);
    for (Index i = 0; i < 5; ++i) {
      const NewtonSchulzStep& step = entry(*way_.muon, i);
      coefficients.row(i) << step.a, step.b, step.c;
    }
    recorder("coefficients", coefficients);
  }

  InnerBatches batches_;
  LactShown shown_;
  LactWay way_;
  std::optional<RowVector<Scalar>> column_norm_;
};

std::optional<std::string> lact_missing(Form form, const Settings& settings) {
  if (form != Form::parallel) return std::nullopt;
  const bool weight_norm = settings.option("weight_norm") == "true";
  const bool l2 = settings.option("loss") == "l2";
  if (weight_norm || (l2 && settings.option("optimizer") == "muon")) {
    return "The update of a batch is non-linear in the weights after the previous batch. The dot loss "
           "without weight norm is a scan over batches. SGD without weight norm is a row program.";
  }
  return std::nullopt;
}

std::string lact_nonlinear(const Settings& settings) {
  const char* what = settings.option("optimizer") == "muon"
                         ? "Muon brings the singular values of a step near 1"
                         : "the columns of the weights are scaled back to their norms";
  return fmt::format(
      "The weights are not linear in the values, because {}. So no output is a weighted sum of values, and "
      "no entry of the memory is a sum over tokens.",
      what);
}

/// SGD without weight norm is a row program in two parts: the weights S that the batch began with, and the
/// momentum M that its tokens add to. At the next batch M is added to S and M decays.
bool is_row_program(const Settings& settings) {
  return settings.option("optimizer") == "sgd" && settings.option("weight_norm") == "false";
}

/// With the dot loss no gradient needs the weights, and the scan over all batches is quicker.
bool runs_as_row_program(const Settings& settings) {
  return is_row_program(settings) && settings.option("loss") == "l2";
}

constexpr auto lact_rows = []<class Scalar>(const Rows<Scalar>& rows) -> Program<Scalar> {
  const Sequence& sequence = rows.sequence;
  const auto batch = inner_batch(sequence.settings);
  const bool updates_first = sequence.option("order") == "update_first";
  Matrix<Scalar> transition = Matrix<Scalar>::Zero(rows.count, 4);
  std::vector<Index> read_after;
  for (Index t = 0; t < rows.count; ++t) {
    const Index token = rows.first + t;
    Eigen::Map<Matrix<Scalar>> T(transition.row(t).data(), 2, 2);
    T(0, 0) = 1;
    T(0, 1) = token % batch == 0 && token > 0 ? 1 : 0;
    T(1, 1) = 1;
    if (token % batch == 0)
      T(1, 1) = sequence.has("momentum") ? static_cast<Scalar>(sequence.at("momentum")(token / batch, 0))
                                         : Scalar(0);
    const Index batch_end = std::min((token / batch + 1) * batch - rows.first, rows.count);
    read_after.push_back(updates_first ? batch_end : t + 1);
  }
  return {.q = rows.scaled_q(),
          .k = rows("k"),
          .v = rows("v"),
          .beta = rows("eta"),
          .transition = transition,
          .inject = rows.every_row({0, 1}),
          .erase_sight = rows.every_row({1, 0}),
          .read_sight = rows.every_row({1, updates_first ? Scalar(1) : Scalar(0)}),
          .read_after = read_after};
};

std::shared_ptr<const Rule> lact_row_program() {
  const auto structure = [](const Settings& settings) {
    const Erase erase = settings.option("loss") == "l2" ? Erase::decayed : Erase::none;
    return Structure{.erase = erase, .beta = true, .parts = "SM"};
  };
  const auto initial = [](const Sequence& sequence) {
    const Index K = sequence.dk;
    Matrix<double> state(2 * K, sequence.dv);
    state.topRows(K) = sequence.at("initial_S").all<double>();
    state.bottomRows(K) = given_or_zero(sequence, "initial_M", K, sequence.dv);
    return state;
  };
  const auto named = [](const Matrix<double>& state, const Sequence& sequence) {
    const Index K = sequence.dk;
    Matrix<double> S = state.topRows(K);
    if (sequence.tokens > 0) S += state.bottomRows(K);
    return NamedStates{{"S", S}, {"M", state.bottomRows(K)}};
  };
  return std::make_shared<RowRule>(RowDeclaration{.structure = structure,
                                                  .encoder = lact_rows,
                                                  .notation = learning_notation,
                                                  .states = {initial, named}});
}

constexpr const char* batch_words =
    "Return v for k, for a whole batch at once, with all gradients at the weights before it.";
constexpr const char* muon_words = " Muon gives all singular directions nearly the same step.";

void write_loss(const Settings& settings, InnerLoss& loss) {
  const bool has_muon = settings.option("optimizer") == "muon";
  const bool keeps_norms = settings.option("weight_norm") == "true";
  loss.words = fmt::format("{}{}", batch_words, has_muon ? muon_words : "");
  if (settings.option("loss") == "l2") loss.latex = "\\tfrac12\\sum_j \\eta_j\\|S^{\\top}k_j - v_j\\|^2";
  const char* const change = "\\mu M - \\nabla\\mathcal L(S)";
  const std::string made = has_muon ? fmt::format("\\mathrm{{NS}}_5\\left({}\\right)", change) : change;
  loss.step =
      keeps_norms ? fmt::format("S' = \\mathrm{{normalise}}\\left(S + {}\\right)", made) : "S' = S + " + made;
}

/// One step for all tokens of the batch; eta weighs them in the loss.
std::vector<InnerProblem> lact_problems(const InnerContext& context) {
  const Sequence& sequence = context.sequence;
  const Index size = inner_batch(sequence.settings);
  const Index batch = context.token / size;
  const Index first = batch * size;
  const Index count = std::min(size, sequence.tokens - first);
  const WeighedPairs pairs = {sequence.at("k").rows<double>(first, count),
                              sequence.at("v").rows<double>(first, count),
                              sequence.at("eta").rows<double>(first, count)};
  const Matrix<double>& S = state_of(context.batch_start, "S");
  InnerProblem problem{.first_token = first,
                       .token_count = count,
                       .terms = {{sequence.option("loss") == "l2" ? squared_loss(pairs) : dot_loss(pairs)}},
                       .at = {S},
                       .from = {S},
                       .momentum = sequence.has("momentum") ? sequence.at("momentum")(batch, 0) : 0,
                       .moving = {state_of(context.batch_start, "M")}};
  if (sequence.option("optimizer") == "muon")
    problem.muon = newton_schulz_steps(sequence.option("newton_schulz"));
  if (sequence.option("weight_norm") == "true") problem.column_norm = lact_column_norm<double>(sequence);
  return {problem};
}

/// The columns of all weights keep the norms of the first ones.
void hand_over_column_norm(const Sequence& finished, Arrays& more) {
  if (finished.has("column_norm") || finished.option("weight_norm") != "true") return;
  const RowVector<double> norms = finished.at("initial_S").all<double>().colwise().stableNorm();
  more["column_norm"] = array_of(norms, {norms.size()});
}

}  // namespace

/// Spec 3.11: per inner batch G = K^T Diag(eta) R, M = m M + G, S = normalise(S + NS5(M)).
Variant lact() {
  return {
      .id = "lact",
      .label = "LaCT",
      .words = "One update per large batch of tokens; Muon gives all singular directions similar steps.",
      .paper = "Zhang et al., Test-Time Training Done Right, 2025; Jordan et al., Muon, 2024",
      .options =
          {{"optimizer",
            {"muon", "sgd"},
            "muon: the step is the gradient with its singular values brought near 1; sgd: the gradient"},
           {"loss",
            {"dot", "l2"},
            "dot: minus the inner product of prediction and target; l2: half the squared error"},
           {"order", {"apply_first", "update_first"}, "read before or after the batch's own update"},
           {"weight_norm", {"true", "false"}, "columns keep their norm"},
           {"newton_schulz", {"muon", "tuned"}, "coefficients; tuned: LaCT's language-model code"}},
      .inputs = {demonstrated({"eta", {"n"}, Range::non_negative, "learning rate"},
                              {.value = 0.5, .learning_rate = true}),
                 {"momentum", {"n_batches"}, Range::unit, "momentum factor of each batch", "0"},
                 demonstrated({"initial_S", {"dk", "dv"}, Range::finite, "weights"},
                              {.value = 0.2, .random = true}),
                 {"initial_M", {"dk", "dv"}, Range::finite, "momentum", "0"},
                 {"column_norm",
                  {"dv"},
                  Range::non_negative,
                  "norms that weight_norm restores",
                  "column norms of initial_S"}},
      .parameters = {{.name = "batch",
                      .minimum = 1,
                      .maximum = 1e15,
                      .meaning = "tokens per update: the rule's own chunk",
                      .whole = true,
                      .stand_in = 16}},
      .states = {{"S"}, {"M"}},
      .loss = {.words = fmt::format("{}{}", batch_words, muon_words),
               .latex = "-\\sum_j \\eta_j\\langle S^{\\top}k_j, v_j\\rangle",
               .step = "S' = \\mathrm{normalise}\\left(S + "
                       "\\mathrm{NS}_5\\left(\\mu M - \\nabla\\mathcal L(S)\\right)\\right)",
               .adapt = write_loss,
               .problems = lact_problems},
      .rule = walk_rule<LactWalk>(
          {.steps = [](const Sequence& sequence, Form form,
                       Index chunk_size) { return lact_steps(shown_of(sequence, form, chunk_size)); },
           .cost = lact_cost,
           .missing = lact_missing,
           .nonlinear = lact_nonlinear,
           .parallel = ParallelRule{lact_row_program(), runs_as_row_program, is_row_program}}),
      .hand_over = hand_over_column_norm,
  };
}

}  // namespace palimpsest
