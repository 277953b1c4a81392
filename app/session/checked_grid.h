#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/session/prove_questions.h"

namespace palimpsest {

class Session;

/// What a cell of the grid of all checks stands for, beside a rule.
struct GridColumn {
  const Backend* backend;
  Precision precision;
  Form form;
};

/// Those of all devices.
const std::vector<GridColumn>& grid_columns();

/// Whether no choice of options gives the variants of the table these forms: a row for every variant.
const std::vector<std::vector<bool>>& missing_forms();

/// What was found with one length of texts.
struct GridReports {
  struct Row {
    std::shared_ptr<const VerifyReport> report;
    std::vector<const VerifyResult*> cells;  // of every column the worst; null: nothing was run
  };
  std::map<std::string, Row> reports;           // by variant
  std::map<std::string, std::string> problems;  // why there is none

  std::size_t done() const { return reports.size() + problems.size(); }
  bool complete() const;

  /// All of it as `verify` reports it.
  VerifyReport joined() const;
};

/// Everything that can be checked, rule by rule, in the background.
class CheckedGrid {
 public:
  /// Goes on with what was started: once in every frame.
  void keep_checking(Session& session);

  /// Starts it, anew where all is known.
  void start(Session& session);
  void stop() { runs_ = false; }
  bool runs() const { return runs_; }

  /// Whether texts of 1000 and 4096 tokens are checked, too; what was found without them stays.
  bool with_long_texts = false;

  const GridReports& found() const { return with_long_texts ? of_long_texts_ : of_short_texts_; }

  /// What part of all rules is known.
  double progress() const;

 private:
  GridReports& reports() { return with_long_texts ? of_long_texts_ : of_short_texts_; }

  bool runs_ = false;
  GridReports of_short_texts_;
  GridReports of_long_texts_;
  double under_way_ = 0;  // of the variant that is being verified
};

}  // namespace palimpsest
