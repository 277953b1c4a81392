#pragma once

#include "app/studio/command.h"
#include "app/views/view.h"

namespace palimpsest {

/// What can be found by its words in what is open, beside the commands that there always are: the words of
/// the text (the twenty nearest to the cursor, among as many tokens as one can look through at once), the
/// steps of the present form, the panels, the sliders on the screen. Nothing while nothing is typed.
std::vector<Command> commands_here(const Application& application, std::string_view typed);

/// By which words more a command is found: what a rule takes and can be told.
std::string more_words(const Command& command);

}  // namespace palimpsest
