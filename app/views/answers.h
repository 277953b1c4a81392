#pragma once

#include <imgui.h>

#include <memory>

#include "app/session/memory_questions.h"

namespace palimpsest {

class Application;

/// What the panel "What the memory answers" drew last: what the tests look at.
struct AnswersMap {
  std::shared_ptr<const AnswersAtPlace> shown;  // null: no table
  ImVec2 cell;                                  // its size on the screen
  double scale = 1;                             // of its colours
  bool is_old = false;                          // of the place before
};

/// That of the current Dear ImGui context.
AnswersMap& answers_map();

/// Whether the memory can be asked in the step that is seen: token by token, where the rule has a memory.
bool has_answers(const Application& application);

}  // namespace palimpsest
