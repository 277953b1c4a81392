#include "app/studio/workspaces.h"

#include "app/views/attend.h"
#include "app/views/compare.h"
#include "app/views/learn.h"
#include "app/views/measure.h"
#include "app/views/panels.h"
#include "app/views/prove.h"

namespace palimpsest {

std::span<const Workspace> workspaces() {
  static const Workspace list[] = {
      {"step", "Step", "What one operation does to the memory", ImGuiMod_Ctrl | ImGuiKey_1, panels()},
      {.id = "learn",
       .name = "Learn",
       .words = "How far a word may step, and what the memory still answers",
       .key = ImGuiMod_Ctrl | ImGuiKey_2,
       .panels = learn_panels(),
       .floor_part = 0.53F},
      {.id = "attend",
       .name = "Attend",
       .words = "Which words' values every answer is made of, beside softmax",
       .key = ImGuiMod_Ctrl | ImGuiKey_3,
       .panels = attend_panels()},
      {.id = "compare",
       .name = "Compare",
       .words = "Two to four rules, settings, forms or precisions under one cursor",
       .key = ImGuiMod_Ctrl | ImGuiKey_4,
       .panels = compare_panels()},
      {.id = "prove",
       .name = "Prove",
       .words = "How far every form and precision is from the recurrence, and what a mistake would do",
       .key = ImGuiMod_Ctrl | ImGuiKey_5,
       .panels = prove_panels(),
       .floor_part = 0.5F,
       .wider_left = 44},
      {.id = "measure",
       .name = "Measure",
       .words = "What is faster here: forms, rules and devices over the length of the sequence",
       .key = ImGuiMod_Ctrl | ImGuiKey_6,
       .panels = measure_panels(),
       .floor_part = 0.125F},
  };
  return list;
}

}  // namespace palimpsest
