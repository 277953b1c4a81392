#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "app/stage/box.h"
#include "app/stage/hero.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// A term of the row that is being solved, as a flat strip with what is said of it.
struct SubstitutionStrip {
  std::string word = {};    // whose row it is
  std::string words = {};   // "already written by it"
  std::string brief = {};   // the same where there is no room for both
  std::string factor = {};  // "− 0.27"
  std::string latex = {};   // "u_5"
  Box picture = {};
  std::string number = {};  // its length, or a difference
  double length = 0;
  bool must_stand = false;  // in sight wherever there is room at all
};

/// (I + N) U = R as what it is: row after row, each a sum.
struct SubstitutionView {
  Box overlap = {};                            // N
  Box solved = {};                             // U
  Box missing = {};                            // R
  std::vector<std::string> words = {};         // of the rows; none where rows are not words
  std::vector<std::string> coefficients = {};  // of U's rows in the sum
  Index row = 0;                               // the one that is being solved
  std::vector<SubstitutionStrip> strips = {};
  std::string sentence = {};
  Record made = {};  // the strips' values
  std::vector<std::string> one_scale = {};
};

/// That of the step at `cursor`; none where it is no such solve. `recurrence`: the record of the word at the
/// cursor in the recurrent form, where it is known.
std::optional<SubstitutionView> substitution_view(const Trace& trace, const Phase& phase,
                                                  const Record& record, const Cursor& cursor,
                                                  const std::vector<std::string>& labels,
                                                  const Record* recurrence);

/// An equation of pictures and what is said about it.
struct StageLine {
  std::string title;
  std::string sentence = {};  // for beside it; empty: what it asks stands elsewhere
  double weight = 1;          // share of the height
  Box equation = {};
};

/// A step of the rule, small: a click goes there.
struct StageTile {
  Index operation = 0;
  Box picture = {};           // of its result
  std::string latex = {};     // its equation,
  std::string symbol = {};    // its result,
  std::string words = {};     // and what that is
  std::string sentence = {};  // what it asks
};

/// A formula above the pictures.
struct StageFormula {
  Equation equation;
  bool is_lit = false;
  std::string part = {};  // lit in it; empty: all of it
};

/// What the Stage shows at a cursor: words and pictures, without places and colours.
struct StageView {
  bool one_token = false;   // the step at the cursor large, all steps as tiles; else lines below each other
  Index token = 0;          // at the cursor
  std::size_t present = 0;  // the line at the cursor
  std::vector<StageTile> tiles = {};  // one token: its steps
  Index present_operation = 0;
  Hero hero = {};                                     // one token: the step at the cursor
  std::vector<StageLine> lines = {};                  // else
  std::vector<Index> starts = {};                     // of each line: its first operation, -1 if it has none
  std::optional<SubstitutionView> substitution = {};  // in the line at the cursor
  std::vector<Box> steps = {};                        // the steps of the line at the cursor,
  std::vector<Box> broken_steps = {};                 // the same on two lines each; blank where none is,
  Box broken = {};                                    // and the line's equation
  std::vector<StageFormula> rule = {};                // the whole rule; the present formula is lit
  std::string sentence = {};                          // what the step asks
  std::string lit = {};                               // the tensor that the step makes
  std::map<std::string, Index, std::less<>> waiting = {};  // rows that are there of what is not complete

  /// How many rows of `tensor` are there: 0 it waits, -1 all of them.
  Index finished_rows(const std::string& tensor) const;

  /// Whose cells a picture shows: `tensor` itself, unless it is made for the picture alone.
  const std::string& recorded(const std::string& tensor) const;
};

/// What is shown at `cursor` of `trace`, whose block has the steps `phase` and the tensors `record`. `labels`
/// are those of all tokens; formulas at pictures are written in `style`. `recurrence` is the record of the
/// token at the cursor in the recurrent form, where it is known.
StageView stage_view(const Trace& trace, const Phase& phase, const Record& record, const Cursor& cursor,
                     const std::vector<std::string>& labels, const LatexStyle& style = {},
                     const Record* recurrence = nullptr);

/// Tells the pictures of `hero`, which are of `record`, which tokens their rows and columns are.
void name_tokens(Hero& hero, const Trace& trace, const Cursor& cursor, const Record& record,
                 const std::vector<std::string>& labels);

/// Where in the block the step is: "step 4 of 6", "chunk 5, words 40–47 · line 2 of 4, row 2 of 8".
std::string stage_place(const Trace& trace, const Phase& phase, const Cursor& cursor);

}  // namespace palimpsest
