#include "core/costs/costs.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/rules/walk_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

template <class Scalar>
class MambaWalk : public OperatorWalk<MambaRows, Scalar> {
 public:
  MambaWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : OperatorWalk<MambaRows, Scalar>(sequence, form, chunk_size, engines.mamba),
        A_(sequence.at("A").template all<Scalar>()) {
    if (sequence.has("D")) D_ = sequence.at("D").template all<Scalar>().transpose();
  }

  Carried<Scalar> initial() const override {
    return {given_or_zero(sequence_, "initial_state", sequence_.dk, sequence_.dv).template cast<Scalar>()};
  }

  NamedStates states(const Carried<Scalar>& carried) const override {
    return {{"S", carried.front().template cast<double>()}};
  }

  /// Every entry decays at its own rate, so that a column is a program with the decays of its value channel.
  std::optional<Channel> channel(Index column) const override {
    require_column(column, sequence_.dv);
    const Sequence& sequence = sequence_;
    return Channel{
        .tokens = sequence.tokens,
        .initial = this->initial().front().col(column).template cast<double>(),
        .rows =
            [sequence, column](Index first, Index count) {
              const Rows<double> given{sequence, first, count};
              const Matrix<double> delta = given("delta").col(column);
              return Program<double>{.structure = {.decay = Decay::key, .gates_are_logs = true, .beta = true},
                                     .k = given("k"),
                                     .v = given("v").col(column),
                                     .gate = delta * sequence.at("A").all<double>().col(column).transpose(),
                                     .beta = delta};
            },
        .reads = [sequence](Index first, Index count) { return scaled_reads(sequence, first, count); },
        .skip = D_.size() > 0 ? static_cast<double>(D_(0, column)) : 0.0};
  }

