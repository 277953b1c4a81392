#include "app/workspaces.h"

namespace palimpsest {

std::span<const Workspace> workspaces() {
  static const Workspace list[] = {
      {"step", "Step", "What one operation does to the memory", 0, panels()},
  };
  return list;
}

}  // namespace palimpsest
