#include "core/row_steps.h"

#include <algorithm>

namespace palimpsest {

namespace {

std::vector<Equation> equations(const std::vector<Operation>& operations) {
  std::vector<Equation> all;
  for (const Operation& operation : operations) all.push_back(operation.equation);
  return all;
}

void append(std::vector<Operation>& operations, const std::vector<Operation>& more) {
  operations.insert(operations.end(), more.begin(), more.end());
}

/// Operations are collected one by one; a line takes those added since the last line.
struct PhaseBuilder {
  Phase phase;
  std::size_t taken = 0;

  void add(Operation operation) { phase.operations.push_back(std::move(operation)); }

  /// A line for the equation of `result`, with the definitions of `inlined` written out.
  void line(std::string title, std::string sentence, const std::string& result,
            const std::vector<std::string>& inlined, double weight) {
    const std::vector<Equation> known = equations(phase.operations);
    const auto shown = std::ranges::find(known, result, &Equation::result);
    Line line{std::move(title),
              std::move(sentence),
              {result, expand(shown->expression, known, inlined)},
              {},
              weight};
    for (; taken < phase.operations.size(); ++taken) line.operations.push_back(phase.operations[taken].id);
    phase.lines.push_back(std::move(line));
  }
};

/// The steps of one token. Spec 2.2 with the read and the write told apart.
struct TokenSteps {
  const Structure& structure;
  const Notation& notation;
  bool scaled;

  Expression query() const {
    const Expression q = tensor(notation.token.q);
    return scaled && notation.token.q == "q" ? tensor("scale") * q : q;
  }

  void write(PhaseBuilder& steps) const {
    const Expression k = tensor(notation.token.k);
    const Expression v = tensor(notation.token.v);
    std::vector<std::string> inlined = {"update"};
    std::string before = "S_before";
    if (structure.decay != Decay::none) {
      const Expression S = tensor("S_before");
      steps.add({"decay",
                 "What is kept",
                 "How much of the memory stays when “{token}” comes in?",
                 {"S_decayed",
                  structure.decay == Decay::key ? diagonal(tensor("alpha")) * S : tensor("alpha") * S}});
      before = "S_decayed";
      inlined.emplace_back("S_decayed");
    }
    Expression written = v;
    if (structure.erase == Erase::decayed) {
      steps.add({"read",
                 "What is there now",
                 "What does the memory already answer for “{token}”? Only the difference will be written.",
                 {"old", transpose(tensor(before)) * k}});
      steps.add({"error",
                 "What is missing",
                 "How far is that answer from what should be there?",
                 {"error", v - tensor("old")}});
      written = tensor("error");
      inlined.emplace_back("error");
    }
    const Expression strength = structure.beta ? tensor("beta") * k : k;
    steps.add({"update",
               "What is written",
               structure.erase == Erase::none ? "The value is laid down along the key, over what is there."
                                              : "The difference is laid down along the key: old out, new in.",
               {"update", strength * transpose(written)}});
    steps.add({"write",
               "The memory after",
               "The page after “{token}”.",
               {"S_after", tensor(before) + tensor("update")}});
    steps.line("The memory is rewritten", "What stays, and what “{token}” adds.", "S_after", inlined, 3);
  }

  void output(PhaseBuilder& steps, const std::string& state) const {
    steps.add({"output",
               "What comes out",
               "What does the memory answer to the query of “{token}”?",
               {notation.token.o, transpose(tensor(state)) * query()}});
    append(steps.phase.operations, notation.token_after);
    std::vector<std::string> inlined;
    if (!notation.token_after.empty()) inlined.push_back(notation.token.o);
    steps.line("The memory is asked", "What comes out for the query.", "o", inlined, 1.4);
  }
};

/// The steps of one chunk (spec 2.3) or of the whole sequence (spec 2.4): the same algebra, other words.
struct ChunkSteps {
  const Structure& structure;
  const Notation& notation;
  bool scaled;
  bool whole;  // the parallel form

  std::string scope() const { return whole ? "the sequence" : "the chunk"; }

  Expression Q() const {
    const Expression q = tensor(notation.rows.q);
    return scaled && notation.rows.q == "Q" ? tensor("scale") * q : q;
  }
  Expression K() const { return tensor(notation.rows.k); }
  Expression V() const { return tensor(notation.rows.v); }
  Expression B() const { return structure.beta ? hadamard(tensor("beta"), K()) : K(); }
  Expression U() const { return structure.erase == Erase::none ? V() : tensor("U"); }

