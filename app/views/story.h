#pragma once

#include "app/session/first_place.h"
#include "app/views/view.h"

namespace palimpsest {

/// What to look for in data: a sentence, then what was measured. Names of `captures` in it are links, which
/// call `open`.
Node what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                     const std::function<void(const std::string&)>& open);

/// The story of the open text and where to look, in two lines: tokens are links that move the cursor; a cross
/// hides it for these data, in later starts too. Empty if there is no story.
Node story_line(Application& application);

/// Hides the story of these data, or the doubts about their file.
void put_away(std::vector<std::string>& closed, const std::string& id);

/// Shows the line of the open data again.
void bring_story_back(Application& application);

/// The tokens of a text at which something happens, as links in a line.
Node word_links(const FirstLook& look, const std::function<void(const WordToSee&)>& press);

/// Goes to such a token, and in the recurrent form to the step that shows what happens there: its write, or
/// the output of a query.
void go_to_word(Application& application, const WordToSee& word);

}  // namespace palimpsest
