#pragma once

#include "app/session/data_set.h"
#include "app/views/view.h"

namespace palimpsest {

/// A word of a text at which something happens.
struct WordToSee {
  Index token = 0;
  std::string label = {};          // as the text has it
  std::string what = {};           // happens there
  std::vector<Index> stored = {};  // where what is asked for there was stored: the rows that tell the answer
};

/// What a text of ours tells, for somebody who has never seen one: assets/captures/stories.json has them.
struct FirstLook {
  std::string captures = {};  // a part of the names of the captures of this text
  std::string story = {};     // what the text says, in one line
  std::string watch = {};     // what to watch
  std::vector<WordToSee> words = {};
};

/// That of the data with this id; null where we tell nothing.
const FirstLook* first_look(std::string_view id);

/// What to look for in data: a plain sentence first, then what was measured. `open` is told which of
/// `captures`, of those that it names, was pressed.
Node what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                     const std::function<void(const std::string&)>& open);

}  // namespace palimpsest
