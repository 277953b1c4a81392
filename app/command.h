#pragma once

#include <span>
#include <string>

namespace palimpsest {

class Application;

/// Something a person can do with a key.
struct Action {
  const char* group;
  const char* words;  // "one operation forwards"
  int key;            // ImGuiKeyChord
  void (*perform)(Application&);
  bool repeats = false;  // again and again while the key is held: what goes on, not what switches
};

/// The one table of actions; the help lists it.
std::span<const Action> actions();

/// "Shift+→": a key chord as a person reads it.
std::string key_name(int chord);

/// Performs the actions whose keys were pressed in this frame, unless a text field has the keyboard.
void handle_keys(Application& application);

}  // namespace palimpsest
