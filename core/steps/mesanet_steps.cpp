#include "core/steps/mesanet_steps.h"

namespace palimpsest {

namespace {

Phase token_phase(bool scaled) {
  const Expression query = scaled ? tensor("scale") * tensor("q") : tensor("q");
  const Expression strong_key = tensor("beta") * tensor("k");
  PhaseBuilder steps("token by token");
  steps.add({"decay_keys",
             Purpose::decay,
             "Which keys are kept",
             "How much is still known of the earlier keys when “{token}” comes in?",
             {"Hkk_decayed", tensor("gamma") * tensor("Hkk_before")}});
  steps.add({"write_keys",
             Purpose::keys,
             "Which keys there were",
             "The key of “{token}” is counted: which directions have been met, and how often?",
             {"Hkk_after", tensor("Hkk_decayed") + strong_key * transpose(tensor("k"))}});
  steps.line("Which keys there were", "Every direction, as often as it was met.", "Hkk_after",
             {"Hkk_decayed"}, 2);
  steps.add({"decay_values",
             Purpose::decay,
             "What is kept",
             "How much stays of what the keys stood for?",
             {"Hkv_decayed", tensor("gamma") * tensor("Hkv_before")}});
  steps.add({"write_values",
             Purpose::write,
             "What they stood for",
             "The value is laid down along the key, over what is there.",
             {"Hkv_after", tensor("Hkv_decayed") + strong_key * transpose(tensor("v"))}});
  steps.line("What they stood for", "What stays, and what “{token}” adds.", "Hkv_after", {"Hkv_decayed"}, 2);
  steps.add({"solve",
             Purpose::solve,
             "What the query asks for",
             "Often met directions are weighed down: what is asked, measured against what was met?",
             {"x", call("solve_symmetric", {tensor("Hkk_after") + tensor("ridge"), query})}});
  steps.add({"output",
             Purpose::output,
             "What comes out",
             "The best linear memory of all that was seen answers the query of “{token}”.",
             {"o", transpose(tensor("Hkv_after")) * tensor("x")}});
  steps.line("The memory is asked", "First the least-squares problem is solved, then the answer is read.",
             "o", {"x"}, 2);
  steps.carry({{"Hkk_after", "Hkk_before"}, {"Hkv_after", "Hkv_before"}});
  return steps.take();
}

/// One chunk (all solves by conjugate gradients) or the whole sequence (one solve after the other).
Phase rows_phase(bool scaled, bool whole) {
  const std::string scope = whole ? "the sequence" : "the chunk";
  const Expression query = scaled ? tensor("scale") * tensor("Q") : tensor("Q");
  const Expression strong_keys = hadamard(hadamard(tensor("g_out"), tensor("beta")), tensor("K"));
  const Expression scores = hadamard(tensor("X") * transpose(tensor("K")), tensor("W"));
  const std::string carried =
      whole ? "What is known after the last token." : "Two matrices for the next chunk.";
  PhaseBuilder steps(whole ? "the whole sequence at once" : "chunk by chunk");
  steps.add({"mask",
             Purpose::mask,
             "Kept since",
             "How much of what token j wrote is left when token i reads?",
             {"G", call("decay_mask", {tensor("gamma")})}});
  steps.add({"weights",
             Purpose::mask,
             "What counts how much",
             "How much does token j count in the sum that token i looks back on?",
             {"W", hadamard(tensor("G"), transpose(tensor("beta")))}});
  steps.line("What counts how much", "The past, faded, each token by its weight.", "W");
  steps.add({"fade_in",
             Purpose::fade_in,
             "Kept from the start",
             "How much of what was carried in is left at each token?",
             {"g_in", call("cumulative_decay", {tensor("gamma")})}});
  steps.add(
      {"solve",
       Purpose::solve,
       "What the queries ask for",
       whole
           ? "Each query is measured against all keys met so far: one system per token."
           : "Each query is measured against all keys met so far. All systems are solved side by side, step "
             "by step, and none of their matrices is ever written down.",
       {"X", call("solve_grams",
                  {tensor("g_in"), tensor("Hkk_in"), tensor("W"), tensor("K"), tensor("ridge"), query})},
       whole});
  steps.line("What the queries ask for", "One least-squares problem per token.", "X");
  steps.add({"check",
             Purpose::check,
             "The solutions put back",
             "Put back into its system, does every solution give its query?",
             {"Q_back", hadamard(tensor("g_in"), tensor("X") * tensor("Hkk_in")) + scores * tensor("K") +
                            tensor("X") * tensor("ridge")}});
  steps.line("The solutions put back", "Put back into its system, every solution gives its query.", "Q_back");
  steps.add({"scores",
             Purpose::scores,
             "Who reads whom",
             "How strongly does each solved query meet each earlier key?",
             {"A", scores}});
  steps.line("Who reads whom", "Linear attention, with solved queries.", "A");
  steps.add({"inter",
             Purpose::inter,
             "From before",
             "What does the memory carried in answer?",
             {"O_inter", hadamard(tensor("g_in"), tensor("X")) * tensor("Hkv_in")}});
  steps.add({"intra",
             Purpose::intra,
             "From inside",
             "What do the tokens of " + scope + " add for each other?",
             {"O_intra", tensor("A") * tensor("V")}});
  steps.add({"output",
             Purpose::output,
             "What comes out",
             "State passed in + inside the chunk = what the recurrence gives, token by token.",
             {"O", tensor("O_inter") + tensor("O_intra")}});
  steps.line("What comes out", "From the memory carried in, and from inside " + scope + ".", "O",
             {"O_inter", "O_intra"});
  steps.add({"fade_out",
             Purpose::fade_out,
             "Kept to the end",
             "How much of each write is left at the end of " + scope + "?",
             {"g_out", call("remaining_decay", {tensor("gamma")})}});
  steps.add({"fade_over",
             Purpose::fade_over,
             "Kept over all",
             "How much of what was carried in is left at the end of " + scope + "?",
             {"g_total", call("total_decay", {tensor("gamma")})}});
  steps.add({"carry_keys",
             Purpose::keys,
             "Which keys there were",
             carried,
             {"Hkk_out", tensor("g_total") * tensor("Hkk_in") + transpose(strong_keys) * tensor("K")}});
  steps.line("Which keys there were", carried, "Hkk_out");
  steps.add({"carry_values",
             Purpose::carry,
             "What they stood for",
             carried,
             {"Hkv_out", tensor("g_total") * tensor("Hkv_in") + transpose(strong_keys) * tensor("V")}});
  steps.line("What they stood for", carried, "Hkv_out");
  steps.carry({{"Hkk_out", "Hkk_in"}, {"Hkv_out", "Hkv_in"}});
  return steps.take();
}

}  // namespace

Steps mesanet_steps(const Sequence& sequence, Form form, Index) {
  const bool scaled = sequence.parameter("scale") != 1;
  const bool by_token = form == Form::recurrent;
  const std::string t = by_token ? "_t" : "";
  Symbols symbols = {{"scale", {"\\sigma", Role::plain, "scale of the query"}},
                     {"gamma", {"\\gamma" + t, Role::gate, "how much is kept"}},
                     {"beta", {"\\beta" + t, Role::strength, "weight of the token"}},
                     {"ridge", {"\\Lambda", Role::plain, "ridge"}}};
  if (by_token) {
    symbols.insert({{"q", {"q_t", Role::query, "what is asked"}},
                    {"k", {"k_t", Role::key, "where it is written"}},
                    {"v", {"v_t", Role::value, "what should be there"}},
                    {"Hkk_before", {"H^{kk}_{t-1}", Role::state, "which keys there were before", false}},
                    {"Hkk_decayed", {"\\bar H^{kk}_t", Role::state, "which keys are kept", false}},
                    {"Hkk_after", {"H^{kk}_t", Role::state, "which keys there were", false}},
                    {"Hkv_before", {"H^{kv}_{t-1}", Role::state, "what they stood for before"}},
                    {"Hkv_decayed", {"\\bar H^{kv}_t", Role::state, "what is kept"}},
                    {"Hkv_after", {"H^{kv}_t", Role::state, "what they stood for"}},
                    {"x", {"x_t", Role::query, "what the query asks for"}},
                    {"o", {"o_t", Role::output, "what comes out"}}});
    return {{token_phase(scaled)}, symbols};
  }
  const bool whole = form == Form::parallel;
  const std::string in = whole ? "_0" : "";
  symbols.insert(
      {{"Q", {"Q", Role::query, "what is asked"}},
       {"K", {"K", Role::key, "where it is written"}},
       {"V", {"V", Role::value, "what should be there"}},
       {"G", {"G", Role::gate, "kept since"}},
       {"W", {"W", Role::gate, "what counts how much"}},
       {"g_in", {"g", Role::gate, "kept from the start"}},
       {"g_out", {"\\tilde g", Role::gate, "kept to the end"}},
       {"g_total", {whole ? "g_n" : "g_L", Role::gate, "kept over all"}},
       {"Hkk_in", {"H^{kk}" + in, Role::state, "which keys there were before", false}},
       {"Hkv_in", {"H^{kv}" + in, Role::state, "what they stood for before"}},
       {"X", {"X", Role::query, "what the queries ask for"}},
       {"Q_back", {"\\hat Q", Role::query, "the queries again"}},
       {"A", {"A", Role::plain, "who reads whom"}},
       {"O_inter", {"O_{\\mathrm{before}}", Role::output, "from before"}},
       {"O_intra", {"O_{\\mathrm{inside}}", Role::output, "from inside"}},
       {"O", {"O", Role::output, "what comes out"}},
       {"Hkk_out", {whole ? "H^{kk}_n" : "H^{kk\\prime}", Role::state, "which keys there were", false}},
       {"Hkv_out", {whole ? "H^{kv}_n" : "H^{kv\\prime}", Role::state, "what they stood for"}}});
  return {{rows_phase(scaled, whole)}, symbols};
}

}  // namespace palimpsest
