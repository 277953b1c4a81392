#include "core/costs/costs.h"
#include "core/numbers/matrix_functions.h"
#include "core/rules/inner_problem.h"
#include "core/rules/walk_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

template <class Scalar>
class MesaWalk : public OperatorWalk<MesaRows, Scalar> {
 public:
  MesaWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : OperatorWalk<MesaRows, Scalar>(sequence, form, chunk_size, engines.mesa) {
    require_state(sequence, sequence.dk, sequence.dk + sequence.dv);
  }

  Carried<Scalar> initial() const override {
    const Index K = sequence_.dk;
    const Index V = sequence_.dv;
    MesaState<Scalar> H = MesaState<Scalar>::Zero(K, K + V);
    if (sequence_.has("initial_Hkk"))
      H.leftCols(K) = symmetric<Scalar>(sequence_.at("initial_Hkk").template all<double>());
    if (sequence_.has("initial_Hkv")) H.rightCols(V) = sequence_.at("initial_Hkv").template all<Scalar>();
    return {H};
  }

  NamedStates states(const Carried<Scalar>& carried) const override {
    const MesaState<Scalar>& H = carried.front();
    return {{"Hkk", H.leftCols(sequence_.dk).template cast<double>()},
            {"Hkv", H.rightCols(sequence_.dv).template cast<double>()}};
  }

  /// Both Gram matrices are programs with the same decay; what reads Hkv is x. After the columns of Hkv come
  /// those of Hkk.
  std::optional<Channel> channel(Index column) const override {
    const Sequence& sequence = sequence_;
    const Index V = sequence.dv;
    require_column(column, V + sequence.dk);
    const Matrix<double> H = initial().front().template cast<double>();
    return Channel{
        .tokens = sequence.tokens,
        .initial = H.col(column < V ? sequence.dk + column : column - V),
        .rows =
            [sequence, column, V](Index first, Index count) {
              const Rows<double> given{sequence, first, count};
              return Program<double>{.structure = {.decay = Decay::scalar, .beta = true},
                                     .k = given("k"),
                                     .v = column < V ? given("v").col(column) : given("k").col(column - V),
                                     .gate = given("gamma"),
                                     .beta = given("beta")};
            },
        .reads =
            [sequence, Hkk = Matrix<double>(H.leftCols(sequence.dk))](Index first, Index count) {
              return ChannelReads{
                  mesa_solutions<double>(mesa_rows<double>(sequence, 0, first + count), Hkk, first),
                  rows_up_to_each(first, count)};
            },
        .reads_at_its_time = true};
  }

