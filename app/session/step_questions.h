#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "app/session/questions.h"
#include "core/base/record.h"
#include "core/insight/provenance.h"
#include "core/insight/spectra.h"
#include "core/steps/trace.h"

// What is asked about a step: its record, a picture of it, who made a number.

namespace palimpsest {

/// Every tensor of one block of a form: a question.
struct BlockRecord {
  using Value = Record;

  Weak<Trace> of = {};
  Index block = 0;

  auto operator<=>(const BlockRecord&) const = default;
  Found<Value> compute(const Trace& trace, const Effort& effort) const;
};

/// What can be said of a tensor of a record besides its entries, for the picture that a person enlarges.
struct PictureFigures {
  using Value = MatrixFigures;
  static constexpr Index parts = 48;  // of the histogram

  Weak<Record> of = {};
  std::string tensor = {};

  auto operator<=>(const PictureFigures&) const = default;
  Found<Value> compute(const Record& record, const Effort& effort) const;
};

/// A number that a memory holds, or answers, and that the tokens before made together.
struct WrittenNumber {
  Index tokens = 0;  // of the memory after so many
  Index row = 0;     // an entry of it; not where there are weights
  Index column = 0;
  std::vector<double> weights = {};  // of the rows, of a reading w . S[:, column]; empty: an entry

  auto operator<=>(const WrittenNumber&) const = default;
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

/// Who made it: a question.
struct WhoWrote {
  using Value = WhoWroteIt;

  Weak<Foundation> of = {};
  WrittenNumber number = {};
  std::size_t most = 7;  // tokens by name

  auto operator<=>(const WhoWrote&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

}  // namespace palimpsest
