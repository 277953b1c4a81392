#pragma once

#include <span>
#include <string>
#include <string_view>

// The terms of the program, each with the one sentence that explains it.

namespace palimpsest {

struct GlossaryEntry {
  std::string_view term;         // in small letters, in the singular
  std::string_view sentence;     // what it is
  std::string_view latex = {};   // its symbol; empty: it has none
  std::string_view papers = {};  // how papers call or write it
};

/// All of them, at most forty.
std::span<const GlossaryEntry> glossary();

/// "norm: ‖x‖, the square root of the sum of squares."
std::string in_full(const GlossaryEntry& entry);

/// A term in a text: its entry, null where there is none, and its first and last byte.
struct FoundTerm {
  const GlossaryEntry* entry = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The first term in `text`, as whole words, in the singular or plural, not in quotes; of several that begin
/// there the longest.
FoundTerm first_term(std::string_view text);

}  // namespace palimpsest
