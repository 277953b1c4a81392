#include "core/steps/phase.h"

namespace palimpsest {

namespace {

/// The definitions that the last line writes out: the program's read `o`, if further steps follow it.
std::vector<std::string> written_out(const std::vector<Operation>& after, const std::string& o) {
  return after.empty() ? std::vector<std::string>() : std::vector<std::string>{o};
}

bool has_any_decay(const Structure& structure) {
  return structure.decay != Decay::none || structure.value_decay;
}

/// The steps of one token. Spec 2.2 with read and write as separate steps.
struct TokenSteps {
  const Structure& structure;
  const Notation& notation;
  bool scaled;

  Expression query() const { return palimpsest::query(scaled && notation.token.q == "q", notation.token.q); }

  void decay(PhaseBuilder& steps) const {
    Expression kept = tensor("S_before");
    if (structure.decay == Decay::scalar) kept = tensor("alpha") * kept;
    if (structure.decay == Decay::key) kept = diagonal(tensor("alpha")) * kept;
    if (structure.value_decay) kept = kept * diagonal(tensor("mu"));
    steps.add("decay", Purpose::decay, "The memory after decay",
              "How much of the memory does the decay keep before “{token}” is written?", "S_decayed", kept);
  }

  void read(PhaseBuilder& steps, const std::string& state) const {
    const Expression a = tensor(structure.erase_key ? notation.token.a : notation.token.k);
    const Expression answer = transpose(tensor(state)) * a;
    steps.add(
        "read", Purpose::read, "Prediction v̂",
        structure.writes_value
            ? "What does the memory already return for the key of “{token}”? Only the difference is written."
            : "What does the memory return for the key a?",
        "old", answer);
    steps.add("error", Purpose::error, structure.writes_value ? "Error e = v − v̂" : "Minus the prediction",
              structure.writes_value
                  ? "How large is the error of the prediction, given the target v?"
                  : "The prediction with the opposite sign: it is subtracted from the memory.",
              "error",
              structure.writes_value ? tensor(notation.token.v) - tensor("old")
                                     : call("negative", {tensor("old")}));
  }

  void write(PhaseBuilder& steps) const {
    const char* sentence = "The decayed memory plus the update of “{token}”.";
    if (!structure.parts.empty()) {  // the rule says itself how they move
      steps.add_all(notation.token_write);
      return steps.line("The memory is updated", sentence, {"update", "error"}, 3);
    }
    const bool erases = structure.erase != Erase::none;
    const bool decays = has_any_decay(structure);
    const std::string kept = decays ? "S_decayed" : "S_before";
    if (structure.erase == Erase::undecayed) read(steps, "S_before");
    if (decays) decay(steps);
    if (structure.erase == Erase::decayed) read(steps, kept);

    const Expression k = tensor(notation.token.k);
    const Expression strength = structure.beta ? tensor(notation.token.beta) * k : k;
    const Expression written = tensor(erases ? "error" : notation.token.v);
    steps.add("update", Purpose::update, "Rank-one update",
              erases ? "The outer product of key and error: it removes the old value and adds the new one."
                     : "The outer product of key and value is added to the memory.",
              "update", strength * transpose(written));
    Expression after = tensor(kept) + tensor("update");
    if (structure.plain_write) {
      steps.add("plain_update", Purpose::update, "Plain update",
                "The outer product of key and value of “{token}”, without a correction.", "plain_update",
                tensor(notation.token.k_plain) * transpose(tensor(notation.token.v_plain)));
      after = after + tensor("plain_update");
    }
    steps.add("write", Purpose::write, "Memory after the write", "The memory after the write of “{token}”.",
              "S_after", after);
    steps.line("The memory is updated", sentence, {"update", "plain_update", "S_decayed", "error"}, 3);
  }

  bool reads_first() const { return structure.read_at == ReadAt::before_row; }

  void output(PhaseBuilder& steps, const std::string& state) const {
    steps.add_all(notation.token_query);
    steps.add(
        "output", Purpose::output, "Output",
        reads_first() ? "What does the memory return for the query of “{token}”, before this token's write?"
                      : "What does the memory return for the query of “{token}”?",
        notation.token.o, transpose(notation.token_read ? *notation.token_read : tensor(state)) * query());
    steps.add_all(notation.token_after);
    steps.line("The memory is queried", "The output for this query.",
               written_out(notation.token_after, notation.token.o), 1.4);
  }
};

/// The steps of one chunk (spec 2.3) or of the whole sequence (spec 2.4): the same algebra, other words.
struct ChunkSteps {
  const Structure& structure;
  const Notation& notation;
  bool scaled;
  bool whole;          // the parallel form
  bool writes = true;  // the steps towards the next state
  bool reads = true;   // the steps towards the outputs; a pass may have only one of the two

