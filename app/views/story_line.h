#pragma once

#include "app/views/view.h"
#include "app/views/what_to_look_at.h"

namespace palimpsest {

/// What the open text tells and where to look, in two lines: the words are links that move the cursor, a
/// cross puts it away for these data, in later starts too. Empty where there is nothing to tell.
Node story_line(Application& application);

/// Shows the line of the open data again.
void bring_story_back(Application& application);

/// The words of a text at which something happens, as links in a line.
Node word_links(const FirstLook& look, const std::function<void(const WordToSee&)>& press);

/// Goes to such a word, and in the recurrent form to the step that shows what happens there: what the word
/// writes, or, where it is asked, what comes out.
void go_to_word(Application& application, const WordToSee& word);

}  // namespace palimpsest
