#pragma once

#include <string>
#include <string_view>

#include "core/contract/variant.h"

namespace palimpsest {

/// What a lane of Learn is at one word. Shares are those of Remembered.
struct RecalledAt {
  std::string word;     // that was stored: “drum” (42)
  std::string present;  // that changes it
  double before = 0;
  double after = 0;
  bool is_alignment = false;
  bool is_own = false;   // `present` is the stored word
  bool is_there = true;  // the memory has it by now
  Index beside = 0;      // other words whose values the answer is fitted to together with its own
};

/// How much of a value its key finds, or how its answer points, and what the present word did to that; in
/// lines.
std::string recalled_words(const RecalledAt& at);

/// What lanes are called, the legend of what is right and of what is too much, and what is measured.
struct RecalledLegend {
  std::string_view title;
  std::string_view right;
  std::string_view excess;
  std::string_view measure;
};
const RecalledLegend& recalled_legend(bool is_alignment);

/// What is measured, and what exactly is asked of the memory of `variant`.
std::string recalled_measure(bool is_alignment, const Variant& variant);

}  // namespace palimpsest
