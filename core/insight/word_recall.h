#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/contract/variant.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// How much of some words' values a memory answers at some moments.
struct WordRecall {
  std::vector<Index> tokens = {};   // the words
  std::vector<Index> moments = {};  // numbers of tokens, ascending: the memory after so many
  Matrix<double> recalled = {};     // [words, moments]: <answer, v> / |v|^2; of the word's last step
  Matrix<double> errors = {};       // [words, moments]: |answer - v| / |v|

  /// Whether the word has been read at this moment (an index).
  bool stored(std::size_t word, std::size_t moment) const { return tokens[word] < moments[moment]; }
};

/// The answers to the keys of the words `tokens`, asked as answer_table() asks, at every moment, whether they
/// are stored by then or not; 0 for a value that is 0. The memory is that of memory_after(): a gathered batch
/// is in it when it is written. One walk that keeps no states; of a cache or of batches what memory_after()
/// costs at each moment. Throws InputError for tokens or moments that there are not, Unsupported where no
/// memory answers, Cancelled.
WordRecall word_recall(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                       std::span<const Index> tokens, std::span<const Index> moments,
                       std::stop_token stop = {});

}  // namespace palimpsest
