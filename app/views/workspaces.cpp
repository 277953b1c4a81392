#include "app/studio/workspaces.h"

#include "app/views/answers.h"
#include "app/views/panels.h"

namespace palimpsest {

namespace {

using enum PanelPlace;

constexpr Panel step_panels[] = {
    {"Data", left_top, draw_data},
    {"Equation", left_bottom, draw_equation, has_room_for_lines},
    {"Stage", center, draw_stage},
    {"What the memory answers", center_bottom, draw_answers, has_answers},
    {"Forms", right_top, draw_forms},
    {"Why this number?", right_bottom, draw_why},
    {"Timeline", bottom, draw_timeline},
};

constexpr Panel learn_panels[] = {
    {"How far may it step?", center, draw_learn},
    {"Error at this word", right_top, draw_learn_side},
    {"What each stored word still answers", bottom, draw_learn_floor},
};

constexpr Panel attend_panels[] = {
    {"Who is read?", center, draw_attend},
    {"Read most", right_top, draw_attend_side},
    {"What this word reads", bottom, draw_attend_floor},
};

constexpr Panel compare_panels[] = {
    {"Side by side", center, draw_compare},
    {"What each side misses", bottom, draw_compare_floor},
};

constexpr Panel prove_panels[] = {
    {"Make it wrong", left_top, draw_prove_faults},
    {"Where do they part?", center, draw_prove},
    {"Everything that can be checked", right_top, draw_prove_grid},
    {"How far from the recurrence", bottom, draw_prove_floor},
};

constexpr Panel measure_panels[] = {
    {"Which is faster here?", center, draw_measure},
    {"How much of the machine is used", right_top, draw_measure_roof},
    {"What is in these times", right_bottom, draw_measure_side},
    {"The text##measure", bottom, draw_measure_floor},
};

constexpr Workspace all_workspaces[] = {
    {"step", "Step", "What one operation does to the memory", ImGuiMod_Ctrl | ImGuiKey_1, step_panels},
    {"learn", "Learn", "How far a word may step, and what the memory still answers",
     ImGuiMod_Ctrl | ImGuiKey_2, learn_panels, 0.53F},
    {"attend", "Attend", "Which words' values every answer is made of, beside softmax",
     ImGuiMod_Ctrl | ImGuiKey_3, attend_panels},
    {"compare", "Compare", "Two to four rules, settings, forms or precisions under one cursor",
     ImGuiMod_Ctrl | ImGuiKey_4, compare_panels},
    {"prove", "Prove", "How far every form and precision is from the recurrence, and what a mistake would do",
     ImGuiMod_Ctrl | ImGuiKey_5, prove_panels, 0.5F, 44},
    {"measure", "Measure", "What is faster here: forms, rules and devices over the length of the sequence",
     ImGuiMod_Ctrl | ImGuiKey_6, measure_panels, 0.125F},
};

}  // namespace

std::span<const Workspace> workspaces() { return all_workspaces; }

}  // namespace palimpsest