  Footprint need(bool recorded) const override {
    const auto n = static_cast<double>(this->pieces_.largest_piece());
    const auto K = static_cast<double>(sequence_.dk);
    const auto V = static_cast<double>(sequence_.dv);
    const double tables = sizeof(Scalar) * 2 + (recorded ? sizeof(double) * 5 : 0);
    return {.work = n * K * V * tables + this->number_size(recorded) * (n * (2 * K + 4 * V) + 4 * K * V),
            .what = "its n x dk x dv decays and states"};
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  MambaRows<Scalar> tokens(const Block& block) const override {
    const Rows<Scalar> given = this->rows(block);
    return {
        .q = given.scaled_q(), .k = given("k"), .v = given("v"), .delta = given("delta"), .A = A_, .D = D_};
  }

  Matrix<Scalar> A_;  // [K, V]
  Matrix<Scalar> D_;  // [1, V], or empty
};

/// The last step of every form: what is read, plus the value itself if there is a skip.
void add_outputs(PhaseBuilder& steps, const std::string& title, const Expression& read, const std::string& o,
                 const std::string& v, bool has_skip) {
  if (!has_skip) {
    steps.add("output", Purpose::output, "Output", title, o, read);
    return;
  }
  steps.add("read", Purpose::ask, "What the memory returns", title, "read", read);
  steps.add("output", Purpose::output, "Output", "A skip connection adds the value, scaled per channel by D.",
            o, tensor("read") + hadamard(tensor("D"), tensor(v)));
}

Phase mamba_token_phase(const Expression& query, bool has_skip) {
  PhaseBuilder steps("token by token");
  steps.add("decays", Purpose::gates, "Decay of each entry",
            "The decay of each entry over the time step of “{token}”.", "E",
            call("exp", {hadamard(tensor("A"), transpose(tensor("delta")))}));
  steps.line("Decay of each entry", "Each entry has its own rate; the token sets the time step.");
  steps.add("decay", Purpose::decay, "The memory after decay",
            "How much of the memory does the decay keep before “{token}” is written?", "S_decayed",
            hadamard(tensor("E"), tensor("S_before")));
  steps.add("step", Purpose::prepare, "Value times time step", "A longer time step writes more.", "u",
            hadamard(tensor("delta"), tensor("v")));
  steps.add("update", Purpose::update, "Rank-one update",
            "The outer product of key and value is added to the memory.", "update",
            tensor("k") * transpose(tensor("u")));
  steps.add("write", Purpose::write, "Memory after the write", "The memory after the write of “{token}”.",
            "S_after", tensor("S_decayed") + tensor("update"));
  steps.line("The memory is updated", "The decayed memory plus the update of “{token}”.",
             {"S_decayed", "u", "update"}, 3);
  add_outputs(steps, "What does the memory return for the query of “{token}”?",
              transpose(tensor("S_after")) * query, "o", "v", has_skip);
  steps.line("The memory is queried", "The output for this query.", {"read"}, 1.4);
  steps.carry({{"S_after", "S_before"}});
  return steps.take();
}

Phase mamba_scan_phase(const Expression& query, bool has_skip, bool whole) {
  const std::string scope = whole ? "the sequence" : "the chunk";
  PhaseBuilder steps(whole ? "the whole sequence at once" : "chunk by chunk");
  steps.add("decays", Purpose::gates, "Decay of each entry",
            "The decay of each entry at each token; one row per token.", "E",
            call("step_decays", {tensor("A"), tensor("Delta")}));
  steps.line("Decay of each entry", "One row per token, one column per entry of the memory.");
  steps.add("step", Purpose::prepare, "Values times time steps", "A longer time step writes more.", "U",
            hadamard(tensor("Delta"), tensor("V")));
  steps.add("writes", Purpose::update, "Write of each token",
            "The outer product of key and value for each token alone.", "B",
            call("row_outer", {tensor("K"), tensor("U")}));
  steps.line("Write of each token", "The key times the value times the time step.", {"U"});
  steps.add("fade_in", Purpose::fade_in, "Decay from the start",
            "How much of the memory carried in remains at each token?", "E_bar",
            call("cumulative_decay", {tensor("E")}));
  steps.line("Decay from the start", "The product of all decays up to each token.");
  steps.add("scan", Purpose::scan, "Written since the start",
            "The sum of the decayed writes of " + scope + " up to this token, by a parallel scan.", "B_bar",
            call("scan", {tensor("E"), tensor("B")}));
  steps.line("Written since the start",
             "A parallel scan: an associative operation joins neighbouring pieces.");
  steps.add("states", Purpose::write, "Memory after every token",
            "The decayed carried-in memory plus the writes since; one row per token.", "S_all",
            call("scanned_states", {tensor("S_in"), tensor("E_bar"), tensor("B_bar")}), true);
  steps.line("Memory after every token", "All memories at once, one row each.");
  add_outputs(steps, "What does the memory after each token return for its query?",
              call("read_rows", {query, tensor("S_all")}), "O", "V", has_skip);
  steps.line("Output", "Every query reads the memory after its own token.", {"read"});
  const std::string carried = whole ? "The memory after the last token." : "One state for the next chunk.";
  steps.add_line({"carry", Purpose::carry, "Memory carried on", carried, "S_out",
                  call("scanned_end", {tensor("S_in"), tensor("E_bar"), tensor("B_bar")})});
  steps.carry({{"S_out", "S_in"}});
  return steps.take();
}

/// What each form of Mamba (spec 3.14) shows, under the names that core/engines/mamba records.
Steps mamba_steps(const Sequence& sequence, Form form, Index) {
  const bool has_skip = sequence.has("D");
  Symbols symbols = usual_symbols(form, "\\sigma");
  symbols.insert(
      {{"A", {"A", Role::gate, "rate of each entry"}}, {"D", {"D", Role::plain, "skip connection"}}});
  if (form == Form::recurrent) {
    symbols.insert({{"delta", {"\\Delta_t", Role::strength, "time step of each channel"}},
                    {"E", {"E_t", Role::gate, "decay"}},
                    {"S_before", {"S_{t-1}", Role::state, "memory before"}},
                    {"S_decayed", {"\\bar S_t", Role::state, "memory after decay"}},
                    {"u", {"u_t", Role::value, "value times step"}},
                    {"update", {"B_t", Role::state, "update"}},
                    {"S_after", {"S_t", Role::state, "memory after"}},
                    {"read", {"y_t", Role::output, "what the memory returns"}}});
    return {{mamba_token_phase(query(sequence.settings, "q"), has_skip)}, symbols};
  }
  const bool whole = form == Form::parallel;
  symbols.insert({{"Delta", {"\\Delta", Role::strength, "time steps"}},
                  {"E", {"E", Role::gate, "decay at each token"}},
                  {"U", {"U", Role::value, "values times steps"}},
                  {"B", {"B", Role::state, "write of each token", false}},
                  {"E_bar", {"\\bar E", Role::gate, "decay from the start"}},
                  {"B_bar", {"\\bar B", Role::state, "written since the start", false}},
                  {"S_in", {whole ? "S_0" : "S", Role::state, "memory carried in"}},
                  {"S_all", {"S_{1:L}", Role::state, "memory after every token", false}},
                  {"read", {"Y", Role::output, "what the memory returns"}},
                  {"S_out", {whole ? "S_n" : "S'", Role::state, "memory carried on"}}});
  return {{mamba_scan_phase(query(sequence.settings, "Q"), has_skip, whole)}, symbols};
}

/// The stored pairs: keys [L, K], and values times their steps delta, which is what is written, [L, V].
StoredPairs stored(const Sequence& sequence, Index first, Index count) {
  const Rows<double> rows{sequence, first, count};
  return {rows("k"), rows("delta").cwiseProduct(rows("v"))};
}

std::vector<InnerProblem> mamba_problems(const InnerContext& context) {
  const auto [key, value] = stored(context.sequence, context.token, 1);
  const Matrix<double> A = context.sequence.at("A").all<double>();
  const Matrix<double> forgotten = -(A * row_of(context, "delta").asDiagonal()).array().expm1();
  return step_from(context, state_of(context.before, "S"),
                   {{dot_loss(one_pair(key, value))}, {shrinking_loss(forgotten)}});
}

}  // namespace

/// Spec 3.14: S_t = exp(A o 1 delta_t^T) o S_{t-1} + k_t (delta_t o v_t)^T, o_t = S_t^T q_t + D o v_t.
Variant mamba() {
  return {
      .id = "mamba",
      .label = "Mamba (S6)",
      .words =
          "Each entry of the memory has its own decay rate; each token sets the time step. "
          "In the paper, q is C, k is B and v is x; A is -exp(A_log), transposed.",
      .paper = "Gu & Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 2023",
      .inputs = {demonstrated({"delta", {"n", "dv"}, Range::non_negative, "time step per channel"},
                              {.value = 0.1}),
                 forgetting(demonstrated({"A",
                                          {"dk", "dv"},
                                          Range::non_positive,
                                          "log decay rate: the transpose of Mamba's A (d_inner, d_state)"},
                                         {.value = -1}),
                            0),
                 {"D", {"dv"}, Range::finite, "skip connection", "0"},
                 initial_state_input()},
      .loss = {.words = "Linear attention with values scaled by the time step and a separate weight decay "
                        "for every entry.",
               .latex = "-\\langle S^{\\top}k_t, \\Delta_t\\odot v_t\\rangle + "
                        "\\tfrac12\\|\\sqrt{1-E_t}\\odot S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = mamba_problems},
      .memory = {.pairs = stored},
      .rule = walk_rule<MambaWalk>({.steps = mamba_steps, .cost = mamba_cost}),
  };
}

}  // namespace palimpsest
