#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/formula/rewriting.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The equations of one form: what a faulty copy of them needs to be carried out and to be shown.
struct Equations {
  std::vector<Phase> phases;
  Symbols symbols;
};

/// Edits equations by what they are made of: operations by what they are for, tensors by what they mean to a
/// person. Lines follow the operations that they show.
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

}  // namespace palimpsest