  /// Rows decayed from the start of the chunk: g o X.
  Expression from_start(const Expression& X) const {
    return structure.decay == Decay::none ? X : hadamard(tensor("g_in"), X);
  }

  Expression scores(const Expression& X) const {
    if (structure.decay == Decay::key) return call("decay_scores", {X, B(), tensor("alpha")});
    const Expression products = X * transpose(B());
    if (structure.decay == Decay::none) return call("lower", {products});
    return hadamard(products, tensor("G"));
  }

  void decays(PhaseBuilder& steps) const {
    if (structure.decay == Decay::none) return;
    if (structure.decay == Decay::scalar) {
      steps.add({"mask",
                 "Kept since",
                 "How much of what token j wrote is left when token i reads?",
                 {"G", call("decay_mask", {tensor("alpha")})}});
    }
    steps.add({"fade_in",
               "Kept from the start",
               "How much of the memory carried in is left at each token?",
               {"g_in", call("cumulative_decay", {tensor("alpha")})}});
    steps.add({"fade_out",
               "Kept to the end",
               "How much of each write is left at the end of " + scope() + "?",
               {"g_out", call("remaining_decay", {tensor("alpha")})}});
    steps.add({"fade_over",
               "Kept over all",
               "How much of the memory carried in is left at the end of " + scope() + "?",
               {"g_total", call("total_decay", {tensor("alpha")})}});
  }

  void who_reads_whom(PhaseBuilder& steps) const {
    steps.add({"scores",
               "Who reads whom",
               "How strongly does each query meet each earlier key?",
               {"P", structure.read_at == ReadAt::end ? Q() * transpose(B()) : scores(Q())}});
    steps.line("Who reads whom",
               structure.read_at == ReadAt::end ? "Every query meets every key: nothing is masked."
               : whole ? "All pairs at once; the mask keeps the past and lets it fade."
                       : "Only inside the chunk. The mask keeps the past and lets it fade.",
               "P", {}, 1);
  }

  void solve(PhaseBuilder& steps) const {
    if (structure.erase == Erase::none) return;
    steps.add({"overlap",
               "Which keys overlap",
               "How much does each write disturb what a later key reads?",
               {"N", call("strictly_lower", {scores(K())})}});
    steps.add({"rest",
               "What memory cannot say",
               "What is still missing after asking the memory carried in?",
               {"R", V() - from_start(K()) * tensor("S_in")}});
    steps.add(
        {"solve",
         "What will be written",
         "Each token must know what the earlier ones of " + scope() + " wrote: one row after the other.",
         {"U", call("solve_unit_lower", {tensor("N"), tensor("R")})},
         true});
    steps.line(
        "What will be written",
        "Each token must know what the earlier ones of " + scope() + " wrote: one row after the other.", "U",
        {}, 1);
  }

  void outputs(PhaseBuilder& steps) const {
    steps.add({"inter",
               "From before",
               "What does the memory carried in answer?",
               {"O_inter", from_start(Q()) * tensor("S_in")}});
    steps.add({"intra",
               "From inside",
               "What do the tokens of " + scope() + " add for each other?",
               {"O_intra", tensor("P") * U()}});
    steps.add({"output",
               "What comes out",
               "Both together are what the recurrence gives, token by token.",
               {notation.rows.o, tensor("O_inter") + tensor("O_intra")}});
    append(steps.phase.operations, notation.rows_after);
    std::vector<std::string> inlined;
    if (!notation.rows_after.empty()) inlined.push_back(notation.rows.o);
    steps.line("What comes out", "From the memory carried in, and from inside " + scope() + ".", "O", inlined,
               1);
  }

