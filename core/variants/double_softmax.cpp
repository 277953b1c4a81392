#include <limits>

#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// log z_t, the logarithm of sum_{j<=t} exp(k_j) channel by channel, and the same before each token.
void add_log_sums(Sequence& sequence) {
  const Matrix<double> k = sequence.at("k").all<double>();
  Matrix<double> before(k.rows(), k.cols());
  Matrix<double> after(k.rows(), k.cols());
  Matrix<double> log_z = Matrix<double>::Constant(1, sequence.dk, -std::numeric_limits<double>::infinity());
  if (sequence.has("initial_log_z")) log_z = sequence.at("initial_log_z").all<double>().transpose();
  for (Index t = 0; t < k.rows(); ++t) {
    before.row(t) = log_z;
    log_z = log_z.binaryExpr(k.row(t), &log_add_exp);
    after.row(t) = log_z;
  }
  sequence.add("log_z_before", before);
  sequence.add("log_z", after);
}

/// Every row's shares: softmax over the channels.
template <class Scalar>
Matrix<Scalar> shares(Matrix<Scalar> x) {
  for (Index t = 0; t < x.rows(); ++t) {
    x.row(t) = (x.row(t).array() - x.row(t).maxCoeff()).exp().matrix();
    x.row(t) /= x.row(t).sum();
  }
  return x;
}

Structure double_softmax_structure(const Settings& settings) {
  const bool causal = settings.option("causal") == "true";
  return {.decay = Decay::key, .decay_by_key = true, .read_at = causal ? ReadAt::after_row : ReadAt::end};
}

Notation double_softmax_notation(const Settings& settings) {
  const auto before = [](const char* k, const char* k_shares) {
    return std::vector<Operation>{{"log_sum", Purpose::gates, "Log sum over all keys so far",
                                   "The logarithm of the sum of exponentials of this channel's keys.",
                                   "log_z", call("log_add_exp", {tensor("log_z_before"), tensor(k)})},
                                  {"old_share", Purpose::gates, "Share of the earlier keys",
                                   "A new key reduces the shares of all earlier keys.", "alpha",
                                   call("exp", {tensor("log_z_before") - tensor("log_z")})},
                                  {"new_share", Purpose::prepare, "Share of this key",
                                   "The exponential of this key divided by the sum.", k_shares,
                                   call("exp", {tensor(k) - tensor("log_z")})}};
  };
  const auto asked = [](const char* q_shares, const Expression& shares) {
    return std::vector<Operation>{{"query_shares", Purpose::prepare, "Query as shares",
                                   "The query's channels become shares that add up to 1.", q_shares, shares}};
  };
  return {.token = {"q_shares", "k_shares", "v", "o"},
          .rows = {"Q_shares", "K_shares", "V", "O"},
          .token_before = before("k", "k_shares"),
          .token_query = asked("q_shares", transpose(call("row_softmax", {transpose(query(settings, "q"))}))),
          .rows_before = before("K", "K_shares"),
          .rows_query = asked("Q_shares", call("row_softmax", {query(settings, "Q")})),
          .symbols = {{"log_z", {"\\log z_t", Role::gate, "log sum over all keys so far"}},
                      {"log_z_before", {"\\log z_{t-1}", Role::gate, "log sum over all keys before"}},
                      {"q_shares", {"\\tilde q_t", Role::query, "query as shares"}},
                      {"k_shares", {"\\tilde k_t", Role::key, "the share of this key"}},
                      {"Q_shares", {"\\tilde Q", Role::query, "query as shares"}},
                      {"K_shares", {"\\tilde K", Role::key, "the shares of the keys"}}}};
}

Matrix<double> double_softmax_initial(const Sequence& sequence) {
  require_together(sequence, "initial_S", "initial_log_z");
  return given_or_zero(sequence, "initial_S", sequence.dk, sequence.dv);
}

NamedStates named_states(const Matrix<double>& state, const Sequence& sequence) {
  Matrix<double> log_z = Matrix<double>::Constant(sequence.dk, 1, -std::numeric_limits<double>::infinity());
  if (sequence.has("initial_log_z")) log_z = sequence.at("initial_log_z").all<double>();
  if (sequence.tokens > 0) log_z = sequence.at("log_z").rows<double>(sequence.tokens - 1, 1).transpose();
  return {{"S", state}, {"log_z", log_z}};
}

/// sum_d of half the share of channel d times |S_d - v|^2, up to a constant: the write, and the decay, which
/// takes the same share.
std::vector<InnerProblem> share_problems(const InnerContext& context) {
  const RowRule& rule = *context.rule.row_program();
  const Program<double> row = rule.encode<double>(context.sequence, context.token, 1);
  const Matrix<double>& S = state_of(context.before, "S");
  const Matrix<double> forgotten = (1 - row.alpha().transpose().array()).matrix();
  return step_from(context, S,
                   {{dot_loss(one_pair(row.k, row.v))}, {shrinking_loss(forgotten.replicate(1, S.cols()))}});
}

}  // namespace

/// Spec 3.3: o_t = S_t^T softmax(q_t), S_t the mean of the values so far, weighted by exp(k) channel by
/// channel.
Variant double_softmax() {
  const auto encoder = []<class Scalar>(const Rows<Scalar>& rows) {
    const Rows<double> exact{rows.sequence, rows.first, rows.count};
    const Matrix<double> before = exact("log_z_before");
    const Matrix<double> after = exact("log_z");
    return Program<Scalar>{.q = shares<Scalar>(rows.scaled_q()),
                           .k = exponential((exact("k") - after).array()).matrix().template cast<Scalar>(),
                           .v = rows("v"),
                           .gate = exponential((before - after).array()).matrix().template cast<Scalar>()};
  };
  return {
      .id = "double_softmax",
      .label = "Double softmax",
      .words =
          "Queries are shares of channels, keys are shares of tokens: the memory holds averages of values.",
      .paper = "Shen et al., Efficient Attention: Attention with Linear Complexities, 2018",
      .options = {{"causal",
                   {"true", "false"},
                   "true: the key softmax runs over the prefix; false: over the whole sequence"}},
      .inputs =
          {{"initial_S", {"dk", "dv"}, Range::finite, "mean of the earlier values per key channel", "0"},
           {"initial_log_z",
            {"dk"},
            Range::finite_or_minus_inf,
            "log-sum-exp of the earlier keys per channel",
            "-inf"}},
      .states = {{"S"}, {"log_z"}},
      .loss = {.words = "Each channel keeps a weighted mean of the values, with the exponentials of its keys "
                        "as weights. The step towards the new value has its share as the step size.",
               .latex = "\\tfrac12\\textstyle\\sum_d \\tilde k_{t,d}\\|S_{d,:} - v_t\\|^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = share_problems},
      .rule = std::make_shared<RowRule>(RowDeclaration{.structure = double_softmax_structure,
                                                       .encoder = encoder,
                                                       .notation = double_softmax_notation,
                                                       .states = {double_softmax_initial, named_states}}),
      .derive = add_log_sums,
  };
}

}  // namespace palimpsest
