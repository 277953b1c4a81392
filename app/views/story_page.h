#pragma once

#include "app/views/view.h"
#include "app/words/stories.h"

// What the workspaces share at the level "story".

namespace palimpsest {

inline constexpr float least_story_chart = 170;  // in a story, in design pixels

/// The text and the picture of a story.
struct StoryPage {
  std::vector<Spoken> headline;
  std::string question;  // replaces the headline while answers are hidden
  std::string about;     // a line below the headline, if it fits
  Node content;          // hatched while answers are hidden, unless
  bool hides_itself = false;
  float least = 0;  // least height of the content if `about` is shown, in design pixels
};
Node story_page(Application& application, StoryPage page);

/// The story of a rule that has no such picture: the reason.
Node story_without(Application& application, const std::string& reason);

/// Tables of what memories return for every key, side by side; `is_small`: with smaller cells.
CellTables story_cells(const MemoryStory& story, bool is_small = false);

/// One of these tables, with a row for each of `keys`; `values` has a row for every key of the story.
CellValues story_table(const MemoryStory& story, const std::vector<SharedKey>& keys, const char* name,
                       std::vector<std::string> titles, const Matrix<double>& values);

/// The story of a token under a rule; queried for the same tokens as the story `like`, if given.
Known<MemoryStory> ask_story(Application& application, const std::shared_ptr<const Computation>& computed,
                             const MemoryStory* like = nullptr);

/// The buttons of a story: play, the next token, the position, the user's own text.
Node story_buttons(Application& application);

}  // namespace palimpsest
