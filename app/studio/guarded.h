#pragma once

#include <functional>
#include <string>

namespace palimpsest {

/// Calls `draw`, which draws a part of the window. Where it throws, Dear ImGui's windows and stacks are put
/// back as they were, so that the rest can be drawn. Returns what happened in a person's words; empty: all is
/// well.
std::string guarded(const std::function<void()>& draw);

/// Covers what was drawn of the Dear ImGui window `title` by what happened there.
void draw_problem(const char* title, const std::string& problem);

}  // namespace palimpsest