  void carry(PhaseBuilder& steps) const {
    const Expression written = structure.decay == Decay::none ? B() : hadamard(tensor("g_out"), B());
    steps.add({"faded",
               "Written, faded",
               "What do all writes of " + scope() + " amount to at its end?",
               {"S_written", transpose(written) * U()}});
    const Expression S = tensor("S_in");
    Expression kept = S;
    if (structure.decay != Decay::none) {
      const Expression total = tensor("g_total");
      kept = structure.decay == Decay::key ? diagonal(total) * S : total * S;
    }
    steps.add({"carry",
               "What is carried on",
               whole ? "The memory after the last token." : "One state for the next chunk.",
               {"S_out", kept + tensor("S_written")}});
    steps.line("What is carried on",
               whole ? "The memory after the last token." : "One state for the next chunk.", "S_out", {}, 1);
  }
};

Phase token_phase(const TokenSteps& token, bool write, bool output) {
  PhaseBuilder steps;
  steps.phase.title = write ? "token by token" : "every token reads the finished memory";
  if (write) {
    append(steps.phase.operations, token.notation.token_before);
    token.write(steps);
  }
  if (output) token.output(steps, write ? "S_after" : "S_final");
  return steps.phase;
}

std::vector<Phase> chunk_phases(const ChunkSteps& chunk) {
  PhaseBuilder steps;
  steps.phase.title = chunk.whole ? "the whole sequence at once" : "chunk by chunk";
  append(steps.phase.operations, chunk.notation.rows_before);
  const bool reads_later = chunk.structure.read_at == ReadAt::end && !chunk.whole;
  chunk.decays(steps);
  if (!reads_later) chunk.who_reads_whom(steps);
  chunk.solve(steps);
  if (!reads_later) chunk.outputs(steps);
  chunk.carry(steps);
  if (!reads_later) return {steps.phase};

  PhaseBuilder reads;
  reads.phase.title = "every token reads the finished memory";
  reads.add({"output",
             "What comes out",
             "Every token reads the memory after the last one.",
             {chunk.notation.rows.o, chunk.Q() * tensor("S_final")}});
  reads.line("What comes out", "Every token reads the memory after the last one.", "O", {}, 1);
  return {steps.phase, reads.phase};
}

}  // namespace

std::vector<Phase> row_phases(const Structure& structure, const Notation& notation, Form form, bool scaled) {
  if (form != Form::recurrent) return chunk_phases({structure, notation, scaled, form == Form::parallel});
  const TokenSteps token{structure, notation, scaled};
  if (structure.read_at == ReadAt::end)
    return {token_phase(token, true, false), token_phase(token, false, true)};
  return {token_phase(token, true, true)};
}

Symbols row_symbols(const Structure& structure, const Notation& notation, Form form) {
  const bool token = form == Form::recurrent;
  const std::string t = token ? "_t" : "";
  Symbols symbols = {
      {"scale", {"\\sigma", Role::plain, "scale of the query"}},
      {"alpha", {"\\alpha" + t, Role::gate, "how much is kept"}},
      {"beta", {"\\beta" + t, Role::strength, "how much is written"}},
      {"S_final", {"S_n", Role::state, "memory after the last token"}},
  };
  const bool has_decay = structure.decay != Decay::none;
  if (token) {
    symbols.insert({{"q", {"q_t", Role::query, "what is asked"}},
                    {"k", {"k_t", Role::key, "where it is written"}},
                    {"v", {"v_t", Role::value, "what should be there"}},
                    {"o", {"o_t", Role::output, "what comes out"}},
                    {"S_before", {"S_{t-1}", Role::state, "memory before"}},
                    {"S_decayed", {"\\bar S_t", Role::state, "what is kept"}},
                    {"old", {"\\hat v_t", Role::error, "what is there now"}},
                    {"error", {"e_t", Role::error, "what is missing"}},
                    {"update", {"\\Delta_t", Role::state, "update"}},
                    {"S_after", {"S_t", Role::state, "memory after"}}});
  } else {
    const std::string start = form == Form::parallel ? "S_0" : "S";
    symbols.insert({{"Q", {"Q", Role::query, "what is asked"}},
                    {"K", {"K", Role::key, "where it is written"}},
                    {"V", {"V", Role::value, "what should be there"}},
                    {"O", {"O", Role::output, "what comes out"}},
                    {"G", {"G", Role::gate, "kept since"}},
                    {"g_in", {"g", Role::gate, "kept from the start"}},
                    {"g_out", {"\\tilde g", Role::gate, "kept to the end"}},
                    {"g_total", {form == Form::parallel ? "g_n" : "g_L", Role::gate, "kept over all"}},
                    {"P", {"P", Role::plain, "who reads whom"}},
                    {"N", {"N", Role::plain, "which keys overlap"}},
                    {"R", {"R", Role::error, "what memory cannot say"}},
                    {"U", {"U", Role::error, "what will be written"}},
                    {"O_inter", {"O_{\\mathrm{before}}", Role::output, "from before"}},
                    {"O_intra", {"O_{\\mathrm{inside}}", Role::output, "from inside"}},
                    {"S_in", {start, Role::state, has_decay ? "memory carried in" : "memory so far"}},
                    {"S_written", {"W", Role::state, "all writes, faded"}},
                    {"S_out", {form == Form::parallel ? "S_n" : "S'", Role::state, "memory carried on"}}});
  }
  for (const auto& [name, symbol] : notation.symbols) symbols.insert_or_assign(name, symbol);
  return symbols;
}

}  // namespace palimpsest
