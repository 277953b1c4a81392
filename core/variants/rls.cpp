#include "core/costs/costs.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/rules/walk_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// P and S are carried. Once the gains b_t = beta_t P_t k_t are known, which takes the keys alone, S is a row
/// program: the delta rule that erases with k and writes along b.
template <class Scalar>
class LeastSquaresWalk : public Walk<Scalar> {
 public:
  LeastSquaresWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : Walk<Scalar>(sequence, form, chunk_size), engines_(engines) {}

  Carried<Scalar> initial() const override {
    const Matrix<double> P = sequence_.has("initial_P")
                                 ? square(sequence_.at("initial_P"))
                                 : symmetric_inverse<double>(square(sequence_.at("ridge")));
    const Matrix<double> S = given_or_zero(sequence_, "initial_S", sequence_.dk, sequence_.dv);
    return {P.template cast<Scalar>(), S.template cast<Scalar>()};
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const Block block = this->block(index);
    const Rows<Scalar> rows = this->rows(block);
    const LeastSquaresKeys<Scalar> keys = keys_of(rows);
    const bool by_token = form_ == Form::recurrent;
    const auto asked = [&](Recorder* tap) -> EngineRequest {
      return {.form = form_, .phase = 0, .tap = tap, .stop = stop};
    };
    Carried<Scalar> P = {std::move(carried[0])};
    Carried<Scalar> S = {std::move(carried[1])};
    if (recorder) {
      this->record_inputs(block, *recorder);
      (*recorder)("gamma", keys.gamma);
      (*recorder)("beta", keys.beta);
      (*recorder)(by_token ? "P_before" : "P_in", P.front());
    }

    const Program<Scalar> program =
        writes(rows, engines_.least_squares.block(asked(by_token ? recorder : nullptr), keys, P));
    if (recorder) {
      recorder->rows("b", by_token, program.k);
      (*recorder)(by_token ? "P_after" : "P_out", P.front());
    }
    Matrix<Scalar> o = engines_.rows.block(asked(recorder), program, S);
    carried = {std::move(P.front()), std::move(S.front())};
    return o;
  }

  std::vector<Walked<Scalar>> walk_together(std::span<const std::unique_ptr<const Walk<Scalar>>> heads,
                                            Index chunk_size, const std::stop_token& stop) const override {
    if (engines_.least_squares.most_bytes() == 0 || engines_.rows.most_bytes() == 0)
      return Walk<Scalar>::walk_together(heads, chunk_size, stop);
    const EngineRequest request = {.form = form_, .chunk_size = chunk_size, .stop = stop};
    const auto keys =
        made_in_parallel(heads.size(), stop, [&](std::size_t h) { return keys_of(all_rows(*heads[h])); });
    std::vector<Carried<Scalar>> P;
    std::vector<Carried<Scalar>> S;
    for (const auto& head : heads) {
      Carried<Scalar> initial = head->initial();
      P.push_back({std::move(initial[0])});
      S.push_back({std::move(initial[1])});
    }
    std::vector<Matrix<Scalar>> gains = engines_.least_squares.run(request, keys, P);
    const auto programs = made_in_parallel(
        heads.size(), stop, [&](std::size_t h) { return writes(all_rows(*heads[h]), std::move(gains[h])); });
    std::vector<Matrix<Scalar>> o = engines_.rows.run(request, programs, S);
    std::vector<Walked<Scalar>> walked;
    for (std::size_t head = 0; head < heads.size(); ++head)
      walked.push_back({std::move(o[head]), {std::move(P[head].front()), std::move(S[head].front())}});
    return walked;
  }

  NamedStates states(const Carried<Scalar>& carried) const override {
    return {{"S", carried[1].template cast<double>()}, {"P", carried[0].template cast<double>()}};
  }

