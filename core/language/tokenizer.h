#pragma once

#include <filesystem>
#include <map>

#include "core/base/matrix.h"

namespace palimpsest {

/// Byte-level byte-pair encoding (Sennrich et al., 2016; Radford et al., 2019): a text is split into words, a
/// word into bytes, and the neighbouring pair that was learned first is joined, until none is left.
class Tokenizer {
 public:
  /// Reads a tokenizer.json of the library tokenizers. Throws InputError naming the file and what is not
  /// supported: another model than BPE, another way to split words.
  explicit Tokenizer(const std::filesystem::path& path);
  /// The pieces of a text in UTF-8, by number. Throws InputError naming the first byte that is no UTF-8.
  std::vector<Index> encode(std::string_view text) const;
  /// The bytes of a piece, " red": part of a letter, at times.
  const std::string& piece(Index id) const { return entry(pieces_, id); }
  Index size() const { return static_cast<Index>(pieces_.size()); }
  /// The piece with these bytes; -1: there is none.
  Index find(std::string_view bytes) const;

 private:
  void encode_word(std::string_view word, std::vector<Index>& ids) const;

  struct Join {
    std::size_t rank = 0;  // the lower is joined first
    Index joined = 0;
  };

  std::vector<std::string> pieces_;
  std::map<std::string, Index, std::less<>> numbers_;
  std::map<std::pair<Index, Index>, Join> joins_;
  std::vector<std::string> whole_;  // what is one piece wherever it stands: "<|doc|>"
};

/// Throws InputError unless the tokenizer has as many pieces as the model, `pieces`.
void require_same_pieces(const Tokenizer& tokenizer, Index pieces);

}  // namespace palimpsest
