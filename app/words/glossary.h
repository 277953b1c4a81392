#pragma once

#include <span>
#include <string>
#include <string_view>

// The terms of the program, each with one sentence that explains it.

namespace palimpsest {

struct GlossaryEntry {
  std::string_view term;         // lower case, singular
  std::string_view sentence;     // the explanation
  std::string_view latex = {};   // its symbol; empty if it has none
  std::string_view papers = {};  // its names and symbols in papers
};

/// All of them, at most forty.
std::span<const GlossaryEntry> glossary();

/// "norm: ‖x‖, the square root of the sum of squares."
std::string in_full(const GlossaryEntry& entry);

/// A term in a text: its entry, null if there is none, and its range of bytes.
struct FoundTerm {
  const GlossaryEntry* entry = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The first term in `text` as whole words, singular or plural, outside quotes; of several at that place the
/// longest.
FoundTerm first_term(std::string_view text);

}  // namespace palimpsest