  /// With all gains known, S is linear in the values.
  std::optional<Channel> channel(Index column) const override {
    require_column(column, sequence_.dv);
    const Sequence& sequence = sequence_;
    const Carried<Scalar> start = initial();
    Matrix<double> P = start[0].template cast<double>();
    const auto all = [&](const char* name) { return sequence.at(name).rows<double>(0, sequence.tokens); };
    const auto directions = std::make_shared<const Matrix<double>>(
        least_squares_gains<double>({all("k"), all("gamma"), all("beta")}, P));
    return Channel{
        .tokens = sequence.tokens,
        .initial = start[1].col(column).template cast<double>(),
        .rows =
            [sequence, directions, column](Index first, Index count) {
              return Program<double>{.structure = {.erase = Erase::decayed, .erase_key = true},
                                     .k = directions->middleRows(first, count),
                                     .v = sequence.at("v").rows<double>(first, count).col(column),
                                     .a = sequence.at("k").rows<double>(first, count)};
            },
        .reads = [sequence](Index first, Index count) { return scaled_reads(sequence, first, count); }};
  }

  Footprint need(bool recorded) const override {
    const auto n = static_cast<double>(this->pieces_.largest_piece());
    return {.work = 2 * this->number_size(recorded) * n * n, .what = "its n x n matrices"};
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  const Engines<Scalar>& engines_;

  static Rows<Scalar> all_rows(const Walk<Scalar>& head) {
    return {head.sequence(), 0, head.sequence().tokens};
  }

  static LeastSquaresKeys<Scalar> keys_of(const Rows<Scalar>& rows) {
    return {rows("k"), rows("gamma"), rows("beta")};
  }

  /// The row program of S once its gains are known.
  static Program<Scalar> writes(const Rows<Scalar>& rows, Matrix<Scalar> gains) {
    return {.structure = {.erase = Erase::decayed, .erase_key = true},
            .q = rows.scaled_q(),
            .k = std::move(gains),
            .v = rows("v"),
            .a = rows("k")};
  }
};

/// The squared error of this token alone, one step preconditioned with P_t, the inverse of the decayed Gram
/// matrix of the keys up to it.
std::vector<InnerProblem> rls_problems(const InnerContext& context) {
  const Matrix<double> k = row_of(context, "k");
  const Matrix<double> beta = row_of(context, "beta");
  Matrix<double> P = state_of(context.before, "P");
  least_squares_gains<double>({k, row_of(context, "gamma"), beta}, P);
  return step_from(context, state_of(context.before, "S"),
                   {{squared_loss(one_pair(k, row_of(context, "v"), beta(0, 0))), P}});
}

Notation rls_notation() {
  const Expression k = tensor("k");
  const std::vector<Expression> keys = {tensor("P_in"), tensor("K"), tensor("gamma"), tensor("beta")};
  return {
      .token = {.q = "q", .k = "b", .v = "v", .o = "o", .a = "k"},
      .rows = {.q = "Q", .k = "B", .v = "V", .o = "O", .a = "K"},
      .token_before =
          {{"along", Purpose::gain, "Uncertainty along the key",
            "How uncertain is the memory along the key of “{token}”, given earlier keys?", "along",
            tensor("P_before") * k},
           {"gain", Purpose::gain, "Step size", "Large for a new key direction, small for a frequent one.",
            "b",
            call("reciprocal", {tensor("gamma") + tensor("beta") * (transpose(k) * tensor("along"))}) *
                (tensor("beta") * tensor("along"))},
           {"certainty", Purpose::certainty, "Remaining uncertainty",
            "The key of “{token}” reduces the uncertainty; the decay increases it in all directions.",
            "P_after",
            call("reciprocal", {tensor("gamma")}) *
                (tensor("P_before") - tensor("b") * transpose(tensor("along")))}},
      .rows_before = {{"gains", Purpose::gain, "Step size",
                       "The gain of every write depends on the keys so far, not on values.", "B",
                       call("least_squares_gains", keys), true},
                      {"certainty", Purpose::certainty, "Remaining uncertainty",
                       "The inverse covariance of the keys so far.", "P_out",
                       call("least_squares_inverse", keys)}},
  };
}

Steps rls_steps(const Sequence& sequence, Form form, Index /*chunk_size*/) {
  const Structure structure = {.erase = Erase::decayed, .erase_key = true};
  const bool by_token = form == Form::recurrent;
  const std::string t = by_token ? "_t" : "";
  Symbols symbols = row_symbols(structure, rls_notation(), form);
  const Symbols own = {{"gamma", {"\\gamma" + t, Role::gate, "decay of earlier data"}},
                       {"beta", {"\\beta" + t, Role::strength, "weight of the token"}},
                       {"along", {"p_t", Role::key, "uncertainty along the key"}},
                       {"b", {"b_t", Role::key, "gain"}},
                       {"B", {"B", Role::key, "gain"}},
                       {"P_before", {"P_{t-1}", Role::plain, "uncertainty before"}},
                       {"P_after", {"P_t", Role::plain, "uncertainty"}},
                       {"P_in", {"P_0", Role::plain, "uncertainty before"}},
                       {"P_out", {form == Form::parallel ? "P_n" : "P'", Role::plain, "uncertainty"}}};
  for (const auto& [name, symbol] : own) symbols.insert_or_assign(name, symbol);
  std::vector<Phase> phases = row_phases(structure, rls_notation(), form, is_scaled(sequence.settings));
  for (Phase& phase : phases) {
    phase.carries.push_back(by_token ? Carry{"P_after", "P_before"} : Carry{"P_out", "P_in"});
  }
  return {phases, symbols};
}

}  // namespace

