#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/stage/box.h"
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

}  // namespace palimpsest
