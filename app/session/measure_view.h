#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "core/base/matrix.h"
#include "core/race/figures.h"

namespace palimpsest {

/// What Measure races, and which curves it shows: of its own race and of reports alike.
struct RaceWish {
  std::vector<std::string> variants = {};  // ids; empty: the rule that is open
  bool peer = true;                        // softmax beside them
  std::vector<Form> forms = {};            // empty: all
  std::vector<std::string> devices = {};   // empty: all that there are
  std::vector<Precision> precisions = {Precision::f32};
  std::vector<Index> lengths = {64, 128, 256, 512, 1024, 2048};  // ascending
  RaceShape shape = {};
  Index chunk_size = 64;  // of what is raced; reports show theirs

  bool operator==(const RaceWish&) const = default;
};

/// The state of Measure.
struct MeasureState {
  RaceWish wish = {};
  std::vector<std::string> reports = {};  // files of one's own, as they were opened
  std::vector<std::string> away = {};     // reports that ship and are not to be seen, by their names
  std::string leading = {};               // the report that the sentence is about; empty: the usual one
  bool per_token = false;                 // the time of one token, else of all
  bool whole = false;                     // with transfers and allocations, else computing alone

  bool operator==(const MeasureState&) const = default;
};

}  // namespace palimpsest
