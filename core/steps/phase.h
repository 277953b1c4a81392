#pragma once

#include "core/engines/inner_network.h"
#include "core/operator/program.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The steps that a form shows: its phases and the symbols of their tensors.
struct Steps {
  std::vector<Phase> phases;
  Symbols symbols;
};

/// The symbols common to all rules: q, k, v and o of one token, or Q, K, V and O of rows of tokens, and the
/// scale of the query, `scale` in LaTeX.
Symbols usual_symbols(Form form, const char* scale);

/// Whether the query is multiplied by a scale other than 1.
bool is_scaled(const Settings& settings);

/// The query `q` (or the rows `Q` of several), times the scale where it is `scaled`, or the settings say so.
Expression query(bool scaled, const std::string& q);
Expression query(const Settings& settings, const std::string& q);

/// Makes a phase: operations are collected one by one; a line takes those added since the last line.
class PhaseBuilder {
 public:
  explicit PhaseBuilder(std::string title) { phase_.title = std::move(title); }

  void add(Operation operation);

  /// The same from what an operation is made of.
  template <class... Parts>
  void add(std::string id, Purpose purpose, Parts... parts) {
    add(Operation{std::move(id), purpose, std::move(parts)...});
  }

  /// An operation and, under the same words, its line.
  void add_line(Operation operation, const std::vector<std::string>& inlined = {}, double weight = 1);

  void add_all(const std::vector<Operation>& operations);

  /// A line for the equation of the operation added last, with the definitions of `inlined` written out.
  void line(std::string title, std::string sentence, const std::vector<std::string>& inlined = {},
            double weight = 1);

  /// What these steps take from earlier blocks.
  void carry(std::vector<Carry> carries) { phase_.carries = std::move(carries); }

  const std::vector<Operation>& operations() const { return phase_.operations; }

  Phase take() { return std::move(phase_); }

 private:
  Phase phase_;
  std::vector<Equation> known_;
  std::size_t taken_ = 0;
};

/// The names under which the matrices of a program stand in a record.
struct ProgramNames {
  std::string q;
  std::string k;
  std::string v;             // empty: the program writes no value of its own
  std::string o;             // what the program reads, before any closing step
  std::string a = {};        // the erase key; empty: k
  std::string k_plain = {};  // the second write
  std::string v_plain = {};
  std::string beta = "beta";  // the write strength: an input, or the result of an operation
};

/// How a row program's steps are named and written. The defaults suit every rule that uses q, k and v as they
/// come. Which names are taken says Record.
struct Notation {
  ProgramNames token = {"q", "k", "v", "o"};  // of one token
  ProgramNames rows = {"Q", "K", "V", "O"};   // of a chunk
  std::vector<Operation> token_write = {};  // of a state in parts: from the rows to the memory after, S_after
  std::vector<Carry> token_carries = {};    // and which parts go on from token to token
  std::optional<Expression> token_read = {};  // of a state in parts: what o reads; none: S
  std::vector<Operation> token_before = {};   // from q, k, v to the program's rows
  std::vector<Operation> token_query = {};    // from q to the program's query, by itself: where it is read
  std::vector<Operation> token_after = {};    // from what is read to o
  std::vector<Operation> rows_before = {};    // the same for chunks, from Q, K, V and to O
  std::vector<Operation> rows_query = {};
  std::vector<Operation> rows_after = {};
  std::vector<std::string> arrays = {};      // inputs without an axis of tokens that these operations use
  std::vector<std::string> parameters = {};  // further numbers that these operations use
  Symbols symbols = {};  // added to the usual ones, or in their place; written as for one token (p_t), rows
                         // of many lose the t
};

/// The steps of a row program in one form, from its structure alone: which operations there are, in which
/// order, with which formulas and words. `scaled`: the query is multiplied by a scale other than 1.
std::vector<Phase> row_phases(const Structure& structure, const Notation& notation, Form form, bool scaled);

/// How the tensors of these steps are written and called.
Symbols row_symbols(const Structure& structure, const Notation& notation, Form form);

/// What the steps of an inner network depend on besides its plan.
struct NetworkShown {
  Form form = Form::recurrent;
  bool normalised = false;  // f(x) = x + LN(network(x))
  bool sigma = false;       // there are position factors
  bool scaled = false;      // the query is multiplied by a scale other than 1
  bool divided = false;     // the pieces are shorter than the inner batches
};

/// The steps of one token (primal) or of one piece of an inner batch (dual): spec 3.10 and 3.12.
Steps network_steps(const NetworkPlan& plan, const NetworkShown& shown);

/// What the steps of LaCT depend on.
struct LactShown {
  Form form = Form::recurrent;
  bool muon = false;
  bool tuned = false;  // every step of Newton and Schulz has its own coefficients
  bool l2 = false;
  bool update_first = false;
  bool weight_norm = false;
  bool momentum = false;
  bool tall = false;     // more rows than columns: the steps of Newton and Schulz work on M^T
  bool scaled = false;   // the query is multiplied by a scale other than 1
  bool divided = false;  // the pieces are shorter than the inner batches
};

/// The phases of LaCT, spec 3.11: gathering, the update, and with update_first reading; or the scan over all
/// batches (parallel).
Steps lact_steps(const LactShown& shown);

}  // namespace palimpsest
