#pragma once

#include <optional>
#include <string>

#include "app/views/what_to_look_at.h"

namespace palimpsest {

class Application;

/// What the open text tells and where to look, in two lines at the cursor and `height` high: the words are
/// links that move the cursor, a cross puts it away for these data, in later starts too. Draws nothing where
/// there is nothing to tell or less room than it takes. Notes the parts "story" and "story/close".
void draw_story_line(Application& application, float room, float height);

/// Shows the line of the open data again.
void bring_story_back(Application& application);

/// The words of a text at which something happens, as links in a line; returns the one that was pressed.
std::optional<WordToSee> word_links(const FirstLook& look);

/// Goes to such a word, and in the recurrent form to the step that shows what happens there: what the word
/// writes, or, where it is asked, what comes out.
void go_to_word(Application& application, const WordToSee& word);

}  // namespace palimpsest
