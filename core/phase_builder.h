#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/trace.h"

namespace palimpsest {

/// Operations are collected one by one; a line takes those added since the last line.
class PhaseBuilder {
 public:
  explicit PhaseBuilder(std::string title) { phase_.title = std::move(title); }

  void add(Operation operation) {
    known_.push_back(operation.equation);
    phase_.operations.push_back(std::move(operation));
  }

  void add_all(const std::vector<Operation>& operations) {
    for (const Operation& operation : operations) add(operation);
  }

  /// A line for the equation of `result`, with the definitions of `inlined` written out.
  void line(std::string title, std::string sentence, const std::string& result,
            const std::vector<std::string>& inlined = {}, double weight = 1) {
    const auto shown = std::ranges::find(known_, result, &Equation::result);
    Line line{std::move(title),
              std::move(sentence),
              {result, expand(shown->expression, known_, inlined)},
              {},
              weight};
    for (; taken_ < phase_.operations.size(); ++taken_) {
      line.operations.push_back(phase_.operations[taken_].id);
    }
    phase_.lines.push_back(std::move(line));
  }

  /// What these steps take from earlier blocks.
  void carry(std::vector<Carry> carries) { phase_.carries = std::move(carries); }

  Phase take() { return std::move(phase_); }

 private:
  Phase phase_;
  std::vector<Equation> known_;
  std::size_t taken_ = 0;
};

}  // namespace palimpsest