  std::string scope() const { return whole ? "the sequence" : "the chunk"; }

  Expression Q() const { return query(scaled && notation.rows.q == "Q", notation.rows.q); }
  Expression K() const { return tensor(notation.rows.k); }
  Expression A() const { return tensor(structure.erase_key ? notation.rows.a : notation.rows.k); }
  Expression B() const { return structure.beta ? hadamard(tensor(notation.rows.beta), K()) : K(); }
  Expression U() const { return tensor(structure.erase == Erase::none ? notation.rows.v : "U"); }
  Expression K_plain() const { return tensor(notation.rows.k_plain); }
  Expression V_plain() const { return tensor(notation.rows.v_plain); }

  bool has_parts() const { return !structure.parts.empty(); }
  bool decays_keys() const { return structure.decay != Decay::none; }
  bool asks_early() const { return reads && structure.read_at == ReadAt::before_row; }
  bool erases_early() const { return writes && structure.erase == Erase::undecayed && decays_keys(); }
  bool picks_rows() const { return structure.rows_per_read > 1; }

  /// The rows of a table that belong to the queries, where it has several for each.
  Expression at_reads(Expression table) const { return picks_rows() ? reading_rows() * table : table; }
  Expression at_reads(const char* table) const { return at_reads(tensor(table)); }
  Expression reading_rows() const { return tensor(asks_early() ? "first_steps" : "last_steps"); }

  /// Vectors that read the state carried in, decayed as far as the row that reads.
  Expression erase_from_start() const {
    if (has_parts()) return call("spread", {tensor("g_erase"), A()});
    if (!decays_keys()) return A();
    return hadamard(tensor(erases_early() ? "g_before" : "g_in"), A());
  }
  Expression query_from_start() const {
    if (has_parts()) return call("spread", {tensor("g_in"), Q()});
    if (!decays_keys()) return Q();
    return hadamard(at_reads(asks_early() ? "g_before" : "g_in"), Q());
  }

  /// How much each row's erase reads of the writes Y before it.
  Expression erase_scores(const Expression& Y) const {
    if (has_parts()) return hadamard(A() * transpose(Y), tensor("G_erase"));
    if (structure.decay == Decay::key) {
      return erases_early() ? call("decay_scores_before", {A(), Y, tensor("alpha")})
                            : call("strictly_lower", {call("decay_scores", {A(), Y, tensor("alpha")})});
    }
    const Expression products = A() * transpose(Y);
    if (!decays_keys()) return call("strictly_lower", {products});
    return erases_early() ? hadamard(products, tensor("G_before"))
                          : call("strictly_lower", {hadamard(products, tensor("G"))});
  }

  /// How much each query reads of the writes Y up to its own token, or before it.
  Expression query_scores(const Expression& Y) const {
    if (has_parts()) return hadamard(Q() * transpose(Y), tensor("G"));
    if (structure.read_at == ReadAt::end)
      return Q() * transpose(decays_keys() ? hadamard(tensor("g_out"), Y) : Y);
    if (structure.decay == Decay::key) {
      const Expression asked = picks_rows() ? transpose(reading_rows()) * Q() : Q();
      return at_reads(
          call(asks_early() ? "decay_scores_before" : "decay_scores", {asked, Y, tensor("alpha")}));
    }
    const Expression products = Q() * transpose(Y);
    if (!decays_keys()) return call(asks_early() ? "strictly_lower" : "lower", {products});
    return hadamard(products, at_reads(asks_early() ? "G_before" : "G"));
  }

  /// All decays that may be needed; those that nothing reads are dropped (chunk_phase()).
  void decays(PhaseBuilder& steps) const {
    if (has_parts()) part_decays(steps);
    if (decays_keys()) key_decays(steps);
    if (structure.value_decay) value_decays(steps);
  }

