#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

class Application;

namespace scene {
struct Node;
}

/// A user action: by key, by button, or by its words in the palette.
struct Command {
  std::string id;     // "form.parallel"
  std::string group;  // "Form"
  std::string words;  // "parallel"
  int key = 0;        // ImGuiKeyChord; 0: none
  std::function<void(Application&)> perform;
  std::function<std::string(const Application&)> why_not = nullptr;  // as below; none: it always can be done
  std::string explained = {};  // a sentence more, where the words alone do not say it
  bool repeats = false;        // again and again while the key is held: what goes on, not what switches
  std::string more = {};       // words by which it is found as well
};

/// The one table of commands. Keys, buttons, the palette, the help and the tests all go by it.
std::span<const Command> commands();

/// The command of `application` called `id`; throws std::logic_error if there is none.
const Command& find_command(const Application& application, std::string_view id);

/// Why a command cannot be done now, in words; empty if it can.
std::string why_not(const Command& command, const Application& application);

/// Does what the command says, or says in the status bar why that cannot be done.
void perform(const Command& command, Application& application);

/// "Shift+→": a key chord as a person reads it; empty for none.
std::string key_name(int chord);

/// Performs the commands whose keys were pressed in this frame, unless a text field has the keyboard.
void handle_keys(Application& application);

/// A node that performs the command `id` when it is clicked. It is disabled if the command is not available;
/// its tooltip says why, or what the command does and its key.
scene::Node with_command(Application& application, std::string_view id, scene::Node node);

/// The typed words in lower case, for searching.
std::vector<std::string> typed_words(std::string_view typed);

/// Whether each of them occurs in `text`, in capitals or not.
bool has_words(std::string_view text, std::span<const std::string> words);

/// The commands of `tables` that contain every word of `typed`, ignoring case. First those in which a word of
/// group, words or id begins as typed, then those in which it is inside of one, then those that contain it in
/// `explained` or `more`; within these first those of `recent` (ids, the last one first), then in table
/// order.
std::vector<const Command*> search(std::initializer_list<std::span<const Command>> tables,
                                   std::string_view typed, std::span<const std::string> recent);

}  // namespace palimpsest
