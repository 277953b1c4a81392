#pragma once

#include "app/session/first_place.h"
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

// The story of the open text.

/// The story of the open text and where to look, in two lines: tokens are links that move the cursor; a cross
/// hides it for these data, in later starts too. Empty if there is no story.
Node story_line(Application& application);

/// Hides the story of these data, or the doubts about their file.
inline void put_away(std::vector<std::string>& closed, const std::string& id) {
  closed.insert(closed.begin(), id);
  closed.resize(std::min(closed.size(), most_closed_stories));
}

/// Shows the line of the open data again.
inline void bring_story_back(Application& application) {
  std::erase(application.closed_stories, application.session.data().id);
}

/// The tokens of a text at which something happens, as links in a line.
Node word_links(const FirstLook& look, const std::function<void(const WordToSee&)>& press);

/// Goes to such a token, and in the recurrent form to the step that shows what happens there: its write, or
/// the output of a query.
void go_to_word(Application& application, const WordToSee& word);

}  // namespace palimpsest
