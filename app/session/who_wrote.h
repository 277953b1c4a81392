#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/session/answers.h"
#include "app/session/computation.h"
#include "core/insight/provenance.h"

namespace palimpsest {

/// A number that a memory holds, or answers, and that the tokens before made together.
struct WrittenNumber {
  Index tokens = 0;  // of the memory after so many
  Index row = 0;     // an entry of it; not where there are weights
  Index column = 0;
  std::vector<double> weights = {};  // of the rows, of a reading w . S[:, column]; empty: an entry

  bool operator==(const WrittenNumber&) const = default;
};

/// What a token's writing came to.
struct WriterShare {
  Index token = 0;       // initial_token: the memory at the start
  double remaining = 0;  // of the number, due to it
  Share share = {};      // of an entry: what was written, and what became of it
  Index eraser = -1;     // the token that took most of it away; -1: none did
  double erased_by = 0;  // how much
};

/// Who made a number, in the order of the text.
struct WhoWroteIt {
  double value = 0;
  std::vector<WriterShare> strongest;  // those with the largest shares
  Index others = 0;                    // how many more there are, and
  double others_remaining = 0;         // what they come to together
};

/// Who made it: an answer.
struct WhoWrote {
  using Value = WhoWroteIt;

  std::weak_ptr<const Foundation> of;
  WrittenNumber number;
  std::size_t most = 7;  // tokens by name

  bool operator<(const WhoWrote& other) const;
  std::shared_ptr<const WhoWroteIt> compute(const Effort& effort) const;
  std::string question() const;
  static std::size_t bytes(const WhoWroteIt& value);
  bool gone() const { return of.expired(); }
};

}  // namespace palimpsest
