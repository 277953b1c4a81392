#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/output.h"
#include "core/formula/expression.h"
#include "core/steps/computed_trace.h"
#include "core/steps/interpreted.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The equations of one form: what a faulty copy needs to be carried out and to be shown.
struct Equations {
  std::vector<Phase> phases;
  Symbols symbols;
};

/// Edits equations by what their operations are for and what their tensors mean; lines follow the operations
/// that they show.
class EquationEditor {
 public:
  explicit EquationEditor(Equations equations) : equations_(std::move(equations)) {}

  /// Replaces pieces of the formulas of the operations with one of these purposes; none: of every operation.
  /// A piece that is replaced is not looked into any further.
  void replace(std::initializer_list<Purpose> purposes, const Replacement& replacement);

  /// Calls `edit` for the carries of every phase.
  void carries(const std::function<void(std::vector<Carry>&)>& edit);

  /// Puts one more operation before the first that reads what it makes, in every phase that has one.
  void insert(const Operation& operation, const Symbol& symbol);

  /// Whether a tensor is `role` to a person.
  bool is(const Expression& x, Role role) const;

  /// The tensor `name` of the block before, under a name of its own; 0 in the first block.
  Expression one_block_late(const std::string& name);

  /// Whether any operation is for this.
  bool has(Purpose purpose) const;

  /// The edited equations, lines included.
  Equations take();

 private:
  Equations equations_;
  std::set<std::string> late_;
};

/// Whether `x` is a call of `function`.
bool is_call(const Expression& x, std::string_view function);

/// Calls of `function` become calls of `other`, on the same arguments.
Replacement renamed(std::string function, std::string other);

/// The steps of a form with other equations in them, carried out by these alone (core/steps/interpreted.h),
/// in f64; all else is that of the right trace. A record throws StepError where an equation cannot be carried
/// out.
class EditedTrace final : public ComputedTrace {
 public:
  /// `equations` have as many phases as `right`.
  EditedTrace(std::shared_ptr<const Trace> right, Equations equations);

  const Trace& right() const { return *right_; }

  /// What the whole form gives. Throws StepError, and Cancelled when asked to stop.
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

/// Where an edited formula parts from the right one.
struct FormulaChange {
  Equation is;                               // the edited one, its changed piece named `changed_piece`
  bool is_sign = false;                      // of that piece only the sign in its middle is another
  std::optional<Expression> piece = {};      // what stands there; nothing: nothing has changed in it,
  std::optional<Expression> should_be = {};  // and what should; of a sign the whole sum or difference
  std::string carried = {};  // or an operand that comes in another way, in words; empty: none does
};

/// The smallest piece in which the operation `id` of a phase differs between right and edited equations. An
/// operation that only the edited ones have has no piece. Throws Error for one that they lack.
FormulaChange formula_change(const Phase& right, const Phase& edited, const std::string& id);

/// The operation in which the change is seen: `id` if its formula or what is carried into it has changed or
/// none has, else the first of the phase whose formula has.
std::string changed_operation(const Phase& right, const Phase& edited, const std::string& id);

/// A mistake that people make in writing down a form, as an edit of its equations.
struct Fault {
  std::string id;        // "solve-sign"
  std::string label;     // "Wrong sign in the solve"
  std::string sentence;  // what was done wrong, and where that is seen
  std::string needs;     // what a form must have to go wrong this way: "a solve"
  std::function<void(EquationEditor&)> edit;
  std::string silent = {};  // where the edit changes no number, whatever the data are; mostly empty
};

/// Every fault. The only list there is.
std::span<const Fault> faults();

/// The fault with this id; throws InputError listing the known ones.
const Fault& find_fault(std::string_view id);

/// The equations of `right` with the fault in them; nothing where the form has nothing of the kind that goes
/// wrong (Fault::needs says what).
std::optional<Equations> with_fault(const Fault& fault, const Equations& right);

/// Whether any equation or carry differs.
bool operator==(const Equations& a, const Equations& b);

}  // namespace palimpsest
