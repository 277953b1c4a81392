#pragma once

#include <string>
#include <vector>

#include "core/steps/trace.h"

namespace palimpsest {

/// What a form shows: its phases and how their tensors are written.
struct Steps {
  std::vector<Phase> phases;
  Symbols symbols;
};

/// Makes a phase: operations are collected one by one; a line takes those added since the last line.
class PhaseBuilder {
 public:
  explicit PhaseBuilder(std::string title) { phase_.title = std::move(title); }

  void add(Operation operation);

  void add(std::string id, Purpose purpose, std::string title, std::string sentence, std::string result,
           Expression expression, bool by_row = false) {
    add({std::move(id),
         purpose,
         std::move(title),
         std::move(sentence),
         {std::move(result), std::move(expression)},
         by_row});
  }

  void add_all(const std::vector<Operation>& operations);

  /// A line for the equation of `result`, with the definitions of `inlined` written out. Throws Error if no
  /// operation added so far makes `result`.
  void line(std::string title, std::string sentence, const std::string& result,
            const std::vector<std::string>& inlined = {}, double weight = 1);

  /// What these steps take from earlier blocks.
  void carry(std::vector<Carry> carries) { phase_.carries = std::move(carries); }

  const std::vector<Operation>& operations() const { return phase_.operations; }

  Phase take() { return std::move(phase_); }

 private:
  Phase phase_;
  std::vector<Equation> known_;
  std::size_t taken_ = 0;
};

/// Takes out those of `operations` whose results nothing else in the phase reads.
void drop_unread(Phase& phase, const std::vector<Operation>& operations);

}  // namespace palimpsest
