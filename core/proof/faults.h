#pragma once

#include <set>

#include "core/proof/reference_run.h"
#include "core/steps/interpreted.h"

namespace palimpsest {

/// The equations of one form: all that is needed to evaluate and show a faulty copy.
struct Equations {
  std::vector<Phase> phases;
  Symbols symbols;
};

/// Edits equations by the purpose of operations and the role of tensors; lines follow their operations.
class EquationEditor {
 public:
  explicit EquationEditor(Equations equations) : equations_(std::move(equations)) {}

  /// Replaces pieces of the formulas of the operations with one of these purposes; none: of every operation.
  /// Replaced pieces are not visited again.
  void replace(const std::vector<Purpose>& purposes, const Replacement& replacement);
  void carries(const std::function<void(std::vector<Carry>&)>& edit);
  /// Inserts an operation before the first that reads its result, in every phase that has one.
  void insert(const Operation& operation, const Symbol& symbol);
  bool is(const Expression& x, Role role) const;
  /// The tensor `name` of the previous block, under a new name; 0 in the first block.
  Expression one_block_late(const std::string& name);
  /// Whether any operation has this purpose.
  bool has(Purpose purpose) const;
  /// The edited equations, lines included.
  Equations take();

 private:
  Equations equations_;
  std::set<std::string> late_;
};

bool is_call(const Expression& x, std::string_view function);

/// Calls of `function` become calls of `other`, on the same arguments.
Replacement renamed(std::string function, std::string other);

/// An edit that replaces such pieces, whatever else there is.
std::function<void(EquationEditor&)> replacing(std::vector<Purpose> purposes, Replacement replacement);

/// The steps of a form with other equations, evaluated by these alone (core/steps/interpreted.h), in f64; the
/// rest is that of the right trace. record() throws StepError where an equation cannot be evaluated.
class EditedTrace final : public ComputedTrace {
 public:
  /// `equations` have as many phases as `right`.
  EditedTrace(std::shared_ptr<const Trace> right, Equations equations);
  const Trace& right() const { return *right_; }
  /// The result of the whole form. Throws StepError, and Cancelled when asked to stop.
  Output run(std::stop_token stop = {}) const;
  Index block_count() const override { return right_->block_count(); }
  Block block(Index index) const override { return right_->block(index); }
  Index block_of(Index token, Index phase) const override { return right_->block_of(token, phase); }
  NamedStates states(const Record& latest) const override { return right_->states(latest); }

 private:
  Record compute(Index index) const override;

  std::shared_ptr<const Trace> right_;
  Index spacing_;                                    // of the places that are kept, in blocks
  mutable std::map<Index, BlockInterpreter> kept_;   // by the block that comes next
  mutable std::optional<BlockInterpreter> running_;  // where the last record was made
};

/// The name that a changed piece of a formula has in FormulaChange::is, to be boxed (LatexStyle::boxed).
inline constexpr const char* changed_piece = "changed piece";

/// Where an edited formula differs from the right one.
struct FormulaChange {
  Equation is;                               // the edited one, its changed piece named `changed_piece`
  bool is_sign = false;                      // only the sign in the middle of that piece differs
  std::optional<Expression> piece = {};      // the edited piece; nothing: the formula is unchanged
  std::optional<Expression> should_be = {};  // the right piece; for a sign the whole sum or difference
  std::string carried = {};  // an operand that is carried differently, in words; empty: none is
};

/// The smallest piece in which the operation `id` of a phase differs between right and edited equations. An
/// operation that only the edited ones have has no piece. Throws Error for one that they lack.
FormulaChange formula_change(const Phase& right, const Phase& edited, const std::string& id);

/// The operation in which the change is seen: `id` if its formula or what is carried into it has changed or
/// none has, else the first of the phase whose formula has.
std::string changed_operation(const Phase& right, const Phase& edited, const std::string& id);

/// A common mistake in implementing a form, as an edit of its equations.
struct Fault {
  std::string id;        // "solve-sign"
  std::string label;     // "Wrong sign in the solve"
  std::string sentence;  // what is wrong, and where it shows
  std::string needs;     // what a form must have for this fault: "a solve"
  std::function<void(EquationEditor&)> edit;
  std::string silent = {};  // where the edit changes no number, whatever the data are; mostly empty
};

/// Every fault. The only list there is.
std::span<const Fault> faults();

/// The fault with this id; throws InputError listing the known ones.
const Fault& find_fault(std::string_view id);

/// The equations of `right` with the fault; nothing where the fault does not apply to the form (see
/// Fault::needs).
std::optional<Equations> with_fault(const Fault& fault, const Equations& right);

/// Whether any equation or carry differs.
bool operator==(const Equations& a, const Equations& b);

/// The first step in which a form differs from the right one.
struct Departure {
  Index block = 0;
  std::string phase = {};  // its title, where the form has several
  std::string operation;   // its id
  std::string title;
  std::string tensor;  // what it makes
  Index token = 0;     // of the first row that differs; without token rows, the block's last token
  Index row = 0;       // where the difference is largest: in that row, or in the whole result
  Index column = 0;
  double got = 0;
  double expected = 0;
  Index rows_per_token = 0;  // of the result; 0: its rows are no tokens
};

/// The step and its numbers: "token 3, block 1 (its phase), operation error (What is missing): error[2, 0] is
/// 0.5, expected 0.25".
std::string to_string(const Departure& departure);

/// The result of evaluating other equations than a trace's own.
struct Comparison {
  std::optional<Departure> departure;  // nothing: no step differs by more than the tolerance
  Output output;                       // incomplete where an equation could not be evaluated
  std::string message;                 // why it could not
};

/// The first step in which the records of a form's `trace` differ from those of `right`, the same steps
/// computed by other engines. A tensor that an engine does not compute is skipped. Throws Cancelled.
std::optional<Departure> departure_from(const Trace& right, const Trace& trace, double tolerance,
                                        std::stop_token stop = {});

/// Evaluates `equations` on the sequence of `trace` and compares every result with the engine's, in order.
/// Throws Cancelled when asked to stop.
Comparison compare_steps(Trace& trace, const Equations& equations, double tolerance = step_tolerance,
                         std::stop_token stop = {});

/// The first tensor that differs in a faulty form, and the right one.
struct WrongTensor {
  Departure departure;
  FormulaChange change;
  Matrix<double> should_be = {};  // the tensor as the right form has it
  Matrix<double> is = {};         // and as the faulty one; empty where it could not be made
  Index first_token = 0;          // of the block that both cover,
  Index tokens = 0;               // and how many
  // The arithmetic of the cell with the largest difference in the first wrong row; nothing where it has none.
  std::optional<Explanation> why_should_be = {};
  std::optional<Explanation> why_is = {};
  double dust = 0;  // the magnitude up to which its numbers are rounding
};

/// The tensor that `departure` names, from the records of a form as it should be and as it is: with other
/// equations (EditedTrace), or computed by other engines. Throws Cancelled when asked to stop.
WrongTensor wrong_tensor(const Trace& right, const Trace& trace, const Departure& departure,
                         std::stop_token stop = {});

/// The result of one form with a fault.
struct FaultRun : Comparison {
  Judgement judgement = {};  // of the outputs and states, as verify() judges them

