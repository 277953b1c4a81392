#pragma once

#include "app/session/first_place.h"
#include "app/views/view.h"

namespace palimpsest {

/// What to look for in data: a plain sentence first, then what was measured. `open` is told which of
/// `captures`, of those that it names, was pressed.
Node what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                     const std::function<void(const std::string&)>& open);

/// What the open text tells and where to look, in two lines: the words are links that move the cursor, a
/// cross puts it away for these data, in later starts too. Empty where there is nothing to tell.
Node story_line(Application& application);

/// Puts the story of these data away, or what their file leaves open.
void put_away(std::vector<std::string>& closed, const std::string& id);

/// Shows the line of the open data again.
void bring_story_back(Application& application);

/// The words of a text at which something happens, as links in a line.
Node word_links(const FirstLook& look, const std::function<void(const WordToSee&)>& press);

/// Goes to such a word, and in the recurrent form to the step that shows what happens there: what the word
/// writes, or, where it is asked, what comes out.
void go_to_word(Application& application, const WordToSee& word);

}  // namespace palimpsest
