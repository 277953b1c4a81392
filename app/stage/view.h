#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "app/stage/box.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// An equation of pictures and what is said about it.
struct StageLine {
  std::string title;
  std::string sentence = {};  // for beside it; empty: what it asks stands elsewhere
  double weight = 1;          // share of the height
  Box equation = {};
};

/// What the Stage shows at a cursor: words and pictures, without places and colours.
struct StageView {
  bool one_token = false;   // the line at the cursor large, the others below; else lines below each other
  std::size_t present = 0;  // the line at the cursor
  std::vector<StageLine> lines = {};
  std::vector<Index> starts = {};      // of each line: its first operation, -1 if it has none
  std::optional<StageLine> step = {};  // one token: the step by itself, where the line is more than that
  std::vector<Box> steps = {};    // the steps of the line at the cursor; of one token, those by themselves
  Equation written;               // large: the whole line, or the step where the line does not hold it,
  std::string written_part = {};  // with this part lit; empty: all of it
  std::string sentence = {};      // what the step asks
  std::string lit = {};           // the tensor that the step makes
  std::map<std::string, Index, std::less<>> waiting = {};  // rows that are there of what is not complete

  /// How many rows of `tensor` are there: 0 it waits, -1 all of them.
  Index finished_rows(const std::string& tensor) const;
};

/// What is shown at `cursor` of `trace`, whose block has the steps `phase` and the tensors `record`. `label`
/// is the token's.
StageView stage_view(const Trace& trace, const Phase& phase, const Record& record, const Cursor& cursor,
                     const std::string& label);

/// Which rule, which form, which tokens, which step: "Gated DeltaNet, chunkwise · chunk 3, tokens 24–31 · …".
std::string stage_title(const Computation& computed, const Trace& trace, const Phase& phase,
                        const Cursor& cursor);

}  // namespace palimpsest
