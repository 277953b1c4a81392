#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// Text made of several pieces that wraps between words; what has no space between stays together.
class FlowingWords {
 public:
  /// Adds words; "11 %" stays in one piece.
  void add(std::string_view words, style::Text letters, scene::Ink ink);

  /// Adds a node that does not wrap, after the last word or, if a space ended that, beside it.
  void add(Node node);

  Node flow(Gap gap) && { return scene::flow(std::move(words_), gap); }

 private:
  Nodes words_;
  bool goes_on_ = false;  // no space has ended the last word
};

}  // namespace palimpsest