  /// Whether verification fails, as it should.
  bool noticed() const { return !message.empty() || !judgement.passed(); }
};

/// Evaluates the form of `trace` with `fault` in its equations; `judge` compares its output with the f64
/// recurrence. Nothing where the fault does not apply (Fault::needs). Throws Cancelled.
std::optional<FaultRun> run_with(const Fault& fault, Trace& trace,
                                 const std::function<Judgement(const Output&)>& judge,
                                 std::stop_token stop = {});

/// A way to compute a form that is right on paper but not in numbers, as an edit of its equations.
struct FragileForm {
  Fault way;                  // as for with_fault()
  std::string fails_when;     // the regime
  bool always_wrong = false;  // not fragile: wrong for any numbers
};

/// Every fragile form. The only list there is (spec 2.6, 6).
std::span<const FragileForm> fragile_forms();

/// The fragile form with this id; throws InputError listing the known ones.
const FragileForm& find_fragile_form(std::string_view id);

/// Arrays for a fragile form, made of others.
struct FragileData {
  Arrays arrays;
  std::string words;  // what was done to them; empty: they are as they were
};

/// One head's `arrays` of `variant` changed so that `fragile` fails on them in blocks of `block` tokens, or
/// (`breaks` false) so that it does not: decays that fall below the smallest number in a block, a gate of
/// exactly 0, keys that resemble each other. Arrays that a rule lacks are not made up.
FragileData fragile_data(const FragileForm& fragile, const Variant& variant, const Arrays& arrays,
                         Index block, bool breaks);

/// Where a tensor first holds a number that is not finite, other than a legal -inf.
struct NotFiniteNumber {
  std::string tensor;
  std::string title;  // of the operation that makes it
  Index token = 0;    // of a tensor without token rows the last of the block
  Index row = 0;
  Index column = 0;
  double value = 0;
};

/// The result of a fragile form on one sequence, in f64.
struct FragileRun {
  std::vector<double> errors = {};           // [T] as Disagreement measures, against the f64 recurrence
  Disagreement worst = {};                   // over outputs and states
  std::vector<double> right_errors = {};     // those of the form as it should be,
  Disagreement right_worst = {};             // and its worst
  std::vector<NotFiniteNumber> broken = {};  // in the order of the operations that make them
  std::optional<FormulaChange> change = {};  // where it differs from the right one
  Symbols symbols = {};                      // of its formula
};

/// Evaluates `form` of `variant` with the equations of `fragile`; nothing where they do not apply.
/// Throws Unsupported where the form does not exist, Cancelled.
std::optional<FragileRun> run_fragile(const FragileForm& fragile, const Variant& variant,
                                      const Sequence& sequence, Form form, Index chunk_size,
                                      std::stop_token stop = {});

}  // namespace palimpsest