  void part_decays(PhaseBuilder& steps) const {
    const Expression T = tensor("transition");
    const Expression c = tensor("inject");
    const Expression h = tensor("read_sight");
    const Expression e = tensor("erase_sight");
    steps.add("mask", Purpose::mask, "Kept since the write",
              "How much of the write of token j remains for the query of token i?", "G",
              call("parts_mask", {T, c, h, tensor("read_times")}));
    steps.add("fade_in", Purpose::fade_in, "Decay from the start",
              "How much of each carried-in state remains for each query?", "g_in",
              call("parts_from_start", {T, h, tensor("read_times")}));
    steps.add("erase_mask", Purpose::erase_mask, "Kept since the write, for the error",
              "How much of the write of token j is in the prediction that token i corrects?", "G_erase",
              call("parts_mask", {T, c, e, tensor("erase_times")}));
    steps.add("erase_fade_in", Purpose::erase_fade_in, "Kept from the start, for the error",
              "How much of each carried-in state is in the prediction that token i corrects?", "g_erase",
              call("parts_from_start", {T, e, tensor("erase_times")}));
    steps.add("fade_out", Purpose::fade_out, "Decay to the end",
              "How much of each write is in each state at the end of " + scope() + "?", "g_out",
              call("parts_to_end", {T, c}));
    steps.add("fade_over", Purpose::fade_over, "Mixed over all tokens", "How do the carried-in states mix?",
              "g_total", call("parts_total", {T, c}));
  }

  void key_decays(PhaseBuilder& steps) const {
    const Expression alpha = tensor("alpha");
    steps.add("mask", Purpose::mask, "Decay since the write",
              "How much of the write of token j remains when token i reads?", "G",
              call("decay_mask", {alpha}));
    steps.add("mask_before", Purpose::erase_mask, "Decay since the write, without this token's",
              "How much of the write of token j remains just before the decay of token i?", "G_before",
              call("decay_mask_before", {alpha}));
    steps.add("fade_in", Purpose::fade_in, "Decay from the start",
              "How much of the memory carried in remains at each token?", "g_in",
              call("cumulative_decay", {alpha}));
    steps.add("fade_before", Purpose::erase_fade_in, "Decay until just before",
              "How much of the memory carried in remains just before each token?", "g_before",
              call("cumulative_decay_before", {alpha}));
    steps.add("fade_out", Purpose::fade_out, "Decay to the end",
              "How much of each write remains at the end of " + scope() + "?", "g_out",
              call("remaining_decay", {alpha}));
    steps.add("fade_over", Purpose::fade_over, "Total decay",
              "How much of the memory carried in remains at the end of " + scope() + "?", "g_total",
              call("total_decay", {alpha}));
  }

  void value_decays(PhaseBuilder& steps) const {
    const Expression mu = tensor("mu");
    steps.add("value_fade_in", Purpose::fade_in, "Value decay from the start",
              "How much of each value channel carried in remains at each token?", "m_in",
              call("cumulative_decay", {mu}));
    steps.add("value_fade_before", Purpose::fade_in, "Value decay until just before",
              "How much of each value channel carried in remains just before each token?", "m_before",
              call("cumulative_decay_before", {mu}));
    steps.add("value_fade_out", Purpose::fade_out, "Value decay to the end",
              "How much of each value written remains at the end of " + scope() + "?", "m_out",
              call("remaining_decay", {mu}));
    steps.add("value_fade_over", Purpose::fade_over, "Total value decay",
              "How much of each value channel carried in remains at the end of " + scope() + "?", "m_total",
              call("total_decay", {mu}));
  }

  void who_reads_whom(PhaseBuilder& steps) const {
    const bool at_end = structure.read_at == ReadAt::end;
    steps.add_all(notation.rows_query);
    steps.add("scores", Purpose::scores, "Attention scores",
              "The weight of each write in each output: the inner product of query and key, scaled.", "P",
              query_scores(B()));
    if (structure.plain_write) {
      steps.add("plain_scores", Purpose::scores, "Scores of the plain writes",
                "The weight of each plain write in each output: the inner product of query and key, scaled.",
                "P_plain", query_scores(K_plain()));
    }
    const std::string sentence = at_end         ? "Every query with every key, without a mask"
                                 : asks_early() ? "The mask is strict: each query reads earlier tokens only"
                                 : whole        ? "All pairs at once; the mask keeps tokens up to the query"
                                         : "Only inside the chunk; the mask keeps tokens up to the query";
    steps.line("Attention scores", sentence + (decays_keys() && !at_end ? ", with their decay." : "."));
  }

  /// What the rows' erases read before any of them has written.
  Expression known(PhaseBuilder& steps) const {
    Expression found = erase_from_start() * tensor("S_in");
    if (structure.value_decay) found = hadamard(tensor("m_in"), found);
    if (!structure.plain_write) return found;
    steps.add("plain_overlap", Purpose::overlap, "Overlap with the plain writes",
              "How much of the plain writes is in each later prediction?", "N_plain",
              erase_scores(K_plain()));
    return found + tensor("N_plain") * V_plain();
  }

