#pragma once

namespace palimpsest {

/// How often the Stage had to think about what it shows, and where.
struct StageWork {
  int views = 0;  // made so far
  int layouts = 0;
};

/// That of the current Dear ImGui context.
StageWork stage_work();

}  // namespace palimpsest
