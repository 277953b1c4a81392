#pragma once

#include "app/views/view.h"
#include "app/words/stories.h"

// What the workspaces share at the level "story".

namespace palimpsest {

inline constexpr float least_story_chart = 170;  // in a story, in design pixels

/// What a story says and shows.
struct StoryPage {
  std::vector<Spoken> headline;
  std::string question;  // in its place while answers are hidden
  std::string about;     // a line below it, where there is room
  Node content;          // hatched meanwhile, unless
  bool hides_itself = false;
  float least = 0;  // how high the content is beside that line at least, in design pixels
};
Node story_page(Application& application, StoryPage page);

/// What memories return for every key, a table beside the other; in little room smaller.
CellTables story_cells(const MemoryStory& story, bool is_small = false);

/// Where a rule has no such picture, why.
Node story_without(Application& application, const std::string& reason);

/// One of these tables, with a row for each of the keys; `values` has all rows of the story's.
CellValues story_table(const MemoryStory& story, const std::vector<SharedKey>& keys, const char* name,
                       std::vector<std::string> titles, const Matrix<double>& values);

/// The story of a token under a rule, asked about the words of another one where that is given.
Known<MemoryStory> ask_story(Application& application, const std::shared_ptr<const Computation>& computed,
                             const MemoryStory* like = nullptr);

/// Reading on, the next token, where one is, a text of one's own.
Node story_buttons(Application& application);

}  // namespace palimpsest