  void solve(PhaseBuilder& steps) const {
    if (structure.erase == Erase::none) return;
    const std::string sentence =
        "Each error depends on the earlier writes of " + scope() + ": the rows are solved in order.";
    steps.add("overlap", Purpose::overlap, "Overlap of the keys",
              "How much of each write does each later key retrieve?", "N", erase_scores(B()));
    const Expression found = known(steps);
    steps.add(
        "rest", Purpose::rest,
        structure.writes_value ? "Values minus the carried-in prediction" : "Minus the carried-in prediction",
        structure.writes_value
            ? "The values minus what the carried-in memory returns."
            : "Minus what the carried-in memory returns, before any token of " + scope() + " writes.",
        "R", structure.writes_value ? tensor(notation.rows.v) - found : call("negative", {found}));
    steps.add_line({"solve", Purpose::solve, "Solved errors", sentence, "U",
                    structure.value_decay ? call("solve_fading", {tensor("N"), tensor("R"), tensor("mu")})
                                          : call("solve_unit_lower", {tensor("N"), tensor("R")}),
                    true});
  }

  void outputs(PhaseBuilder& steps) const {
    const Expression S = tensor("S_in");
    Expression before = structure.read_at == ReadAt::end ? Q() * kept(S) : query_from_start() * S;
    if (structure.value_decay && structure.reads_on_the_way())
      before = hadamard(tensor(asks_early() ? "m_before" : "m_in"), before);
    steps.add("inter", Purpose::inter, "From the carried-in memory",
              "What does the carried-in memory return for each query?", "O_inter", before);
    const char* read_fading = asks_early() ? "read_fading_before" : "read_fading";
    Expression inside =
        structure.value_decay ? call(read_fading, {tensor("P"), U(), tensor("mu")}) : tensor("P") * U();
    if (structure.plain_write) inside = inside + tensor("P_plain") * V_plain();
    steps.add("intra", Purpose::intra, "From inside the block",
              "What the writes of " + scope() + " add to its own outputs.", "O_intra", inside);
    steps.add("output", Purpose::output, "Output",
              "Carried-in part + part inside " + scope() + " = the recurrence's outputs.", notation.rows.o,
              tensor("O_inter") + tensor("O_intra"));
    steps.add_all(notation.rows_after);
    steps.line("Output", "The part from the carried-in memory plus the part from inside " + scope() + ".",
               written_out(notation.rows_after, notation.rows.o));
  }

  /// A state carried over the whole chunk.
  Expression kept(const Expression& S) const {
    if (has_parts()) return call("mix_parts", {tensor("g_total"), S});
    Expression left = S;
    if (structure.decay == Decay::scalar) left = tensor("g_total") * left;
    if (structure.decay == Decay::key) left = diagonal(tensor("g_total")) * left;
    if (structure.value_decay) left = left * diagonal(tensor("m_total"));
    return left;
  }

  /// A write, decayed to the end of the chunk.
  Expression to_end(const Expression& Y) const {
    if (has_parts()) return call("spread", {tensor("g_out"), Y});
    return decays_keys() ? hadamard(tensor("g_out"), Y) : Y;
  }