/// Spec 3.13: S_t = S_{t-1} + beta_t P_t k_t (v_t - S_{t-1}^T k_t)^T with P_t the inverse of
/// gamma_t P_{t-1}^{-1} + beta_t k_t k_t^T.
Variant rls() {
  return {
      .id = "rls",
      .label = "Recursive least squares",
      .words =
          "The delta rule with the optimal step: large along new key directions, small along frequent ones. "
          "The memory is always the least-squares fit.",
      .paper = "von Oswald et al., Uncovering mesa-optimization algorithms in Transformers, 2023",
      .inputs = {{"beta", {"n"}, Range::non_negative, "weight of the token"},
                 forgetting(demonstrated({"gamma", {"n"}, Range::positive_unit, "decay of data and ridge"},
                                         {.value = 1}),
                            1),
                 demonstrated({"ridge",
                               {"dk", "dk"},
                               Range::positive_definite,
                               "ridge before the first token = inverse of P_0"},
                              {.value = 1}),
                 {"initial_S", {"dk", "dv"}, Range::finite, "weights before the first token", "0"},
                 {"initial_P",
                  {"dk", "dk"},
                  Range::positive_definite,
                  "final_P of an earlier run, in the place of the ridge's inverse",
                  "inverse of ridge"}},
      .states = {{"S"}, {"P"}},
      .loss = {.words = "The exact minimum of the decayed squared error over all tokens so far, plus the "
                        "distance from the initial memory.",
               .latex = "\\textstyle\\sum_{j\\le t}\\gamma_{j+1:t}\\tfrac{\\beta_j}2\\|S^{\\top}k_j - "
                        "v_j\\|^2 + \\tfrac{\\gamma_{1:t}}2\\mathrm{tr}\\,(S-S_0)^{\\top}\\Lambda(S-S_0)",
               .step = "S_t = \\arg\\min_S \\mathcal L_t(S) = S_{t-1} + \\beta_t P_t k_t (v_t - "
                       "S_{t-1}^{\\top}k_t)^{\\top}",
               .problems = rls_problems},
      .rule = walk_rule<LeastSquaresWalk>({.steps = rls_steps, .cost = least_squares_cost}),
  };
}

}  // namespace palimpsest
