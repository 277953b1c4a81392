#pragma once

#include "app/session/answers.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// Every tensor of one block of a form: an answer.
struct BlockRecord {
  using Value = Record;

  std::weak_ptr<const Trace> trace;
  Index block = 0;

  bool operator<(const BlockRecord& other) const;
  std::shared_ptr<const Record> compute(const Effort& effort) const;
  static std::size_t bytes(const Record& record);
  bool gone() const { return trace.expired(); }
};

}  // namespace palimpsest
