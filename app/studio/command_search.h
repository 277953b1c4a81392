#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/studio/command.h"

namespace palimpsest {

/// Words that somebody types, to be looked for in texts, in capitals or not.
class TypedWords {
 public:
  explicit TypedWords(std::string_view typed);

  bool empty() const { return words_.empty(); }
  const std::vector<std::string>& all() const { return words_; }

  /// Whether each of them occurs in `text`.
  bool all_in(std::string_view text) const;

 private:
  std::vector<std::string> words_;  // in small letters
};

/// By which words more a command is found than by its own.
using MoreWords = std::function<std::string(const Command&)>;

/// The commands of `tables` in which every word of `typed` occurs, in capitals or not. First come those where
/// a word of group, words or id begins as typed, then those where it is inside of one, then those that have
/// it in what is explained or in `more`; among these those of `recent` (ids, the last one first), then as
/// they stand in the tables.
std::vector<const Command*> search(std::initializer_list<std::span<const Command>> tables,
                                   std::string_view typed, std::span<const std::string> recent,
                                   const MoreWords& more = nullptr);

/// The same for one table.
std::vector<const Command*> search(std::span<const Command> table, std::string_view typed,
                                   std::span<const std::string> recent);

/// Whether every word of `typed` occurs in `text`, in capitals or not.
bool has_words(std::string_view text, std::string_view typed);

}  // namespace palimpsest