  /// Three n x n matrices, a dozen rows of each token, and systems of K equations.
  Footprint need(bool recorded) const override {
    const auto n = static_cast<double>(this->pieces_.largest_piece());
    const auto K = static_cast<double>(sequence_.dk);
    const auto V = static_cast<double>(sequence_.dv);
    const double matrices = form_ == Form::recurrent ? 0 : 3 * n * n;
    const double systems = 4 * K * (K + V);
    return {.work = this->number_size(recorded) * (matrices + n * (8 * K + 4 * V) + systems),
            .what = "its n x n matrices"};
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  MesaRows<Scalar> tokens(const Block& block) const override {
    return mesa_rows<Scalar>(sequence_, block.first_token, block.count);
  }
};

Phase mesanet_token_phase(const Expression& query) {
  const Expression strong_key = tensor("beta") * tensor("k");
  PhaseBuilder steps("token by token");
  steps.add("decay_keys", Purpose::decay, "Key statistics after decay",
            "How much of the statistics of earlier keys does the decay keep?", "Hkk_decayed",
            tensor("gamma") * tensor("Hkk_before"));
  steps.add("write_keys", Purpose::keys, "Key statistics",
            "The outer product of the key of “{token}” with itself is added.", "Hkk_after",
            tensor("Hkk_decayed") + strong_key * transpose(tensor("k")));
  steps.line("Key statistics", "The weighted sum of k kᵀ over the tokens so far.", {"Hkk_decayed"}, 2);
  steps.add("decay_values", Purpose::decay, "The memory after decay",
            "How much of the key–value memory does the decay keep?", "Hkv_decayed",
            tensor("gamma") * tensor("Hkv_before"));
  steps.add("write_values", Purpose::write, "Key–value memory",
            "The outer product of key and value is added to the memory.", "Hkv_after",
            tensor("Hkv_decayed") + strong_key * transpose(tensor("v")));
  steps.line("Key–value memory", "The decayed memory plus the update of “{token}”.", {"Hkv_decayed"}, 2);
  steps.add("solve", Purpose::solve, "Solved query",
            "The solve gives frequent key directions less weight in the query.", "x",
            call("solve_symmetric", {tensor("Hkk_after") + tensor("ridge"), query}));
  steps.add("output", Purpose::output, "Output",
            "The best linear fit of all pairs so far, applied to the query of “{token}”.", "o",
            transpose(tensor("Hkv_after")) * tensor("x"));
  steps.line("The memory is queried", "First the least-squares solve, then the read.", {"x"}, 2);
  steps.carry({{"Hkk_after", "Hkk_before"}, {"Hkv_after", "Hkv_before"}});
  return steps.take();
}

/// One chunk (all solves by conjugate gradients) or the whole sequence (one solve after the other).
Phase mesanet_rows_phase(const Expression& query, bool whole) {
  const std::string scope = whole ? "the sequence" : "the chunk";
  const Expression strong_keys = hadamard(hadamard(tensor("g_out"), tensor("beta")), tensor("K"));
  const Expression scores = hadamard(tensor("X") * transpose(tensor("K")), tensor("W"));
  const std::string carried =
      whole ? "The two matrices after the last token." : "Two matrices for the next chunk.";
  PhaseBuilder steps(whole ? "the whole sequence at once" : "chunk by chunk");
  steps.add("mask", Purpose::mask, "Decay since the write",
            "How much of the write of token j remains when token i reads?", "G",
            call("decay_mask", {tensor("gamma")}));
  steps.add("weights", Purpose::mask, "Weights of the tokens",
            "The weight of token j in the least-squares problem of token i.", "W",
            hadamard(tensor("G"), transpose(tensor("beta"))));
  steps.line("Weights of the tokens", "The decay since each token, times its weight β.");
  steps.add("fade_in", Purpose::fade_in, "Decay from the start",
            "How much of what was carried in remains at each token?", "g_in",
            call("cumulative_decay", {tensor("gamma")}));
  steps.add("solve", Purpose::solve, "Solved queries",
            whole ? "One linear system per token, made of all keys so far."
                  : "One linear system per token, made of all keys so far. Conjugate gradients solve all of "
                    "them together, without forming the matrices.",
            "X",
            call("solve_grams",
                 {tensor("g_in"), tensor("Hkk_in"), tensor("W"), tensor("K"), tensor("ridge"), query}),
            whole);
  steps.line("Solved queries", "One least-squares problem per token.");
  steps.add_line({"check", Purpose::check, "Check of the solutions",
                  "Each solution times its system gives the query again.", "Q_back",
                  hadamard(tensor("g_in"), tensor("X") * tensor("Hkk_in")) + scores * tensor("K") +
                      tensor("X") * tensor("ridge")});
  steps.add("scores", Purpose::scores, "Attention scores",
            "The weight of each write in each output: the inner product of solved query and key.", "A",
            scores);
  steps.line("Attention scores", "Linear attention, with solved queries.");
  steps.add("inter", Purpose::inter, "From the carried-in memory",
            "What does the carried-in memory return for each query?", "O_inter",
            hadamard(tensor("g_in"), tensor("X")) * tensor("Hkv_in"));
  steps.add("intra", Purpose::intra, "From inside the block",
            "What the writes of " + scope + " add to its own outputs.", "O_intra", tensor("A") * tensor("V"));
  steps.add("output", Purpose::output, "Output",
            "Carried-in part + part inside the chunk = the recurrence's outputs.", "O",
            tensor("O_inter") + tensor("O_intra"));
  steps.line("Output", "The part from the carried-in memory plus the part from inside " + scope + ".",
             {"O_inter", "O_intra"});
  steps.add("fade_out", Purpose::fade_out, "Decay to the end",
            "How much of each write remains at the end of " + scope + "?", "g_out",
            call("remaining_decay", {tensor("gamma")}));
  steps.add("fade_over", Purpose::fade_over, "Total decay",
            "How much of what was carried in remains at the end of " + scope + "?", "g_total",
            call("total_decay", {tensor("gamma")}));
  steps.add_line({"carry_keys", Purpose::keys, "Key statistics", carried, "Hkk_out",
                  tensor("g_total") * tensor("Hkk_in") + transpose(strong_keys) * tensor("K")});
  steps.add_line({"carry_values", Purpose::carry, "Key–value memory", carried, "Hkv_out",
                  tensor("g_total") * tensor("Hkv_in") + transpose(strong_keys) * tensor("V")});
  steps.carry({{"Hkk_out", "Hkk_in"}, {"Hkv_out", "Hkv_in"}});
  return steps.take();
}

/// What each form of MesaNet (spec 3.13) shows, under the names that core/engines/mesanet records.
Steps mesanet_steps(const Sequence& sequence, Form form, Index) {
  const bool by_token = form == Form::recurrent;
  const std::string t = by_token ? "_t" : "";
  Symbols symbols = usual_symbols(form, "\\sigma");
  symbols.insert({{"gamma", {"\\gamma" + t, Role::gate, "decay"}},
                  {"beta", {"\\beta" + t, Role::strength, "weight of the token"}},
                  {"ridge", {"\\Lambda", Role::plain, "ridge"}}});
  if (by_token) {
    symbols.insert({{"Hkk_before", {"H^{kk}_{t-1}", Role::state, "key statistics before", false}},
                    {"Hkk_decayed", {"\\bar H^{kk}_t", Role::state, "k kᵀ after decay", false}},
                    {"Hkk_after", {"H^{kk}_t", Role::state, "key statistics", false}},
                    {"Hkv_before", {"H^{kv}_{t-1}", Role::state, "memory before"}},
                    {"Hkv_decayed", {"\\bar H^{kv}_t", Role::state, "memory after decay"}},
                    {"Hkv_after", {"H^{kv}_t", Role::state, "memory after"}},
                    {"x", {"x_t", Role::query, "solved query"}}});
    return {{mesanet_token_phase(query(sequence.settings, "q"))}, symbols};
  }
  const bool whole = form == Form::parallel;
  const std::string in = whole ? "_0" : "";
  symbols.insert({{"G", {"G", Role::gate, "decay since the write"}},
                  {"W", {"W", Role::gate, "weights of the tokens"}},
                  {"g_in", {"g", Role::gate, "decay from the start"}},
                  {"g_out", {"\\tilde g", Role::gate, "decay to the end"}},
                  {"g_total", {whole ? "g_n" : "g_L", Role::gate, "total decay"}},
                  {"Hkk_in", {"H^{kk}" + in, Role::state, "key statistics before", false}},
                  {"Hkv_in", {"H^{kv}" + in, Role::state, "key–value memory before"}},
                  {"X", {"X", Role::query, "solved queries"}},
                  {"Q_back", {"\\hat Q", Role::query, "queries recovered"}},
                  {"A", {"A", Role::plain, "attention scores"}},
                  {"O_inter", {"O_{\\mathrm{before}}", Role::output, "from the carried-in memory"}},
                  {"O_intra", {"O_{\\mathrm{inside}}", Role::output, "from inside the block"}},
                  {"Hkk_out", {whole ? "H^{kk}_n" : "H^{kk\\prime}", Role::state, "key statistics", false}},
                  {"Hkv_out", {whole ? "H^{kv}_n" : "H^{kv\\prime}", Role::state, "key–value memory"}}});
  return {{mesanet_rows_phase(query(sequence.settings, "Q"), whole)}, symbols};
}

/// Hkk + ridge: [K, K].
Matrix<double> curvature(const Sequence& sequence, const Matrix<double>& Hkk) {
  return Hkk + mesa_ridge<double>(sequence);
}

/// The memory that is read: (Hkk + ridge)^{-1} Hkv, [K, V].
Matrix<double> optimum(const Sequence& sequence, const NamedStates& states) {
  return solved_symmetric(curvature(sequence, state_of(states, "Hkk")), state_of(states, "Hkv"));
}

/// From the minimum before the token to the minimum after it: one Newton step, its preconditioner the inverse
/// of the Hessian. The squares of the values before the token are a constant that is left out.
std::vector<InnerProblem> mesanet_problems(const InnerContext& context) {
  const Index K = context.sequence.dk;
  const Matrix<double> k = row_of(context, "k");
  const Matrix<double> v = row_of(context, "v");
  const double beta = row_of(context, "beta")(0, 0);
  const double gamma = row_of(context, "gamma")(0, 0);
  const Matrix<double> A =
      curvature(context.sequence, gamma * state_of(context.before, "Hkk") + beta * k.transpose() * k);
  const Matrix<double> B = gamma * state_of(context.before, "Hkv") + beta * k.transpose() * v;
  return step_from(context, optimum(context.sequence, context.before),
                   {{quadratic_loss(A, B, beta / 2 * v.squaredNorm()),
                     solved_symmetric(A, Matrix<double>::Identity(K, K))}});
}

Matrix<double> answers(const Sequence& sequence, const NamedStates& states, const Matrix<double>& keys) {
  return keys * optimum(sequence, states);
}

}  // namespace

