#pragma once

#include "app/session/computation.h"
#include "app/stage/box.h"
#include "core/insight/spectra.h"

namespace palimpsest {

/// A vector along an edge of a large picture: what its rows or columns are multiplied by, or add up to.
struct Margin {
  enum class Side { left, top, right, below };

  Side side = Side::left;
  Box picture = {};
};

/// A large picture of the step at the cursor, with what it was made from along its edges.
struct Plate {
  Box picture = {};         // or a number
  std::string sign = {};    // LaTeX: what stands between it and the one before
  std::string name = {};    // above it, on the left
  Role role = Role::plain;  // its colour
  std::string latex = {};   // above it, on the right
  std::string words = {};   // below it, on the left
  std::string number = {};  // below it, on the right: "norm 0.57"
  std::vector<Margin> margins = {};
};

/// Numbers that change from step to step inside an operation, as lines.
struct HeroChart {
  std::string tensor = {};                // each row is a line, each column a step
  std::vector<std::string> columns = {};  // LaTeX below some steps
  bool is_logarithmic = false;
  double low = 0;  // a band in which all are alike; none if both are 0
  double high = 0;
  std::string title = {};
  std::string words = {};
};

/// The step at the cursor by itself, large: its operands, then its result.
struct Hero {
  enum class Kind {
    plates,   // side by side
    network,  // layers of units as columns, with links between them
    strips,   // flat vectors, one below the other
    equation  // all others: result = expression
  };

  Kind kind = Kind::plates;
  std::vector<Plate> plates = {};
  Box equation = {};
  Box broken = {};                                  // the same on two lines; blank where it is not
  std::vector<std::vector<StrongLink>> links = {};  // of a network: between plates, the weakest first
  std::vector<HeroChart> charts = {};               // beside the plates
  bool is_enlarged = false;                         // as large as fits
  std::string grows_from = {};                      // what the result was before, if it was something
  Record made = {};                                 // values of pictures that are in no record
  std::map<std::string, std::string, std::less<>> stands_for =
      {};                                                         // whose cells those are, as to the pointer
  std::map<std::string, std::string, std::less<>> scale_of = {};  // and whose colours they have
  std::vector<std::string> one_scale = {};  // pictures that are added up: these share a scale of their own
  std::string alone = {};                   // a result beside which is only what it is made of
};

/// What `operation` of `phase` does, drawn from its equation and the tensors of its block alone. Formulas are
/// written in `style`.
Hero hero_of(const Phase& phase, const Operation& operation, const Record& record, const Symbols& symbols,
             const LatexStyle& style);

/// The tensor `name` alone, as large as fits, with its figures where they are known.
Hero enlarged(const std::string& name, const Record& record, const Symbols& symbols, const LatexStyle& style,
              const MatrixFigures* figures);

/// A term of the row that is being solved, as a flat strip with what is said of it.
struct SubstitutionStrip {
  std::string word = {};    // whose row it is
  std::string words = {};   // "its share of the correction"
  std::string brief = {};   // the same where there is no room for both
  std::string factor = {};  // "− 0.27"
  std::string latex = {};   // "u_5"
  Box picture = {};
  std::string number = {};  // its norm, or a difference
  double length = 0;        // its norm
  bool must_stand = false;  // shown whenever there is room at all
};

/// (I + N) U = R, solved row by row, each row as a sum.
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

/// The substitution of the step at `cursor`; nothing if it is no such solve. `recurrence`: the record of the
/// token at the cursor in the recurrent form, if it is known.
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

  /// How many rows of `tensor` are computed; -1: all.
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

/// Where in the block the step is: "step 4 of 6", "chunk 6, tokens 41–48 · step 2 of 4, row 3 of 8".
std::string stage_place(const Trace& trace, const Phase& phase, const Cursor& cursor);

}  // namespace palimpsest