  void carry(PhaseBuilder& steps) const {
    const Expression values = structure.value_decay ? hadamard(tensor("m_out"), U()) : U();
    Expression written = transpose(to_end(B())) * values;
    if (structure.plain_write) written = written + transpose(to_end(K_plain())) * V_plain();
    const std::string sentence = whole ? "The memory after the last token." : "One state for the next chunk.";
    const bool fades = has_any_decay(structure);
    steps.add("faded", Purpose::gathered, fades ? "All writes, decayed" : "All writes",
              fmt::format("The sum of all writes of {}{}.", scope(), fades ? ", decayed to its end" : ""),
              "S_written", written);
    steps.add_line({"carry", Purpose::carry, "Memory carried on", sentence, "S_out",
                    kept(tensor("S_in")) + tensor("S_written")});
  }
};

Phase token_phase(const TokenSteps& token, bool write, bool output) {
  PhaseBuilder steps(write ? "token by token" : "every token queries the final memory");
  const bool reads_first = output && token.reads_first();
  if (reads_first) token.output(steps, "S_before");
  if (write) {
    steps.add_all(token.notation.token_before);
    token.write(steps);
    steps.carry(token.structure.parts.empty() ? std::vector<Carry>{{"S_after", "S_before"}}
                                              : token.notation.token_carries);
  } else {
    steps.carry({{"S_after", "S_final"}});
  }
  if (output && !reads_first) token.output(steps, write ? "S_after" : "S_final");
  return steps.take();
}

/// Removes those of `operations` whose results nothing else in the phase reads.
void drop_unread(Phase& phase, const std::vector<Operation>& operations) {
  const auto is_read = [&](const std::string& name) {
    return std::ranges::any_of(phase.operations, [&](const Operation& operation) {
      return is_among(name, operands(operation.equation.expression));
    });
  };
  // From the last to the first: what only an unread one reads is unread too.
  for (auto each = operations.rbegin(); each != operations.rend(); ++each) {
    if (is_read(each->equation.result)) continue;
    std::erase_if(phase.operations, [&](const Operation& other) { return other.id == each->id; });
    for (Line& line : phase.lines) std::erase(line.operations, each->id);
  }
}

/// One pass over the chunks, with all its steps or with those of one purpose.
Phase chunk_phase(std::string title, const ChunkSteps& chunk, std::vector<Carry> carries) {
  PhaseBuilder steps(std::move(title));
  steps.add_all(chunk.notation.rows_before);
  chunk.decays(steps);
  std::vector<Operation> droppable = steps.operations();
  // What a rule prepares may be a state of its own: a whole pass keeps all of it.
  if (chunk.reads && chunk.writes)
    droppable.erase(droppable.begin(), droppable.begin() + std::ssize(chunk.notation.rows_before));
  if (chunk.reads) chunk.who_reads_whom(steps);
  if (chunk.writes) chunk.solve(steps);
  if (chunk.reads) chunk.outputs(steps);
  if (chunk.writes) chunk.carry(steps);
  steps.carry(std::move(carries));
  Phase phase = steps.take();
  drop_unread(phase, droppable);
  return phase;
}

Phase read_phase(const ChunkSteps& chunk) {
  PhaseBuilder reads("every token queries the final memory");
  reads.add_all(chunk.notation.rows_query);
  reads.add("output", Purpose::output, "Output", "Every token queries the memory after the last token.",
            chunk.notation.rows.o, chunk.Q() * tensor("S_final"));
  reads.add_all(chunk.notation.rows_after);
  reads.line("Output", "Every token queries the memory after the last token.",
             written_out(chunk.notation.rows_after, chunk.notation.rows.o));
  reads.carry({{"S_out", "S_final"}});
  return reads.take();
}

std::vector<Phase> chunk_phases(ChunkSteps chunk, Form form) {
  const Carry on = {"S_out", "S_in"};
  if (form != Form::parallel && chunk.structure.read_at == ReadAt::end) {
    chunk.reads = false;
    return {chunk_phase("chunk by chunk", chunk, {on}), read_phase(chunk)};
  }
  if (form != Form::two_pass) {
    return {chunk_phase(chunk.whole ? "the whole sequence at once" : "chunk by chunk", chunk, {on})};
  }
  ChunkSteps first = chunk;
  first.reads = false;
  chunk.writes = false;
  std::vector<Carry> handed = {{"S_in", "S_in", Carry::When::same_tokens}};
  if (chunk.structure.erase != Erase::none) handed.push_back({"U", "U", Carry::When::same_tokens});
  return {chunk_phase("first the memory before every chunk", first, {on}),
          chunk_phase("then the outputs, each chunk by itself", chunk, std::move(handed))};
}

/// "\\log z" for "\\log z_t", "\\log z^{-}" for "\\log z_{t-1}": rows of many tokens have no index t.
std::string without_token(std::string latex) {
  const auto replace = [&latex](std::string_view old, std::string_view now) {
    for (std::size_t at = latex.find(old); at != std::string::npos; at = latex.find(old, at + now.size()))
      latex.replace(at, old.size(), now);
  };
  replace("_{t-1}", "^{-}");
  replace("_t", "");
  return latex;
}

}  // namespace

std::vector<Phase> row_phases(const Structure& structure, const Notation& notation, Form form, bool scaled) {
  if (form != Form::recurrent)
    return chunk_phases({structure, notation, scaled, form == Form::parallel}, form);
  const TokenSteps token{structure, notation, scaled};
  if (structure.rows_per_read > 1) {
    const bool first = token.reads_first();
    return {token_phase(token, true, first), token_phase(token, true, !first)};
  }
  if (structure.read_at == ReadAt::end)
    return {token_phase(token, true, false), token_phase(token, false, true)};
  return {token_phase(token, true, true)};
}

Symbols row_symbols(const Structure& structure, const Notation& notation, Form form) {
  const bool token = form == Form::recurrent;
  const std::string t = token ? "_t" : "";
  Symbols symbols = usual_symbols(form, "\\sigma");
  symbols.insert({{"alpha", {"\\alpha" + t, Role::gate, "decay"}},
                  {"beta", {"\\beta" + t, Role::strength, "write strength"}},
                  {"mu", {"\\mu" + t, Role::gate, "value decay"}},
                  {"S_final", {"S_n", Role::state, "memory after the last token"}}});
  const bool has_decay = structure.decay != Decay::none;
  const char* const missing = structure.writes_value ? "error e = v − v̂" : "−v̂, minus the prediction";
  if (token) {
    symbols.insert({{"plain_update", {"\\Delta^{+}_t", Role::state, "plain update"}},
                    {"S_before", {"S_{t-1}", Role::state, "memory before"}},
                    {"S_decayed", {"\\bar S_t", Role::state, "memory after decay"}},
                    {"old", {"\\hat v_t", Role::error, "prediction v̂"}},
                    {"error", {"e_t", Role::error, missing}},
                    {"update", {"\\Delta_t", Role::state, "update"}},
                    {"S_after", {"S_t", Role::state, "memory after"}}});
  } else {
    const std::string start = form == Form::parallel ? "S_0" : "S";
    const std::string over = form == Form::parallel ? ", L = n" : "";  // the sequence is one chunk
    symbols.insert(
        {{"G", {"G", Role::gate, "decay since the write"}},
         {"g_in", {"g", Role::gate, "decay from the start"}},
         {"g_out", {"\\tilde g", Role::gate, "decay to the end"}},
         {"g_total", {"g_L", Role::gate, "total decay" + over}},
         {"m_in", {"m", Role::gate, "value decay from the start"}},
         {"m_out", {"\\tilde m", Role::gate, "value decay to the end"}},
         {"m_total", {"m_L", Role::gate, "total value decay" + over}},
         {"transition", {"T", Role::gate, "how the states mix"}},
         {"inject", {"c", Role::gate, "which states are written"}},
         {"read_sight", {"h", Role::gate, "which states are read"}},
         {"erase_sight", {"h^{e}", Role::gate, "which states are corrected"}},
         {"read_times", {"\\rho", Role::plain, "when each query reads"}},
         {"erase_times", {"\\tau", Role::plain, "when each error reads"}},
         {"G_erase", {"G^{e}", Role::gate, "kept since the write, for the error"}},
         {"g_erase", {"g^{e}", Role::gate, "kept from the start, for the error"}},
         {"G_before", {"G^{-}", Role::gate, "decay until just before"}},
         {"g_before", {"g^{-}", Role::gate, "decay from the start until just before"}},
         {"m_before", {"m^{-}", Role::gate, "value decay from the start until just before"}},
         {"last_steps", {"E", Role::plain, "picks the last step of each token"}},
         {"first_steps", {"E^{1}", Role::plain, "picks the first step of each token"}},
         {"P_plain", {"P^{+}", Role::plain, "scores of the plain writes"}},
         {"N_plain", {"N^{+}", Role::plain, "overlap with the plain writes"}},
         {"P", {"P", Role::plain, "attention scores"}},
         {"N", {"N", Role::plain, "overlap of the keys"}},
         {"R",
          {"R", Role::error,
           structure.writes_value ? "values minus carried-in prediction"
                                  : "minus the carried-in prediction"}},
         {"U", {"U", Role::error, "solved errors"}},
         {"O_inter", {"O_{\\mathrm{before}}", Role::output, "from the carried-in memory"}},
         {"O_intra", {"O_{\\mathrm{inside}}", Role::output, "from inside the block"}},
         {"S_in", {start, Role::state, has_decay ? "memory carried in" : "memory so far"}},
         {"S_written", {"W", Role::state, has_any_decay(structure) ? "all writes, decayed" : "all writes"}},
         {"S_out", {form == Form::parallel ? "S_n" : "S'", Role::state, "memory carried on"}}});
  }
  for (const auto& [name, symbol] : notation.symbols) {
    Symbol& written = symbols.insert_or_assign(name, symbol).first->second;
    if (!token) written.latex = without_token(written.latex);
  }
  return symbols;
}

}  // namespace palimpsest
