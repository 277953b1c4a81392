#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/stage/box.h"
#include "core/insight/learning.h"
#include "core/insight/spectra.h"
#include "core/steps/trace.h"

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
  std::string number = {};  // below it, on the right: "length 0.57"
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

/// What the units of one plate send to those of the next, the weakest first.
struct HeroLinks {
  std::size_t from = 0;  // the plate
  std::vector<StrongLink> links = {};
};

/// The step at the cursor by itself, large: its operands, then its result.
struct Hero {
  enum class Kind {
    plates,   // side by side
    network,  // layers of units, standing, with what they send each other
    strips,   // flat vectors, one below the other
    equation  // what neither suits: result = expression
  };

  Kind kind = Kind::equation;
  std::vector<Plate> plates = {};
  Box equation = {};
  Box broken = {};                     // the same on two lines; blank where it is not
  std::vector<HeroLinks> links = {};   // of a network
  std::vector<HeroChart> charts = {};  // beside the plates
  bool is_enlarged = false;            // as large as fits
  std::string grows_from = {};         // what the result was before, if it was something
  Record made = {};                    // values of pictures that are in no record
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

}  // namespace palimpsest
