#pragma once

#include <span>

#include "app/panels.h"

namespace palimpsest {

/// What the window shows at one time: panels in their places, for one question to the data.
struct Workspace {
  const char* id;     // "step"
  const char* name;   // in the top bar
  const char* words;  // what it is for, one sentence
  int key;            // ImGuiKeyChord that leads to it; 0: none
  std::span<const Panel> panels;
};

/// The one list of workspaces; the program starts in the first.
std::span<const Workspace> workspaces();

}  // namespace palimpsest
