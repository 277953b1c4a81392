#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/session/learn_questions.h"
#include "app/session/memory_questions.h"

// What Compare asks for: each side as a computation of its own, and what its memory holds at a word.

namespace palimpsest {

/// A choice other than the one that is stepped through, computed. Sides in the same place stand for each
/// other until the new one is there.
struct ComputedSide {
  using Value = Computation;
  static constexpr std::size_t most_kept = 8;

  Weak<DataSet> of = {};
  std::shared_ptr<const Choice> choice = {};
  std::size_t slot = 0;
  Devices devices = backends();

  std::string subject() const;
  /// By data and choice.
  bool operator<(const ComputedSide& other) const;
  Found<Value> compute(const Effort& effort) const;
};

/// The question for a choice of these data. What its device cannot compute is left to the CPU.
ComputedSide computed_side(const std::shared_ptr<const DataSet>& data, Choice choice, std::size_t slot,
                           Devices devices = backends());

/// The memory of a side around a word, as its own form and precision make it, beside the reference's.
struct SideMoment {
  /// One of its two states: before the word, or after it.
  struct Memory {
    Matrix<double> S = {};
    Matrix<double> apart = {};  // S less the reference's; empty where `no_difference` says why
    double length = 0;          // |S|_F
    double apart_length = 0;
    double range = 0;           // what 95 % of its numbers lie within
    double apart_range = 0;     // and of the difference
    std::uint64_t version = 0;  // no other has it, and
    std::uint64_t apart_version = 0;
  };

  std::string state = {};  // what it is called: "S"
  Memory before = {};
  Memory after = {};
  double range = 0;                // the larger of the two
  std::string no_memory = {};      // why there is none; empty: there is
  std::string no_difference = {};  // why it cannot be taken from the reference's
  AnswerTable table = {};
  std::string sentence = {};  // made from its largest changes
  std::string others = {};    // how much the other words still answer themselves
  std::string no_table = {};  // why nothing is answered
};

/// That moment: a question.
struct SideAtWord {
  using Value = SideMoment;

  Weak<Foundation> of = {};
  Weak<Foundation> reference = {};
  Weak<Foundation> asking = {};  // whose words all sides are asked with
  Index token = 0;
  WordChoice words = {};
  std::size_t slot = 0;

  std::string subject() const;
  auto operator<=>(const SideAtWord&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What a side does, in a sentence: its place on the rail or its rule's words, and what these data lack of
/// what it takes.
std::string side_sentence(const Foundation& foundation);

}  // namespace palimpsest
