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

/// How what every rule has is written: q, k, v and o of one token, or Q, K, V and O of rows of tokens, and
/// the scale of the query, as `scale` says in LaTeX.
Symbols usual_symbols(Form form, const char* scale);

/// Makes a phase: operations are collected one by one; a line takes those added since the last line.
class PhaseBuilder {
 public:
  explicit PhaseBuilder(std::string title) { phase_.title = std::move(title); }

  void add(Operation operation);

  /// The same from what an operation is made of.
  template <class... Parts>
  void add(std::string id, Purpose purpose, Parts... parts) {
    add(Operation(std::move(id), purpose, std::move(parts)...));
  }

  /// An operation and, under the same words, its line.
  void add_line(Operation operation, const std::vector<std::string>& inlined = {}, double weight = 1);

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
