#include "core/steps/mamba_steps.h"

namespace palimpsest {

namespace {

/// The last step of every form: what is read, and past it the value itself.
void add_outputs(PhaseBuilder& steps, const std::string& title, const Expression& read, const std::string& o,
                 const std::string& v, bool has_skip) {
  if (!has_skip) {
    steps.add({"output", Purpose::output, "What comes out", title, {o, read}});
    return;
  }
  steps.add({"read", Purpose::ask, "What the memory says", title, {"read", read}});
  steps.add({"output",
             Purpose::output,
             "What comes out",
             "The value itself also passes by the memory, channel by channel.",
             {o, tensor("read") + hadamard(tensor("D"), tensor(v))}});
}

Phase token_phase(bool scaled, bool has_skip) {
  const Expression query = scaled ? tensor("scale") * tensor("q") : tensor("q");
  PhaseBuilder steps("token by token");
  steps.add({"decays",
             Purpose::gates,
             "How fast it fades",
             "How much of each cell is left after the time that “{token}” takes?",
             {"E", call("exp", {hadamard(tensor("A"), transpose(tensor("delta")))})}});
  steps.line("How fast it fades", "Every cell has a rate of its own; the token sets the pace.", "E");
  steps.add({"decay",
             Purpose::decay,
             "What is kept",
             "How much of the memory stays when “{token}” comes in?",
             {"S_decayed", hadamard(tensor("E"), tensor("S_before"))}});
  steps.add({"step",
             Purpose::prepare,
             "The value, by its time",
             "A longer step writes more.",
             {"u", hadamard(tensor("delta"), tensor("v"))}});
  steps.add({"update",
             Purpose::update,
             "What is written",
             "The value is laid down along the key, over what is there.",
             {"update", tensor("k") * transpose(tensor("u"))}});
  steps.add({"write",
             Purpose::write,
             "The memory after",
             "The page after “{token}”.",
             {"S_after", tensor("S_decayed") + tensor("update")}});
  steps.line("The memory is rewritten", "What stays, and what “{token}” adds.", "S_after",
             {"S_decayed", "u", "update"}, 3);
  add_outputs(steps, "What does the memory answer to the query of “{token}”?",
              transpose(tensor("S_after")) * query, "o", "v", has_skip);
  steps.line("The memory is asked", "What comes out for the query.", "o", {"read"}, 1.4);
  steps.carry({{"S_after", "S_before"}});
  return steps.take();
}

Phase scan_phase(bool scaled, bool has_skip, bool whole) {
  const std::string scope = whole ? "the sequence" : "the chunk";
  const Expression query = scaled ? tensor("scale") * tensor("Q") : tensor("Q");
  PhaseBuilder steps(whole ? "the whole sequence at once" : "chunk by chunk");
  steps.add(
      {"decays",
       Purpose::gates,
       "How fast it fades",
       "How much of each cell does each token leave? One row is the whole memory of one token, cell by cell.",
       {"E", call("step_decays", {tensor("A"), tensor("Delta")})}});
  steps.line("How fast it fades", "One row per token, one column per cell of the memory.", "E");
  steps.add({"step",
             Purpose::prepare,
             "The values, by their time",
             "A longer step writes more.",
             {"U", hadamard(tensor("Delta"), tensor("V"))}});
  steps.add({"writes",
             Purpose::update,
             "What each token writes",
             "What would the memory be if only this token had been there?",
             {"B", call("row_outer", {tensor("K"), tensor("U")})}});
  steps.line("What each token writes", "Along its key, by its time.", "B", {"U"});
  steps.add({"fade_in",
             Purpose::fade_in,
             "Kept from the start",
             "How much of the memory carried in is left at each token?",
             {"E_bar", call("cumulative_decay", {tensor("E")})}});
  steps.line("Kept from the start", "All decays up to each token, multiplied.", "E_bar");
  steps.add({"scan",
             Purpose::scan,
             "Written since the start",
             "What have the tokens of " + scope +
                 " up to this one written? Halves are joined to wholes: the order "
                 "is kept, the waiting is not.",
             {"B_bar", call("scan", {tensor("E"), tensor("B")})}});
  steps.line("Written since the start", "A scan: two pieces joined are a piece again.", "B_bar");
  steps.add({"states",
             Purpose::write,
             "The memory of every token",
             "The memory carried in, faded, and what was written since: one row per token.",
             {"S_all", call("scanned_states", {tensor("S_in"), tensor("E_bar"), tensor("B_bar")})},
             true});
  steps.line("The memory of every token", "All pages at once, one row each.", "S_all");
  add_outputs(steps, "What does the memory of each token answer to its query?",
              call("read_rows", {query, tensor("S_all")}), "O", "V", has_skip);
  steps.line("What comes out", "Every query asks the memory of its own token.", "O", {"read"});
  const std::string carried = whole ? "The memory after the last token." : "One state for the next chunk.";
  steps.add({"carry",
             Purpose::carry,
             "What is carried on",
             carried,
             {"S_out", call("scanned_end", {tensor("S_in"), tensor("E_bar"), tensor("B_bar")})}});
  steps.line("What is carried on", carried, "S_out");
  steps.carry({{"S_out", "S_in"}});
  return steps.take();
}

}  // namespace

Steps mamba_steps(const Sequence& sequence, Form form, Index) {
  const bool scaled = sequence.parameter("scale") != 1;
  const bool has_skip = sequence.has("D");
  Symbols symbols = {{"scale", {"\\sigma", Role::plain, "scale of the query"}},
                     {"A", {"A", Role::gate, "rate of each cell"}},
                     {"D", {"D", Role::plain, "what passes by the memory"}}};
  if (form == Form::recurrent) {
    symbols.insert({{"q", {"q_t", Role::query, "what is asked"}},
                    {"k", {"k_t", Role::key, "where it is written"}},
                    {"v", {"v_t", Role::value, "what should be there"}},
                    {"delta", {"\\Delta_t", Role::strength, "time step of each channel"}},
                    {"E", {"E_t", Role::gate, "how much is kept"}},
                    {"S_before", {"S_{t-1}", Role::state, "memory before"}},
                    {"S_decayed", {"\\bar S_t", Role::state, "what is kept"}},
                    {"u", {"u_t", Role::value, "value times step"}},
                    {"update", {"B_t", Role::state, "update"}},
                    {"S_after", {"S_t", Role::state, "memory after"}},
                    {"read", {"y_t", Role::output, "what the memory says"}},
                    {"o", {"o_t", Role::output, "what comes out"}}});
    return {{token_phase(scaled, has_skip)}, symbols};
  }
  const bool whole = form == Form::parallel;
  symbols.insert({{"Q", {"Q", Role::query, "what is asked"}},
                  {"K", {"K", Role::key, "where it is written"}},
                  {"V", {"V", Role::value, "what should be there"}},
                  {"Delta", {"\\Delta", Role::strength, "time steps"}},
                  {"E", {"E", Role::gate, "how much each token keeps"}},
                  {"U", {"U", Role::value, "values times steps"}},
                  {"B", {"B", Role::state, "what each token writes", false}},
                  {"E_bar", {"\\bar E", Role::gate, "kept from the start"}},
                  {"B_bar", {"\\bar B", Role::state, "written since the start", false}},
                  {"S_in", {whole ? "S_0" : "S", Role::state, "memory carried in"}},
                  {"S_all", {"S_{1:L}", Role::state, "memory of every token", false}},
                  {"read", {"Y", Role::output, "what the memory says"}},
                  {"O", {"O", Role::output, "what comes out"}},
                  {"S_out", {whole ? "S_n" : "S'", Role::state, "memory carried on"}}});
  return {{scan_phase(scaled, has_skip, whole)}, symbols};
}

}  // namespace palimpsest