/// Spec 3.13: o_t = Hkv_t^T (Hkk_t + ridge)^{-1} q_t with Hkk_t = gamma_t Hkk_{t-1} + beta_t k_t k_t^T, and
/// Hkv_t likewise with v_t.
Variant mesanet() {
  return {
      .id = "mesanet",
      .label = "MesaNet",
      .words = "Each query reads from the exact least-squares fit of all pairs so far.",
      .paper = "von Oswald et al., MesaNet: Sequence Modeling by Locally Optimal Test-Time Training, 2025",
      .inputs = {{"beta", {"n"}, Range::non_negative, "weight of the token"},
                 forgetting(
                     demonstrated({"gamma", {"n"}, Range::unit, "decay of both states"}, {.value = 0.98}), 1),
                 demonstrated({"ridge", {"dk", "dk"}, Range::positive_definite, "constant ridge"},
                              {.value = 1}),
                 {"initial_Hkk", {"dk", "dk"}, Range::gram, "Gram matrix of keys", "0"},
                 {"initial_Hkv", {"dk", "dv"}, Range::finite, "keys times values", "0"}},
      .states = {{"Hkk"}, {"Hkv"}},
      .loss = {.words =
                   "The exact minimum of the decayed squared error over all tokens so far, plus the ridge.",
               .latex = "\\textstyle\\sum_{j\\le t}\\gamma_{j+1:t}\\tfrac{\\beta_j}2\\|S^{\\top}k_j - "
                        "v_j\\|^2 + \\tfrac12\\mathrm{tr}\\,S^{\\top}\\Lambda S",
               .step = "S_t = \\arg\\min_S \\mathcal L_t(S) = (H^{kk}_t + \\Lambda)^{-1} H^{kv}_t",
               .problems = mesanet_problems},
      .memory = {.answers = answers},
      .rule = walk_rule<MesaWalk>({.steps = mesanet_steps, .cost = mesanet_cost}),
  };
}

}  // namespace palimpsest
