#include "app/studio/workspaces.h"

#include "app/views/panels.h"

namespace palimpsest {

std::span<const Workspace> workspaces() {
  static const Workspace list[] = {
      {"step", "Step", "What one operation does to the memory", 0, panels()},
  };
  return list;
}

}  // namespace palimpsest
